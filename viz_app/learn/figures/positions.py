"""The position of a token in the model: waves added to its embedding."""

from collections.abc import Mapping

import numpy as np
from PySide6.QtWidgets import QWidget

from augenmerk.viz_app.heatmap.labelled_matrix import LabelledMatrix, Matrix, MatrixStyle
from augenmerk.viz_app.learn.figures.figure import ChapterFigure, LearnContext
from augenmerk.viz_app.learn.job import PositionsJob, PositionTables
from augenmerk.viz_app.theme import current_theme, scaled
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.widgets.line_chart import Curve, LineChart
from augenmerk.viz_app.worker.inference import Job

DIMENSIONS = (4, 5, 6, 7)
"""Of 20, over 100 positions: the figure of The Annotated Transformer."""
NUM_DIMENSIONS = 48
"""Of the model's own, the first ones: of sinusoids the quickest."""
CHART_HEIGHTS, MATRIX_HEIGHT, LEAST_MATRIX_HEIGHT, MAX_CELL = (125, 190), 200, 100, 22


class PositionsFigure(ChapterFigure):
    """Four waves, and below them the model's own vectors of the positions that the sentence has.

    Attributes:
        chart: the waves.
        matrix: a row for each source token, a column for each dimension.
        tables: what both show; None while nothing is known.
    """

    caption = "What is added to every embedding: one wave for each dimension (4 to 7 of 20)"

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        self.tables: PositionTables | None = None
        self.chart = LineChart("Sinusoidal positions", "position", "value")
        self._of_model = label("heading", wraps=True)
        style = MatrixStyle(
            colors="signed",
            cell_heights=(7, MAX_CELL),
            aimed_height=MATRIX_HEIGHT,
            legend=lambda top: (f"−{top:.1f}", "0", f"{top:.1f}"),
        )
        self.matrix = LabelledMatrix("Positions of the sentence's tokens", style)
        self.column.addWidget(self.chart)
        self.column.addWidget(self._of_model)
        self.column.addWidget(self.matrix)
        self.shrink()

    def shrink(self) -> None:
        """Shrinks the chart first, then the cells."""
        num_rows = sum(len(matrix.row_labels) for matrix in self.matrix.matrices)
        chart, cells = CHART_HEIGHTS[1], min(MATRIX_HEIGHT, MAX_CELL * num_rows)
        self.chart.setFixedHeight(scaled(chart))
        self.matrix.set_heights(cells, MAX_CELL)
        excess = round(self.excess_px / current_theme().scale)
        lower = min(excess, CHART_HEIGHTS[1] - CHART_HEIGHTS[0])
        self.chart.setFixedHeight(scaled(chart - lower))
        if excess > lower:
            self.matrix.set_heights(max(cells - (excess - lower), min(cells, LEAST_MATRIX_HEIGHT)), MAX_CELL)

    def to_ask(self) -> tuple[object, Job] | None:
        """The tables are the model's, whatever the sentence."""
        return "model", PositionsJob()

    def take(self, answer: PositionTables) -> None:
        """Keeps the answer."""
        self.tables = answer

    def redraw(self) -> None:
        """Waves, and the vectors of as many positions as there are tokens."""
        translation, tables = self.translation, self.tables
        if translation is None or tables is None:
            return
        places = np.arange(len(tables.small), dtype=np.float64)
        self.chart.show_curves(
            [Curve(f"dimension {each}", places, tables.small[:, each].astype(np.float64)) for each in DIMENSIONS],
            x_range=(0, len(tables.small)),
            y_range=(-1, 1),  # of a sine, even where no position meets its ends
        )
        num_tokens = min(len(translation.source_tokens), len(tables.own))
        values = tables.own[:num_tokens, :NUM_DIMENSIONS]
        self._of_model.setText(
            f"This model's own: a row for each of your {num_tokens} tokens, the first {values.shape[1]} of "
            f"{tables.own.shape[1]} dimensions"
        )
        rows = tuple(f"{place} {token}" for place, token in enumerate(translation.source_tokens[:num_tokens]))
        columns = tuple(str(dimension) if dimension % 8 == 0 else "" for dimension in range(values.shape[1]))
        top = float(np.abs(values).max())
        self.matrix.show_matrices((Matrix(values, rows, columns),), top=top)
        self.shrink()
