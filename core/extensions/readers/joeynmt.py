"""JoeyNMT, version 2: training folders of models with a Transformer on both sides.

Settings missing from `config.yaml` have the library's defaults. Its paths belong to the machine
that trained the model: only their last parts are used, as names of files in the folder.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Literal

import torch
from torch import Tensor

from ...config import Activation, DecodingConfig, ModelConfig
from ...config.groups import MAX_LENGTH_PENALTY
from ...errors import ModelImportError
from ...model.layers import sinusoidal_table
from ...strict_json import shown
from ...text.codec import CodecPair
from ...text.vocabulary import ENDS, STARTS, Vocabulary
from .codecs import JoeyNMTCodec, Level
from .folder import OTHER_COPY, ModelFolder, Section, settings_of
from .model import FolderModel, ImportOptions, languages_of
from .weights import (
    LayerNames,
    WeightMap,
    check_shapes,
    tied,
    with_positions,
)

FORMAT = "JoeyNMT 2"
CONFIG = "config.yaml"
_ACTIVATIONS: dict[str, Activation] = {"relu": "relu", "gelu": "gelu", "swish": "swish"}
_SPECIALS = {"unk": "<unk>", "pad": "<pad>", "bos": "<s>", "eos": "</s>"}
"""The special tokens in the order of their ids."""
_NUM_POSITIONS = 5000
_LAYER_NAMES = LayerNames(
    attentions=("src_src_att", "trg_trg_att", "src_trg_att"),
    projections=("q_layer", "k_layer", "v_layer", "output_layer"),
    feed_forward=("feed_forward.pwff_layer.0", "feed_forward.pwff_layer.3"),
    encoder_norms=("layer_norm", "feed_forward.layer_norm"),
    decoder_norms=("x_layer_norm", "dec_layer_norm", "feed_forward.layer_norm"),
)
_TABLES = ("encoder.pe.pe", "decoder.pe.pe")
_MOST_STEPS = 10**6
_MOST_BEAMS = 64
_ROUNDING = 2.4e-7
"""Tolerance of a wave's angle, per position: exp and sin differ between machines."""
_Side = Literal["src", "trg"]


