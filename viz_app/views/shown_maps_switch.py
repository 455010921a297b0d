"""Original, changed, or the difference: which maps of an experiment are shown."""

from functools import partial

from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QToolButton, QWidget

from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view_settings import SHOWN_MAPS, ShownMaps

KEY = "D"
TIPS: dict[ShownMaps, str] = {
    "original": "The maps with nothing changed",
    "changed": "The maps under the changes of this experiment",
    "difference": "Changed minus original, for the tokens that both have",
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
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for shown in SHOWN_MAPS:
            button = QToolButton()
            button.setText(shown.capitalize())
            button.setProperty("role", "subtab")
            button.setCheckable(True)
            button.clicked.connect(partial(self._choose, shown))
            self._group.addButton(button)
            self.buttons[shown] = button
            row.addWidget(button)
        self._key = QShortcut(QKeySequence(KEY), self, self.show_next)
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
            button.setToolTip(f"{reason or TIPS[shown]}\nKey {KEY}: the next")

    def show_next(self) -> None:
        """Shows the next of the three, and after the last the first."""
        shown = self._state.settings.shown
        self._choose(SHOWN_MAPS[(SHOWN_MAPS.index(shown) + 1) % len(SHOWN_MAPS)])

    def _choose(self, shown: ShownMaps, _: bool = True) -> None:
        self._state.settings.shown = shown
