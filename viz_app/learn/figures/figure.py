"""The base class of all live figures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from augenmerk.core.translation.result import Translation
from augenmerk.viz_app.learn.checks import Answers
from augenmerk.viz_app.learn.sentence import OwnSentence
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.theme import PANEL_MARGIN, scales
from augenmerk.viz_app.views.live_panel import LivePanel
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.worker.inference import ExperimentController, Job

WAITING_DELAY_MS = 250


@dataclass(frozen=True)
class LearnContext:
    """The state and services that chapters use.

    Attributes:
        state: the experiment that the Learn page shows: the reader's sentence.
        controller: answers questions about it.
        own: the reader's sentence, to which one can go back from those that chapters try.
        window_state: the experiment of the Translate page, whose model the user has opened; None if there is none.
        answers: the questions of the chapter that were answered.
    """

    state: ExperimentState
    controller: ExperimentController
    own: OwnSentence
    window_state: ExperimentState | None = None
    answers: Answers = field(default_factory=Answers)


class ChapterFigure(LivePanel):
    """A live figure with its caption, redrawn for each result and pinned pair.

    Attributes:
        caption: one line above it: what is drawn.
        takes_height: whether it grows with the page.
        options_known: the names of its options.
        question: the check of the question whose answer it shows once it was given; empty if there is none.
        context: what it works with.
        options: from the chapter's text.
        waiting: shown while `request` takes long.
    """

    caption: ClassVar[str]
    takes_height: ClassVar[bool] = False
    options_known: ClassVar[frozenset[str]] = frozenset()
    question: ClassVar[str] = ""

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        self.title = label("heading", self.caption, wraps=True)
        super().__init__(context.state, context.controller, self.title, parent)
        self.context, self.options = context, options
        self._subject: object = None
        self._height_limit = 0
        self.setProperty("role", "panel")
        self.waiting = label("small", "computing…")
        self.waiting.setVisible(False)
        self._waiting_timer = QTimer(self, singleShot=True, interval=WAITING_DELAY_MS)
        self._waiting_timer.timeout.connect(lambda: self.waiting.setVisible(self.request.is_running))
        scales(self.column.setContentsMargins, PANEL_MARGIN, 10, PANEL_MARGIN, 12)
        scales(self.column.setSpacing, 8)
        self.column.addWidget(self.waiting)
        self.request.changed.connect(self._show_waiting)
        self.state.selection.events.pinned.connect(self.redraw_in_sight, max_args=0)
        context.answers.changed.connect(self.redraw_in_sight)

    @property
    def translation(self) -> Translation | None:
        """The displayed translation; None while there is none."""
        return self.state.translation

    def to_ask(self) -> tuple[object, Job] | None:
        """The subject and the job for the model; None if no job is needed. `take` receives the result."""
        return None

    def take(self, answer: Any) -> None:
        """Keeps a job's result before drawing."""

    def about(self, translation: Translation | None, job: Callable[[Translation], Job]) -> tuple[object, Job] | None:
        """A question about a translation, for `to_ask`; None if there is none, or if an earlier model made it."""
        if translation is None or self.state.current is None:
            return None
        return translation, job(translation)

    def refresh(self) -> None:
        """Draws, or first requests a result that is still missing."""
        asked = self.to_ask()
        if asked is None or asked[0] == self._subject:
            self.redraw()
            return
        subject, job = asked

        def take_and_show(answer: object) -> None:
            self._subject = subject
            self.take(answer)
            self.redraw()

        self.ask(job, take_and_show)

    def set_available_height(self, height: int) -> None:
        """Sets the height available to the figure, in pixels; scalable figures fill it."""

    def set_height_limit(self, height: int) -> None:
        """Sets the height, in pixels, up to which the page does not scroll; 0 for none. Scalable figures shrink."""
        self._height_limit = height
        self.shrink()

    def shrink(self) -> None:
        """Redraws a scalable figure smaller by `excess_px`."""

    @property
    def excess_px(self) -> int:
        """How much higher than its limit the figure is."""
        if self._height_limit <= 0:
            return 0
        return max(0, self.column.totalHeightForWidth(self.width()) - self._height_limit)

    def shutdown(self) -> None:
        """Ends running work when the page closes."""

    def _show_waiting(self) -> None:
        """Only where it takes long enough to be noticed."""
        if self.request.is_running:
            self._waiting_timer.start()
        else:
            self._waiting_timer.stop()
            self.waiting.setVisible(False)