class JoeyNMTModel(FolderModel):
    """The model in a folder with `config.yaml`.

    Raises:
        ModelImportError: a file is missing, damaged, or does not fit the others; or the model is of
            another architecture, or has a feature that cannot be represented here.
    """

    kind = "joeynmt"
    format = FORMAT

    def __init__(self, folder: ModelFolder, options: ImportOptions) -> None:
        super().__init__(folder, options)
        config = folder.read_yaml(CONFIG)
        self._data, self._settings = _known_sections(config)
        self._encoder, self._decoder = (
            self._settings.section(name, {}) for name in ("encoder", "decoder")
        )
        _check_transformer(self._encoder, "recurrent")
        _check_transformer(self._decoder, "transformer")
        testing = config.section("testing", {})
        self._checkpoint = self._find_checkpoint(testing)
        self.files = [self._checkpoint]
        self._model = self._model_config()
        self._residual_weights = self._find_residual_weights()
        self._languages = self._find_languages()
        self._marks = self._special_symbols()
        self.codecs = CodecPair(self._read_codec("src"), self._read_codec("trg"))
        self._check_tied_vocabularies()
        self.num_parameters = self._count_parameters()
        self.decoding, self.notes = _decoding_config(testing)

    def _find_checkpoint(self, testing: Section) -> Path:
        """That of `testing.load_model`, else the best, the latest, or that of most steps."""
        folder = self.folder
        named = PurePath(testing.text("load_model", "best.ckpt").replace("\\", "/")).name
        steps = {
            int(name[:-5]): name
            for name in folder.names()
            if name.endswith(".ckpt") and name[:-5].isdecimal()
        }
        for name in (named, "best.ckpt", "latest.ckpt", steps[max(steps)] if steps else ""):
            if name and folder.has(name):
                return folder.file(name)
        file_names = ", ".join(folder.names()[:12])
        raise ModelImportError(
            f"{folder.path} has no weights (best.ckpt); it holds {file_names}. Fetch them."
        )

    def _model_config(self) -> ModelConfig:
        encoder, decoder = self._encoder, self._decoder
        for section in (encoder, decoder):
            # versions 2.0 to 2.3 read its absence in two ways
            is_stated = "layer_norm" in section.values
            requirement = '"pre" or "post", as versions of JoeyNMT differ without it'
            section.require(is_stated, "layer_norm", requirement, "Add it.")
        position = encoder.choice("layer_norm", None, "pre", "post")
        activation = encoder.choice("activation", "relu", *_ACTIVATIONS)
        for name, first, second in (
            ("layer_norm", position, decoder.choice("layer_norm", None, "pre", "post")),
            ("activation", activation, decoder.choice("activation", "relu", *_ACTIVATIONS)),
        ):
            decoder.require(first == second, name, f'"{first}", as in the encoder')
        width = encoder.whole("hidden_size", 512, 1, 8192)
        encoder.require(width % 2 == 0, "hidden_size", "even: waves come in pairs")
        is_same = decoder.whole("hidden_size", 512, 1, 8192) == width
        decoder.require(is_same, "hidden_size", f"{width}, as in the encoder")
        scaled = [embeddings.flag("scale") for embeddings in self._embeddings()]
        for embeddings in self._embeddings():
            is_same = embeddings.whole("embedding_dim", 64, 1, 8192) == width
            embeddings.require(is_same, "embedding_dim", f"{width}, the hidden_size")
        with settings_of(encoder.file):
            return ModelConfig(
                width=width,
                num_encoder_layers=encoder.whole("num_layers", 8, 1, 128),
                num_decoder_layers=decoder.whole("num_layers", 4, 1, 128),
                num_heads=_num_heads(encoder, 4, width),
                num_decoder_heads=_num_heads(decoder, 8, width),
                feed_forward_width=encoder.whole("ff_size", 2048, 1, 65536),
                decoder_feed_forward_width=decoder.whole("ff_size", 2048, 1, 65536),
                activation=_ACTIVATIONS[activation],
                dropout=min(encoder.number("dropout", 0.1, 0, 1), 0.99),
                norm_position="pre" if position == "pre" else "post",
                norm_kind="torch-1e-6",
                final_norm=position == "pre",
                positions="sinusoidal",
                max_positions=_NUM_POSITIONS,
                scale_embeddings=any(scaled),
                output_bias=False,
            )

    def _embeddings(self) -> tuple[Section, Section]:
        """The embedding settings of both sides; if they are tied, the encoder's apply to both."""
        source = self._encoder.section("embeddings", {})
        return source, source if self._settings.flag("tied_embeddings") else self._decoder.section(
            "embeddings", {}
        )

    def _find_residual_weights(self) -> tuple[float, float]:
        """The factors of residuals in encoder and decoder.

        Post-norm absorbs them: normalising alpha · x + f(x) is normalising x + f(x) / alpha.
        """
        factors = [
            section.number("alpha", 1.0, 1e-3, 1e3) for section in (self._encoder, self._decoder)
        ]
        name = "alpha"
        # begins as in Wang et al. 2022
        if self._settings.text("initializer", "xavier_uniform") == "xavier_normal":
            num_encoder, num_decoder = (
                self._model.num_encoder_layers,
                self._model.num_decoder_layers,
            )
            factors = [
                0.81 * (num_encoder**4 * num_decoder) ** (1 / 16),
                (3 * num_decoder) ** (1 / 4),
            ]
            name = "initializer"
        if self._model.norm_position == "pre" and factors != [1.0, 1.0]:
            if name == "initializer":
                section = self._settings
            elif factors[0] != 1:
                section = self._encoder
            else:
                section = self._decoder
            effect = (
                f"it multiplies residuals by {factors[0]:.3g} in the encoder and "
                f"{factors[1]:.3g} in the decoder"
            )
            section.require(False, name, f"unset with pre-norm: {effect}")
        return factors[0], factors[1]

    def _find_languages(self) -> tuple[str, str]:
        source, target = (self._data.section(side).values.get("lang") for side in ("src", "trg"))
        # YAML reads Norwegian's code as false
        return languages_of(
            self.options, ("no" if source is False else source, "no" if target is False else target)
        )

    def _special_symbols(self) -> list[str]:
        """The names of the four special tokens, in the order of their ids."""
        symbols = self._data.section("special_symbols", {})
        for name in ("sep_token", "lang_tags"):
            is_unset = not symbols.values.get(name)
            symbols.require(
                is_unset, name, "unset: models with prompts or language tags are not supported"
            )
        for token_id, name in enumerate(_SPECIALS):
            is_usual = symbols.whole(f"{name}_id", token_id, 0, 10**9) == token_id
            symbols.require(
                is_usual, f"{name}_id", f"{token_id}, as JoeyNMT puts special tokens first"
            )
        tokens = [symbols.text(f"{name}_token", token) for name, token in _SPECIALS.items()]
        if len(set(tokens)) != len(tokens):
            raise ModelImportError(
                f"{symbols.file}: two of the special tokens have one name ({' '.join(tokens)}). "
                "Use another copy."
            )
        return tokens

    def _read_codec(self, side: _Side) -> JoeyNMTCodec:
        section = self._data.section(side)
        section.require(
            not section.flag("has_prompt"),
            "has_prompt",
            "false: models with prompts are not supported",
        )
        cutting = section.section("tokenizer_cfg", {})
        has_none = cutting.text("pretokenizer", "none").lower() == "none"
        cutting.require(has_none, "pretokenizer", '"none": no other is supported')
        level: Level = "word"
        model = codes = None
        cut_by = section.choice("level", None, "word", "char", "bpe")
        file = self.folder.path
        if cut_by == "char":
            level = "char"
        elif cut_by == "bpe":
            kind = "tokenizer_type" if "tokenizer_type" in section.values else "bpe_type"
            if (
                section.choice(kind, "sentencepiece", "sentencepiece", "subword-nmt")
                == "sentencepiece"
            ):
                level = "sentencepiece"
                name = self._named(cutting, "model_file")
                model = self.folder.read_sentencepiece(name)
            else:
                level = "subword-nmt"
                name = self._named(cutting, "codes")
                codes = self.folder.read_text(name).replace("\r\n", "\n")
            file = self.folder.path / name
        try:
            return JoeyNMTCodec(
                self._languages[side == "trg"],
                self._read_vocabulary(side, section),
                level,
                model=model,
                codes=codes,
                separator=cutting.text("separator", "@@"),
                lowercase=section.flag("lowercase"),
                normalizes=section.flag("normalize"),
            )
        except (ValueError, RuntimeError) as error:
            kind = "merges of subword-nmt" if level == "subword-nmt" else "pieces of SentencePiece"
            raise ModelImportError(
                f"{file} cannot be used as {kind} ({str(error).strip()[:160]}). Use another copy."
            ) from error

    def _named(self, section: Section, name: str) -> str:
        """The name of a file in the folder, from its path in the configuration."""
        path = section.text(name, "")
        file = PurePath(path.replace("\\", "/")).name
        section.require(bool(file), name, "the name of a file in the folder", OTHER_COPY)
        if not self.folder.has(file):
            raise ModelImportError(
                f"{self.folder.path} has no {file}, which {CONFIG} names ({section.path}.{name}: "
                f"{path}). Copy that file into the folder."
            )
        return file

    def _read_vocabulary(self, side: _Side, section: Section) -> Vocabulary:
        """The special tokens, then the other tokens of the file, each once."""
        name = f"{side}_vocab.txt"
        listed = PurePath(section.text("voc_file", name).replace("\\", "/")).name
        name = listed if listed and self.folder.has(listed) else name
        tokens = list(dict.fromkeys([*self._marks, *self.folder.read_text(name).splitlines()]))
        # labels of special tokens in the window
        for token_id, known in ((1, STARTS), (2, STARTS), (3, ENDS)):
            shown = list(_SPECIALS.values())[token_id]
            if tokens[token_id] not in known and shown not in tokens:
                tokens[token_id] = shown
        return Vocabulary(tuple(tokens), unknown_id=0, padding_id=1, start_id=2, end_id=3)

    def _check_tied_vocabularies(self) -> None:
        is_one = self.codecs.source.vocabulary == self.codecs.target.vocabulary
        requirement = "false, as source and target have different vocabularies"
        is_met = is_one or not self._settings.flag("tied_embeddings")
        self._settings.require(
            is_met, "tied_embeddings", requirement, "Use files that belong together."
        )

    def _weight_map(self) -> WeightMap:
        config = self._model
        names = WeightMap(config, _LAYER_NAMES)
        num_source, num_target = (
            len(self.codecs.source.vocabulary),
            len(self.codecs.target.vocabulary),
        )
        names.add(
            "source_embedding.tokens.weight", "src_embed.lut.weight", num_source, config.width
        )
        names.add(
            "target_embedding.tokens.weight", "trg_embed.lut.weight", num_target, config.width
        )
        if config.final_norm:
            names.norm("encoder_norm", "encoder.layer_norm")
            names.norm("decoder_norm", "decoder.layer_norm")
        names.add("output.weight", "decoder.output_layer.weight", num_target, config.width)
        return names

    def _count_parameters(self) -> int:
        """The number of parameters, as far as the configuration determines it."""
        shapes = self._weight_map().shapes
        if self._settings.flag("tied_softmax"):
            del shapes["decoder.output_layer.weight"]
            if self._settings.flag("tied_embeddings"):
                del shapes["trg_embed.lut.weight"]
        return sum(map(math.prod, shapes.values()))

    def convert(self, weights: Mapping[str, Tensor]) -> tuple[ModelConfig, dict[str, Tensor]]:
        """The configuration, completed from the weights, and the weights by Augenmerk's names."""
        path, config = self._checkpoint, self._model
        converted = self._weight_map().convert(path, weights, _TABLES)
        self._check_tied(weights)
        for stack, weight in zip(
            ("encoder_layers.", "decoder_layers."), self._residual_weights, strict=True
        ):
            for name, value in converted.items():
                if (
                    weight != 1
                    and name.startswith(stack)
                    and (".out_proj." in name or ".contract." in name)
                ):
                    value /= weight
        scales = [embeddings.flag("scale") for embeddings in self._embeddings()]
        if scales[0] != scales[1]:  # both sides have one setting here, the target's
            converted["source_embedding.tokens.weight"] *= math.sqrt(config.width) ** (
                1 if scales[0] else -1
            )
            config = config.replace(scale_embeddings=scales[1])
        config = _with_tables(path, config, converted, [weights.get(name) for name in _TABLES])
        return tied(config, converted), converted

    def _check_tied(self, weights: Mapping[str, Tensor]) -> None:
        target = weights["trg_embed.lut.weight"]
        for name, setting in (
            ("decoder.output_layer.weight", "tied_softmax"),
            ("src_embed.lut.weight", "tied_embeddings"),
        ):
            if self._settings.flag(setting) and not torch.equal(weights[name], target):
                raise ModelImportError(
                    f"{self._checkpoint}: {name} is not the same matrix as trg_embed.lut.weight, "
                    f"although {CONFIG} ties them ({setting}). Use files that belong together."
                )


