"""The keys of the model on one page."""

from PySide6.QtCore import Qt

MODULE_KEYS: dict[int, int] = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}
NO_MODULE_KEYS = (Qt.Key.Key_Escape,)
KEYS_OF_STACK = ((tuple(MODULE_KEYS), "Another module"), (NO_MODULE_KEYS, "No module"))
