"""The base class of analysis tabs and figures of chapters: shows one experiment while visible."""

from collections.abc import Callable
from typing import Any, ClassVar

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from augenmerk.core.translation.result import Translation

from ..state.experiment_state import ExperimentState, RequestState
from ..theme import Theme, current_theme, is_theme_change
from ..widgets.labels import label, show_text
from ..worker.inference import ABOUT_A_RESULT, ExperimentController, Request
from ..worker.jobs import Job


class LivePanel(QFrame):
    """A column of widgets about one experiment.

    It requests answers and draws only while it is in sight.

    Subclasses override some of:

    - `refresh`: the panel has come into sight, or another result is shown: request missing answers,
      then draw;
    - `redraw`: draw the known parts; also called after the theme changed;
    - `show_head`: another head was chosen: draw it, which needs less than `redraw`;
    - `forget_result`: another result is shown, or none, in sight or not; questions about the old
      one are cancelled;
    - `begin_model`: another model answers from now on.

    Attributes:
        stops_when_left: whether leaving the panel cancels its request; returning to the panel
            repeats it.
        follows_style: whether a new theme needs no `redraw`, because the style sheet covers all of
            it.
        state: the experiment that is shown.
        controller: answers questions about it.
        request: the answer that the panel waits for.
        column: the layout of the content.
        problem: a line with the problem of `request`; hidden while there is none.
    """

    stops_when_left: ClassVar[bool] = False
    follows_style: ClassVar[bool] = False

    def __init__(
        self,
        state: ExperimentState,
        controller: ExperimentController,
        heading: QWidget,
        parent: QWidget | None = None,
    ) -> None:
        """Builds the column: `heading`, then the problem."""
        super().__init__(parent)
        self.state, self.controller = state, controller
        self.request = RequestState()
        self._asked: Request | None = None
        self._drawn_theme = current_theme()
        self.problem = label("warm", wraps=True)
        self.problem.setVisible(False)
        self.column = QVBoxLayout(self)
        self.column.addWidget(heading)
        self.column.addWidget(self.problem)
        self.request.changed.connect(self._show_problem)
        state.result_changed.connect(self._on_result_changed)
        state.model_changed.connect(self._on_model_changed)
        state.selection.events.head.connect(self._on_head, max_args=0)

    @property
    def theme(self) -> Theme:
        """The colours and fonts in use."""
        return current_theme()

    @property
    def is_in_sight(self) -> bool:
        """Whether the panel is shown."""
        return self.isVisible()

    @property
    def translation_to_ask_about(self) -> Translation | None:
        """The translation shown; None if the model in use did not make it and cannot explain it."""
        return self.state.current.changed if self.state.current is not None else None

    def refresh(self) -> None:
        """Requests missing answers, and draws the known parts."""
        self.redraw()

    def redraw(self) -> None:
        """Draws the known parts."""

    def show_head(self) -> None:
        """Draws another chosen head."""
        self.redraw()

    def forget_result(self) -> None:
        """Another result is shown, or none."""

    def begin_model(self) -> None:
        """Another model answers from now on."""

    def ask(
        self,
        job: Job,
        on_result: Callable[[Any], object],
        *,
        on_partial: Callable[[Any], object] | None = None,
    ) -> None:
        """Submits a job to the worker for `request`; the previous one is cancelled."""
        self.cancel()
        self._asked = self.controller.ask(job, self.request, on_result, on_partial=on_partial)

    def cancel(self) -> None:
        """Cancels the request."""
        if self._asked is not None and not self._asked.is_over:
            self._asked.cancel()
            self.request.finish()
        self._asked = None

    def redraw_in_sight(self) -> None:
        """Calls `redraw` if the panel is in sight."""
        if self.is_in_sight:
            self.redraw()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self.stops_when_left and not event.spontaneous():
            self.cancel()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if (
            is_theme_change(event)
            and not self.follows_style
            and self._drawn_theme != current_theme()
        ):
            self._drawn_theme = current_theme()
            # widgets that `redraw` measures have their new style then
            QTimer.singleShot(0, self, self.redraw_in_sight)

    def _on_result_changed(self) -> None:
        if self._asked is not None and self._asked.job.scope in ABOUT_A_RESULT:
            self.cancel()
        self.request.forget_problem()
        self.forget_result()
        if self.is_in_sight:
            self.refresh()

    def _on_head(self) -> None:
        if self.is_in_sight:
            self.show_head()

    def _on_model_changed(self) -> None:
        self.request.forget_problem()
        self.begin_model()
        self.redraw_in_sight()

    def _show_problem(self) -> None:
        show_text(self.problem, self.request.problem)
