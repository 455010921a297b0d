"""Marks on maps: changes of the experiment, pinned and picked tokens, also in both sentences.

No Qt.
"""

from collections.abc import Collection
from dataclasses import replace

from augenmerk.core.maps.selection import LabelMode
from augenmerk.core.model.heads import AttentionKind, Head
from augenmerk.core.translation.experiment import Experiment, factors_of
from augenmerk.core.translation.result import Translation, Word

from .experiment_state import ExperimentState
from .map_view import (
    KEY_SIDES,
    NO_MARKS,
    QUERY_SIDES,
    Band,
    MapView,
    Marks,
    Pair,
    PickedTokens,
    Pointed,
    Pointer,
    QuerySum,
    TextSide,
    queries_of_tokens,
    token_shift_of_keys,
    token_shift_of_queries,
)


def experiment_of_marks(state: ExperimentState) -> Experiment:
    """The experiment that maps are marked with: the one in use; the one shown while a saved view is
    awaited, or the answer to the one in use is withheld.
    """
    result = state.result if state.intents.holds_back or state.withheld else None
    return state.experiment if result is None else result.changed.experiment


def marks_of_experiment(
    view: MapView,
    translation: Translation,
    kind: AttentionKind,
    heads: Collection[tuple[int, int]],
    label_mode: LabelMode,
) -> Marks:
    """An experiment's changes to the map of some heads of a kind, given by layer and head.

    The map counts as scaled by a factor, or as switched off, if all of its heads are.
    """
    experiment = translation.experiment
    rows = [
        attention_row.row
        for attention_row in experiment.attention_rows
        if attention_row.head.kind == kind
        and (attention_row.head.layer, attention_row.head.head) in heads
    ]
    steps = frozenset(forced_token.step for forced_token in experiment.forced)
    forced = queries_of_tokens(
        translation, kind, "target", steps, token_shift_of_queries(kind, label_mode)
    )
    return Marks(
        factor=_factor_of(experiment, kind, heads),
        set=frozenset(view.bands(queries=rows)),
        forced=frozenset(view.bands(queries=forced)),
    )


def _factor_of(
    experiment: Experiment, kind: AttentionKind, heads: Collection[tuple[int, int]]
) -> float:
    """The factor of the output of all these heads; 1 if they have several."""
    factors = factors_of(experiment.scalings)
    head_factors = {factors.get(Head(kind, *head), 1.0) for head in heads}
    return head_factors.pop() if len(head_factors) == 1 else 1.0


def marks_of_large_map(state: ExperimentState, view: MapView) -> Marks:
    """The marks of the large map."""
    maps = state.maps
    kind = state.selection.head.kind
    pinned = state.selection.pinned
    marks = NO_MARKS
    heads = maps.heads()
    if state.result is not None and state.result.is_changed and maps.translation is not None:
        if maps.shown != "original":
            marks = marks_of_experiment(
                view, maps.translation, kind, heads, state.settings.label_mode
            )
        marks = replace(marks, changed=frozenset(view.bands_at(*maps.new_entries(kind))))
    return replace(
        marks,
        factor=_factor_of(experiment_of_marks(state), kind, heads)
        if maps.shown != "original"
        else 1.0,
        pinned=view.place_of(pinned) if pinned is not None else None,
        lit=lit_bands(state, kind, view),
        pointed=pointed_at(view, state.selection.pointer, pinned),
    )


def pointed_at(view: MapView, pointer: Pointer | None, pinned: Pair | None) -> Pointed | None:
    """The pinned cell or the row of its query, whichever a pointer points at; else None."""
    cell = view.place_of(pinned) if pinned is not None else None
    if pointer is None or cell is None or pointer.target not in ("cell", "row"):
        return None
    if pointer.target == "cell":
        return Pointed(pointer.style, *cell)
    band = view.query_band(cell)
    return (
        Pointed(pointer.style, row=band.index)
        if band.is_row
        else Pointed(pointer.style, column=band.index)
    )


def pointed_word(state: ExperimentState) -> Word | None:
    """The word of the translation that the pointer points at; None if there is none."""
    pointer, pinned = state.selection.pointer, state.selection.pinned
    if pointer is None or pointer.target != "word" or pinned is None:
        return None
    return word_of_query(state, pinned.query)


def marks_of_heads(state: ExperimentState, kind: AttentionKind) -> dict[tuple[int, int], Marks]:
    """The marks of small maps by layer and head; maps without marks are left out."""
    maps = state.maps
    translation = state.maps.translation
    if translation is None:
        return {}
    view = maps.view_all(kind)
    of_all = Marks(
        lit=lit_bands(state, kind, view), changed=frozenset(view.bands_at(*maps.new_entries(kind)))
    )
    factors = factors_of(experiment_of_marks(state).scalings)
    pointer = state.selection.pointer
    head_shown = state.selection.head
    at_head = pointer if pointer is not None and pointer.target == "head" else None
    has_changes = maps.shown != "original" and (
        translation.experiment.attention_rows or translation.experiment.forced
    )
    num_layers, num_heads = maps.shape(kind)
    marks_by_head = {}
    for layer_and_head in (
        (layer, head) for layer in range(num_layers) for head in range(num_heads)
    ):
        marks = of_all
        if has_changes:
            changes = marks_of_experiment(
                view, translation, kind, [layer_and_head], state.settings.label_mode
            )
            marks = replace(of_all, set=changes.set, forced=changes.forced)
        marks = replace(marks, factor=factors.get(Head(kind, *layer_and_head), 1.0))
        if at_head is not None and Head(kind, *layer_and_head) == head_shown:
            marks = replace(marks, pointed=Pointed(at_head.style))
        elif at_head is not None:
            marks = replace(marks, is_dimmed=at_head.style == "dim")
        if marks != NO_MARKS:
            marks_by_head[layer_and_head] = marks
    return marks_by_head


