"""Keeps the experiment on the screen until the next start."""

from PySide6.QtCore import QObject, QTimer

from augenmerk.viz_app.documents.session import keep_session, read_session, set_aside_sentence
from augenmerk.viz_app.documents.view_values import apply_view
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_editor import open_experiment
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.sentence_text import MAX_CHARACTERS

KEEP_MS = 3_000
"""After a result; a process that is killed loses no more than that."""


class KeptSession(QObject):
    """Writes the experiment in use to a file of its own, and restores it.

    Attributes:
        timer: runs from a result on; at its end what is on the screen is kept.
    """

    def __init__(self, state: ExperimentState, preferences: Preferences, parent: QObject) -> None:
        super().__init__(parent)
        self._state, self._preferences = state, preferences
        self.timer = QTimer(self, interval=KEEP_MS, singleShot=True)
        self.timer.timeout.connect(self.keep)
        state.result_changed.connect(self._keep_soon)

    def keep(self) -> None:
        """Saves the experiment on the screen, unless the next start reopens another model."""
        self.timer.stop()
        model = self._state.model
        if model is not None and self._preferences.is_stand_in(model.path):
            return
        keep_session(self._state, self._preferences.session_path)

    def _keep_soon(self) -> None:
        """Saves soon; results that follow within seconds, as the user types, are saved once."""
        if self._state.result is not None and not self.timer.isActive():
            self.timer.start()

    def restore(self) -> bool:
        """Submits the previous session's experiment once a model is open; False if none was kept."""
        saved = read_session(self._state, self._preferences.session_path)
        if saved is None:
            return False
        apply_view(self._state, saved.view)
        self._state.submit(open_experiment(saved.experiment, forgets_history=True))
        return True

    def earlier_sentence(self) -> str:
        """The sentence kept by an older version; empty if there is none or it is too long."""
        text = self._preferences.sentence
        if len(text) <= MAX_CHARACTERS:
            return text
        set_aside_sentence(text, self._preferences.session_path)
        self._preferences.sentence = ""
        return ""
