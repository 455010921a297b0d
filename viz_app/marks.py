"""What the mouse does to the maps and words of the Translate page: hover, pin, pick, zoom."""

from PySide6.QtCore import QObject

from core.translation.result import Word
from viz_app.panels.head import HeadPanel
from viz_app.panels.heads import HeadsPanel
from viz_app.panels.sentence import SentencePanel
from viz_app.state.marking import Cell
from viz_app.state.picking import Manner
from viz_app.state.translate_state import TranslateState
from viz_app.state.zoom import zoomed


class Marks(QObject):
    """Turns mouse events of the three panels into marks of the state, and shows these wherever they are seen."""

    def __init__(
        self, state: TranslateState, sentence: SentencePanel, heads: HeadsPanel, head: HeadPanel, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._state, self._sentence, self._heads, self._head = state, sentence, heads, head
        heatmap, chips = head.heatmap, sentence.chips
        chips.word_hovered.connect(self._on_word_hovered)
        chips.word_clicked.connect(self._on_word_clicked)
        heatmap.cell_hovered.connect(self._on_cell_hovered)
        heatmap.cell_clicked.connect(self._on_cell_clicked)
        heatmap.rows_clicked.connect(self._on_rows_clicked)
        heatmap.columns_clicked.connect(self._on_columns_clicked)
        heatmap.sum_hovered.connect(self._on_sum_hovered)
        heatmap.zoom_wanted.connect(self.zoom)
        head.zoom_chosen.connect(self.set_zoom)
        head.pick_line.clear_button.clicked.connect(self.forget)

    def forget(self) -> None:
        """Nothing is pinned or picked any more."""
        self._state.forget_marks()
        self.show_picks()

    def show_picks(self) -> None:
        """Pins and picks, wherever they are seen."""
        self._head.show_picks()
        self._heads.grid.update()
        self._sentence.show_picks()

    def zoom(self, num_steps: float) -> None:
        """Larger cells by so many steps; smaller if negative."""
        layout = self._head.heatmap.layout_now
        if layout is not None:
            self.set_zoom(zoomed(layout.cell.y(), num_steps))

    def set_zoom(self, zoom: float) -> None:
        """The whole map, or cells of this height; see `viz_app.state.zoom`."""
        self._state.zoom = zoom
        self._head.heatmap.lay_out()

    def _on_word_hovered(self, word: Word | None) -> None:
        self._state.highlighted_word = word
        self._head.heatmap.update()

    def _on_word_clicked(self, word: Word, manner: Manner) -> None:
        self._state.pick_word(word, manner)
        self.show_picks()

    def _on_cell_hovered(self, cell: Cell | None) -> None:
        self._state.hovered, self._state.highlighted_word = cell, None
        word = self._state.word_of_row(cell.row) if cell is not None else None
        self._sentence.chips.mark(word)
        self._head.heatmap.update()

    def _on_cell_clicked(self, cell: Cell) -> None:
        self._state.pinned = None if cell == self._state.pinned else cell
        self.show_picks()

    def _on_rows_clicked(self, rows: tuple[int, ...], manner: Manner) -> None:
        self._state.pick_rows(rows, manner)
        self.show_picks()

    def _on_columns_clicked(self, columns: tuple[int, ...]) -> None:
        self._state.pick_columns(columns)
        self.show_picks()

    def _on_sum_hovered(self, column: int | None) -> None:
        self._state.hovered_sum = column
        self._head.heatmap.update()
