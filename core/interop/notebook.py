"""pytorch-seq2seq, notebook 6: `tut6-model.pt`, the state dict of its `Seq2Seq`."""

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from augenmerk.core.checkpoint.file import Checkpoint
from augenmerk.core.config import RunConfig, preset
from augenmerk.core.corpora.known_text import kind_of_text
from augenmerk.core.errors import ConfigError, ModelImportError
from augenmerk.core.interop.model import ForeignModel, ImportOptions
from augenmerk.core.interop.state_dicts import (
    DATA_NEEDED,
    StateDictModel,
    WeightMap,
    check_heads,
    check_vocabularies,
    num_layers,
    size_of,
    split_lines_of,
)
from augenmerk.core.text.codec import CodecPair, split_lines
from augenmerk.core.text.tokenizers import make_tokenizer
from augenmerk.core.text.word_counts import WordCounts

FORMAT = ("notebook", "pytorch-seq2seq, notebook 6")
_PROJECTIONS = ("fc_q", "fc_k", "fc_v")


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
    converted = _map(run, sizes, weights).convert(path, weights, half_precision=options.half_precision is True)
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


def _map(run: RunConfig, sizes: tuple[int, int], weights: Mapping[str, Tensor]) -> WeightMap:
    names, config = WeightMap(), run.model
    width, positions = config.width, config.max_positions

    def attention(ours: str, theirs: str) -> None:
        parts = [f"{theirs}.{part}" for part in _PROJECTIONS]
        names.attention(ours, parts, f"{theirs}.fc_o", width)

    def feed_forward(ours: str, theirs: str, inner: int) -> None:
        names.linear(f"{ours}.feed_forward.expand", f"{theirs}.positionwise_feedforward.fc_1", inner, width)
        names.linear(f"{ours}.feed_forward.contract", f"{theirs}.positionwise_feedforward.fc_2", width, inner)

    def norm(ours: str, layer: str, name: str) -> None:
        """The norm of a sublayer; in the notebook's first edition each layer has but one for all of them."""
        theirs = f"{layer}.{name}" if f"{layer}.{name}.weight" in weights else f"{layer}.layer_norm"
        names.add(f"{ours}.weight", f"{theirs}.weight", width)
        names.add(f"{ours}.bias", f"{theirs}.bias", width)

    for side, count in (("encoder", sizes[0]), ("decoder", sizes[1])):
        ours = "source_embedding" if side == "encoder" else "target_embedding"
        names.add(f"{ours}.tokens.weight", f"{side}.tok_embedding.weight", count, width)
        names.add(f"{ours}.positions", f"{side}.pos_embedding.weight", positions, width)
    for layer in range(config.num_encoder_layers):
        ours, theirs = f"encoder_layers.{layer}", f"encoder.layers.{layer}"
        attention(f"{ours}.self_attention", f"{theirs}.self_attention")
        norm(f"{ours}.attention_residual.norm", theirs, "self_attn_layer_norm")
        feed_forward(ours, theirs, config.feed_forward_width)
        norm(f"{ours}.feed_forward_residual.norm", theirs, "ff_layer_norm")
    for layer in range(config.num_decoder_layers):
        ours, theirs = f"decoder_layers.{layer}", f"decoder.layers.{layer}"
        attention(f"{ours}.self_attention", f"{theirs}.self_attention")
        norm(f"{ours}.self_residual.norm", theirs, "self_attn_layer_norm")
        attention(f"{ours}.cross_attention", f"{theirs}.encoder_attention")
        norm(f"{ours}.cross_residual.norm", theirs, "enc_attn_layer_norm")
        feed_forward(ours, theirs, config.decoder_inner_width)
        norm(f"{ours}.feed_forward_residual.norm", theirs, "ff_layer_norm")
    names.linear("output", "decoder.fc_out", sizes[1], width)
    return names
