"""The controls under the large map: what its queries are called, what is left out, how large it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QBoxLayout,
    QButtonGroup,
    QCheckBox,
    QMenu,
    QRadioButton,
    QSlider,
    QWidget,
)

from augenmerk.core.analysis.selection import LabelMode
from augenmerk.viz_app.state import map_text
from augenmerk.viz_app.state.evented_options import on_redraw
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view import Axes
from augenmerk.viz_app.state.map_view_settings import FIT
from augenmerk.viz_app.state.weight_explanation import WeightExplanation
from augenmerk.viz_app.theme import scaled, scales
from augenmerk.viz_app.widgets.labels import ElidingLabel
from augenmerk.viz_app.widgets.layouts import column_of, row_of
from augenmerk.viz_app.widgets.menu_button import MenuButton
from augenmerk.viz_app.widgets.parts import flat_button, label, set_visible

MAX_THRESHOLD_PERCENT = 60
MODES: tuple[LabelMode, ...] = ("predicted", "read")
"""How queries are named, in the order of the menu."""
HIDING = {
    "hides_wrapping": "Hide start and end",
    "hides_punctuation": "Hide punctuation",
    "merges_words": "Merge subwords",
}
"""Settings that leave tokens out or put them together, as the menu calls them."""


@dataclass(frozen=True)
class TokenTips:
    """What the controls of rows and columns say of themselves, each under the name of what it sets."""

    read: str
    predicted: str
    encoder: str
    hides_wrapping: str
    hides_punctuation: str
    merges_words: str

    @classmethod
    def of(cls, axes: Axes) -> "TokenTips":
        """For a drawing with these axes."""
        named, scaled = (
            f"A {axes.query} is named by the word that",
            f"the rest of a {axes.query} is scaled up to its sum",
        )
        return cls(
            read=f"{named} goes in: where does the model look once it has read it, to choose the next?",
            predicted=f"{named} comes out: where did the model look while it chose this word?",
            encoder=f"The encoder predicts nothing: its {axes.query}s are the tokens it reads.",
            hides_wrapping=f"Hide the start and end tokens; {scaled}",
            hides_punctuation=f"Leave out punctuation; {scaled}",
            merges_words=f"Words instead of pieces: {axes.key}s are summed, {axes.query}s averaged",
        )


class TokenChoices:
    """Connects buttons or menu entries with the settings of how tokens are named, hidden and merged.

    Args:
        state: has the settings.
        controls: checkable, by name: "predicted", "read", and the names in `HIDING`. The first two exclude each other.
    """

    def __init__(self, state: ExperimentState, controls: Mapping[str, QAction] | Mapping[str, QAbstractButton]) -> None:
        self._state, self._controls = state, controls
        self.rebuild()
        for mode in MODES:
            controls[mode].toggled.connect(partial(self._choose_label_mode, mode))
        for name in HIDING:
            controls[name].toggled.connect(partial(setattr, state.settings, name))
        state.result_changed.connect(self.rebuild)
        state.selection.events.head.connect(self.name_axes, max_args=0)
        on_redraw(state.settings, ("maps",), self.rebuild)

    def rebuild(self) -> None:
        """Another result, or another choice."""
        settings = self._state.settings
        self._controls[settings.label_mode].setChecked(True)
        for name in HIDING:
            self._controls[name].setChecked(getattr(settings, name))
        self._controls["merges_words"].setVisible(map_text.splits_words(self._state))
        self.name_axes()

    def name_axes(self) -> None:
        """Tips follow which axis carries the queries. Queries of the encoder have one name."""
        tips = TokenTips.of(self._state.settings.axes)
        is_encoder = self._state.selection.head.kind == "encoder"
        for name, control in self._controls.items():
            tip = tips.encoder if is_encoder and name in MODES else getattr(tips, name)
            if tip != control.toolTip():
                control.setToolTip(tip)
        for mode in MODES:
            self._controls[mode].setEnabled(not is_encoder)

    def _choose_label_mode(self, mode: LabelMode, is_chosen: bool) -> None:
        if is_chosen:
            self._state.settings.label_mode = mode


class HeadControls(QWidget):
    """One line, or two where there is no room.

    Attributes:
        read_button, predicted_button, hide_wrapping, hide_punctuation, merge_words: how rows and columns are named,
            and which are left out.
    """

    def __init__(self, state: ExperimentState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.read_button = QRadioButton("token read")
        self.predicted_button = QRadioButton("token predicted")
        self.hide_wrapping = QCheckBox("start and end")
        self.hide_punctuation = QCheckBox("punctuation")
        self.merge_words = QCheckBox("merge subwords")
        self._group = QButtonGroup(self)
        self._group.addButton(self.read_button)
        self._group.addButton(self.predicted_button)
        self._queries_label, self._hide_label = label("muted"), label("muted")
        self._hide_label.setText("hide:")
        hiding = (self.hide_wrapping, self.hide_punctuation, self.merge_words)
        buttons = {
            "predicted": self.predicted_button,
            "read": self.read_button,
            **dict(zip(HIDING, hiding, strict=True)),
        }
        self._choices = TokenChoices(state, buttons)
        self.name_axes()
        self._lay_out()

    def name_axes(self) -> None:
        """The words follow which axis carries the queries."""
        self._queries_label.setText(f"{self._state.settings.axes.query}s:")
        self._choices.name_axes()

    def fit(self, width: int) -> None:
        """One line if it fits into this width, else two."""
        self._line.invalidate()
        needed = self._naming.sizeHint().width() + self._hiding.sizeHint().width() + scaled(18)
        fits = needed <= width
        direction = QBoxLayout.Direction.LeftToRight if fits else QBoxLayout.Direction.TopToBottom
        if direction != self._line.direction():
            self._line.setDirection(direction)
            scales(self._line.setSpacing, 18 if fits else 4)

    def _lay_out(self) -> None:
        self._naming = row_of(self._queries_label, self.predicted_button, self.read_button, 0, spacing=10)
        hiding = (self._hide_label, self.hide_wrapping, self.hide_punctuation, self.merge_words)
        self._hiding = row_of(*hiding, 1, spacing=10)
        self._line: QBoxLayout = row_of(self._naming, (self._hiding, 1), spacing=18, within=self)


class TokensMenu(MenuButton):
    """The same choices as a menu, for where there is no room for `HeadControls`.

    Attributes:
        actions_by_name: "predicted", "read", and the names of the settings of what is left out and merged.
    """

    def __init__(self, state: ExperimentState, parent: QWidget | None = None) -> None:
        super().__init__("tokens ▾", "", parent)
        self._state = state
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        self.actions_by_name: dict[str, QAction] = {}
        group = QActionGroup(menu)
        for mode in MODES:
            self._add(menu, mode).setActionGroup(group)
        menu.addSeparator()
        for name, text in HIDING.items():
            self._add(menu, name, text)
        self.setMenu(menu)
        self._choices = TokenChoices(state, self.actions_by_name)
        self.name_axes()

    def name_axes(self) -> None:
        """The words follow which axis carries the queries."""
        query = self._state.settings.axes.query
        self.setToolTip(f"How {query}s are named, and which tokens are hidden")
        for mode in MODES:
            self.actions_by_name[mode].setText(f"{query.capitalize()}s: token {mode}")
        self._choices.name_axes()

    def _add(self, menu: QMenu, name: str, text: str = "") -> QAction:
        action = menu.addAction(text)
        action.setCheckable(True)
        self.actions_by_name[name] = action
        return action


class SizeControls(QWidget):
    """How large the map's cells are; or, of lines, from which weight on they are drawn.

    Attributes:
        zoom_out, zoom_fit, zoom_in: of the heatmap.
        threshold: of the lines, in percent of the last colour's weight.

    Signals:
        zoomed(int): the map is to be larger by a step, or smaller: by how much depends on how large it is.
    """

    zoomed = Signal(int)

    def __init__(self, state: ExperimentState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.zoom_out = flat_button("−", "Smaller cells (Ctrl and the wheel)")
        self.zoom_fit = flat_button("fit", "Fit the whole map")
        self.zoom_in = flat_button("+", "Larger cells (Ctrl and the wheel); the map scrolls")
        self.zoom_out.clicked.connect(lambda: self.zoomed.emit(-1))
        self.zoom_fit.clicked.connect(self._fit)
        self.zoom_in.clicked.connect(lambda: self.zoomed.emit(1))
        self.threshold = QSlider(Qt.Orientation.Horizontal)
        self.threshold.setRange(0, MAX_THRESHOLD_PERCENT)
        scales(self.threshold.setFixedWidth, 110)
        self.threshold.setToolTip("Weaker lines are left out")
        self.threshold.setAccessibleName("Weakest line that is drawn")
        self.threshold.valueChanged.connect(self._choose_threshold)
        self._caption = label("small")
        row_of(self.zoom_out, self.zoom_fit, self.zoom_in, self._caption, self.threshold, spacing=4, within=self)
        self.rebuild()
        for changed in (state.settings.events.picture, state.settings.events.line_threshold):
            changed.connect(self.rebuild, max_args=0)

    def rebuild(self) -> None:
        """The picture or the threshold was changed."""
        settings = self._state.settings
        is_lines = settings.picture == "lines"
        for button in (self.zoom_out, self.zoom_fit, self.zoom_in):
            button.setVisible(not is_lines)
        self._caption.setText(f"from {settings.line_threshold:.2f}")
        self.threshold.setValue(round(100 * settings.line_threshold))
        for widget in (self._caption, self.threshold):
            widget.setVisible(is_lines)

    def _fit(self) -> None:
        self._state.settings.zoom = FIT

    def _choose_threshold(self, percent: int) -> None:
        self._state.settings.line_threshold = percent / 100


LEAST_WORDS = 150
"""Pixels that the words need; beside buttons that leave them less they stand in a line of their own."""
_DIRECT = Qt.FindChildOption.FindDirectChildrenOnly
LINES_HINT = """Click words at the left to sum their lines (Ctrl, Shift: several)
Click words at the left to sum their lines
Click words at the left
Click words"""


def hint(axes: Axes) -> str:
    """What a click on the heatmap does, from the whole sentence to a few words."""
    queries, where = f"{axes.query}s", axes.query_labels
    return f"""Click cells to pin them, words {where} to sum their {queries} (Ctrl, Shift: several)
