"""The base classes of live figures."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from augenmerk.core.extensions.info.size import Module
from augenmerk.core.translation.result import FloatArray, Translation

from ....heatmap.heatmap import MANY_ROWS, row_height
from ....state.experiment_state import ExperimentState, RequestState
from ....theme import PANEL_MARGIN, current_theme, scales
from ....views.live_panel import LivePanel
from ....widgets.labels import label
from ....worker.inference import ExperimentController
from ....worker.jobs import Job
from ...widgets.labelled_matrix import LabelledMatrix, Matrix, MatrixStyle
from ..checks import GivenAnswers
from ..sentence import OwnSentence

WAITING_DELAY_MS = 250


@dataclass(frozen=True)
class LearnContext:
    """The state and services that chapters use.

    Attributes:
        state: the experiment of the Learn page.
        controller: runs jobs about it.
        own: the reader's sentence.
        window_state: the experiment of the Translate page; None if there is none.
        answers: the questions of the chapter that the reader has answered.
        request: the pending answer to one of them; the others wait.
        open_part: opens the chapter about a part of the model.
    """

    state: ExperimentState
    controller: ExperimentController
    own: OwnSentence
    window_state: ExperimentState | None = None
    answers: GivenAnswers = field(default_factory=GivenAnswers)
    request: RequestState = field(default_factory=RequestState)
    open_part: Callable[[Module], object] = bool


class ChapterFigure(LivePanel):
    """A live figure with its caption, redrawn for each result and pinned pair.

    Attributes:
        caption: the line above it.
        takes_height: whether it grows with the page.
        options_known: the names of its options, besides `question`.
        question: the check of a question about the figure, which comes into sight with an answer;
            empty for none. A subclass that names one hides its answer until then. Others get theirs
            from an option of this name.
        job_type: the job about the displayed translation; None if no job is needed.
        is_about_sentence: whether it shows something of the sentence.
        needs_answer: whether it is empty without an answer about the displayed translation.
        context: as given.
        options: as given, from the chapter's text.
        answer: the result of the last job; None before the first.
        available_height: pixels for the figure. It becomes larger or smaller accordingly, if it
            can.
        waiting: shown while `request` takes long.
    """

    caption: ClassVar[str]
    takes_height: ClassVar[bool] = False
    options_known: ClassVar[frozenset[str]] = frozenset()
    question: str = ""
    job_type: ClassVar[type[Any] | None] = None
    is_about_sentence: ClassVar[bool] = True
    needs_answer: ClassVar[bool] = False

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        self.title = label("heading", self.caption, wraps=True)
        super().__init__(context.state, context.controller, self.title, parent)
        self.context, self.options = context, options
        self.question = options.get("question", self.question)
        self.answer: Any = None
        self.available_height = 0
        self._done: Job | None = None
        self._answered: Translation | None = None
        self.setProperty("role", "panel")
        self.waiting = label("muted", "computing…")
        self.waiting.setVisible(False)
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

    def job(self) -> Job | None:
        """The job for `answer`; None if none is needed or possible.

        Jobs about the same subject are equal.
        """
        translation = self.translation_to_ask_about
        return (
            self.job_type(translation)
            if self.job_type is not None and translation is not None
            else None
        )

    @property
    def has_answer(self) -> bool:
        """True if `answer` is about the displayed translation."""
        return self._done is not None and self._done == self.job()

    @property
    def is_empty(self) -> bool:
        """True if it has nothing to show about the displayed translation, perhaps not yet."""
        return self.needs_answer and self._answered is not self.translation

    def take(self, answer: Any) -> None:
        """Keeps a job's result before drawing."""
        self.answer = answer

    def refresh(self) -> None:
        """Draws, or first requests a result that is still missing."""
        job = self.job()
        if job is None or job == self._done:
            self.redraw()
            return

        def take_and_show(answer: object) -> None:
            self._done = job
            self._answered = self.translation
            self.take(answer)
            self.redraw()

        self.ask(job, take_and_show)

    def set_available_height(self, height: int) -> None:
        """Sets the height available to the figure, in pixels."""
        self.available_height = height
        self.fit()

    def fit(self) -> None:
        """Adapts the figure to `available_height`, if it can."""

    @property
    def excess_px(self) -> int:
        """The height above `available_height`; 0 while that is unknown."""
        excess = self.column.totalHeightForWidth(self.width()) - self.available_height
        return max(0, excess) if self.available_height > 0 else 0

    def shutdown(self) -> None:
        """Ends running work when the page closes."""

    def _show_waiting(self) -> None:
        """Shows `waiting` only after a noticeable delay."""
        if self.request.is_running:
            QTimer.singleShot(
                WAITING_DELAY_MS, self, lambda: self.waiting.setVisible(self.request.is_running)
            )
        else:
            self.waiting.setVisible(False)


class MatrixFigure(ChapterFigure):
    """A figure with a matrix, whose cells are lower on a low page, down to the height of their
    labels.

    Attributes:
        name: of the matrix, for screen readers.
        matrix_style: colours and heights of the matrix.
        matrix: draws the numbers.
    """

    name: ClassVar[str]
    matrix_style: ClassVar[MatrixStyle]

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self.matrix = LabelledMatrix(self.name, self.matrix_style)

    def show_matrix(
        self,
        values: FloatArray,
        row_labels: Sequence[str],
        column_labels: Sequence[str],
        top: float = 1.0,
    ) -> None:
        """Shows these numbers; `top` is the value of the last colour."""
        self.matrix.show_matrices(
            (Matrix(values, tuple(row_labels), tuple(column_labels)),), top=top
        )
        self.fit()

    def fit(self) -> None:
        """Makes cells as high as possible without scrolling."""
        theme = current_theme()
        largest = self.matrix_style.cell_heights[1]
        num_rows = sum(len(matrix.row_labels) for matrix in self.matrix.matrices)
        least = math.ceil(min(num_rows, MANY_ROWS) * row_height(theme.font("body")) / theme.scale)
        most = max(least, min(self.matrix_style.aimed_height, largest * num_rows))
        self.matrix.set_heights(most, largest)
        excess = round(self.excess_px / theme.scale)
        self.matrix.set_heights(max(least, most - excess), largest)
