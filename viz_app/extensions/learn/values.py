"""Values of the current experiment for the texts of chapters. No Qt."""

import math
import re
from collections.abc import Callable, Iterable
from typing import Final

from augenmerk.core.config import ModelConfig
from augenmerk.core.counting import display_text
from augenmerk.core.model.heads import ATTENTION_KINDS, AttentionKind, networks_of
from augenmerk.core.quantities import percent, percent_in_words
from augenmerk.core.text.subwords import WORD_MARK
from augenmerk.core.translation.result import Alternative, Translation

from ...state.experiment_state import ExperimentState

UNKNOWN, NO_BREAK = "…", "\u00a0"
SET_BY_HAND = "Set by hand:"
LEAST_CHANCE, NUM_STEM_LETTERS = 0.1, 4
"""The least probability of a second choice, and the first letters that forms of a word share."""


def place_to_remove(translation: Translation) -> int | None:
    """The index of the last source word with a letter or digit; None if it is the only one."""
    words = [
        index
        for index, word in enumerate(translation.source_words)
        if any(map(str.isalnum, word.text))
    ]
    return words[-1] if len(words) > 1 else None


def removable_word(state: ExperimentState, translation: Translation) -> str:
    """The source word that can be removed, also while it is removed.

    It is spelled as typed, unless its spelling was restored.
    """
    whole = state.original or translation
    if (index := place_to_remove(whole)) is None:
        return UNKNOWN
    word = whole.source_words[index].text
    typed = re.findall(rf"\b{re.escape(word)}\b", whole.source_text, re.IGNORECASE)
    return str(typed[-1]) if typed else word


def unsure_step(translation: Translation) -> int | None:
    """The step, from 0, with the closest two best candidates that both begin a word.

    Steps with a fair second choice come first: one that has a chance, and is no form of the word
    that follows anyway, as “reads” before “reading”.
    """
    following = *translation.predicted_tokens[1:], ""
    steps = [
        (not _is_fair(second, next_token), first.probability - second.probability, step)
        for step, ((first, second, *_), next_token) in enumerate(
            zip(translation.alternatives, following, strict=True)
        )
        if all(
            candidate.entry.startswith(WORD_MARK) and candidate.token.isalpha()
            for candidate in (first, second)
        )
    ]
    return min(steps, default=(True, 0.0, None))[2]


def _is_fair(second: Alternative, next_token: str) -> bool:
    is_form = second.token[:NUM_STEM_LETTERS] == next_token.strip(WORD_MARK)[:NUM_STEM_LETTERS]
    return second.probability >= LEAST_CHANCE and not is_form


def unsure_step_number(state: ExperimentState, translation: Translation) -> str:
    """The number of the `unsure_step`, from 1."""
    step = unsure_step(state.original or translation)
    return UNKNOWN if step is None else str(step + 1)


def _candidate(translation: Translation, rank: int) -> str:
    step = unsure_step(translation)
    return UNKNOWN if step is None else translation.alternatives[step][rank].token


def _config(state: ExperimentState) -> ModelConfig:
    assert state.model is not None
    return state.model.run.model


def _num_heads(state: ExperimentState, shown: Translation) -> int:
    """H of the kind of attention that the chosen head belongs to."""
    return shown.maps.of_kind(state.selection.head.kind).shape[1]


def _head_width(state: ExperimentState, shown: Translation) -> int:
    return _config(state).width // _num_heads(state, shown)


def plain(tokens: Iterable[str]) -> tuple[str, ...]:
    """The tokens without marks of words."""
    return tuple(token.replace(WORD_MARK, "") for token in tokens)


def whole_percent(share: float) -> str:
    """A share in a cell: "57", "<1" or ">99"; "0" is nothing at all."""
    return percent(share).removesuffix("%").replace(" ", "")


