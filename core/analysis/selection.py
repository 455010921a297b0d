"""What is done to attention maps before they are shown: labels, words instead of pieces, hidden tokens, several heads.

Every function is plain arithmetic on arrays and works on one map [Q, M] as well as on all of a kind [L, H, Q, M].
Nothing here needs torch. Shape legend: `core.analysis`.
"""

import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from augenmerk.core.errors import AnalysisError
from augenmerk.core.text.codec import CONTINUATION
from augenmerk.core.text.vocabulary import ENDS, STARTS
from augenmerk.core.translation.result import FloatArray, MapKind, Translation, Word, read_only

LabelMode = Literal["read", "predicted"]
LABEL_MODES: tuple[LabelMode, ...] = ("read", "predicted")
DEFAULT_LABEL_MODE: LabelMode = "predicted"
"""A cell then says where the model looked while it chose the word that names the row: docs/adr/0007."""
HiddenKind = Literal["start", "end", "punctuation"]
HIDDEN_KINDS: tuple[HiddenKind, ...] = ("start", "end", "punctuation")
Combination = Literal["mean", "max"]
COMBINATIONS: tuple[Combination, ...] = ("mean", "max")

NOTHING_LEFT = 1e-6
"""A row with no more than this share of its weight on visible keys is not blown up to look like a row: it becomes 0."""


@dataclass(frozen=True)
class Axis:
    """What the queries or the keys of a map stand for.

    Attributes:
        labels: one for each entry, for people.
        positions: for each entry the token positions it stands for: several for a merged word or a sum.
        meaning: what the labels are: "source token", "token read" or "token predicted".
        words: the words of this side, as ranges of token positions on this axis.
    """

    labels: tuple[str, ...]
    positions: tuple[tuple[int, ...], ...]
    meaning: str
    words: tuple[Word, ...]

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, entries: Sequence[int]) -> "Axis":
        """The axis with these entries only, in this order."""
        return replace(
            self,
            labels=tuple(self.labels[entry] for entry in entries),
            positions=tuple(self.positions[entry] for entry in entries),
        )


@dataclass(frozen=True, eq=False)
class LabelledMap:
    """Weights, and what their queries and keys stand for.

    Attributes:
        weights: [..., Q, M].
        queries, keys: Q and M entries.
        hidden_mass: [..., Q], from 0 to 1: the share of each query's weight that lay on keys hidden
            since; 0 if none are hidden.
    """

    weights: FloatArray
    queries: Axis
    keys: Axis
    hidden_mass: FloatArray

    def __post_init__(self) -> None:
        read_only(self.weights)
        read_only(self.hidden_mass)

    @property
    def hidden_mass_in_all(self) -> FloatArray:
        """[...], the mean of `hidden_mass` over the queries shown; 0 if there are none."""
        if not len(self.queries):
            return np.zeros(self.hidden_mass.shape[:-1], dtype=np.float32)
        return self.hidden_mass.mean(axis=-1)


@dataclass(frozen=True)
class Selection:
    """How maps are to be shown; `apply` does it.

    Attributes:
        label_mode: whether queries of decoder and cross maps are labelled by the token read or the token predicted.
        merge_words: sum over the pieces of a key word, mean over those of a query word.
        hide: which kinds of token to leave out, as queries and as keys; what stays is renormalised.
    """

    label_mode: LabelMode = DEFAULT_LABEL_MODE
    merge_words: bool = False
    hide: frozenset[HiddenKind] = frozenset()

    def apply(self, weights: FloatArray, translation: Translation, kind: MapKind) -> LabelledMap:
        """Labels maps [..., Q, M] of `kind`, then merges words, then hides, in this order.

        Raises:
            AnalysisError: the maps are not of this translation and kind.
        """
        labelled = label_map(weights, translation, kind, self.label_mode)
        if self.merge_words:
            labelled = merge_words(labelled)
        return hide(labelled, self.hide) if self.hide else labelled


def query_axis(translation: Translation, kind: MapKind, mode: LabelMode) -> Axis:
    """The queries of a map: source tokens of the encoder; of decoder and cross maps tokens read, or those predicted.

    Query t of these two belongs to the decoding step that reads `read_tokens[t]` and predicts `predicted_tokens[t]`.
    """
    if kind == "encoder":
        return _source_axis(translation)
    if mode == "read":
        return _read_axis(translation)
    return _tokens_axis(translation.predicted_tokens, "token predicted", translation.target_words)


def key_axis(translation: Translation, kind: MapKind) -> Axis:
    """The keys of a map: source tokens; of the decoder's self-attention the tokens it read, in either label mode."""
    return _read_axis(translation) if kind == "decoder" else _source_axis(translation)


def _source_axis(translation: Translation) -> Axis:
    return _tokens_axis(translation.source_tokens, "source token", translation.source_words)


