"""pytorch-seq2seq, notebook 6: `tut6-model.pt`, the state dict of its `Seq2Seq`."""

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from augenmerk.core.checkpoint.file import Checkpoint
from augenmerk.core.config import ModelConfig, RunConfig, preset
from augenmerk.core.corpora.parallel import kind_of_text
from augenmerk.core.errors import ConfigError, ModelImportError
from augenmerk.core.interop.model import ForeignModel, ImportOptions
from augenmerk.core.interop.state_dicts import (
    DATA_NEEDED,
    LayerNames,
    StateDictModel,
    WeightMap,
    check_heads,
    check_vocabularies,
    num_layers,
    size_of,
    split_lines_of,
)
from augenmerk.core.interop.weights import check_finite
from augenmerk.core.text.codec import CodecPair, split_lines
from augenmerk.core.text.tokenizers import make_tokenizer
from augenmerk.core.text.word_counts import WordCounts

FORMAT = ("notebook", "pytorch-seq2seq, notebook 6")


def read_notebook(path: Path, weights: Mapping[str, Tensor], options: ImportOptions) -> ForeignModel:
    """The model of a state dict of notebook 6.

    Its sizes are read off the weights; the number of heads cannot be, and is that of the notebook unless told.

    Raises:
        ModelImportError: the weights do not fit each other, or the vocabularies of the text do not fit them.
    """
    base = preset("notebook")
    width = size_of(path, weights, "encoder.tok_embedding.weight", 1)
    num_heads = base.model.num_heads if options.num_heads is None else options.num_heads
    check_heads(path, num_heads, width)
    try:
        model = base.model.replace(
            width=width,
            num_encoder_layers=num_layers(weights, "encoder"),
            num_decoder_layers=num_layers(weights, "decoder"),
            num_heads=num_heads,
            feed_forward_width=size_of(path, weights, "encoder.layers.0.positionwise_feedforward.fc_1.weight"),
            decoder_feed_forward_width=size_of(path, weights, "decoder.layers.0.positionwise_feedforward.fc_1.weight"),
            max_positions=size_of(path, weights, "encoder.pos_embedding.weight"),
        )
    except ConfigError as error:
        raise ModelImportError(f"{path}: {error}") from error
    sizes = (
        size_of(path, weights, "encoder.tok_embedding.weight"),
        size_of(path, weights, "decoder.tok_embedding.weight"),
    )
    run = RunConfig("notebook", base.description, model, base.data, base.training)
    check_finite(path, weights, half_precision=options.half_precision is True)
    converted = _map(model, sizes, weights).convert(path, weights)
    codecs, word_counts = _vocabularies(run, path, options)
    assert options.data is not None
    check_vocabularies(path, codecs, sizes, options.data)
    checkpoint = Checkpoint(run, codecs, converted, "multi30k", word_counts=word_counts)
    return StateDictModel(checkpoint, path, options, FORMAT, weights)


def _vocabularies(run: RunConfig, path: Path, options: ImportOptions) -> tuple[CodecPair, WordCounts | None]:
    """Words of the training split alone, seen twice or more, lower-cased, as the notebook builds them; their counts."""
    if options.data is None:
        raise ModelImportError(f"{path} is a model of notebook 6. {DATA_NEEDED}")
    languages = run.data.source_language, run.data.target_language
    lines = [split_lines_of(options.data, ("train",), language) for language in languages]
    words = [
        list(split_lines(side, make_tokenizer(run.data, language), case))
        for side, language, case in zip(lines, languages, (run.data.source_case, run.data.target_case), strict=True)
    ]
    return CodecPair.learn(run.data, *words), WordCounts.of_sentences(words[0], kind_of_text(*lines))


def _map(config: ModelConfig, sizes: tuple[int, int], weights: Mapping[str, Tensor]) -> WeightMap:
    norms = ("self_attn_layer_norm", "enc_attn_layer_norm", "ff_layer_norm")
    if f"encoder.layers.0.{norms[0]}.weight" not in weights:  # the first edition: one norm for all of a layer
        norms = ("layer_norm", "layer_norm", "layer_norm")
    names = WeightMap(
        config,
        LayerNames(
            attentions=("self_attention", "self_attention", "encoder_attention"),
            projections=("fc_q", "fc_k", "fc_v", "fc_o"),
            feed_forward=("positionwise_feedforward.fc_1", "positionwise_feedforward.fc_2"),
            encoder_norms=(norms[0], norms[2]),
            decoder_norms=norms,
        ),
    )
    for side, theirs, count in (("source", "encoder", sizes[0]), ("target", "decoder", sizes[1])):
        names.add(f"{side}_embedding.tokens.weight", f"{theirs}.tok_embedding.weight", count, config.width)
        names.add(f"{side}_embedding.positions", f"{theirs}.pos_embedding.weight", config.max_positions, config.width)
    names.linear("output", "decoder.fc_out", sizes[1], config.width)
    return names
