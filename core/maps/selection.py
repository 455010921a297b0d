"""Preparation of attention maps for display: labels, merged words, hidden tokens, combined heads.

Every function is plain arithmetic on one map [Q, M] or all maps of a kind [L, H, Q, M], without
torch. Shape legend: `core.maps`.
"""

import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from ..arguments import CheckedFields, checks_arguments
from ..counting import Index
from ..errors import AnalysisError
from ..model.heads import AttentionKind
from ..short_repr import ShortRepr
from ..text.codec import CONTINUATION
from ..text.vocabulary import ENDS, STARTS
from ..translation.result import FloatArray, ReadOnlyArrays, Translation, Word, read_only

LabelMode = Literal["read", "predicted"]
LABEL_MODES: tuple[LabelMode, ...] = ("read", "predicted")
DEFAULT_LABEL_MODE: LabelMode = "predicted"
"""Names a row by the word that it was needed to choose: docs/adr/0007."""
HiddenKind = Literal["start", "end", "punctuation"]
HIDDEN_KINDS: tuple[HiddenKind, ...] = ("start", "end", "punctuation")
Combination = Literal["mean", "max"]
COMBINATIONS: tuple[Combination, ...] = ("mean", "max")

NOTHING_LEFT = 1e-6
"""A row with at most this share of its weight on visible keys becomes 0 and is not scaled up."""


@dataclass(frozen=True)
class Axis(ShortRepr):
    """The meaning of the queries or keys of a map.

    Attributes:
        labels: one for each entry, for people.
        positions: the token positions of each entry; several for a merged word or a sum.
        meaning: the kind of labels: "source token", "token read" or "token predicted".
        words: the words of this side, as ranges of token positions on this axis.
    """

    labels: tuple[str, ...]
    positions: tuple[tuple[int, ...], ...]
    meaning: str
    words: tuple[Word, ...]

    def __len__(self) -> int:
        return len(self.labels)

    def entries_of(self, positions: Iterable[int]) -> list[int]:
        """The entries of these token positions, in order; hidden ones are left out."""
        entries = self._entry_by_position
        return sorted({entries[position] for position in positions if position in entries})

    @cached_property
    def _entry_by_position(self) -> dict[int, int]:
        return {
            position: entry
            for entry, positions in enumerate(self.positions)
            for position in positions
        }

    def take(self, entries: Sequence[int]) -> "Axis":
        """The axis with only these entries, in this order."""
        return replace(
            self,
            labels=tuple(self.labels[entry] for entry in entries),
            positions=tuple(self.positions[entry] for entry in entries),
        )


@dataclass(frozen=True, eq=False)
class LabelledMap(ReadOnlyArrays):
    """Weights with the meaning of their queries and keys.

    Attributes:
        weights: [..., Q, M].
        queries: Q entries.
        keys: M entries.
        hidden_mass: [..., Q], from 0 to 1: the share of each query's weight on hidden keys; 0 if
            none are hidden.
    """

    weights: FloatArray
    queries: Axis
    keys: Axis
    hidden_mass: FloatArray

    @property
    def hidden_mass_in_all(self) -> FloatArray:
        """The mean of `hidden_mass` over the queries shown, [...]; 0 if there are none."""
        if not len(self.queries):
            return np.zeros(self.hidden_mass.shape[:-1], dtype=np.float32)
        return self.hidden_mass.mean(axis=-1)

    @property
    def hidden_share(self) -> float:
        """The part of the shown queries' attention in a map [Q, M] that lay on hidden keys, from 0
        to 1.
        """
        # float32 rounds past the ends
        return min(1.0, max(0.0, float(self.hidden_mass_in_all)))


@checks_arguments
@dataclass(frozen=True)
class Selection(CheckedFields):
    """The choices for showing maps; `apply` follows them.

    Attributes:
        label_mode: whether queries of decoder and cross maps are named by the token read or the
            token predicted.
        merge_words: whether to sum over the pieces of a key word and average over those of a query
            word.
        hide: the kinds of tokens to hide, as queries and as keys; the rest is renormalized.
    """

    label_mode: LabelMode = DEFAULT_LABEL_MODE
    merge_words: bool = False
    hide: frozenset[HiddenKind] = frozenset()

    def apply(
        self, weights: FloatArray, translation: Translation, kind: AttentionKind
    ) -> LabelledMap:
        """Label maps [..., Q, M] of `kind`, then merge words, then hide tokens.

        Raises:
            AnalysisError: the maps are not of this translation and kind.
        """
        labelled = label_map(weights, translation, kind, self.label_mode)
        if self.merge_words:
            labelled = merge_words(labelled)
        return hide(labelled, self.hide) if self.hide else labelled


