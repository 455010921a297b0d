"""The words of a translation: as high as they need, up to a few lines; then they scroll."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

from augenmerk.viz_app.views.chips import WordChips
from augenmerk.viz_app.widgets.scroll_areas import ContentHeightScrollArea

MAX_LINES = 4


class ChipsArea(ContentHeightScrollArea):
    """Holds the chips."""

    def __init__(self, chips: WordChips, parent: QWidget | None = None) -> None:
        self._max_lines = MAX_LINES
        super().__init__(chips, lambda: self._max_lines * chips.line_height, parent)

    def set_max_lines(self, max_lines: int) -> None:
        """Shows no more lines at once; the others scroll."""
        self._max_lines = max_lines
        self.fit()

    def minimumSizeHint(self) -> QSize:
        """One line."""
        return QSize(200, 24)
