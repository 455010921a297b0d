"""Experiment and lesson files, checked for what the window can show. No Qt."""

from pathlib import Path

from augenmerk.core.errors import ExperimentFileError
from augenmerk.core.translation.experiment import Experiment, ForcedToken, GivenTarget, SourceWordReplaced
from augenmerk.core.translation.experiment_file import SUFFIX, SavedExperiment, kind_of_file
from augenmerk.core.translation.lesson_file import Lesson, read_document
from augenmerk.viz_app.documents.view_values import check_view
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.sentence_text import MAX_CHARACTERS


def is_experiment(path: Path) -> bool:
    """Whether a file is an experiment, by its content, or by its name if the content is unreadable or unclear."""
    try:
        kind = kind_of_file(path)
    except ExperimentFileError:
        kind = "unknown"
    return kind == "experiment" or (kind == "unknown" and path.suffix == SUFFIX)


def read_lesson(state: ExperimentState, path: Path) -> Lesson:
    """The lesson of a file that the window can show. Raises `ExperimentFileError`."""
    read = read_for_window(state, path)
    if not isinstance(read, Lesson):
        raise ExperimentFileError(f"{path} is an experiment, not a lesson. Choose another file.")
    return read


def read_for_window(state: ExperimentState, path: Path) -> SavedExperiment | Lesson:
    """The experiment or lesson of a file. Raises `ExperimentFileError`, naming the file, if it cannot be shown."""
    read = read_document(path)
    try:
        _check(state, read)
    except ExperimentFileError as error:
        raise ExperimentFileError(
            f"{path} cannot be shown. {error} Nothing was opened; correct the file, or choose another."
        ) from error
    return read


def _check(state: ExperimentState, read: SavedExperiment | Lesson) -> None:
    """Raises `ExperimentFileError` if the window cannot show it."""
    if not isinstance(read, Lesson):
        check_view(state, read.view)
        _check_sentence(read.experiment)
        check_length(read.experiment)
        return
    for index, scene in enumerate(read.scenes):
        try:
            _check(state, scene.saved)
        except ExperimentFileError as error:
            raise ExperimentFileError(f"scenes[{index}]: {error}") from error


def check_length(experiment: Experiment) -> None:
    """Raises `ExperimentFileError` if a text in the experiment is longer than the window takes."""
    output = experiment.output
    texts = [("sentence", experiment.source_text)]
    if isinstance(output, GivenTarget):
        texts.append(("translation", output.text))
    for each in experiment.interventions:
        if isinstance(each, SourceWordReplaced):
            texts.append((f"replacement of word {each.place + 1}", each.text))
        elif isinstance(each, ForcedToken):
            texts.append((f"token forced at step {each.step + 1}", each.token))
    for name, text in texts:
        if len(text) > MAX_CHARACTERS:
            raise ExperimentFileError(
                f"Its {name} has {len(text):,} characters; the window allows {MAX_CHARACTERS:,}. Shorten it, or use "
                "the command line."
            )


def _check_sentence(experiment: Experiment) -> None:
    """Raises `ExperimentFileError` if there is nothing to translate."""
    if not experiment.source_text.strip():
        raise ExperimentFileError("Its sentence is empty. Add a sentence to translate.")
