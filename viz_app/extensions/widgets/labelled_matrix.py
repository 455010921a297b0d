"""Matrices of numbers with labels, one below the other, and a legend of their colours."""

import itertools
import math
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip

from augenmerk.core.translation.result import FloatArray

from ...heatmap.heatmap import ink_height, label_step, row_height, thinned
from ...state.color_scale import color_table, ink_on
from ...theme import Theme, current_theme, scaled
from ...widgets.canvas import Canvas
from ...widgets.commands import Command, run_by_key

COLUMN_ANGLE = -55
COLUMN_SINE, COLUMN_COSINE = 0.8192, 0.5736
GAP, TITLE_HEIGHT, LEGEND_GAP, LEGEND_BAR, LEGEND_TEXT = 5, 20, 8, 6, 16
MAX_LABEL, MAX_SLANTED, MAX_LABEL_SHARE = 72, 96, 0.3
"""The room of the labels of rows, at least: in wide matrices, it is a share of the width; of
slanted labels.
"""
MAX_TEXT = 110
TEXT_MARGIN = 3
RIGHT = 8.0
LEAST_LETTERS = 3
MOST = 0.8
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
        row_labels: one for each row.
        column_labels: one for each column.
        title: above it; empty for none.
        texts: in the cells, row by row, shortened where they do not fit; None for those of the
            style.
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
        slanted_limit: the largest length of slanted labels, in pixels.
        has_slanted_columns: whether labels of columns are slanted; else they wrap, or slant if a
            word is too wide.
        fits_texts: whether columns are as wide as their texts and labels, which break at hyphens
            and spaces; the matrix can become wider than its place. Not in a presentation, where
            texts are shortened instead.
        cell_text: the text in a cell; None for nothing. It is left out where it does not fit, and
            everywhere if it does not in most cells.
        is_clickable: whether the mouse pointer shows that a click on a cell does something.
        legend: the texts below the colours, at the left end, the middle and the right end, for the
            last colour's value; None for no legend.
    """

    colors: Literal["sequential", "signed"]
    cell_heights: tuple[int, int]
    aimed_height: int
    slanted_limit: int = MAX_SLANTED
    has_slanted_columns: bool = True
    fits_texts: bool = False
    cell_text: Callable[[float], str] | None = None
    is_clickable: bool = False
    legend: Callable[[float], tuple[str, str, str]] | None = lambda top: ("0", "", f"{top:.2f}")


class MatrixLayout:
    """Matrices in a widget of this width: one below the other, all as wide as there is room. Cells
    without a value are left out.

    Attributes:
        matrices: at least one.
        style: their look.
        width: in pixels.
        theme: for its fonts.
        fits_texts: see `MatrixStyle`.
        is_slanted: whether the labels of columns are.
        areas: the rectangle of the cells of each matrix.
        edges: the left and right ends of its columns.
        needed_width: in pixels, with room for all texts in cells.
    """

    def __init__(
        self, matrices: tuple[Matrix, ...], style: MatrixStyle, width: int, theme: Theme
    ) -> None:
        self.matrices, self.style, self.width, self.theme = matrices, style, width, theme
        self.metrics = QFontMetrics(theme.font("body"))
        self.fits_texts = style.fits_texts and not theme.is_presented
        self.is_slanted = style.has_slanted_columns or any(
            _has_wide_words(self, matrix) for matrix in matrices
        )
        self._lay_out()

    def cell_rect(self, cell: MatrixCell) -> QRectF:
        """The place of a cell."""
        area = self.areas[cell.matrix]
        matrix = self.matrices[cell.matrix]
        edges = self.edges[cell.matrix]
        height = area.height() / max(1, len(matrix.row_labels))
        left, right = (
            edges[cell.column : cell.column + 2]
            if matrix.column_labels
            else (area.left(), area.right())
        )
        return QRectF(left, area.top() + cell.row * height, right - left, height)

    def cell_at(self, point: QPointF) -> MatrixCell | None:
        """The cell under a point."""
        for index, matrix in enumerate(self.matrices):
            area = self.areas[index]
            if not area.contains(point) or not matrix.values.size:
                continue
            row = int((point.y() - area.top()) / self._cell_height(matrix))
            cell = MatrixCell(
                index,
                min(row, len(matrix.row_labels) - 1),
                _column_at(self.edges[index], point.x()),
            )
            return None if np.isnan(matrix.values[cell.row, cell.column]) else cell
        return None

    def label_at(self, point: QPointF) -> MatrixCell | None:
        """The label under a point: of a row (column −1) or of a column (row −1)."""
        for index, matrix in enumerate(self.matrices):
            area = self.areas[index]
            num_columns = len(matrix.column_labels)
            if area.top() <= point.y() < area.bottom() and point.x() < area.left():
                return MatrixCell(
                    index, int((point.y() - area.top()) / self._cell_height(matrix)), -1
                )
            height = area.top() - point.y()
            slant = height * COLUMN_COSINE / COLUMN_SINE if self.is_slanted else 0.0
            x = point.x() - slant
            is_in_header = 0 < height <= self.header_height(matrix) - self._title_height(matrix)
            if is_in_header and num_columns and area.left() <= x < area.right():
                return MatrixCell(index, -1, _column_at(self.edges[index], x))
        return None

    def _cell_height(self, matrix: Matrix) -> float:
        least, largest = self.style.cell_heights
        return self.theme.scaled(
            max(
                float(least), min(largest, self.style.aimed_height / max(1, len(matrix.row_labels)))
            )
        )

    def row_step(self, matrix: Matrix) -> int:
        """Every how many rows there is room for a label."""
        return label_step(row_height(self.theme.font("body")), self._cell_height(matrix))

    def label_width(self, matrix: Matrix) -> int:
        """Of the widest label of a row, if that is not too wide."""
        limit = max(self.theme.scaled(MAX_LABEL), int(MAX_LABEL_SHARE * self.width))
        return min(limit, _widest(self.metrics, matrix.row_labels) + 2)

    def slanted_length(self, matrix: Matrix) -> int:
        """Of the longest label of a column, if that is not too long."""
        return min(
            self.theme.scaled(self.style.slanted_limit),
            _widest(self.metrics, matrix.column_labels) + 2,
        )

    def _overhang(self, matrix: Matrix, room: float) -> float:
        """The width to the right of the cells that slanted labels need, if both share this room."""
        limit = self.slanted_length(matrix)
        num_columns = len(matrix.column_labels)
        needed = [0.0]
        for column, label in enumerate(matrix.column_labels):
            right_of_middle = 1 - (column + 0.5) / num_columns  # a share of the width of all cells
            length = (
                min(limit, self.metrics.horizontalAdvance(label) + 2) * COLUMN_COSINE
                + self.metrics.ascent() / 2
            )
            needed.append((length - room * right_of_middle) / (1 - right_of_middle))
        return max(needed)

    def _title_height(self, matrix: Matrix) -> float:
        return self.theme.scaled(TITLE_HEIGHT) if matrix.title else 0

    def header_height(self, matrix: Matrix) -> float:
        """Of title and column labels."""
        title = self._title_height(matrix)
        line = self.metrics.height()
        if not self.is_slanted:
            return title + line * self.label_lines(matrix) + 2
        return title + self.slanted_length(matrix) * COLUMN_SINE + line * 0.6 + GAP

    def label_lines(self, matrix: Matrix) -> int:
        """The lines of upright labels: several if labels of several words are wider than their
        columns.
        """
        metrics = self.metrics
        wrapped = Qt.TextFlag.TextWordWrap
        if self.fits_texts:
            return max((len(_words(label)) for label in matrix.column_labels), default=1)
        column = QRect(0, 0, int(_upright_room(self, matrix)), 1000)
        heights = (
            metrics.boundingRect(column, wrapped, label).height()
            for label in matrix.column_labels
            if " " in label
        )
        return max(1, round(max(heights, default=0) / metrics.height()))

    def block_top(self, index: int) -> float:
        """The upper edge of a matrix and its title."""
        return sum(
            self.header_height(matrix) + len(matrix.row_labels) * self._cell_height(matrix) + GAP
            for matrix in self.matrices[:index]
        )

    def content_height(self) -> int:
        """Of all matrices and the legend."""
        legend = (
            LEGEND_GAP + LEGEND_BAR + self.theme.scaled(LEGEND_TEXT)
            if self.style.legend is not None
            else 0
        )
        return round(self.block_top(len(self.matrices)) + legend)

    def _lay_out(self) -> None:
        """Places all matrices. All begin and end at the same places of the line."""
        left = max(map(self.label_width, self.matrices)) + GAP
        right = RIGHT
        if self.is_slanted:
            right = max(
                right, *(self._overhang(matrix, self.width - left) for matrix in self.matrices)
            )
        needed = [self._needed_widths(matrix) for matrix in self.matrices]
        self.needed_width = math.ceil(left + max(map(sum, needed)) + right)
        width = max(
            20.0, max(self.width, self.needed_width if self.fits_texts else 0) - left - right
        )
        self.areas = []
        self.edges = []
        for index, (matrix, widths) in enumerate(zip(self.matrices, needed, strict=True)):
            top = self.block_top(index) + self.header_height(matrix)
            self.areas.append(
                QRectF(left, top, width, len(matrix.row_labels) * self._cell_height(matrix))
            )
            spare = (width - sum(widths)) / max(1, len(widths))
            column_widths = [needed_width + spare for needed_width in widths]
            self.edges.append(list(itertools.accumulate(column_widths, initial=left)))

    def _needed_widths(self, matrix: Matrix) -> list[float]:
        """The widths that columns need for their texts."""
        if not self.fits_texts or matrix.texts is None:
            return [0.0] * len(matrix.column_labels)
        limit, margin = self.theme.scaled(MAX_TEXT), self.theme.scaled(TEXT_MARGIN)
        columns = zip(
            map(_words, matrix.column_labels), zip(*matrix.texts, strict=True), strict=True
        )
        return [
            float(min(limit, _widest(self.metrics, (*label, *texts))) + 2 * margin)
            for label, texts in columns
        ]

    def texts_that_fit(self, index: int, metrics: QFontMetrics) -> dict[tuple[int, ...], str]:
        """Returns the texts of cells by row and column; none if most do not fit.

        A few texts would look like all there are.
        """
        matrix = self.matrices[index]
        cell_text = self.style.cell_text
        cell = self.cell_rect(MatrixCell(index, 0, 0))
        if row_height(self.theme.font("body")) > cell.height() or (
            cell_text is None and matrix.texts is None
        ):
            return {}
        if matrix.texts is not None:
            widths = [
                int(right - left) - 2 for left, right in itertools.pairwise(self.edges[index])
            ]
            if min(widths) < LEAST_LETTERS * metrics.averageCharWidth():
                return {}
            return {
                (row, column): metrics.elidedText(text, Qt.TextElideMode.ElideRight, widths[column])
                for row, texts in enumerate(matrix.texts)
                for column, text in enumerate(texts)
            }
        assert cell_text is not None
        texts = {
            indices: cell_text(float(value))
            for indices, value in np.ndenumerate(matrix.values)
            if not np.isnan(value)
        }
        room = cell.width() - 4
        fitting = {
            indices: text
            for indices, text in texts.items()
            if metrics.horizontalAdvance(text) <= room
        }
        return fitting if len(fitting) > MOST * len(texts) else {}


class MatrixPainter:
    """Paints matrices as they are laid out."""

    def __init__(self, layout: MatrixLayout, painter: QPainter, scrolled: QPointF) -> None:
        """`scrolled`: the place of the first visible pixel; labels keep in sight."""
        self.layout, self.painter, self.scrolled = layout, painter, scrolled
        self.theme = layout.theme

    def paint(
        self, top: float, framed: Collection[MatrixCell], struck: Collection[MatrixCell]
    ) -> None:
        """Paints titles, cells, labels and the legend.

        Args:
            top: the value of the last colour.
            framed, struck: cells.
        """
        layout, painter, style = self.layout, self.painter, self.layout.style
        colors = color_table(is_dark=self.theme.is_dark, is_signed=style.colors == "signed")
        table = [QColor(*color) for color in colors.rgb.tolist()]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for index, matrix in enumerate(layout.matrices):
            self._paint_cells(index, table, colors.indices(matrix.values, top))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.theme.color("text"), 2))
        for rect in map(layout.cell_rect, struck):
            painter.drawLine(rect.topLeft(), rect.bottomRight())
        painter.setPen(QPen(self.theme.color("accent"), 2))
        painter.drawRects([layout.cell_rect(cell) for cell in framed])
        for index in range(len(layout.matrices)):
            self._paint_labels(index, [cell for cell in framed if cell.matrix == index])
        if style.legend is not None:
            self._paint_legend(table, style.legend(top))

    def _paint_cells(self, index: int, table: Sequence[QColor], indices: NDArray[np.intp]) -> None:
        matrix = self.layout.matrices[index]
        self.painter.setFont(self.theme.font("body"))
        texts = self.layout.texts_that_fit(index, self.painter.fontMetrics())
        for row, column in np.argwhere(~np.isnan(matrix.values)).tolist():
            rect = self.layout.cell_rect(MatrixCell(index, row, column))
            color = table[int(indices[row, column])]
            self.painter.fillRect(rect, color)
            if text := texts.get((row, column)):
                self.painter.setPen(QColor(ink_on(color.red(), color.green(), color.blue())))
                self.painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)
        self.painter.setBrush(Qt.BrushStyle.NoBrush)
        self.painter.setPen(self.theme.color("border"))
        self.painter.drawRect(self.layout.areas[index])

    def _paint_labels(self, index: int, framed: Sequence[MatrixCell]) -> None:
        matrix = self.layout.matrices[index]
        if matrix.title:
            self.painter.setFont(self.theme.font("body", bold=True))
            self.painter.setPen(self.theme.color("text"))
            title = QRectF(
                0, self.layout.block_top(index), self.layout.width, self.theme.scaled(TITLE_HEIGHT)
            )
            self.painter.drawText(title, Qt.AlignmentFlag.AlignVCenter, matrix.title)
        self.painter.setFont(self.theme.font("body"))
        self._paint_row_labels(index, sorted({cell.row for cell in framed}))
        self.painter.translate(0, self.scrolled.y())
        if self.scrolled.y():
            header = QRectF(0, 0, self.layout.width, self.layout.header_height(matrix))
            self.painter.fillRect(header, self.theme.color("panel"))
        self._paint_column_labels(index, sorted({cell.column for cell in framed}))
        self.painter.translate(0, -self.scrolled.y())

    def _paint_row_labels(self, index: int, lit: list[int]) -> None:
        area = self.layout.areas[index]
        labels = self.layout.matrices[index].row_labels
        if self.scrolled.x():
            beside = QRectF(self.scrolled.x(), area.top() - 1, area.left() - 1, area.height() + 2)
            self.painter.fillRect(beside, self.theme.color("panel"))
        half = self.theme.scaled(10)
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for row in thinned(len(labels), self.layout.row_step(self.layout.matrices[index]), lit):
            self.painter.setPen(self.theme.token_color(labels[row], "accent" if row in lit else ""))
            y = self.layout.cell_rect(MatrixCell(index, row, 0)).center().y()
            label_box = QRectF(self.scrolled.x(), y - half, area.left() - GAP, 2 * half)
            elide = Qt.TextElideMode.ElideRight
            text = self.painter.fontMetrics().elidedText(labels[row], elide, int(label_box.width()))
            self.painter.drawText(label_box, flags, text)

    def _paint_column_labels(self, index: int, lit: list[int]) -> None:
        matrix = self.layout.matrices[index]
        labels = matrix.column_labels
        top = self.layout.areas[index].top()
        half = self.theme.scaled(10)
        longest = self.layout.slanted_length(matrix)
        num_lines = self.layout.label_lines(matrix)
        height = num_lines * self.painter.fontMetrics().height()
        widest = _widest(self.layout.metrics, labels) + 4
        needed: float = 1 if num_lines > 1 else widest
        if self.layout.is_slanted:
            needed = ink_height(labels, self.painter.font().toString()) / COLUMN_SINE
        step = label_step(needed, self.layout.cell_rect(MatrixCell(index, 0, 0)).width())
        for column in thinned(len(labels), step, lit):
            self.painter.setPen(
                self.theme.token_color(labels[column], "accent" if column in lit else "")
            )
            rect = self.layout.cell_rect(MatrixCell(index, 0, column))
            x = rect.center().x()
            if not self.layout.is_slanted:
                across = rect.width() if num_lines > 1 else 2 * widest
                label_box = QRectF(x - across / 2, top - height - 1, across, height)
                flags = (
                    Qt.AlignmentFlag.AlignHCenter
                    | Qt.AlignmentFlag.AlignBottom
                    | Qt.TextFlag.TextWordWrap
                )
                self.painter.drawText(label_box, flags, labels[column])
                continue
            self.painter.save()
            self.painter.translate(x, top - GAP)
            self.painter.rotate(COLUMN_ANGLE)
            text = self.painter.fontMetrics().elidedText(
                labels[column], Qt.TextElideMode.ElideRight, longest
            )
            self.painter.drawText(
                QRectF(0, -half, longest + 2, 2 * half), Qt.AlignmentFlag.AlignVCenter, text
            )
            self.painter.restore()

    def _paint_legend(self, table: Sequence[QColor], texts: tuple[str, str, str]) -> None:
        last = self.layout.areas[-1]
        bar = QRectF(last.left(), last.bottom() + LEGEND_GAP, last.width(), LEGEND_BAR)
        for index in range(0, len(table), 3):
            left = bar.left() + bar.width() * index / len(table)
            self.painter.fillRect(
                QRectF(left, bar.top(), bar.width() * 3 / len(table) + 0.5, LEGEND_BAR),
                table[index],
            )
        self.painter.setPen(self.theme.color("muted"))
        self.painter.setFont(self.theme.font("body"))
        text_box = QRectF(
            last.left() - 8, bar.bottom(), last.width() + 16, self.theme.scaled(LEGEND_TEXT)
        )
        sides = (
            Qt.AlignmentFlag.AlignLeft,
            Qt.AlignmentFlag.AlignHCenter,
            Qt.AlignmentFlag.AlignRight,
        )
        widths = [self.painter.fontMetrics().horizontalAdvance(text) for text in texts]
        if max(widths[0], widths[2]) + widths[1] / 2 > text_box.width() / 2 - 4:
            texts = texts[0], "", texts[2]
            missing = widths[0] + widths[2] + 2 * GAP - text_box.width()
            # below the labels of the rows there is room
            text_box.setLeft(max(0.0, text_box.left() - max(0.0, missing)))
        for side, text in zip(sides, texts, strict=True):
            self.painter.drawText(text_box, side | Qt.AlignmentFlag.AlignVCenter, text)


def _column_at(edges: Sequence[float], x: float) -> int:
    return min(max(bisect_right(edges, x) - 1, 0), len(edges) - 2)


def _upright_room(picture: MatrixLayout, matrix: Matrix) -> float:
    """The width of a column below upright labels."""
    return (picture.width - picture.label_width(matrix) - GAP - RIGHT) / max(
        1, len(matrix.column_labels)
    )


def _has_wide_words(picture: MatrixLayout, matrix: Matrix) -> bool:
    """Whether upright labels of several words do not fit even if they wrap."""
    if picture.fits_texts or not any(" " in label for label in matrix.column_labels):
        return False
    words = itertools.chain.from_iterable(map(_words, matrix.column_labels))
    return _widest(picture.metrics, words) > _upright_room(picture, matrix)


def _words(label: str) -> list[str]:
    """The pieces between which a label can break."""
    return label.replace("-", "- ").split()


def _widest(metrics: QFontMetrics, texts: Iterable[str]) -> int:
    return max(map(metrics.horizontalAdvance, texts), default=0)


class LabelledMatrix(Canvas):
    """Draws matrices as wide as there is room; the height depends on rows and labels. If cells can
    be clicked, keys reach them, too.

    Attributes:
        matrices: those drawn; empty before the first.
        top: the value of the last colour; of signed ones, on both sides of 0.
        hovered_cell: the cell under the mouse; None if there is none.
        tip_of: the tool tip of a cell; None for no tips.

    Signals:
        hovered(MatrixCell | None): another cell is under the mouse, or none.
        clicked(MatrixCell)
        label_clicked(MatrixCell): see `MatrixLayout.label_at`.
        reached(QPoint): a cell was reached by a key; its place in the widget.
    """

    reached = Signal(QPoint)
    hovered = Signal(object)
    clicked = Signal(object)
    label_clicked = Signal(object)

    def __init__(self, name: str, style: MatrixStyle) -> None:
        super().__init__()
        self._style = style
        self.matrices: tuple[Matrix, ...] = ()
        self.top = 1.0
        self.hovered_cell: MatrixCell | None = None
        self.tip_of: Callable[[MatrixCell], str] | None = None
        self._framed: frozenset[MatrixCell] = frozenset()
        self._struck: frozenset[MatrixCell] = frozenset()
        self._layout: MatrixLayout | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)
        if style.is_clickable:
            self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def show_matrices(self, matrices: Sequence[Matrix], top: float) -> None:
        """Draws other numbers; nothing is framed or struck out.

        A hovered cell stays hovered if it still exists.
        """
        self.matrices = tuple(matrices)
        self.top = top
        self._framed = self._struck = frozenset()
        if self.hovered_cell is not None and not self.has_cell(self.hovered_cell):
            self.hovered_cell = None
        self.updateGeometry()
        self.rebuild()

    def set_heights(
        self, aimed_height: int, largest_cell: int, slanted_limit: int = MAX_SLANTED
    ) -> None:
        """Another height of all cells together, and of the largest cell; see `MatrixStyle`."""
        heights = self._style.cell_heights[0], max(self._style.cell_heights[0], largest_cell)
        style = replace(
            self._style,
            aimed_height=aimed_height,
            cell_heights=heights,
            slanted_limit=slanted_limit,
        )
        if style != self._style:
            self._style = style
            self.rebuild()

    def mark(
        self, framed: Collection[MatrixCell] = (), struck: Collection[MatrixCell] = ()
    ) -> None:
        """Frames these cells, and strikes those out; no others."""
        if (frozenset(framed), frozenset(struck)) != (self._framed, self._struck):
            self._framed, self._struck = frozenset(framed), frozenset(struck)
            self.update()

    @property
    def labels_all_rows(self) -> bool:
        """Whether every row has the height of its label."""
        layout = self._layout_now()
        return layout is None or all(layout.row_step(matrix) == 1 for matrix in self.matrices)

    def has_cell(self, cell: MatrixCell) -> bool:
        """Whether there is such a cell, with a number."""
        if cell.matrix >= len(self.matrices):
            return False
        values = self.matrices[cell.matrix].values
        num_rows, num_columns = values.shape
        return (
            0 <= cell.row < num_rows
            and 0 <= cell.column < num_columns
            and not np.isnan(values[cell.row, cell.column])
        )

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
        return QSize(300, self.minimumHeight())

    def minimumSizeHint(self) -> QSize:
        """As narrow as can be read."""
        layout = self._layout_now()
        return QSize(
            layout.needed_width if layout is not None and layout.fits_texts else scaled(MIN_WIDTH),
            1,
        )

    def walk(self, row_offset: int, column_offset: int) -> bool:
        """Points at the neighbour of the current cell in the same matrix, or at the first cell if
        there is none. Stays at the edge. False only if nothing can be pointed at.
        """
        before = self.hovered_cell
        cell = (
            MatrixCell(0, 0, 0)
            if before is None
            else replace(before, row=before.row + row_offset, column=before.column + column_offset)
        )
        if not self.has_cell(cell):
            return before is not None
        self._hover(cell)
        middle = self.cell_rect(cell).center().toPoint()
        self.reached.emit(middle)
        if self.tip_of is not None:
            QToolTip.showText(self.mapToGlobal(middle), self.tip_of(cell), self)
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not (
            self._style.is_clickable
            and run_by_key(event, (command.on(self) for command in MATRIX_COMMANDS))
        ):
            super().keyPressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.cell_at(event.position()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        layout = self._layout_now()
        if layout is None or event.button() != Qt.MouseButton.LeftButton:
            return
        if (cell := layout.cell_at(event.position())) is not None:
            self.clicked.emit(cell)
        elif (label := layout.label_at(event.position())) is not None:
            self.label_clicked.emit(label)

    def event(self, event: QEvent) -> bool:
        """Without mouse and keyboard, no cell is pointed at."""
        if event.type() in (QEvent.Type.Leave, QEvent.Type.FocusOut):
            self._hover(None)
        return super().event(event)

    def tip_at(self, position: QPointF) -> str | None:
        """Each cell has a tip of its own."""
        if self.tip_of is None:
            return None
        cell = self.cell_at(position)
        return self.tip_of(cell) if cell is not None else ""

    def rebuild(self) -> None:
        """Another font, other numbers or another width need another height."""
        self._layout = None
        layout = self._layout_now()
        self.setFixedHeight(layout.content_height() if layout is not None else 1)
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cells are as wide as there is room, and labels turn or wrap."""
        super().resizeEvent(event)
        self.rebuild()

    def paintEvent(self, event: QPaintEvent) -> None:
        layout = self._layout_now()
        if layout is not None:
            hovered = set() if self.hovered_cell is None else {self.hovered_cell}
            scrolled = (
                QPointF(max(0, -self.x()), max(0, -self.y()))
                if self._style.fits_texts
                else QPointF()
            )
            painter = MatrixPainter(layout, QPainter(self), scrolled)
            painter.paint(self.top, self._framed | hovered, self._struck)

    def _hover(self, cell: MatrixCell | None) -> None:
        if cell == self.hovered_cell:
            return
        self.hovered_cell = cell
        if self._style.is_clickable:
            self.setCursor(
                Qt.CursorShape.PointingHandCursor
                if cell is not None
                else Qt.CursorShape.ArrowCursor
            )
        self.update()
        self.hovered.emit(cell)

    def _layout_now(self) -> MatrixLayout | None:
        """None while there is nothing to draw."""
        if self._layout is None and self.matrices:
            self._layout = MatrixLayout(self.matrices, self._style, self.width(), current_theme())
        return self._layout


def _click(table: LabelledMatrix) -> bool:
    """Does what a click on the cell does that is pointed at; False if there is none."""
    if table.hovered_cell is not None:
        table.clicked.emit(table.hovered_cell)
    return table.hovered_cell is not None


IN_TABLES, WALK, CHOOSE = "In bars and tables", "Go to the next one", "Choose or open it"
_OF_TABLE = partial(Command[LabelledMatrix], group=IN_TABLES, line=WALK)
MATRIX_COMMANDS = (
    _OF_TABLE("Next row", lambda table: table.walk(1, 0), local_keys=("Down",)),
    _OF_TABLE("Previous row", lambda table: table.walk(-1, 0), local_keys=("Up",)),
    _OF_TABLE("Next column", lambda table: table.walk(0, 1), local_keys=("Right",)),
    _OF_TABLE("Previous column", lambda table: table.walk(0, -1), local_keys=("Left",)),
    _OF_TABLE("Click the cell", _click, local_keys=("Return", "Enter"), line=CHOOSE),
)
