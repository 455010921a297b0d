"""The left column of the Train page: the form or the settings of the run, the buttons, and the metrics."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from viz_app.theme import PANEL_MARGIN, set_role
from viz_app.train.run_form import RunForm
from viz_app.train.run_menu import RunMenu
from viz_app.train.state import Status, TrainState
from viz_app.train.status_text import activity, metric_rows, resume_label
from viz_app.widgets.eliding_label import ElidingLabel
from viz_app.widgets.progress_line import ProgressLine
from viz_app.widgets.scroll_areas import VerticalScrollArea

WIDTH_PX = 316


class RunPanel(QFrame):
    """Shows the form and the state of the run.

    Attributes:
        form: the settings of a new run.
        start_button, resume_button, stop_button, pause_button, discard_button: shown when they apply.
        open_menu: runs on the disk.
    """

    def __init__(self, form: RunForm, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "panel")
        self.setFixedWidth(WIDTH_PX)
        self.form = form
        self.start_button = QPushButton("Start training")
        self.resume_button = QPushButton("Resume")
        self.stop_button = QPushButton("Stop and save")
        self.stop_button.setToolTip("Stops after the current batch, validates the model and saves it.")
        self.pause_button = QPushButton("Pause")
        self.pause_button.setToolTip("Saves after the current batch and stops. Continue resumes exactly from there.")
        self.discard_button = QPushButton("Discard…")
        self.discard_button.setToolTip("Ends the run and deletes its files. Asks first.")
        self.open_menu = RunMenu("Open run… ▾", "Shows the curves and the film of a run on the disk.")
        set_role(self.stop_button, "primary")
        set_role(self.resume_button, "primary")
        self.message = QLabel()
        self.message.setWordWrap(True)
        self.message.setTextFormat(Qt.TextFormat.PlainText)
        set_role(self.message, "warm")
        self.message.hide()
        self.resume_summary = QLabel()
        self.resume_summary.setWordWrap(True)
        self.resume_summary.setTextFormat(Qt.TextFormat.PlainText)
        set_role(self.resume_summary, "small")
        self.resume_summary.hide()
        self._activity = QLabel()
        self._activity.setWordWrap(True)
        set_role(self._activity, "muted")
        self._progress = ProgressLine()
        self._numbers = NumberTable("number")
        self._settings = NumberTable("small")
        self._lay_out()

    def show_message(self, text: str) -> None:
        """Shows below the buttons why the run cannot be started; empty hides it."""
        self.message.setText(text)
        self.message.setVisible(bool(text))

    def show_state(self, state: TrainState) -> None:
        """Updates buttons, progress and metrics."""
        status = state.status
        focus_before = self.window().focusWidget()
        self.form.setEnabled(not status.is_running)
        self.form.setVisible(not status.is_running)
        self._settings.setVisible(status.is_running)
        self.open_menu.setVisible(not status.is_running)
        self.start_button.setVisible(not status.is_running)
        self.start_button.setText("Start a new run" if state.can_resume else "Start training")
        role = "" if state.can_resume else "primary"
        if self.start_button.property("role") != role:
            set_role(self.start_button, role)
        self.resume_button.setVisible(state.can_resume)
        self.resume_button.setText(resume_label(state))
        self._show_stop_buttons(state)
        self._repair_focus(focus_before)
        has_run = state.started is not None or status.is_running
        self._progress.setVisible(has_run)
        is_waiting = status.is_running and (state.started is None or status is Status.PREPARING)
        self._progress.set_fraction(None if is_waiting else state.fraction_done or 0.0)
        self._activity.setText(activity(state))
        self._activity.setVisible(status.is_running)
        self._numbers.setVisible(has_run)
        self._numbers.show_rows(metric_rows(state))

    def show_settings(self, rows: list[tuple[str, str]]) -> None:
        """Shows the settings of the run, in place of the form."""
        self._settings.show_rows(rows)

    def show_resume_summary(self, text: str) -> None:
        """Shows what the resume button will do; empty hides it."""
        self.resume_summary.setText(text)
        self.resume_summary.setVisible(bool(text))

    def _repair_focus(self, before: QWidget | None) -> None:
        """When the focused button disappears, Qt focuses the next one, perhaps “Discard…”: focuses a harmless one."""
        now = self.window().focusWidget()
        pushed = (self.start_button, self.resume_button, self.stop_button, self.pause_button)
        is_gone = before in pushed and not (before.isVisibleTo(self) and before.isEnabled())
        if not is_gone and (now is before or now is not self.discard_button):
            return
        for button in (self.stop_button, self.resume_button, self.start_button):
            if button.isVisibleTo(self) and button.isEnabled():
                button.setFocus()
                return
        if now is self.discard_button:
            now.clearFocus()

    def _show_stop_buttons(self, state: TrainState) -> None:
        is_running, is_stopping = state.status.is_running, state.status is Status.STOPPING
        how = state.stop_request or "keep"
        for button, kind, text, is_offered in (
            (self.stop_button, "keep", "Stop and save", is_running),
            (self.pause_button, "pause", "Pause", is_running),
            (self.discard_button, "discard", "Discard…", is_running or state.can_discard),
        ):
            button.setVisible(is_offered)
            button.setEnabled(not is_stopping)
            button.setText(activity(state) if is_stopping and kind == how else text)

    def _lay_out(self) -> None:
        title = QLabel("Run")
        set_role(title, "heading")
        column = QVBoxLayout()
        column.setContentsMargins(PANEL_MARGIN, PANEL_MARGIN - 4, PANEL_MARGIN, PANEL_MARGIN)
        column.setSpacing(8)
        column.addWidget(title)
        column.addWidget(self.form)
        column.addWidget(self._settings)
        column.addSpacing(2)
        for widget in (self.resume_button, self.resume_summary, self.start_button, self.stop_button):
            column.addWidget(widget)
        aside = QHBoxLayout()
        aside.setSpacing(8)
        aside.addWidget(self.pause_button)
        aside.addWidget(self.discard_button)
        column.addLayout(aside)
        column.addWidget(self.message)
        column.addSpacing(4)
        column.addWidget(self._progress)
        column.addWidget(self._activity)
        column.addWidget(self._numbers)
        column.addStretch(1)
        column.addWidget(self.open_menu, 0, Qt.AlignmentFlag.AlignRight)
        content = QWidget()
        content.setLayout(column)
        content.setProperty("role", "transparent")
        outer = QVBoxLayout(self)
        outer.setContentsMargins(1, 1, 1, 1)
        outer.addWidget(VerticalScrollArea(content, takes_keys=True))


class NumberTable(QWidget):
    """Names at the left, values at the right."""

    def __init__(self, role: str) -> None:
        """`role`: of the values, see `viz_app.theme`; small values have small names."""
        super().__init__()
        self._roles = ("small", "small") if role == "small" else ("muted", role)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(1, 1)
        self._names: dict[str, QLabel] = {}
        self._values: dict[str, ElidingLabel] = {}
        self._rows: dict[str, int] = {}

    def show_rows(self, rows: list[tuple[str, str]]) -> None:
        """Shows (name, value) pairs from top to bottom; the rows of names that are missing are hidden."""
        for name in self._values.keys() - {name for name, _ in rows}:
            self._set_shown(name, False)
        for row, (name, value) in enumerate(rows):
            if name not in self._values:
                self._add(name)
            self._put(row, name)
            self._set_shown(name, True)
            self._values[name].setText(value)

    def _add(self, name: str) -> None:
        label, value = QLabel(name), ElidingLabel(self._roles[1])
        set_role(label, self._roles[0])
        value.setAccessibleName(name)
        value.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._names[name], self._values[name] = label, value

    def _put(self, row: int, name: str) -> None:
        """Moves a name to another row if rows above it were added or removed."""
        if self._rows.get(name) == row:
            return
        self._rows[name] = row
        for column, widget in enumerate((self._names[name], self._values[name])):
            self._grid.removeWidget(widget)
            self._grid.addWidget(widget, row, column)

    def _set_shown(self, name: str, is_shown: bool) -> None:
        self._names[name].setVisible(is_shown)
        self._values[name].setVisible(is_shown)
