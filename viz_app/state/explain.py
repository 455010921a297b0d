"""What am I looking at? The large map in a few plain sentences. No Qt."""

from typing import NamedTuple

import numpy as np

from core.analysis.measures import MEASURES
from core.text.vocabulary import SPECIALS
from viz_app.state.map_view import MapView
from viz_app.state.measuring import SHORT_NAMES
from viz_app.state.role_words import role_in_words
from viz_app.state.translate_state import TranslateState

BEWARE = (
    "Weights show where the model looks, not why it chose a word; to see what a head does, switch it off. Much weight "
    "on <sos>, <eos> or the full stop often means that a head has nothing to do there."
)


class Part(NamedTuple):
    """A paragraph: what it is about, in a word or two, and the text."""

    about: str
    text: str


def explain(state: TranslateState) -> tuple[Part, ...]:
    """The map as it is shown now, in a few paragraphs; none while nothing is shown."""
    view = state.view()
    if view is None:
        return ()
    is_lines = state.picture == "lines"
    rows, columns, cells = ("Tokens at the left", "At the right", "Lines") if is_lines else ("Rows", "Columns", "Cells")
    parts = [Part("For example:", _example(state, view)), Part(rows, _rows(state)), Part(columns, _columns(state))]
    parts.append(Part(cells, _lines(state) if is_lines else _cells(state)))
    if state.scope == "head" and state.translation is not None:
        parts.append(Part("This head", role_in_words(state, state.translation, state.choice)))
    if state.merges_words and state.has_split_words:
        parts.append(Part("Words", "A word of several pieces is summed over its columns and averaged over its rows."))
    if state.translation is not None and state.hides_nothing_of(state.translation, state.choice):
        parts.append(Part("Hidden", state.hiding_note()))
    elif state.selection.hide:
        share = f"Hidden tokens took {100 * view.hidden_share:.0f} % of these rows"
        parts.append(Part("Hidden", f"{share}; what is left of each row is scaled up to its former sum."))
    if state.switchboard.off:
        parts.insert(0, Part("Heads off", state.switchboard.maps_note))
    parts.append(Part("Beware:", BEWARE))
    return tuple(parts)


def _example(state: TranslateState, view: MapView) -> str:
    """The largest cell, words before everything else, as a sentence."""
    rows = np.array([_is_word(label) for label in view.row_labels])
    columns = np.array([_is_word(label) for label in view.column_labels])
    words = np.outer(rows, columns)
    weights = np.where(words, view.weights, -1) if words.any() else view.weights
    row, column = np.unravel_index(int(weights.argmax()), weights.shape)
    weight, looked_at = float(view.weights[row, column]), view.column_labels[column]
    predicts = state.choice.kind != "encoder" and state.label_mode == "predicted"
    when = f"While the model {'predicts' if predicts else 'reads'} “{view.row_labels[row]}”"
    if state.measure_of_choice != "weight":
        return f"{when}, “{looked_at}” counts most: {weight:.2f} by {SHORT_NAMES[state.measure_of_choice]}."
    who, gives, its = _who(state)
    return f"{when}, {who} {gives} {100 * weight:.0f} % of {its} attention to “{looked_at}”."


def _who(state: TranslateState) -> tuple[str, str, str]:
    """Whose attention it is: the subject of a sentence, its verb, and whose."""
    num_heads = len(state.heads(state.choice, state.shape(state.choice.kind)))
    if state.scope == "head" or num_heads == 1:
        return "this head", "gives", "its"
    if state.combination == "max":
        return f"one of these {num_heads} heads", "gives", "its"
    return f"these {num_heads} heads", "give on average", "their"


def _is_word(label: str) -> bool:
    return label not in SPECIALS and any(letter.isalnum() for letter in label)


def _cells(state: TranslateState) -> str:
    how = {"mean": "the mean over", "max": "the largest value among"}[state.combination]
    num_heads = len(state.heads(state.choice, state.shape(state.choice.kind)))
    several = f" Each cell is {how} {num_heads} heads." if state.scope != "head" and num_heads > 1 else ""
    description = MEASURES[state.measure_of_choice]
    return f"hold the {description.title}. {description.meaning} {description.caveat}{several}"


def _lines(state: TranslateState) -> str:
    threshold = f"those under {state.line_threshold:.0%} of the strongest colour are left out"
    return f"are the wider the larger the number behind them; {threshold}. They {_cells(state)}"


def _rows(state: TranslateState) -> str:
    source, target = state.languages
    if state.choice.kind == "encoder":
        return f"are the {source} tokens that the encoder reads."
    if state.label_mode == "predicted":
        return f"are named by the {target} token that the decoder predicts there; it has just read the one before."
    return f"are named by the {target} token that the decoder reads there; it predicts the next one."


def _columns(state: TranslateState) -> str:
    source, target = state.languages
    tokens = f"{target} tokens read so far" if state.choice.kind == "decoder" else f"{source} tokens"
    return f"are the {tokens}: where it may look."
