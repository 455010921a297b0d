"""Context menus of the large map, for its head and the query under the mouse, and of the grid."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QDoubleSpinBox, QFrame, QMenu, QSlider, QWidget

from augenmerk.core.counting import display_text
from augenmerk.core.model.heads import Head, HeadGroup, Network
from augenmerk.core.translation.experiment import MAX_FACTOR, MAX_TEMPERATURE, MIN_TEMPERATURE

from ..state.experiment_editor import scale, switch_text, temper, toggle
from ..state.experiment_state import ExperimentState
from ..state.map_view import Pair
from ..theme import scales
from ..widgets.labels import label
from ..widgets.layouts import column_of, row_of


class CellMenu(QMenu):
    """Pins the cell under the mouse, switches the head off or on.

    Attributes:
        queries: those under the mouse.
        pair: the cell under the mouse; None if there is none.
        place: the point on the screen for an editor.
    """

    def __init__(
        self,
        state: ExperimentState,
        queries: tuple[int, ...],
        pair: Pair | None,
        point: QPoint,
        parent: QWidget | None = None,
        offers: Iterable[Callable[["CellMenu"], object]] = (),
    ) -> None:
        """`offers`: add entries about the cell."""
        super().__init__(parent)
        self.state = state
        self.queries, self.pair = queries, pair
        self.place = point
        if pair is not None:
            is_pinned = state.selection.pinned == pair
            self.addAction("Unpin" if is_pinned else "Pin").triggered.connect(
                lambda: state.selection.pin(pair)
            )
        for offer in offers:
            offer(self)
        if state.settings.scope == "head" and state.is_translated:
            head = state.selection.head
            add_switch(self, state, "this head", head)
            self.addAction("Set scale and temperature…").triggered.connect(
                lambda: PartEditor(state, head, self.parentWidget()).open_at(point)
            )


class PartsMenu(QMenu):
    """Switches groups of heads off or on; for a layer also its feed-forward network.

    Args:
        state: receives the changes.
        groups: of heads.
        point: the point on the screen for the editor of a network.
    """

    def __init__(
        self,
        state: ExperimentState,
        groups: Sequence[HeadGroup],
        point: QPoint,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        for group in groups:
            add_switch(
                self,
                state,
                display_text(group.in_words),
                *(head for head in state.maps.all_heads if head in group),
            )
        for group in groups:
            if group.layer is not None:
                network = Network(group.side, group.layer)
                self.addSeparator()
                name = f"the {display_text(network)}"
                add_switch(self, state, name, network)
                self.addAction(f"Scale {name}…").triggered.connect(
                    lambda _=False, network=network: PartEditor(
                        state, network, self.parentWidget()
                    ).open_at(point)
                )


def add_switch(menu: QMenu, state: ExperimentState, name: str, *parts: Head | Network) -> None:
    """Adds an entry that switches heads and networks off or on. Gives them this name."""
    action = menu.addAction(switch_text(state.experiment, *parts, name=name))
    action.triggered.connect(lambda: state.submit(toggle(*parts)))


class Popup(QFrame):
    """A small window that closes with a click next to it."""

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("role", "card")

    def open_at(self, point: QPoint) -> None:
        """Shows it with its corner at a point of the screen, or as near as the screen allows."""
        self.adjustSize()
        if (layout := self.layout()) is not None:  # its texts may need more lines at its width
            self.resize(self.width(), layout.totalHeightForWidth(self.width()))
        self.show_at(point)

    def show_at(self, point: QPoint) -> None:
        """The same, at its present size."""
        room = self.screen().availableGeometry()
        self.move(
            max(room.left(), min(point.x(), room.right() - self.width())),
            max(room.top(), min(point.y(), room.bottom() - self.height())),
        )
        self.show()


EDITOR_WIDTH, NAME_WIDTH, FIELD_WIDTH = 360, 90, 95
SLIDER_STEP = 0.05
"""The change of a factor from one position of its slider to the next; of a temperature's logarithm.
"""


@dataclass(frozen=True)
class Scale:
    """The numbers on a slider; others can be typed.

    Attributes:
        first: the lowest position.
        last: the highest position.
        number: returns the number at a position.
        position: returns the position nearest to a number.
    """

    first: int
    last: int
    number: Callable[[int], float]
    position: Callable[[float], int]


FACTORS = Scale(
    -20,
    40,
    lambda position: round(position * SLIDER_STEP, 6),
    lambda number: round(number / SLIDER_STEP),
)
TEMPERATURES = Scale(
    -20,
    20,
    lambda position: float(f"{10 ** (position * SLIDER_STEP):.3g}"),
    lambda number: round(math.log10(number) / SLIDER_STEP),
)
"""Temperatures of a slider: from 0.1 to 10, with the same ratio between neighbours."""


class PartEditor(Popup):
    """Sliders and exact numbers for factors of heads and networks, and temperatures of heads.

    Attributes:
        part: the head or network.
        factor: the factor with its slider.
        temperature: the temperature with its slider; a network has none.
    """

    def __init__(
        self, state: ExperimentState, part: Head | Network, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.part = part
        factors = {scaling.part: scaling.factor for scaling in state.experiment.scalings}
        what = "head" if isinstance(part, Head) else "network"
        self.factor = NumberSlider(
            "Output times", factors.get(part, 1.0), (-MAX_FACTOR, MAX_FACTOR), FACTORS
        )
        self.factor.chosen.connect(lambda factor: state.submit(scale(part, factor)))
        self.temperature: NumberSlider | None = None
        title = label("heading", display_text(part.title), wraps=True)
        tip = label("small", wraps=True)
        tip.setText(f"0 switches the {what} off; 1 is the model's own.")
        widgets: list[QWidget] = [title, tip, self.factor]
        if isinstance(part, Head):
            temperatures = {
                change.head: change.temperature for change in state.experiment.temperatures
            }
            self.temperature = NumberSlider(
                "Temperature",
                temperatures.get(part, 1.0),
                (MIN_TEMPERATURE, MAX_TEMPERATURE),
                TEMPERATURES,
            )
            self.temperature.chosen.connect(
                lambda temperature: state.submit(temper(part, temperature))
            )
            tip.setText(
                f"{tip.text()} A temperature above 1 makes its weights more even, below 1 sharper."
            )
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
        self.slider.setValue(scale.position(number))
        for widget in (self.slider, self.field):
            widget.setAccessibleName(name)
        self.slider.valueChanged.connect(
            lambda position: self.field.setValue(scale.number(position))
        )
        self.field.valueChanged.connect(self._choose)
        title = label("muted", name)
        scales(title.setFixedWidth, NAME_WIDTH)
        row_of(title, (self.slider, 1), self.field, spacing=8, within=self)

    def _choose(self, number: float) -> None:
        with QSignalBlocker(self.slider):  # its nearest position is not the number
            self.slider.setValue(self._scale.position(number))
        self.chosen.emit(number)
