"""Marian models as Hugging Face transformers store them (`MarianMTModel`, `MarianTokenizer`): the
OPUS-MT models.

Settings missing from `config.json` have the defaults of the library's `MarianConfig`. As in the
library, a file `generation_config.json` replaces the generation settings of `config.json`.
"""

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ...config import Activation, DecodingConfig, ModelConfig
from ...config.groups import Tying
from ...errors import ModelImportError
from ...model.layers import sinusoidal_halves_table
from ...plain_text import name_of
from ...strict_json import JsonError
from ...text.codec import CodecPair
from ...text.vocabulary import Vocabulary
from .codecs import AddedToken, MarianCodec
from .folder import OTHER_COPY, ModelFolder, Section, settings_of
from .foreign_files import CHOOSE_MARIAN, other_architecture
from .model import FolderModel, ImportOptions, languages_of
from .weights import (
    MATRICES,
    LayerNames,
    WeightMap,
    check_shapes,
    tied,
    with_positions,
)

FORMAT = "Marian, by Hugging Face transformers"
ACTIVATIONS: dict[str, Activation] = {
    "relu": "relu",
    **dict.fromkeys(("gelu", "gelu_python"), "gelu"),
    **dict.fromkeys(
        ("gelu_new", "gelu_pytorch_tanh", "gelu_python_tanh", "gelu_fast", "gelu_accurate"),
        "gelu-tanh",
    ),
    **dict.fromkeys(("swish", "silu"), "swish"),
}
"""Activations by the library's names; several names mean the same function."""
_MOST_STEPS = 10**6
_MOST_BEAMS = 64
_MOST_TOKENS = 5_000_000
_MOST_UNNAMED = 512
"""Most rows of the embeddings without a token: `resize_token_embeddings` fills up to a multiple of
some power of 2."""
_NUM_HEADS = ("encoder_attention_heads", "decoder_attention_heads")
_SPECIALS = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
_PAIR = re.compile(r"opus-mt-(?:tc-(?:big|base|bible-big)-|tatoeba-)?([A-Za-z_]+)-([A-Za-z_]+)$")
_LAYER_NAMES = LayerNames(
    attentions=("self_attn", "self_attn", "encoder_attn"),
    projections=("q_proj", "k_proj", "v_proj", "out_proj"),
    feed_forward=("fc1", "fc2"),
    encoder_norms=("self_attn_layer_norm", "final_layer_norm"),
    decoder_norms=("self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"),
    prefix="model.",
)
_TABLES = ("model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight")
_SHARED, _LM_HEAD, _BIAS = "model.shared.weight", "lm_head.weight", "final_logits_bias"
_EMBEDDINGS = ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")
_NOT_APPLIED: dict[str, tuple[Any, ...]] = {
    "no_repeat_ngram_size": (None, 0),
    "encoder_no_repeat_ngram_size": (None, 0),
    "repetition_penalty": (None, 1, 1.0),
    "min_length": (None, 0),
    "length_penalty": (None, 1, 1.0),
    "min_new_tokens": (None, 0),
    "do_sample": (None, False),
    "num_beam_groups": (None, 1),
    "forced_bos_token_id": (None,),
    "begin_suppress_tokens": (None, []),
}
"""Generation settings that are not applied here, with the values that have no effect."""


def check_architecture(folder: ModelFolder) -> Section:
    """The settings in `config.json`.

    Raises `ModelImportError` unless they are those of a Marian model.
    """
    config = folder.settings("config.json")
    if architecture := other_architecture(config.values):
        raise ModelImportError(
            f"{folder.path / 'config.json'} describes a model of {architecture}. {CHOOSE_MARIAN}"
        )
    return config


