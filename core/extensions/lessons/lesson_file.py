"""Files of lessons (`*.augenmerk`): sequences of experiments with titles and sentences. No torch.

They are read as strictly as those of experiments, see `core.translation.experiment_file`:

    {"format": "augenmerk", "version": 1, "kind": "lesson", "title": "Word order",
     "scenes": [
         {"title": "The verb comes last", "text": "German puts it at the end.",
          "question": "Where is the verb?",
          "experiment": {"source_text": "Zwei Hunde.", "output": {"type": "greedy"},
                         "interventions": []},
          "view": {"head": ["cross", 1, 4], "pinned": [2, 3]},
          "model": {"name": "multi30k-de-en", "digest": "5d04…"}}]}

The question of a scene may be empty. Three fields of a scene are optional: `"answer"`, the typed
answer to the question; `"check"`, the name of a computation that answers it with the model in use;
and `"page"`, the name of another part of the window than the large map, such as `"word"` or
`"chapter heads"`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import ExperimentFileError
from ...plain_text import one_line
from ...storage import atomic_path
from ...strict_json import Field, JsonError
from ...translation.experiment_file import (
    DOCUMENT_FIELDS,
    KIND,
    SAVED_FIELDS,
    SavedExperiment,
    content_of,
    document_in,
    document_to_bytes,
    naming_the_file,
    read_saved,
    saved_to_json,
)

LESSON_KIND = "lesson"
MAX_SCENES = 100
MAX_TITLE_CHARACTERS = 120
MAX_TEXT_CHARACTERS = 1_000
NO_SCENES = "scenes is an empty list. Add a scene."
_NAME = re.compile("[a-z0-9]+([ -][a-z0-9]+)*")
_WANTED: Mapping[str, str] = {KIND: "an experiment", LESSON_KIND: "a lesson"}


@dataclass(frozen=True)
class Scene:
    """One step of a lesson.

    Attributes:
        title: one line, not empty.
        text: one line, may be empty.
        saved: the experiment and its display.
        question: in one line; empty if there is none.
        answer: of the question, in one line; empty if there is none, or if it is computed.
        check: the name of the computation that answers the question; empty if there is none.
        page: the name of the part of the window that the scene shows; empty for the large map.
    """

    title: str
    text: str
    saved: SavedExperiment
    question: str = ""
    answer: str = ""
    check: str = ""
    page: str = ""

    @property
    def has_answer(self) -> bool:
        """Whether the question can be answered."""
        return bool(self.answer or self.check)


@dataclass(frozen=True)
class Lesson:
    """A sequence of scenes.

    Attributes:
        title: one line, not empty.
        scenes: at most `MAX_SCENES`; none only while it is being made.
    """

    title: str
    scenes: tuple[Scene, ...] = ()


def write_lesson_file(lesson: Lesson, path: Path | str, *, durable: bool = True) -> None:
    """Writes the file, atomically; `durable` as in `atomic_path`.

    Raises:
        ExperimentFileError: it has no scene, would be too large, or could not be read back.
        StorageError: the file cannot be written; an older one stays intact.
    """
    data = lesson_to_bytes(lesson)
    if not lesson.scenes:
        raise ExperimentFileError(f"This lesson cannot be written to a file: {NO_SCENES}")
    with atomic_path(path, durable=durable) as temporary:
        temporary.write_bytes(data)


def lesson_to_bytes(lesson: Lesson) -> bytes:
    """The content of the file; while the lesson is being made, also without a scene.

    Raises `ExperimentFileError`.
    """
    values = {"title": lesson.title, "scenes": list(map(_scene_to_json, lesson.scenes))}
    return document_to_bytes(LESSON_KIND, values, lambda data: _read(data, LESSON_KIND) == lesson)


def _scene_to_json(scene: Scene) -> dict[str, Any]:
    """A scene; without optional fields, earlier versions read it, too."""
    optional = {"answer": scene.answer, "check": scene.check, "page": scene.page}
    texts = {"title": scene.title, "text": scene.text, "question": scene.question}
    return (
        texts | {name: text for name, text in optional.items() if text} | saved_to_json(scene.saved)
    )


def read_lesson_file(path: Path | str) -> Lesson:
    """Reads a lesson file.

    Raises:
        ExperimentFileError: the file is missing, of another kind, damaged, or from a newer version.
    """
    lesson = document_from_bytes(content_of(path), path, LESSON_KIND)
    assert isinstance(lesson, Lesson)
    return lesson


def read_document(path: Path | str) -> SavedExperiment | Lesson:
    """Reads a file of an experiment or a lesson. Raises `ExperimentFileError`."""
    return document_from_bytes(content_of(path), path, KIND, LESSON_KIND)


def document_from_bytes(data: bytes, path: Path | str, *kinds: str) -> SavedExperiment | Lesson:
    """The document in the content of a file of one of these kinds. Raises `ExperimentFileError`."""
    with naming_the_file(path, " or ".join(_WANTED[kind] for kind in kinds)):
        document = _read(data, *kinds)
        if isinstance(document, Lesson) and not document.scenes:
            raise JsonError(NO_SCENES)
    return document


def _read(data: bytes, *kinds: str) -> SavedExperiment | Lesson:
    """The document in a file of one of these kinds. Raises `JsonError`."""
    kind, whole = document_in(data, *kinds)
    if kind == KIND:
        return read_saved(whole.members(*DOCUMENT_FIELDS, *SAVED_FIELDS))
    members = whole.members(*DOCUMENT_FIELDS, "title", "scenes")
    scenes = tuple(_scene(scene) for scene in members["scenes"].items(MAX_SCENES))
    return Lesson(_line(members["title"], MAX_TITLE_CHARACTERS), scenes)


def _scene(field: Field) -> Scene:
    members = field.members(
        "title", "text", "question", *SAVED_FIELDS, optional=("answer", "check", "page")
    )
    text, question, answer = (
        _line(members[name], MAX_TEXT_CHARACTERS, may_be_empty=True) if name in members else ""
        for name in ("text", "question", "answer")
    )
    check, page = (_name(members[name]) if name in members else "" for name in ("check", "page"))
    title = _line(members["title"], MAX_TITLE_CHARACTERS)
    scene = Scene(title, text, read_saved(members), question, answer, check, page)
    if scene.has_answer and not question:
        members["question"].refuse("the question of this answer")
    return scene


def _name(field: Field) -> str:
    """A name of letters, digits, hyphens and spaces."""
    name = field.text(MAX_TITLE_CHARACTERS)
    if not _NAME.fullmatch(name):
        field.refuse("a name of small letters, digits and hyphens")
    return name


def _line(field: Field, max_characters: int, *, may_be_empty: bool = False) -> str:
    """A text of one line without control characters, and without space around it."""
    text = field.text(max_characters)
    if text != text.strip() or text != one_line(text) or not (text or may_be_empty):
        or_empty = "an empty text, or " if may_be_empty else ""
        field.refuse(f"{or_empty}one line of text without control characters or space around it")
    return text
