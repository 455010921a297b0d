"""The Train page: configure a run, start it in a thread, follow it, stop it, resume it, try the
model.
"""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSettings, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QLabel,
    QMenu,
    QMessageBox,
    QStackedWidget,
    QWidget,
)

from augenmerk.core.counting import display_text
from augenmerk.core.errors import AugenmerkError
from augenmerk.core.extensions.training.events import TrainingRequest

from ...theme import GAP, PANEL_MARGIN, scaled, scales, set_role
from ...views.export_source import ExportSource
from ...widgets.dialogs import open_box, show_failure
from ...widgets.labels import label
from ...widgets.layouts import VerticalScrollArea, column_of, row_of
from ...worker.inference import Failure
from ..pictures.saving import import_matplotlib
from ..widgets.late_clicks import LateClickFilter
from .machine import Machine
from .playback import frame_name
from .run import settings as run_settings
from .run.choices import (
    MEASURING,
    RunChoices,
    new_run_folder,
    whole_number,
    with_tilde,
)
from .run.controller import RunController
from .run.form import AllSettings, RunForm
from .run.panel import NoticeBar, RunPanel
from .run.status_text import activity, status_line
from .run_export import RunExport
from .run_files import RunComparison, runs_in
from .state import Run, Status, TrainState
from .worker import TrainingBody

if TYPE_CHECKING:
    from .run_view import RunView

STACKED = 600
"""Pixels below which charts do not fit next to the run."""
HEIGHTS_STACKED = 300, 420
"""The least of the run, which scrolls, and of the charts."""
INTRO_PX = 600  # lines of about 80 characters
INTRO_TITLE = "Train a Transformer, and watch it learn"