class MarianModel(FolderModel):
    """The model in a folder with `config.json`.

    Raises:
        ModelImportError: a file is missing, damaged, or does not fit the others; or it is of
            another architecture.
    """

    kind = "marian"
    format = FORMAT

    def __init__(self, folder: ModelFolder, options: ImportOptions) -> None:
        super().__init__(folder, options)
        self._settings = settings = _Settings(folder)
        self.files = _weight_files(folder)
        self._config = settings.model_config()
        name = options.name or name_of(folder.path.resolve())
        self.codecs = _Vocabularies(settings).codecs(_find_languages(settings, options, name))
        self.decoding, self.notes = settings.decoding()
        self.num_parameters = settings.count_parameters(self._config)

    def convert(self, weights: Mapping[str, Tensor]) -> tuple[ModelConfig, dict[str, Tensor]]:
        """The configuration, with what only weights show, and the weights by the names used
        here.
        """
        path, settings, config = self.path, self._settings, self._config
        ignored = [*_EMBEDDINGS, *_TABLES, _SHARED, _LM_HEAD, _BIAS]
        converted = WeightMap(config, _LAYER_NAMES).convert(path, weights, ignored)
        converted |= dict(
            zip(MATRICES, _matrices(path, settings, config.width, weights), strict=True)
        )
        converted["output.bias"] = _bias(path, weights, settings.num_target)
        shape = config.max_positions, config.width
        tables = {name: weights[name] for name in _TABLES if name in weights}
        check_shapes(path, tables, dict.fromkeys(tables, shape))
        # 16-bit tables stay unchanged: the library adds the rounded values of the file
        waves = sinusoidal_halves_table(*shape)
        found = [tables.get(name) for name in _TABLES]
        config = with_positions(config, converted, found, waves, 1e-6 + 1e-5 * waves.abs())
        config = tied(config, converted)
        return config, {name: value.to(torch.float32) for name, value in converted.items()}


def _weight_files(folder: ModelFolder) -> list[Path]:
    """The files with the weights, one or several; safetensors where there is a choice."""
    for name in ("model.safetensors", "pytorch_model.bin"):
        if folder.has(name):
            return [folder.file(name)]
        if folder.has(f"{name}.index.json"):
            index = folder.read_json(f"{name}.index.json")
            try:
                parts = index["weight_map"].any_members(1_000_000) if "weight_map" in index else {}
                names = sorted({part.text(500) for part in parts.values()})
            except JsonError as error:
                raise ModelImportError(
                    f"{folder.path / name}.index.json: {error} Use another copy."
                ) from error
            if names:
                return [folder.file(part) for part in names]
    raise ModelImportError(
        f"{folder.path} has no weights: neither model.safetensors nor pytorch_model.bin. Fetch "
        "one of the two."
    )


def _find_languages(settings: "_Settings", options: ImportOptions, name: str) -> tuple[str, str]:
    """The languages according to the tokenizer's settings, else to the name of the model."""
    names = (name, settings.config.values.get("_name_or_path"), settings.folder.path.resolve().name)
    pairs = (_PAIR.search(each) for each in names if isinstance(each, str))
    by_name = next(((pair[1], pair[2]) for pair in pairs if pair is not None), (None, None))
    tokenizer = settings.tokenizer.values
    return languages_of(
        options, (tokenizer.get("source_lang"), tokenizer.get("target_lang")), by_name
    )


