"""The Annotated Transformer: the state dict of its `EncoderDecoder`, of both editions.

Both have the same names. They differ in how vocabularies are built, of which the file tells only the sizes: that of
2022 from the training, validation and test split, `<s> </s> <blank> <unk>` first, and with marks around the source;
that of 2018 from the training split, with marks around the target alone.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

import torch
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
    num_layers,
    size_of,
    split_lines_of,
    vocabularies_do_not_fit,
)
from augenmerk.core.interop.weights import check_finite, tied
from augenmerk.core.model.positions import sinusoidal_table
from augenmerk.core.text.codec import CodecPair, split_lines
from augenmerk.core.text.legacy import vocabulary_tokens
from augenmerk.core.text.tokenizers import make_tokenizer
from augenmerk.core.text.vocabulary import Vocabulary
from augenmerk.core.text.word_counts import WordCounts

FORMAT = ("annotated", "The Annotated Transformer")
_SPECIALS_2022 = ("<s>", "</s>", "<blank>", "<unk>")
_SPECIALS_2018_SOURCE, _SPECIALS_2018_TARGET = ("<unk>", "<blank>"), ("<unk>", "<blank>", "<s>", "</s>")
_SPLITS = (("train",), ("val", "valid"), ("test_2016_flickr", "test2016", "test"))
_TABLES = ("src_embed.1.pe", "tgt_embed.1.pe")
_Words = list[list[str]]
MAX_WORDS_2018 = 100
"""On either side of a training pair of that edition; longer ones were left out."""


def read_annotated(path: Path, weights: Mapping[str, Tensor], options: ImportOptions) -> ForeignModel:
    """The model of a state dict of the Annotated Transformer.

    Its sizes are read off the weights; the number of heads cannot be, and is that of the text unless told.

    Raises:
        ModelImportError: the weights do not fit each other, or no edition's vocabularies fit them.
    """
    sizes = (size_of(path, weights, "src_embed.0.lut.weight"), size_of(path, weights, "tgt_embed.0.lut.weight"))
    model = _model_config(path, weights, options)
    check_finite(path, weights, half_precision=options.half_precision is True)
    converted = _map(model, sizes).convert(path, weights, _TABLES)
    model = tied(model, converted, one_vocabulary=False)
    if options.data is None:
        raise ModelImportError(f"{path} is a model of the Annotated Transformer. {DATA_NEEDED}")
    edition, codecs, word_counts = _vocabularies(path, options.data, sizes)
    base = preset(edition)
    run = RunConfig(edition, base.description, model, base.data, base.training)
    checkpoint = Checkpoint(run, codecs, converted, "multi30k", word_counts=word_counts)
    return StateDictModel(checkpoint, path, options, FORMAT, weights)


def _model_config(path: Path, weights: Mapping[str, Tensor], options: ImportOptions) -> ModelConfig:
    base = preset("annotated-2022").model
    width = size_of(path, weights, "src_embed.0.lut.weight", 1)
    num_positions = 0
    for name in _TABLES:
        table = weights.get(name)
        if table is None:
            continue
        table = table.reshape(-1, table.size(-1)) if table.dim() else table
        num_positions = len(table) if table.dim() else 0
        if table.dim() != 2 or table.size(1) != width or not _are_waves(table):
            raise ModelImportError(
                f"{path}: {name} is not the table of sines and cosines of the Annotated Transformer, with "
                f"{width} columns. This model cannot be read."
            )
    num_heads = base.num_heads if options.num_heads is None else options.num_heads
    check_heads(path, num_heads, width)
    try:
        return base.replace(
            width=width,
            num_encoder_layers=num_layers(weights, "encoder"),
            num_decoder_layers=num_layers(weights, "decoder"),
            num_heads=num_heads,
            feed_forward_width=size_of(path, weights, "encoder.layers.0.feed_forward.w_1.weight"),
            decoder_feed_forward_width=size_of(path, weights, "decoder.layers.0.feed_forward.w_1.weight"),
            max_positions=num_positions or base.max_positions,
            norm_kind="annotated" if "encoder.norm.a_2" in weights else "torch",
        )
    except ConfigError as error:
        raise ModelImportError(f"{path}: {error}") from error


def _are_waves(table: Tensor) -> bool:
    return table.size(1) % 2 == 0 and torch.allclose(table.float(), sinusoidal_table(*table.shape), atol=2e-3)


def _vocabularies(path: Path, data: Path, sizes: tuple[int, int]) -> tuple[str, CodecPair, WordCounts | None]:
    """The edition whose vocabularies have these sizes, its codecs, and the words of the training split counted."""
    config = preset("annotated-2022").data
    languages = config.source_language, config.target_language
    lines = [[split_lines_of(data, names, language) for names in _SPLITS] for language in languages]
    source, target = (
        [list(split_lines(split, make_tokenizer(config, language), "keep")) for split in side]
        for side, language in zip(lines, languages, strict=True)
    )
    of_2018 = [pair for pair in zip(source[0], target[0], strict=True) if max(map(len, pair)) <= MAX_WORDS_2018]
    found = []
    for edition, pair, trained_on in (
        ("annotated-2022", (_vocabulary_of_2022(source), _vocabulary_of_2022(target)), source[0]),
        ("annotated-2018", _vocabularies_of_2018(of_2018), [words for words, _ in of_2018]),
    ):
        found.append((len(pair[0]), len(pair[1])))
        if found[-1] == sizes:
            word_counts = WordCounts.of_sentences(trained_on, kind_of_text(lines[0][0], lines[1][0]))
            return edition, CodecPair.build(preset(edition).data, *pair, None), word_counts
    raise vocabularies_do_not_fit(path, found, sizes, data)


def _vocabulary_of_2022(splits: Sequence[_Words]) -> Vocabulary:
    """Words seen twice or more in all splits, by falling frequency, then alphabet."""
    tokens = vocabulary_tokens(Counter(chain.from_iterable(chain.from_iterable(splits))), 2, _SPECIALS_2022)
    return Vocabulary(tuple(tokens), padding_id=2, start_id=0, end_id=1, unknown_id=3)


def _vocabularies_of_2018(kept: Sequence[tuple[list[str], list[str]]]) -> tuple[Vocabulary, Vocabulary]:
    """Words seen twice or more in the training pairs that are short enough."""
    sides = [Counter(chain.from_iterable(pair[side] for pair in kept)) for side in (0, 1)]
    source_tokens = vocabulary_tokens(sides[0], 2, _SPECIALS_2018_SOURCE)
    target_tokens = vocabulary_tokens(sides[1], 2, _SPECIALS_2018_TARGET)
    return (
        Vocabulary(tuple(source_tokens), padding_id=1, start_id=1, end_id=None, unknown_id=0),  # no marks but padding
        Vocabulary(tuple(target_tokens), padding_id=1, start_id=2, end_id=3, unknown_id=0),
    )


def _map(config: ModelConfig, sizes: tuple[int, int]) -> WeightMap:
    names = WeightMap(
        config,
        LayerNames(
            attentions=("self_attn", "self_attn", "src_attn"),
            projections=("linears.0", "linears.1", "linears.2", "linears.3"),
            feed_forward=("feed_forward.w_1", "feed_forward.w_2"),
            encoder_norms=("sublayer.0.norm", "sublayer.1.norm"),
            decoder_norms=("sublayer.0.norm", "sublayer.1.norm", "sublayer.2.norm"),
            scale_and_shift=("a_2", "b_2") if config.norm_kind == "annotated" else ("weight", "bias"),
        ),
    )
    names.add("source_embedding.tokens.weight", "src_embed.0.lut.weight", sizes[0], config.width)
    names.add("target_embedding.tokens.weight", "tgt_embed.0.lut.weight", sizes[1], config.width)
    names.norm("encoder_norm", "encoder.norm")
    names.norm("decoder_norm", "decoder.norm")
    names.linear("output", "generator.proj", sizes[1], config.width)
    return names
