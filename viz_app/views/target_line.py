"""The translation as a sentence: shown, or taken over and written anew."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from viz_app.theme import Theme
from viz_app.views.sentence_input import SentenceInput

KEPT_KEYS = (QKeySequence.StandardKey.Copy, QKeySequence.StandardKey.SelectAll)


class TargetLine(SentenceInput):
    """A sentence that breaks anywhere rather than run out of its line; it scrolls where it has many lines.

    Signals:
        edit_wanted(): a double click.
    """

    edit_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName("Translation")
        self.set_editable(False)

    @property
    def is_editable(self) -> bool:
        """Whether it can be written in."""
        return not self.isReadOnly()

    def set_editable(self, is_editable: bool) -> None:
        """Lets it be written in, or only read."""
        self.cancel()
        self.setReadOnly(not is_editable)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if is_editable else Qt.FocusPolicy.ClickFocus)
        self.viewport().update()

    def show_text(self, text: str) -> None:
        """Shows a sentence; nobody is told."""
        if text != self.text:
            self.setPlainText(text)
        self.cancel()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """While it is only read, keys belong to the page."""
        if self.is_editable or any(event.matches(key) for key in KEPT_KEYS):
            super().keyPressEvent(event)
        else:
            event.ignore()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Begins to write."""
        if self.is_editable:
            super().mouseDoubleClickEvent(event)
        else:
            self.edit_wanted.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """A line under what can be written in."""
        super().paintEvent(event)
        if self.is_editable:
            painter = QPainter(self.viewport())
            painter.setPen(QPen(self._theme.color("accent"), 1))
            bottom = self.viewport().height() - 1
            painter.drawLine(0, bottom, self.viewport().width(), bottom)