class _Settings:
    """The settings of a model, from its three JSON files.

    Attributes:
        config: all of `config.json`.
        tokenizer: all of `tokenizer_config.json`.
        shares_vocabulary: whether embeddings of source and target are one matrix.
        num_source: number of source tokens.
        num_target: number of target tokens.
        padding_id: id in both vocabularies.
        start_id: id in the target vocabulary.
        end_id: id in the target vocabulary.
    """

    def __init__(self, folder: ModelFolder) -> None:
        self.folder = folder
        self.config = check_architecture(folder)
        self.tokenizer = folder.settings("tokenizer_config.json")
        self.generation = folder.settings("generation_config.json")
        if not self.generation.everything:
            self.generation = self.config
        self.shares_vocabulary = self.config.flag("share_encoder_decoder_embeddings", True)
        self.is_tied = self.config.flag("tie_word_embeddings", True)
        self.num_source = self.num_target = self.config.whole("vocab_size", 58101, 1, _MOST_TOKENS)
        if not self.shares_vocabulary:
            self.num_target = self.config.whole(
                "decoder_vocab_size", self.num_source, 1, _MOST_TOKENS
            )
        self.padding_id = _token_id(self.config, "pad_token_id", 58100, self.num_source)
        self.start_id = self._generation_id("decoder_start_token_id", 58100)
        self.end_id = self._generation_id("eos_token_id", 0)

    def _generation_id(self, name: str, default: int) -> int:
        section = self.generation if name in self.generation.values else self.config
        return _token_id(section, name, default, self.num_target)

    def model_config(self) -> ModelConfig:
        """The architecture. Raises `ModelImportError`."""
        config = self.config
        activation = config.choice("activation_function", "gelu", *ACTIVATIONS)
        width = config.whole("d_model", 1024, 1, 8192)
        num_heads = [config.whole(name, 16, 1, 512) for name in _NUM_HEADS]
        for name, number in zip(_NUM_HEADS, num_heads, strict=True):
            config.require(
                width % number == 0, name, f"a number that divides d_model, {width}", OTHER_COPY
            )
        dropout = config.values.get("dropout", 0.1)
        tying: Tying = "all" if self.shares_vocabulary else "output"
        with settings_of(config.file):
            return ModelConfig(
                width=width,
                num_encoder_layers=config.whole("encoder_layers", 12, 1, 128),
                num_decoder_layers=config.whole("decoder_layers", 12, 1, 128),
                num_heads=num_heads[0],
                num_decoder_heads=num_heads[1],
                feed_forward_width=config.whole("encoder_ffn_dim", 4096, 1, 65536),
                decoder_feed_forward_width=config.whole("decoder_ffn_dim", 4096, 1, 65536),
                activation=ACTIVATIONS[activation],
                dropout=dropout if isinstance(dropout, int | float) and 0 <= dropout < 1 else 0.1,
                norm_position="post",
                final_norm=False,
                positions="sinusoidal-halves",
                max_positions=config.whole("max_position_embeddings", 1024, 1, 100_000),
                scale_embeddings=config.flag("scale_embedding"),
                tied_embeddings=tying if self.is_tied else "none",
                output_bias=True,
            )

    def decoding(self) -> tuple[DecodingConfig, tuple[str, ...]]:
        """The settings of decoding, and notes on those that are not applied.

        Raises `ModelImportError`.
        """
        settings = self.generation.values
        notes = [
            f"{name} = {value!r} is not applied"
            for name, harmless in _NOT_APPLIED.items()
            if (value := settings.get(name)) not in harmless
        ]
        forbidden: set[int] = set()
        for words in self.generation.items("bad_words_ids"):
            if isinstance(words, list) and len(words) == 1 and _is_id(words[0], self.num_target):
                forbidden |= {words[0]} - {self.end_id}
            else:
                notes.append(f"bad_words_ids: {words!r} is not applied")
        for token_id in self.generation.items("suppress_tokens"):
            if _is_id(token_id, self.num_target):
                forbidden.add(token_id)
            else:
                notes.append(f"suppress_tokens: {token_id!r} is not applied")
        default = None if self.folder.has("generation_config.json") else 0
        forced = self.generation.everything.get("forced_eos_token_id", default)  # null forces none
        forces_end = forced == self.end_id or (isinstance(forced, list) and self.end_id in forced)
        if forced is not None and not forces_end:
            notes.append(f"forced_eos_token_id = {forced!r} is not applied")
        max_length, num_new = settings.get("max_length"), settings.get("max_new_tokens")
        # a length counts the start token
        name, longest, least = (
            ("max_length", max_length, 2) if num_new is None else ("max_new_tokens", num_new, 1)
        )
        limit = None
        # a bool is not a number here
        if type(longest) is int and least <= longest < _MOST_STEPS + least:
            limit = longest + 1 - least
        elif longest is not None:
            notes.append(f"{name} = {longest!r} is not applied")
        beam = settings.get("num_beams")
        if beam is not None and not (isinstance(beam, int) and 1 <= beam <= _MOST_BEAMS):
            notes.append(f"num_beams = {beam!r} is not applied")
            beam = None
        return (
            DecodingConfig(
                forbidden_ids=tuple(sorted(forbidden)),
                max_steps=limit,
                force_end=forces_end,
                beam=beam or 1,
            ),
            tuple(notes),
        )

    def count_parameters(self, config: ModelConfig) -> int:
        """The number of parameters, as far as the configuration determines it."""
        layers = WeightMap(config, _LAYER_NAMES).shapes.values()
        num_source, num_target = self.num_source, self.num_target
        matrices = {
            "none": num_source + 2 * num_target,
            "output": num_source + num_target,
            "all": num_source,
        }
        return (
            sum(map(math.prod, layers))
            + matrices[config.tied_embeddings] * config.width
            + num_target
        )


def _token_id(section: Section, name: str, default: int, num_tokens: int) -> int:
    """The id of a special token, or of the first of several."""
    value = section.values.get(name, default)
    if isinstance(value, list) and value:
        value = value[0]
    wanted = f"the id of one of {num_tokens:,} tokens"
    section.require(_is_id(value, num_tokens), name, wanted, "Use files that belong together.")
    return int(str(value))


