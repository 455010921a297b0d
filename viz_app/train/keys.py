"""The keys of the film."""

from PySide6.QtCore import Qt

FRAME_KEYS: dict[int, int] = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
KEYS_OF_FILM = ((tuple(FRAME_KEYS), "The frame before, the next frame"),)
