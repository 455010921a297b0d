"""A text that keeps to a few whole lines: a longer one scrolls, line by line."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget

from viz_app.widgets.parts import label


class FewLines(QScrollArea):
    """As high as its text, `max_lines` at most, always a whole number of lines.

    Attributes:
        label: the text.
    """

    def __init__(self, role: str, max_lines: int, parent: QWidget | None = None) -> None:
        """`role`: of the text, see `viz_app.theme`."""
        super().__init__(parent)
        self._max_lines = max_lines
        self.label = label(role, wraps=True)
        self.label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.setWidget(self.label)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.viewport().setAutoFillBackground(False)
        self.label.setAutoFillBackground(False)

    def text(self) -> str:
        """The whole text."""
        return self.label.text()

    def set_text(self, text: str) -> None:
        """Shows `text` from its beginning."""
        if text != self.text():
            self.label.setText(text)
            self.verticalScrollBar().setValue(0)
            self._fit()

    def set_max_lines(self, max_lines: int) -> None:
        """How many lines there is room for."""
        if max_lines != self._max_lines:
            self._max_lines = max_lines
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width, other lines."""
        super().resizeEvent(event)
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        """The style is known now."""
        super().showEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Another font has other lines."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def _fit(self) -> None:
        self.label.ensurePolished()
        line = self.label.fontMetrics().lineSpacing()
        whole = max(line, self.label.heightForWidth(self.width()))
        self.verticalScrollBar().setSingleStep(line)
        self.setFixedHeight(min(whole, self._max_lines * line))
