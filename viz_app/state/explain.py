"""What am I looking at? The large map of the current experiment in a few plain sentences. No Qt."""

from typing import NamedTuple

import numpy as np

from augenmerk.core.analysis.measures import MEASURES, Measure
from augenmerk.core.percent import percent
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


class Part(NamedTuple):
    """A paragraph: what it is about, in a word or two, and the text."""

    about: str
    text: str


def explain(state: ExperimentState) -> tuple[Part, ...]:
    """The map as it is shown now, in a few paragraphs; none while nothing is shown."""
    view, settings = state.maps.view(), state.settings
    if view is None:
        return ()
    is_lines, axes = settings.picture == "lines", view.axes
    queries, keys, cells = f"{axes.query}s".capitalize(), f"{axes.key}s".capitalize(), "Cells"
    if is_lines:
        queries, keys, cells = "Tokens at the left", "At the right", "Lines"
    parts = _of_experiment(state)
    parts += [Part("For example:", _example(state, view)), Part(queries, _queries(state)), Part(keys, _keys(state))]
    parts.append(Part(cells, _lines(state) if is_lines else _cells(state)))
    if settings.scope == "head":
        parts.append(Part("This head", _head(state)))
    if settings.merges_words and map_text.splits_words(state):
        merged = f"A word of several pieces is summed over its {axes.key}s and averaged over its {axes.query}s."
        parts.append(Part("Words", merged))
    if settings.selection.hide and hides_nothing(state.maps):
        parts.append(Part("Hidden", map_text.hiding_note(state)))
    elif settings.selection.hide:
        share = f"Hidden tokens took {100 * view.hidden_share:.0f}% of these {axes.query}s"
        parts.append(Part("Hidden", f"{share}; the rest of each {axes.query} is scaled up to its former sum."))
    parts.append(Part("Beware:", BEWARE))
    return tuple(parts)


def _of_experiment(state: ExperimentState) -> list[Part]:
    """What was changed, and which of the maps these are; nothing if nothing was."""
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
    """The largest cell, words before everything else, as a sentence."""
    settings, head = state.settings, state.selection.head
    is_signed = state.maps.is_signed(head.kind)
    weights, query_labels, key_labels = view.labelled.weights, view.labelled.queries.labels, view.labelled.keys.labels
    words = np.outer([_is_word(label) for label in query_labels], [_is_word(label) for label in key_labels])
    sizes = np.abs(np.nan_to_num(weights))
    sizes = np.where(words, sizes, -1) if words.any() else sizes
    query, key = np.unravel_index(int(sizes.argmax()), sizes.shape)
    value, looked_at = float(np.nan_to_num(weights[query, key])), key_labels[key]
    predicts = head.kind != "encoder" and settings.label_mode == "predicted"
    when = f"While the model {'predicts' if predicts else 'reads'} “{query_labels[query]}”"
    measure = _measure(state)
    more = "more" if value >= 0 else "less"
    if measure != "weight":
        if is_signed:
            return f"{when}, “{looked_at}” counts {abs(value):.2f} {more} than before by {MEASURES[measure].name}."
        return f"{when}, “{looked_at}” counts most: {value:.2f} by {MEASURES[measure].name}."
    who, gives, its = _who(state)
    if is_signed:
        points = f"{100 * abs(value):.0f} percentage points {more}"
        return f"{when}, {who} {gives} “{looked_at}” {points} of {its} attention than in the original."
    return f"{when}, {who} {gives} {100 * value:.0f}% of {its} attention to “{looked_at}”."


def _who(state: ExperimentState) -> tuple[str, str, str]:
    """Whose attention it is: the subject of a sentence, its verb, and whose."""
    num_heads = len(state.maps.heads())
    if state.settings.scope == "head" or num_heads == 1:
        return "this head", "gives", "its"
    if state.settings.combination == "max":
        return f"one of these {num_heads} heads", "gives", "its"
    return f"these {num_heads} heads", "give on average", "their"


def _is_word(label: str) -> bool:
    return label not in MARKS and any(letter.isalnum() for letter in label)


def _measure(state: ExperimentState) -> Measure:
    return state.maps.shown_measure(state.selection.head.kind)


def _head(state: ExperimentState) -> str:
    head = state.selection.head
    text = role_in_words(state.roles, head)
    if head in state.experiment.heads_off and state.maps.shown != "original":
        text += " It is switched off: these are the weights it computes, but its output is not used."
    return text


def _cells(state: ExperimentState) -> str:
    how = {"mean": "the mean over", "max": "the largest value among"}[state.settings.combination]
    num_heads = len(state.maps.heads())
    several = f" Each cell is {how} {num_heads} heads." if state.settings.scope != "head" and num_heads > 1 else ""
    description = MEASURES[_measure(state)]
    change = "change, from the original to the changed translation, of the " if _is_signed(state) else ""
    return f"hold the {change}{description.title}. {description.meaning} {description.caveat}{several}"


def _lines(state: ExperimentState) -> str:
    threshold = f"those under {percent(state.settings.line_threshold)} of the strongest colour are left out"
    colors = " Orange lines mean more, blue lines less." if _is_signed(state) else ""
    return f"are wider for larger numbers; {threshold}.{colors} They {_cells(state)}"


def _is_signed(state: ExperimentState) -> bool:
    return state.maps.is_signed(state.selection.head.kind)


def _queries(state: ExperimentState) -> str:
    source, target = state.languages
    if state.selection.head.kind == "encoder":
        return f"are the {source} tokens that the encoder reads."
    if state.settings.label_mode == "predicted":
        return f"are named by the {target} token that the decoder predicts there; it has just read the one before."
    return f"are named by the {target} token that the decoder reads there; it predicts the next one."


def _keys(state: ExperimentState) -> str:
    source, target = state.languages
    tokens = f"{target} tokens read so far" if state.selection.head.kind == "decoder" else f"{source} tokens"
    return f"are the {tokens}: where it may look."
