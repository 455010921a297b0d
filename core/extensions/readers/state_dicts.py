"""Bare state dicts: notebook 6 of pytorch-seq2seq, and The Annotated Transformer of 2018 and 2022.

Sizes are read off the weights. Vocabularies are not in the file: they are rebuilt from the text of
the training. Both editions of The Annotated Transformer use the same names of weights, but their
vocabularies differ: that of 2022 has the words of the training, validation and test split, `<s>
</s> <blank> <unk>` first, and marks around the source; that of 2018 has the words of the training
split, and marks around the target only.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

import torch
from torch import Tensor

from ...checkpoint.file import Checkpoint, ModelOrigin
from ...config import ModelConfig, RunConfig
from ...errors import CorpusError, ModelImportError
from ...model.layers import sinusoidal_table
from ...plain_text import name_of
from ...text.codec import CodecPair
from ...text.vocabulary import Vocabulary
from ...text.word_counts import WordCounts
from ..run_settings.presets import preset
from ..training.corpora.learning import learn_codecs, words_of_pairs
from ..training.corpora.parallel import kind_of_text, read_lines
from ..training.corpora.word_counting import count_words
from ..training.legacy import vocabulary_tokens
from .folder import settings_of
from .model import (
    ImportedModel,
    ImportOptions,
    imported_from_file,
)
from .weights import LayerNames, WeightMap, check_finite, tied

WHERE_DATA_IS_NAMED = "under “Multi30k folder” in the dialog, with --data in the terminal"
DATA_NEEDED = (
    "Its vocabularies are not in the file. Name the Multi30k folder of its training (train.de, "
    f"train.en …, plain or .gz): {WHERE_DATA_IS_NAMED}."
)
HEADS_NEEDED = (
    "Its number of heads is not in the file, and with another number it would translate "
    "differently. The published model has 8. Name the number: under “Heads per layer” in the "
    "dialog, with --heads in the terminal."
)
MAX_WORDS_2018 = 100
"""On either side of a training pair of The Annotated Transformer of 2018; longer ones were left
out.
"""
_SPECIALS_2022 = ("<s>", "</s>", "<blank>", "<unk>")
_SPECIALS_2018_SOURCE = ("<unk>", "<blank>")
_SPECIALS_2018_TARGET = ("<unk>", "<blank>", "<s>", "</s>")
_SPLITS = (("train",), ("val", "valid"), ("test_2016_flickr", "test2016", "test"))
_TABLES = ("src_embed.1.pe", "tgt_embed.1.pe")
_Words = list[list[str]]
_Vocabularies = tuple[str, CodecPair, WordCounts | None]
"""The preset whose vocabularies fit, its codecs, and the counts of the training words."""


def read_notebook(
    path: Path, weights: Mapping[str, Tensor], options: ImportOptions
) -> ImportedModel:
    """The model of a state dict of notebook 6.

    Raises:
        ModelImportError: the weights do not fit each other, or the vocabularies of the text do not
            fit them.
    """
    data, num_heads = _facts_of_user(path, "notebook 6", options)
    sizes = tuple(
        _size_of(path, weights, f"{stack}.tok_embedding.weight") for stack in ("encoder", "decoder")
    )
    width = _size_of(path, weights, "encoder.tok_embedding.weight", 1)
    positions = _size_of(path, weights, "encoder.pos_embedding.weight")
    base = preset("notebook").model
    model = _model_config(
        path, weights, num_heads, base, (width, positions), "positionwise_feedforward.fc_1"
    )
    norms = ("self_attn_layer_norm", "enc_attn_layer_norm", "ff_layer_norm")
    # the first edition: one norm for all of a layer
    if f"encoder.layers.0.{norms[0]}.weight" not in weights:
        norms = ("layer_norm", "layer_norm", "layer_norm")
    names = WeightMap(
        model,
        LayerNames(
            attentions=("self_attention", "self_attention", "encoder_attention"),
            projections=("fc_q", "fc_k", "fc_v", "fc_o"),
            feed_forward=("positionwise_feedforward.fc_1", "positionwise_feedforward.fc_2"),
            encoder_norms=(norms[0], norms[2]),
            decoder_norms=norms,
        ),
    )
    for side, theirs, count in (("source", "encoder", sizes[0]), ("target", "decoder", sizes[1])):
        names.add(f"{side}_embedding.tokens.weight", f"{theirs}.tok_embedding.weight", count, width)
        names.add(f"{side}_embedding.positions", f"{theirs}.pos_embedding.weight", positions, width)
    names.linear("output", "decoder.fc_out", sizes[1], width)
    check_finite(path, weights, half_precision=options.half_precision is True)
    converted = names.convert(path, weights)
    vocabularies = _notebook_vocabularies(path, data, sizes)
    return _imported(
        path, weights, options, "pytorch-seq2seq, notebook 6", model, converted, vocabularies
    )


def _notebook_vocabularies(path: Path, data: Path, sizes: tuple[int, ...]) -> _Vocabularies:
    """Vocabularies of lower-cased words seen twice or more in training, as in the notebook."""
    config = preset("notebook").data
    languages = config.source_language, config.target_language
    lines = [_lines_of(data, ("train",), language) for language in languages]
    words = words_of_pairs(config, *lines)
    codecs = learn_codecs(config, *words)
    built = len(codecs.source.vocabulary), len(codecs.target.vocabulary)
    if built != sizes:
        raise _vocabularies_do_not_fit(path, [built], sizes, data)
    return "notebook", codecs, count_words(words[0], kind_of_text(*lines))


def read_annotated(
    path: Path, weights: Mapping[str, Tensor], options: ImportOptions
) -> ImportedModel:
    """The model of a state dict of The Annotated Transformer.

    Raises:
        ModelImportError: the weights do not fit each other, or no edition's vocabularies fit them.
    """
    data, num_heads = _facts_of_user(path, "the Annotated Transformer", options)
    sizes = tuple(_size_of(path, weights, f"{side}_embed.0.lut.weight") for side in ("src", "tgt"))
    width = _size_of(path, weights, "src_embed.0.lut.weight", 1)
    base = preset("annotated-2022").model.replace(
        norm_kind="annotated" if "encoder.norm.a_2" in weights else "torch"
    )
    positions = _num_waves(path, weights, width) or base.max_positions
    model = _model_config(path, weights, num_heads, base, (width, positions), "feed_forward.w_1")
    names = WeightMap(
        model,
        LayerNames(
            attentions=("self_attn", "self_attn", "src_attn"),
            projections=("linears.0", "linears.1", "linears.2", "linears.3"),
            feed_forward=("feed_forward.w_1", "feed_forward.w_2"),
            encoder_norms=("sublayer.0.norm", "sublayer.1.norm"),
            decoder_norms=("sublayer.0.norm", "sublayer.1.norm", "sublayer.2.norm"),
            scale_and_shift=("a_2", "b_2")
            if model.norm_kind == "annotated"
            else ("weight", "bias"),
        ),
    )
    names.add("source_embedding.tokens.weight", "src_embed.0.lut.weight", sizes[0], width)
    names.add("target_embedding.tokens.weight", "tgt_embed.0.lut.weight", sizes[1], width)
    names.norm("encoder_norm", "encoder.norm")
    names.norm("decoder_norm", "decoder.norm")
    names.linear("output", "generator.proj", sizes[1], width)
    check_finite(path, weights, half_precision=options.half_precision is True)
    converted = names.convert(path, weights, _TABLES)
    model = tied(model, converted, one_vocabulary=False)
    vocabularies = _annotated_vocabularies(path, data, sizes)
    return _imported(
        path, weights, options, "The Annotated Transformer", model, converted, vocabularies
    )


def _num_waves(path: Path, weights: Mapping[str, Tensor], width: int) -> int:
    """The number of positions in the tables of the file; 0 if it has none."""
    num_positions = 0
    for name in _TABLES:
        if (table := weights.get(name)) is None:
            continue
        table = table.reshape(-1, table.size(-1)) if table.dim() else table
        num_positions = len(table) if table.dim() else 0
        if table.dim() != 2 or table.size(1) != width or not _are_waves(table):
            raise ModelImportError(
                f"{path}: {name} is not the table of sines and cosines of the Annotated "
                f"Transformer, with {width} columns. This model cannot be read."
            )
    return num_positions


def _are_waves(table: Tensor) -> bool:
    return table.size(1) % 2 == 0 and torch.allclose(
        table.float(), sinusoidal_table(*table.shape), atol=2e-3
    )


def _annotated_vocabularies(path: Path, data: Path, sizes: tuple[int, ...]) -> _Vocabularies:
    config = preset("annotated-2022").data
    languages = config.source_language, config.target_language
    lines = [[_lines_of(data, names, language) for names in _SPLITS] for language in languages]
    source, target = zip(
        *(words_of_pairs(config, *split) for split in zip(*lines, strict=True)), strict=True
    )
    of_2018 = [
        pair
        for pair in zip(source[0], target[0], strict=True)
        if max(map(len, pair)) <= MAX_WORDS_2018
    ]
    sizes_built = []
    for edition, pair, trained_on in (
        ("annotated-2022", (_vocabulary_of_2022(source), _vocabulary_of_2022(target)), source[0]),
        ("annotated-2018", _vocabularies_of_2018(of_2018), [words for words, _ in of_2018]),
    ):
        sizes_built.append((len(pair[0]), len(pair[1])))
        if sizes_built[-1] == sizes:
            word_counts = count_words(trained_on, kind_of_text(lines[0][0], lines[1][0]))
            return edition, CodecPair.build(preset(edition).data, *pair, None), word_counts
    raise _vocabularies_do_not_fit(path, sizes_built, sizes, data)


def _vocabulary_of_2022(splits: Sequence[_Words]) -> Vocabulary:
    """Words seen twice or more in all splits, by falling frequency, then alphabet."""
    tokens = vocabulary_tokens(
        Counter(chain.from_iterable(chain.from_iterable(splits))), 2, _SPECIALS_2022
    )
    return Vocabulary(tuple(tokens), padding_id=2, start_id=0, end_id=1, unknown_id=3)


def _vocabularies_of_2018(
    short_pairs: Sequence[tuple[list[str], list[str]]],
) -> tuple[Vocabulary, Vocabulary]:
    """Words seen twice or more in the training pairs that are short enough."""
    sides = [Counter(chain.from_iterable(pair[side] for pair in short_pairs)) for side in (0, 1)]
    source_tokens = vocabulary_tokens(sides[0], 2, _SPECIALS_2018_SOURCE)
    target_tokens = vocabulary_tokens(sides[1], 2, _SPECIALS_2018_TARGET)
    return (
        # no marks but padding
        Vocabulary(tuple(source_tokens), padding_id=1, start_id=1, end_id=None, unknown_id=0),
        Vocabulary(tuple(target_tokens), padding_id=1, start_id=2, end_id=3, unknown_id=0),
    )


# --- shared by both -------------------------------------------------------------------------------


def _facts_of_user(path: Path, model: str, options: ImportOptions) -> tuple[Path, int]:
    """The text of its training and its number of heads.

    Raises `ModelImportError` if the options lack one.
    """
    needed = [
        *([DATA_NEEDED] if options.data is None else []),
        *([HEADS_NEEDED] if options.num_heads is None else []),
    ]
    if options.data is None or options.num_heads is None:
        raise ModelImportError(f"{path} is a model of {model}. {' '.join(needed)}")
    return options.data, options.num_heads


def _model_config(
    path: Path,
    weights: Mapping[str, Tensor],
    num_heads: int,
    base: ModelConfig,
    embedded: tuple[int, int],
    expand: str,
) -> ModelConfig:
    """`base` with the sizes of the file, and this number of heads.

    Args:
        path, weights: of the import.
        num_heads: in each layer.
        base: settings of the published model.
        embedded: width and number of positions of the embeddings.
        expand: name of the first feed-forward matrix in a layer.
    """
    width, max_positions = embedded
    if num_heads < 1 or width % num_heads:
        raise ModelImportError(
            f"{path}: {num_heads} heads do not divide a width of {width}. Enter the number of "
            "heads that the model was trained with (--heads in the terminal)."
        )
    with settings_of(path):
        return base.replace(
            width=width,
            num_encoder_layers=_num_layers(weights, "encoder"),
            num_decoder_layers=_num_layers(weights, "decoder"),
            num_heads=num_heads,
            feed_forward_width=_size_of(path, weights, f"encoder.layers.0.{expand}.weight"),
            decoder_feed_forward_width=_size_of(path, weights, f"decoder.layers.0.{expand}.weight"),
            max_positions=max_positions,
        )


def _num_layers(weights: Mapping[str, Tensor], side: str) -> int:
    """Layers of the encoder or the decoder: one more than the largest number in a name."""
    indices = [
        int(match[1])
        for name in weights
        if (match := re.match(rf"{side}\.layers\.(\d{{1,4}})\.", name))
    ]
    return max(indices, default=-1) + 1


def _size_of(path: Path, weights: Mapping[str, Tensor], name: str, dimension: int = 0) -> int:
    """A dimension of a matrix of the file. Raises `ModelImportError` if it is missing."""
    if name not in weights or weights[name].dim() != 2:
        raise ModelImportError(f"{path} has no matrix {name}. Use a whole state dict.")
    return weights[name].size(dimension)


def _vocabularies_do_not_fit(
    path: Path, sizes_built: Sequence[tuple[int, int]], sizes: tuple[int, ...], data: Path
) -> ModelImportError:
    built = " or ".join(f"{source:,} and {target:,}" for source, target in sizes_built)
    return ModelImportError(
        f"{path} has {sizes[0]:,} source and {sizes[1]:,} target tokens, but the vocabularies "
        f"built from {data} have {built}. Name the folder with the text that it was trained on: "
        f"{WHERE_DATA_IS_NAMED}."
    )


def _lines_of(folder: Path, split_names: Sequence[str], language: str) -> list[str]:
    """The lines of the first of these splits that is in a folder, plain or gzip.

    Raises `ModelImportError`.
    """
    if not folder.is_dir():
        raise ModelImportError(f"{folder} is not a folder. {DATA_NEEDED}")
    for name in split_names:
        for file in (f"{name}.{language}", f"{name}.{language}.gz"):
            if (folder / file).is_file():
                try:
                    return [line.strip() for line in read_lines(folder / file)]
                except CorpusError as error:
                    raise ModelImportError(str(error)) from error
    raise ModelImportError(
        f"{folder} has no {split_names[0]}.{language}, plain or .gz. {DATA_NEEDED}"
    )


def _imported(
    path: Path,
    weights: Mapping[str, Tensor],
    options: ImportOptions,
    format_name: str,
    model: ModelConfig,
    converted: Mapping[str, Tensor],
    vocabularies: _Vocabularies,
) -> ImportedModel:
    """The model with its weights by the names used here."""
    edition, codecs, word_counts = vocabularies
    base = preset(edition)
    name = options.name or name_of(path)
    checkpoint = Checkpoint(
        RunConfig(edition, base.description, model, base.data, base.training),
        codecs,
        dict(converted),
        "multi30k",
        origin=ModelOrigin(
            "notebook" if edition == "notebook" else "annotated", name, options.revision
        ),
        word_counts=word_counts,
    )
    return imported_from_file(path, weights, options, format_name, checkpoint)