def _known_sections(config: Section) -> tuple[Section, Section]:
    """The sections on data and model. Raises `ModelImportError` unless of version 2."""
    missing = [name for name in ("data", "model") if name not in config.values]
    if missing:
        section_names = ", ".join(list(config.values)[:8]) or "nothing"
        raise ModelImportError(
            f"{config.file} has no section {missing[0]}; it holds {section_names}. Choose the "
            "folder of a JoeyNMT 2 model."
        )
    reported = config.values.get("joeynmt_version", "2")
    version = str(reported) if isinstance(reported, str | float) else shown(reported)
    data = config.section("data")
    if version.split(".")[0] != "2" or isinstance(data.values.get("src"), str):
        raise ModelImportError(
            f"{config.file} is of version {version if not version.startswith('2') else '1'} of "
            "JoeyNMT. Only models of version 2 can be read."
        )
    return data, config.section("model")


def _check_transformer(section: Section, default: str) -> None:
    kind = section.text("type", default)
    if kind != "transformer":
        cell = f" ({section.text('rnn_type', 'gru')})" if kind == "recurrent" else ""
        raise ModelImportError(
            f"{section.file}: {section.path} is of the type {kind}{cell}. Both sides must be "
            "transformers: others have no heads."
        )


def _num_heads(section: Section, default: int, width: int) -> int:
    """The number of heads per layer of a side.

    Raises `ModelImportError` unless they can share its width.
    """
    num_heads = section.whole("num_heads", default, 1, 512)
    section.require(
        width % num_heads == 0, "num_heads", f"a number that divides the hidden_size of {width}"
    )
    return num_heads