def _is_id(value: object, num_tokens: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < num_tokens


class _Vocabularies:
    """The tokens of both languages, and the segmentation of text into them."""

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings
        self._folder = settings.folder
        self._marks = dict(_SPECIALS)
        for section in (settings.folder.settings("special_tokens_map.json"), settings.tokenizer):
            for name in _SPECIALS:
                value = section.values.get(name)
                if isinstance(value, dict):
                    value = value.get("content")
                if isinstance(value, str) and value:
                    self._marks[name] = value

    def codecs(self, languages: tuple[str, str]) -> CodecPair:
        """Both codecs. Raises `ModelImportError`."""
        settings, folder = self._settings, self._folder
        default = not settings.shares_vocabulary and folder.has("target_vocab.json")
        separate = settings.tokenizer.flag("separate_vocabs", default)
        target_name = "target_vocab.json" if separate else "vocab.json"
        added = self._read_added()
        source_tokens = self._read_tokens("vocab.json", settings.num_source, added)
        target_tokens = self._read_tokens(target_name, settings.num_target, added)
        for name, tokens in (("vocab.json", source_tokens), (target_name, target_tokens)):
            self._check_padding(name, tokens)
        models = folder.read_sentencepiece("source.spm"), folder.read_sentencepiece("target.spm")
        cleans_up = settings.tokenizer.values.get("clean_up_tokenization_spaces") is True
        source = Vocabulary(
            source_tokens,
            padding_id=settings.padding_id,
            start_id=settings.padding_id,
            end_id=self._mark("vocab.json", source_tokens, "eos_token"),
            unknown_id=self._mark("vocab.json", source_tokens, "unk_token"),
        )
        target = Vocabulary(
            target_tokens,
            padding_id=settings.padding_id,
            start_id=settings.start_id,
            end_id=settings.end_id,
            unknown_id=self._mark(target_name, target_tokens, "unk_token"),
        )
        for side, vocabulary in (("source", source), ("target", target)):
            self._check_marks(side, vocabulary)
        writes = models[1] if separate else models[0]  # as MarianTokenizer does it
        return CodecPair(
            MarianCodec(
                languages[0], source, models[0], cleans_up=cleans_up, added=_those_in(source, added)
            ),
            MarianCodec(
                languages[1],
                target,
                models[1],
                writes,
                cleans_up=cleans_up,
                added=_those_in(target, added),
            ),
        )

    def _check_padding(self, name: str, tokens: tuple[str, ...]) -> None:
        """Check that the tokenizer's padding token has the model's padding id, so that no piece of
        text is lost.
        """
        padding = self._marks["pad_token"]
        padding_id = self._settings.padding_id
        found = (
            repr(tokens[padding_id])
            if padding_id < len(tokens)
            else f"beyond its {len(tokens):,} tokens"
        )
        if found != repr(padding):
            raise ModelImportError(
                f"{self._folder.path / name}: the token {padding_id}, which is pad_token_id in "
                f"config.json, is {found}, not the padding token {padding}. Use files that "
                "belong together."
            )

    def _check_marks(self, side: str, vocabulary: Vocabulary) -> None:
        """Check that special tokens have different ids; otherwise the checkpoint could not be
        opened.
        """
        try:
            vocabulary.check_marks()
        except ValueError as error:
            marks = (
                f"padding {vocabulary.padding_id}, start {vocabulary.start_id}, end "
                f"{vocabulary.end_id}, unknown {vocabulary.unknown_id}"
            )
            raise ModelImportError(
                f"{self._settings.generation.file}: {error} in the {side} vocabulary ({marks}). "
                "Only start and padding may share an id. Use files that belong together."
            ) from error

    def _mark(self, name: str, tokens: tuple[str, ...], mark: str) -> int:
        """The id of the end or the unknown token."""
        try:
            return tokens.index(self._marks[mark])
        except ValueError as error:
            raise ModelImportError(
                f"{self._folder.path / name} has no token {self._marks[mark]}, which every "
                "Marian model has. Use another copy."
            ) from error

    def _read_tokens(
        self, name: str, expected: int, added: Mapping[int, AddedToken]
    ) -> tuple[str, ...]:
        """The tokens by id.

        Raises `ModelImportError` unless there are as many as configured, with different ids.

        Rows of the embeddings after the last token, which bring their number to a multiple of 8,
        get names.
        """
        tokens: list[str | None] = [None] * expected
        for token, token_id in self._ids_in(name, expected):
            if tokens[token_id] is not None:
                raise ModelImportError(
                    f"{self._folder.path / name}: the id {token_id} is that of "
                    f"{tokens[token_id]!r} and of {token!r}. Use another copy."
                )
            tokens[token_id] = token
        known = set(tokens)
        for token_id, added_token in added.items():
            if token_id < expected and tokens[token_id] is None and added_token.text not in known:
                tokens[token_id] = added_token.text
        num_named = max(
            (token_id + 1 for token_id, token in enumerate(tokens) if token is not None), default=0
        )
        if expected % 8 == 0 and expected - num_named < _MOST_UNNAMED:
            tokens[num_named:] = [
                f"<unnamed {token_id}>" for token_id in range(num_named, expected)
            ]
        for token_id, found in enumerate(tokens):
            if found is None:
                raise ModelImportError(
                    f"{self._folder.path / name} has no token with the id {token_id}, although "
                    f"config.json says that it has {expected:,} tokens. Use files that belong "
                    "together."
                )
        return tuple(token for token in tokens if token is not None)

    def _ids_in(self, name: str, expected: int) -> Iterator[tuple[str, int]]:
        """The tokens in a file with their ids."""
        try:
            for token, field in self._folder.read_json(name).items():
                yield token, field.whole_number(0, expected - 1)
        except JsonError as error:
            raise ModelImportError(
                f"{self._folder.path / name}: {error} The vocabulary has {expected:,} tokens, as "
                "config.json says. Use files that belong together."
            ) from error

    def _read_added(self) -> dict[int, AddedToken]:
        """The tokens that were added to the vocabulary, by id; older versions of the library wrote
        a file of them.
        """
        tokenizer = self._settings.tokenizer
        if "added_tokens_decoder" not in tokenizer.values:
            special = self._special_texts(
                self._folder.settings("special_tokens_map.json"), tokenizer
            )
            named = (
                self._ids_in("added_tokens.json", _MOST_TOKENS)
                if self._folder.has("added_tokens.json")
                else ()
            )
            return {
                token_id: AddedToken(text, is_special=text in special) for text, token_id in named
            }
        special = self._special_texts(tokenizer)
        entries = tokenizer.section("added_tokens_decoder")
        added = {}
        for name in entries.values:
            entries.require(
                name.isdecimal() and int(name) < _MOST_TOKENS,
                name,
                "under the id of a token",
                OTHER_COPY,
            )
            entry = entries.section(name)
            flags = entry.flag("lstrip"), entry.flag("rstrip"), entry.flag("single_word")
            text = entry.text("content", "")
            if text not in self._marks.values() or any(flags):  # these are looked for in any case
                added[int(name)] = AddedToken(text, text in special, *flags)
        return added

    @staticmethod
    def _special_texts(*sections: Section) -> set[str]:
        """The texts of special tokens, which have names or are in a list."""
        found: list[object] = []
        for section in sections:
            found += [value for name, value in section.values.items() if name.endswith("_token")]
            for name in ("additional_special_tokens", "extra_special_tokens"):
                value = section.values.get(name)
                if isinstance(value, list | dict):
                    found += value.values() if isinstance(value, dict) else value
        texts = (value.get("content") if isinstance(value, dict) else value for value in found)
        return {text for text in texts if isinstance(text, str)}


def _those_in(vocabulary: Vocabulary, added: Mapping[int, AddedToken]) -> list[AddedToken]:
    """The tokens that have their ids in this vocabulary; that of the target may be another one."""
    return [
        token
        for token_id, token in added.items()
        if token.text and vocabulary.ids.get(token.text) == token_id
    ]


def _matrices(
    path: Path, settings: _Settings, width: int, weights: Mapping[str, Tensor]
) -> tuple[Tensor, Tensor, Tensor]:
    """Embeddings of source and target, and the output layer; a shared matrix may have any of its
    names.
    """
    source_name, target_name = _EMBEDDINGS
    every = (_SHARED, source_name, target_name, _LM_HEAD)
    choices: list[tuple[str, ...]]
    if settings.is_tied and settings.shares_vocabulary:
        choices = [(source_name, *every), (target_name, *every), (_LM_HEAD, *every)]
    elif settings.is_tied:
        choices = [(source_name,), (target_name, _LM_HEAD), (_LM_HEAD, target_name)]
    else:
        choices = [(source_name, _SHARED), (target_name, _SHARED), (_LM_HEAD,)]
    found = []
    for names, rows in zip(
        choices, (settings.num_source, settings.num_target, settings.num_target), strict=True
    ):
        name = next((name for name in names if name in weights), names[0])
        check_shapes(path, weights, {name: (rows, width)})
        found.append(weights[name])
    return found[0], found[1], found[2]


def _bias(path: Path, weights: Mapping[str, Tensor], num_target: int) -> Tensor:
    if _BIAS not in weights:
        return torch.zeros(num_target)
    check_shapes(path, weights, {_BIAS: (1, num_target)})
    return weights[_BIAS][0]
