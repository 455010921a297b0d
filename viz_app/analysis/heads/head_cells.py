"""A number for every head, as a picture of layers × heads for each kind."""

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from core.translation.result import MAP_KINDS
from viz_app.analysis.heads.state import HeadWorth
from viz_app.heatmap.colormap import signed_indices, signed_rgb_table
from viz_app.state.translate_state import KIND_NAMES, HeadChoice, TranslateState
from viz_app.theme import Theme

LABEL_WIDTH, HEADER, LEGEND, GAP = 62, 20, 30, 2
CELL_HEIGHT = 24


class HeadCells(QWidget):
    """Draws the worth of every head; a click on a cell picks the head.

    Signals:
        clicked(HeadChoice)
    """

    clicked = Signal(object)

    def __init__(self, page: TranslateState, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page, self._theme = page, theme
        self._worth: HeadWorth | None = None
        self._hovered: HeadChoice | None = None
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("What each head is worth")

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        self._theme = theme
        self.update()

    def show_worth(self, worth: HeadWorth | None) -> None:
        """Draws other numbers."""
        self._worth = worth
        self.setFixedHeight(self._content_height())
        self.update()

    def place_of(self, head: HeadChoice) -> QRect:
        """Where a head's cell stands."""
        assert self._worth is not None
        top = 0
        for kind in MAP_KINDS:
            if kind == head.kind:
                break
            top += HEADER + len(self._worth.increase[kind]) * CELL_HEIGHT
        num_heads = max(array.shape[1] for array in self._worth.increase.values())
        width = (self.width() - LABEL_WIDTH) / num_heads
        left = LABEL_WIDTH + round(head.head * width)
        right = LABEL_WIDTH + round((head.head + 1) * width)
        return QRect(left, top + HEADER + head.layer * CELL_HEIGHT, right - left - GAP, CELL_HEIGHT - GAP)

    def head_at(self, point: QPoint) -> HeadChoice | None:
        """The head whose cell is under a point."""
        return next((head for head in self._heads() if self.place_of(head).contains(point)), None)

    def sizeHint(self) -> QSize:
        """All layers."""
        return QSize(300, self._content_height())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click picks a head."""
        head = self.head_at(event.position().toPoint())
        if head is not None and event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(head)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The cell under the mouse is framed."""
        head = self.head_at(event.position().toPoint())
        if head != self._hovered:
            self._hovered = head
            self.setCursor(Qt.CursorShape.PointingHandCursor if head else Qt.CursorShape.ArrowCursor)
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """No cell is framed."""
        self._hovered = None
        self.update()

    def event(self, event: QEvent) -> bool:
        """Each cell has a tip of its own."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            head = self.head_at(event.pos())
            QToolTip.showText(event.globalPos(), self._tip(head) if head is not None else "", self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Kinds, layers, cells, legend."""
        worth = self._worth
        if worth is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for head in self._heads():
            place = self.place_of(head)
            if head.head == 0:
                self._paint_row_label(painter, head, place)
            self._paint_cell(painter, head, place, float(worth.increase[head.kind][head.layer, head.head]))
        self._paint_legend(painter)

    def _paint_row_label(self, painter: QPainter, head: HeadChoice, place: QRect) -> None:
        theme = self._theme
        if head.layer == 0:
            painter.setPen(theme.color("text"))
            painter.setFont(theme.font("small", bold=True))
            title = QRect(0, place.top() - HEADER, self.width(), HEADER)
            painter.drawText(title, Qt.AlignmentFlag.AlignVCenter, KIND_NAMES[head.kind])
        painter.setPen(theme.color("muted"))
        painter.setFont(theme.font("small"))
        label = QRect(0, place.top(), LABEL_WIDTH - 8, place.height())
        painter.drawText(label, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, f"layer {head.layer + 1}")

    def _paint_cell(self, painter: QPainter, head: HeadChoice, place: QRect, value: float) -> None:
        assert self._worth is not None
        theme = self._theme
        color = self._color(value / (self._worth.largest or 1.0))
        is_off = self._page.is_off(head)
        painter.fillRect(place, color)
        painter.setFont(theme.font("small"))
        text = f"{round(1000 * value):+d}".replace("-", "−").replace("+0", "0")
        if QFontMetrics(painter.font()).horizontalAdvance(text) + 2 <= place.width():
            painter.setPen(QColor("#111111") if color.lightnessF() > 0.5 else QColor("#ffffff"))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)
        is_framed = head == self._hovered or head == self._page.choice
        painter.setPen(QPen(theme.color("accent" if is_framed else "border"), 2 if is_framed else 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(place)
        if is_off:
            painter.setPen(QPen(theme.color("text"), 2))
            painter.drawLine(place.topLeft(), place.bottomRight())

    def _paint_legend(self, painter: QPainter) -> None:
        """The colours, and what they mean."""
        assert self._worth is not None
        top = self._content_height() - LEGEND + 8
        width = self.width() - LABEL_WIDTH
        for index in range(0, 255, 5):
            left = LABEL_WIDTH + width * index // 255
            painter.fillRect(QRect(left, top, width * 5 // 255 + 1, 6), self._color((index - 127) / 127))
        painter.setFont(self._theme.font("small"))
        painter.setPen(self._theme.color("muted"))
        line = QRect(LABEL_WIDTH, top + 6, width, 16)
        largest = self._worth.largest
        for flag, text in (
            (Qt.AlignmentFlag.AlignLeft, f"−{1000 * largest:.0f} better without"),
            (Qt.AlignmentFlag.AlignHCenter, "0"),
            (Qt.AlignmentFlag.AlignRight, f"worse without +{1000 * largest:.0f}"),
        ):
            painter.drawText(line, flag | Qt.AlignmentFlag.AlignVCenter, text)

    def _color(self, share: float) -> QColor:
        index = int(signed_indices(np.array([share], dtype=np.float32), 1.0)[0])
        return QColor(*(int(part) for part in signed_rgb_table(is_dark=self._theme.is_dark)[index]))

    def _tip(self, head: HeadChoice) -> str:
        assert self._worth is not None
        value = float(self._worth.increase[head.kind][head.layer, head.head])
        what = "Switched off: click to switch it on" if self._page.is_off(head) else "Click to switch it off"
        return f"{head.title}\nthe loss changes by {value:+.4f} nats per token without it\n{what}".replace("-", "−")

    def _heads(self) -> list[HeadChoice]:
        if self._worth is None:
            return []
        return [
            HeadChoice(kind, layer, head)
            for kind in MAP_KINDS
            for layer in range(self._worth.increase[kind].shape[0])
            for head in range(self._worth.increase[kind].shape[1])
        ]

    def _content_height(self) -> int:
        if self._worth is None:
            return 1
        return sum(HEADER + len(array) * CELL_HEIGHT for array in self._worth.increase.values()) + LEGEND