def _decoding_config(testing: Section) -> tuple[DecodingConfig, tuple[str, ...]]:
    """The settings of decoding, and notes on those that are ignored."""
    notes = [
        f"{name} = {value:g} is not applied"
        for name, harmless in (("repetition_penalty", 1), ("no_repeat_ngram_size", 1))
        if (value := testing.number(name, -1, -1e9, 1e9)) > harmless
    ]
    beam = testing.whole("beam_size", 1, 0, 10**6)
    if beam > _MOST_BEAMS:
        notes.append(f"beam_size = {beam} is not applied")
        beam = 1
    # the former name comes first there
    name = "alpha" if "alpha" in testing.values else "beam_alpha"
    alpha = testing.number(name, -1, -1e9, 1e9)
    if beam > 1 and alpha > MAX_LENGTH_PENALTY:
        notes.append(f"{name} = {alpha:g} is not applied")
        alpha = -1
    limit = testing.whole("max_output_length", -1, -(10**9), _MOST_STEPS)
    least = testing.whole("min_output_length", 1, 0, _MOST_STEPS)
    if 0 < limit < least:
        notes.append(
            f"min_output_length = {least} is above max_output_length = {limit}: no translation "
            "can end"
        )
    forbids_unknown = not testing.flag("generate_unk", True)
    config = DecodingConfig(
        forbidden_ids=(0, 2)
        if forbids_unknown
        else (2,),  # its beam search alone forbids padding (core.translation.beam)
        max_steps=limit if limit > 0 else None,
        steps_per_source_token=1.5,
        min_steps=least,
        beam=max(beam, 1),
        # its formula is that of core.translation.beam
        length_penalty=max(alpha, 0.0) if beam > 1 else None,
    )
    return config, tuple(notes)


def _with_tables(
    path: Path, config: ModelConfig, converted: dict[str, Tensor], tables: list[Tensor | None]
) -> ModelConfig:
    """The configuration with the positions of the file: the waves, or separate tables."""
    count = next(
        (table.size(1) for table in tables if table is not None and table.dim() == 3),
        _NUM_POSITIONS,
    )
    check_shapes(
        path,
        {name: table for name, table in zip(_TABLES, tables, strict=True) if table is not None},
        dict.fromkeys(_TABLES, (1, count, config.width)),
    )
    with settings_of(path):
        config = replace(config, max_positions=count)
    tolerance = 1e-6 + _ROUNDING * torch.arange(count)[:, None]
    position_tables = [None if table is None else table[0] for table in tables]
    return with_positions(
        config, converted, position_tables, sinusoidal_table(count, config.width), tolerance
    )
