"""A label that scrolls what does not fit."""

from math import ceil

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QSizePolicy

from ...widgets.labels import label
from ...widgets.layouts import LinesScrollArea


class MaxLinesLabel(LinesScrollArea):
    """As high as its text, `max_lines` at most, always a whole number of lines.

    Attributes:
        label: the text.
        keeps_height: whether a shorter text leaves the other lines empty.
    """

    keeps_height = False

    def __init__(self, role: str, max_lines: int) -> None:
        """`role`: of the text, see `viz_app.theme`."""
        self.label = label(role, wraps=True)
        super().__init__(self.label, self.line_height, max_lines)
        self.label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def text(self) -> str:
        """The whole text."""
        return self.label.text()

    def set_text(self, text: str) -> None:
        """Shows `text` from its beginning."""
        if text != self.text():
            self.label.setText(text)
            self.verticalScrollBar().setValue(0)
            self.fit()

    def fit(self) -> None:
        """Scrolls by whole lines."""
        self.label.ensurePolished()
        self.verticalScrollBar().setSingleStep(self.line_height())
        super().fit()

    def content_height(self) -> int:
        """At least one line, or all of them."""
        least = self._max_lines if self.keeps_height else 1
        return max(least * self.line_height(), super().content_height())

    def line_height(self) -> int:
        """As Qt lays out a text: whole pixels, rounded up."""
        return ceil(QFontMetricsF(self.label.font()).lineSpacing())
