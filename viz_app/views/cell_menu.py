"""Context menus: of the large map, with actions on its head and the query under the mouse; and of the grid of heads."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QDoubleSpinBox, QFrame, QMenu, QPushButton, QSlider, QWidget

from augenmerk.core.counting import display_text
from augenmerk.core.errors import ExperimentError
from augenmerk.core.model.heads import Head, HeadGroup, Network
from augenmerk.core.translation.experiment import MAX_FACTOR, MAX_TEMPERATURE, MIN_TEMPERATURE, AttentionRow
from augenmerk.core.translation.result import Translation

from ..state.experiment_editor import intervene, remove, scale, switch_text, temper, toggle
from ..state.experiment_state import ExperimentState, partner, query_tokens
from ..state.map_view import Pair
from ..theme import scaled, scales
from ..widgets.bars import Bar, BarList
from ..widgets.labels import label
from ..widgets.layouts import VerticalScrollArea, column_of, row_of


class CellMenu(QMenu):
    """Pins the cell under the mouse, sets the row it is in, switches the head off or on.

    Rows are set in the changed translation, for a single head. With several heads shown, no row can be set. With the
    original maps shown, the row of the same token in the changed ones is set, if there is one. A row of a word made
    of several tokens offers each of them.

    Attributes:
        editor: the window for setting a row; None before the first request.
    """

    def __init__(
        self,
        state: ExperimentState,
        queries: tuple[int, ...],
        pair: Pair | None,
        place: QPoint,
        parent: QWidget | None = None,
    ) -> None:
        """`place`: the point on the screen for a row's editor."""
        super().__init__(parent)
        self._state, self._place = state, place
        self.editor: RowEditor | None = None
        if pair is not None:
            is_pinned = state.selection.pinned == pair
            self.addAction("Unpin" if is_pinned else "Pin").triggered.connect(lambda: state.selection.pin(pair))
        rows, view = self._rows_to_set(queries), state.maps.view()
        band_name = view.query_band_name if view is not None else "row"
        for query in rows:
            name = f"Set this {band_name}…" if len(rows) == 1 else f"Set the {band_name} of “{self._token(query)}”…"
            self.addAction(name).triggered.connect(partial(self._edit, query))
        if state.settings.scope == "head" and state.result is not None:
            head = state.selection.head
            add_switch(self, state, "this head", head)
            self.addAction("Set scale and temperature…").triggered.connect(
                lambda: PartEditor(state, head, self.parentWidget()).open_at(place)
            )

    def _rows_to_set(self, queries: tuple[int, ...]) -> list[int]:
        """The queries of the changed translation that correspond to these of the shown one."""
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

    def _edit(self, query: int, _: bool = False) -> None:
        self.editor = RowEditor(self._state, self._state.selection.head, query, self.parentWidget())
        self.editor.open_at(self._place)