def lit_bands(state: ExperimentState, kind: AttentionKind, view: MapView) -> frozenset[Band]:
    """Rows and columns of picked tokens, and of a word under the mouse."""
    selection = state.selection
    if not (selection.picked.tokens or selection.picked_key.tokens or selection.hovered_word):
        return frozenset()
    queries = set(lit_queries(state, kind)) if selection.picked.tokens else set()
    if selection.hovered_word is not None and kind == selection.head.kind:
        queries.update(queries_of_word(state, selection.hovered_word))
    keys = lit_keys(state, kind) if selection.picked_key.tokens else ()
    return frozenset(view.bands(queries, keys))


def queries_of_word(state: ExperimentState, word: Word) -> tuple[int, ...]:
    """The queries of the chosen map that read or predict a word; none in encoder maps."""
    if state.selection.head.kind == "encoder":
        return ()
    return _queries(state, state.selection.head.kind, "target", range(word.start, word.end))


def word_of_query(state: ExperimentState, query: int) -> Word | None:
    """The word of the translation of a query of the chosen map, if any."""
    translation = state.maps.translation
    if translation is None:
        return None
    return next(
        (word for word in translation.target_words if query in queries_of_word(state, word)), None
    )


def lit_queries(state: ExperimentState, kind: AttentionKind) -> tuple[int, ...]:
    """The queries of a kind of map that belong to pinned and picked tokens.

    Without a pinned query of this kind (the encoder, while a cross map is pinned) it is the pinned
    key.
    """
    selections = [*_pinned_queries(state), state.selection.picked]
    queries = {
        query
        for picked in selections
        for query in _queries(state, kind, picked.side, picked.tokens)
    }
    if not queries:
        queries = {
            query
            for pinned_key in _pinned_keys(state)
            for query in _queries(state, kind, pinned_key.side, pinned_key.tokens)
        }
    return tuple(sorted(queries))


def lit_keys(state: ExperimentState, kind: AttentionKind) -> tuple[int, ...]:
    """The keys of a kind of map that are pinned or picked."""
    shift = token_shift_of_keys(kind)
    keys = [pinned_key for pinned_key in _pinned_keys(state) if pinned_key.side == KEY_SIDES[kind]]
    positions = {token + shift for key in keys for token in key.tokens}
    return tuple(sorted(position for position in positions if position >= 0))


def query_sum(state: ExperimentState) -> QuerySum | None:
    """The sum of the picked queries of the large map; None if none of them is shown."""
    picked = state.selection.picked
    view = state.maps.view() if picked.tokens else None
    if view is None or state.maps.is_signed(state.selection.head.kind):
        return None
    return view.sum_of(_queries(state, state.selection.head.kind, picked.side, picked.tokens))


def key_shares(state: ExperimentState, side: TextSide) -> dict[Word, float]:
    """The share of each word of one side in the picked queries, from 0 to 1.

    Empty if no query is picked, a difference is shown, or words of this side are not keys.
    """
    summed = query_sum(state)
    kind = state.selection.head.kind
    if summed is None or KEY_SIDES[kind] != side:
        return {}
    view = state.maps.view()
    translation = state.maps.translation
    if view is None or translation is None:
        return {}
    total_weight = float(summed.weights.sum()) or 1.0
    # a merged key's share is split evenly among its positions
    share_of_position = {
        position: float(weight) / total_weight / len(positions)
        for weight, positions in zip(summed.weights, view.labelled.keys.positions, strict=True)
        for position in positions
    }
    shift = token_shift_of_keys(kind)
    words = translation.source_words if side == "source" else translation.target_words
    return {
        word: sum(
            share_of_position.get(token + shift, 0.0) for token in range(word.start, word.end)
        )
        for word in words
    }


def _pinned_queries(state: ExperimentState) -> list[PickedTokens]:
    pinned = state.selection.pinned
    kind = state.selection.head.kind
    if pinned is None:
        return []
    token = pinned.query - token_shift_of_queries(kind, state.settings.label_mode)
    return [PickedTokens(QUERY_SIDES[kind], frozenset({token}))]


def _pinned_keys(state: ExperimentState) -> list[PickedTokens]:
    pinned = state.selection.pinned
    kind = state.selection.head.kind
    keys = [state.selection.picked_key]
    if pinned is not None:
        keys.append(
            PickedTokens(KEY_SIDES[kind], frozenset({pinned.key - token_shift_of_keys(kind)}))
        )
    return keys


def _queries(
    state: ExperimentState, kind: AttentionKind, side: TextSide, tokens: "range | frozenset[int]"
) -> tuple[int, ...]:
    translation = state.maps.translation
    if translation is None:
        return ()
    return queries_of_tokens(
        translation, kind, side, tokens, token_shift_of_queries(kind, state.settings.label_mode)
    )
