"""Marian models as Hugging Face transformers store them (`MarianMTModel`, `MarianTokenizer`): the OPUS-MT models.

What is missing in `config.json` is as in the library's `MarianConfig`. A file `generation_config.json` takes the place
of what `config.json` says of generating, as it does there.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from augenmerk.core.checkpoint.file import Checkpoint
from augenmerk.core.checkpoint.origin import Origin
from augenmerk.core.config import Activation, DataConfig, DecodingConfig, ModelConfig, RunConfig, TrainingConfig
from augenmerk.core.errors import ConfigError, ModelImportError
from augenmerk.core.interop.folder import ModelFolder
from augenmerk.core.interop.languages import first_language, given_language
from augenmerk.core.interop.model import ImportedModel, ImportOptions, ImportSummary, with_weights_read
from augenmerk.core.interop.state_dicts import LayerNames, WeightMap
from augenmerk.core.interop.stopping import ImportStoppedError
from augenmerk.core.interop.weights import (
    check_finite,
    check_memory,
    check_shapes,
    holds_half_precision,
    read_safetensors,
    read_state_dict,
    tying_of,
)
from augenmerk.core.model.positions import sinusoidal_halves_table
from augenmerk.core.plain_text import name_of
from augenmerk.core.strict_json import Field, JsonError
from augenmerk.core.text.codec import CodecPair
from augenmerk.core.text.marian import MarianCodec
from augenmerk.core.text.vocabulary import Vocabulary

FORMAT = "Marian, by Hugging Face transformers"
ACTIVATIONS: dict[str, Activation] = {
    "relu": "relu",
    **dict.fromkeys(("gelu", "gelu_python"), "gelu"),
    **dict.fromkeys(("gelu_new", "gelu_pytorch_tanh", "gelu_python_tanh", "gelu_fast", "gelu_accurate"), "gelu-tanh"),
    **dict.fromkeys(("swish", "silu"), "swish"),
}
"""By the library's names, several of which are one function."""
_MOST_STEPS, _MOST_BEAMS = 10**6, 64
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
    "min_new_tokens": (None, 0),
    "do_sample": (None, False),
    "num_beam_groups": (None, 1),
    "forced_bos_token_id": (None,),
    "begin_suppress_tokens": (None, []),
}
"""Settings of generating that are not applied here, with the values that mean nothing."""
_SHARED_NAMES = {
    "none": (),
    "output": ("output.weight",),
    "all": ("target_embedding.tokens.weight", "output.weight"),
}
"""What is another name of a matrix, and so is not stored."""


@dataclass(frozen=True)
class _Ids:
    """The ids that have a meaning of their own."""

    padding: int
    start: int
    end: int


def check_architecture(folder: ModelFolder) -> dict[str, Field]:
    """The settings in `config.json`. Raises `ModelImportError` unless they are those of a Marian model."""
    config = folder.read_json("config.json")
    kind = config["model_type"].value if "model_type" in config else None
    named = config["architectures"].value if "architectures" in config else None
    architecture = named[0] if isinstance(named, list) and named else None
    if kind == "marian" and architecture in (None, "MarianMTModel"):
        return config
    found = (
        f"a model of the type {kind!r}" if architecture is None else f"the architecture {architecture} (type {kind})"
    )
    raise ModelImportError(
        f"{folder.path / 'config.json'} describes {found}. A Marian model (MarianMTModel), such as those of OPUS-MT, "
        "was expected; choose another folder."
    )