class TrainPage(QWidget):
    """Widgets around a `TrainState`.

    Attributes:
        state: the run and its film.
        comparison: other runs, drawn in the same charts.
        controller: starts, stops and resumes the training.
        run_actions: the actions of the buttons.
        machine: finds devices and measures their speeds.
        form: the settings of a new run.
        panel: the panel of the run.
        notice_bar: the notices of the page.
        run_view: the charts and the film; None until matplotlib is there, or something to draw.
        all_settings: every setting of the form; None until it is first shown.

    Signals:
        status_changed(str): the training status for the window's top bar; empty for none.
    """

    status_changed = Signal(str)

    def __init__(
        self,
        settings: QSettings,
        parent: QWidget | None = None,
        *,
        body: TrainingBody | None = None,
    ) -> None:
        """`body` replaces reading and training, for tests."""
        super().__init__(parent)
        self._settings = settings
        self._status_line = ""
        self.state = TrainState()
        self.comparison = RunComparison()
        self.controller = RunController(self.state, settings, self, body)
        self.controller.offer_unfinished_run()
        self.form = RunForm(run_settings.load_choices(settings))
        self._choices = self.form.choices()
        self.panel = RunPanel(self.state, self.form, self)
        self.notice_bar = NoticeBar(self.state)
        self.run_actions = RunActions(
            self.state, self.controller, self.panel, self.notice_bar, self
        )
        self.run_view: RunView | None = None
        self._is_presented = False
        self.all_settings: AllSettings | None = None
        self._export_menu: QMenu | None = None
        self._intro = Intro()
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self._intro)
        self.machine = Machine(settings, lambda: self.controller.is_running, self)
        self._lay_out()
        self._connect()
        self._on_form_changed()
        self._on_run_changed(self.state.run)

    def hasHeightForWidth(self) -> bool:
        """No: contents too high for the page shrink or scroll, so that charts and film stay
        visible.
        """
        return False

    def is_running(self) -> bool:
        """Whether a training is running."""
        return self.controller.is_running

    @property
    def is_stopping(self) -> bool:
        """Whether the training was told to stop."""
        return self.state.run.status is Status.STOPPING

    def request_stop(self) -> None:
        """Pauses the training after the current batch; nothing is lost.

        Returns at once. For closing the window.
        """
        if not self.is_stopping:
            self.controller.stop("pause")

    @property
    def limit_to_end_s(self) -> float:
        """The time limit for a stopping training."""
        return self.controller.limit_to_end_s

    @property
    def save_seconds(self) -> float:
        """The time that the last save of the running training took; 0 before the first."""
        return self.state.run.save_seconds

    def shutdown(self, *, waits_for_training: bool = True) -> bool:
        """Pauses a running training and waits for the threads of this page. For closing the window.

        Args:
            waits_for_training: for at most `limit_to_end_s`; False if the caller has waited.

        Returns:
            Whether all of them have ended in time.
        """
        has_ended = self.controller.shutdown(self.limit_to_end_s if waits_for_training else 0.0)
        if self.run_view is not None:
            self.run_view.film.stop_playing()
        return self.machine.close() and has_ended

    def export_source(self) -> ExportSource:
        """The run, and the film's maps if they are in sight; see
        `viz_app.views.export_source.Exportable`.
        """
        shown = self.state.run
        view = self.run_view
        playback = self.state.playback
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
            settings=shown.request.run if shown.request is not None else None,
        )
        frame = playback.frame
        if frame is None or not view.film.isVisible():
            return ExportSource(self, caption=run, run=source)
        model = f"{run} · {frame_name(frame)}"
        return ExportSource(
            self, playback.maps, view.film.heatmap, model, caption=model, run=source
        )

    def show_alone(self) -> QWidget:
        """Shows charts and film, if there is a run, in a widget that another part of the window may
        borrow.
        """
        if self.state.run.has_curves:
            self._make_run_view()
        self._show_right()
        return self._stack

    def set_presented(self, is_presented: bool) -> None:
        """Shows charts and film, also those of a run that begins meanwhile, for people who sit far
        away.
        """
        self._is_presented = is_presented
        if self.run_view is not None:
            self.run_view.set_presented(is_presented)

    def offer_export(self, menu: QMenu) -> None:
        """Adds the export menu next to the charts once they exist."""
        self._export_menu = menu
        if self.run_view is not None:
            self.run_view.charts.export_button.setMenu(menu)

    def showEvent(self, event: QShowEvent) -> None:
        """Looks for devices when the page is shown for the first time: this imports torch, in a
        thread.

        An unfinished run of an earlier session gets its charts then, so that matplotlib does not
        hold up the start.
        """
        super().showEvent(event)
        self.machine.find_devices()
        QTimer.singleShot(0, self, self._show_right)

    def _on_run_changed(self, run: Run) -> None:
        self._intro.title.setText(activity(run) or INTRO_TITLE)  # until there are curves
        self._show_right()
        line = status_line(run)
        if line != self._status_line:
            self._status_line = line
            self.status_changed.emit(line)

    def _show_right(self) -> None:
        """Shows all settings next to the form if they are wanted, else the run, else the
        introduction.
        """
        run = self.state.run
        if run.status is not Status.IDLE or (run.has_curves and self.isVisible()):
            self._make_run_view()  # before a worker competes for the interpreter
        if self.panel.shows_form and self.form.settings_button.isChecked():
            if self.all_settings is None:
                self.all_settings = AllSettings(self.form, self._stack)
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
            from .run_view import RunView

            self.run_view = RunView(
                self.state, self.comparison, lambda: self.form.choices().parent_folder, self._stack
            )
            self.run_view.set_presented(self._is_presented)
            self.run_view.set_page_height(self.height())
            self._stack.addWidget(self.run_view)
            if self._export_menu is not None:
                self.run_view.charts.export_button.setMenu(self._export_menu)

    def _on_form_changed(self) -> None:
        choices = self.form.choices()
        run_settings.save_choices(self._settings, choices)
        self.panel.show_problem(_problem_of(choices))
        if choices != self._choices:  # the failure of the last run does not concern another one
            self._choices = choices
            self.notice_bar.show_failure(False)
        self._intro.show_choices(choices, self.form.duration)

    def _connect(self) -> None:
        self.state.run_changed.connect(self._on_run_changed)
        self.form.changed.connect(self._on_form_changed)
        self.form.settings_button.toggled.connect(self._show_right)
        self.panel.switched.connect(self._show_right)
        self.panel.switched.connect(lambda: self.notice_bar.show_failure(not self.panel.shows_form))
        self.controller.ended.connect(self.form.refresh_folder)
        self.machine.devices_found.connect(self.form.set_devices)
        self.machine.devices_found.connect(self.panel.set_devices)
        # the worker has imported matplotlib; later, a training would slow this down
        self.machine.devices_found.connect(lambda _labels: self._make_run_view())
        self.machine.speeds_changed.connect(self.form.set_speeds)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """On a very narrow page the charts are below the run."""
        super().resizeEvent(event)
        is_stacked = self.width() < scaled(STACKED)
        self.panel.set_as_wide_as_page(is_stacked)
        self._row.setDirection(
            QBoxLayout.Direction.TopToBottom if is_stacked else QBoxLayout.Direction.LeftToRight
        )
        for part, height in zip((self.panel, self._stack), HEIGHTS_STACKED, strict=True):
            part.setMinimumHeight(scaled(height) if is_stacked else 0)
        if self.run_view is not None:
            self.run_view.set_page_height(self.height())

    def _lay_out(self) -> None:
        right = column_of(self.notice_bar, (self._stack, 1), spacing=GAP)
        self._row = row_of(self.panel, (right, 1), spacing=GAP, within=self)


