"""A checkpoint as two texts that a page holds and `translator.js` reads: its description and its
weights.

Weights are rounded to 16 bits unless the caller wants all 32; tensors that 16 bits hold exactly
take 16 either way. The bytes of one place of all numbers lie together (planes), as gzip finds more
repetitions in them.
"""

import base64
import gzip
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...checkpoint.file import Checkpoint
from ...errors import CheckpointError
from ...text.codec import TextCodec
from ...text.languages import COMMON_WORDS, language_name, two_letter_code
from ...text.phrases import PHRASES
from ...text.subwords import Subwords
from ...text.text_codec import (
    CLITIC_HEADS,
    JOINS_BOTH,
    NO_SPACE_AFTER,
    NO_SPACE_BEFORE,
    STRAIGHT_QUOTES,
)
from ...text.tokenizers import (
    MAX_CHARACTERS,
    MAX_WORD_CHARACTERS,
    SHIPPED,
    SpacyTokenizer,
    rules_of,
)
from ...text.word_counts import MAX_PLACES, RARE_BELOW, SLIPS_BELOW, TIMES_AS_FREQUENT
from ...translation.decoding import DecodingRules
from ...translation.typed_text import (
    FEWEST_FOREIGN_WORDS,
    FEWEST_RARE_WORDS,
    MAX_WORDS,
    expectation,
    fewest_words,
)
from ..corrections import correction_rules
from ..missing_words import missing_words_rules
from .patterns import javascript_pattern
from .scripts import joined_script

MAX_PARAMETERS = 20_000_000
"""Maximum size of a model in a page: more takes a browser seconds for a sentence."""
BYTES_PER_PARAMETER = 2.4
"""Of a page whose weights all have 16 bits, in base64."""
TERMS_OF_MULTI30K = "Trained on Multi30k, which is for non-commercial research and education."
ROUNDED = "The weights in this page are rounded to 16 bits."
KEEPING = "“augenmerk page --bits 32” keeps them exactly and takes about twice the space."
SCRIPTS = (
    "phrases.js",
    "engine.js",
    "text.js",
    "corrections.js",
    "missing_words.js",
    "source.js",
    "translator.js",
)
"""In the order in which they need each other."""


@dataclass(frozen=True)
class PackedModel:
    """A model for a page.

    Attributes:
        description: gzip of JSON: settings, rules of text and decoding, vocabularies, counts, names
            of tensors.
        weights: gzip of the planes of 2-byte numbers, then of 4-byte numbers.
        num_parameters: of the model.
        terms: its licence, in a sentence or a name; empty if unknown.
        note: on rounded weights, or on a size above `BYTES_PER_PARAMETER`; empty if there is
            neither.
    """

    description: bytes
    weights: bytes
    num_parameters: int
    terms: str = ""
    note: str = ""

    @property
    def texts(self) -> Mapping[str, str]:
        """Both in base64, as `Translator.open` of `translator.js` takes them."""
        parts = {"description": self.description, "weights": self.weights}
        return {name: base64.b64encode(part).decode("ascii") for name, part in parts.items()}

    @property
    def num_bytes(self) -> int:
        """The size of the texts."""
        return sum(map(len, self.texts.values()))


def engine_script() -> str:
    """The script that computes, see `joined_script`."""
    return joined_script(
        [Path(__file__).parent / name for name in SCRIPTS], ("Translator", "TextError", "fill")
    )


def pack_model(checkpoint: Checkpoint, name: str, *, bits: int = 16) -> PackedModel:
    """The model with everything that determines its translations.

    Args:
        checkpoint: of the model.
        name: for people.
        bits: of the weights, 16 or 32; if 16 changes one of them, `terms` and `note` say so.

    Raises:
        CheckpointError: a page cannot run this model.
    """
    num_parameters = sum(value.numel() for value in checkpoint.weights.values())
    _check(checkpoint, num_parameters)
    held = rounded(checkpoint) if bits == 16 else checkpoint
    tensors, weights = _packed(held.weights)
    terms = checkpoint.origin.licence if checkpoint.origin else _terms(checkpoint.corpus)
    if held is not checkpoint:
        terms = f"{terms} {ROUNDED}".strip()
    described = _description(checkpoint) | {
        "name": name,
        "terms": terms,
        "num_parameters": num_parameters,
        "tensors": tensors,
    }
    text = json.dumps(described, ensure_ascii=False, separators=(",", ":"))
    packed = PackedModel(
        _compressed(text.encode("utf-8")), _compressed(weights), num_parameters, terms
    )
    if held is not checkpoint:
        return replace(packed, note=f"{ROUNDED} {KEEPING}")
    long = sum(tensor["bytes"] == 4 for tensor in tensors)
    if not long or packed.num_bytes <= BYTES_PER_PARAMETER * num_parameters:
        return packed
    return replace(
        packed,
        note=f"{long} of {len(tensors)} tensors of this model need 32 bits, so it takes "
        f"{packed.num_bytes / num_parameters:.1f} bytes per parameter in a page: "
        f"{packed.num_bytes / 1e6:.1f} MB. “--bits 16” rounds them, which takes about half.",
    )


def rounded(checkpoint: Checkpoint) -> Checkpoint:
    """The model with its weights rounded to 16 bits (half precision), except in tensors with larger
    numbers.

    A model that this does not change is returned itself.
    """
    singles = {name: value.detach().cpu().float() for name, value in checkpoint.weights.items()}
    halves = {name: value.half().float() for name, value in singles.items()}
    changed = {
        name: value
        for name, value in halves.items()
        if not torch.equal(value, singles[name]) and bool(torch.isfinite(value).all())
    }
    return replace(checkpoint, weights={**checkpoint.weights, **changed}) if changed else checkpoint


