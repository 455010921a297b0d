"""What am I looking at? The large map of the current experiment in a few plain sentences. No Qt."""

from typing import NamedTuple

import numpy as np

from augenmerk.core.analysis.measures import MEASURES, Measure
from augenmerk.core.quantities import percent, percent_in_words
from augenmerk.core.text.vocabulary import MARKS
from augenmerk.viz_app.state import map_text
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.head_roles import role_in_words
from augenmerk.viz_app.state.map_source import hides_nothing
from augenmerk.viz_app.state.map_view import MapView

BEWARE = (
    "Weights show where the model looks, not why it chose a word. To see what a head does, switch it off. Large "
    "weights on the start, the end or the full stop often mean that a head has nothing to do there."
)
SHARES = {
    "head": "{when}, this head gives {share} of its attention to “{key}”.",
    "max": "{when}, one of these {num_heads} heads gives {share} of its attention to “{key}”.",
    "mean": "{when}, these {num_heads} heads give on average {share} of their attention to “{key}”.",
}
RISES = {
    "head": "{when}, this head gives “{key}” {points} percentage points more of its attention than in the original.",
    "max": "{when}, one of these {num_heads} heads gives “{key}” {points} percentage points more of its attention than "
    "in the original.",
    "mean": "{when}, these {num_heads} heads give “{key}” on average {points} percentage points more of their "
    "attention than in the original.",
}
FALLS = {
    "head": "{when}, this head gives “{key}” {points} percentage points less of its attention than in the original.",
    "max": "{when}, one of these {num_heads} heads gives “{key}” {points} percentage points less of its attention than "
    "in the original.",
    "mean": "{when}, these {num_heads} heads give “{key}” on average {points} percentage points less of their "
    "attention than in the original.",
}


class Part(NamedTuple):
    """A paragraph: a heading of a word or two, and whole sentences."""

    about: str
    text: str


def explain(state: ExperimentState) -> tuple[Part, ...]:
    """The current map explained in a few paragraphs; empty while no map is shown."""
    view, settings = state.maps.view(), state.settings
    if view is None:
        return ()
    is_lines, axes = settings.picture == "lines", view.axes
    queries, keys, cells = f"{axes.query}s:".capitalize(), f"{axes.key}s:".capitalize(), "Cells:"
    if is_lines:
        queries, keys, cells = "Tokens on the left:", "Tokens on the right:", "Lines:"
    parts = _of_experiment(state)
    parts += [Part("For example:", _example(state, view)), Part(queries, _queries(state)), Part(keys, _keys(state))]
    parts.append(Part(cells, _lines(state) if is_lines else _cells(state)))
    if settings.scope == "head":
        parts.append(Part("This head:", _head(state)))
    if settings.merges_words and map_text.splits_words(state):
        merged = f"A word of several pieces is summed over its {axes.key}s and averaged over its {axes.query}s."
        parts.append(Part("Words:", merged))
    if settings.selection.hide and hides_nothing(state.maps):
        parts.append(Part("Hidden:", map_text.hiding_note(state)))
    elif settings.selection.hide:
        share = percent_in_words(view.hidden_share)
        hidden = f"The hidden tokens received {share} of the attention. Each {axes.query} is scaled up to its full sum."
        parts.append(Part("Hidden:", hidden))
    parts.append(Part("Beware:", BEWARE))
    return tuple(parts)


def _of_experiment(state: ExperimentState) -> list[Part]:
    """The changes, and the translation whose maps are shown; empty without changes."""
    if state.result is None or not state.result.is_changed:
        return []
    changes = ", ".join(map(str, state.result.experiment.interventions))
    shown = {
        "original": "These are the maps of the original translation, without changes.",
        "changed": "These are the maps under this change.",
        "difference": map_text.difference_note(state),
    }[state.maps.shown]
    return [Part("Changed:", f"{changes}. {shown}")]


