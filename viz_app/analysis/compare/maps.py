"""The chosen head in both translations, and the difference: three small maps with one cross-hair."""

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from viz_app.analysis.compare.state import ComparedMaps
from viz_app.heatmap.small_map import SmallMap, SmallPicture
from viz_app.theme import Theme
from viz_app.views.marked_text import number
from viz_app.widgets.parts import label

HINT = "Hover a cell: its value in all three maps."
Cell = tuple[int, int]


class CompareMaps(QWidget):
    """Draws `ComparedMaps`.

    Attributes:
        first, second, change: the three maps.
        value: what is under the mouse; the owner puts it where it is seen.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.first = SmallMap(theme, "First map", room=(6, 16, 150))
        self.second = SmallMap(theme, "Second map", room=(6, 16, 150))
        self.change = SmallMap(theme, "Difference of the maps", "signed", room=(9, 20, 230))
        self.change.ends = ("first more", "second more")
        self.value = label("small", wraps=True)
        self._maps: ComparedMaps | None = None
        self._names = [label("small", wraps=True) for _ in range(2)]
        self._change_name = label("small", wraps=True)
        self._problem, self._notes = label("warm", wraps=True), label("small", wraps=True)
        self._lay_out()
        self.first.hovered.connect(lambda cell: self._on_hover(self._from_map(cell, 0)))
        self.second.hovered.connect(lambda cell: self._on_hover(self._from_map(cell, 1)))
        self.change.hovered.connect(self._on_change_hovered)

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        for each in (self.first, self.second, self.change):
            each.apply_theme(theme)

    def show_maps(self, maps: ComparedMaps, title: str) -> None:
        """Draws other maps; `title` says of which head."""
        self._maps = maps
        change = maps.change
        self.first.show_picture(SmallPicture(maps.first.weights, maps.first.rows, maps.first.columns, maps.top))
        has_second = maps.second is not None
        if maps.second is not None:
            self.second.show_picture(SmallPicture(maps.second.weights, maps.second.rows, maps.second.columns, maps.top))
        self.second.setVisible(has_second)
        self._names[1].setVisible(has_second)
        self.change.setVisible(change is not None)
        self._change_name.setVisible(change is not None)
        if change is not None:
            self.change.show_picture(SmallPicture(change.values, change.rows, change.columns, maps.reach))
        for name, text in zip(self._names, ("first", "second"), strict=True):
            name.setText(f"{text}: weights")
        self._change_name.setText(f"second − first: {title}")
        self._problem.setText(maps.problem)
        self._problem.setVisible(bool(maps.problem))
        self._notes.setText(" ".join(maps.notes))
        self.value.setText(HINT)

    def _from_map(self, cell: Cell | None, which: int) -> tuple[Cell | None, Cell | None, Cell | None]:
        """A cell of the first or the second map in all three: first, second, difference."""
        found: list[Cell | None] = [None, None, None]
        if cell is None or self._maps is None:
            return None, None, None
        found[which] = cell
        if (change := self._maps.change) is not None:
            row = next((index for index, pair in enumerate(change.row_pairs) if pair[which] == cell[0]), None)
            column = next((index for index, pair in enumerate(change.column_pairs) if pair[which] == cell[1]), None)
            if row is not None and column is not None:
                found[1 - which] = change.row_pairs[row][1 - which], change.column_pairs[column][1 - which]
                found[2] = row, column
        return found[0], found[1], found[2]

    def _on_change_hovered(self, cell: Cell | None) -> None:
        change = self._maps.change if self._maps is not None else None
        if cell is None or change is None:
            self._on_hover((None, None, None))
        else:
            self._on_hover(self._from_map((change.row_pairs[cell[0]][0], change.column_pairs[cell[1]][0]), 0))

    def _on_hover(self, cells: tuple[Cell | None, Cell | None, Cell | None]) -> None:
        for widget, cell in zip((self.first, self.second, self.change), cells, strict=True):
            widget.light(cell)
        self.value.setText(self._in_words(cells) or HINT)

    def _in_words(self, cells: tuple[Cell | None, Cell | None, Cell | None]) -> str:
        maps = self._maps
        if maps is None:
            return ""
        parts, names = [], ""
        for name, labelled, cell in (("first", maps.first, cells[0]), ("second", maps.second, cells[1])):
            if cell is None or labelled is None:
                continue
            names = names or f"{labelled.rows.labels[cell[0]]} → {labelled.columns.labels[cell[1]]}"
            parts.append(f"{name} {labelled.weights[cell]:.2f}")
        if cells[2] is not None and maps.change is not None:
            parts.append(f"difference {number(float(maps.change.values[cells[2]]), signed=True)}")
        elif parts and maps.change is not None:
            parts.append("no partner in the other map")
        return f"{names}:  " + "   ".join(parts) if parts else ""

    def _lay_out(self) -> None:
        both = QHBoxLayout()
        both.setSpacing(8)
        for name, each in zip(self._names, (self.first, self.second), strict=True):
            column = QVBoxLayout()
            column.setSpacing(2)
            column.addWidget(name)
            column.addWidget(each)
            column.addStretch(1)
            both.addLayout(column, 1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(6)
        whole.addWidget(self._problem)
        whole.addWidget(self._change_name)
        whole.addWidget(self.change)
        whole.addLayout(both)
        whole.addWidget(self._notes)
