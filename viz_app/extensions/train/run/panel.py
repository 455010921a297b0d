"""The run on the page: the left column, with the form of a new run or the run itself, and the bar
above the charts.
"""

from collections.abc import Mapping
from html import escape
from itertools import zip_longest

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from augenmerk.core.extensions.training.events import TrainingRequest

from ....theme import PANEL_MARGIN, scaled, scales, set_role
from ....widgets.buttons import flat_button
from ....widgets.labels import ElidingLabel, label, show_text
from ....widgets.layouts import Space, column_of, keep_room, row_of
from ...widgets.max_lines_label import MaxLinesLabel
from ...widgets.progress_line import ProgressLine
from ...widgets.steady import SCROLL_BAR_PX, SteadyScrollArea, in_one_place
from ..charts.run_menu import RunMenu
from ..state import Run, Status, TrainState
from .choices import run_summary_rows, with_tilde
from .form import (
    DEFAULT_DEVICES,
    NamedValues,
    RunForm,
    entries_of,
    form_row,
    number_edit,
    value_menu,
)
from .status_text import (
    Action,
    Notice,
    activity,
    metric_rows,
    notice,
    patience_used,
    resume_label,
)

WIDTH_PX, NO_MAX_WIDTH = 316, (1 << 24) - 1
"""At 100%; Qt's value for no limit."""


