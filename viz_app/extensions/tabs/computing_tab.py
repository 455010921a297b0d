"""What tabs share whose computations take long: the bar with their progress, and how they are
cancelled.
"""

import time
from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPushButton, QWidget

from augenmerk.core.quantities import duration

from ...state.experiment_state import Progress, RequestState
from ...state.tabs import Tab
from ...translate.analysis_tab import AnalysisContext, AnalysisTab
from ...widgets.commands import Command, run_by_key
from ...widgets.labels import label
from ...widgets.layouts import column_of, row_of, set_visible
from ..widgets.progress_line import ProgressLine

ESTIMATE_AFTER_S = 5.0
"""Seconds after which the remaining time of a computation is estimated."""
WAITING_DELAY_MS = 250


class ComputingTab(AnalysisTab):
    """A tab with a computation that takes long.

    Attributes:
        job_bar: the computation; None until one is added.
    """

    def __init__(self, context: AnalysisContext, tab: Tab) -> None:
        super().__init__(context, tab)
        self.job_bar: JobBar | None = None

    def stop(self) -> bool:
        """Cancels the computation in `job_bar`; False if there is none."""
        if self.job_bar is None or not self.job_bar.is_cancellable:
            return False
        self.on_stopped()
        self.cancel()
        self.request.finish(self.job_bar.cancelled)
        return True

    def on_stopped(self) -> None:
        """The user is about to cancel the computation."""

    def add_job_bar(self, start: str, tip: str, act: Callable[[], object]) -> "JobBar":
        """Makes a `job_bar` whose button starts the computation by `act`."""
        return self._connected(JobBar(self.request, start, tip), act)

    def add_wait_bar(self, cancelled: str, again: str) -> "JobBar":
        """Makes a `job_bar` for a computation that `refresh` starts.

        Args:
            cancelled: the message after it was cancelled.
            again: on the button that then calls `refresh`.
        """
        return self._connected(
            JobBar(self.request, again, cancelled=cancelled), self._compute_again
        )

    def _connected(self, bar: "JobBar", act: Callable[[], object]) -> "JobBar":
        self.job_bar = bar
        bar.start.clicked.connect(act)
        bar.stop.clicked.connect(self.stop)
        return bar

    def _compute_again(self) -> None:
        self.request.forget_problem()
        self.refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape cancels a long computation."""
        if not run_by_key(event, (CANCEL_TAB.on(self),)):
            super().keyPressEvent(event)


CANCEL_TAB = Command[ComputingTab](
    "Cancel this computation", lambda tab: tab.stop(), local_keys=("Esc",)
)


class JobBar(QWidget):
    """A button that starts a computation; while it runs, its progress, the remaining time, and a
    button to cancel it.

    A computation that starts automatically appears only if it takes long. If all start
    automatically, the bar is hidden otherwise, and the start button appears only after the user
    cancelled one. Keyboard focus stays in the bar while one of its buttons is shown.

    Attributes:
        start: begins the job.
        stop: cancels the job.
        text: the progress in words.
        bar: the progress as a bar.
        cancelled: the problem of the request after the user cancelled an automatic computation;
            empty for others.
    """

    def __init__(
        self, request: RequestState, start: str, tip: str = "", cancelled: str = ""
    ) -> None:
        super().__init__()
        self._request, self.cancelled = request, cancelled
        self._began: tuple[float, Progress] | None = None
        self._idle_text = "waiting for its turn…"
        self._is_awaited = True
        self._offers_start = True
        self.start, self.stop = QPushButton(start), QPushButton("Cancel")
        self._shown: QPushButton | None = self.stop
        self._is_started = False
        self.start.clicked.connect(self._on_start)
        self.start.setToolTip(tip)
        self.stop.setToolTip("Stop this computation (Esc)")
        self.bar = ProgressLine()
        self.text = label("small", wraps=True)  # the panel does not become wider for it
        self._running = QWidget()
        self._timer = QTimer(self, singleShot=True, interval=WAITING_DELAY_MS)
        self._timer.timeout.connect(self._show_state)
        column_of(self.text, self.bar, spacing=3, within=self._running)
        row_of(self.start, (self._running, 1), self.stop, 0, spacing=10, within=self)
        request.changed.connect(self._on_changed)
        request.progressed.connect(self._on_progress)
        self._show_state()

    @property
    def is_cancellable(self) -> bool:
        """Whether a computation runs that the user can cancel here."""
        return self._request.is_running and self._is_awaited and not self._timer.isActive()

    def describe(self, text: str, *, is_awaited: bool = True, offers_start: bool = True) -> None:
        """Describes an automatic computation.

        Args:
            text: shown while there is no progress.
            is_awaited: whether the user waits for it; else the bar stays hidden.
            offers_start: whether the start button may appear.
        """
        self._idle_text, self._is_awaited, self._offers_start = text, is_awaited, offers_start
        self._show_state()

    def _on_start(self) -> None:
        self._is_started = True

    def _on_changed(self) -> None:
        self._began = None
        if self._request.is_running and not self._is_started:
            self._timer.start()
        else:
            self._timer.stop()
            self._is_started = self._is_started and self._request.is_running
            self._show_state()

    def _on_progress(self) -> None:
        if self._began is None and self._request.progress is not None:
            self._began = time.monotonic(), self._request.progress
        self._show_progress()

    def _show_state(self) -> None:
        was_cancelled = self._offers_start and self._request.problem == self.cancelled
        is_startable = not self._request.is_running and (was_cancelled or not self.cancelled)
        shown = self.start if is_startable else None
        if self.is_cancellable:
            shown = self.stop
        if shown is not self._shown:  # else a layout for each answer
            self._shown = shown
            if self.cancelled:
                self.setVisible(shown is not None)
            # first: all three side by side would make the panel wider
            self._running.setVisible(False)
            if shown is not None:
                shown.setVisible(True)
            for button in (self.start, self.stop):
                set_visible(button, button is shown, focus_to=shown or self.parentWidget() or self)
            self._running.setVisible(shown is self.stop)
        self._show_progress()

    def _time_left(self) -> str:
        """The remaining time, after some seconds; empty while it cannot be estimated."""
        progress = self._request.progress
        if (
            progress is None
            or self._began is None
            or not progress.total
            or not self._began[1].total
        ):
            return ""
        seconds = time.monotonic() - self._began[0]
        before = self._began[1].done / self._began[1].total
        now = progress.done / progress.total
        if seconds < ESTIMATE_AFTER_S or not before < now < 1:
            return ""
        return f" · about {duration(seconds * (1 - now) / (now - before))} left"

    def _show_progress(self) -> None:
        progress = self._request.progress
        self.bar.setRange(0, max(progress.total, 0) if progress else 0)
        self.bar.setValue(progress.done if progress else 0)
        self.text.setText(f"{progress.text}{self._time_left()}" if progress else self._idle_text)
