"""The context menu of the large map: what can be done to the head, and to the query under the mouse."""

from functools import partial

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu, QWidget

from augenmerk.core.model.heads import Head
from augenmerk.viz_app.state.experiment_editor import toggle_head
from augenmerk.viz_app.state.experiment_state import ExperimentState, partner, query_tokens
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.views.row_editor import RowEditor


class CellMenu(QMenu):
    """Pins the cell under the mouse, sets the row it is in, switches the head off or on.

    Rows are set in the changed translation, and of one head: where several heads are shown, none can be. Where the
    original maps are shown, the row of the same token in the changed ones is set, if there is one. A row of a word made
    of several tokens offers each of them.

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
            self.addAction("Unpin" if is_pinned else "Pin").triggered.connect(partial(self._pin, pair))
        rows, row = self._rows_to_set(queries), state.settings.axes.query
        for query in rows:
            name = f"Set this {row}…" if len(rows) == 1 else f"Set the {row} of “{self._token(query)}”…"
            self.addAction(name).triggered.connect(partial(self._edit, query))
        if state.settings.scope == "head" and state.result is not None:
            head = state.selection.head
            name = "Switch this head on" if head in state.experiment.heads_off else "Switch this head off"
            self.addAction(name).triggered.connect(partial(self._switch, head))

    def _rows_to_set(self, queries: tuple[int, ...]) -> list[int]:
        """The queries of the changed translation that stand for these of the translation that is shown."""
        state = self._state
        shown, current = state.maps.translation, state.current
        if state.settings.scope != "head" or shown is None or current is None:
            return []
        kind, mode = state.selection.head.kind, state.settings.label_mode
        before, after = query_tokens(shown, kind, mode), query_tokens(current.changed, kind, mode)
        return [query for query in (partner(before, after, each) for each in queries) if query is not None]

    def _token(self, query: int) -> str:
        state = self._state
        assert state.translation is not None
        return query_tokens(state.translation, state.selection.head.kind, state.settings.label_mode)[query]

    def _pin(self, pair: Pair, _: bool = False) -> None:
        self._state.selection.pin(pair)

    def _edit(self, query: int, _: bool = False) -> None:
        self.editor = RowEditor(self._state, self._state.selection.head, query, self.parentWidget())
        self.editor.open_at(self._place)

    def _switch(self, head: Head, _: bool = False) -> None:
        self._state.submit(toggle_head(head))