def _problem_of(choices: RunChoices) -> str:
    """The reason why a run with these numbers cannot start; empty if it can."""
    try:
        choices.run_config()
    except AugenmerkError as error:
        return display_text(error)
    return ""


class RunActions(QObject):
    """Connects the buttons of a panel and a notice bar to a `RunController`; refusals are shown in
    the panel.

    Signals:
        model_ready(Path, str): open the best checkpoint so far on the Translate page, with this
            sentence if not empty.
    """

    model_ready = Signal(Path, str)

    def __init__(
        self,
        state: TrainState,
        controller: RunController,
        panel: RunPanel,
        notice_bar: NoticeBar,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._state = state
        self._controller = controller
        self._panel = panel
        self._page = parent
        panel.start_button.clicked.connect(self.start)
        panel.resume_button.clicked.connect(self.resume)
        panel.extend_button.clicked.connect(self.extend)
        panel.stop_button.clicked.connect(lambda: controller.stop("keep"))
        panel.pause_button.clicked.connect(lambda: controller.stop("pause"))
        panel.discard_button.clicked.connect(self._ask_to_discard)
        panel.open_menu.menu().aboutToShow.connect(self._fill_open_menu)
        panel.open_menu.folder_chosen.connect(self.open_run)
        notice_bar.chosen.connect(self._on_notice)
        late_clicks = LateClickFilter(parent)
        for part in (panel, notice_bar):
            late_clicks.watch_buttons_in(part)

    def start(self) -> None:
        """Starts the run that the form describes, or shows why it cannot be started."""
        choices = self._panel.form.choices()
        try:
            run, source = choices.run_config(), choices.source()
        except AugenmerkError as error:
            self._panel.show_message(display_text(error))
            return
        folder = new_run_folder(choices.parent_folder, choices.preset)
        self.begin(
            TrainingRequest(
                run, source, folder, choices.device, probe=choices.probe.strip() or None
            )
        )

    def begin(self, request: TrainingRequest) -> None:
        """Starts the requested run, unless one is running."""
        if not self._controller.is_running:
            self._panel.show_message("")
            self._panel.form.settings_button.setChecked(False)
            self._controller.begin(request)

    def resume(self) -> None:
        """Resumes the run on the page from its last checkpoint, on the device chosen next to it."""
        self._panel.show_message("")
        self._controller.resume(self._panel.device, self._source_of_form())

    def extend(self) -> None:
        """Continues the finished run on the page to more epochs, as typed, or shows why it cannot
        be.
        """
        request = self._state.run.request
        if request is None:
            return
        done = request.run.training.num_epochs
        try:
            number = whole_number("epochs", self._panel.epochs_edit.text(), at_least=done + 1)
        except AugenmerkError as error:
            self._panel.show_message(display_text(error))
            return
        self._panel.show_message("")
        self._controller.extend(self._panel.device, number, self._source_of_form())

    def open_run(self, folder: Path) -> None:
        """Shows the run in `folder`, or the reason why it cannot be shown."""
        try:
            self._panel.leave_form()
            self._controller.open_run(folder, self._source_of_form())
        except AugenmerkError as error:
            self._panel.show_message(display_text(error))

    def _source_of_form(self) -> str | Path:
        """The data chosen in the form, for a run whose own data source is unknown or has moved."""
        try:
            source = self._panel.form.choices().source()
        except AugenmerkError:
            return "multi30k"
        return "multi30k" if source == "copy" else source

    def _fill_open_menu(self) -> None:
        parent = self._panel.form.choices().parent_folder
        self._panel.open_menu.offer(runs_in(parent), parent, shown=self._state.run.folder)

    def _on_notice(self, key: str) -> None:
        """A button of the notice was pressed."""
        run = self._state.run
        if key == "try" and run.best_checkpoint is not None:
            self.model_ready.emit(run.best_checkpoint, self._state.playback.probe)
        elif key == "folder" and run.folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(run.folder)))
        elif key == "details":
            show_failure(self._page, "Training ended", Failure(run.error, run.error_details))
        elif key == "change":
            self._show_proposal_in_form(run)
            self._controller.continue_with_proposal(self._panel.device)
        elif key in ("retry", "end"):
            self._controller.answer_failed_save("retry" if key == "retry" else "stop")

    def _show_proposal_in_form(self, run: Run) -> None:
        """Takes over the proposed settings of a new run, if the form describes the one that
        failed.
        """
        choices = self._panel.form.choices()
        if run.proposal is None or run.request is None or not run.proposal.settings:
            return
        with suppress(AugenmerkError):
            if choices.run_config() == run.request.run:
                for name, value in run.proposal.settings.items():
                    choices = choices.with_settings(str(value), name)
                self._panel.form.set_choices(choices)

    def _ask_to_discard(self) -> None:
        folder = self._state.run.folder
        if folder is None:
            return
        box = QMessageBox(
            QMessageBox.Icon.Question, "Discard this run?", "Discard this run?", parent=self._page
        )
        discard = box.addButton("Discard the run", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton("Keep the run", QMessageBox.ButtonRole.RejectRole))
        discard.clicked.connect(lambda: self._discard(folder))
        open_box(
            box,
            f"Its checkpoints, history and film in {with_tilde(folder)} will be deleted "
            "permanently. Other files stay.",
        )

    def _discard(self, folder: Path) -> None:
        if folder != self._state.run.folder:  # another run was started while the question was open
            return
        try:
            self._controller.discard()
        except AugenmerkError as error:
            self._panel.show_message(display_text(error))


