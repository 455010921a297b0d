"""What all tabs of the laboratory have in common."""

from typing import ClassVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QScrollArea, QVBoxLayout, QWidget

from viz_app.state.model_info import ModelInfo
from viz_app.state.progress import Awaited, Progress
from viz_app.state.switchboard import name_heads
from viz_app.state.translate_state import TranslateState
from viz_app.theme import PANEL_MARGIN, Theme
from viz_app.widgets.parts import label
from viz_app.worker import Failure


class LabTab(QWidget):
    """A tab: one sentence on what it shows and what it does not, and the thing itself. An `Asker` of jobs.

    A tab works only while it is seen: `refresh` is called when it comes into sight, and when what it shows has changed
    while it is in sight.

    Attributes:
        name: on the tab.
        tip: of the tab.
        meaning: the sentence.
        awaited: the job whose answer counts.
        column: the layout of the content.
        problem: the line that says why there is no answer.
        circumstances: the line that says what switched-off heads and a given translation mean here; else hidden.

    Signals:
        job_wanted(Job): ask the worker, then call `await_job`.
        cancel_wanted(int): nobody waits for this job any more.
        marks_changed(): what is marked in the large map is another row.
    """

    name: ClassVar[str]
    tip: ClassVar[str]
    meaning: ClassVar[str]

    job_wanted = Signal(object)
    cancel_wanted = Signal(int)
    marks_changed = Signal()

    def __init__(self, page: TranslateState, theme: Theme, awaited: Awaited, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.page, self.theme, self.awaited = page, theme, awaited
        self.setProperty("role", "lab")
        self.explanation = label("small", wraps=True)
        self.explanation.setText(self.meaning)
        self.problem = label("warm", wraps=True)
        self.problem.setVisible(False)
        self.circumstances = label("accent", wraps=True)
        self.circumstances.setVisible(False)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(PANEL_MARGIN, 4, PANEL_MARGIN - 4, 10)
        self.column.setSpacing(8)
        self.column.addWidget(self.explanation)
        self.column.addWidget(self.circumstances)
        self.column.addWidget(self.problem)

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        self.theme = theme
        self.redraw()

    def begin_model(self, info: ModelInfo) -> None:
        """Another model answers from now on."""

    def forget_sentence(self) -> None:
        """Another translation is shown, or none."""

    def refresh(self) -> None:
        """The tab is in sight: asks for what it lacks, and shows what there is."""
        self.redraw()

    def redraw(self) -> None:
        """Shows the state."""
        self.problem.setText(self.awaited.problem)
        self.problem.setVisible(bool(self.awaited.problem))
        circumstances = self.in_the_circumstances()
        self.circumstances.setText(circumstances)
        self.circumstances.setVisible(bool(circumstances))

    def in_the_circumstances(self) -> str:
        """What switched-off heads and a given translation mean for this tab; empty if there is neither."""
        off = self.page.switchboard.off
        return f"{name_heads(off).capitalize()} switched off above, but every head is on here." if off else ""

    def await_job(self, request_id: int) -> None:
        """Of all answers the tab waits for this one alone."""
        self.awaited.begin(request_id)
        self.redraw()

    def cancel(self) -> None:
        """Waits no longer."""
        if self.awaited.request_id is not None:
            self.cancel_wanted.emit(self.awaited.request_id)
            self.awaited.forget()
            self.redraw()

    def follow(self, request_id: int, progress: Progress, /) -> None:
        """How far the job is."""
        if self.awaited.follow(request_id, progress):
            self.redraw()

    def accept(self, request_id: int, result: object, /) -> None:
        """An answer; a stale one is dropped."""
        if self.awaited.settle(request_id):
            self.take(result)
            self.redraw()

    def refuse(self, request_id: int, failure: Failure, /) -> None:
        """There is no answer."""
        if self.awaited.refuse(request_id, failure.message):
            self.redraw()

    def give_up(self, request_id: int, /) -> None:
        """The question has become pointless."""
        if self.awaited.settle(request_id):
            self.redraw()

    def take(self, result: object) -> None:
        """Keeps the awaited answer."""
        raise NotImplementedError


class JobBar(QWidget):
    """A button that begins something long; while it runs, how far it is, and a way to end it.

    Attributes:
        start, stop: the two buttons.
        bar: how far it is.

    Signals:
        start_wanted(), stop_wanted()
    """

    start_wanted = Signal()
    stop_wanted = Signal()

    def __init__(self, text: str, tip: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.start = QPushButton(text)
        self.start.setToolTip(tip)
        self.stop = QPushButton("Cancel")
        self.stop.setToolTip("End it")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(6)
        self.text = label("small")
        self.start.clicked.connect(self.start_wanted)
        self.stop.clicked.connect(self.stop_wanted)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        self._running = QWidget()
        column = QVBoxLayout(self._running)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        column.addWidget(self.text)
        column.addWidget(self.bar)
        row.addWidget(self.start)
        row.addWidget(self._running, 1)
        row.addWidget(self.stop)
        row.addStretch(0)
        self.show_progress(Awaited())

    def show_progress(self, awaited: Awaited) -> None:
        """The button, or how far it is."""
        is_running = awaited.is_awaiting
        self.start.setVisible(not is_running)
        self._running.setVisible(is_running)
        self.stop.setVisible(is_running)
        progress = awaited.progress
        self.bar.setRange(0, max(progress.total, 0) if progress else 0)
        self.bar.setValue(progress.done if progress else 0)
        self.text.setText(progress.text if progress else "waiting …")


def scrolled(content: QWidget) -> QScrollArea:
    """A widget that scrolls up and down where there is no room for all of it."""
    area = QScrollArea()
    area.setWidget(content)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.viewport().setAutoFillBackground(False)
    content.setAutoFillBackground(False)
    return area
