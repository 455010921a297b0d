"""What am I looking at? A few sentences over the large map, as many as there is room for; the others scroll."""

import html
from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QWidget

from augenmerk.viz_app.state.explain import Part
from augenmerk.viz_app.theme import scaled

MAX_SHARE = 0.33
"""Of the panel's height: the map stays in sight."""
SCROLL_BAR_WIDTH = 14
LEAST = 36
"""Two lines: however low the panel is, something can be read, and scrolled."""


class Explanation(QScrollArea):
    """Paragraphs, each with a word in bold before it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._label = QLabel()
        self._label.setTextFormat(Qt.TextFormat.RichText)
        self._label.setWordWrap(True)
        self._label.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.setWidget(self._label)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self._label.setAutoFillBackground(False)

    def show_parts(self, parts: Sequence[Part]) -> None:
        """Says something else."""
        paragraphs = (
            f'<p style="margin: 0 0 4px 0"><b>{html.escape(part.about)}</b>&nbsp; {html.escape(part.text)}</p>'
            for part in parts
        )
        self._label.setText("".join(paragraphs))

    def text(self) -> str:
        """What stands there, as HTML."""
        return self._label.text()

    def fit(self, width: int, panel_height: int, left_over: int) -> None:
        """As high as its words need, but no more than its share of the panel, or than the rest leaves over."""
        needed = self._label.heightForWidth(width)
        room = max(min(int(panel_height * MAX_SHARE), left_over), scaled(LEAST))
        if needed > room:
            needed = self._label.heightForWidth(width - scaled(SCROLL_BAR_WIDTH))
        self.setFixedHeight(max(min(needed, room), 1))

    def minimumSizeHint(self) -> QSize:
        """Small enough for small screens."""
        return QSize(200, 20)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrow keys belong to the page."""
        event.ignore()
