"""The experiment on the screen, kept until the next start. No Qt."""

import logging
from pathlib import Path

from augenmerk.core.errors import AugenmerkError
from augenmerk.core.storage import write_text
from augenmerk.core.translation.experiment_file import (
    ModelReference,
    SavedExperiment,
    read_experiment_file,
    write_experiment_file,
)
from augenmerk.viz_app.documents.reading import check_length
from augenmerk.viz_app.documents.view_values import check_view, view_values
from augenmerk.viz_app.state.experiment_state import ExperimentState

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
