"""What the buttons of the Train page do."""

from pathlib import Path

from PySide6.QtCore import QObject, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox, QWidget

from augenmerk.core.errors import AugenmerkError
from augenmerk.core.training.events import TrainingRequest
from augenmerk.viz_app.train.run.choices import new_run_folder, whole_number, with_tilde
from augenmerk.viz_app.train.run.controller import RunController
from augenmerk.viz_app.train.run.notice_bar import NoticeBar
from augenmerk.viz_app.train.run.panel import RunPanel
from augenmerk.viz_app.train.run_files import runs_in
from augenmerk.viz_app.train.state import TrainState


class RunActions(QObject):
    """Connects the buttons of a panel and a notice bar to a `RunController`; refusals are shown in the panel.

    Signals:
        model_ready(Path): open the best checkpoint so far on the Translate page.
    """

    model_ready = Signal(Path)

    def __init__(
        self, state: TrainState, controller: RunController, panel: RunPanel, notice_bar: NoticeBar, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._state = state
        self._controller = controller
        self._panel = panel
        self._page = parent
        panel.start_button.clicked.connect(self.start)
        panel.resume_button.clicked.connect(self.resume)
        panel.extend_requested.connect(self.extend)
        panel.stop_button.clicked.connect(lambda: controller.stop("keep"))
        panel.pause_button.clicked.connect(lambda: controller.stop("pause"))
        panel.discard_button.clicked.connect(self._ask_to_discard)
        panel.open_menu.about_to_show.connect(self._fill_open_menu)
        panel.open_menu.folder_chosen.connect(self.open_run)
        notice_bar.action_chosen.connect(self._on_action)
        notice_bar.try_model_requested.connect(self._try_model)
        notice_bar.open_folder_requested.connect(self._open_folder)
        notice_bar.details_requested.connect(self._show_details)

    def start(self) -> None:
        """Starts the run that the form describes, or shows why it cannot be started."""
        choices = self._panel.form.choices()
        try:
            run, source = choices.run_config(), choices.source()
        except AugenmerkError as error:
            self._panel.show_message(str(error))
            return
        folder = new_run_folder(choices.parent_folder, choices.preset)
        self.begin(TrainingRequest(run, source, folder, choices.device, probe=choices.probe.strip() or None))

    def begin(self, request: TrainingRequest) -> None:
        """Starts the requested run, unless one is running."""
        if not self._controller.is_running:
            self._panel.show_message("")
            self._panel.form.settings_button.setChecked(False)
            self._controller.begin(request)

    def resume(self) -> None:
        """Resumes the run on the page from its last checkpoint, on the device chosen next to it."""
        self._panel.show_message("")
        self._controller.resume(self._panel.device)

    def extend(self, num_epochs: str) -> None:
        """Continues the finished run on the page to more epochs, as typed, or shows why it cannot be."""
        request = self._state.run.request
        if request is None:
            return
        done = request.run.training.num_epochs
        try:
            number = whole_number("epochs", num_epochs, at_least=done + 1)
        except AugenmerkError as error:
            self._panel.show_message(str(error))
            return
        self._panel.show_message("")
        self._controller.extend(self._panel.device, number)

    def open_run(self, folder: Path) -> None:
        """Shows the run in `folder`, or why it cannot be shown."""
        try:
            self._panel.leave_form()
            self._controller.open_run(folder, self._source_of_form())
        except AugenmerkError as error:
            self._panel.show_message(str(error))

    def _source_of_form(self) -> str | Path:
        """The data chosen in the form, for a run whose own data source is unknown."""
        try:
            source = self._panel.form.choices().source()
        except AugenmerkError:
            return "multi30k"
        return "multi30k" if source == "copy" else source

    def _fill_open_menu(self) -> None:
        parent = self._panel.form.choices().parent_folder
        self._panel.open_menu.offer(runs_in(parent), parent, shown=self._state.run.folder)

    def _on_action(self, key: str) -> None:
        if key == "change":
            self._controller.continue_with_proposal(self._panel.device)
        else:
            self._controller.answer_failed_save("retry" if key == "retry" else "stop")

    def _ask_to_discard(self) -> None:
        folder = self._state.run.folder
        if folder is None:
            return
        box = QMessageBox(QMessageBox.Icon.Question, "Discard this run?", "Discard this run?", parent=self._page)
        box.setInformativeText(
            f"Its checkpoints, history and film in {with_tilde(folder)} will be deleted permanently. Other files stay."
        )
        discard = box.addButton("Discard the run", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton("Keep the run", QMessageBox.ButtonRole.RejectRole))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        discard.clicked.connect(lambda: self._discard(folder))
        box.open()

    def _discard(self, folder: Path) -> None:
        if folder != self._state.run.folder:  # another run was started while the question was open
            return
        try:
            self._controller.discard()
        except AugenmerkError as error:
            self._panel.show_message(str(error))

    def _try_model(self) -> None:
        if self._state.run.best_checkpoint is not None:
            self.model_ready.emit(self._state.run.best_checkpoint)

    def _open_folder(self) -> None:
        if self._state.run.folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._state.run.folder)))

    def _show_details(self) -> None:
        run = self._state.run
        box = QMessageBox(QMessageBox.Icon.Warning, "Training ended", run.error, parent=self._page)
        box.setDetailedText(run.error_details)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()