class Intro(QFrame):
    """A numbered list of the steps that Start performs with the current settings; it scrolls where
    it does not fit.

    Attributes:
        title: above them.
    """

    def __init__(self) -> None:
        super().__init__()
        set_role(self, "panel")
        self._steps = QGridLayout()
        self._labels: dict[tuple[int, int], QLabel] = {}
        self._steps.setHorizontalSpacing(14)
        self._steps.setVerticalSpacing(2)
        self._steps.setColumnStretch(1, 1)
        self.title = label("title", INTRO_TITLE, wraps=True)
        words = QWidget()
        scales(words.setMaximumWidth, INTRO_PX)
        words.setLayout(column_of(self.title, self._steps, spacing=22))
        content = QWidget()
        content.setProperty("role", "transparent")
        column_of(VerticalScrollArea(content, self), margins=(1, 1, 1, 1), within=self)
        outer = QGridLayout(content)
        scales(outer.setContentsMargins, PANEL_MARGIN, PANEL_MARGIN, PANEL_MARGIN, PANEL_MARGIN)
        outer.setRowStretch(0, 2)
        outer.addWidget(words, 1, 1)
        outer.setRowStretch(2, 3)
        outer.setColumnStretch(0, 1)
        outer.setColumnStretch(1, 1000)  # up to its width; the rest is split between both sides
        outer.setColumnStretch(2, 1)

    def show_choices(self, choices: RunChoices, duration: str = "") -> None:
        """Shows the steps for these settings."""
        for number, (name, text) in enumerate(steps_of(choices, duration)):
            self._label(2 * number, 0, "step").setText(str(number + 1))
            self._label(2 * number, 1, "heading").setText(name)
            self._label(2 * number + 1, 1, "muted").setText(text)

    def _label(self, row: int, column: int, role: str) -> QLabel:
        """The label in this cell, created if missing."""
        cell_label = self._labels.get((row, column))
        if cell_label is None:
            cell_label = self._labels[row, column] = label(role, wraps=role != "step")
            if role == "muted":
                scales(cell_label.setContentsMargins, 0, 0, 0, 12)
            self._steps.addWidget(cell_label, row, column)
        return cell_label


def steps_of(choices: RunChoices, duration: str = "") -> list[tuple[str, str]]:
    """The steps of a training, as (name, description); `duration` is that of the run, such as
    "about 1 minute".
    """
    if choices.is_copy_task:
        read = (
            "Generate the data",
            "Random sequences of symbols, to be copied unchanged. Nothing is downloaded.",
        )
        number = "Number the symbols", "Each symbol is its own word."
    else:
        if choices.data_kind == "multi30k":
            text = (
                "29,000 image captions in German and English, downloaded once and verified by "
                "checksum."
            )
            read = "Read Multi30k", text
        else:
            read = (
                "Read your sentence pairs",
                "Source and target, line by line. Both files need the same number of lines.",
            )
        number = (
            "Tokenize once",
            "Text becomes token ids. The vocabularies are built from the training split only.",
        )
    num_epochs = choices.value("training.num_epochs")
    epochs = "One epoch" if num_epochs == 1 else f"{num_epochs:,} epochs"
    if duration:
        epochs += f" ({duration})" if duration == MEASURING else f", {duration} on this machine"
    look = (
        "The validation loss is measured; the best and the last checkpoint are saved. "
        "Try the best one on the Translate page while training continues."
    )
    return [
        read,
        number,
        ("Train", f"{epochs}, in the background. Loss and learning rate are plotted here."),
        ("Validate after each epoch", look),
        ("Stop at any time", "The model is saved, and Resume continues from there."),
    ]
