"""The quick tour: a few sentences about the screen, each with something to see or to do."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from ...state.experiment_editor import edit_text, reset
from ...state.experiment_state import ExperimentState
from ...theme import PANEL_MARGIN, set_role
from ...widgets.buttons import flat_button
from ...widgets.commands import Command, add_shortcut
from ...widgets.labels import label
from ...widgets.layouts import row_of
from ..widgets.max_lines_label import MaxLinesLabel
from .steps import (
    SENTENCE,
    MovedRow,
    PositionalHead,
    StrongestCell,
    SwitchedOffHeads,
    TourStep,
    Typing,
)

NUM_LINES = 3
SELECTING = ("label_mode", "hides_wrapping", "hides_punctuation", "merges_words")
"""Settings that make other cells of the same weights."""


class QuickTour(QFrame):
    """A line above the sentence. It waits for the first result, and never returns once it is left.

    Attributes:
        text: the sentence. Enter and → show the next one while the bar has the keyboard.
        next_button: shows the next sentence.
        skip_button: ends the tour.
        place: of the step, counted from 0.
        has_begun: whether the first sentence was shown.

    Signals:
        begun(): the first sentence is shown now.
        ended(): the last one was left, or all were skipped.
        learn_wanted(): the reader wants to know more.
        typing_wanted(): the reader will type a sentence.
    """

    begun = Signal()
    ended = Signal()
    learn_wanted = Signal()
    typing_wanted = Signal()

    def __init__(self, state: ExperimentState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "panel")
        self._state = state
        self.place = 0
        self.has_begun = False
        self._row = MovedRow(state)
        self._own_text: str | None = None  # the reader's sentence, until a change is undone
        first = StrongestCell(state), PositionalHead(state), SwitchedOffHeads(state)
        self._all_steps: tuple[TourStep, ...] = *first, self._row, Typing(state)
        self.text = MaxLinesLabel("reading", NUM_LINES)
        self.text.keeps_height = True  # the page below stays in its place
        self.text.label.setTextFormat(Qt.TextFormat.MarkdownText)
        self.next_button = QPushButton()
        set_role(self.next_button, "primary")
        self.skip_button = flat_button("Skip", "Close the tour. The menu ☰ offers it again.")
        self.next_button.clicked.connect(self.go_on)
        for command in QUICK_TOUR_COMMANDS:
            inside = Qt.ShortcutContext.WidgetWithChildrenShortcut  # a button would take arrows
            add_shortcut(self, command.on(self), command.local_keys, inside)
        self.skip_button.clicked.connect(self.skip)
        self.ended.connect(self._stop_listening)
        self._count = label("small")
        margins = PANEL_MARGIN, 8, PANEL_MARGIN - 6, 8
        parts = (self.text, 1), self._count, self.next_button, self.skip_button
        row_of(*parts, spacing=12, margins=margins, within=self)
        self.setVisible(False)
        state.result_changed.connect(self._on_result)
        for name in SELECTING:
            getattr(state.settings.events, name).connect(self._say, max_args=0)
        self._on_result()

    @property
    def _is_bundled(self) -> bool:
        return self._state.model is not None and self._state.model.is_bundled

    @property
    def _steps(self) -> list[TourStep]:
        """The steps with the model in use: the row is one of the bundled model."""
        return [step for step in self._all_steps if self._is_bundled or step is not self._row]

    @property
    def _step(self) -> TourStep:
        return self._steps[-1] if self._is_last else self._steps[self.place]

    @property
    def _is_last(self) -> bool:
        return self.place + 1 >= len(self._steps)  # another model may have fewer steps

    def _stop_listening(self) -> None:
        """Disconnects all signals: Python may keep this object for a while after the widget is
        deleted.
        """
        self._state.result_changed.disconnect(self._on_result)
        for name in SELECTING:
            getattr(self._state.settings.events, name).disconnect(self._say)

    def _on_result(self) -> None:
        if self._state.translation is None:
            return
        if not self.has_begun:
            self.has_begun = True
            self.setVisible(True)
            self._show_step()
            self.begun.emit()
        elif self._is_last and self._own_text is not None:
            self._show_step()  # another model was opened, which has no further step
        else:
            self._step.follow_result()
            self._say()

    def go_on(self) -> None:
        """Shows the next step; after the last, the Learn page."""
        if self._is_last:
            self.learn_wanted.emit()
            self.ended.emit()
            return
        self.place += 1
        self._show_step()

    def skip(self) -> None:
        """Ends the tour and undoes its changes, unless the last step already did."""
        self.ended.emit()
        self._undo_changes()

    def _show_step(self) -> None:
        self._undo_changes()
        if self._step.changes:
            self._own_text = self._state.experiment.source_text
            self._state.submit(reset)
            if self._is_bundled:
                self._state.submit(edit_text(SENTENCE))
        self._step.begin()
        if self._is_last:
            self.typing_wanted.emit()
        self._say()

    def _undo_changes(self) -> None:
        """Resets the changes of the step before, and restores the reader's own sentence."""
        if self._own_text is None:
            return
        if self._state.experiment.interventions:
            self._state.submit(reset)
        if self._state.experiment.source_text == SENTENCE:
            self._state.submit(edit_text(self._own_text))
        self._own_text = None

    def _say(self) -> None:
        """Shows the sentence of the step, about the present result and the present cells of the
        map, and what follows with the model in use.
        """
        if not self.has_begun or self._state.translation is None:
            return
        steps, is_last = self._steps, self._is_last
        place = min(self.place, len(steps) - 1)
        self.next_button.setText("Learn more" if is_last else steps[place + 1].button)
        self.skip_button.setText("Done")
        self.skip_button.setMinimumWidth(self.skip_button.sizeHint().width())  # “Skip” is narrower
        if not is_last:
            self.skip_button.setText("Skip")
        self._count.setText(f"{place + 1} of {len(steps)}{'' if is_last else ' · key: Enter'}")
        self.text.set_text(self._step.text())


QUICK_TOUR_COMMANDS = (
    Command[QuickTour](
        "Next step", QuickTour.go_on, local_keys=("Return", "Enter", "Right"), group="Quick tour"
    ),
    Command[QuickTour]("Skip all steps", QuickTour.skip, local_keys=("Esc",), group="Quick tour"),
)
