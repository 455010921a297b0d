"""A veil over a widget of which the content is out of date."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from augenmerk.viz_app.theme import current_theme

OPACITY = 0.6


class Veil(QWidget):
    """Covers its parent and takes its mouse events while it is shown."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._covered = parent
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        parent.installEventFilter(self)
        self.hide()

    def cover(self, is_wanted: bool) -> None:
        """Lies over the parent, or not."""
        self.setGeometry(self._covered.rect())
        self.setVisible(is_wanted)
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follows the size of the parent."""
        if event.type() == QEvent.Type.Resize and watched is self._covered:
            self.setGeometry(self._covered.rect())
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        """Washes the colours out."""
        QPainter(self).fillRect(event.rect(), current_theme().color("background", OPACITY))
