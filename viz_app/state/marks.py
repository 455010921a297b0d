"""Where what is pinned and picked lights up: in all maps, and in the words of both sentences. No Qt."""

from augenmerk.core.translation.result import MapKind, Word
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_selection import queries_of_tokens, token_shift_of_keys, token_shift_of_queries
from augenmerk.viz_app.state.picked_tokens import KEY_SIDES, QUERY_SIDES, PickedTokens, QuerySum, Side


def queries_of_word(state: ExperimentState, word: Word) -> tuple[int, ...]:
    """The queries of the chosen map in which a word of the translation is read, or predicted; none in encoder maps."""
    if state.selection.head.kind == "encoder":
        return ()
    return _queries(state, state.selection.head.kind, "target", range(word.start, word.end))


def word_of_query(state: ExperimentState, query: int) -> Word | None:
    """The word of the translation that a query of the chosen map stands for, if any."""
    translation = state.maps.translation
    if translation is None:
        return None
    return next((word for word in translation.target_words if query in queries_of_word(state, word)), None)


def lit_queries(state: ExperimentState, kind: MapKind) -> tuple[int, ...]:
    """The queries of a kind of map that belong to pinned and picked tokens.

    Where the pinned query is none of this kind (the encoder, while a cross map is pinned) it is the pinned key.
    """
    queries = [*_pinned_queries(state), state.selection.picked]
    found = {query for each in queries for query in _queries(state, kind, each.side, each.tokens)}
    if not found:
        found = {query for each in _pinned_keys(state) for query in _queries(state, kind, each.side, each.tokens)}
    return tuple(sorted(found))


def lit_keys(state: ExperimentState, kind: MapKind) -> tuple[int, ...]:
    """The keys of a kind of map that are pinned or picked."""
    shift = token_shift_of_keys(kind)
    keys = [each for each in _pinned_keys(state) if each.side == KEY_SIDES[kind]]
    return tuple(sorted({token + shift for each in keys for token in each.tokens if token + shift >= 0}))


def query_sum(state: ExperimentState) -> QuerySum | None:
    """The sum of the picked queries of the large map; None if none of them is shown."""
    picked = state.selection.picked
    view = state.maps.view() if picked.tokens else None
    if view is None or state.maps.is_signed(state.selection.head.kind):
        return None
    entries = view.query_entries(_queries(state, state.selection.head.kind, picked.side, picked.tokens))
    return QuerySum.of(view, sorted(entries)) if entries and len(view.labelled.keys) else None


def key_shares(state: ExperimentState, side: Side) -> dict[Word, float]:
    """How much of the picked queries went to each word of one side, from 0 to 1; empty if its words are no keys."""
    total, kind = query_sum(state), state.selection.head.kind
    if total is None or KEY_SIDES[kind] != side:
        return {}
    labelled, translation = state.maps.labelled(), state.maps.translation
    if labelled is None or translation is None:
        return {}
    whole = float(total.weights.sum()) or 1.0
    share = {
        position: float(weight) / whole / len(positions)
        for weight, positions in zip(total.weights, labelled.keys.positions, strict=True)
        for position in positions
    }
    shift = token_shift_of_keys(kind)
    words = translation.source_words if side == "source" else translation.target_words
    return {word: sum(share.get(token + shift, 0.0) for token in range(word.start, word.end)) for word in words}


def _pinned_queries(state: ExperimentState) -> list[PickedTokens]:
    pinned, kind = state.selection.pinned, state.selection.head.kind
    if pinned is None:
        return []
    token = pinned.query - token_shift_of_queries(kind, state.settings.label_mode)
    return [PickedTokens(QUERY_SIDES[kind], frozenset({token}))]


def _pinned_keys(state: ExperimentState) -> list[PickedTokens]:
    pinned, kind = state.selection.pinned, state.selection.head.kind
    keys = [state.selection.picked_key]
    if pinned is not None:
        keys.append(PickedTokens(KEY_SIDES[kind], frozenset({pinned.key - token_shift_of_keys(kind)})))
    return keys


def _queries(state: ExperimentState, kind: MapKind, side: Side, tokens: "range | frozenset[int]") -> tuple[int, ...]:
    translation = state.maps.translation
    if translation is None:
        return ()
    return queries_of_tokens(translation, kind, side, tokens, token_shift_of_queries(kind, state.settings.label_mode))
