"""The logit lens: a table of the decoder's predictions at each step and depth, and a chart of one
word by depth.
"""

import math
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from augenmerk.core.counting import CountedText, Index, display_text
from augenmerk.core.quantities import percent_in_words

from ...state.number_table import NumberTable
from ...state.sentence_text import visible
from ...theme import current_theme, scaled, scales
from ...widgets.labels import label
from ...widgets.layouts import GeometryWatch, ScrollArea, column_of
from ..widgets.labelled_matrix import LabelledMatrix, Matrix, MatrixCell, MatrixStyle
from ..widgets.line_chart import Curve, LineChart

if TYPE_CHECKING:  # torch belongs to the worker thread
    from augenmerk.core.extensions.analyses.logit_lens import Depth, LogitLens

NUM_CANDIDATES = 5
STYLE = MatrixStyle(
    colors="sequential",
    cell_heights=(15, 20),
    aimed_height=300,
    has_slanted_columns=False,
    fits_texts=True,
    is_clickable=True,
    legend=lambda top: ("0%", "probability of the word in the cell", "100%"),
)
LEAST_CHART, COLUMN_IN_SIGHT, SPACING = 110, 100, 6
"""Pixels at 100%: the least height of the chart, which is always in sight in the window; beside a
cell that is scrolled to; between table, text and chart."""


class LensTable(QWidget):
    """A row for each step, a column for each depth; a cell names the most probable token there.

    Attributes:
        matrix: the table. The frame marks the depth from which on the chosen token stays the most
            probable.
        says: the meaning of the frame, or the candidates at the cell under the mouse.
        area: scrolls the table, whose columns are as wide as their tokens.
        chart: rank and entropy of the chosen step by depth; hidden in a presentation without room
            for it.

    Signals:
        step_chosen(int): a cell of this step was clicked.
    """

    step_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._lens: LogitLens | None = None
        self._step = 0
        self._target: MatrixCell | None = None
        self.matrix = LabelledMatrix("Logit lens: steps and depths", STYLE)
        self.says = label("small", wraps=True)
        self.chart = LineChart(
            "Rank and entropy of the word by depth", "depth: columns of the table, from 0", ""
        )
        self.matrix.tip_of = self._tip_of
        self.matrix.clicked.connect(lambda cell: self.step_chosen.emit(cell.row))
        self.matrix.hovered.connect(self._say)
        self.area = ScrollArea(self.matrix)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.matrix.reached.connect(self._scroll_to)
        for bar in (self.area.horizontalScrollBar(), self.area.verticalScrollBar()):
            bar.valueChanged.connect(self.matrix.update)  # its labels keep in sight
        self.matrix.installEventFilter(GeometryWatch(self._fit, self))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        scales(self.chart.setMinimumHeight, LEAST_CHART)
        column_of((self.area, 3), self.says, (self.chart, 1), spacing=SPACING, within=self)

    def show_lens(self, lens: "LogitLens", step: int) -> None:
        """Shows the predictions, and one step in the chart."""
        self._lens, self._step = lens, step
        first = [[candidates[0] for candidates in of_depth] for of_depth in lens.candidates]
        values = np.array(
            [[candidate.probability for candidate in of_depth] for of_depth in first],
            dtype=np.float32,
        ).T
        texts = tuple(
            zip(
                *([visible(candidate.token) for candidate in of_depth] for of_depth in first),
                strict=True,
            )
        )
        rows = tuple(map(visible, lens.translation.predicted_tokens))
        self.matrix.show_matrices(
            [Matrix(values, rows, tuple(map(short_name, lens.depths)), texts=texts)], 1.0
        )
        self._fit()
        decided = lens.decided_at(step)
        frame = None if decided is None else MatrixCell(0, step, decided)
        self.matrix.mark(framed=[] if frame is None else [frame])
        target = frame or MatrixCell(0, step, 0)
        if target != self._target:
            self._target = target
            self._show_target()
        x = np.arange(len(lens.depths), dtype=np.float64)
        ranks = np.log(lens.ranks[:, step].astype(np.float64))
        entropies = lens.entropies[:, step].astype(np.float64)
        curves = [Curve("ln rank (0: first)", x, ranks), Curve("entropy, nats", x, entropies)]
        self.chart.show_curves(
            curves, y_range=(0.0, max(1.0, float(ranks.max()), float(entropies.max())))
        )
        self._say(self.matrix.hovered_cell)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _show_target(self) -> None:
        """Scrolls to where the step is decided, or to its row."""
        if self._target is not None:
            position = self.matrix.cell_rect(self._target).center().toPoint()
            self.area.horizontalScrollBar().setValue(0)
            self.area.ensureVisible(position.x(), position.y(), 0, self._margin_in_sight)
            self._begin_with_whole_column(self._target.column)

    @property
    def _margin_in_sight(self) -> int:
        """The height of the headings, which cover the first visible rows, and a row."""
        first = self.matrix.cell_rect(MatrixCell(0, 0, 0))
        return math.ceil(first.top() + first.height())

    def _fit(self) -> None:
        """Makes the table as high as its rows; presented, the chart leaves its room to a table that
        needs it.
        """
        height = self.matrix.sizeHint().height()
        self.area.setMaximumHeight(height + self.area.horizontalScrollBar().sizeHint().height())
        texts = self.says.heightForWidth(self.width()) + 2 * scaled(SPACING)
        has_room = self.height() >= height + texts + scaled(LEAST_CHART)
        self.chart.setVisible(has_room or not current_theme().is_presented)

    def _begin_with_whole_column(self, last: int) -> None:
        """Scrolls on until no column is hidden in part by the labels; `last`: the column to be in
        sight.
        """
        bar = self.area.horizontalScrollBar()
        lefts = [
            self.matrix.cell_rect(MatrixCell(0, 0, column)).left() for column in range(last + 1)
        ]
        hidden = (math.ceil(left - lefts[0]) for left in lefts)
        bar.setValue(next((width for width in hidden if width >= bar.value()), bar.maximum()))

    def _scroll_to(self, position: QPoint) -> None:
        self.area.ensureVisible(
            position.x(), position.y(), scaled(COLUMN_IN_SIGHT), self._margin_in_sight
        )

    def _say(self, cell: MatrixCell | None) -> None:
        if self._lens is None:
            return
        if cell is not None:
            self.says.setText(self._tip_of(cell).replace("\n", " · "))
            return
        self.says.setText(decided_text(self._lens, self._step))

    def _tip_of(self, cell: MatrixCell) -> str:
        assert self._lens is not None
        candidates = self._lens.candidates[cell.column][cell.row][:NUM_CANDIDATES]
        rank = int(self._lens.ranks[cell.column, cell.row])
        token = visible(self._lens.translation.predicted_tokens[cell.row])
        lines = [
            f"{visible(candidate.token)} {percent_in_words(candidate.probability)}"
            for candidate in candidates
        ]
        return "\n".join(
            (f"{name_of(self._lens.depths[cell.column])}: rank {rank} for “{token}”", *lines)
        )