def _example(state: ExperimentState, view: MapView) -> str:
    """A sentence about the largest cell, preferring cells between two words."""
    settings, head = state.settings, state.selection.head
    weights, query_labels, key_labels = view.labelled.weights, view.labelled.queries.labels, view.labelled.keys.labels
    words = np.outer([_is_word(label) for label in query_labels], [_is_word(label) for label in key_labels])
    sizes = np.abs(np.nan_to_num(weights))
    sizes = np.where(words, sizes, -1) if words.any() else sizes
    query, key = np.unravel_index(int(sizes.argmax()), sizes.shape)
    value, looked_at = float(np.nan_to_num(weights[query, key])), key_labels[key]
    predicts = head.kind != "encoder" and settings.label_mode == "predicted"
    label = query_labels[query]
    when = f"While the model predicts “{label}”" if predicts else f"While the model reads “{label}”"
    measure = _measure(state)
    if measure != "weight":
        name = MEASURES[measure].name
        if not _is_signed(state):
            return f"{when}, “{looked_at}” counts most: {value:.2f} by {name}."
        if value >= 0:
            return f"{when}, “{looked_at}” counts {value:.2f} more than in the original by {name}."
        return f"{when}, “{looked_at}” counts {-value:.2f} less than in the original by {name}."
    num_heads = len(state.maps.heads())
    heads = "head" if settings.scope == "head" or num_heads == 1 else settings.combination
    if not _is_signed(state):
        return SHARES[heads].format(when=when, num_heads=num_heads, share=percent_in_words(value), key=looked_at)
    points = f"{100 * abs(value):.0f}"
    template = RISES[heads] if value >= 0 else FALLS[heads]
    return template.format(when=when, num_heads=num_heads, points=points, key=looked_at)


def _is_word(label: str) -> bool:
    return label not in MARKS and any(letter.isalnum() for letter in label)


def _measure(state: ExperimentState) -> Measure:
    return state.maps.shown_measure(state.selection.head.kind)


def _head(state: ExperimentState) -> str:
    head = state.selection.head
    text = role_in_words(state.roles, head)
    if head in state.experiment.heads_off and state.maps.shown != "original":
        text += " It is switched off: the model computes these weights but does not use the head's output."
    return text


def _cells(state: ExperimentState) -> str:
    description, num_heads = MEASURES[_measure(state)], len(state.maps.heads())
    if _is_signed(state):
        value = f"Each value is the change in {description.title} from the original to the changed translation."
    else:
        value = f"Each value is the {description.title}."
    sentences = [value, description.meaning, description.caveat]
    if state.settings.scope != "head" and num_heads > 1:
        is_mean = state.settings.combination == "mean"
        over_heads = f"The mean over {num_heads} heads is shown."
        sentences.append(over_heads if is_mean else f"The largest value among {num_heads} heads is shown.")
    return " ".join(sentences)


def _lines(state: ExperimentState) -> str:
    threshold = percent(state.settings.line_threshold)
    sentences = [f"Wider lines stand for larger values. Lines under {threshold} of the strongest colour are left out."]
    if _is_signed(state):
        sentences.append("Orange lines mean more, blue lines less.")
    return " ".join([*sentences, _cells(state)])


def _is_signed(state: ExperimentState) -> bool:
    return state.maps.is_signed(state.selection.head.kind)


def _queries(state: ExperimentState) -> str:
    source, target = state.languages
    if state.selection.head.kind == "encoder":
        return f"These are the {source} tokens that the encoder reads."
    if state.settings.label_mode == "predicted":
        return f"Each is named by the {target} token that the decoder predicts there, after reading the previous one."
    return f"Each is named by the {target} token that the decoder reads there, before predicting the next one."


def _keys(state: ExperimentState) -> str:
    source, target = state.languages
    if state.selection.head.kind == "decoder":
        return f"These are the {target} tokens read so far. Attention is divided among them."
    return f"These are the {source} tokens. Attention is divided among them."