Click a cell to pin it, words {where} to sum {queries}
Click a cell, or words {where}
Click a cell or word
Click a cell"""


class PickLine(QWidget):
    """Says what is pinned and picked.

    Attributes:
        label: the words.
        clear_button: lets go of all of it.
        explain_button: shows where the pinned weight comes from.
        row: the words and these buttons, and what a panel puts beside them.
    """

    def __init__(self, state: ExperimentState, explanation: WeightExplanation, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state, self._explanation = state, explanation
        self.label = ElidingLabel("small", hint(state.settings.axes), elide=Qt.TextElideMode.ElideMiddle)
        self.clear_button = flat_button("clear", "Unpin the cell and clear picked tokens (Esc)")
        policy = self.clear_button.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # the map must not jump when a cell is pinned
        self.clear_button.setSizePolicy(policy)
        self.clear_button.clicked.connect(state.selection.clear_marks)
        self.explain_button = flat_button(
            "Explain this weight", "The origin of the pinned weight: query times key, by dimension"
        )
        self.explain_button.setCheckable(True)
        self.explain_button.toggled.connect(partial(setattr, explanation, "is_open"))
        self._is_split = False
        # the stretch takes the room of the label when that has a line of its own
        self.row = row_of(0, (self.label, 1), self.clear_button, self.explain_button, spacing=4)
        self._column = column_of(self.row, spacing=0, within=self)
        self.rebuild()
        for changed in (state.result_changed, state.measuring.changed):
            changed.connect(self.rebuild)
        on_redraw(state.settings, ("maps", "large map"), self.rebuild)
        selection = state.selection.events
        for changed in (selection.head, selection.pinned, selection.picked, selection.picked_key):
            changed.connect(self.rebuild, max_args=0)
        explanation.events.is_open.connect(self.rebuild, max_args=0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width."""
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """A button was shown or hidden, or has another text."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().event(event)

    def _fit(self) -> None:
        """The words stand beside the buttons, or above them. What they say does not count: nothing jumps."""
        buttons = [child for child in self.findChildren(QWidget, options=_DIRECT) if child is not self.label]
        shown = [each for each in buttons if not each.isHidden() or each.sizePolicy().retainSizeWhenHidden()]
        taken = sum(each.sizeHint().width() + self.row.spacing() for each in shown)
        is_split = self.width() - taken < scaled(LEAST_WORDS)
        if is_split == self._is_split:
            return
        self._is_split = is_split
        if is_split:
            self.row.removeWidget(self.label)
            self._column.insertWidget(0, self.label)
        else:
            self._column.removeWidget(self.label)
            self.row.insertWidget(1, self.label, 1)

    def rebuild(self) -> None:
        """Something was pinned or picked, or let go, or means something else now."""
        state, is_lines = self._state, self._state.settings.picture == "lines"
        parent = self.parentWidget()  # the panel of the map, which hands focus on to the map
        set_visible(self.clear_button, state.selection.has_marks, focus_to=parent if parent is not None else self)
        how = LINES_HINT if is_lines else hint(state.settings.axes)
        self.label.setText(map_text.marks_in_words(state) or how)
        self.explain_button.setVisible(not is_lines)
        self.explain_button.setChecked(self._explanation.is_open)