def query_axis(translation: Translation, kind: AttentionKind, mode: LabelMode) -> Axis:
    """The queries of a map: source tokens in the encoder, else the tokens read or predicted.

    Query t of these two belongs to the decoding step that reads `read_tokens[t]` and predicts
    `predicted_tokens[t]`.
    """
    if kind == "encoder":
        return _source_axis(translation)
    if mode == "read":
        return _read_axis(translation)
    return _tokens_axis(translation.predicted_tokens, "token predicted", translation.target_words)


def key_axis(translation: Translation, kind: AttentionKind) -> Axis:
    """The keys of a map: source tokens, or in the decoder the tokens read in any label mode."""
    return _read_axis(translation) if kind == "decoder" else _source_axis(translation)


def _source_axis(translation: Translation) -> Axis:
    return _tokens_axis(translation.source_tokens, "source token", translation.source_words)


def _read_axis(translation: Translation) -> Axis:
    """The token read at step t is the one predicted at t − 1, so words are shifted by one.

    The last predicted token is never read: the last word of a truncated translation ends early.
    """
    length = len(translation.read_tokens)
    words = tuple(
        Word(word.text, word.start + 1, min(word.end + 1, length))
        for word in translation.target_words
        if word.start + 1 < length
    )
    return _tokens_axis(translation.read_tokens, "token read", words)


def _tokens_axis(tokens: tuple[str, ...], meaning: str, words: tuple[Word, ...]) -> Axis:
    return Axis(tokens, tuple((position,) for position in range(len(tokens))), meaning, words)


def label_map(
    weights: FloatArray,
    translation: Translation,
    kind: AttentionKind,
    mode: LabelMode = DEFAULT_LABEL_MODE,
) -> LabelledMap:
    """Label the queries and keys of maps [..., Q, M].

    Raises:
        AnalysisError: the shape does not fit this translation and kind.
    """
    queries = query_axis(translation, kind, mode)
    keys = key_axis(translation, kind)
    if weights.shape[-2:] != (len(queries), len(keys)):
        raise AnalysisError(
            f"These maps have the shape {list(weights.shape[-2:])}, but a {kind} map of this "
            f"translation has {len(queries)} queries and {len(keys)} keys. Compute the maps "
            "again."
        )
    return LabelledMap(
        weights.view(), queries, keys, np.zeros(weights.shape[:-1], dtype=np.float32)
    )


def merge_words(labelled: LabelledMap) -> LabelledMap:
    """Words instead of pieces: sums over the pieces of a key, means over those of a query.

    Rows keep their sums. Tokens outside words (start, end) stay unchanged.
    """
    weights, queries, keys = labelled.weights, labelled.queries, labelled.keys
    key_words, query_words = _words_of_entries(keys), _words_of_entries(queries)
    key_starts, query_starts = _starts(key_words), _starts(query_words)
    if len(key_starts) < len(keys):
        weights = np.add.reduceat(weights, key_starts, axis=-1)
    hidden = labelled.hidden_mass
    if len(query_starts) < len(queries):
        shares: FloatArray = (1 / np.diff([*query_starts, len(queries)])).astype(np.float32)
        weights = np.add.reduceat(weights, query_starts, axis=-2) * shares[:, None]
        hidden = np.add.reduceat(hidden, query_starts, axis=-1) * shares
    return LabelledMap(
        weights,
        _merged(queries, query_starts, query_words),
        _merged(keys, key_starts, key_words),
        hidden,
    )


def _words_of_entries(axis: Axis) -> list[Word | None]:
    """For each entry the word in which it starts, or None."""
    word_of = {position: word for word in axis.words for position in range(word.start, word.end)}
    return [word_of.get(positions[0]) for positions in axis.positions]


def _starts(words: Sequence[Word | None]) -> list[int]:
    """The entries that start a word, from the result of `_words_of_entries`."""
    return [
        entry
        for entry, word in enumerate(words)
        if entry == 0 or word is None or word != words[entry - 1]
    ]


