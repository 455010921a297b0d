"""The products of a query and a key as bars, and their running sum as a line."""

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from augenmerk.viz_app.state.weight_explanation import QueryKeyView
from augenmerk.viz_app.theme import current_theme, scaled

EDGE, RIGHT = 4, 64


class ProductBars(QWidget):
    """K bars, up or down from zero; the line ends at the logit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view: QueryKeyView | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Products of query and key")

    def show_view(self, view: QueryKeyView | None) -> None:
        """Another cell, or none."""
        self._view = view
        self.setAccessibleDescription(view.sentence if view is not None else "")
        self.update()

    def minimumSizeHint(self) -> QSize:
        """Enough to tell bars apart."""
        return QSize(200, 60)

    def dimension_at(self, x: float) -> int | None:
        """The bar at a place."""
        if self._view is None:
            return None
        count = len(self._view.detail.products)
        index = int((x - scaled(EDGE)) / self._step())
        return index if x >= scaled(EDGE) and index < count else None

    def event(self, event: QEvent) -> bool:
        """Tool tips tell the factors."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            dimension = self.dimension_at(event.pos().x())
            if self._view is None or dimension is None:
                QToolTip.hideText()
            else:
                QToolTip.showText(event.globalPos(), self._view.tip(dimension), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Bars, the zero line, the running sum, the logit."""
        view, theme = self._view, current_theme()
        if view is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        products, running = view.detail.products, view.running
        low, high = min(0.0, products.min(), running.min()), max(0.0, products.max(), running.max())
        span = (high - low) or 1.0
        scale = (self.height() - 2 * scaled(EDGE)) / span

        def y_of(value: float) -> float:
            return scaled(EDGE) + (high - float(value)) * scale

        step, zero = self._step(), y_of(0.0)
        painter.setPen(Qt.PenStyle.NoPen)
        for index, product in enumerate(products.tolist()):
            painter.setBrush(theme.color("accent" if product >= 0 else "warm"))
            top, bottom = sorted((zero, y_of(product)))
            painter.drawRect(QRectF(scaled(EDGE) + index * step + step * 0.15, top, step * 0.7, bottom - top))
        painter.setPen(QPen(theme.color("border"), 1))
        painter.drawLine(QPointF(scaled(EDGE), zero), QPointF(scaled(EDGE) + step * len(products), zero))
        painter.setPen(QPen(theme.color("text", 0.75), 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        points = [
            QPointF(scaled(EDGE) + (index + 0.5) * step, y_of(value)) for index, value in enumerate(running.tolist())
        ]
        painter.drawPolyline(QPolygonF(points))
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text"))
        end = min(max(points[-1].y() + 4, 12.0), self.height() - 4.0)
        text = f"Σ {view.detail.logit:.2f}".replace("-", "−")
        painter.drawText(QPointF(points[-1].x() + 7, end), text)

    def _step(self) -> float:
        count = len(self._view.detail.products) if self._view is not None else 1
        return max(self.width() - scaled(EDGE) - scaled(RIGHT), 10) / count
