"""Room for the words of a translation: as high as they need, up to a few lines; then they scroll."""

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from viz_app.views.chips import WordChips

MAX_LINES = 4


class ChipsArea(QScrollArea):
    """Holds the chips."""

    def __init__(self, chips: WordChips, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chips = chips
        self._max_lines = MAX_LINES
        self.setWidget(chips)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        chips.setAutoFillBackground(False)

    def fit(self) -> None:
        """The words or the width changed."""
        needed = self._chips.heightForWidth(self.width())
        self.setFixedHeight(min(needed, self._max_lines * self._chips.line_height))

    def set_max_lines(self, max_lines: int) -> None:
        """Shows no more lines at once; the others scroll."""
        self._max_lines = max_lines
        self.fit()

    def resizeEvent(self, event: QEvent) -> None:
        """Words wrap anew."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self.fit()

    def minimumSizeHint(self) -> QSize:
        """One line."""
        return QSize(200, 24)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys belong to the page."""
        event.ignore()
