"""The keys of the maps, on the page and in the presentation."""

from PySide6.QtCore import Qt

from augenmerk.viz_app.state.head_navigation import Direction
from augenmerk.viz_app.views.intervention_chips import KEY as NEXT_MAPS_KEY

DIRECTIONS: dict[int, Direction] = {
    Qt.Key.Key_Left: "left",
    Qt.Key.Key_Right: "right",
    Qt.Key.Key_Up: "up",
    Qt.Key.Key_Down: "down",
    Qt.Key.Key_Home: "first",
    Qt.Key.Key_End: "last",
}
SWITCH_KEYS = (Qt.Key.Key_O, Qt.Key.Key_Space)
UNPIN_KEYS = (Qt.Key.Key_Escape,)
SCENE_KEYS: dict[int, int] = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
"""While a lesson is shown they step through its scenes."""
ARROWS = tuple(key for key, direction in DIRECTIONS.items() if direction not in ("first", "last"))
ENDS = tuple(key for key, direction in DIRECTIONS.items() if direction in ("first", "last"))
KEYS_OF_MAPS = (
    (ARROWS, "Other heads and layers"),
    (ENDS, "First and last head of the layer"),
    (SWITCH_KEYS, "Switch the chosen head off or on"),
    ((NEXT_MAPS_KEY,), "Original, changed, difference"),
    (UNPIN_KEYS, "Cancel or unpin; from the sentence, go to the heads"),
)
"""Those that the Translate page itself knows, while its maps have the keyboard. For the sheet of keys."""
