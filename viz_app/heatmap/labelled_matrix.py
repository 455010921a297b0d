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
from augenmerk.viz_app.heatmap.heatmap import COLUMN_ANGLE, COLUMN_COSINE, COLUMN_SINE, label_step, thinned
from augenmerk.viz_app.theme import Theme, current_theme, is_theme_change, scaled

MAX_LABEL, GAP, TITLE_HEIGHT, LEGEND_HEIGHT, LEGEND_BAR = 72, 5, 20, 30, 6
MIN_FONT_PX, LEAST_LETTERS = 10, 3
MIN_WIDTH = 130
"""Two fit next to each other in a narrow Analysis panel."""


@dataclass(frozen=True)
class MatrixCell:
    """A cell of one of the matrices, all counted from 0."""

    matrix: int
    row: int
    column: int


@dataclass(frozen=True, eq=False)
class Matrix:
    """One matrix.

    Attributes:
        values: [rows, columns]; NaN: there is no cell.
        row_labels, column_labels: one for each.
        title: above it; empty for none.
        texts: in the cells, row by row, shortened where they do not fit; None for those of the style.
    """

    values: FloatArray
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    title: str = ""
    texts: tuple[tuple[str, ...], ...] | None = None


@dataclass(frozen=True)
class MatrixStyle:
    """The look of matrices.

    Attributes:
        colors: from 0 up to a largest value, or on both sides of 0.
        cell_heights: the least and the largest, in pixels.
        aimed_height: of all cells of a matrix together, in pixels; `cell_heights` limits each cell.
        has_slanted_columns: whether labels of columns are words, which are slanted; else they are short.
        cell_text: the text in a cell; None for nothing. It is left out where it does not fit, and
            everywhere if it does not in most cells.
        is_clickable: whether the mouse pointer shows that a click on a cell does something.
        legend: the texts below the colours, at the left end, the middle and the right end, for the last colour's
            value; None for no legend.
    """

    colors: Literal["sequential", "signed"]
    cell_heights: tuple[int, int]
    aimed_height: int
    has_slanted_columns: bool = True
    cell_text: Callable[[float], str] | None = None
    is_clickable: bool = False
    legend: Callable[[float], tuple[str, str, str]] | None = lambda top: ("0", "", f"{top:.2f}")


