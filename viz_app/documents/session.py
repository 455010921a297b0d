"""The experiment on the screen, kept until the next start."""

import logging
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from augenmerk.core.errors import AugenmerkError
from augenmerk.core.storage import write_text
from augenmerk.core.translation.experiment_file import (
    ModelReference,
    SavedExperiment,
    read_experiment_file,
    write_experiment_file,
)
from augenmerk.viz_app.documents.reading import apply_view, check_length, check_view, view_values
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_editor import open_experiment
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.sentence_text import MAX_CHARACTERS

NO_DIGEST = "0" * 64
ASIDE = ".unreadable"
logger = logging.getLogger(__name__)


def saved_experiment(state: ExperimentState) -> SavedExperiment:
    """The current experiment, its view and its model."""
    model = state.model
    reference = ModelReference(model.title, model.digest or NO_DIGEST) if model else ModelReference("none", NO_DIGEST)
    return SavedExperiment(state.experiment, reference, view_values(state))


def keep_session(state: ExperimentState, path: Path) -> None:
    """Writes the experiment on the screen; failures go to the log only, as the user did not ask for this.

    The window does not wait for the disk, as this is done while somebody types; a file without an end is set aside.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_experiment_file(saved_experiment(state), path, durable=False)
    except (AugenmerkError, OSError) as error:
        logger.info("The session was not kept: %s", error)


def read_session(state: ExperimentState, path: Path) -> SavedExperiment | None:
    """The previous session; None if none was kept.

    A file that cannot be read or makes no sense is set aside, for whoever wants to look at it, and the app starts
    without.
    """
    if not path.exists():
        return None
    try:
        saved = read_experiment_file(path)
        check_view(state, saved.view)
        check_length(saved.experiment)
    except AugenmerkError as error:  # of whatever kind: nothing in this file may keep the app from starting
        logger.info("The session of the last time cannot be restored: %s", error)
        _set_aside(path)
        return None
    return saved


def set_aside_sentence(text: str, path: Path) -> None:
    """Writes a sentence that is too long to be restored to a file next to the session."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path.with_name("sentence.txt" + ASIDE), text)
    except (AugenmerkError, OSError, UnicodeError) as error:
        logger.info("The sentence of the last time could not be set aside: %s", error)


def _set_aside(path: Path) -> None:
    try:
        path.replace(path.with_name(path.name + ASIDE))
    except OSError as error:
        logger.info("%s could not be set aside: %s", path, error)


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
