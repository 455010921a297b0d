"""The Train page: configure a run, start it in a thread, follow it, stop it, resume it, try the model."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QMenu, QStackedWidget, QWidget

from augenmerk.core.errors import AugenmerkError
from augenmerk.viz_app.export.saving import ExportSource, import_matplotlib
from augenmerk.viz_app.theme import GAP, scaled
from augenmerk.viz_app.train.playback import moment_name
from augenmerk.viz_app.train.run import settings as run_settings
from augenmerk.viz_app.train.run.actions import RunActions
from augenmerk.viz_app.train.run.all_settings import AllSettings
from augenmerk.viz_app.train.run.choices import RunChoices
from augenmerk.viz_app.train.run.controller import RunController
from augenmerk.viz_app.train.run.devices import DeviceFinder
from augenmerk.viz_app.train.run.form import RunForm
from augenmerk.viz_app.train.run.intro import Intro
from augenmerk.viz_app.train.run.notice_bar import NoticeBar
from augenmerk.viz_app.train.run.panel import RunPanel
from augenmerk.viz_app.train.run.status_text import status_line
from augenmerk.viz_app.train.run_export import RunExport
from augenmerk.viz_app.train.run_files import Comparison
from augenmerk.viz_app.train.state import Run, Status, TrainState
from augenmerk.viz_app.widgets.layouts import column_of, row_of
from augenmerk.viz_app.worker.inference import ANSWER_SECONDS
from augenmerk.viz_app.worker.training import TrainingBody

if TYPE_CHECKING:
    from augenmerk.viz_app.train.run_view import RunView


STACKED = 600
"""Pixels below which charts do not fit next to the run."""
HEIGHTS_STACKED = 300, 420
"""The least of the run, which scrolls, and of the charts."""


class TrainPage(QWidget):
    """Widgets around a `TrainState`.

    Attributes:
        state: all that is shown of the run.
        comparison: other runs, drawn in the same charts.
        controller: starts, stops and resumes the training.
        run_actions: what the buttons do.
        form, panel, notice_bar, run_view: the parts of the page; `run_view` is None until there is something to draw.
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
        self.controller.offer_unfinished_run()
        self.form = RunForm(run_settings.load_choices(settings))
        self.panel = RunPanel(self.state, self.form)
        self.notice_bar = NoticeBar(self.state)
        self.run_actions = RunActions(self.state, self.controller, self.panel, self.notice_bar, self)
        self.run_view: RunView | None = None
        self.all_settings: AllSettings | None = None
        self._export_menu: QMenu | None = None
        self._intro = Intro()
        self._stack = QStackedWidget()
        self._stack.addWidget(self._intro)
        self._devices = DeviceFinder(self)
        self._lay_out()
        self._connect()
        self._on_form_changed()
        self._on_run_changed(self.state.run)

    def hasHeightForWidth(self) -> bool:
        """No: what is too high for the page shrinks or scrolls within it, so that charts and film are both in sight."""
        return False

    def is_running(self) -> bool:
        """Whether a training is running."""
        return self.controller.is_running

    def request_stop(self) -> None:
        """Pauses the training after the current batch; nothing is lost. Returns at once. For closing the window."""
        if self.state.run.status is not Status.STOPPING:
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
        if self.run_view is not None:
            self.run_view.film.stop_playing()
        return self._devices.join(ANSWER_SECONDS) and has_ended

    def export_source(self) -> ExportSource:
        """The run, and the film's maps if they are in sight; see `viz_app.export.saving.Exportable`."""
        shown, view, playback = self.state.run, self.run_view, self.state.playback
        folder = shown.folder
        run = f"run {folder.name}" if folder is not None else "no run yet"
        if view is None or folder is None or not shown.has_curves:
            return ExportSource(self, caption=run)
        source = RunExport(
            folder.name,
            folder,
            shown.curves,
            view.charts.pictures,
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
        if self.run_view is not None:
            self.run_view.charts.export_button.setMenu(menu)

    def showEvent(self, event: QShowEvent) -> None:
        """Looks for devices when the page is shown for the first time: this imports torch, in a thread.

        An unfinished run of an earlier session gets its charts then, so that matplotlib does not hold up the start.
        """
        super().showEvent(event)
        self._devices.start()
        QTimer.singleShot(0, self, self._show_right)

    def _on_run_changed(self, run: Run) -> None:
        self._show_right()
        line = status_line(run)
        if line != self._status_line:
            self._status_line = line
            self.status_changed.emit(line)

    def _show_right(self) -> None:
        """Shows all settings next to the form if they are wanted, else the run, else the introduction."""
        run = self.state.run
        if run.status is not Status.IDLE or (run.has_curves and self.isVisible()):
            self._make_run_view()  # before a worker competes for the interpreter
        if self.panel.shows_form and self.form.settings_button.isChecked():
            if self.all_settings is None:
                self.all_settings = AllSettings(self.form)
                self._stack.addWidget(self.all_settings)
            self._stack.setCurrentWidget(self.all_settings)
        elif self.run_view is not None and run.has_curves:
            self._stack.setCurrentWidget(self.run_view)
        else:
            self._stack.setCurrentWidget(self._intro)

    def _make_run_view(self) -> None:
        """Creates charts and film when they are first needed: this imports matplotlib."""
        if self.run_view is None:
            import_matplotlib()
            from augenmerk.viz_app.train.run_view import RunView

            self.run_view = RunView(self.state, self.comparison, lambda: self.form.choices().parent_folder)
            self._stack.addWidget(self.run_view)
            if self._export_menu is not None:
                self.run_view.charts.export_button.setMenu(self._export_menu)

    def _on_form_changed(self) -> None:
        choices = self.form.choices()
        run_settings.save_choices(self._settings, choices)
        self.panel.show_problem(_problem_of(choices))
        self._intro.show_choices(choices)

    def _connect(self) -> None:
        self.state.run_changed.connect(self._on_run_changed)
        self.form.changed.connect(self._on_form_changed)
        self.form.settings_button.toggled.connect(self._show_right)
        self.panel.switched.connect(self._show_right)
        self.run_actions.model_ready.connect(self.model_ready)
        self.controller.ended.connect(self.form.refresh_folder)
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
        right = column_of(self.notice_bar, (self._stack, 1), spacing=GAP)
        self._row = row_of(self.panel, (right, 1), spacing=GAP, within=self)


def _problem_of(choices: RunChoices) -> str:
    """Why a run with these numbers could not be started; empty if it could."""
    try:
        choices.run_config()
    except AugenmerkError as error:
        return str(error)
    return ""