class MatrixPicture:
    """Matrices in a widget of this width: one below the other, all as wide as there is room. Cells without a value are
    left out.

    Attributes:
        matrices: at least one.
        style: their look.
        width: in pixels.
        theme: for its fonts.
    """

    def __init__(self, matrices: tuple[Matrix, ...], style: MatrixStyle, width: int, theme: Theme) -> None:
        self.matrices, self.style, self.width, self.theme = matrices, style, width, theme
        self.areas = self._lay_out()

    def cell_rect(self, cell: MatrixCell) -> QRectF:
        """The place of a cell."""
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

    def label_at(self, point: QPointF) -> MatrixCell | None:
        """The label under a point: of a row (column −1) or of a column (row −1)."""
        for index, matrix in enumerate(self.matrices):
            area, num_columns = self.areas[index], len(matrix.column_labels)
            if area.top() <= point.y() < area.bottom() and point.x() < area.left():
                return MatrixCell(index, int((point.y() - area.top()) / self._cell_height(matrix)), -1)
            height = area.top() - point.y()
            slant = height * COLUMN_COSINE / COLUMN_SINE if self.style.has_slanted_columns else 0.0
            column = (point.x() - slant - area.left()) * num_columns / max(1.0, area.width())
            if 0 < height <= self._header_height(matrix) - self._title_height(matrix) and 0 <= column < num_columns:
                return MatrixCell(index, -1, int(column))
        return None

    def font(self, matrix: Matrix) -> QFont:
        """The font of labels and of texts in cells: smaller in low cells."""
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

    def _title_height(self, matrix: Matrix) -> float:
        return self.theme.scaled(TITLE_HEIGHT) if matrix.title else 0

    def _header_height(self, matrix: Matrix) -> float:
        """Of title and column labels."""
        title = self._title_height(matrix)
        line = QFontMetrics(self.font(matrix)).height()
        if not self.style.has_slanted_columns:
            return title + line + 2
        return title + self.label_width(matrix, matrix.column_labels) * COLUMN_SINE + line * 0.6 + GAP

    def block_top(self, index: int) -> float:
        """The upper edge of a matrix and its title."""
        return sum(
            self._header_height(matrix) + len(matrix.row_labels) * self._cell_height(matrix) + GAP
            for matrix in self.matrices[:index]
        )

    def content_height(self) -> int:
        """Of all matrices and the legend."""
        legend = self.theme.scaled(LEGEND_HEIGHT) if self.style.legend is not None else 0
        return round(self.block_top(len(self.matrices)) + legend)

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

    def paint(
        self, painter: QPainter, top: float, framed: Collection[MatrixCell], struck: Collection[MatrixCell]
    ) -> None:
        """Paints titles, cells, labels and the legend; `top` is the value of the last colour."""
        colors = color_table(is_dark=self.theme.is_dark, is_signed=self.style.colors == "signed")
        table = [QColor(*color) for color in colors.rgb.tolist()]
        for index, matrix in enumerate(self.matrices):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            self._paint_cells(painter, index, table, colors.indices(matrix.values, top))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_labels(painter, index, [cell for cell in framed if cell.matrix == index])
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.theme.color("text"), 2))
        for rect in map(self.cell_rect, struck):
            painter.drawLine(rect.topLeft(), rect.bottomRight())
        painter.setPen(QPen(self.theme.color("accent"), 2))
        painter.drawRects([self.cell_rect(cell) for cell in framed])
        if self.style.legend is not None:
            self._paint_legend(painter, table, self.style.legend(top))

    def _paint_cells(self, painter: QPainter, index: int, table: Sequence[QColor], indices: NDArray[np.intp]) -> None:
        matrix = self.matrices[index]
        painter.setFont(self.font(matrix))
        texts = self._texts_that_fit(matrix, self.cell_rect(MatrixCell(index, 0, 0)), painter.fontMetrics())
        for row, column in np.argwhere(~np.isnan(matrix.values)).tolist():
            rect, color = self.cell_rect(MatrixCell(index, row, column)), table[int(indices[row, column])]
            painter.fillRect(rect, color)
            if text := texts.get((row, column)):
                painter.setPen(QColor("#111111") if color.lightnessF() > 0.5 else QColor("#ffffff"))
                painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(self.theme.color("border"))
        painter.drawRect(self.areas[index])

    def _texts_that_fit(self, matrix: Matrix, cell: QRectF, metrics: QFontMetrics) -> dict[tuple[int, ...], str]:
        """The texts of cells, by row and column; none if most do not fit: a few would look like all there is."""
        cell_text, width = self.style.cell_text, int(cell.width()) - 2
        if metrics.height() > cell.height() or (cell_text is None and matrix.texts is None):
            return {}
        if matrix.texts is not None:
            if width < LEAST_LETTERS * metrics.averageCharWidth():
                return {}
            return {
                (row, column): metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
                for row, texts in enumerate(matrix.texts)
                for column, text in enumerate(texts)
            }
        assert cell_text is not None
        texts = {
            place: cell_text(float(value)) for place, value in np.ndenumerate(matrix.values) if not np.isnan(value)
        }
        fitting = {place: text for place, text in texts.items() if metrics.horizontalAdvance(text) + 4 <= cell.width()}
        return fitting if 2 * len(fitting) > len(texts) else {}

    def _paint_labels(self, painter: QPainter, index: int, framed: Sequence[MatrixCell]) -> None:
        theme, area, matrix = self.theme, self.areas[index], self.matrices[index]
        if matrix.title:
            painter.setFont(theme.font("small", bold=True))
            painter.setPen(theme.color("text"))
            title = QRectF(0, self.block_top(index), self.width, theme.scaled(TITLE_HEIGHT))
            painter.drawText(title, Qt.AlignmentFlag.AlignVCenter, matrix.title)
        painter.setFont(self.font(matrix))
        metrics, half, cell = painter.fontMetrics(), theme.scaled(10), self.cell_rect(MatrixCell(index, 0, 0))
        middle, right = Qt.AlignmentFlag.AlignVCenter, Qt.AlignmentFlag.AlignRight
        rows, columns = sorted({cell.row for cell in framed}), sorted({cell.column for cell in framed})
        for row in thinned(len(matrix.row_labels), label_step(metrics.height() * 0.86, cell.height()), rows):
            self._choose_pen(painter, matrix.row_labels[row], is_marked=row in rows)
            y = self.cell_rect(MatrixCell(index, row, 0)).center().y()
            place = QRectF(0, y - half, area.left() - GAP, 2 * half)
            text = metrics.elidedText(matrix.row_labels[row], Qt.TextElideMode.ElideRight, int(place.width()))
            painter.drawText(place, right | middle, text)
        is_slanted, longest = self.style.has_slanted_columns, self.label_width(matrix, matrix.column_labels)
        widest = max(map(metrics.horizontalAdvance, matrix.column_labels), default=1) + 4
        needed = metrics.height() * 0.95 / COLUMN_SINE if is_slanted else widest
        for column in thinned(len(matrix.column_labels), label_step(needed, cell.width()), columns):
            label = matrix.column_labels[column]
            self._choose_pen(painter, label, is_marked=column in columns)
            x = self.cell_rect(MatrixCell(index, 0, column)).center().x()
            if not is_slanted:
                place = QRectF(x - widest, area.top() - metrics.height() - 1, 2 * widest, metrics.height())
                painter.drawText(place, Qt.AlignmentFlag.AlignCenter, label)
                continue
            painter.save()
            painter.translate(x, area.top() - GAP)
            painter.rotate(COLUMN_ANGLE)
            text = metrics.elidedText(label, Qt.TextElideMode.ElideRight, longest)
            painter.drawText(QRectF(0, -half, longest + 2, 2 * half), middle, text)
            painter.restore()

    def _paint_legend(self, painter: QPainter, table: Sequence[QColor], texts: tuple[str, str, str]) -> None:
        last = self.areas[-1]
        bar = QRectF(last.left(), last.bottom() + 8, last.width(), LEGEND_BAR)
        for index in range(0, len(table), 3):
            left = bar.left() + bar.width() * index / len(table)
            painter.fillRect(QRectF(left, bar.top(), bar.width() * 3 / len(table) + 0.5, LEGEND_BAR), table[index])
        painter.setPen(self.theme.color("muted"))
        painter.setFont(self.theme.font("small"))
        place = QRectF(last.left() - 8, bar.bottom(), last.width() + 16, self.theme.scaled(16))
        sides = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignRight)
        for side, text in zip(sides, texts, strict=True):
            painter.drawText(place, side | Qt.AlignmentFlag.AlignVCenter, text)

    def _choose_pen(self, painter: QPainter, text: str, *, is_marked: bool) -> None:
        is_special = text.startswith("<") and text.endswith(">")
        painter.setPen(self.theme.color("accent" if is_marked else "muted" if is_special else "text"))


