"""The quick tour: a few sentences about the screen, each with something to see or to do."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from ...state.experiment_state import ExperimentState
from ...theme import PANEL_MARGIN, set_role
from ...widgets.buttons import flat_button
from ...widgets.commands import Command, add_shortcut
from ...widgets.labels import label
from ...widgets.layouts import row_of
from .steps import MovedRow, PositionalHead, StrongestCell, SwitchedOffHeads, TourStep, Typing

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
        first = StrongestCell(state), PositionalHead(state), SwitchedOffHeads(state)
        self._all_steps: tuple[TourStep, ...] = *first, self._row, Typing(state)
        self.text = label("reading", wraps=True)
        self.text.setTextFormat(Qt.TextFormat.MarkdownText)
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
    def _steps(self) -> list[TourStep]:
        """The steps with the model in use: the row is one of the bundled model."""
        is_bundled = self._state.model is not None and self._state.model.is_bundled
        return [step for step in self._all_steps if is_bundled or step is not self._row]

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
        # the first two steps change only the view
        has_changed = self.place > 1 and not self._is_last
        self.ended.emit()
        if has_changed:
            self._row.restore()

    def _show_step(self) -> None:
        is_last = self._is_last
        self._step.begin()
        if is_last:
            self._row.restore()
            self.typing_wanted.emit()
        next_button = "Learn more" if is_last else self._steps[self.place + 1].button
        self.next_button.setText(next_button)
        self.skip_button.setText("Done" if is_last else "Skip")  # nothing is left to skip
        self._count.setText(
            f"{self.place + 1} of {len(self._steps)}{'' if is_last else ' · key: Enter'}"
        )
        self._say()

    def _say(self) -> None:
        """Shows the sentence of the step, about the present result and the present cells of the
        map.
        """
        if self.has_begun and self._state.translation is not None:
            self.text.setText(self._step.text())


QUICK_TOUR_COMMANDS = (
    Command[QuickTour](
        "Next step", QuickTour.go_on, local_keys=("Return", "Enter", "Right"), group="Quick tour"
    ),
    Command[QuickTour]("Skip all steps", QuickTour.skip, local_keys=("Esc",), group="Quick tour"),
)
