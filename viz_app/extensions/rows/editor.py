"""Rows of attention set by hand: their editor, and the entries of the menu of a cell that open
it.
"""

from collections.abc import Sequence
from functools import partial

from PySide6.QtWidgets import QPushButton, QWidget

from augenmerk.core.counting import display_text
from augenmerk.core.errors import ExperimentError
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import AttentionRow
from augenmerk.core.translation.result import Translation

from ...state.experiment_editor import intervene, remove
from ...state.experiment_state import ExperimentState, partner, query_tokens
from ...theme import scaled, scales
from ...views.cell_menu import CellMenu, Popup
from ...widgets.labels import label
from ...widgets.layouts import VerticalScrollArea, column_of, row_of
from ..widgets.bars import Bar, BarList

WIDTH, MAX_HEIGHT = 300, 340
TIP = "Click a word to give it all the weight, or its bar to set a share; the rest is distributed."


def offer_rows(menu: CellMenu) -> None:
    """Adds an entry for each row under the mouse that can be set.

    Rows are set in the changed translation, for a single head. With several heads shown, no row can
    be set. With the original maps shown, the row of the same token in the changed ones is set, if
    there is one. A row of a word made of several tokens offers each of them.
    """
    state = menu.state
    view = menu.state.maps.view()
    shown = state.maps.translation
    current = state.current
    if state.settings.scope != "head" or shown is None or current is None:
        return
    kind = state.selection.head.kind
    mode = state.settings.label_mode
    before, after = query_tokens(shown, kind, mode), query_tokens(current.changed, kind, mode)
    rows = [
        row for row in (partner(before, after, query) for query in menu.queries) if row is not None
    ]
    band_name = view.query_band_name if view is not None else "row"
    for row in rows:
        name = (
            f"Set this {band_name}…"
            if len(rows) == 1
            else f"Set the {band_name} of “{after[row]}”…"
        )
        menu.addAction(name).triggered.connect(partial(_edit, menu, row))


def _edit(menu: CellMenu, row: int, _: bool = False) -> None:
    RowEditor(menu.state, menu.state.selection.head, row, menu.parentWidget()).open_at(menu.place)


class RowEditor(Popup):
    """The row of one query of a head, as weights that can be changed: at first those of the changed
    maps.

    Attributes:
        head: the head of the row.
        query: the position of the query.
        weights: the weights set here, one for each key that the query sees; they sum to 1.
        bars: the keys with their weights.
        set_button: adds the row to the experiment.
        reset_button: restores the model's row.
        problem: the reason if the row was refused; else empty.
    """

    def __init__(
        self, state: ExperimentState, head: Head, query: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._state, self.head, self.query = state, head, query
        translation = state.translation
        assert translation is not None
        self._keys = keys_seen(translation, head, query)
        weights = translation.maps.of_kind(head.kind)[
            head.layer, head.head, query, : len(self._keys)
        ]
        self.weights = [float(weight) for weight in weights]
        row = query_name(translation, head, query)
        title = label("heading", f"{display_text(head.short_name)}: weights of “{row}”", wraps=True)
        self.bars = BarList("Weights of this query", TIP)
        self.bars.label_clicked.connect(self.give_all)
        self.bars.bar_clicked.connect(self.give)
        self.problem = label("warm", wraps=True)
        self.set_button = QPushButton("Set weights")
        self.set_button.setProperty("role", "primary")
        self.set_button.clicked.connect(self.set_row)
        self.reset_button = QPushButton("Restore")
        self.reset_button.setToolTip("Give this row the model's own weights again")
        self.reset_button.clicked.connect(self.reset_row)
        self.reset_button.setEnabled(self._row_set is not None)
        area = VerticalScrollArea(self.bars, takes_keys=True)
        buttons = row_of(self.set_button, self.reset_button, 1)
        column_of(
            title,
            label("small", TIP, wraps=True),
            area,
            self.problem,
            buttons,
            margins=(12, 10, 12, 10),
            within=self,
        )
        self.problem.hide()
        self._show_bars()
        area.setFixedHeight(min(self.bars.sizeHint().height(), scaled(MAX_HEIGHT)))
        scales(self.setFixedWidth, WIDTH)

    def give_all(self, index: int) -> None:
        """Gives all weight to one key."""
        self.give(index, 1.0)

    def give(self, index: int, share: float) -> None:
        """Gives a key this share; the rest is divided among the others in their previous
        proportions.
        """
        self.weights = with_share(self.weights, index, share)
        self._show_bars()

    def set_row(self) -> None:
        """Adds the row to the experiment, or shows the reason for a refusal."""
        try:
            self._state.submit(intervene(AttentionRow(self.head, self.query, tuple(self.weights))))
        except ExperimentError as error:
            self.problem.setText(display_text(error))
            self.problem.show()
            self.adjustSize()
        else:
            self.close()

    def reset_row(self) -> None:
        """Removes the row from the experiment."""
        if self._row_set is not None:
            self._state.submit(remove(self._row_set))
        self.close()

    @property
    def _row_set(self) -> AttentionRow | None:
        rows = self._state.experiment.attention_rows
        return next((row for row in rows if row.head == self.head and row.row == self.query), None)

    def _show_bars(self) -> None:
        self.bars.show_bars(
            [
                Bar(key, weight, f"{weight:.2f}")
                for key, weight in zip(self._keys, self.weights, strict=True)
            ]
        )


def keys_seen(translation: Translation, head: Head, query: int) -> tuple[str, ...]:
    """The tokens whose keys a query sees: all of the source, or the target tokens read so far."""
    return (
        translation.read_tokens[: query + 1]
        if head.kind == "decoder"
        else translation.source_tokens
    )


def query_name(translation: Translation, head: Head, query: int) -> str:
    """The token that a query reads, and for the decoder the one that is predicted there."""
    if head.kind == "encoder":
        return translation.source_tokens[query]
    return f"{translation.read_tokens[query]} → {translation.predicted_tokens[query]}"


def with_share(weights: Sequence[float], index: int, share: float) -> list[float]:
    """Weights with one of them set, and the others scaled so that all sum to 1.

    Others that are all 0 get even shares.
    """
    others = sum(weights) - weights[index]
    if len(weights) == 1:
        return [1.0]
    left = 1.0 - share
    if others > 1e-12:
        changed = [weight / others * left for weight in weights]
    else:
        changed = [left / (len(weights) - 1)] * len(weights)
    changed[index] = share
    return changed
