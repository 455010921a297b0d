"""What is changed in the current experiment: a removable chip for each intervention, undo, redo and reset."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QSizePolicy, QToolButton, QWidget

from augenmerk.core.translation.experiment import GivenTarget, Intervention
from augenmerk.core.translation.result import ExperimentResult
from augenmerk.viz_app.state import experiment_editor as edits
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view_settings import SHOWN_MAPS, ShownMaps
from augenmerk.viz_app.theme import scales
from augenmerk.viz_app.views.commands import NEXT_MAPS, REDO, UNDO
from augenmerk.viz_app.widgets.commands import add_shortcut
from augenmerk.viz_app.widgets.layouts import FlowLayout, row_of
from augenmerk.viz_app.widgets.parts import flat_button, label, set_visible, tab_button, take_out
from augenmerk.viz_app.widgets.scroll_areas import ContentHeightScrollArea

CHIP_SPACING = 5
MAX_ROWS, MAX_ROWS_LOW = 3, 2
"""Of chips in sight at once, and on a low page; the others scroll."""
HINT = "Try it: right-click a head to switch it off, point at a word to choose another, or edit the translation."


HINT_WITHOUT_HEADS = "Try it: point at a word to choose another, or edit the translation."


class InterventionChips(QWidget):
    """One line while there are few interventions; it wraps where there are many.

    Keyboard focus stays here when the chip or button that has it goes: on the next chip, or on undo or redo.

    Attributes:
        hint: stands there while nothing is changed.
        chips: one button for each intervention, in their order; the last one for a given translation.
        undo_button, redo_button, reset_button: what they say.
    """

    def __init__(
        self, state: ExperimentState, parent: QWidget | None = None, *, undo: Callable[[], None] | None = None
    ) -> None:
        """`undo`: what the button does; None for the state's own, which knows nothing of text that is being typed."""
        super().__init__(parent)
        self._state = state
        self.hint = label("small", wraps=True)
        self.hint.setText(HINT)
        self.chips: list[QToolButton] = []
        self.undo_button = flat_button("↶", UNDO.tip_with_keys())
        self.redo_button = flat_button("↷", REDO.tip_with_keys())
        self.reset_button = flat_button("reset", "Reset all changes")
        for button, name in ((self.undo_button, "Undo"), (self.redo_button, "Redo"), (self.reset_button, "Reset")):
            button.setAccessibleName(name)
        self.undo_button.clicked.connect(undo or (lambda: state.submit(edits.undo)))
        self.redo_button.clicked.connect(lambda: state.submit(edits.redo))
        self.reset_button.clicked.connect(lambda: state.submit(edits.reset))
        content = QWidget()
        self._flow = FlowLayout(CHIP_SPACING, content)
        self._flow_area = _ChipRows(content, self._flow)
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        scales(row.setSpacing, 2)
        row.addWidget(self.hint, 1, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self._flow_area, 1)
        for button in (self.undo_button, self.redo_button, self.reset_button):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        state.experiment_changed.connect(self.rebuild)
        state.result_changed.connect(self.rebuild)
        self.rebuild()

    def put_beside(self, widget: QWidget | None) -> None:
        """Another widget takes the place that the chips leave in their line; None: they have it all again."""
        self._row.setStretchFactor(self._flow_area, 0 if widget is not None else 1)  # with 0 they get what they need
        if widget is not None:
            take_out(widget)
            self._row.insertWidget(self._row.indexOf(self._flow_area) + 1, widget, 1)

    def set_low(self, is_low: bool) -> None:
        """On a low page fewer rows are in sight."""
        self._flow_area.set_max_rows(MAX_ROWS_LOW if is_low else MAX_ROWS)

    def width_in_one_line(self) -> int:
        """The width that all chips and buttons need side by side."""
        buttons = (self.undo_button, self.redo_button, self.reset_button)
        spacing = self._row.spacing() * (len(buttons) + 1)
        return self._flow.sizeHint().width() + sum(button.sizeHint().width() for button in buttons) + spacing

    def rebuild(self) -> None:
        """The experiment, or what is known of it, changed."""
        state, experiment = self._state, self._state.experiment
        focused = self.window().focusWidget()
        focused_chip = next((index for index, chip in enumerate(self.chips) if chip is focused), None)
        for chip in self.chips:
            self._flow.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self.chips = [self._chip(each) for each in experiment.interventions]
        if isinstance(experiment.output, GivenTarget):
            chip = _button("translation given by you", "Show the model's own translation again")
            chip.clicked.connect(lambda: state.submit(edits.use_own_decoding))
            self.chips.append(chip)
        for chip in self.chips:
            self._flow.addWidget(chip)
            chip.setVisible(True)  # the layout would show it only later, and counts no hidden one
        is_changed = bool(self.chips)
        self._flow_area.setVisible(is_changed)
        self._flow_area.fit()
        self._flow_area.updateGeometry()
        self.hint.setVisible(not is_changed and state.result is not None)
        if focused is self.undo_button and not state.editor.can_undo:
            self.redo_button.setEnabled(True)
            self.redo_button.setFocus()
        elif focused is self.redo_button and not state.editor.can_redo:
            self.undo_button.setEnabled(True)
            self.undo_button.setFocus()
        for button, can in ((self.undo_button, state.editor.can_undo), (self.redo_button, state.editor.can_redo)):
            button.setEnabled(can)
            button.setVisible(state.editor.can_undo or state.editor.can_redo)
        set_visible(self.reset_button, bool(experiment.interventions), focus_to=self.undo_button)
        if focused_chip is not None:
            after = self.chips[min(focused_chip, len(self.chips) - 1)] if self.chips else self.undo_button
            after.setFocus()
        self.updateGeometry()

    def _chip(self, intervention: Intervention) -> QToolButton:
        is_unreached = _is_unreached(intervention, self._state.result)
        text = f"{intervention} (not reached)" if is_unreached else str(intervention)
        tip = "Take this change back"
        if is_unreached:
            tip = f"No effect: the translation ends before this step. {tip}"
        chip = _button(text, tip)
        chip.clicked.connect(lambda: self._state.submit(edits.remove(intervention)))
        chip.setEnabled(True)
        if is_unreached:
            chip.setProperty("isUnreached", True)
        return chip


