"""The context menu of the large map: what can be done to the head, and to the query under the mouse."""

from functools import partial

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu, QWidget

from core.model.heads import Head
from viz_app.state.experiment_state import ExperimentState
from viz_app.state.map_view import Pair
from viz_app.views.row_editor import RowEditor


class CellMenu(QMenu):
    """Pins the cell under the mouse, sets the row it is in, switches the head off or on.

    Rows are those of the changed translation, and of one head: where the original or several heads are shown, no row
    can be set. A row of a word made of several tokens offers each of them.

    Attributes:
        editor: the window in which a row is being set; None before it is asked for.
    """

    def __init__(
        self,
        state: ExperimentState,
        queries: tuple[int, ...],
        pair: Pair | None,
        place: QPoint,
        parent: QWidget | None = None,
    ) -> None:
        """`place`: on the screen, where a row's editor opens."""
        super().__init__(parent)
        self._state, self._place = state, place
        self.editor: RowEditor | None = None
        if pair is not None:
            is_pinned = state.selection.pinned == pair
            self.addAction("Let go" if is_pinned else "Pin").triggered.connect(partial(self._pin, pair))
        can_set = state.settings.scope == "head" and not state.is_of_earlier_model and state.translation is not None
        if queries and can_set and state.maps.translation is state.translation:
            for query in queries:
                row = state.settings.axes.query
                name = f"Set this {row}…" if len(queries) == 1 else f"Set the {row} of “{self._token(query)}”…"
                self.addAction(name).triggered.connect(partial(self._edit, query))
        if state.settings.scope == "head" and state.result is not None:
            head = state.selection.head
            name = "Switch this head on" if state.is_off(head) else "Switch this head off"
            self.addAction(name).triggered.connect(partial(self._switch, head))

    def _token(self, query: int) -> str:
        translation, kind = self._state.translation, self._state.selection.head.kind
        assert translation is not None
        if kind == "encoder":
            return translation.source_tokens[query]
        is_read = self._state.settings.label_mode == "read"
        return (translation.read_tokens if is_read else translation.predicted_tokens)[query]

    def _pin(self, pair: Pair, _: bool = False) -> None:
        self._state.selection.pin(pair)

    def _edit(self, query: int, _: bool = False) -> None:
        self.editor = RowEditor(self._state, self._state.selection.head, query, self.parentWidget())
        self.editor.open_at(self._place)

    def _switch(self, head: Head, _: bool = False) -> None:
        self._state.toggle_head(head)
