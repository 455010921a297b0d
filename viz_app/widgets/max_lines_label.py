"""A label of at most so many lines: a longer text scrolls, line by line."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from augenmerk.viz_app.widgets.parts import label
from augenmerk.viz_app.widgets.scroll_areas import ContentHeightScrollArea


class MaxLinesLabel(ContentHeightScrollArea):
    """As high as its text, `max_lines` at most, always a whole number of lines.

    Attributes:
        label: the text.
    """

    def __init__(self, role: str, max_lines: int, parent: QWidget | None = None) -> None:
        """`role`: of the text, see `viz_app.theme`."""
        self.label = label(role, wraps=True)
        self._max_lines = max_lines
        super().__init__(self.label, lambda: self._max_lines * self._line_height(), parent)
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

    def set_max_lines(self, max_lines: int) -> None:
        """How many lines are shown at most."""
        if max_lines != self._max_lines:
            self._max_lines = max_lines
            self.fit()

    def fit(self) -> None:
        """Scrolls by whole lines."""
        self.label.ensurePolished()
        self.verticalScrollBar().setSingleStep(self._line_height())
        super().fit()

    def content_height(self) -> int:
        """At least one line."""
        return max(self._line_height(), super().content_height())

    def _line_height(self) -> int:
        return self.label.fontMetrics().lineSpacing()