class LabelledMatrix(QWidget):
    """Draws matrices as wide as there is room; the height depends on the number of rows alone.

    Attributes:
        matrices: those drawn; empty before the first.
        top: the value of the last colour; of signed ones, on both sides of 0.
        hovered_cell: the cell under the mouse; None if there is none.
        tip_of: the tool tip of a cell; None for no tips.

    Signals:
        hovered(MatrixCell | None): another cell is under the mouse, or none.
        clicked(MatrixCell)
        label_clicked(MatrixCell): see `MatrixPicture.label_at`.
    """

    hovered = Signal(object)
    clicked = Signal(object)
    label_clicked = Signal(object)

    def __init__(self, name: str, style: MatrixStyle, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._style = style
        self.matrices: tuple[Matrix, ...] = ()
        self.top = 1.0
        self.hovered_cell: MatrixCell | None = None
        self.tip_of: Callable[[MatrixCell], str] | None = None
        self._framed: frozenset[MatrixCell] = frozenset()
        self._struck: frozenset[MatrixCell] = frozenset()
        self._layout: MatrixPicture | None = None
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)

    def show_matrices(self, matrices: Sequence[Matrix], top: float) -> None:
        """Draws other numbers; nothing is framed or struck out. A hovered cell stays hovered if it still exists."""
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
        """The place of a cell."""
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
        """Reports the cell under the mouse."""
        self._hover(self.cell_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        """No cell is under the mouse."""
        self._hover(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Reports a click on a cell or a label."""
        layout = self._layout_now()
        if layout is None or event.button() != Qt.MouseButton.LeftButton:
            return
        if (cell := layout.cell_at(event.position())) is not None:
            self.clicked.emit(cell)
        elif (label := layout.label_at(event.position())) is not None:
            self.label_clicked.emit(label)

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
            hovered = set() if self.hovered_cell is None else {self.hovered_cell}
            layout.paint(QPainter(self), self.top, self._framed | hovered, self._struck)

    def _hover(self, cell: MatrixCell | None) -> None:
        if cell == self.hovered_cell:
            return
        self.hovered_cell = cell
        if self._style.is_clickable:
            self.setCursor(Qt.CursorShape.PointingHandCursor if cell is not None else Qt.CursorShape.ArrowCursor)
        self.update()
        self.hovered.emit(cell)

    def _layout_now(self) -> MatrixPicture | None:
        """None while there is nothing to draw."""
        if self._layout is None and self.matrices:
            self._layout = MatrixPicture(self.matrices, self._style, self.width(), current_theme())
        return self._layout

    def _content_height(self) -> int:
        layout = self._layout_now()
        return layout.content_height() if layout is not None else 1