class MarianFolder:
    """A folder with a Marian model, its configuration and vocabularies read, its weights not.

    Args:
        folder: with `config.json`.
        options: what the files may not say.

    Raises:
        ModelImportError: a file is missing, damaged, or does not fit the others; or it is of another architecture.
    """

    def __init__(self, folder: ModelFolder, options: ImportOptions) -> None:
        self._folder = folder
        self._config = check_architecture(folder)
        self._weight_files = self._find_weight_files()
        self._tokenizer = self._json_if_any("tokenizer_config.json")
        self._marks = self._special_tokens()
        name = options.name or name_of(folder.path.resolve())
        self._options, self._name = options, name
        self._languages = self._find_languages()
        self._shares = self._flag("share_encoder_decoder_embeddings", True)
        num_source = self._number("vocab_size", 58101, 5_000_000)
        num_target = num_source if self._shares else self._number("decoder_vocab_size", num_source, 5_000_000)
        self._ids = _Ids(
            self._id("pad_token_id", 58100, num_source),
            self._generation_id("decoder_start_token_id", 58100, num_target),
            self._generation_id("eos_token_id", 0, num_target),
        )
        self._model = self._model_config()
        self._codecs = self._read_codecs(num_source, num_target)
        self._decoding, notes = self._read_decoding(num_target)
        num_parameters = self._count_parameters(num_source, num_target)
        file_bytes = sum(path.stat().st_size for path in self._weight_files)
        is_pickled = self._weight_files[0].suffix != ".safetensors"
        self._summary = ImportSummary(
            name=name,
            format=FORMAT,
            languages=self._languages,
            target_codes=self._codecs.source.target_codes,
            num_parameters=num_parameters,
            memory_bytes=4 * num_parameters + 2 * file_bytes,
            read_bytes=file_bytes,
            is_pickled=is_pickled,
            # what a pickle holds shows when it is read
            has_half_precision=file_bytes < 3 * num_parameters
            if is_pickled
            else all(map(holds_half_precision, self._weight_files)),
            half_precision=False,
            notes=notes,
        ).stored_as(options.half_precision)

    @property
    def summary(self) -> ImportSummary:
        """What is known of it."""
        return self._summary

    def read(
        self,
        on_phase: Callable[[str], None] = lambda text: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> ImportedModel:
        """Reads the weights.

        Raises:
            ModelImportError: they do not fit the configuration, are damaged, or memory does not suffice.
            ImportStoppedError: `should_stop` said so.
        """
        check_memory(self._folder.path, self._summary.memory_bytes)
        weights: dict[str, Tensor] = {}
        for path in self._weight_files:
            on_phase(f"Reading {path.name}")
            if should_stop():
                raise ImportStoppedError
            part = read_safetensors(path) if path.suffix == ".safetensors" else read_state_dict(path, should_stop)
            check_finite(path, part, half_precision=self._options.half_precision is True)
            weights |= part
        on_phase("Converting the weights")
        summary = with_weights_read(self._summary, self._options.half_precision, weights)
        model, converted = self._converted(weights)
        checkpoint = Checkpoint(
            run=self._run_config(model),
            codecs=self._codecs,
            weights=converted,
            decoding=self._decoding,
            origin=Origin("marian", self._name, self._options.revision, self._folder.licence()),
        )
        return ImportedModel(checkpoint, summary)

    def _run_config(self, model: ModelConfig | None = None) -> RunConfig:
        source, target = self._languages
        return RunConfig(
            preset="marian",
            description=f"{self._name}: a Marian model, imported.",
            model=model or self._model,
            data=DataConfig(
                tokenization="marian",
                source_language=source,
                target_language=target,
                source_case="keep",
                target_case="keep",
                wrap_source=False,
                end_source=True,
            ),
            training=TrainingConfig(),
        )

    def _find_weight_files(self) -> list[Path]:
        """The files with the weights, several if they are in parts; safetensors where there is a choice."""
        folder = self._folder
        for name in ("model.safetensors", "pytorch_model.bin"):
            if folder.has(name):
                return [folder.file(name)]
            if folder.has(f"{name}.index.json"):
                index = folder.read_json(f"{name}.index.json")
                try:
                    parts = index["weight_map"].any_members(1_000_000) if "weight_map" in index else {}
                    names = sorted({part.text(500) for part in parts.values()})
                except JsonError as error:
                    raise ModelImportError(f"{folder.path / name}.index.json: {error} Use another copy.") from error
                if names:
                    return [folder.file(part) for part in names]
        others = [name for name in ("tf_model.h5", "flax_model.msgpack", "rust_model.ot") if folder.has(name)]
        raise ModelImportError(
            f"{folder.path} has no weights: neither model.safetensors nor pytorch_model.bin"
            f"{f', only {others[0]}, which is not read' if others else ''}. One of the two was expected; fetch it."
        )

    def _json_if_any(self, name: str) -> dict[str, Field]:
        return self._folder.read_json(name) if self._folder.has(name) else {}

    def _special_tokens(self) -> dict[str, str]:
        """What the end, the unknown and the padding token are called."""
        found = dict(_SPECIALS)
        for settings in (self._json_if_any("special_tokens_map.json"), self._tokenizer):
            for name in _SPECIALS:
                value = self._value(settings, name)
                if isinstance(value, dict):
                    value = value.get("content")
                if isinstance(value, str) and value:
                    found[name] = value
        return found

    def _find_languages(self) -> tuple[str, str]:
        given = [
            given_language(side, text)
            for side, text in (
                ("source", self._options.source_language),
                ("target", self._options.target_language),
            )
        ]
        told = tuple(self._value(self._tokenizer, f"{side}_lang") for side in ("source", "target"))
        named = None
        for name in (self._name, self._value(self._config, "_name_or_path"), self._folder.path.resolve().name):
            if named is None and isinstance(name, str):
                named = _PAIR.search(name)
        by_name = named.groups() if named is not None else (None, None)
        source, target = zip(given, told, by_name, strict=True)
        return first_language(source), first_language(target)

    def _model_config(self) -> ModelConfig:
        activation = self._value(self._config, "activation_function", "gelu")
        if not isinstance(activation, str) or activation not in ACTIVATIONS:
            raise ModelImportError(
                f"{self._config_path}: activation_function is {activation!r}; one of {', '.join(ACTIVATIONS)} was "
                "expected. This model cannot be read."
            )
        width = self._number("d_model", 1024, 8192)
        for name in _NUM_HEADS:
            if width % (num_heads := self._number(name, 16, 512)):
                raise ModelImportError(
                    f"{self._config_path}: {name} is {num_heads}; a number that divides d_model, {width}, was "
                    "expected. Use another copy."
                )
        shares_output = self._flag("tie_word_embeddings", True)
        dropout = self._value(self._config, "dropout", 0.1)
        try:
            return ModelConfig(
                width=width,
                num_encoder_layers=self._number("encoder_layers", 12, 128),
                num_decoder_layers=self._number("decoder_layers", 12, 128),
                num_heads=self._number(_NUM_HEADS[0], 16, 512),
                num_decoder_heads=self._number(_NUM_HEADS[1], 16, 512),
                feed_forward_width=self._number("encoder_ffn_dim", 4096, 65536),
                decoder_feed_forward_width=self._number("decoder_ffn_dim", 4096, 65536),
                activation=ACTIVATIONS[activation],
                dropout=dropout if isinstance(dropout, int | float) and 0 <= dropout < 1 else 0.1,
                norm_position="post",
                final_norm=False,
                positions="sinusoidal-halves",
                max_positions=self._number("max_position_embeddings", 1024, 100_000),
                scale_embeddings=self._flag("scale_embedding", False),
                tied_embeddings="none" if not shares_output else "all" if self._shares else "output",
                output_bias=True,
            )
        except ConfigError as error:
            raise ModelImportError(f"{self._config_path}: {error}") from error

    def _read_codecs(self, num_source: int, num_target: int) -> CodecPair:
        separate = self._value(self._tokenizer, "separate_vocabs")
        if separate is not None and not isinstance(separate, bool):
            raise ModelImportError(
                f"{self._folder.path / 'tokenizer_config.json'}: separate_vocabs is {separate!r}; true or false was "
                "expected. Use another copy."
            )
        if separate is None:
            separate = not self._shares and self._folder.has("target_vocab.json")
        target_name = "target_vocab.json" if separate else "vocab.json"
        source_tokens = self._read_tokens("vocab.json", num_source)
        target_tokens = self._read_tokens(target_name, num_target)
        for name, tokens in (("vocab.json", source_tokens), (target_name, target_tokens)):
            self._check_padding(name, tokens)
        models = self._folder.read_sentencepiece("source.spm"), self._folder.read_sentencepiece("target.spm")
        cleans_up = self._value(self._tokenizer, "clean_up_tokenization_spaces") is True
        source = Vocabulary(
            source_tokens,
            padding_id=self._ids.padding,
            start_id=self._ids.padding,
            end_id=self._mark("vocab.json", source_tokens, "eos_token"),
            unknown_id=self._mark("vocab.json", source_tokens, "unk_token"),
        )
        target = Vocabulary(
            target_tokens,
            padding_id=self._ids.padding,
            start_id=self._ids.start,
            end_id=self._ids.end,
            unknown_id=self._mark(target_name, target_tokens, "unk_token"),
        )
        for side, vocabulary in (("source", source), ("target", target)):
            self._check_marks(side, vocabulary)
        writes = models[1] if separate else models[0]  # as MarianTokenizer does it
        languages = self._languages
        return CodecPair(
            MarianCodec(languages[0], source, models[0], cleans_up=cleans_up),
            MarianCodec(languages[1], target, models[1], writes, cleans_up=cleans_up),
        )

    def _check_padding(self, name: str, tokens: tuple[str, ...]) -> None:
        """The tokenizer pads with a token by its name, the model by an id: a piece of text must not be left out."""
        padding, padding_id = self._marks["pad_token"], self._ids.padding
        found = repr(tokens[padding_id]) if padding_id < len(tokens) else f"beyond its {len(tokens):,} tokens"
        if found != repr(padding):
            raise ModelImportError(
                f"{self._folder.path / name}: the token {padding_id}, which is pad_token_id in config.json, is "
                f"{found}. The padding token {padding} was expected; use files that belong together."
            )

    def _check_marks(self, side: str, vocabulary: Vocabulary) -> None:
        """A file with special tokens of one id could not be opened."""
        try:
            vocabulary.check_marks()
        except ValueError as error:
            marks = (
                f"padding {vocabulary.padding_id}, start {vocabulary.start_id}, end {vocabulary.end_id}, unknown "
                f"{vocabulary.unknown_id}"
            )
            raise ModelImportError(
                f"{self._folder.path / self._generation_name}: {error} in the {side} vocabulary ({marks}). "
                "Different ids were expected, only start and padding may be one; use files that belong together."
            ) from error

    def _mark(self, name: str, tokens: tuple[str, ...], mark: str) -> int:
        """The id of the end or the unknown token."""
        try:
            return tokens.index(self._marks[mark])
        except ValueError as error:
            raise ModelImportError(
                f"{self._folder.path / name} has no token {self._marks[mark]}. Every vocabulary of a Marian model has "
                "it; use another copy."
            ) from error

    def _read_tokens(self, name: str, expected: int) -> tuple[str, ...]:
        """The tokens by id, checked to be as many as the configuration says, each with an id of its own."""
        path = self._folder.path / name
        tokens: list[str | None] = [None] * expected
        try:
            for token, field in self._folder.read_json(name).items():
                token_id = field.whole_number(0, expected - 1)
                if tokens[token_id] is not None:
                    raise ModelImportError(
                        f"{path}: the id {token_id} is that of {tokens[token_id]!r} and of {token!r}. Each token with "
                        "an id of its own was expected; use another copy."
                    )
                tokens[token_id] = token
        except JsonError as error:
            raise ModelImportError(
                f"{path}: {error} The vocabulary has {expected:,} tokens, as config.json says. Use files that belong "
                "together."
            ) from error
        for token_id, found in enumerate(tokens):
            if found is None:
                raise ModelImportError(
                    f"{path} has no token with the id {token_id}. A token for each of the {expected:,} ids was "
                    "expected, as config.json says; use files that belong together."
                )
        return tuple(token for token in tokens if token is not None)

    def _read_decoding(self, num_target: int) -> tuple[DecodingConfig, tuple[str, ...]]:
        settings = self._generation
        notes = [
            f"{name} = {value!r} is not applied"
            for name, harmless in _NOT_APPLIED.items()
            if (value := self._value(settings, name)) not in harmless
        ]
        forbidden: set[int] = set()
        for words in self._list(settings, "bad_words_ids"):
            if isinstance(words, list) and len(words) == 1 and _is_id(words[0], num_target):
                forbidden |= {words[0]} - {self._ids.end}
            else:
                notes.append(f"bad_words_ids: {words!r} is not applied")
        for token_id in self._list(settings, "suppress_tokens"):
            if _is_id(token_id, num_target):
                forbidden.add(token_id)
            else:
                notes.append(f"suppress_tokens: {token_id!r} is not applied")
        default = None if self._folder.has("generation_config.json") else 0
        forced = self._value(settings, "forced_eos_token_id", default)
        forces_end = forced == self._ids.end or (isinstance(forced, list) and self._ids.end in forced)
        if forced is not None and not forces_end:
            notes.append(f"forced_eos_token_id = {forced!r} is not applied")
        max_length, num_new = self._value(settings, "max_length"), self._value(settings, "max_new_tokens")
        # a length counts the start token
        name, told, least = ("max_length", max_length, 2) if num_new is None else ("max_new_tokens", num_new, 1)
        limit = None
        if type(told) is int and least <= told < _MOST_STEPS + least:  # a bool is no number here
            limit = told + 1 - least
        elif told is not None:
            notes.append(f"{name} = {told!r} is not applied")
        beam = self._value(settings, "num_beams")
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

    def _converted(self, weights: Mapping[str, Tensor]) -> tuple[ModelConfig, dict[str, Tensor]]:
        """The weights by the names they have here, and the configuration with what only they tell."""
        path = self._folder.path / self._weight_files[0].name
        config = self._model
        num_source, num_target = len(self._codecs.source.vocabulary), len(self._codecs.target.vocabulary)
        ignored = [*_EMBEDDINGS, *_TABLES, _SHARED, _LM_HEAD, _BIAS]
        converted = WeightMap(config, _LAYER_NAMES).convert(path, weights, ignored)
        source, target, output = self._matrices(path, weights, num_source, num_target)
        config = config.replace(tied_embeddings=tying_of(source, target, output))
        converted |= {
            "source_embedding.tokens.weight": source,
            "target_embedding.tokens.weight": target,
            "output.weight": output,
            "output.bias": self._bias(path, weights, num_target),
        }
        tables = [weights.get(name) for name in _TABLES]
        if any(table is not None for table in tables):
            config, learned = _with_tables(path, config, tables)
            converted |= learned
        for name in _SHARED_NAMES[config.tied_embeddings]:
            del converted[name]
        return config, {name: value.to(torch.float32) for name, value in converted.items()}

    def _count_parameters(self, num_source: int, num_target: int) -> int:
        """As far as the configuration tells."""
        layers = WeightMap(self._model, _LAYER_NAMES).shapes.values()
        matrices = {"none": num_source + 2 * num_target, "output": num_source + num_target, "all": num_source}
        embeddings = matrices[self._model.tied_embeddings] * self._model.width
        return sum(math.prod(shape) for shape in layers) + embeddings + num_target

    def _matrices(
        self, path: Path, weights: Mapping[str, Tensor], num_source: int, num_target: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Embeddings of source and target, and the output layer; what is shared may stand under any of its names."""
        source_name, target_name = _EMBEDDINGS
        is_tied = self._flag("tie_word_embeddings", True)
        every = (_SHARED, source_name, target_name, _LM_HEAD)
        choices: list[tuple[str, ...]]
        if is_tied and self._shares:
            choices = [(source_name, *every), (target_name, *every), (_LM_HEAD, *every)]
        elif is_tied:
            choices = [(source_name,), (target_name, _LM_HEAD), (_LM_HEAD, target_name)]
        else:
            choices = [(source_name, _SHARED), (target_name, _SHARED), (_LM_HEAD,)]
        found = []
        for names, rows in zip(choices, (num_source, num_target, num_target), strict=True):
            name = next((name for name in names if name in weights), names[0])
            check_shapes(path, weights, {name: (rows, self._model.width)})
            found.append(weights[name])
        return found[0], found[1], found[2]

    @staticmethod
    def _bias(path: Path, weights: Mapping[str, Tensor], num_target: int) -> Tensor:
        if _BIAS not in weights:
            return torch.zeros(num_target)
        check_shapes(path, weights, {_BIAS: (1, num_target)})
        return weights[_BIAS][0]

    @property
    def _config_path(self) -> Path:
        return self._folder.path / "config.json"

    @property
    def _generation(self) -> dict[str, Field]:
        """What is said of generating: by a file of its own, or by `config.json`."""
        return self._json_if_any("generation_config.json") or self._config

    @property
    def _generation_name(self) -> str:
        """The file that `_generation` is of."""
        return "generation_config.json" if self._json_if_any("generation_config.json") else "config.json"

    @staticmethod
    def _value(settings: Mapping[str, Field], name: str, default: Any = None) -> Any:
        return settings[name].value if name in settings else default

    def _list(self, settings: Mapping[str, Field], name: str) -> list[Any]:
        """The items of a setting; none if it is not there."""
        value = self._value(settings, name)
        if value is not None and not isinstance(value, list):
            raise ModelImportError(
                f"{self._folder.path / self._generation_name}: {name} is {value!r}; a list was expected. Use another "
                "copy."
            )
        return value or []

    def _number(self, name: str, default: int, most: int) -> int:
        """A size; None means the default, as in the library."""
        if self._value(self._config, name) is None:
            return default
        try:
            return self._config[name].whole_number(1, most)
        except JsonError as error:
            raise ModelImportError(f"{self._config_path}: {error} Use another copy.") from error

    def _flag(self, name: str, default: bool) -> bool:
        value = self._value(self._config, name, default)
        if not isinstance(value, bool):
            raise ModelImportError(
                f"{self._config_path}: {name} is {value!r}; true or false was expected. Use another copy."
            )
        return value

    def _id(self, name: str, default: int, num_tokens: int) -> int:
        return self._checked_id("config.json", name, self._value(self._config, name, default), num_tokens)

    def _generation_id(self, name: str, default: int, num_tokens: int) -> int:
        file, value = self._generation_name, self._value(self._generation, name)
        if value is None:
            file, value = "config.json", self._value(self._config, name, default)
        if isinstance(value, list) and value:
            value = value[0]
        return self._checked_id(file, name, value, num_tokens)

    def _checked_id(self, file: str, name: str, value: object, num_tokens: int) -> int:
        if not _is_id(value, num_tokens):
            raise ModelImportError(
                f"{self._folder.path / file}: {name} is {value!r}; the id of one of {num_tokens:,} tokens was "
                "expected. Use files that belong together."
            )
        assert isinstance(value, int)
        return value


def _is_id(value: object, num_tokens: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < num_tokens


def _with_tables(path: Path, config: ModelConfig, tables: list[Tensor | None]) -> tuple[ModelConfig, dict[str, Tensor]]:
    """The configuration with positions as they are in the file: the waves, or tables of their own."""
    shape = (config.max_positions, config.width)
    waves = sinusoidal_halves_table(*shape)
    for name, table in zip(_TABLES, tables, strict=True):
        if table is not None:
            check_shapes(path, {name: table}, {name: shape})
    # tables of 16 bits are kept as they are: the library adds what is in the file, with its rounding
    if all(table is None or torch.allclose(table.float(), waves, atol=1e-6) for table in tables):
        return config, {}
    names = ("source_embedding.positions", "target_embedding.positions")
    return config.replace(positions="learned"), {
        name: waves if table is None else table for name, table in zip(names, tables, strict=True)
    }
