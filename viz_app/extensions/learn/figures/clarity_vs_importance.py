"""All heads by clarity of their maps and by the effect of switching them off."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from augenmerk.core.counting import display_text
from augenmerk.core.model.heads import ATTENTION_KINDS, KIND_TITLES, AttentionKind, Head
from augenmerk.core.quantities import number

from ....theme import current_theme, scaled, scales
from ....widgets.labels import label
from ....widgets.layouts import add_parts
from ....worker.jobs import Job
from ...widgets.line_chart import LineChart
from ..job import HeadPoint, HeadPointsJob
from .figure import ChapterFigure, LearnContext

X_TITLE = "clarity (0: points at nothing, 1: points clearly)"
Y_TITLE = "change without the head (log-probability, nats)"
RADIUS, NEAR = 5, 14
LEAST_EFFECT = 0.1
"""The axis extends at least this far to both sides.

If no head matters, the points are near the line.
"""
CLARITY = (
    "Clarity = mean of the rows’ largest weights × number of different tokens they point at / "
    "number of rows"
)
COLORS: dict[AttentionKind, str] = {"encoder": "muted", "decoder": "warm", "cross": "accent"}


class ClarityVsImportanceFigure(ChapterFigure):
    """A point for each head; a click chooses it.

    Attributes:
        plot: the points.
        says: the head under the mouse, or the chosen one.
        correlations: whether clear heads are needed more: of each kind, and of all heads.
    """

    needs_answer = True
    caption = "Every head of this sentence: how clearly it points, and what changes without it"
    takes_height = True
    answer: tuple[HeadPoint, ...] | None

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self.plot = HeadPlot()
        self.plot.chosen.connect(self.state.intents.choose_head)
        self.plot.pointed.connect(self._say)
        self.correlations = label("muted", wraps=True)
        self.says = label("muted", wraps=True)
        self.correlations.setToolTip(CLARITY)
        add_parts(self.column, (self.plot, 1), self.correlations, self.says)

    def job(self) -> Job | None:
        """The points of the sentence without interventions."""
        return (
            HeadPointsJob(self.state.current.original) if self.state.current is not None else None
        )

    def redraw(self) -> None:
        """Shows the points and the chosen head."""
        if self.answer is not None:
            self.plot.show_points(self.answer, self.state.selection.head)
            self.correlations.setText(correlations_in_words(self.answer))
            self._say(None)

    def _say(self, point: HeadPoint | None) -> None:
        chosen = self.state.selection.head
        shown = point or next(
            (plotted for plotted in self.plot.points if plotted.head == chosen), None
        )
        if shown is not None:
            change = number(shown.effect, signed=True)
            self.says.setText(
                f"{display_text(shown.head.title)}: clarity {shown.clarity:.2f}. Without it, the "
                f"translation's log-probability changes by {change}."
            )


class HeadPlot(LineChart):
    """Draws the points.

    Attributes:
        points: of all heads.

    Signals:
        chosen(Head): a point was clicked.
        pointed(HeadPoint | None): another point is under the mouse, or none.
    """

    chosen = Signal(object)
    pointed = Signal(object)
    top_px = 46

    def __init__(self) -> None:
        super().__init__("Heads by clarity and by effect", X_TITLE, Y_TITLE)
        self.points: tuple[HeadPoint, ...] = ()
        self._head: Head | None = None
        self._under: HeadPoint | None = None
        scales(self.setMinimumHeight, 230)

    def show_points(self, points: tuple[HeadPoint, ...], chosen: Head) -> None:
        """Shows these points, with one head chosen."""
        self.points, self._head = points, chosen
        needed = sorted(points, key=lambda point: point.effect)[:3]
        self.setAccessibleDescription(
            ", ".join(
                f"{display_text(point.head.short_name)} {number(point.effect, signed=True)}"
                for point in needed
            )
        )
        self.update()

    def sizeHint(self) -> QSize:
        """Wide enough to tell points apart."""
        return QSize(420, 260)

    def place_of(self, point: HeadPoint) -> QPointF:
        """The place of a point."""
        across, down = self.places(np.array([point.clarity]), np.array([point.effect]))
        return QPointF(across[0], down[0])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point_at(self._nearest(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._point_at(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click chooses the head of the nearest point."""
        point = self._nearest(event.position())
        if point is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(point.head)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.points:
            return
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font("body"))
        self._paint_axes(painter, theme)
        _, (zero,) = self.places(np.zeros(1), np.zeros(1))
        painter.setPen(theme.color("muted"))
        painter.drawLine(QPointF(self.area.left(), zero), QPointF(self.area.right(), zero))
        for point in self.points:
            painter.setBrush(theme.color(COLORS[point.head.kind], 0.75))
            is_marked = point.head == self._head or point is self._under
            painter.setPen(QPen(theme.color("text"), 2) if is_marked else Qt.PenStyle.NoPen)
            painter.drawEllipse(self.place_of(point), scaled(RADIUS), scaled(RADIUS))
        advance = painter.fontMetrics().horizontalAdvance
        gap = scaled(28)
        names = KIND_TITLES
        if sum(advance(name) + gap for name in names.values()) > self.width():
            names = {kind: kind.capitalize() for kind in ATTENTION_KINDS}
        right = self.area.right()
        for kind in reversed(ATTENTION_KINDS):
            name = names[kind]
            right -= advance(name)
            painter.setPen(theme.color("text"))
            painter.drawText(QPointF(right, scaled(14)), name)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color(COLORS[kind]))
            painter.drawEllipse(QPointF(right - scaled(9), scaled(10)), scaled(4), scaled(4))
            right -= gap

    def _range(self, axis: str) -> tuple[float, float]:
        if axis == "x":
            return 0.0, 1.0
        values = [point.effect for point in self.points]
        return min([-LEAST_EFFECT, *values]), max([LEAST_EFFECT, *values])

    def _point_at(self, point: HeadPoint | None) -> None:
        if point is not self._under:
            self._under = point
            self.setCursor(
                Qt.CursorShape.PointingHandCursor if point else Qt.CursorShape.ArrowCursor
            )
            self.pointed.emit(point)
            self.update()

    def _nearest(self, position: QPointF) -> HeadPoint | None:
        def distance(point: HeadPoint) -> float:
            away = self.place_of(point) - position
            return float(np.hypot(away.x(), away.y()))

        nearest = min(self.points, key=distance, default=None)
        return nearest if nearest is not None and distance(nearest) <= scaled(NEAR) else None