class RunPanel(QFrame):
    """Shows either the form, or the run on the page: the form of a new run never appears with
    values of another one.

    Attributes:
        form: the settings of a new run.
        start_button: starts it.
        start_note: a line about the run that it starts, where the form must be scrolled to its own
            note.
        switch_button: shows the form in place of the run, and the run in place of the form.
        resume_button: shown when the run can be resumed, in the place of Pause.
        pause_button: shown while the run can be paused.
        stop_button: shown while the run can be stopped.
        discard_button: shown while the run can be discarded.
        epochs_edit: the total number of epochs for continuing a finished run.
        device_menu: the device for resuming the run.
        open_menu: runs on the disk.

    Signals:
        switched(): the form was shown in place of the run, or the run in place of the form.
    """

    switched = Signal()

    def __init__(self, state: TrainState, form: RunForm, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "panel")
        scales(self.setFixedWidth, WIDTH_PX)
        self.form = form
        self._state = state
        self._wants_form = False
        self._problem = ""
        self._shown_request: TrainingRequest | None = None
        self._title = ElidingLabel("heading", elide=Qt.TextElideMode.ElideMiddle)
        self.switch_button = flat_button("", "")
        keep_room(self.switch_button)  # nothing below moves when a run ends
        self.start_button = QPushButton("Start training")
        self.start_note = ElidingLabel("warm")
        self.resume_button = QPushButton("Resume")
        self.extend_button = QPushButton("Train longer")
        self.extend_button.setToolTip("Continues this finished run to the number of epochs below.")
        self.stop_button = QPushButton("Stop and save")
        self.stop_button.setToolTip(
            "Stops after the current batch, validates the model and saves it."
        )
        self.pause_button = QPushButton("Pause")
        self.pause_button.setToolTip(
            "Saves after the current batch and stops. Continue resumes exactly from there."
        )
        self.discard_button = QPushButton("Discard…")
        self.discard_button.setToolTip(
            "Ends the run and deletes its files, after asking for confirmation."
        )
        self.open_menu = RunMenu("Open run… ▾", "Shows the curves and the film of a saved run.")
        for button in (self.start_button, self.resume_button, self.extend_button):
            set_role(button, "primary")
        self.epochs_edit = number_edit("epochs of this run")
        self.device_menu = value_menu("device to continue on")
        self.message = label("warm", wraps=True)
        self._activity = ElidingLabel("muted")
        self.message.hide()
        self._progress = ProgressLine()
        self._patience = ProgressLine()
        self._patience_text = label("small")
        self._numbers = NamedValues("number")
        self._settings = NamedValues("small")
        self._run = QWidget()
        for part in (self.open_menu, self._progress):
            keep_room(part)
        self._lay_out()
        self.set_devices(DEFAULT_DEVICES)
        self.switch_button.clicked.connect(self._on_switch)
        self.epochs_edit.returnPressed.connect(self.extend_button.click)
        self.device_menu.chosen.connect(self.device_menu.show_choice)
        state.run_changed.connect(self._show_run)
        self._show_run(state.run)

    def set_as_wide_as_page(self, is_wide: bool) -> None:
        """Takes the whole width of the page, or its own fixed width."""
        if is_wide:
            self.setMinimumWidth(0)
            self.setMaximumWidth(NO_MAX_WIDTH)
        else:
            self.setFixedWidth(scaled(WIDTH_PX))

    @property
    def shows_form(self) -> bool:
        """Whether the form is shown instead of the run on the page."""
        run = self._state.run
        return not run.is_on_page or (self._wants_form and not run.status.is_running)

    @property
    def device(self) -> str:
        """The device to continue on."""
        return self.device_menu.choice

    def set_devices(self, labels: Mapping[str, str]) -> None:
        """Offers devices to continue on, by name. The chosen one stays even if it is missing."""
        chosen = self.device_menu.choice or "auto"
        self.device_menu.set_entries(entries_of(labels))
        self.device_menu.show_choice(chosen)

    def leave_form(self) -> None:
        """The run on the page, if there is one, takes the place of the form at its next change."""
        self._wants_form = False

    def show_message(self, text: str) -> None:
        """Shows the reason why the run cannot start, below the buttons; an empty text hides it."""
        show_text(self.message, text)

    def show_problem(self, text: str) -> None:
        """Shows the reason why the run of the form cannot start, and disables the button.

        An empty text enables it, and shows what the form notes about the run.
        """
        self._problem = text
        self.start_button.setEnabled(not text)
        self.start_button.setToolTip(text or self.form.note.text())
        self.start_note.setText(self.form.note_summary)
        self.show_message(text)

    def _show_run(self, run: Run) -> None:
        """Updates buttons, progress and metrics."""
        status = run.status
        if status.is_running:
            self._wants_form = False
        focus_before = self.window().focusWidget()
        shows_form = self.shows_form
        self.form.setEnabled(not status.is_running)
        self.form.setVisible(shows_form)
        self._run.setVisible(not shows_form)
        self.start_button.setVisible(shows_form)
        self._place_start_note()
        self._show_request(run.request)
        self._show_title(run)
        self.open_menu.setVisible(not status.is_running)
        self.resume_button.setVisible(run.can_resume)
        self.resume_button.setText(resume_label(run))
        self.extend_button.setVisible(run.can_extend)
        self._epochs_row.setVisible(run.can_extend)
        self._device_row.setVisible(run.can_resume or run.can_extend)
        self._show_stop_buttons(run)
        self._repair_focus(focus_before, is_running=status.is_running)
        is_waiting = status.is_running and (run.started is None or status is Status.PREPARING)
        self._progress.setVisible(status.is_running or run.fraction_done is not None)
        self._progress.set_fraction(None if is_waiting else run.fraction_done or 0.0)
        self._activity.setText(activity(run))
        self._activity.setVisible(status.is_running)
        self._numbers.show_rows(metric_rows(run))
        text, fraction = patience_used(run)
        self._patience_text.setText(text)
        self._patience.set_fraction(fraction)
        self._patience.setAccessibleName(text)
        for widget in (self._patience, self._patience_text):
            widget.setVisible(bool(text))

    def event(self, event: QEvent) -> bool:
        """The room of the form is known after the layout."""
        is_done = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize, QEvent.Type.Show):
            self._place_start_note()
        return is_done

    def _place_start_note(self) -> None:
        """Gives the line above Start its room where the form does not fit, whatever it says: fields
        and buttons stay in place when it changes.
        """
        width = self._area.viewport().width()
        needed = max(self._content.minimumSizeHint().height(), self._content.heightForWidth(width))
        below = self._buttons.sizeHint().height() + self._footer_column.contentsMargins().bottom()
        fits = needed + below <= self.height()
        self.start_note.setVisible(self.shows_form and not fits)

    def _show_request(self, request: TrainingRequest | None) -> None:
        """Shows the settings of the run on the page, if they changed: else a device chosen
        meanwhile would be lost.
        """
        if request == self._shown_request:
            return
        self._shown_request = request
        self._settings.show_rows(
            run_summary_rows(request.run, request.source, request.probe) if request else []
        )
        self.device_menu.show_choice(request.device if request else "auto")
        if request is not None:
            num_epochs = request.run.training.num_epochs
            self.epochs_edit.setText(str(num_epochs + max(1, num_epochs // 2)))

    def _show_title(self, run: Run) -> None:
        name = run.folder.name if run.folder is not None else "Run"
        self._title.setText("New run" if self.shows_form else name)
        self.switch_button.setVisible(run.is_on_page and not run.status.is_running)
        self.switch_button.setText("‹ Back to the run" if self.shows_form else "New run…")
        self.switch_button.setToolTip(
            f"Show {name}" if self.shows_form else "Show the form of a new run"
        )

    def _on_switch(self) -> None:
        self._wants_form = not self._wants_form
        self.show_message(self._problem if self._wants_form else "")
        self._show_run(self._state.run)
        self.switched.emit()

    def _repair_focus(self, before: QWidget | None, *, is_running: bool) -> None:
        """Focuses something harmless when the focused button disappears: Qt would choose the next,
        perhaps “Discard…”.

        While a run goes on, no button has the focus, so that the space bar does not end it. When
        it ends, the button that continues it has.
        """
        now = self.window().focusWidget()
        pushed = (
            self.start_button,
            self.resume_button,
            self.extend_button,
            self.stop_button,
            self.pause_button,
            self.discard_button,
        )
        is_gone = before in pushed and not (before.isVisibleTo(self) and before.isEnabled())
        is_free = before is self._area and not is_running
        if not (is_gone or is_free or (now is not before and now is self.discard_button)):
            return
        harmless = (self.resume_button, self.start_button, self.switch_button)
        shown = (button for button in harmless if button.isVisibleTo(self) and button.isEnabled())
        (self._area if is_running else next(shown, self._area)).setFocus()

    def _show_stop_buttons(self, run: Run) -> None:
        is_running = run.status.is_running
        is_stopping = run.status is Status.STOPPING
        how = run.stop_request or "keep"
        for button, kind, text, is_offered in (
            (self.stop_button, "keep", "Stop and save", is_running),
            (self.pause_button, "pause", "Pause", is_running),
            (self.discard_button, "discard", "Discard…", is_running or run.can_discard),
        ):
            button.setVisible(is_offered)
            button.setEnabled(not is_stopping)
            button.setText(activity(run) if is_stopping and kind == how else text)

    def _lay_out(self) -> None:
        self._epochs_row = form_row("epochs", self.epochs_edit)
        self._device_row = form_row("device", self.device_menu)
        # one of Pause, Resume and Train longer is shown
        in_place = self.pause_button, self.resume_button, self.extend_button, self.discard_button
        column_of(
            self._settings,
            Space(2),
            row_of(*((button, 1) for button in in_place), spacing=8),
            # what is shown while it runs, and then: the rest stays in place when it ends
            in_one_place(self.stop_button, self._device_row),
            in_one_place(self._activity, self._epochs_row),
            self._progress,
            self._numbers,
            self._patience_text,
            self._patience,
            spacing=8,
            within=self._run,
        )
        self._content = QWidget()
        right = PANEL_MARGIN - SCROLL_BAR_PX
        column_of(
            row_of((self._title, 1), self.switch_button),
            self.form,
            self._run,
            1,
            spacing=8,
            margins=(PANEL_MARGIN, PANEL_MARGIN - 4, right, PANEL_MARGIN - 8),
            within=self._content,
        )
        self._content.setProperty("role", "transparent")
        # in sight however long the form is
        margins = PANEL_MARGIN, 0, PANEL_MARGIN, PANEL_MARGIN - 6
        self._footer = QWidget()
        self._buttons = row_of((self.start_button, 1), 0, self.open_menu, spacing=8)
        self._footer_column = column_of(
            self.message,
            self.start_note,
            self._buttons,
            spacing=8,
            margins=margins,
            within=self._footer,
        )
        self._area = SteadyScrollArea(self._content, self, takes_keys=True)
        column_of(
            (self._area, 1),
            self._footer,
            margins=(1, 1, 1, 1),
            within=self,
        )


NUM_NOTICE_LINES = 2


class NoticeBar(QFrame):
    """Shows the `notice` of the run; hidden if there is none.

    Signals:
        chosen(str): a button was pressed: "try" opens the best checkpoint on the Translate page,
            "folder" shows the run's folder, "details" the traceback of an unexpected error; else
            the key of an `Action`.
    """

    chosen = Signal(str)

    def __init__(self, state: TrainState) -> None:
        super().__init__()
        set_role(self, "panel")
        self._shown = Notice("", "")
        lines = MaxLinesLabel("", NUM_NOTICE_LINES)
        lines.keeps_height = True  # the end of a run has more to say than its beginning
        self._text = lines.label
        self._text.setTextFormat(Qt.TextFormat.RichText)  # the heading begins the first line
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.details_button = QPushButton("Details")
        self.folder_button = QPushButton("Open folder")
        self.try_button = QPushButton("Try this model")
        self.try_button.setToolTip(
            "Opens the best checkpoint so far on the Translate page, with the sentence of the "
            "film. Training goes on."
        )
        self.action_buttons = [QPushButton(), QPushButton()]
        self._actions: tuple[Action, ...] = ()
        self.details_button.clicked.connect(lambda: self.chosen.emit("details"))
        self.folder_button.clicked.connect(lambda: self.chosen.emit("folder"))
        self.try_button.clicked.connect(lambda: self.chosen.emit("try"))
        for index, button in enumerate(self.action_buttons):
            set_role(button, "" if index else "primary")
            button.clicked.connect(
                lambda _checked=False, index=index: self.chosen.emit(self._actions[index].key)
            )
        buttons = self.details_button, self.folder_button, self.try_button, *self.action_buttons
        centered = [(button, 0, Qt.AlignmentFlag.AlignVCenter) for button in buttons]
        row_of((lines, 1), *centered, margins=(PANEL_MARGIN, 6, PANEL_MARGIN, 6), within=self)
        self._state = state
        state.run_changed.connect(self._show_run)
        self._show_run(state.run)

    def show_failure(self, is_shown: bool) -> None:
        """Shows or hides the notice of a failed run; others stay."""
        if self._state.run.status is Status.FAILED:
            self.setVisible(is_shown)

    def _show_run(self, run: Run) -> None:
        shown = notice(run)
        self.setVisible(shown is not None)
        if shown is None:
            return
        self._shown = shown
        heading, text = escape(shown.heading), escape(shown.text).replace("\n", "<br>")
        self._text.setText(f"<b>{heading}.</b> {text}" if text else f"<b>{heading}</b>")
        role = "warm" if shown.tone == "warm" else ""
        if self._text.property("role") != role:
            set_role(self._text, role)
        self.try_button.setVisible(shown.offers_model)
        self.folder_button.setVisible(shown.offers_folder)
        if run.folder is not None:
            self.folder_button.setToolTip(
                f"Best and last checkpoint are in {with_tilde(run.folder)}"
            )
        self.details_button.setVisible(bool(run.error_details))
        self._actions = shown.actions
        for button, action in zip_longest(self.action_buttons, shown.actions):
            button.setVisible(action is not None)
            if action is not None:
                button.setText(action.text)
                button.setToolTip(action.tip)

    def text(self) -> str:
        """The heading and the text."""
        return f"{self._shown.heading}\n{self._shown.text}"