def _check(checkpoint: Checkpoint, num_parameters: int) -> None:
    data = checkpoint.run.data
    reason = ""
    languages = {data.source_language, data.target_language} - set(SHIPPED)
    if data.is_imported:
        name = getattr(checkpoint.codecs.source, "name", "imported")
        reason = (
            f"pages have no JavaScript for its codec “{name}”, so no model that was imported "
            "with it can run there"
        )
    elif data.tokenization == "spacy" and languages:
        reason = (
            f"a page has word rules for {' and '.join(SHIPPED)}, not for "
            f"{' and '.join(sorted(languages))}"
        )
    elif num_parameters > MAX_PARAMETERS:
        reason = f"it has {num_parameters:,} parameters, and the limit is {MAX_PARAMETERS:,}"
    if reason:
        raise CheckpointError(f"This model cannot run in a page: {reason}. Choose another model.")


def _terms(corpus: str) -> str:
    return TERMS_OF_MULTI30K if corpus.startswith("multi30k") else ""


def _description(checkpoint: Checkpoint) -> dict[str, Any]:
    """All but names and tensors, as JSON-ready values."""
    run, codecs = checkpoint.run, checkpoint.codecs
    source_codec = codecs.source.restoring_spelling(checkpoint.word_counts)
    source = _side(source_codec)
    target = _side(codecs.target)
    counts = checkpoint.word_counts
    return {
        "model": asdict(run.model),
        "rules": asdict(DecodingRules.of_codec(codecs.target, checkpoint.decoding)),
        "source": source,
        # the rest is shared
        "target": {key: value for key, value in target.items() if value != source[key]},
        "counts": counts and counts.describe() | {"words": dict(counts.counts)},
        "joining": {
            "no_space_before": sorted(NO_SPACE_BEFORE),
            "no_space_after": sorted(NO_SPACE_AFTER),
            "joins_both": sorted(JOINS_BOTH),
            "straight_quotes": sorted(STRAIGHT_QUOTES),
            "clitic_heads": CLITIC_HEADS,
        },
        "phrases": dict(PHRASES),
        "settings": {
            "wrap_source": run.data.wrap_source,
            "end_source": run.data.end_source,
            "max_positions": run.model.max_positions,
            "fewest_words": fewest_words(source_codec),
            "expectation": expectation(source_codec),
            "language": two_letter_code(source_codec.language),
            "copies_symbols": source_codec.copies_symbols,
            "languages": [
                {"code": code, "name": language_name(code), "words": words.split()}
                for code, words in COMMON_WORDS.items()
            ],
            "limits": {
                "max_words": MAX_WORDS,
                "max_characters": MAX_CHARACTERS,
                "max_word_characters": MAX_WORD_CHARACTERS,
                "rare_below": RARE_BELOW,
                "fewest_rare_words": FEWEST_RARE_WORDS,
                "fewest_foreign_words": FEWEST_FOREIGN_WORDS,
            },
            "corrections": correction_rules(),
            "missing_words": missing_words_rules(run),
        },
    }


def _side(codec: TextCodec) -> dict[str, Any]:
    rules = None
    if isinstance(codec.tokenizer, SpacyTokenizer):
        patterns, cases = rules_of(codec.tokenizer.language)
        rules = {
            "patterns": {name: javascript_pattern(pattern) for name, pattern in patterns.items()},
            "cases": cases,
        }
    return {
        "case": codec.case,
        "rules": rules,
        "vocabulary": codec.vocabulary.to_dict(),
        "special_ids": sorted(codec.vocabulary.special_ids),
        "scores": _scores(codec.subwords),
        "spelling": codec.spelling
        and {
            "replacements": dict(codec.spelling.replacements),
            "max_places": MAX_PLACES,
            "slips_below": SLIPS_BELOW,
            "times_as_frequent": TIMES_AS_FREQUENT,
        },
    }


def _scores(subwords: Subwords | None) -> list[float | None] | None:
    """The scores of pieces by id; None for specials, and for a vocabulary of words."""
    return (
        None
        if subwords is None
        else [subwords.scores.get(piece) for piece in subwords.vocabulary.tokens]
    )


def _packed(weights: Mapping[str, Tensor]) -> tuple[list[dict[str, Any]], bytes]:
    """The tensors in their order, and their numbers."""
    groups: dict[int, list[tuple[str, Tensor]]] = {2: [], 4: []}
    for name, value in weights.items():
        single = value.detach().cpu().float()
        is_half = _is_half(single)
        groups[2 if is_half else 4].append((name, single.half() if is_half else single))
    tensors = [
        {"name": name, "shape": list(value.shape), "bytes": size}
        for size, group in groups.items()
        for name, value in group
    ]
    planes = [
        _planes([value.numpy() for _, value in group], size)
        for size, group in groups.items()
        if group
    ]
    return tensors, b"".join(planes)


def _is_half(value: Tensor) -> bool:
    """Whether half precision holds every number exactly."""
    single = value.detach().cpu().float()
    return torch.equal(single.half().float(), single)


def _planes(arrays: list[NDArray[np.floating[Any]]], size: int) -> bytes:
    numbers = np.concatenate([array.ravel() for array in arrays]).astype(f"<f{size}")
    return np.ascontiguousarray(numbers.view(np.uint8).reshape(-1, size).T).tobytes()


def _compressed(data: bytes) -> bytes:
    """The same bytes for the same data."""
    return gzip.compress(data, 9, mtime=0)
