"""The legends of maps in pages and captions: what is shown, and what colours and marks mean.

No Qt.
"""

from augenmerk.core.maps.measure import MeasureName
from augenmerk.core.maps.measures import MEASURES

from ...state.map_view import Marks
from ...state.map_view_settings import ShownMaps

SHOWN_NAMES: dict[ShownMaps, str] = {
    "original": "original, with nothing changed",
    "changed": "changed",
    "difference": "changed minus original",
}
MARK_MEANINGS = {
    "pinned": "frame: pinned cell",
    "changed": "bar before a row or above a column: token that the original lacks",
    "set": "bar after a row or below a column: set by hand",
    "forced": "dot after a row or below a column: forced token",
    "off": "line through the map: head switched off",
    "scaled": "× below the map: factor of the head’s output",
}


def meaning_of_colors(measure: MeasureName, *, is_signed: bool) -> str:
    """The name of the values that colours stand for; `is_signed`: they are differences."""
    return f"Colours: {SHOWN_NAMES['difference'] if is_signed else MEASURES[measure].name}."


def marks_note(marks: Marks) -> str:
    """The meaning of the marks that are on a map; empty if there are none."""
    is_on_map = {
        "pinned": marks.pinned is not None,
        "changed": bool(marks.changed),
        "set": bool(marks.set),
        "forced": bool(marks.forced),
        "off": marks.is_off,
        "scaled": bool(marks.scaling),
    }
    named = "; ".join(MARK_MEANINGS[name] for name, is_there in is_on_map.items() if is_there)
    return f"Marks: {named}." if named else ""
