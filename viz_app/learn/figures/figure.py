"""What all live figures of the stations have in common."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from augenmerk.core.translation.result import Translation
from augenmerk.viz_app.learn.answers import Answers
from augenmerk.viz_app.learn.own_sentence import OwnSentence
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.request_state import RequestState
from augenmerk.viz_app.theme import PANEL_MARGIN, current_theme, is_theme_change, scales
from augenmerk.viz_app.widgets.parts import label
from augenmerk.viz_app.worker import ExperimentController, Job

WAITING_DELAY_MS = 250


@dataclass(frozen=True)
class LearnContext:
    """What stations work with.

    Attributes:
        state: the experiment that the Learn page shows: the reader's sentence.
        controller: answers questions about it.
        own: the reader's sentence, to which one can go back from those that stations try.
        window_state: the experiment of the Translate page, whose model the user has opened; None if there is none.
        answers: the questions of the station that were answered.
    """

    state: ExperimentState
    controller: ExperimentController
    own: OwnSentence
    window_state: ExperimentState | None = None
    answers: Answers = field(default_factory=Answers)


class StationFigure(QFrame):
    """A live figure: a caption, and the thing itself. It works only while it is in sight.

    Subclasses build their widgets into `column` and override `redraw`, which is called when another result is shown,
    another head chosen, another pair pinned, or the theme changed; also `refresh`, if they ask the model first.

    Attributes:
        caption: one line above it: what is drawn.
        takes_height: whether it grows with the page.
        follows_style: whether another theme needs no `redraw`: widgets with roles have it of themselves.
        options_known: the names of its options.
        question: the check of the question whose answer it shows once it was given; empty if there is none.
        context, state, controller: see `LearnContext`.
        options: from the station's text.
        request: the answer that the figure waits for; `waiting` says so, `problem` why there is none.
        column: the layout of the content.
    """

    caption: ClassVar[str]
    takes_height: ClassVar[bool] = False
    follows_style: ClassVar[bool] = False
    options_known: ClassVar[frozenset[str]] = frozenset()
    question: ClassVar[str] = ""

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.context, self.options = context, options
        self.state, self.controller = context.state, context.controller
        self.request = RequestState()
        self._theme = current_theme()
        self.setProperty("role", "panel")
        self.title = label("heading", wraps=True)
        self.title.setText(self.caption)
        self.problem = label("warm", wraps=True)
        self.problem.setVisible(False)
        self.waiting = label("small")
        self.waiting.setText("computing …")
        self.waiting.setVisible(False)
        self._waiting_timer = QTimer(self, singleShot=True, interval=WAITING_DELAY_MS)
        self._waiting_timer.timeout.connect(lambda: self.waiting.setVisible(self.request.is_running))
        self.column = QVBoxLayout(self)
        scales(self.column.setContentsMargins, PANEL_MARGIN, 10, PANEL_MARGIN, 12)
        scales(self.column.setSpacing, 8)
        self.column.addWidget(self.title)
        self.column.addWidget(self.problem)
        self.column.addWidget(self.waiting)
        self.request.events.problem.connect(self._show_problem, max_args=0)
        self.request.events.is_running.connect(self._show_waiting, max_args=0)
        self.state.result_changed.connect(self._refresh_in_sight)
        for changed in (self.state.selection.events.head, self.state.selection.events.pinned):
            changed.connect(self._redraw_in_sight, max_args=0)
        context.answers.changed.connect(self._redraw_in_sight)

    @property
    def translation(self) -> Translation | None:
        """What is shown; None while there is nothing."""
        return self.state.translation

    def refresh(self) -> None:
        """Another result, or the figure has come into sight: asks for what it lacks, and shows what there is."""
        self.redraw()

    def ask_about(
        self,
        translation: Translation | None,
        known: Translation | None,
        job: Callable[[Translation], Job],
        take: Callable[[Any], None],
    ) -> None:
        """Asks the model about a translation, and shows the answer; at once if it is known already.

        Args:
            translation: None while there is nothing to ask about.
            known: the one that the last answer is about.
            job: the question.
            take: keeps the answer, before it is shown.
        """
        if translation is None or self.state.is_of_earlier_model:
            return
        if known is translation:
            self.redraw()
            return

        def take_and_show(answer: object) -> None:
            take(answer)
            self.redraw()

        self.controller.ask(job(translation), self.request, take_and_show)

    def redraw(self) -> None:
        """Shows what is known."""

    def set_available_height(self, height: int) -> None:
        """So many pixels of the page are for this figure; a figure that can be drawn larger uses them."""

    def set_height_limit(self, height: int) -> None:
        """A figure beside a map: with so many pixels nothing scrolls; one that can be drawn smaller does so."""

    def shutdown(self) -> None:
        """The page is closed: whatever runs is ended."""

    def showEvent(self, event: QShowEvent) -> None:
        """The figure comes into sight."""
        super().showEvent(event)
        if not event.spontaneous():
            self.refresh()

    def changeEvent(self, event: QEvent) -> None:
        """Other colours."""
        super().changeEvent(event)
        if is_theme_change(event) and not self.follows_style and self._theme != current_theme():
            self._theme = current_theme()
            QTimer.singleShot(0, self, self._redraw_in_sight)  # what it measures has its new style by then

    def _refresh_in_sight(self) -> None:
        if self.isVisible():
            self.refresh()

    def _redraw_in_sight(self) -> None:
        if self.isVisible():
            self.redraw()

    def _show_waiting(self) -> None:
        """Only where it takes long enough to be noticed."""
        if self.request.is_running:
            self._waiting_timer.start()
        else:
            self._waiting_timer.stop()
            self.waiting.setVisible(False)

    def _show_problem(self) -> None:
        self.problem.setText(self.request.problem)
        self.problem.setVisible(bool(self.request.problem))
