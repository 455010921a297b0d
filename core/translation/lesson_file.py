"""Lesson files (`*.augenmerk`, kind "lesson"): saved experiments in an order, with titles and sentences. No torch.

The format is that of `core.translation.experiment_file`, with its limits and its strictness: whatever is not exactly as
expected, the whole file is refused, and the message names the field.

    {"format": "augenmerk", "version": 1, "kind": "lesson", "title": "Word order",
     "scenes": [
         {"title": "The verb comes last", "text": "German puts it at the end.", "question": "Where is the verb?",
          "experiment": {"source_text": "Zwei Hunde.", "output": {"type": "greedy"}, "interventions": []},
          "view": {"head": ["cross", 1, 4], "pinned": [2, 3]},
          "model": {"name": "multi30k-de-en", "digest": "5d04…"}}]}

The question of a scene is for worksheets; it may be empty.
"""

from dataclasses import dataclass
from pathlib import Path

from augenmerk.core.errors import ExperimentFileError
from augenmerk.core.plain_text import one_line
from augenmerk.core.storage import atomic_path
from augenmerk.core.strict_json import Field, JsonError
from augenmerk.core.translation.experiment_file import (
    DOCUMENT_FIELDS,
    KIND,
    SAVED_FIELDS,
    SavedExperiment,
    document_to_bytes,
    parsed_document,
    read_limited,
    read_or_refuse,
    saved_experiment_of,
    saved_experiment_to_json,
)

LESSON_KIND = "lesson"
MAX_SCENES = 100
MAX_TITLE_CHARACTERS = 120
MAX_TEXT_CHARACTERS = 1_000
NO_SCENES = "scenes is an empty list. Add a scene."


@dataclass(frozen=True)
class Scene:
    """One step of a lesson.

    Attributes:
        title: one line, not empty.
        text: what to see, in a sentence; one line, may be empty.
        saved: the experiment, and how it is shown.
        question: for the worksheet, in one line; empty if there is none.
    """

    title: str
    text: str
    saved: SavedExperiment
    question: str = ""


@dataclass(frozen=True)
class Lesson:
    """Scenes in an order.

    Attributes:
        title: one line, not empty.
        scenes: at most `MAX_SCENES`; none only while it is being made.
    """

    title: str
    scenes: tuple[Scene, ...] = ()


def write_lesson_file(lesson: Lesson, path: Path | str) -> None:
    """Writes the file, atomically.

    Raises:
        ExperimentFileError: it has no scene, would be too large, or hold what could not be read back.
        StorageError: the file cannot be written; an older one stays as it was.
    """
    data = lesson_to_bytes(lesson)
    if not lesson.scenes:
        raise ExperimentFileError(f"This lesson cannot be written to a file: {NO_SCENES}")
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


def lesson_to_bytes(lesson: Lesson) -> bytes:
    """The content of the file; of a lesson that is being made, also without a scene. Raises `ExperimentFileError`."""
    scenes = [
        {"title": each.title, "text": each.text, "question": each.question, **saved_experiment_to_json(each.saved)}
        for each in lesson.scenes
    ]
    values = {"title": lesson.title, "scenes": scenes}
    return document_to_bytes(
        LESSON_KIND, values, lambda data: _lesson_of(parsed_document(data, LESSON_KIND)[1]) == lesson
    )


def read_lesson_file(path: Path | str) -> Lesson:
    """Reads a lesson file.

    Raises:
        ExperimentFileError: the file is missing, of another kind, damaged, or from a newer version.
    """
    return lesson_from_bytes(read_limited(path), path)


def lesson_from_bytes(data: bytes, path: Path | str) -> Lesson:
    """What `lesson_to_bytes` gave; `path` is for the message. Raises `ExperimentFileError`."""
    return read_or_refuse(lambda given: _with_scenes(_read_lesson(given)), data, path, "a lesson")


def read_document(path: Path | str) -> SavedExperiment | Lesson:
    """Reads a file that holds an experiment or a lesson, whichever it is.

    Raises:
        ExperimentFileError: the file is missing, of another kind, damaged, or from a newer version.
    """
    return document_from_bytes(read_limited(path), path)


def document_from_bytes(data: bytes, path: Path | str) -> SavedExperiment | Lesson:
    """The experiment or the lesson in the content of a file. Raises `ExperimentFileError`."""
    return read_or_refuse(_read_document, data, path, "an experiment or a lesson")


def _read_document(data: bytes) -> SavedExperiment | Lesson:
    kind, whole = parsed_document(data, KIND, LESSON_KIND)
    if kind == LESSON_KIND:
        return _with_scenes(_lesson_of(whole))
    return saved_experiment_of(whole.members(*DOCUMENT_FIELDS, *SAVED_FIELDS))


def _lesson_of(whole: Field) -> Lesson:
    members = whole.members(*DOCUMENT_FIELDS, "title", "scenes")
    scenes = tuple(_scene_of(each) for each in members["scenes"].items(MAX_SCENES))
    return Lesson(_line(members["title"], MAX_TITLE_CHARACTERS), scenes)


def _read_lesson(data: bytes) -> Lesson:
    return _lesson_of(parsed_document(data, LESSON_KIND)[1])


def _with_scenes(lesson: Lesson) -> Lesson:
    """The lesson, if it has a scene to show. Raises `JsonError`."""
    if not lesson.scenes:
        raise JsonError(NO_SCENES)
    return lesson


def _scene_of(field: Field) -> Scene:
    members = field.members("title", "text", "question", *SAVED_FIELDS)
    return Scene(
        _line(members["title"], MAX_TITLE_CHARACTERS),
        _line(members["text"], MAX_TEXT_CHARACTERS, may_be_empty=True),
        saved_experiment_of(members),
        _line(members["question"], MAX_TEXT_CHARACTERS, may_be_empty=True),
    )


def _line(field: Field, max_characters: int, *, may_be_empty: bool = False) -> str:
    """A text of one line without control characters, and without space around it."""
    text = field.text(max_characters)
    if text != text.strip() or text != one_line(text) or not (text or may_be_empty):
        or_empty = "an empty text, or " if may_be_empty else ""
        field.refuse(f"{or_empty}one line of text without control characters or space around it")
    return text
