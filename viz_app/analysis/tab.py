"""What all tabs of the Analysis panel have in common."""

import time
from dataclasses import dataclass
from typing import ClassVar

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QProgressBar, QPushButton, QWidget

from augenmerk.core.quantities import duration
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_state import ExperimentState, Progress, RequestState
from augenmerk.viz_app.theme import PANEL_MARGIN, scales
from augenmerk.viz_app.views.live_panel import LivePanel
from augenmerk.viz_app.widgets.commands import Command, run_by_key
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.widgets.layouts import column_of, row_of, set_visible
from augenmerk.viz_app.worker.inference import ExperimentController

TOLD_AFTER_S = 5.0
"""Seconds after which it can be said how long something still takes."""
WAITING_DELAY_MS = 250


@dataclass(frozen=True)
class AnalysisContext:
    """What a tab works with.

    Attributes:
        state: the experiment that is shown.
        controller: answers questions about it.
        preferences: what is remembered between two starts.
    """

    state: ExperimentState
    controller: ExperimentController
    preferences: Preferences


class AnalysisTab(LivePanel):
    """A tab: one sentence on what it shows and what it does not, and the thing itself.

    Attributes:
        name: on the tab.
        tip: of the tab.
        meaning: the sentence.
        context, preferences: see `AnalysisContext`.
        explanation: the line with the sentence.
        wait_bar: the pending computation, with a button to cancel it; None in a tab that only computes on demand.
    """

    name: ClassVar[str]
    tip: ClassVar[str]
    meaning: ClassVar[str]

    def __init__(self, context: AnalysisContext, parent: QWidget | None = None) -> None:
        self.explanation = label("small", wraps=True)
        self.explanation.setText(self.meaning)
        super().__init__(context.state, context.controller, self.explanation, parent)
        self.context, self.preferences = context, context.preferences
        self.wait_bar: BusyIndicator | None = None
        self.setProperty("role", "analysis")
        scales(self.column.setContentsMargins, PANEL_MARGIN, 4, PANEL_MARGIN - 4, 10)
        scales(self.column.setSpacing, 8)

    def stop(self) -> bool:
        """Cancels a computation that the tab shows as long; False if there is none.

        The next result asks for it again, and so does the button that then takes its place.
        """
        if self.wait_bar is None or not self.wait_bar.is_offered:
            return False
        self.on_stopped()
        self.cancel()
        self.request.finish(self.wait_bar.cancelled)
        return True

    def on_stopped(self) -> None:
        """The user is about to cancel the computation."""

    def add_wait_bar(self, cancelled: str, again: str) -> "BusyIndicator":
        """Makes `wait_bar`; its button for another try forgets the problem and calls `refresh`.

        Args:
            cancelled: the message after it was cancelled.
            again: on the button.
        """
        bar = self.wait_bar = BusyIndicator(self.request, cancelled, again)
        bar.stop_wanted.connect(self.stop)
        bar.again_wanted.connect(self._ask_again)
        return bar

    def _ask_again(self) -> None:
        self.request.forget_problem()
        self.refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape cancels a long computation."""
        if not run_by_key(event, (CANCEL_TAB.on(self),)):
            super().keyPressEvent(event)


CANCEL_TAB = Command[AnalysisTab]("Cancel this computation", lambda tab: tab.stop(), local_keys=("Esc",))


class BusyIndicator(QWidget):
    """What a tab waits for, with a way to end it; once it was ended, a way to ask again. It shows only what takes long.

    Attributes:
        text: what is waited for.
        stop, again: the two buttons.
        cancelled: the problem of the request once it was ended.

    Signals:
        stop_wanted(), again_wanted()
    """

    stop_wanted = Signal()
    again_wanted = Signal()

    def __init__(self, request: RequestState, cancelled: str, again: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._request, self.cancelled = request, cancelled
        self._is_counted = self._offers_again = True
        self.text = label("muted", wraps=True)
        self.stop, self.again = QPushButton("Cancel"), QPushButton(again)
        self.stop.setToolTip("Stop this computation (Esc)")
        self.stop.clicked.connect(self.stop_wanted)
        self.again.clicked.connect(self.again_wanted)
        self._timer = QTimer(self, singleShot=True, interval=WAITING_DELAY_MS)
        self._timer.timeout.connect(self._show_state)
        row_of((self.text, 1), self.stop, self.again, 0, spacing=10, within=self)
        request.changed.connect(self._on_running)
        request.changed.connect(self._show_state)
        self._show_state()

    @property
    def is_offered(self) -> bool:
        """Whether something is waited for that can be ended here."""
        return self._request.is_running and self._is_counted and not self._timer.isActive()

    def say(self, text: str, *, is_counted: bool = True) -> None:
        """What is waited for; `is_counted`: whether anybody waits for it."""
        self.text.setText(text)
        self._is_counted = is_counted
        self._show_state()

    def offer_again(self, is_offered: bool) -> None:
        """Whether the button for another try is needed here, rather than one of the tab's own."""
        self._offers_again = is_offered
        self._show_state()

    def _on_running(self) -> None:
        if self._request.is_running:
            self._timer.start()
        else:
            self._timer.stop()
        self._show_state()

    def _show_state(self) -> None:
        was_cancelled = self._offers_again and self._request.problem == self.cancelled and not self._request.is_running
        self.setVisible(self.is_offered or was_cancelled)
        for part in (self.text, self.stop):
            set_visible(part, self.is_offered, focus_to=self.again if was_cancelled else self.parentWidget() or self)
        set_visible(self.again, was_cancelled, focus_to=self.stop)


