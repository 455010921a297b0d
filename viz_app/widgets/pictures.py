"""Pictures of widgets as files."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtWidgets import QWidget

from augenmerk.core.storage import atomic_path


def save_picture(
    widget: QWidget, target: Path, finish: Callable[[bytes], bytes] = lambda content: content
) -> None:
    """Saves a picture of a widget as a PNG, atomically; `finish` may add to its content.

    Raises `StorageError`.
    """
    buffer = QBuffer()  # Qt's writer does not tell why it failed
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    widget.grab().save(buffer, "PNG")
    with atomic_path(target) as temporary:
        temporary.write_bytes(finish(bytes(buffer.data().data())))
