"""What a translation is, once it leaves the engine. No torch here: a window can hold these before torch is imported.

Shape legend: S source length, T number of decoding steps, L layers, H heads.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.model.heads import ATTENTION_KINDS, AttentionKind

FloatArray = NDArray[np.float32]
MapKind = AttentionKind
MAP_KINDS: tuple[MapKind, ...] = ATTENTION_KINDS


class TranslationStoppedError(Exception):
    """A translation was given up because `should_stop` said so: nobody waits for it any more."""


@dataclass(frozen=True, eq=False)
class AttentionMaps:
    """The attention weights of every head, without dropout. Rows are queries and sum to 1, columns are keys.

    Attributes:
        encoder: encoder self-attention, [L, H, S, S].
        decoder: decoder self-attention, [L, H, T, T]; zero above the diagonal.
        cross: cross-attention from target to source, [L, H, T, S].
    """

    encoder: FloatArray
    decoder: FloatArray
    cross: FloatArray

    def of_kind(self, kind: MapKind) -> FloatArray:
        """The maps of one kind, [L, H, query, key]."""
        return {"encoder": self.encoder, "decoder": self.decoder, "cross": self.cross}[kind]


@dataclass(frozen=True)
class Alternative:
    """A token that the model could have chosen at some step, with its natural-log probability."""

    token: str
    log_probability: float


@dataclass(frozen=True)
class Word:
    """A word for people, and the tokens it is made of.

    Attributes:
        text: the word as read, pieces joined.
        start, end: half-open range of its tokens. For a source word: indices into `source_tokens`; for a target word:
            decoding steps, so indices into `predicted_tokens` (and, one further on, into `read_tokens`).
    """

    text: str
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Translation:
    """One sentence, its translation, and what the model did at each step.

    Row t of a decoder or cross map is computed while the decoder reads `read_tokens[t]` and predicts
    `predicted_tokens[t]`.

    Attributes:
        source_text: what was typed.
        text: the translation as a sentence for people (cased, detokenized).
        source_tokens: the S tokens the encoder reads, wrapping tokens included.
        read_tokens: the T tokens the decoder reads, the start token first.
        predicted_tokens: the T tokens it predicts, the end token last unless the length limit came first.
        log_probabilities: natural log of the probability of each predicted token, T values.
        alternatives: the five most probable tokens of each step that may be chosen, best first, T tuples.
        source_words: the words of the source, wrapping tokens left out.
        target_words: the words of the translation, wrapping tokens left out.
        unknown_source_positions: indices into `source_tokens` that the vocabulary does not know.
        ignored_text: the end of the source that did not fit into the model's positions; empty if all of it did.
        notes: sentences that tell the reader about unknown words, text left out, a length limit reached.
        maps: attention of every layer and head.
        seconds: wall time from text to result.
        source_ids, read_ids, predicted_ids: the ids of these tokens in the model's vocabularies.
        is_given: whether the target was given, and read by teacher forcing, rather than chosen by the model.
    """

    source_text: str
    text: str
    source_tokens: tuple[str, ...]
    read_tokens: tuple[str, ...]
    predicted_tokens: tuple[str, ...]
    log_probabilities: tuple[float, ...]
    alternatives: tuple[tuple[Alternative, ...], ...]
    source_words: tuple[Word, ...]
    target_words: tuple[Word, ...]
    unknown_source_positions: tuple[int, ...]
    ignored_text: str
    notes: tuple[str, ...]
    maps: AttentionMaps
    seconds: float
    source_ids: tuple[int, ...] = ()
    read_ids: tuple[int, ...] = ()
    predicted_ids: tuple[int, ...] = ()
    is_given: bool = False

    @property
    def log_probability(self) -> float:
        """Natural log of the probability of the whole translation."""
        return sum(self.log_probabilities)

    def word_log_probability(self, word: Word) -> float:
        """Natural log of the probability of one target word, given all before it."""
        return sum(self.log_probabilities[word.start : word.end])