def short_name(depth: "Depth") -> str:
    """“cross 2” or “feed-forward 2”, for a heading of a column."""
    name = depth.sublayer.removesuffix("_attention").replace("_", "-")
    return name if depth.layer is None else f"{name} {depth.layer + 1}"


def decided_text(lens: "LogitLens", step: int) -> str:
    """The depth at which the token of a step takes the lead for good, in a sentence."""
    decided = lens.decided_at(step)
    token = visible(lens.translation.predicted_tokens[step])
    if decided is None:
        return f"“{token}” is not the most probable token at its step."
    return (
        f"“{token}” is decided at: {name_of(lens.depths[decided])}. From there on, it stays the "
        "most probable."
    )


def name_of(depth: "Depth") -> str:
    """“after layer 2 cross-attention”."""
    return display_text(depth) if depth.layer is None else f"after {display_text(depth)}"


def table_of(lens: "LogitLens") -> NumberTable:
    """The lens as numbers: a row for each step and depth."""
    headings = (
        "step",
        "token",
        "depth",
        "rank",
        "log_probability",
        "entropy",
        "best_token",
        "best_log_probability",
    )
    rows = []
    for step, token in enumerate(lens.translation.predicted_tokens):
        for row, depth in enumerate(lens.depths):
            best = lens.candidates[row][step][0]
            numbers = (
                int(lens.ranks[row, step]),
                float(lens.log_probabilities[row, step]),
                float(lens.entropies[row, step]),
            )
            rows.append(
                (
                    Index(step),
                    token,
                    CountedText("{depth}", depth=depth),
                    *numbers,
                    best.token,
                    best.log_probability,
                )
            )
    return NumberTable("lens", {}, headings, tuple(rows))