def rank_correlation(x: Sequence[float], y: Sequence[float]) -> float:
    """Spearman's: 1 if both have the same order, −1 if they have opposite ones; NaN if one has no
    order.
    """
    ranks: list[NDArray[np.float64]] = []
    for values in (x, y):  # equal values share the mean of their ranks
        _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
        if len(counts) < 2:
            return float("nan")
        ranks.append((np.cumsum(counts) - (counts - 1) / 2)[places])
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def correlations_in_words(points: Sequence[HeadPoint]) -> str:
    """The rank correlations of clarity and change: of each kind, and of all heads."""

    def correlation(*kinds: AttentionKind) -> str:
        chosen = [point for point in points if point.head.kind in kinds]
        coefficient = rank_correlation(
            [point.clarity for point in chosen], [point.effect for point in chosen]
        )
        return "–" if np.isnan(coefficient) else number(coefficient, signed=True)

    of_kinds = ", ".join(
        f"{KIND_TITLES[kind].lower()} {correlation(kind)}" for kind in ATTENTION_KINDS
    )
    return (
        f"Rank correlation of clarity and change: {of_kinds}; all heads together "
        f"{correlation(*ATTENTION_KINDS)} (−1: the clearer, the more is lost; 0: no relation). A "
        "head is clear if each row of its map has one strong cell, at different tokens."
    )
