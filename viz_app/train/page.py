"""The Train page: configure a run, start it in a thread, follow it, stop it, resume it, try the model."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QMenu, QMessageBox, QStackedWidget, QVBoxLayout, QWidget

from augenmerk.core.errors import AugenmerkError
from augenmerk.viz_app.export.exportable import ExportSource
from augenmerk.viz_app.export.plotting import import_matplotlib
from augenmerk.viz_app.theme import GAP, scaled, scales
from augenmerk.viz_app.train.charts.comparison import Comparison
from augenmerk.viz_app.train.charts.comparison_controller import ComparisonController
from augenmerk.viz_app.train.film.playback import moment_name
from augenmerk.viz_app.train.run import settings as run_settings
from augenmerk.viz_app.train.run.all_settings import AllSettings
from augenmerk.viz_app.train.run.choices import RunChoices, new_run_folder, run_summary_rows, whole_number, with_tilde
from augenmerk.viz_app.train.run.controller import RunController
from augenmerk.viz_app.train.run.devices import DeviceFinder
from augenmerk.viz_app.train.run.draw_budget import DrawBudget
from augenmerk.viz_app.train.run.form import RunForm
from augenmerk.viz_app.train.run.intro import Intro
from augenmerk.viz_app.train.run.notice_bar import NoticeBar
from augenmerk.viz_app.train.run.panel import RunPanel
from augenmerk.viz_app.train.run.status_text import notice, patience_used, status_line
from augenmerk.viz_app.train.run_export import RunExport
from augenmerk.viz_app.train.run_files import runs_in
from augenmerk.viz_app.train.state import Status, TrainState
from augenmerk.viz_app.worker import ANSWER_SECONDS, DRAIN_INTERVAL_MS, TrainingBody, TrainingRequest

if TYPE_CHECKING:
    from augenmerk.viz_app.train.run_view import RunView


DRAWING_SHARE = 0.04
"""Share of the time that drawing may take: where the processor is busy, training gets the rest."""
STACKED = 600
"""Pixels below which charts do not fit beside the run."""
HEIGHTS_STACKED = 300, 420
"""The least of the run, which scrolls, and of the charts."""


class TrainPage(QWidget):
    """Widgets around a `TrainState`.

    Attributes:
        state: all that is shown of the run.
        comparison: other runs, drawn in the same charts.
        controller: starts, stops and resumes the training.
        form, panel, notice_bar: the parts of the page.
        all_settings: every setting of the form; None until it is first shown.

    Signals:
        model_ready(Path): open the best checkpoint so far on the Translate page.
        status_changed(str): the training status for the window's top bar; empty for none.
    """

    model_ready = Signal(Path)
    status_changed = Signal(str)

    def __init__(self, settings: QSettings, parent: QWidget | None = None, *, body: TrainingBody | None = None) -> None:
        """`body` replaces reading and training, for tests."""
        super().__init__(parent)
        self._settings = settings
        self._status_line = ""
        self.state = TrainState()
        self.comparison = Comparison()
        self.controller = RunController(self.state, settings, self, body)
        self.form = RunForm(run_settings.load_choices(settings))
        self.panel = RunPanel(self.form)
        self.notice_bar = NoticeBar()
        self._run_view: RunView | None = None
        self.all_settings: AllSettings | None = None
        self._export_menu: QMenu | None = None
        self._comparison_controller = ComparisonController(self.comparison, self)
        self._intro = Intro()
        self._stack = QStackedWidget()
        self._stack.addWidget(self._intro)
        self._devices = DeviceFinder(self)
        self._budget = DrawBudget(DRAWING_SHARE)
        self._late_refresh = QTimer(self, singleShot=True, interval=DRAIN_INTERVAL_MS)
        self._late_refresh.timeout.connect(self._refresh_soon)
        self._lay_out()
        self._connect()
        self.controller.offer_unfinished_run()
        self._on_form_changed()
        self._refresh()

    def hasHeightForWidth(self) -> bool:
        """No: what is too high for the page shrinks or scrolls within it, so that charts and film are both in sight."""
        return False

    def is_running(self) -> bool:
        """Whether a training is running."""
        return self.controller.is_running

    def request_stop(self) -> None:
        """Pauses the training after the current batch; nothing is lost. Returns at once. For closing the window."""
        if self.state.status is not Status.STOPPING:
            self.controller.stop("pause")

    @property
    def limit_to_end_s(self) -> float:
        """How long a training that was asked to stop is waited for."""
        return self.controller.limit_to_end_s

    def shutdown(self, *, waits_for_training: bool = True) -> bool:
        """Pauses a running training and waits for the threads of this page. For closing the window.

        Args:
            waits_for_training: for as long as `limit_to_end_s`; False if that was done already.

        Returns:
            Whether they have ended; False if one of them did not in time, and is left behind.
        """
        has_ended = self.controller.shutdown(self.limit_to_end_s if waits_for_training else 0.0)
        if self._run_view is not None:
            self._run_view.film.stop_playing()
        self._late_refresh.stop()
        return self._devices.join(ANSWER_SECONDS) and has_ended

    def export_source(self) -> ExportSource:
        """The run, and the film's maps if they are in sight; see `viz_app.export.exportable.Exportable`."""
        folder, view, playback = self.state.folder, self._run_view, self.state.playback
        run = f"run {folder.name}" if folder is not None else "no run yet"
        if view is None or folder is None or not self.state.has_curves:
            return ExportSource(self, caption=run)
        source = RunExport(
            folder.name,
            folder,
            self.state.curves,
            view.charts.shown,
            tuple(playback.frames),
            playback.maps.selection.head if playback.frame is not None else None,
            playback.maps.settings,
        )
        frame = playback.frame
        if frame is None or not view.film.isVisible():
            return ExportSource(self, caption=run, run=source)
        model = f"{run} · {moment_name(frame)}"
        return ExportSource(self, playback.maps, view.film.heatmap, model, caption=model, run=source)

    def offer_export(self, menu: QMenu) -> None:
        """Puts the export menu beside the charts, once there are some."""
        self._export_menu = menu
        if self._run_view is not None:
            self._run_view.charts.export_button.setMenu(menu)

    def showEvent(self, event: QShowEvent) -> None:
        """Looks for devices when the page is shown for the first time: this imports torch, in a thread.

        An unfinished run of an earlier session gets its charts then, so that matplotlib does not hold up the start.
        """
        super().showEvent(event)
        self._devices.start()
        if self._run_view is None and self.state.has_curves:
            QTimer.singleShot(0, self, self._show_earlier_run)

    def _show_earlier_run(self) -> None:
        self._make_charts()
        self._refresh()

    def start(self) -> None:
        """Starts the run that the form describes, or shows why it cannot be started."""
        choices = self.form.choices()
        try:
            run, source = choices.run_config(), choices.source()
        except AugenmerkError as error:
            self.panel.show_message(str(error))
            return
        folder = new_run_folder(choices.parent_folder, choices.preset)
        probe = choices.probe.strip() or None
        self.begin(TrainingRequest(run, source, folder, choices.device, probe=probe))

    def resume(self) -> None:
        """Resumes the run on the page from its last checkpoint, on the device chosen beside it."""
        self._make_charts()
        self.panel.show_message("")
        self.controller.resume(self.panel.device)

    def extend(self, num_epochs: str) -> None:
        """Continues the finished run on the page to more epochs, as typed, or shows why it cannot be."""
        request = self.controller.request
        if request is None:
            return
        done = request.run.training.num_epochs
        try:
            number = whole_number("epochs", num_epochs, at_least=done + 1)
        except AugenmerkError as error:
            self.panel.show_message(str(error))
            return
        self._make_charts()
        self.panel.show_message("")
        self.controller.extend(self.panel.device, number)

    def begin(self, request: TrainingRequest) -> None:
        """Starts the requested run, unless one is running."""
        if self.controller.is_running:
            return
        self.panel.show_message("")
        self.form.settings_button.setChecked(False)
        self._make_charts()  # before the worker competes for the interpreter
        self.controller.begin(request)

    def _make_charts(self) -> None:
        """Creates the charts when they are first needed: this imports matplotlib."""
        if self._run_view is None:
            import_matplotlib()
            from augenmerk.viz_app.train.run_view import RunView

            self._run_view = watch = RunView(self.state.playback)
            self._stack.addWidget(watch)
            if self._export_menu is not None:
                watch.charts.export_button.setMenu(self._export_menu)
            self._comparison_controller.connect_to(watch.charts)
            watch.charts.changed.connect(self._refresh)
            watch.moment_chosen.connect(self._on_moment)
            watch.film.moment_chosen.connect(self._on_frame)
            watch.samples.stepped.connect(self._on_stepped)

    def _on_moment(self, step: float) -> None:
        self.state.playback.show_step(step)
        self._refresh()

    def _on_frame(self, index: int) -> None:
        self.state.playback.show_frame(index)
        self._refresh()

    def _on_stepped(self, offset: int) -> None:
        self.state.playback.walk(offset)
        self._refresh()

    def _refresh_soon(self) -> None:
        """Draws the state now, or as soon as the drawing budget allows it."""
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
        request, failure = self.controller.request, self.controller.failure
        if request is not None:
            training = request.run.training
            rows = run_summary_rows(request.run, request.source, request.probe)
            self.panel.show_settings(rows, request.device, training.num_epochs)
            self.panel.show_patience(*patience_used(state, training.patience))
        else:
            self.panel.show_settings([], "auto", None)
            self.panel.show_patience("", 0.0)
        self.panel.show_state(state)
        self.notice_bar.show_notice(notice(state), has_details=bool(failure and failure.details))
        self._show_right()
        if self._stack.currentWidget() is self._run_view and self._run_view is not None:
            self._run_view.show_state(state, self.comparison)
        preset = request.run.preset if request else ""
        line = status_line(state, preset)
        if line != self._status_line:
            self._status_line = line
            self.status_changed.emit(line)

    def _show_right(self) -> None:
        """Shows all settings next to the form if they are wanted, else the run, else the introduction."""
        if self.panel.shows_form and self.form.settings_button.isChecked():
            if self.all_settings is None:
                self.all_settings = AllSettings(self.form)
                self._stack.addWidget(self.all_settings)
            self._stack.setCurrentWidget(self.all_settings)
        elif self._run_view is not None and self.state.has_curves:
            self._stack.setCurrentWidget(self._run_view)
        else:
            self._stack.setCurrentWidget(self._intro)

    def _offer_runs(self) -> None:
        name = self.state.folder.name if self.state.folder else ""
        preset = self.controller.request.run.preset if self.controller.request else ""
        is_notebook = preset == "notebook" or name.startswith("notebook")
        self._comparison_controller.offer(self.form.choices().parent_folder, self.state, is_notebook=is_notebook)

    def _fill_open_menu(self) -> None:
        parent = self.form.choices().parent_folder
        self.panel.open_menu.offer(runs_in(parent), parent, shown=self.state.folder)

    def _open_run(self, folder: Path) -> None:
        self._make_charts()
        try:
            self.panel.show_run()
            self.controller.open_run(folder, self._source_of_form())
        except AugenmerkError as error:
            self.panel.show_message(str(error))

    def _source_of_form(self) -> str | Path:
        """The data chosen in the form, for a run whose own data source is unknown."""
        try:
            source = self.form.choices().source()
        except AugenmerkError:
            return "multi30k"
        return "multi30k" if source == "copy" else source

    def _on_action(self, key: str) -> None:
        if key == "change":
            self._make_charts()
            self.controller.continue_with_proposal(self.panel.device)
        else:
            self.controller.answer_failed_save("retry" if key == "retry" else "stop")

    def _ask_to_discard(self) -> None:
        folder = self.state.folder
        if folder is None:
            return
        box = QMessageBox(QMessageBox.Icon.Question, "Discard this run?", "Discard this run?", parent=self)
        box.setInformativeText(
            f"Its checkpoints, history and film in {with_tilde(folder)} will be deleted permanently. Other files stay."
        )
        discard = box.addButton("Discard the run", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton("Keep the run", QMessageBox.ButtonRole.RejectRole))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        discard.clicked.connect(lambda: self._discard(folder))
        box.open()

    def _discard(self, folder: Path) -> None:
        if folder != self.state.folder:  # another run was started while the question was open
            return
        try:
            self.controller.discard()
        except AugenmerkError as error:
            self.panel.show_message(str(error))

    def _on_form_changed(self) -> None:
        choices = self.form.choices()
        run_settings.save_choices(self._settings, choices)
        self.panel.show_problem(_problem_of(choices))
        self._intro.show_choices(choices)

    def _on_try_model(self) -> None:
        if self.state.best_checkpoint is not None:
            self.model_ready.emit(self.state.best_checkpoint)

    def _on_open_folder(self) -> None:
        if self.state.folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.state.folder)))

    def _on_details(self) -> None:
        failure = self.controller.failure
        if failure is None:
            return
        box = QMessageBox(QMessageBox.Icon.Warning, "Training ended", failure.message, parent=self)
        box.setDetailedText(failure.details)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    def _connect(self) -> None:
        self.form.changed.connect(self._on_form_changed)
        self.form.settings_button.toggled.connect(self._refresh)
        self.panel.switch_button.clicked.connect(self._refresh)
        self.panel.start_button.clicked.connect(self.start)
        self.panel.resume_button.clicked.connect(self.resume)
        self.panel.extend_requested.connect(self.extend)
        self.panel.stop_button.clicked.connect(lambda: self.controller.stop("keep"))
        self.panel.pause_button.clicked.connect(lambda: self.controller.stop("pause"))
        self.panel.discard_button.clicked.connect(self._ask_to_discard)
        self.panel.open_menu.about_to_show.connect(self._fill_open_menu)
        self.panel.open_menu.folder_chosen.connect(self._open_run)
        self.controller.stepped.connect(self._refresh_soon)
        self.controller.changed.connect(self._refresh)
        self.controller.ended.connect(self.form.refresh_folder)
        self.notice_bar.action_chosen.connect(self._on_action)
        self.notice_bar.try_model_requested.connect(self._on_try_model)
        self.notice_bar.open_folder_requested.connect(self._on_open_folder)
        self.notice_bar.details_requested.connect(self._on_details)
        self._comparison_controller.changed.connect(self._refresh)
        self._comparison_controller.menu_opening.connect(self._offer_runs)
        self._devices.found.connect(self.form.set_devices)
        self._devices.found.connect(self.panel.set_devices)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """On a very narrow page the charts are below the run."""
        super().resizeEvent(event)
        is_stacked = self.width() < scaled(STACKED)
        self.panel.set_as_wide_as_page(is_stacked)
        self._row.setDirection(QBoxLayout.Direction.TopToBottom if is_stacked else QBoxLayout.Direction.LeftToRight)
        for part, height in zip((self.panel, self._stack), HEIGHTS_STACKED, strict=True):
            part.setMinimumHeight(scaled(height) if is_stacked else 0)

    def _lay_out(self) -> None:
        right = QVBoxLayout()
        scales(right.setSpacing, GAP)
        right.addWidget(self.notice_bar)
        right.addWidget(self._stack, 1)
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        scales(row.setSpacing, GAP)
        row.addWidget(self.panel)
        row.addLayout(right, 1)


def _problem_of(choices: RunChoices) -> str:
    """Why a run with these numbers could not be started; empty if it could."""
    try:
        choices.run_config()
    except AugenmerkError as error:
        return str(error)
    return ""
