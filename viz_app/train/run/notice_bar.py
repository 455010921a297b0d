"""The bar above the charts: what just happened, and what the user can do about it."""

from itertools import zip_longest

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QSizePolicy, QWidget

from augenmerk.viz_app.theme import PANEL_MARGIN, set_role
from augenmerk.viz_app.train.run.status_text import Action, notice
from augenmerk.viz_app.train.state import Run, TrainState
from augenmerk.viz_app.widgets.layouts import column_of, row_of


class NoticeBar(QFrame):
    """Shows the `notice` of the run; hidden if there is none.

    Signals:
        try_model_requested(): open the best checkpoint on the Translate page.
        open_folder_requested(): show the run's folder.
        action_chosen(str): the key of an action that the notice offers.
        details_requested(): show the traceback of an unexpected error.
    """

    try_model_requested = Signal()
    open_folder_requested = Signal()
    details_requested = Signal()
    action_chosen = Signal(str)

    def __init__(self, state: TrainState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "panel")
        self._heading = QLabel()
        set_role(self._heading, "heading")
        self._text = QLabel()
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.details_button = QPushButton("Details")
        self.folder_button = QPushButton("Open folder")
        self.try_button = QPushButton("Try this model")
        self.try_button.setToolTip("Opens the best checkpoint so far on the Translate page. Training continues.")
        self.action_buttons = [QPushButton(), QPushButton()]
        self._actions: tuple[Action, ...] = ()
        self.details_button.clicked.connect(self.details_requested)
        self.folder_button.clicked.connect(self.open_folder_requested)
        self.try_button.clicked.connect(self.try_model_requested)
        for index, button in enumerate(self.action_buttons):
            set_role(button, "" if index else "primary")
            button.clicked.connect(
                lambda _checked=False, index=index: self.action_chosen.emit(self._actions[index].key)
            )
        words = column_of(self._heading, self._text, spacing=2)
        buttons = self.details_button, self.folder_button, self.try_button, *self.action_buttons
        centered = [(button, 0, Qt.AlignmentFlag.AlignVCenter) for button in buttons]
        row_of((words, 1), *centered, margins=(PANEL_MARGIN, 10, PANEL_MARGIN, 10), within=self)
        state.run_changed.connect(self._show_run)
        self._show_run(state.run)

    def _show_run(self, run: Run) -> None:
        shown = notice(run)
        self.setVisible(shown is not None)
        if shown is None:
            return
        self._heading.setText(shown.heading)
        self._text.setText(shown.text)
        self._text.setVisible(bool(shown.text))
        role = "warm" if shown.tone == "warm" else "muted"
        if self._text.property("role") != role:
            set_role(self._text, role)
        self.try_button.setVisible(shown.offers_model)
        self.folder_button.setVisible(shown.offers_folder)
        self.details_button.setVisible(bool(run.error_details))
        self._actions = shown.actions
        for button, action in zip_longest(self.action_buttons, shown.actions):
            button.setVisible(action is not None)
            if action is not None:
                button.setText(action.text)
                button.setToolTip(action.tip)

    def text(self) -> str:
        """The heading and the text."""
        return f"{self._heading.text()}\n{self._text.text()}"
