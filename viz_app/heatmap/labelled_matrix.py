"""Matrices of numbers with labels, one below the other, and a legend of their colours."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from augenmerk.core.translation.result import FloatArray
from augenmerk.viz_app.heatmap.drawing import color_table
from augenmerk.viz_app.heatmap.heatmap import COLUMN_ANGLE, COLUMN_COSINE, COLUMN_SINE, thinned
from augenmerk.viz_app.theme import Theme, current_theme, is_theme_change, scaled

MAX_LABEL, GAP, TITLE_HEIGHT, LEGEND_HEIGHT, LEGEND_BAR = 72, 5, 20, 30, 6
MIN_FONT_PX = 10
MIN_WIDTH = 130
"""Two stand side by side in a narrow Analysis panel."""


@dataclass(frozen=True)
class MatrixCell:
    """A cell of one of the matrices, all counted from 0."""

    matrix: int
    row: int
    column: int


@dataclass(frozen=True, eq=False)
class Matrix:
    """What is drawn.

    Attributes:
        values: [rows, columns]; where it is not a number there is no cell.
        row_labels, column_labels: one for each.
        title: above it; empty for none.
    """

    values: FloatArray
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    title: str = ""


@dataclass(frozen=True)
class MatrixStyle:
    """How it is drawn.

    Attributes:
        colors: from 0 up to a largest value, or on both sides of 0.
        cell_heights: the least and the largest, in pixels.
        aimed_height: of all cells of a matrix together, in pixels; cells are as high as this and `cell_heights` say.
        has_slanted_columns: whether labels of columns are words, which stand aslant; else they are short.
        cell_text: what stands in a cell; None for nothing. It is left out where it does not fit, and
            everywhere if it does not in most cells.
        is_clickable: whether the mouse pointer shows that a click on a cell does something.
        legend: what stands below the colours, at the left end, the middle and the right end, for the last colour's
            value.
    """

    colors: Literal["sequential", "signed"]
    cell_heights: tuple[int, int]
    aimed_height: int
    has_slanted_columns: bool = True
    cell_text: Callable[[float], str] | None = None
    is_clickable: bool = False
    legend: Callable[[float], tuple[str, str, str]] = lambda top: ("0", "", f"{top:.2f}")


class MatrixLayout:
    """Where matrices stand in a widget of this width: one below the other, all as wide as there is room.

    Attributes:
        matrices: at least one.
        style: how they are drawn.
        width: in pixels.
        theme: for its fonts.
    """

    def __init__(self, matrices: tuple[Matrix, ...], style: MatrixStyle, width: int, theme: Theme) -> None:
        self.matrices, self.style, self.width, self.theme = matrices, style, width, theme
        self.areas = self._lay_out()

    def cell_rect(self, cell: MatrixCell) -> QRectF:
        """Where a cell is drawn."""
        area, matrix = self.areas[cell.matrix], self.matrices[cell.matrix]
        width, height = area.width() / max(1, len(matrix.column_labels)), area.height() / max(1, len(matrix.row_labels))
        return QRectF(area.left() + cell.column * width, area.top() + cell.row * height, width, height)

    def cell_at(self, point: QPointF) -> MatrixCell | None:
        """The cell under a point."""
        for index, matrix in enumerate(self.matrices):
            area = self.areas[index]
            if not area.contains(point) or not matrix.values.size:
                continue
            row = int((point.y() - area.top()) / self._cell_height(matrix))
            column = int((point.x() - area.left()) / (area.width() / len(matrix.column_labels)))
            cell = MatrixCell(index, min(row, len(matrix.row_labels) - 1), min(column, len(matrix.column_labels) - 1))
            return None if np.isnan(matrix.values[cell.row, cell.column]) else cell
        return None

    def font(self, matrix: Matrix) -> QFont:
        """Of labels and of what stands in cells: smaller where cells are low."""
        font = QFont(self.theme.font("small"))
        font.setPixelSize(
            max(self.theme.scaled(MIN_FONT_PX), min(font.pixelSize(), int(self._cell_height(matrix) * 0.95)))
        )
        return font

    def _cell_height(self, matrix: Matrix) -> float:
        least, largest = self.style.cell_heights
        return self.theme.scaled(
            max(float(least), min(largest, self.style.aimed_height / max(1, len(matrix.row_labels))))
        )

    def label_width(self, matrix: Matrix, labels: Sequence[str]) -> int:
        """Of the widest of these labels, if that is not too wide."""
        metrics = QFontMetrics(self.font(matrix))
        return min(self.theme.scaled(MAX_LABEL), max(map(metrics.horizontalAdvance, labels), default=0) + 2)

    def _header_height(self, matrix: Matrix) -> float:
        """Of title and column labels."""
        title = self.theme.scaled(TITLE_HEIGHT) if matrix.title else 0
        line = QFontMetrics(self.font(matrix)).height()
        if not self.style.has_slanted_columns:
            return title + line + 2
        return title + self.label_width(matrix, matrix.column_labels) * COLUMN_SINE + line * 0.6 + GAP

    def block_top(self, index: int) -> float:
        """Where a matrix begins, its title included."""
        return sum(
            self._header_height(matrix) + len(matrix.row_labels) * self._cell_height(matrix) + GAP
            for matrix in self.matrices[:index]
        )

    def content_height(self) -> int:
        """Of all matrices and the legend."""
        return round(self.block_top(len(self.matrices)) + self.theme.scaled(LEGEND_HEIGHT))

    def _lay_out(self) -> tuple[QRectF, ...]:
        """The areas of all matrices. All begin and end at the same places of the line."""
        left = max(self.label_width(matrix, matrix.row_labels) for matrix in self.matrices) + GAP
        right = 8.0
        if self.style.has_slanted_columns:
            right = max(right, *(self.label_width(each, each.column_labels) * COLUMN_COSINE for each in self.matrices))
        width = max(20.0, self.width - left - right)
        return tuple(
            QRectF(
                left,
                self.block_top(index) + self._header_height(matrix),
                width,
                len(matrix.row_labels) * self._cell_height(matrix),
            )
            for index, matrix in enumerate(self.matrices)
        )


@dataclass
class MatrixPainter:
    """Paints matrices.

    Attributes:
        layout: what stands where.
        top: the value of the last colour.
        framed, struck: cells that are marked.
        hovered: the cell under the mouse.
    """

    layout: MatrixLayout
    top: float
    framed: frozenset[MatrixCell]
    struck: frozenset[MatrixCell]
    hovered: MatrixCell | None

    def paint(self, painter: QPainter) -> None:
        """Titles, cells, labels, legend."""
        colors = color_table(is_dark=self.layout.theme.is_dark, is_signed=self.layout.style.colors == "signed")
        table = [QColor(*color) for color in colors.rgb.tolist()]
        for index, matrix in enumerate(self.layout.matrices):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            self._paint_cells(painter, index, table, colors.indices(matrix.values, self.top))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_labels(painter, index, matrix)
        self._paint_marks(painter)
        self._paint_legend(painter, table)

    def _paint_cells(self, painter: QPainter, index: int, table: Sequence[QColor], indices: NDArray[np.intp]) -> None:
        matrix = self.layout.matrices[index]
        painter.setFont(self.layout.font(matrix))
        texts = self._texts_that_fit(matrix, self.layout.cell_rect(MatrixCell(index, 0, 0)), painter.font())
        for row, column in np.ndindex(indices.shape):
            if np.isnan(matrix.values[row, column]):
                continue
            rect, color = self.layout.cell_rect(MatrixCell(index, row, column)), table[int(indices[row, column])]
            painter.fillRect(rect, color)
            if text := texts.get((row, column)):
                painter.setPen(QColor("#111111") if color.lightnessF() > 0.5 else QColor("#ffffff"))
                painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(self.layout.theme.color("border"))
        painter.drawRect(self.layout.areas[index])

    def _texts_that_fit(self, matrix: Matrix, cell: QRectF, font: QFont) -> dict[tuple[int, ...], str]:
        """The texts of cells, by row and column; none where most do not fit: a few would look like all there is."""
        cell_text, metrics = self.layout.style.cell_text, QFontMetrics(font)
        if cell_text is None or metrics.height() > cell.height():
            return {}
        texts = {
            place: cell_text(float(value)) for place, value in np.ndenumerate(matrix.values) if not np.isnan(value)
        }
        fitting = {place: text for place, text in texts.items() if metrics.horizontalAdvance(text) + 4 <= cell.width()}
        return fitting if 2 * len(fitting) > len(texts) else {}

    def _paint_labels(self, painter: QPainter, index: int, matrix: Matrix) -> None:
        theme, area = self.layout.theme, self.layout.areas[index]
        if matrix.title:
            painter.setFont(theme.font("small", bold=True))
            painter.setPen(theme.color("text"))
            title = QRectF(0, self.layout.block_top(index), self.layout.width, theme.scaled(TITLE_HEIGHT))
            painter.drawText(title, Qt.AlignmentFlag.AlignVCenter, matrix.title)
        painter.setFont(self.layout.font(matrix))
        metrics = QFontMetrics(painter.font())
        marked = {cell for cell in (*self.framed, self.hovered) if cell is not None and cell.matrix == index}
        rows, columns = sorted({cell.row for cell in marked}), sorted({cell.column for cell in marked})
        cell_rect = self.layout.cell_rect(MatrixCell(index, 0, 0))
        step = max(1, -int(-metrics.height() * 0.86 // cell_rect.height()))
        for row in thinned(len(matrix.row_labels), step, rows):
            self._choose_pen(painter, matrix.row_labels[row], is_marked=row in rows)
            middle = self.layout.cell_rect(MatrixCell(index, row, 0)).center().y()
            half = theme.scaled(10)
            place = QRectF(0, middle - half, area.left() - GAP, 2 * half)
            text = metrics.elidedText(matrix.row_labels[row], Qt.TextElideMode.ElideRight, int(place.width()))
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        if self.layout.style.has_slanted_columns:
            self._paint_slanted(painter, index, matrix, columns)
            return
        widest = max(map(metrics.horizontalAdvance, matrix.column_labels), default=1) + 4
        for column in thinned(len(matrix.column_labels), max(1, -int(-widest // cell_rect.width())), columns):
            self._choose_pen(painter, matrix.column_labels[column], is_marked=column in columns)
            middle = self.layout.cell_rect(MatrixCell(index, 0, column)).center().x()
            place = QRectF(middle - widest, area.top() - metrics.height() - 1, 2 * widest, metrics.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, matrix.column_labels[column])

    def _paint_slanted(self, painter: QPainter, index: int, matrix: Matrix, marked: Sequence[int]) -> None:
        metrics, area = QFontMetrics(painter.font()), self.layout.areas[index]
        width = self.layout.cell_rect(MatrixCell(index, 0, 0)).width()
        longest = self.layout.label_width(matrix, matrix.column_labels)
        for column in thinned(
            len(matrix.column_labels), max(1, -int(-metrics.height() * 0.95 / COLUMN_SINE // width)), list(marked)
        ):
            self._choose_pen(painter, matrix.column_labels[column], is_marked=column in marked)
            painter.save()
            painter.translate(self.layout.cell_rect(MatrixCell(index, 0, column)).center().x(), area.top() - GAP)
            painter.rotate(COLUMN_ANGLE)
            text = metrics.elidedText(matrix.column_labels[column], Qt.TextElideMode.ElideRight, longest)
            half = self.layout.theme.scaled(10)
            painter.drawText(QRectF(0, -half, longest + 2, 2 * half), Qt.AlignmentFlag.AlignVCenter, text)
            painter.restore()

    def _paint_marks(self, painter: QPainter) -> None:
        theme = self.layout.theme
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color("text"), 2))
        for cell in self.struck:
            rect = self.layout.cell_rect(cell)
            painter.drawLine(rect.topLeft(), rect.bottomRight())
        painter.setPen(QPen(theme.color("accent"), 2))
        for cell in {*self.framed, *([self.hovered] if self.hovered is not None else [])}:
            painter.drawRect(self.layout.cell_rect(cell))

    def _paint_legend(self, painter: QPainter, table: Sequence[QColor]) -> None:
        last = self.layout.areas[-1]
        bar = QRectF(last.left(), last.bottom() + 8, last.width(), LEGEND_BAR)
        for index in range(0, len(table), 3):
            left = bar.left() + bar.width() * index / len(table)
            painter.fillRect(QRectF(left, bar.top(), bar.width() * 3 / len(table) + 0.5, LEGEND_BAR), table[index])
        painter.setPen(self.layout.theme.color("muted"))
        painter.setFont(self.layout.theme.font("small"))
        place = QRectF(last.left() - 8, bar.bottom(), last.width() + 16, self.layout.theme.scaled(16))
        sides = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignRight)
        for side, text in zip(sides, self.layout.style.legend(self.top), strict=True):
            painter.drawText(place, side | Qt.AlignmentFlag.AlignVCenter, text)

    def _choose_pen(self, painter: QPainter, text: str, *, is_marked: bool) -> None:
        is_special = text.startswith("<") and text.endswith(">")
        painter.setPen(self.layout.theme.color("accent" if is_marked else "muted" if is_special else "text"))


class LabelledMatrix(QWidget):
    """Draws matrices as wide as there is room; the height depends on the number of rows alone.

    Attributes:
        matrices: what is drawn; empty before the first.
        top: the value of the last colour; of signed ones, on both sides of 0.
        hovered_cell: the cell under the mouse; None if there is none.
        tip_of: the tool tip of a cell; None for no tips.

    Signals:
        hovered(MatrixCell | None): another cell is under the mouse, or none.
        clicked(MatrixCell)
    """

    hovered = Signal(object)
    clicked = Signal(object)

    def __init__(self, name: str, style: MatrixStyle, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._style = style
        self.matrices: tuple[Matrix, ...] = ()
        self.top = 1.0
        self.hovered_cell: MatrixCell | None = None
        self.tip_of: Callable[[MatrixCell], str] | None = None
        self._framed: frozenset[MatrixCell] = frozenset()
        self._struck: frozenset[MatrixCell] = frozenset()
        self._layout: MatrixLayout | None = None
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)

    def show_matrices(self, matrices: Sequence[Matrix], top: float) -> None:
        """Draws other numbers; nothing is framed or struck out. What is under the mouse stays so if it still exists."""
        self.matrices, self.top, self._layout = tuple(matrices), top, None
        self._framed = self._struck = frozenset()
        if self.hovered_cell is not None and not self.has_cell(self.hovered_cell):
            self.hovered_cell = None
        self.setFixedHeight(self._content_height())
        self.update()

    def set_heights(self, aimed_height: int, largest_cell: int) -> None:
        """Another height of all cells together, and of the largest cell; see `MatrixStyle`."""
        least = self._style.cell_heights[0]
        style = replace(self._style, aimed_height=aimed_height, cell_heights=(least, max(least, largest_cell)))
        if style != self._style:
            self._style, self._layout = style, None
            self.setFixedHeight(self._content_height())
            self.update()

    def mark(self, framed: Collection[MatrixCell] = (), struck: Collection[MatrixCell] = ()) -> None:
        """Frames these cells, and strikes those out; no others."""
        if (frozenset(framed), frozenset(struck)) != (self._framed, self._struck):
            self._framed, self._struck = frozenset(framed), frozenset(struck)
            self.update()

    def has_cell(self, cell: MatrixCell) -> bool:
        """Whether there is such a cell."""
        if cell.matrix >= len(self.matrices):
            return False
        num_rows, num_columns = self.matrices[cell.matrix].values.shape
        return cell.row < num_rows and cell.column < num_columns

    def cell_rect(self, cell: MatrixCell) -> QRectF:
        """Where a cell is drawn."""
        layout = self._layout_now()
        assert layout is not None
        return layout.cell_rect(cell)

    def cell_at(self, point: QPointF) -> MatrixCell | None:
        """The cell under a point."""
        layout = self._layout_now()
        return layout.cell_at(point) if layout is not None else None

    def sizeHint(self) -> QSize:
        """As high as all rows need."""
        return QSize(300, self._content_height())

    def minimumSizeHint(self) -> QSize:
        """As narrow as can be read."""
        return QSize(scaled(MIN_WIDTH), 1)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The cell under the mouse is told."""
        self._hover(self.cell_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        """No cell is under the mouse."""
        self._hover(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on a cell is told."""
        cell = self.cell_at(event.position())
        if cell is not None and event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(cell)

    def event(self, event: QEvent) -> bool:
        """Each cell has a tip of its own."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self.tip_of is not None:
            cell = self.cell_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), self.tip_of(cell) if cell is not None else "", self)
            return True
        return super().event(event)

    def changeEvent(self, event: QEvent) -> None:
        """Another font has other heights."""
        super().changeEvent(event)
        if is_theme_change(event):
            self._layout = None
            self.setFixedHeight(self._content_height())
            self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cells are as wide as there is room."""
        super().resizeEvent(event)
        self._layout = None

    def paintEvent(self, event: QPaintEvent) -> None:
        """Titles, cells, labels, legend."""
        layout = self._layout_now()
        if layout is not None:
            MatrixPainter(layout, self.top, self._framed, self._struck, self.hovered_cell).paint(QPainter(self))

    def _hover(self, cell: MatrixCell | None) -> None:
        if cell == self.hovered_cell:
            return
        self.hovered_cell = cell
        if self._style.is_clickable:
            self.setCursor(Qt.CursorShape.PointingHandCursor if cell is not None else Qt.CursorShape.ArrowCursor)
        self.update()
        self.hovered.emit(cell)

    def _layout_now(self) -> MatrixLayout | None:
        """None while there is nothing to draw."""
        if self._layout is None and self.matrices:
            self._layout = MatrixLayout(self.matrices, self._style, self.width(), current_theme())
        return self._layout

    def _content_height(self) -> int:
        layout = self._layout_now()
        return layout.content_height() if layout is not None else 1