class PartsMenu(QMenu):
    """Switches groups of heads off or on; for a layer also its feed-forward network.

    Args:
        state: receives the changes.
        groups: of heads.
        place: the point on the screen for the editor of a network.
    """

    def __init__(
        self, state: ExperimentState, groups: Sequence[HeadGroup], place: QPoint, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        for group in groups:
            add_switch(
                self, state, display_text(group.in_words), *(head for head in state.maps.all_heads if head in group)
            )
        for group in groups:
            if group.layer is not None:
                network = Network(group.side, group.layer)
                self.addSeparator()
                name = f"the {display_text(network)}"
                add_switch(self, state, name, network)
                self.addAction(f"Scale {name}…").triggered.connect(
                    lambda _=False, network=network: PartEditor(state, network, self.parentWidget()).open_at(place)
                )


def add_switch(menu: QMenu, state: ExperimentState, name: str, *parts: Head | Network) -> None:
    """Adds an entry that switches heads and networks off or on. Gives them this name."""
    action = menu.addAction(switch_text(state.experiment, *parts, name=name))
    action.triggered.connect(lambda: state.submit(toggle(*parts)))


WIDTH, MAX_HEIGHT = 300, 340
TIP = "Click a word to give it all the weight, or its bar to set a share; the rest is distributed."


class Popup(QFrame):
    """A small window that closes with a click next to it."""

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("role", "card")

    def open_at(self, point: QPoint) -> None:
        """Shows it with its corner at a point of the screen, or as near as the screen allows."""
        self.adjustSize()
        self.show_at(point)

    def show_at(self, point: QPoint) -> None:
        """The same, at its present size."""
        room = self.screen().availableGeometry()
        self.move(
            max(room.left(), min(point.x(), room.right() - self.width())),
            max(room.top(), min(point.y(), room.bottom() - self.height())),
        )
        self.show()


class RowEditor(Popup):
    """The row of one query of a head, as weights that can be changed: at first those of the changed maps.

    Attributes:
        head, query: the row.
        weights: the weights set here, one for each key that the query sees; they sum to 1.
        bars: the keys with their weights.
        set_button: adds the row to the experiment.
        reset_button: restores the model's row.
        problem: the reason if the row was refused; else empty.
    """

    def __init__(self, state: ExperimentState, head: Head, query: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state, self.head, self.query = state, head, query
        translation = state.translation
        assert translation is not None
        self._keys = keys_seen(translation, head, query)
        self.weights = [
            float(each) for each in translation.maps.of_kind(head.kind)[head.layer, head.head, query, : len(self._keys)]
        ]
        row = query_name(translation, head, query)
        title = label("heading", f"{display_text(head.short_name)}: weights of “{row}”", wraps=True)
        self.bars = BarList("Weights of this query", TIP)
        self.bars.label_clicked.connect(self.give_all)
        self.bars.bar_clicked.connect(self.give)
        self.problem = label("warm", wraps=True)
        self.set_button = QPushButton("Set weights")
        self.set_button.setProperty("role", "primary")
        self.set_button.clicked.connect(self.set_row)
        self.reset_button = QPushButton("Restore the model's weights")
        self.reset_button.clicked.connect(self.reset_row)
        self.reset_button.setEnabled(self._row_set is not None)
        area = VerticalScrollArea(self.bars, takes_keys=True)
        buttons = row_of(self.set_button, self.reset_button)
        column_of(
            title, label("small", TIP, wraps=True), area, self.problem, buttons, margins=(12, 10, 12, 10), within=self
        )
        self.problem.hide()
        self._show_bars()
        area.setFixedHeight(min(self.bars.sizeHint().height(), scaled(MAX_HEIGHT)))
        scales(self.setFixedWidth, WIDTH)

    def give_all(self, index: int) -> None:
        """Gives all weight to one key."""
        self.give(index, 1.0)

    def give(self, index: int, share: float) -> None:
        """Gives a key this share; the rest is divided among the others in their previous proportions."""
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
            [Bar(key, weight, f"{weight:.2f}") for key, weight in zip(self._keys, self.weights, strict=True)]
        )


EDITOR_WIDTH, NAME_WIDTH, FIELD_WIDTH = 360, 90, 95
SLIDER_STEP = 0.05
"""The change of a factor from one place of its slider to the next; of a temperature's logarithm."""


@dataclass(frozen=True)
class Scale:
    """The numbers on a slider; others can be typed.

    Attributes:
        first, last: its places.
        number: the number at a place.
        place: the place nearest to a number.
    """

    first: int
    last: int
    number: Callable[[int], float]
    place: Callable[[float], int]


FACTORS = Scale(-20, 40, lambda place: round(place * SLIDER_STEP, 6), lambda number: round(number / SLIDER_STEP))
TEMPERATURES = Scale(
    -20,
    20,
    lambda place: float(f"{10 ** (place * SLIDER_STEP):.3g}"),
    lambda number: round(math.log10(number) / SLIDER_STEP),
)
"""From 0.1 to 10, with the same ratio between neighbours."""


class PartEditor(Popup):
    """The factor of a head or feed-forward network, and the temperature of a head: as sliders and exact numbers.

    Attributes:
        part: the head or network.
        factor, temperature: the numbers with their sliders; no temperature of a network.
    """

    def __init__(self, state: ExperimentState, part: Head | Network, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.part = part
        factors = {each.part: each.factor for each in state.experiment.scalings}
        what = "head" if isinstance(part, Head) else "network"
        self.factor = NumberSlider("Output times", factors.get(part, 1.0), (-MAX_FACTOR, MAX_FACTOR), FACTORS)
        self.factor.chosen.connect(lambda factor: state.submit(scale(part, factor)))
        self.temperature: NumberSlider | None = None
        title, tip = label("heading", display_text(part.title), wraps=True), label("small", wraps=True)
        tip.setText(f"0 switches the {what} off; 1 is the model's own.")
        widgets: list[QWidget] = [title, tip, self.factor]
        if isinstance(part, Head):
            temperatures = {each.head: each.temperature for each in state.experiment.temperatures}
            self.temperature = NumberSlider(
                "Temperature", temperatures.get(part, 1.0), (MIN_TEMPERATURE, MAX_TEMPERATURE), TEMPERATURES
            )
            self.temperature.chosen.connect(lambda temperature: state.submit(temper(part, temperature)))
            tip.setText(f"{tip.text()} A temperature above 1 makes its weights more even, below 1 sharper.")
            widgets.append(self.temperature)
        column_of(*widgets, margins=(12, 10, 12, 10), within=self)
        scales(self.setFixedWidth, EDITOR_WIDTH)


class NumberSlider(QWidget):
    """A number with a slider; the slider may cover only a part of the numbers that can be typed.

    Attributes:
        slider: reports its number when it is released.
        field: the exact number.

    Signals:
        chosen(float): the user chose another number.
    """

    chosen = Signal(float)

    def __init__(self, name: str, number: float, limits: tuple[float, float], scale: Scale) -> None:
        super().__init__()
        self._scale = scale
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setProperty("role", "film")
        self.slider.setTracking(False)  # a translation for each pixel would fill the history
        self.slider.setRange(scale.first, scale.last)
        self.field = QDoubleSpinBox()
        self.field.setDecimals(3)
        self.field.setRange(*limits)
        self.field.setSingleStep(0.1)
        self.field.setKeyboardTracking(False)
        self.field.setValue(number)
        scales(self.field.setFixedWidth, FIELD_WIDTH)
        self.slider.setValue(scale.place(number))
        for widget in (self.slider, self.field):
            widget.setAccessibleName(name)
        self.slider.valueChanged.connect(lambda place: self.field.setValue(scale.number(place)))
        self.field.valueChanged.connect(self._choose)
        title = label("muted", name)
        scales(title.setFixedWidth, NAME_WIDTH)
        row_of(title, (self.slider, 1), self.field, spacing=8, within=self)

    def _choose(self, number: float) -> None:
        with QSignalBlocker(self.slider):  # its nearest place is not the number
            self.slider.setValue(self._scale.place(number))
        self.chosen.emit(number)


def keys_seen(translation: Translation, head: Head, query: int) -> tuple[str, ...]:
    """The tokens whose keys a query sees: all of the source, or the target tokens read so far."""
    return translation.read_tokens[: query + 1] if head.kind == "decoder" else translation.source_tokens


def query_name(translation: Translation, head: Head, query: int) -> str:
    """The token that a query reads, and for the decoder the one that is predicted there."""
    if head.kind == "encoder":
        return translation.source_tokens[query]
    return f"{translation.read_tokens[query]} → {translation.predicted_tokens[query]}"


def with_share(weights: Sequence[float], index: int, share: float) -> list[float]:
    """Weights with one of them set, the others scaled so that all sum to 1; evenly where they were all 0."""
    others = sum(weights) - weights[index]
    if len(weights) == 1:
        return [1.0]
    left = 1.0 - share
    even = left / (len(weights) - 1)
    return [
        share if place == index else weight / others * left if others > 1e-12 else even
        for place, weight in enumerate(weights)
    ]
