"""A small line chart: a few curves over a common axis, with the values under the mouse."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy

from ...theme import Theme, current_theme, scaled
from ...widgets.canvas import Canvas

LEFT, RIGHT, BOTTOM, LEGEND_LINE, LEGEND_GAP = 60, 12, 34, 16, 28
WIDE_VALUE = "−0.0000"
CURVES_LIGHT = ("#2a63cc", "#a84c08", "#00795a", "#b0528c")
CURVES_DARK = ("#78a6ff", "#f2a34f", "#2fc79f", "#e08fc0")
"""The themes' accent and warm colour, and two that colour-blind people tell from them (Okabe and
Ito 2008)."""
NUM_TICKS = 5


@dataclass(frozen=True, eq=False)
class Curve:
    """One curve.

    Attributes:
        name: in the legend.
        x: [N], rising.
        y: [N].
    """

    name: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]


class LineChart(Canvas):
    """Draws curves, axes, a legend, and a line at the mouse with the values there.

    Attributes:
        curves: those drawn.
        hovered: the place on the x axis under the mouse; None if there is none.
        top_px: height above the area for one line of the legend and the title of the value axis, at
            100%.
    """

    top_px: ClassVar[int] = 26

    def __init__(self, name: str, x_title: str, y_title: str) -> None:
        super().__init__()
        self._x_title, self._y_title = x_title, y_title
        self.curves: tuple[Curve, ...] = ()
        self.hovered: float | None = None
        self._ranges: dict[str, tuple[float, float] | None] = {}
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def show_curves(
        self,
        curves: Sequence[Curve],
        *,
        x_range: tuple[float, float] | None = None,
        y_range: tuple[float, float] | None = None,
    ) -> None:
        """Draws these, four at most.

        Args:
            curves: those to draw.
            x_range, y_range: the ends of the axes; None for those of the curves.
        """
        self.curves = tuple(curves)
        self._ranges = {"x": x_range, "y": y_range}
        self.setAccessibleDescription(", ".join(curve.name for curve in self.curves))
        self.update()

    def sizeHint(self) -> QSize:
        """Wide enough for its axes."""
        return QSize(420, 210)

    def minimumSizeHint(self) -> QSize:
        """Enough to tell curves apart."""
        return QSize(240, 150)

    @property
    def area(self) -> QRectF:
        """The rectangle of the curves."""
        top = scaled(self.top_px) + (len(self._legend_lines()) - 1) * scaled(LEGEND_LINE)
        return QRectF(
            scaled(LEFT),
            top,
            max(self.width() - scaled(LEFT) - scaled(RIGHT), 10),
            max(self.height() - top - scaled(BOTTOM), 10),
        )

    def _legend_lines(self) -> list[list[int]]:
        """The indices of the curves in each line of the legend, with room for values next to the
        title of the axis.
        """
        metrics, gap = QFontMetrics(current_theme().font("body")), scaled(LEGEND_GAP)
        room = self.width() - scaled(RIGHT) - metrics.horizontalAdvance(self._y_title)
        lines: list[list[int]] = [[]]
        left = room
        for index, curve in enumerate(self.curves):
            width = metrics.horizontalAdvance(f"{curve.name} {WIDE_VALUE}") + gap
            if width > left and lines[-1]:
                lines.append([])
                left = room
            lines[-1].append(index)
            left -= width
        return lines

    def places(
        self, x: NDArray[np.float64], y: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The places of points [N]: pixels from the left and from the top, [N] each."""
        area, (left, right), (low, high) = self.area, self._range("x"), self._range("y")
        across = area.left() + (x - left) / (right - left) * area.width()
        return across, area.bottom() - (y - low) / (high - low) * area.height()

    @property
    def ticks(self) -> tuple[list[float], list[float]]:
        """The numbers at both axes."""
        num_lines = self.area.height() / QFontMetrics(current_theme().font("body")).ascent()
        return ticks(*self._range("x")), ticks(*self._range("y"), num_lines)

    def values_at(self, x: float) -> list[float]:
        """The value of each curve, between its points; NaN outside a curve."""
        return [
            float(np.interp(x, curve.x, curve.y, left=np.nan, right=np.nan))
            for curve in self.curves
        ]

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        area = self.area
        (low, high) = self._range("x")
        share = (event.position().x() - area.left()) / area.width()
        self.hovered = low + share * (high - low) if self.curves and 0 <= share <= 1 else None
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self.hovered = None
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.curves:
            return
        theme = current_theme()
        painter = QPainter(self)
        area = self.area
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font("body"))
        self._paint_axes(painter, theme)
        colors = _colors(theme)
        for curve, color in zip(self.curves, colors, strict=False):
            across, down = self.places(curve.x, curve.y)
            indices = points_that_show(across, down)
            points = QPolygonF(
                [QPointF(x, y) for x, y in zip(across[indices], down[indices], strict=True)]
            )
            painter.setPen(QPen(color, 1.6))
            painter.drawPolyline(points)
        self._paint_legend(painter, area, colors, theme)

    def _paint_axes(self, painter: QPainter, theme: Theme) -> None:
        metrics, area, x_ticks, y_ticks = QFontMetrics(painter.font()), self.area, *self.ticks
        for value, y in zip(
            y_ticks, self.places(np.zeros(len(y_ticks)), np.array(y_ticks))[1], strict=True
        ):
            painter.setPen(theme.color("grid"))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(theme.color("muted"))
            label = QRectF(0, y - scaled(8), scaled(LEFT) - 6, scaled(16))
            painter.drawText(
                label,
                int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter),
                shown_value(value),
            )
        painter.setPen(theme.color("muted"))
        for value, x in zip(
            x_ticks, self.places(np.array(x_ticks), np.zeros(len(x_ticks)))[0], strict=True
        ):
            text = shown_value(value)
            left = min(
                x - metrics.horizontalAdvance(text) / 2,
                self.width() - metrics.horizontalAdvance(text) - 1,
            )
            painter.drawText(QPointF(left, area.bottom() + 2 + metrics.ascent()), text)
        title = QRectF(area.left(), area.bottom() + scaled(16), area.width(), metrics.height())
        painter.drawText(title, int(Qt.AlignmentFlag.AlignRight), self._x_title)
        painter.drawText(QPointF(2, scaled(self.top_px - 14)), self._y_title)

    def _paint_legend(
        self,
        painter: QPainter,
        area: QRectF,
        colors: Sequence[QColor],
        theme: Theme,
    ) -> None:
        texts = [curve.name for curve in self.curves]
        if self.hovered is not None:
            values = self.values_at(self.hovered)
            texts = [
                text if np.isnan(value) else f"{text} {shown_value(value)}"
                for text, value in zip(texts, values, strict=True)
            ]
            x = self.places(np.array([self.hovered]), np.zeros(1))[0][0]
            painter.setPen(theme.color("muted"))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        metrics = QFontMetrics(painter.font())
        for line, indices in enumerate(self._legend_lines()):
            right = area.right()
            y = line * scaled(LEGEND_LINE)
            for index in reversed(indices):
                right -= metrics.horizontalAdvance(texts[index])
                painter.setPen(theme.color("text"))
                painter.drawText(QPointF(right, y + scaled(12)), texts[index])
                painter.setPen(QPen(colors[index], 3))
                painter.drawLine(
                    QPointF(right - 16, y + scaled(8)), QPointF(right - 5, y + scaled(8))
                )
                right -= scaled(LEGEND_GAP)

    def _range(self, axis: str) -> tuple[float, float]:
        if (fixed_range := self._ranges.get(axis)) is not None:
            return fixed_range
        values = (
            np.concatenate([getattr(curve, axis) for curve in self.curves])
            if self.curves
            else np.zeros(1)
        )
        low, high = float(values.min()), float(values.max())
        return (low, high) if high > low else (low, low + 1)


