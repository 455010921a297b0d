"""Parts whose size does not depend on what they show, so that nothing around them moves."""

from collections.abc import Iterable

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from ...widgets.layouts import VerticalScrollArea, keep_room

_INVISIBLE_IF_IDLE = "QScrollBar::handle:disabled { background: transparent; }"
SCROLL_BAR_PX = 10
"""The width of a scroll bar, which the scale does not change: see `viz_app.theme`."""


class SteadyScrollArea(VerticalScrollArea):
    """Keeps the room of its scroll bar free while all of the content is in sight."""

    def __init__(
        self, content: QWidget, parent: QWidget | None = None, *, takes_keys: bool = False
    ) -> None:
        super().__init__(content, parent, takes_keys=takes_keys)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        bar = self.verticalScrollBar()
        bar.setStyleSheet(_INVISIBLE_IF_IDLE)
        bar.setEnabled(False)
        bar.rangeChanged.connect(self._on_range)

    def _on_range(self, least: int, most: int) -> None:
        self.verticalScrollBar().setEnabled(most > least)


class SteadyLabel(QLabel):
    """As high as the highest of some plain texts at its width, and its own.

    Args:
        role: see `viz_app.theme`.
        texts: what it may show.
    """

    def __init__(self, role: str, texts: Iterable[str]) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._texts = tuple(texts)

    def heightForWidth(self, width: int) -> int:
        heights = [self._height_of(text, width) for text in self._texts]
        return max([super().heightForWidth(width), *heights])

    def _height_of(self, text: str, width: int) -> int:
        margins = self.contentsMargins()
        room = QRect(0, 0, width - margins.left() - margins.right(), 0)
        box = self.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, text)
        return box.height() + margins.top() + margins.bottom()


class SteadyWidthLabel(QLabel):
    """As wide as the widest of some texts.

    Args:
        role: see `viz_app.theme`.
        texts: what it may show.
    """

    def __init__(self, role: str, texts: Iterable[str]) -> None:
        super().__init__()
        self.setProperty("role", role)
        self._texts = tuple(texts)

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        advance = self.fontMetrics().horizontalAdvance
        widest = max(map(advance, self._texts), default=0)
        return QSize(hint.width() + max(0, widest - advance(self.text())), hint.height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()


def in_one_place(*parts: QWidget) -> QWidget:
    """A widget with the room of the highest and the widest of its parts, of which one is shown."""
    place = QWidget()
    grid = QGridLayout(place)
    grid.setContentsMargins(0, 0, 0, 0)
    for part in parts:
        keep_room(part)
        grid.addWidget(part, 0, 0)
    return place