def _merged(axis: Axis, starts: Sequence[int], words: Sequence[Word | None]) -> Axis:
    beginning = ((axis.labels[start], words[start]) for start in starts)
    labels = tuple(label if word is None else word.text for label, word in beginning)
    if len(starts) == len(axis):
        return replace(axis, labels=labels)
    ends = (*starts[1:], len(axis))
    positions = tuple(
        sum(axis.positions[start:end], ()) for start, end in zip(starts, ends, strict=True)
    )
    return replace(axis, labels=labels, positions=positions)


def is_hidden(label: str, kinds: Collection[HiddenKind]) -> bool:
    """Whether a token or word with this label is of one of these kinds."""
    if label in STARTS:
        return "start" in kinds
    if label in ENDS:
        return "end" in kinds
    text = label.removeprefix(CONTINUATION)
    return "punctuation" in kinds and all(
        unicodedata.category(character).startswith("P") for character in text
    )


def hide(labelled: LabelledMap, kinds: Collection[HiddenKind]) -> LabelledMap:
    """Hide tokens of these kinds, and scale each query's weights up to their old sum.

    `hidden_mass` states the share removed. A query with all its weight (up to `NOTHING_LEFT`) on
    hidden keys becomes 0 with a hidden mass of 1.
    """
    kept_queries = [
        entry for entry, label in enumerate(labelled.queries.labels) if not is_hidden(label, kinds)
    ]
    kept_keys = [
        entry for entry, label in enumerate(labelled.keys.labels) if not is_hidden(label, kinds)
    ]
    before = labelled.weights[..., kept_queries, :]
    weights = before[..., kept_keys]
    previous = before.sum(axis=-1, dtype=np.float64)
    visible = weights.sum(axis=-1, dtype=np.float64)
    # nothing is hidden of a query without weight, such as one of a head that is off
    share = np.divide(visible, previous, out=np.ones_like(visible), where=previous > 0).clip(0, 1)
    share[share <= NOTHING_LEFT] = 0
    factor = np.divide(1, share, out=np.zeros_like(share), where=share > 0)
    hidden_before = labelled.hidden_mass[..., kept_queries]
    return LabelledMap(
        (weights * factor[..., None]).astype(np.float32),
        labelled.queries.take(kept_queries),
        labelled.keys.take(kept_keys),
        (1 - (1 - hidden_before) * share).astype(np.float32),
    )


def sum_queries(labelled: LabelledMap, entries: Sequence[int]) -> LabelledMap:
    """One query, the sum of the chosen ones. Its hidden mass is their mean.

    Raises:
        AnalysisError: no query is chosen, or one does not exist.
    """
    _check_entries(entries, len(labelled.queries))
    axis = labelled.queries.take(entries)
    one = replace(
        axis, labels=(" + ".join(axis.labels),), positions=(tuple(sum(axis.positions, ())),)
    )
    return LabelledMap(
        labelled.weights[..., entries, :].sum(axis=-2, keepdims=True),
        one,
        labelled.keys,
        labelled.hidden_mass[..., entries].mean(axis=-1, keepdims=True),
    )


def _check_entries(entries: Sequence[int], count: int) -> None:
    if not entries or any(entry not in range(count) for entry in entries):
        raise AnalysisError(
            "No query is chosen, or one that does not exist. Choose from {first} to {last}.",
            first=Index(0),
            last=Index(count - 1),
        )


def combine(
    maps: FloatArray, how: Combination = "mean", heads: Collection[tuple[int, int]] | None = None
) -> FloatArray:
    """One map [Q, M] from the chosen heads: their mean, or the maximum of each cell.

    The weights of a query sum to 1 in a mean, to 1 or more in a maximum.

    Args:
        maps: all heads of a kind, [L, H, Q, M].
        how: "mean" or "max".
        heads: pairs of layer and head, counted from 0; None for all of them.

    Raises:
        AnalysisError: no head is chosen, or one does not exist.
    """
    num_layers, num_heads = maps.shape[:2]
    if heads is None:
        chosen = maps.reshape(-1, *maps.shape[2:])
    else:
        pairs = sorted(set(heads))
        if not pairs or any(
            layer not in range(num_layers) or head not in range(num_heads) for layer, head in pairs
        ):
            raise AnalysisError(
                "No head is chosen, or one that does not exist. Choose from layers {first} to "
                "{last_layer} and heads {first} to {last_head}.",
                first=Index(0),
                last_layer=Index(num_layers - 1),
                last_head=Index(num_heads - 1),
            )
        chosen = maps[[layer for layer, _ in pairs], [head for _, head in pairs]]
    return read_only(chosen.mean(axis=0) if how == "mean" else chosen.max(axis=0))