def points_that_show(across: NDArray[np.float64], down: NDArray[np.float64]) -> NDArray[np.intp]:
    """The indices of the points that are drawn: in each pixel column the first, last, lowest and
    highest.

    Args:
        across: [N] the pixels from the left; they rise.
        down: [N] those from the top.
    """
    if not across.size:
        return np.zeros(0, dtype=np.intp)
    columns = np.floor(across)
    starts = np.flatnonzero(np.diff(columns, prepend=columns[0] - 1))
    if 2 * starts.size > across.size:
        return np.arange(across.size)
    lasts = np.append(starts[1:], across.size) - 1
    # sorted by column, then by height: the ends of each column are its extremes
    by_height = np.lexsort((down, columns))
    return np.unique(np.concatenate((starts, lasts, by_height[starts], by_height[lasts])))


def _colors(theme: Theme) -> list[QColor]:
    return [QColor(color) for color in (CURVES_DARK if theme.is_dark else CURVES_LIGHT)]


def ticks(low: float, high: float, room: float = math.inf) -> list[float]:
    """About `NUM_TICKS` round numbers within a range, or as many as there is `room` for."""
    rough = (high - low) / min(NUM_TICKS, room)
    least = (high - low) / room
    power = 10.0 ** np.floor(np.log10(rough))
    steps = (factor * power for factor in (1, 2, 2.5, 5, 10, 20))
    step = min((step for step in steps if step >= least), key=lambda step: abs(step - rough))
    first = int(np.ceil(low / step - 1e-9))
    last = int(np.floor(high / step + 1e-9))
    return [float(multiple * step) for multiple in range(first, last + 1)]


def shown_value(value: float) -> str:
    """A number as text for an axis or the legend."""
    size = abs(value)
    if size < 1e-12:
        return "0"
    text = f"{value:.4g}" if size >= 1e-5 else f"{value:.1e}"
    if size >= 1000:
        text = f"{value:,.0f}"
    return text.replace("-", "−")
