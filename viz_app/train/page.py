"""The Train page: choose a run, start it in a thread, watch it, stop it, resume it, try what it learned."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMessageBox, QStackedWidget, QVBoxLayout, QWidget

from core.errors import AugenmerkError
from viz_app.export.plotting import import_matplotlib
from viz_app.theme import GAP
from viz_app.train import memory
from viz_app.train.choices import fresh_folder, request_rows, with_tilde
from viz_app.train.comparing import Comparing
from viz_app.train.comparison import Comparison
from viz_app.train.devices import DeviceFinder
from viz_app.train.draw_budget import DrawBudget
from viz_app.train.intro import Intro
from viz_app.train.notice_strip import NoticeStrip
from viz_app.train.run_files import runs_in
from viz_app.train.run_form import RunForm
from viz_app.train.run_panel import RunPanel
from viz_app.train.running import Running
from viz_app.train.state import Status, TrainState
from viz_app.train.words import notice, status_line, what_resuming_does
from viz_app.worker import DRAIN_INTERVAL_MS, TrainingBody, TrainingRequest

if TYPE_CHECKING:
    from viz_app.train.watch_panels import WatchPanels


DRAWING_SHARE = 0.04
"""Of the time; what the charts take is taken from the training where the processor is busy."""


class TrainPage(QWidget):
    """Widgets around a `TrainState`.

    Attributes:
        state: all that is shown of the run.
        comparison: other runs, laid over it.
        running: the training.
        form, panel, strip: the parts of the page.

    Signals:
        modelReady(Path): the best checkpoint so far is to be opened on the Translate page.
        statusChanged(str): what the window's head says about training; empty for nothing.
    """

    modelReady = Signal(Path)
    statusChanged = Signal(str)

    def __init__(self, settings: QSettings, parent: QWidget | None = None, *, body: TrainingBody | None = None) -> None:
        """`body` replaces reading and training, for tests."""
        super().__init__(parent)
        self._settings = settings
        self._status_line = ""
        self.state = TrainState()
        self.comparison = Comparison()
        self.running = Running(self.state, settings, self, body)
        self.form = RunForm(memory.load_choices(settings))
        self.panel = RunPanel(self.form)
        self.strip = NoticeStrip()
        self._watch: WatchPanels | None = None
        self._comparing = Comparing(self.comparison, self)
        self._intro = Intro()
        self._stack = QStackedWidget()
        self._stack.addWidget(self._intro)
        self._devices = DeviceFinder(self)
        self._budget = DrawBudget(DRAWING_SHARE)
        self._late_refresh = QTimer(self, singleShot=True, interval=DRAIN_INTERVAL_MS)
        self._late_refresh.timeout.connect(self._refresh_soon)
        self._lay_out()
        self._connect()
        self.running.offer_earlier()
        self._intro.show_choices(self.form.choices())
        self._refresh()

    def is_running(self) -> bool:
        """Whether a training is at work."""
        return self.running.is_running

    def request_stop(self) -> None:
        """Pauses the training within one batch; nothing is lost. Says so at once; returns at once. For closing."""
        if self.state.status is not Status.STOPPING:
            self.running.stop("pause")

    def shutdown(self) -> None:
        """Pauses what runs and returns when no thread of this page is left. For closing the window."""
        self.running.shutdown()
        if self._watch is not None:
            self._watch.film.stop_playing()
        self._devices.join()
        self._late_refresh.stop()

    def showEvent(self, event: QShowEvent) -> None:
        """Asks for the devices when the page is seen for the first time: this imports torch, in a thread."""
        super().showEvent(event)
        self._devices.start()

    def start(self) -> None:
        """Starts the run that the form describes; says what is wrong if it cannot be started."""
        choices = self.form.choices()
        try:
            run, source = choices.run_config(), choices.source()
        except AugenmerkError as error:
            self.panel.show_message(str(error))
            return
        folder = fresh_folder(choices.parent_folder, choices.preset)
        probe = choices.probe.strip() or None
        self.begin(TrainingRequest(run, source, folder, choices.device, probe=probe))

    def resume(self) -> None:
        """Goes on with the run on the page from its last checkpoint, on the device that the form says."""
        self._make_charts()
        self.panel.show_message("")
        self.running.resume(self.form.choices().device)

    def begin(self, request: TrainingRequest) -> None:
        """Starts the run that a request describes, unless one is running."""
        if self.running.is_running:
            return
        self.panel.show_message("")
        self._make_charts()  # before the worker begins to compete for the interpreter
        self.running.begin(request)

    def _make_charts(self) -> None:
        """Makes the charts the first time they are needed: this imports matplotlib."""
        if self._watch is None:
            import_matplotlib()
            from viz_app.train.watch_panels import WatchPanels

            self._watch = watch = WatchPanels(self.state.playback)
            self._stack.addWidget(watch)
            self._comparing.connect_to(watch.charts)
            watch.charts.changed.connect(self._refresh)
            watch.moment_chosen.connect(self._on_moment)
            watch.film.moment_chosen.connect(self._on_frame)
            watch.samples.walked.connect(self._on_walked)

    def _on_moment(self, step: float) -> None:
        self.state.playback.show_step(step)
        self._refresh()

    def _on_frame(self, index: int) -> None:
        self.state.playback.show_frame(index)
        self._refresh()

    def _on_walked(self, offset: int) -> None:
        self.state.playback.walk(offset)
        self._refresh()

    def _refresh_soon(self) -> None:
        """Draws the state now, or as soon as drawing has not taken more than its share of the time."""
        if self._budget.allows:
            self._refresh()
        elif not self._late_refresh.isActive():
            self._late_refresh.start()

    def _refresh(self) -> None:
        """Draws the state."""
        self._late_refresh.stop()
        with self._budget.spend():
            self._draw(self.state)

    def _draw(self, state: TrainState) -> None:
        request, failure = self.running.request, self.running.failure
        if request is not None:
            self.panel.show_settings(request_rows(request.run, request.source, request.probe))
        self.panel.show_state(state)
        self.panel.show_resumption(what_resuming_does(state, request.run, request.source) if request else "")
        self.strip.show_notice(notice(state), has_details=bool(failure and failure.details))
        if self._watch is not None and state.has_curves:
            self._stack.setCurrentWidget(self._watch)
            self._watch.show_state(state, self.comparison)
        else:
            self._stack.setCurrentWidget(self._intro)
        preset = request.run.preset if request else ""
        line = status_line(state, preset)
        if line != self._status_line:
            self._status_line = line
            self.statusChanged.emit(line)

    def _offer_runs(self) -> None:
        name = self.state.folder.name if self.state.folder else ""
        preset = self.running.request.run.preset if self.running.request else ""
        is_notebook = preset == "notebook" or name.startswith("notebook")
        self._comparing.offer(self.form.choices().parent_folder, self.state, is_notebook=is_notebook)

    def _offer_earlier_runs(self) -> None:
        parent = self.form.choices().parent_folder
        runs = [run for run in runs_in(parent) if run.folder != self.state.folder]
        self.panel.look_menu.offer(runs, parent)

    def _look_at(self, folder: Path) -> None:
        self._make_charts()
        try:
            self.running.look_at(folder, self._source_of_form())
        except AugenmerkError as error:
            self.panel.show_message(str(error))

    def _source_of_form(self) -> str | Path:
        """For a run of which nobody remembers what it learned from."""
        try:
            source = self.form.choices().source()
        except AugenmerkError:
            return "multi30k"
        return "multi30k" if source == "copy" else source

    def _on_action(self, key: str) -> None:
        if key == "change":
            self._make_charts()
            self.running.go_on_with_change(self.form.choices().device)
        else:
            self.running.answer_failed_save("retry" if key == "retry" else "stop")

    def _ask_to_discard(self) -> None:
        folder = self.state.folder
        if folder is None:
            return
        box = QMessageBox(QMessageBox.Icon.Question, "Discard this run?", "Discard this run?", parent=self)
        box.setInformativeText(
            f"Its checkpoints, history and film in {with_tilde(folder)} are removed for good. Nothing else is touched."
        )
        discard = box.addButton("Discard the run", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton("Keep it", QMessageBox.ButtonRole.RejectRole))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        discard.clicked.connect(lambda: self._discard(folder))
        box.open()

    def _discard(self, folder: Path) -> None:
        if folder != self.state.folder:  # another run has begun since the question was asked
            return
        try:
            self.running.discard()
        except AugenmerkError as error:
            self.panel.show_message(str(error))

    def _on_form_changed(self) -> None:
        choices = self.form.choices()
        memory.save_choices(self._settings, choices)
        self.panel.show_message("")
        self._intro.show_choices(choices)

    def _on_try_model(self) -> None:
        if self.state.best_checkpoint is not None:
            self.modelReady.emit(self.state.best_checkpoint)

    def _on_open_folder(self) -> None:
        if self.state.folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.state.folder)))

    def _on_details(self) -> None:
        failure = self.running.failure
        if failure is None:
            return
        box = QMessageBox(QMessageBox.Icon.Warning, "Training ended", failure.message, parent=self)
        box.setDetailedText(failure.details)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    def _connect(self) -> None:
        self.form.changed.connect(self._on_form_changed)
        self.panel.start_button.clicked.connect(self.start)
        self.panel.resume_button.clicked.connect(self.resume)
        self.panel.stop_button.clicked.connect(lambda: self.running.stop("keep"))
        self.panel.pause_button.clicked.connect(lambda: self.running.stop("pause"))
        self.panel.discard_button.clicked.connect(self._ask_to_discard)
        self.panel.look_menu.about_to_show.connect(self._offer_earlier_runs)
        self.panel.look_menu.folder_chosen.connect(self._look_at)
        self.running.stepped.connect(self._refresh_soon)
        self.running.changed.connect(self._refresh)
        self.running.ended.connect(self.form.refresh_folder)
        self.strip.acted.connect(self._on_action)
        self.strip.tryModel.connect(self._on_try_model)
        self.strip.openFolder.connect(self._on_open_folder)
        self.strip.showDetails.connect(self._on_details)
        self._comparing.changed.connect(self._refresh)
        self._comparing.asked.connect(self._offer_runs)
        self._devices.found.connect(self.form.set_devices)

    def _lay_out(self) -> None:
        right = QVBoxLayout()
        right.setSpacing(GAP)
        right.addWidget(self.strip)
        right.addWidget(self._stack, 1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP)
        row.addWidget(self.panel)
        row.addLayout(right, 1)
