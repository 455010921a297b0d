"""Values of the current experiment for the texts of chapters. No Qt."""

from collections.abc import Callable, Iterable
from typing import Final

from augenmerk.core.quantities import percent_in_words
from augenmerk.core.text.subwords import WORD_MARK
from augenmerk.core.translation.result import MAP_KINDS, MapKind, Translation
from augenmerk.viz_app.state.experiment_state import ExperimentState

UNKNOWN, NO_BREAK = "…", "\u00a0"


def place_to_remove(translation: Translation) -> int | None:
    """The index of the last source word with a letter or digit; None if there is none."""
    words = translation.source_words
    return next((place for place in reversed(range(len(words))) if any(map(str.isalnum, words[place].text))), None)


def removable_word(state: ExperimentState, translation: Translation) -> str:
    """The source word that can be removed, also while it is removed."""
    whole = state.original or translation
    place = place_to_remove(whole)
    return UNKNOWN if place is None else whole.source_words[place].text


def unsure_step(translation: Translation) -> int | None:
    """The step, from 0, with the closest best two candidates, among steps where both begin a word."""
    gaps = {
        step: first.probability - second.probability
        for step, (first, second, *_) in enumerate(translation.alternatives)
        if all(each.entry.startswith(WORD_MARK) and each.token.isalpha() for each in (first, second))
    }
    return min(gaps, key=lambda step: gaps[step], default=None)


def unsure_step_number(state: ExperimentState, translation: Translation) -> str:
    """The step where the model is least certain, from 1."""
    step = unsure_step(state.original or translation)
    return UNKNOWN if step is None else str(step + 1)


def _candidate(translation: Translation, rank: int) -> str:
    step = unsure_step(translation)
    return UNKNOWN if step is None else translation.alternatives[step][rank].token


def num_heads(state: ExperimentState, translation: Translation) -> str:
    """The number of heads in the model."""
    shapes = [state.maps.shape(kind) for kind in MAP_KINDS]
    return str(sum(num_layers * num_heads for num_layers, num_heads in shapes))


def heads_per_layer(state: ExperimentState, translation: Translation) -> str:
    """The number of heads of one kind per layer."""
    assert state.model is not None
    return str(state.model.run.model.num_heads)


def width(state: ExperimentState, translation: Translation) -> str:
    """The width of the model."""
    assert state.model is not None
    return str(state.model.run.model.width)


def head_width(state: ExperimentState, translation: Translation) -> str:
    """The width of a head's queries and keys."""
    assert state.model is not None
    config = state.model.run.model
    return str(config.width // config.num_heads)


def plain(tokens: Iterable[str]) -> tuple[str, ...]:
    """The tokens without marks of words."""
    return tuple(token.replace(WORD_MARK, "") for token in tokens)


def pair_tokens(translation: Translation, kind: MapKind) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tokens that name the queries (tokens predicted or, in the encoder, read) and the keys of a kind's maps."""
    queries = translation.source_tokens if kind == "encoder" else translation.predicted_tokens
    keys = translation.read_tokens if kind == "decoder" else translation.source_tokens
    return plain(queries), plain(keys)


def query(state: ExperimentState, translation: Translation) -> str:
    """The token at the pinned query."""
    return _pinned_tokens(state, translation)[0]


def key(state: ExperimentState, translation: Translation) -> str:
    """The token at the pinned key."""
    return _pinned_tokens(state, translation)[1]


def _pinned_tokens(state: ExperimentState, translation: Translation) -> tuple[str, str]:
    if (pinned := state.selection.pinned) is None:
        return UNKNOWN, UNKNOWN
    queries, keys = pair_tokens(translation, state.selection.head.kind)
    return (
        queries[pinned.query] if pinned.query < len(queries) else UNKNOWN,
        keys[pinned.key] if pinned.key < len(keys) else UNKNOWN,
    )


def weight(state: ExperimentState, translation: Translation) -> str:
    """The pinned weight in percent."""
    found = pinned_weight(state, translation)
    return UNKNOWN if found is None else percent_in_words(found).replace(" ", NO_BREAK)


def pinned_weight(state: ExperimentState, translation: Translation) -> float | None:
    """The weight of the pinned pair in the chosen head; None if nothing is pinned there."""
    pinned, chosen = state.selection.pinned, state.selection.head
    if pinned is None:
        return None
    weights = translation.maps.of_kind(chosen.kind)[chosen.layer, chosen.head]
    num_queries, num_keys = weights.shape
    is_in = pinned.query < num_queries and pinned.key < num_keys
    return float(weights[pinned.query, pinned.key]) if is_in else None


VALUES: Final[dict[str, Callable[[ExperimentState, Translation], str]]] = {
    "source-text": lambda state, shown: shown.source_text,
    "translation": lambda state, shown: shown.text,
    "num-source-words": lambda state, shown: str(len(shown.source_words)),
    "num-source-tokens": lambda state, shown: str(len(shown.source_tokens)),
    "removable-word": removable_word,
    "unsure-step": unsure_step_number,
    "unsure-token": lambda state, shown: _candidate(state.original or shown, 0),
    "second-token": lambda state, shown: _candidate(state.original or shown, 1),
    "num-target-tokens": lambda state, shown: str(len(shown.predicted_tokens)),
    "head": lambda state, shown: state.selection.head.title,
    "num-heads": num_heads,
    "heads-per-layer": heads_per_layer,
    "head-width": head_width,
    "width": width,
    "query": query,
    "key": key,
    "weight": weight,
}


def values_of(state: ExperimentState, names: Iterable[str]) -> dict[str, str]:
    """A text for each of these values; an ellipsis while there is no result."""
    translation = state.translation
    if translation is None or state.model is None:
        return dict.fromkeys(names, UNKNOWN)
    return {name: VALUES[name](state, translation) for name in names}
