"""Parts whose size does not depend on what they show, so that nothing around them moves."""

from collections.abc import Iterable

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics
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
        policy = self.sizePolicy()
        policy.setHeightForWidth(True)  # a label that never had a text has none
        self.setSizePolicy(policy)
        self._texts = tuple(texts)

    @property
    def is_in_sight(self) -> bool:
        """True if no part of its text is scrolled away; the rest of its room may be."""
        in_sight = self.visibleRegion().boundingRect()
        return in_sight.top() == 0 and in_sight.height() >= super().heightForWidth(self.width())

    def heightForWidth(self, width: int) -> int:
        margins = self.contentsMargins()
        room = width - margins.left() - margins.right()
        heights = [text_height(self.fontMetrics(), text, room) for text in self._texts]
        around = margins.top() + margins.bottom()
        return max([super().heightForWidth(width), *(height + around for height in heights)])


def text_height(metrics: QFontMetrics, text: str, width: int) -> int:
    """The height of a plain text in lines of at most this width, in pixels."""
    room = QRect(0, 0, max(width, 1), 0)
    return metrics.boundingRect(room, Qt.TextFlag.TextWordWrap, text).height()


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
    holder = QWidget()
    grid = QGridLayout(holder)
    grid.setContentsMargins(0, 0, 0, 0)
    for part in parts:
        keep_room(part)
        grid.addWidget(part, 0, 0)
    return holder
