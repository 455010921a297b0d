"""The experiment on the screen and its result, kept until the next start."""

import logging
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from augenmerk.core.errors import AugenmerkError
from augenmerk.core.resources import (
    bundled_model_path,
    example_sentences,
    is_bundled_model,
    resource_path,
)
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.experiment_file import (
    SavedExperiment,
    read_experiment_file,
    write_experiment_file,
)
from augenmerk.core.translation.result import ExperimentResult

from ...own_files import restoring
from ...preferences import Preferences
from ...state.experiment_editor import open_experiment
from ...state.experiment_state import ExperimentState, Stale
from ...state.model_info import ModelInfo
from .last_result import FIRST_RESULT, key_of_content, read_last_result, write_last_result
from .reading import apply_view, check_length, check_view, saved_experiment, with_contents

SESSION, LAST_RESULT = "session.augenmerk", "last-result.txt"
"""Own files: the experiment that the last session ended with, and its result."""
KEEP_MS = 3_000
"""Delay after a result: a process that is killed loses at most these changes."""
logger = logging.getLogger(__name__)


class KeptSession(QObject):
    """Writes the current experiment to a file of its own, and restores it.

    Failures are only logged.

    Attributes:
        timer: starts with a result; at its end the session is saved.
    """

    def __init__(self, state: ExperimentState, preferences: Preferences, parent: QObject) -> None:
        super().__init__(parent)
        self._state, self._preferences = state, preferences
        self.timer = QTimer(self, interval=KEEP_MS, singleShot=True)
        self.timer.timeout.connect(self.keep)
        state.result_changed.connect(self._keep_soon)

    def keep(self) -> None:
        """Saves the experiment on the screen, unless the next start reopens another model.

        Does not wait for the disk, as the user may be typing; an incomplete file is set aside at
        the next start.
        """
        self.timer.stop()
        model = self._state.model
        path = self._preferences.own_file(SESSION)
        if model is not None and self._preferences.is_stand_in(model.path):
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_experiment_file(
                with_contents(saved_experiment(self._state), self._state), path, durable=False
            )
        except (AugenmerkError, OSError) as error:
            logger.info("The session was not kept: %s", error)

    def _keep_soon(self) -> None:
        """Saves soon; results that follow within seconds, as the user types, are saved once."""
        if self._state.current is not None and not self.timer.isActive():
            self.timer.start()

    def restore(self) -> bool:
        """Submits the previous session's experiment once a model is open; False if none was kept.

        An unreadable file is set aside, and the app starts without it.
        """
        path = self._preferences.own_file(SESSION)
        with restoring(path):
            if not path.exists():
                return False
            saved = self._read(path)
            apply_view(self._state, saved.view)
            # its translation may have been withheld
            opening = open_experiment(saved.experiment, forgets_history=True, shows_foreign=False)
            self._state.submit(opening)
            return True
        return False

    def _read(self, path: Path) -> SavedExperiment:
        saved = read_experiment_file(path)
        check_view(self._state, saved.view)
        check_length(saved.experiment)
        return saved

    def set_damaged_aside(self, model_path: Path | None) -> None:
        """Sets files aside that cannot be read, at a start that restores nothing: its session will
        replace the others.

        Args:
            model_path: of the model that this start opens; None for the bundled one.
        """
        path, result_path = (
            self._preferences.own_file(SESSION),
            self._preferences.own_file(LAST_RESULT),
        )
        with restoring(path):
            if path.exists():
                self._read(path)
        with restoring(result_path):
            read_last_result(result_path, model_path or bundled_model_path())

    def keep_result(self) -> None:
        """Saves the result on the screen, unless the next start reopens another model."""
        model, result = self._state.model, self._state.current
        if (
            model is None
            or model.path is None
            or result is None
            or self._preferences.is_stand_in(model.path)
        ):
            return
        try:
            write_last_result(self._preferences.own_file(LAST_RESULT), result, model)
        except (AugenmerkError, OSError) as error:
            logger.info("The result was not kept: %s", error)

    def restore_result(self, model_path: Path | None) -> None:
        """Shows the previous session's result, or the shipped one, if it is that of the experiment
        on the screen and this model.

        An unreadable file is set aside; any other is replaced at the end of the session.
        """
        path = self._preferences.own_file(LAST_RESULT)
        with restoring(path):
            self._show(read_last_result(path, model_path or bundled_model_path()))
        if self._state.result is None:
            self.show_first_result(model_path)

    def show_first_result(self, model_path: Path | None) -> None:
        """Shows the shipped result if it is that of the experiment on the screen and this model."""
        experiment = Experiment(next(iter(example_sentences()), ""))
        if self._state.experiment != experiment or not is_bundled_model(model_path):
            return
        try:
            self._show(
                read_last_result(resource_path(FIRST_RESULT), bundled_model_path(), key_of_content)
            )
        except Exception as error:  # the translation follows
            logger.info("The result of the first example cannot be shown: %s", error)

    def _show(self, last: tuple[ExperimentResult, ModelInfo] | None) -> None:
        """Shows a stored result if it is that of the experiment on the screen."""
        if last is None or last[0].experiment != self._state.experiment:
            return
        try:
            self._state.editor = self._state.editor.showing_foreign(
                True
            )  # its translation was on the screen
            self._state.show(Stale(*last, is_outdated=False))
        except Exception:
            self._state.clear()
            raise
