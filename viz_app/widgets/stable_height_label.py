"""A label whose height stays the same when its text changes, so that nothing around it moves."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QWidget


class StableHeightLabel(QWidget):
    """As high as the highest text so far at the current width and font.

    The label is in no layout, so that a new text does not cause a new layout of the page.

    Args:
        label: the label, with word wrap.
    """

    def __init__(self, label: QLabel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._label = label
        self._width, self._font = 0, ""
        self._heights: dict[str, int] = {}
        label.setParent(self)
        label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)

    def show_text(self, text: str, width: int, longest: str = "") -> None:
        """Shows a text, wrapped at `width` pixels, with room for a longer one that may soon take its place."""
        self._label.ensurePolished()
        font = self._label.font().toString()
        if (width, font) != (self._width, self._font):
            self._width, self._font, self._heights = width, font, {}
        for each in filter(lambda each: each not in self._heights, (longest or text, text)):
            self._label.setText(each)
            self._heights[each] = max(0, self._label.heightForWidth(width))  # below 0 before there is a width
        self._label.setText(text)
        needed = max(self._heights.values())
        if needed != self.minimumHeight():
            self.setFixedHeight(needed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The label fills the widget."""
        super().resizeEvent(event)
        self._label.resize(event.size())