class JobBar(QWidget):
    """A button that begins something long; while it runs, how far it is, how long it still takes, and a way to end it.

    Keyboard focus stays in the bar: whichever of the two buttons disappears hands it to the other.

    Attributes:
        start, stop: the two buttons.
        bar: how far it is.

    Signals:
        start_wanted(), stop_wanted()
    """

    start_wanted = Signal()
    stop_wanted = Signal()

    def __init__(self, text: str, tip: str, request: RequestState, parent: QWidget | None = None) -> None:
        """`request`: whose progress is shown."""
        super().__init__(parent)
        self._request = request
        self._began: tuple[float, Progress] | None = None
        self.start = QPushButton(text)
        self.start.setToolTip(tip)
        self.stop = QPushButton("Cancel")
        self.stop.setToolTip("Stop this computation (Esc)")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        scales(self.bar.setFixedHeight, 6)
        self.text = label("small", wraps=True)  # the panel does not become wider for it
        self.start.clicked.connect(self.start_wanted)
        self.stop.clicked.connect(self.stop_wanted)
        self._running = QWidget()
        column_of(self.text, self.bar, spacing=3, within=self._running)
        row_of(self.start, (self._running, 1), self.stop, 0, spacing=10, within=self)
        request.changed.connect(self._show_running)
        request.progressed.connect(self._on_progress)
        self._show_running()

    def _show_running(self) -> None:
        is_running = self._request.is_running
        self._began = None
        if not is_running:  # first: all three side by side would make the panel wider
            self._running.setVisible(False)
        shown, hidden = (self.stop, self.start) if is_running else (self.start, self.stop)
        shown.setVisible(True)
        set_visible(hidden, False, focus_to=shown)
        self._running.setVisible(is_running)
        self._show_progress()

    def _on_progress(self) -> None:
        progress = self._request.progress
        if self._began is None and progress is not None:
            self._began = time.monotonic(), progress
        self._show_progress()

    def _time_left(self) -> str:
        """About how long it still takes, after some seconds; empty while nobody can tell."""
        progress = self._request.progress
        if progress is None or self._began is None or not progress.total or not self._began[1].total:
            return ""
        seconds, before = time.monotonic() - self._began[0], self._began[1].done / self._began[1].total
        now = progress.done / progress.total
        if seconds < TOLD_AFTER_S or not before < now < 1:
            return ""
        return f" · about {duration(seconds * (1 - now) / (now - before))} left"

    def _show_progress(self) -> None:
        progress = self._request.progress
        self.bar.setRange(0, max(progress.total, 0) if progress else 0)
        self.bar.setValue(progress.done if progress else 0)
        self.text.setText(f"{progress.text}{self._time_left()}" if progress else "waiting…")
