"""The shown experiment in short lines, which paper and pages write above the map. No Qt."""

from typing import NamedTuple

from augenmerk.core.counting import display_text
from augenmerk.core.plain_text import one_line
from augenmerk.core.quantities import percent
from augenmerk.core.translation.experiment import Beam

from ...state import map_text
from ...state.experiment_editor import dropped_notice
from ...state.experiment_state import ExperimentState
from ...state.map_drawings import DRAWINGS
from ...state.map_source import hides_nothing
from ...state.marks import pointed_word
from ...state.sentence_text import target_span


class OutlinedText(NamedTuple):
    """A line of text; a pointer rings a part of it, or nothing."""

    before: str
    outlined: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        """The whole line."""
        return "".join(self)

    def one_line(self) -> "OutlinedText":
        """The same without line breaks and control characters."""
        return OutlinedText(*map(one_line, self))


NO_WORDS = OutlinedText("")


def translation_line(state: ExperimentState) -> OutlinedText:
    """The translation that the maps are of, with its origin, and a ring around the word that is
    pointed at.
    """
    translation = state.maps.translation
    result = state.result
    if translation is None or result is None:
        return NO_WORDS
    output = translation.experiment.output
    name = "Given translation" if translation.is_given else "Translation"
    if isinstance(output, Beam):
        name += f" by beam search with {output.size} hypotheses"
    if result.is_changed and translation is result.original:
        name += " with nothing changed"
    elif result.is_changed and result.original.text == translation.text:
        name += ", unchanged"
    word = pointed_word(state)
    text = translation.text
    start, end = target_span(translation, word) if word is not None else (len(text), len(text))
    return OutlinedText(f"{name}: {text[:start]}", text[start:end], text[end:])


def notes_on(state: ExperimentState, shown: str = "") -> tuple[str, ...]:
    """Sentences on the experiment and its map, apart from its changes.

    Args:
        state: with a result.
        shown: the part of the app that the scene shows in place of the map; empty if it is the map.
    """
    translation = state.maps.translation
    result = state.result
    settings = state.settings
    if translation is None or result is None:
        return ()
    other = result.changed if translation is result.original else result.original
    name = "Original translation" if other is result.original else "Translation with the changes"
    view = state.maps.view()
    hidden = ["start, end"] * settings.hides_wrapping + ["punctuation"] * settings.hides_punctuation
    hiding = map_text.hiding_note(state)
    if hiding and view is not None and not hides_nothing(state.maps):
        hiding = (
            f"Hidden tokens ({', '.join(hidden)}) get {percent(view.labelled.hidden_share)} of the "
            "attention."
        )
    first = map_text.marks_in_words(state).partition("\n")[0]
    marked = f"{first}. " if first else ""
    notes = (
        f"{name}: {other.text}" if other.text != translation.text else "",
        dropped_notice(result.dropped, is_of_former=False),
        *map(display_text, translation.notes_on_unreached),
        f"In the app, this scene shows: {shown}. {marked}Here is the map of the same sentence."
        if shown
        else "",
        "The map is that of the original translation, without the changes."
        if state.maps.shown == "original"
        else "",
        DRAWINGS[settings.known_picture].elsewhere,
        hiding,
    )
    return tuple(filter(None, notes))