def pair_tokens(
    translation: Translation, kind: AttentionKind
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tokens that name the queries (tokens predicted or, in the encoder, read) and the keys of
    a kind's maps.
    """
    queries = translation.source_tokens if kind == "encoder" else translation.predicted_tokens
    keys = translation.read_tokens if kind == "decoder" else translation.source_tokens
    return plain(queries), plain(keys)


def _pinned_tokens(state: ExperimentState, translation: Translation) -> tuple[str, str]:
    if (pinned := state.selection.pinned) is None:
        return UNKNOWN, UNKNOWN
    queries, keys = pair_tokens(translation, state.selection.head.kind)
    return (
        queries[pinned.query] if pinned.query < len(queries) else UNKNOWN,
        keys[pinned.key] if pinned.key < len(keys) else UNKNOWN,
    )


def _pinned_weight(state: ExperimentState, translation: Translation) -> str:
    pinned, chosen = state.selection.pinned, state.selection.head
    weights = translation.maps.of_kind(chosen.kind)[chosen.layer, chosen.head]
    num_queries, num_keys = weights.shape
    if pinned is None or pinned.query >= num_queries or pinned.key >= num_keys:
        return UNKNOWN
    return percent_in_words(float(weights[pinned.query, pinned.key])).replace(" ", NO_BREAK)


def _query(state: ExperimentState, shown: Translation) -> str:
    """The token predicted in the pinned row, and the one that the original predicts there if it
    differs.
    """
    now = _pinned_tokens(state, shown)[0]
    before = now if state.original is None else _pinned_tokens(state, state.original)[0]
    return now if before in (now, UNKNOWN) else f"{now} (before the change: {before})"


def _weight_claim(state: ExperimentState, shown: Translation) -> str:
    """The weight of the pinned cell, and whether it is the softmax that gives it."""
    chosen = state.selection.head
    pinned = state.selection.pinned
    key = _pinned_tokens(state, shown)[1]
    is_set = any(
        row.head == chosen and pinned and row.row == pinned.query
        for row in state.experiment.attention_rows
    )
    claim = f"**{key}** gets **{_pinned_weight(state, shown)}**"
    return f"{SET_BY_HAND} {claim}." if is_set else f"Here {claim}."


def _num_source_words(state: ExperimentState, shown: Translation) -> str:
    number = shown.num_source_words
    return "1 word" if number == 1 else f"{number} words and punctuation marks"


def _embedding_scaling(state: ExperimentState, shown: Translation) -> str:
    width = _config(state).width
    if not _config(state).scale_embeddings:
        return "This model does not scale its embeddings."
    return f"This model does it too: √{width} = {math.sqrt(width):.4g}."


def _adam(state: ExperimentState, shown: Translation) -> str:
    assert state.model is not None
    training = state.model.run.training
    return f"β₁ = {training.adam_beta1:g} and β₂ = {training.adam_beta2:g}"


VALUES: Final[dict[str, Callable[[ExperimentState, Translation], str]]] = {
    "source-text": lambda state, shown: shown.source_text,
    "translation": lambda state, shown: shown.text,
    "num-source-words": _num_source_words,
    "num-source-tokens": lambda state, shown: str(len(shown.source_tokens)),
    "removable-word": removable_word,
    "unsure-step": unsure_step_number,
    "unsure-token": lambda state, shown: _candidate(state.original or shown, 0),
    "second-token": lambda state, shown: _candidate(state.original or shown, 1),
    "num-target-tokens": lambda state, shown: str(len(shown.predicted_tokens)),
    "head": lambda state, shown: display_text(state.selection.head.title),
    "num-heads": lambda state, shown: str(
        sum(layers * heads for layers, heads in map(state.maps.shape, ATTENTION_KINDS))
    ),
    "heads-per-layer": lambda state, shown: str(_num_heads(state, shown)),
    "head-width": lambda state, shown: str(_head_width(state, shown)),
    "width": lambda state, shown: str(_config(state).width),
    "feed-forward-width": lambda state, shown: f"{_config(state).feed_forward_width:,}",
    "num-networks": lambda state, shown: str(len(networks_of(_config(state)))),
    "root-head-width": lambda state, shown: f"{math.sqrt(_head_width(state, shown)):.2f}",
    "num-queries": lambda state, shown: str(
        shown.maps.of_kind(state.selection.head.kind).shape[-2]
    ),
    "num-keys": lambda state, shown: str(shown.maps.of_kind(state.selection.head.kind).shape[-1]),
    "embedding-scaling": _embedding_scaling,
    "norm-position": lambda state, shown: f"{_config(state).norm_position}-norm",
    "dropout": lambda state, shown: percent(_config(state).dropout),
    "adam": _adam,
    "query": _query,
    "key": lambda state, shown: _pinned_tokens(state, shown)[1],
    "weight-claim": _weight_claim,
}


def values_of(
    state: ExperimentState, names: Iterable[str], translation: Translation | None
) -> dict[str, str]:
    """A text for each of these values of a translation; an ellipsis while there is no result."""
    if translation is None or state.model is None:
        return dict.fromkeys(names, UNKNOWN)
    return {name: VALUES[name](state, translation) for name in names}


def longest_values(
    state: ExperimentState, names: Iterable[str], texts: Iterable[str]
) -> dict[str, str]:
    """The values of the displayed translation, as long as a change can make them.

    Args:
        state: of the page.
        names: of the values.
        texts: the sentences that the chapter can show instead.
    """
    values = values_of(state, names, state.translation)
    translation = state.translation
    if translation is None or state.model is None:
        return values
    texts = [translation.source_text, *texts]
    longest = max(texts, key=len)
    words = [word for text in texts for word in text.split()]
    query, key = (max(token, *words, key=len) for token in _pinned_tokens(state, translation))
    wide = {
        "source-text": longest,
        # about as long as the sentence
        "translation": max(translation.text, longest, key=len),
        "query": f"{query} (before the change: {query})",
        "weight-claim": f"{SET_BY_HAND} **{key}** gets **{percent_in_words(0.999)}**.",
    }
    return values | {name: text for name, text in wide.items() if name in values}
