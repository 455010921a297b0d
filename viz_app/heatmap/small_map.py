"""A small labelled map: weights, or signed differences, with a legend of their colours."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.analysis.selection import Axis
from core.translation.result import FloatArray
from viz_app.heatmap.colormap import quantize, rgb_table, signed_indices, signed_rgb_table
from viz_app.heatmap.heatmap_layout import COLUMN_ANGLE, COLUMN_COSINE, COLUMN_SINE, thinned
from viz_app.heatmap.map_image import ramp_of
from viz_app.theme import Theme

MAX_LABEL, GAP, LEGEND, LEGEND_BAR = 72, 5, 30, 6
MIN_FONT_PX = 10
Colors = Literal["weights", "signed"]


@dataclass(frozen=True, eq=False)
class SmallPicture:
    """What is drawn.

    Attributes:
        values: [Q, M].
        rows, columns: what they stand for.
        top: the value of the last colour; for signed values the end on both sides of 0.
    """

    values: FloatArray
    rows: Axis
    columns: Axis
    top: float


class SmallMap(QWidget):
    """Draws a map as wide as there is room; its height depends on the number of rows alone.

    Attributes:
        picture: what is drawn, None before the first.
        ends: of signed colours, what stands at the legend's ends.

    Signals:
        hovered((int, int) | None): row and column under the mouse.
    """

    hovered = Signal(object)

    def __init__(
        self, theme: Theme, name: str, colors: Colors = "weights", room: tuple[int, int, int] = (9, 20, 260)
    ) -> None:
        """`room`: the least and the largest height of a cell, and the height of all that is aimed at, in pixels."""
        super().__init__()
        self._theme, self._colors, self._room = theme, colors, room
        self.picture: SmallPicture | None = None
        self.ends = ("−", "+")
        self._lit: tuple[int, int] | None = None
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        self._theme = theme
        self.update()

    def show_picture(self, picture: SmallPicture | None) -> None:
        """Draws another map."""
        self.picture, self._lit = picture, None
        self.setFixedHeight(round(self._top() + len(picture.rows) * self._cell_height() + LEGEND) if picture else 1)
        self.update()

    def light(self, cell: tuple[int, int] | None) -> None:
        """Frames a cell."""
        if cell != self._lit:
            self._lit = cell
            self.update()

    def cell_rect(self, row: int, column: int) -> QRectF:
        """Where a cell is drawn."""
        area = self._area()
        assert self.picture is not None
        width, height = area.width() / len(self.picture.columns), self._cell_height()
        return QRectF(area.left() + column * width, area.top() + row * height, width, height)

    def cell_at(self, point: QPointF) -> tuple[int, int] | None:
        """Row and column under a point."""
        area = self._area()
        if self.picture is None or not area.contains(point):
            return None
        row = int((point.y() - area.top()) / self._cell_height())
        column = int((point.x() - area.left()) / (area.width() / len(self.picture.columns)))
        return min(row, len(self.picture.rows) - 1), min(column, len(self.picture.columns) - 1)

    def sizeHint(self) -> QSize:
        """As high as the rows need."""
        return QSize(160, self.height())

    def minimumSizeHint(self) -> QSize:
        """Half of a narrow laboratory."""
        return QSize(130, 1)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The cell under the mouse is told."""
        self.hovered.emit(self.cell_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        """No cell is under the mouse."""
        self.hovered.emit(None)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Cells, labels, legend."""
        if self.picture is None:
            return
        painter = QPainter(self)
        self._paint_cells(painter, self.picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_labels(painter, self.picture)
        self._paint_legend(painter, self.picture.top)
        if self._lit is not None:
            painter.setPen(QPen(self._theme.color("accent"), 2))
            painter.drawRect(self.cell_rect(*self._lit))

    def _table(self) -> list[QColor]:
        is_signed = self._colors == "signed"
        table = signed_rgb_table(is_dark=self._theme.is_dark) if is_signed else rgb_table(ramp_of(self._theme))
        return [QColor(*map(int, color)) for color in table]

    def _paint_cells(self, painter: QPainter, picture: SmallPicture) -> None:
        scale = signed_indices if self._colors == "signed" else quantize
        indices, table = scale(picture.values, picture.top), self._table()
        for row, column in np.ndindex(indices.shape):
            painter.fillRect(self.cell_rect(row, column), table[indices[row, column]])
        painter.setPen(self._theme.color("border"))
        painter.drawRect(self._area())

    def _paint_labels(self, painter: QPainter, picture: SmallPicture) -> None:
        font, area = self._font(), self._area()
        metrics = QFontMetrics(font)
        painter.setFont(font)
        cell = self.cell_rect(0, 0)
        lit_row, lit_column = ([self._lit[0]], [self._lit[1]]) if self._lit else ([], [])
        step = max(1, -int(-metrics.height() * 0.86 // cell.height()))
        for row in thinned(len(picture.rows), step, lit_row):
            self._choose_pen(painter, picture.rows.labels[row], is_lit=row in lit_row)
            place = QRectF(0, self.cell_rect(row, 0).center().y() - 10, area.left() - GAP, 20)
            text = metrics.elidedText(picture.rows.labels[row], Qt.TextElideMode.ElideRight, int(place.width()))
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        step = max(1, -int(-metrics.height() * 0.95 / COLUMN_SINE // cell.width()))
        room = self._label_room(picture.columns)
        for column in thinned(len(picture.columns), step, lit_column):
            self._choose_pen(painter, picture.columns.labels[column], is_lit=column in lit_column)
            painter.save()
            painter.translate(self.cell_rect(0, column).center().x(), area.top() - GAP)
            painter.rotate(COLUMN_ANGLE)
            text = metrics.elidedText(picture.columns.labels[column], Qt.TextElideMode.ElideRight, room)
            painter.drawText(QRectF(0, -10, room + 2, 20), Qt.AlignmentFlag.AlignVCenter, text)
            painter.restore()

    def _choose_pen(self, painter: QPainter, text: str, *, is_lit: bool) -> None:
        is_special = text.startswith("<") and text.endswith(">")
        painter.setPen(self._theme.color("accent" if is_lit else "muted" if is_special else "text"))

    def _paint_legend(self, painter: QPainter, top: float) -> None:
        area, table = self._area(), self._table()
        bar = QRectF(area.left(), area.bottom() + 8, area.width(), LEGEND_BAR)
        steps = range(0, len(table), 3)
        for index in steps:
            left = bar.left() + bar.width() * index / len(table)
            painter.fillRect(QRectF(left, bar.top(), bar.width() * 3 / len(table) + 0.5, LEGEND_BAR), table[index])
        painter.setPen(self._theme.color("muted"))
        painter.setFont(self._theme.font("small"))
        words = QRectF(area.left() - 8, bar.bottom(), area.width() + 16, 16)
        flags, middle = Qt.AlignmentFlag, Qt.AlignmentFlag.AlignVCenter
        if self._colors == "weights":
            painter.drawText(words, flags.AlignLeft | middle, "0")
            painter.drawText(words, flags.AlignRight | middle, f"{top:.2f}")
            return
        painter.drawText(words, flags.AlignLeft | middle, f"−{top:.2f} {self.ends[0]}")
        painter.drawText(words, flags.AlignHCenter | middle, "0")
        painter.drawText(words, flags.AlignRight | middle, f"{self.ends[1]} +{top:.2f}")

    def _font(self) -> QFont:
        font = QFont(self._theme.font("small"))
        font.setPixelSize(max(MIN_FONT_PX, min(font.pixelSize(), int(self._cell_height() * 0.95))))
        return font

    def _cell_height(self) -> float:
        least, largest, whole = self._room
        return max(least, min(largest, whole / len(self.picture.rows))) if self.picture else 0.0

    def _label_room(self, axis: Axis) -> int:
        metrics = QFontMetrics(self._font())
        return min(MAX_LABEL, max(map(metrics.horizontalAdvance, axis.labels), default=0) + 2)

    def _top(self) -> float:
        assert self.picture is not None
        return self._label_room(self.picture.columns) * COLUMN_SINE + QFontMetrics(self._font()).height() * 0.6 + GAP

    def _area(self) -> QRectF:
        """Of all cells."""
        if self.picture is None:
            return QRectF()
        left = self._label_room(self.picture.rows) + GAP
        right = max(8.0, self._label_room(self.picture.columns) * COLUMN_COSINE)
        width = max(20.0, self.width() - left - right)
        return QRectF(left, self._top(), width, len(self.picture.rows) * self._cell_height())