class _ChipRows(ContentHeightScrollArea):
    """Chips in rows: as many as they need, up to a few; then they scroll."""

    def __init__(self, content: QWidget, flow: FlowLayout) -> None:
        self._flow, self._max_rows = flow, MAX_ROWS
        super().__init__(content, self._max_height)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """All chips in one row."""
        return QSize(self._flow.sizeHint().width(), self.height())

    def minimumSizeHint(self) -> QSize:
        """The widest chip."""
        return QSize(self._flow.minimumSize().width(), self.height())

    def set_max_rows(self, number: int) -> None:
        """So many are in sight at once."""
        if number != self._max_rows:
            self._max_rows = number
            self.fit()
            self.updateGeometry()

    def _max_height(self) -> int:
        return self._max_rows * (self._flow.sizeHint().height() + CHIP_SPACING) - CHIP_SPACING


def _button(text: str, tip: str) -> QToolButton:
    chip = QToolButton()
    chip.setText(f"{text}  ×")
    chip.setToolTip(tip)
    chip.setAccessibleName(f"Remove: {text}")
    chip.setProperty("role", "chip")
    return chip


def _is_unreached(intervention: Intervention, result: ExperimentResult | None) -> bool:
    return result is not None and intervention in result.changed.unreached


TIPS: dict[ShownMaps, str] = {
    "original": "The maps without changes",
    "changed": "The maps with the changes of this experiment",
    "difference": "Changed minus original, for common tokens",
}


class ShownMapsSwitch(QWidget):
    """Three buttons of which one is pressed; the key D goes from one to the next. Not there while nothing is changed.

    Pressed is what is drawn of the chosen head: where it has no difference, that one is greyed out and says why.

    Attributes:
        buttons: by what they show.
    """

    def __init__(self, state: ExperimentState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.setAccessibleName("Which maps are shown")
        self.buttons: dict[ShownMaps, QToolButton] = {}
        self._group = QButtonGroup(self)
        for shown in SHOWN_MAPS:
            button = self.buttons[shown] = tab_button(shown.capitalize())
            button.clicked.connect(partial(self._choose, shown))
            self._group.addButton(button)
        row_of(*self.buttons.values(), spacing=0, within=self)
        self._key = add_shortcut(self, NEXT_MAPS.on(state), NEXT_MAPS.keys)
        state.result_changed.connect(self.rebuild)
        state.settings.events.shown.connect(self.rebuild, max_args=0)
        state.selection.events.head.connect(self.rebuild, max_args=0)
        self.rebuild()

    @property
    def is_offered(self) -> bool:
        """Whether there is something to choose from, and so the switch is to be seen."""
        return self._state.result is not None and self._state.result.is_changed

    def rebuild(self) -> None:
        """Another result, another choice, or another kind of map."""
        state, is_changed = self._state, self.is_offered
        self.setVisible(is_changed)
        self._key.setEnabled(is_changed)
        if not is_changed:
            return
        problem = state.maps.difference_problem(state.selection.head.kind)
        shown_now = "changed" if problem and state.settings.shown == "difference" else state.settings.shown
        self.buttons[shown_now].setChecked(True)
        self.buttons["difference"].setEnabled(not problem)
        for shown, button in self.buttons.items():
            button.ensurePolished()  # or its width is another one before it is first painted
            reason = problem if shown == "difference" else ""
            button.setToolTip(f"{reason or TIPS[shown]}\n{NEXT_MAPS.tip_with_keys()}")

    def _choose(self, shown: ShownMaps, _: bool = True) -> None:
        self._state.settings.shown = shown
