"""The chosen head in both results, and the difference: three small maps with one cross-hair."""

from PySide6.QtWidgets import QWidget

from augenmerk.core.analysis.selection import LabelledMap
from augenmerk.core.quantities import number
from augenmerk.viz_app.analysis.compare.state import ComparedMaps
from augenmerk.viz_app.heatmap.labelled_matrix import LabelledMatrix, Matrix, MatrixCell, MatrixStyle
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.widgets.layouts import column_of, row_of

HINT = "Point at a cell to see its value in all three maps."
Cell = tuple[int, int]
Cells = tuple[Cell | None, Cell | None, Cell | None]
"""The same query and key in the first map, the second, and the difference."""
NO_CELLS: Cells = (None, None, None)
WEIGHTS = MatrixStyle("sequential", cell_heights=(6, 16), aimed_height=150)
CHANGE = MatrixStyle(
    "signed",
    cell_heights=(9, 20),
    aimed_height=230,
    legend=lambda top: (f"−{top:.2f} first more", "0", f"second more +{top:.2f}"),
)


class CompareMaps(QWidget):
    """Draws `ComparedMaps`.

    Attributes:
        first, second, change: the three maps.
        value: what is under the mouse; the owner puts it where it is seen.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.first = LabelledMatrix("First map", WEIGHTS)
        self.second = LabelledMatrix("Second map", WEIGHTS)
        self.change = LabelledMatrix("Difference of the maps", CHANGE)
        self.value = label("small", wraps=True)
        self._maps: ComparedMaps | None = None
        self._names = [label("small", wraps=True) for _ in range(2)]
        self._change_name = label("small", wraps=True)
        self._problem, self._notes = label("warm", wraps=True), label("small", wraps=True)
        self._lay_out()
        self.first.hovered.connect(self._on_first_hovered)
        self.second.hovered.connect(self._on_second_hovered)
        self.change.hovered.connect(self._on_change_hovered)

    def show_maps(self, maps: ComparedMaps, title: str) -> None:
        """Draws other maps; `title` says of which head."""
        self._maps = maps
        change = maps.change
        self.first.show_matrices([matrix_of(maps.first)], maps.top)
        if maps.second is not None:
            self.second.show_matrices([matrix_of(maps.second)], maps.top)
        for part in (self.second, self._names[1]):
            part.setVisible(maps.second is not None)
        if change is not None:
            matrix = Matrix(change.values, change.queries.labels, change.keys.labels)
            self.change.show_matrices([matrix], maps.change_top)
        for part in (self.change, self._change_name):
            part.setVisible(change is not None)
        for name, text in zip(self._names, ("first", "second"), strict=True):
            name.setText(f"{text}: weights")
        self._change_name.setText(f"second − first: {title}")
        self._problem.setText(maps.problem)
        self._problem.setVisible(bool(maps.problem))
        self._notes.setText(" ".join(maps.notes))
        self._show_hovered()

    def _from_map(self, cell: Cell, which: int) -> Cells:
        """A cell of the first or the second map in all three."""
        found: list[Cell | None] = [None, None, None]
        found[which] = cell
        change = self._maps.change if self._maps is not None else None
        if change is not None:
            row = next((index for index, pair in enumerate(change.query_pairs) if pair[which] == cell[0]), None)
            column = next((index for index, pair in enumerate(change.key_pairs) if pair[which] == cell[1]), None)
            if row is not None and column is not None:
                found[1 - which] = change.query_pairs[row][1 - which], change.key_pairs[column][1 - which]
                found[2] = row, column
        return found[0], found[1], found[2]

    def _show_hovered(self) -> None:
        """The cell that is under the mouse, in the maps as they are now."""
        for widget, show in (
            (self.first, self._on_first_hovered),
            (self.second, self._on_second_hovered),
            (self.change, self._on_change_hovered),
        ):
            if widget.hovered_cell is not None and widget.isVisible():
                show(widget.hovered_cell)
                return
        self._show_cells(NO_CELLS)

    def _on_first_hovered(self, cell: MatrixCell | None) -> None:
        self._show_cells(self._from_map((cell.row, cell.column), 0) if cell is not None else NO_CELLS)

    def _on_second_hovered(self, cell: MatrixCell | None) -> None:
        self._show_cells(self._from_map((cell.row, cell.column), 1) if cell is not None else NO_CELLS)

    def _on_change_hovered(self, cell: MatrixCell | None) -> None:
        change = self._maps.change if self._maps is not None else None
        if cell is None or change is None:
            self._show_cells(NO_CELLS)
        else:
            self._show_cells(self._from_map((change.query_pairs[cell.row][0], change.key_pairs[cell.column][0]), 0))

    def _show_cells(self, cells: Cells) -> None:
        for widget, cell in zip((self.first, self.second, self.change), cells, strict=True):
            widget.mark([MatrixCell(0, *cell)] if cell is not None else [])
        self.value.setText(self._in_words(cells) or HINT)

    def _in_words(self, cells: Cells) -> str:
        maps = self._maps
        if maps is None:
            return ""
        parts, names = [], ""
        for name, labelled, cell in (("first", maps.first, cells[0]), ("second", maps.second, cells[1])):
            if cell is None or labelled is None:
                continue
            names = names or f"{labelled.queries.labels[cell[0]]} → {labelled.keys.labels[cell[1]]}"
            parts.append(f"{name} {labelled.weights[cell]:.2f}")
        if cells[2] is not None and maps.change is not None:
            parts.append(f"difference {number(float(maps.change.values[cells[2]]), signed=True)}")
        elif parts and maps.change is not None:
            parts.append("no partner in the other map")
        return f"{names}:  " + "   ".join(parts) if parts else ""

    def _lay_out(self) -> None:
        both = row_of(
            *(
                (column_of(name, each, 1, spacing=2), 1)
                for name, each in zip(self._names, (self.first, self.second), strict=True)
            ),
            spacing=8,
        )
        column_of(self._problem, self._change_name, self.change, both, self._notes, spacing=6, within=self)


def matrix_of(labelled: LabelledMap) -> Matrix:
    """A labelled map as it is drawn: queries in rows."""
    return Matrix(labelled.weights, labelled.queries.labels, labelled.keys.labels)
