"""What the mouse does to the maps and words of the Translate page: hover, pin, pick, zoom."""

from PySide6.QtCore import QObject, Signal

from core.analysis.trace import Trace
from core.translation.result import Translation, Word
from viz_app.state.marking import Cell, Place
from viz_app.state.picking import Manner
from viz_app.state.seeing import Picture
from viz_app.state.translate_state import TranslateState
from viz_app.state.zoom import zoomed
from viz_app.views.head import HeadPanel
from viz_app.views.heads import HeadsPanel
from viz_app.views.sentence import SentencePanel


class Marks(QObject):
    """Turns mouse events of the three panels into marks of the state, and shows these wherever they are seen.

    Signals:
        trace_wanted(Translation): queries and keys of this pair are looked at.
    """

    trace_wanted = Signal(object)

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
        head.lines.rows_clicked.connect(self._on_rows_clicked)
        head.lines.columns_clicked.connect(self._on_columns_clicked)
        head.lines.place_hovered.connect(self._on_place_hovered)
        head.zoom_chosen.connect(self.set_zoom)
        head.picture_menu.chosen.connect(self._on_picture_chosen)
        head.pick_line.products_button.toggled.connect(self._on_products_toggled)
        head.query_key.closed.connect(lambda: head.pick_line.products_button.setChecked(False))
        head.sizes.threshold_chosen.connect(self._on_threshold_chosen)
        head.pick_line.clear_button.clicked.connect(self.forget)

    def forget(self) -> None:
        """Nothing is pinned or picked any more."""
        self._state.forget_marks()
        self.show_picks()

    def show_picks(self) -> None:
        """Pins and picks, wherever they are seen."""
        self._head.show_picks()
        self._head.show_products()
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

    def await_trace(self, request_id: int) -> None:
        """Of all answers about queries and keys this one alone counts."""
        self._head.query_key.tracing.await_trace(request_id)
        self._head.show_products()

    def accept_trace(self, request_id: int, translation: Translation, trace: Trace) -> None:
        """Queries and keys have come."""
        if self._head.query_key.tracing.accept(request_id, translation, trace):
            self._head.show_products()

    def refuse_trace(self, request_id: int, message: str) -> None:
        """Queries and keys are not known."""
        if self._head.query_key.tracing.refuse(request_id, message):
            self._head.show_products()

    def show_products(self) -> None:
        """Shows the products of the pinned cell if they are looked at; asks for queries and keys that are not known."""
        tracing, translation = self._head.query_key.tracing, self._state.translation
        if tracing.is_open and translation is not None and tracing.trace_of(translation) is None:
            self.trace_wanted.emit(translation)
        self._head.show_products()

    def _on_products_toggled(self, is_open: bool) -> None:
        self._head.query_key.tracing.is_open = is_open
        self.show_products()

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

    def _on_place_hovered(self, place: Place | None) -> None:
        self._state.hovered_place = place
        self._head.lines.update()

    def _on_picture_chosen(self, picture: Picture) -> None:
        self._state.picture = picture
        self._state.forget_hovered()
        self._head.show_picture()

    def _on_threshold_chosen(self, threshold: float) -> None:
        self._state.line_threshold = threshold
        self._head.sizes.rebuild()
        self._head.lines.update()

    def _on_sum_hovered(self, column: int | None) -> None:
        self._state.hovered_sum = column
        self._head.heatmap.update()
