"""The translation as a sentence: shown, or taken over and written anew."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPaintEvent, QPen, QTextCharFormat
from PySide6.QtWidgets import QWidget

from augenmerk.viz_app.state.spans import Span
from augenmerk.viz_app.theme import current_theme, is_theme_change
from augenmerk.viz_app.views.sentence_input import SentenceInput

KEPT_KEYS = (QKeySequence.StandardKey.Copy, QKeySequence.StandardKey.SelectAll)


class TargetLine(SentenceInput):
    """A sentence that breaks anywhere rather than run out of its line; it scrolls where it has many lines.

    Signals:
        edit_wanted(): a double click.
    """

    edit_wanted = Signal()
    _emphasized: tuple[str, ...] = ()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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

    def emphasize(self, words: Sequence[str]) -> None:
        """Marks these words, in their order: they are not in the original translation."""
        self._emphasized = tuple(words)
        text, position = self.text.lower(), 0
        selections = []
        for word in words:
            start = text.find(word.lower(), position)
            if start < 0:
                continue
            position = start + len(word)
            before, upto = (len(text[:end].encode("utf-16-le", "surrogatepass")) // 2 for end in (start, position))
            selections.append(self._selection(Span(before, upto), self._new_format()))
        self.setExtraSelections(selections)

    def changeEvent(self, event: QEvent) -> None:
        """Takes on new colours, of the marked words too."""
        super().changeEvent(event)
        if is_theme_change(event):
            self.emphasize(self._emphasized)

    def _new_format(self) -> QTextCharFormat:
        char_format = QTextCharFormat()
        char_format.setForeground(current_theme().color("warm"))
        char_format.setFontWeight(QFont.Weight.Bold)
        return char_format

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
            painter.setPen(QPen(current_theme().color("accent"), 1))
            bottom = self.viewport().height() - 1
            painter.drawLine(0, bottom, self.viewport().width(), bottom)