def _read_axis(translation: Translation) -> Axis:
    """The token read at step t is the one predicted at t − 1, so the words lie one further on.

    The last token predicted is never read: where the length limit cut a translation off, its last word ends early.
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
    weights: FloatArray, translation: Translation, kind: MapKind, mode: LabelMode = DEFAULT_LABEL_MODE
) -> LabelledMap:
    """Says what the queries and keys of maps [..., Q, M] are.

    Raises:
        AnalysisError: the shape is not that of this translation and kind.
    """
    queries, keys = query_axis(translation, kind, mode), key_axis(translation, kind)
    if weights.shape[-2:] != (len(queries), len(keys)):
        raise AnalysisError(
            f"These maps have the shape {list(weights.shape[-2:])}, but a {kind} map of this translation has "
            f"{len(queries)} queries and {len(keys)} keys. Compute the maps again."
        )
    return LabelledMap(weights.view(), queries, keys, np.zeros(weights.shape[:-1], dtype=np.float32))


def merge_words(labelled: LabelledMap) -> LabelledMap:
    """Words instead of pieces: the sum over the pieces of a key word, the mean over those of a query word.

    Rows keep their sums. Tokens that belong to no word (start, end) stay as they are.
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
        weights, _merged(queries, query_starts, query_words), _merged(keys, key_starts, key_words), hidden
    )


def _words_of_entries(axis: Axis) -> list[Word | None]:
    """For each entry the word it begins in, or None."""
    word_of = {place: word for word in axis.words for place in range(word.start, word.end)}
    return [word_of.get(positions[0]) for positions in axis.positions]


def _starts(words: Sequence[Word | None]) -> list[int]:
    """The entries with which a word begins, by what `_words_of_entries` says."""
    return [entry for entry, word in enumerate(words) if entry == 0 or word is None or word != words[entry - 1]]


def _merged(axis: Axis, starts: Sequence[int], words: Sequence[Word | None]) -> Axis:
    beginning = ((axis.labels[start], words[start]) for start in starts)
    labels = tuple(label if word is None else word.text for label, word in beginning)
    if len(starts) == len(axis):
        return replace(axis, labels=labels)
    ends = (*starts[1:], len(axis))
    positions = tuple(sum(axis.positions[start:end], ()) for start, end in zip(starts, ends, strict=True))
    return replace(axis, labels=labels, positions=positions)


def is_hidden(label: str, kinds: Collection[HiddenKind]) -> bool:
    """Whether a token or word with this label is of one of these kinds."""
    if label in STARTS:
        return "start" in kinds
    if label in ENDS:
        return "end" in kinds
    text = label.removeprefix(CONTINUATION) or label
    return "punctuation" in kinds and all(unicodedata.category(character).startswith("P") for character in text)


def hide(labelled: LabelledMap, kinds: Collection[HiddenKind]) -> LabelledMap:
    """Leaves out queries and keys of these kinds of token; each query's weights are scaled up to their old sum.

    How much that was is told by `hidden_mass`. A query that had all its weight (but for `NOTHING_LEFT`) on hidden keys
    becomes 0, with a hidden mass of 1: there is nothing to renormalise.
    """
    kept_queries = [entry for entry, label in enumerate(labelled.queries.labels) if not is_hidden(label, kinds)]
    kept_keys = [entry for entry, label in enumerate(labelled.keys.labels) if not is_hidden(label, kinds)]
    before = labelled.weights[..., kept_queries, :]
    weights = before[..., kept_keys]
    former = before.sum(axis=-1, dtype=np.float64)
    visible = weights.sum(axis=-1, dtype=np.float64)
    share = np.divide(visible, former, out=np.zeros_like(visible), where=former > 0).clip(0, 1)
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
    """One query: the sum of the chosen ones. Its hidden mass is the mean of theirs.

    Raises:
        AnalysisError: none is chosen, or one is not there.
    """
    _check_entries(entries, len(labelled.queries))
    axis = labelled.queries.take(entries)
    one = replace(axis, labels=(" + ".join(axis.labels),), positions=(tuple(sum(axis.positions, ())),))
    return LabelledMap(
        labelled.weights[..., entries, :].sum(axis=-2, keepdims=True),
        one,
        labelled.keys,
        labelled.hidden_mass[..., entries].mean(axis=-1, keepdims=True),
    )


def _check_entries(entries: Sequence[int], count: int) -> None:
    if not entries or any(entry not in range(count) for entry in entries):
        raise AnalysisError(f"Queries {list(entries)} do not exist. Choose from 0 to {count - 1}.")


def combine(
    maps: FloatArray, how: Combination = "mean", heads: Collection[tuple[int, int]] | None = None
) -> FloatArray:
    """One map [Q, M] made of the chosen heads of [L, H, Q, M]: their mean, or in each cell their maximum.

    The weights of a query sum to 1 in a mean, to 1 or more in a maximum.

    Args:
        maps: all heads of a kind.
        how: "mean" or "max".
        heads: pairs of layer and head, counted from 0; None for all of them.

    Raises:
        AnalysisError: no head is chosen, or one is not there.
    """
    num_layers, num_heads = maps.shape[:2]
    if heads is None:
        chosen = maps.reshape(-1, *maps.shape[2:])
    else:
        places = sorted(set(heads))
        if not places or any(place[0] not in range(num_layers) or place[1] not in range(num_heads) for place in places):
            raise AnalysisError(
                f"The heads {places} do not exist. Choose (layer, head) from layers 0 to {num_layers - 1} and heads 0 "
                f"to {num_heads - 1}."
            )
        chosen = maps[[layer for layer, _ in places], [head for _, head in places]]
    return read_only(chosen.mean(axis=0) if how == "mean" else chosen.max(axis=0))
