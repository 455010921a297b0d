"""The keys of the maps, on the page and in the presentation."""

from PySide6.QtCore import Qt

from viz_app.state.head_navigation import Direction

DIRECTIONS: dict[int, Direction] = {
    Qt.Key.Key_Left: "left",
    Qt.Key.Key_Right: "right",
    Qt.Key.Key_Up: "up",
    Qt.Key.Key_Down: "down",
    Qt.Key.Key_Home: "first",
    Qt.Key.Key_End: "last",
}
SWITCH_KEYS = (Qt.Key.Key_O, Qt.Key.Key_Space)
