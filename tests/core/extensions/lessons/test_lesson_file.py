"""Lesson files: exact round trips, one refusal that names the field for anything else, and no other
exception."""

import json
import os
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from augenmerk.core.errors import ExperimentFileError, StorageError
from augenmerk.core.extensions.lessons import lesson_file
from augenmerk.core.extensions.lessons.lesson_file import (
    MAX_SCENES,
    MAX_TEXT_CHARACTERS,
    MAX_TITLE_CHARACTERS,
    Lesson,
    Scene,
    document_from_bytes,
    lesson_to_bytes,
    read_document,
    read_lesson_file,
    write_lesson_file,
)
from augenmerk.core.translation.experiment import Experiment, Greedy
from augenmerk.core.translation.experiment_file import (
    MAX_BYTES,
    SavedExperiment,
    from_bytes,
    kind_of_file,
    to_bytes,
)
from tests.core.translation.random_experiments import AnyValues, random_experiment
from tests.core.translation.test_experiment_file import (
    MODEL,
    SAVED,
    VIEW,
    WRONG_FIELDS,
    _at,
    _with_another_shape,
    _with_other_bytes,
    values_of,
)

PLAIN = SavedExperiment(Experiment("Zwei Hunde."), MODEL)
LESSON = Lesson(
    "Word order",
    (
        Scene("The verb", "It comes last.", SAVED, "Where is it?"),
        Scene("Zweitens: „so“", "", PLAIN),
    ),
)


def values() -> dict[str, Any]:
    """The file as plain values, to be changed by a test."""
    return json.loads(lesson_to_bytes(LESSON))


def refused(changed: Any) -> str:
    """The message about a file that holds `changed`, or these bytes."""
    data = changed if isinstance(changed, bytes) else json.dumps(changed).encode()
    with pytest.raises(ExperimentFileError) as told:
        document_from_bytes(data, "some.augenmerk", "lesson")
    message = str(told.value)
    assert message.startswith("some.augenmerk cannot be used as a lesson. ")
    assert message.endswith("correct the file, or choose another.")
    with pytest.raises(ExperimentFileError):
        document_from_bytes(data, "some.augenmerk", "experiment", "lesson")
    return message


def test_a_lesson_comes_back_exactly_and_holds_no_path(tmp_path: Path) -> None:
    path = tmp_path / "one.augenmerk"
    for lesson in (LESSON, replace(LESSON, scenes=LESSON.scenes * 3)):
        write_lesson_file(lesson, path)
        assert read_lesson_file(path) == read_document(path) == lesson
        assert str(tmp_path) not in path.read_text(encoding="utf-8")
    assert kind_of_file(path) == "experiment", "no checkpoint"


def test_answers_come_back_and_need_a_question(tmp_path: Path) -> None:
    asked = replace(
        LESSON.scenes[0],
        question="Why?",
        answer="Because.",
        check="without-head",
        page="chapter heads",
    )
    lesson = replace(LESSON, scenes=(asked, replace(asked, answer=""), replace(asked, check="")))
    write_lesson_file(lesson, tmp_path / "one.augenmerk")
    assert read_lesson_file(tmp_path / "one.augenmerk") == lesson
    assert b'"answer"' not in lesson_to_bytes(LESSON), (
        "earlier versions read a lesson without answers"
    )
    for answer in ({"answer": "x"}, {"check": "x"}):
        with pytest.raises(
            ExperimentFileError,
            match=r'scenes\[0\].question is "". Use the question of this answer',
        ):
            lesson_to_bytes(
                replace(LESSON, scenes=(replace(LESSON.scenes[0], question="", **answer),))
            )


def test_a_lesson_without_scenes_is_neither_opened_nor_saved(tmp_path: Path) -> None:
    assert "scenes is an empty list. Add a scene." in refused(lesson_to_bytes(Lesson("Empty")))
    path = tmp_path / "one.augenmerk"
    with pytest.raises(ExperimentFileError, match="Add a scene") as told:
        write_lesson_file(Lesson("Empty"), path)
    assert "Add a scene" in str(told.value)
    assert not path.exists()


def test_a_document_is_an_experiment_or_a_lesson_by_its_kind() -> None:
    assert document_from_bytes(to_bytes(SAVED), "", "experiment", "lesson") == SAVED
    assert document_from_bytes(lesson_to_bytes(LESSON), "", "experiment", "lesson") == LESSON
    with pytest.raises(ExperimentFileError, match='kind is "lesson"'):
        from_bytes(lesson_to_bytes(LESSON), "")
    with pytest.raises(ExperimentFileError, match='kind is "experiment"'):
        document_from_bytes(to_bytes(SAVED), "", "lesson")
    with pytest.raises(ExperimentFileError, match=r'an experiment or a lesson\. kind is "film"'):
        document_from_bytes(
            json.dumps(values_of() | {"kind": "film"}).encode(), "x", "experiment", "lesson"
        )
    nested = json.dumps(values_of()).replace('"Katze"', "[" * 7 + "]" * 7).encode()
    with pytest.raises(ExperimentFileError, match="nested more than 10 deep"):
        document_from_bytes(nested, "x", "experiment", "lesson")


def test_the_example_in_the_documentation_is_one() -> None:
    text = (lesson_file.__doc__ or "").split("\n\n")[2].replace("5d04…", MODEL.digest)
    (scene,) = document_from_bytes(text.encode(), "", "lesson").scenes
    assert scene.saved.experiment == Experiment("Zwei Hunde.", Greedy())


WRONG = [
    ("format", "other", 'format is "other".'),
    ("version", 2, "It was written by a newer Augenmerk: version is 2,"),
    ("kind", "film", 'kind is "film".'),
    (
        "title",
        "",
        'title is "". Use one line of text without control characters or space around it.',
    ),
    ("title", "x" * (MAX_TITLE_CHARACTERS + 1), "title has 121 characters."),
    ("title", "a\nb", "title is "),
    ("title", None, "title is null. Use a text"),
    ("scenes", {}, "scenes is an empty object. Use a list"),
    ("scenes", [{}] * (MAX_SCENES + 1), "scenes has 101 items. Use at most 100."),
    ("scenes[1]", [], "scenes[1] is an empty list. Use an object"),
    ("scenes[1].title", " x", 'scenes[1].title is " x".'),
    ("scenes[1].title", "x\u202ey", "scenes[1].title is "),
    ("scenes[0].text", "x\ty", "scenes[0].text is "),
    ("scenes[0].text", "x" * (MAX_TEXT_CHARACTERS + 1), "scenes[0].text has 1,001 characters."),
    ("scenes[0].question", 3, "scenes[0].question is 3. Use a text"),
    ("scenes[0].answer", "x\ty", "scenes[0].answer is "),
    (
        "scenes[0].check",
        "../x",
        'scenes[0].check is "../x". Use a name of small letters, digits and hyphens.',
    ),
    (
        "scenes[0].page",
        "",
        'scenes[0].page is "". Use a name of small letters, digits and hyphens.',
    ),
    ("scenes[0].check", 3, "scenes[0].check is 3. Use a text"),
    ("scenes[0].sound", "x", "scenes[0].sound is not a known field."),
    ("sound", "x", "sound is not a known field."),
]


@pytest.mark.parametrize(
    ("path", "new", "expected"), WRONG, ids=[f"{case[0]}={case[1]!r}"[:50] for case in WRONG]
)
def test_a_wrong_field_is_named_by_its_path(path: str, new: Any, expected: str) -> None:
    assert expected in refused(_at(values(), path, new))


def test_what_is_wrong_in_an_experiment_file_is_wrong_in_a_scene_too() -> None:
    num_tried = 0
    for path, new, expected in WRONG_FIELDS:
        if expected and path.partition(".")[0].partition("[")[0] in ("experiment", "view", "model"):
            message = refused(_at(values(), f"scenes[0].{path}", new))
            assert "scenes[0]." in message
            assert expected in message
            num_tried += 1
    assert num_tried > 20


@pytest.mark.parametrize("name", ["title", "text", "question", "experiment", "view", "model"])
def test_a_missing_field_is_named(name: str) -> None:
    changed = values()
    del changed["scenes"][1][name]
    assert f"scenes[1].{name} is missing." in refused(changed)


def test_a_lesson_with_a_byte_order_mark_is_read() -> None:
    assert document_from_bytes(b"\xef\xbb\xbf" + lesson_to_bytes(LESSON), "", "lesson") == LESSON


def test_what_is_no_json_is_refused() -> None:
    data = lesson_to_bytes(LESSON)
    assert "scenes[0].title is there twice" in refused(
        data.replace(b'"title": "The', b'"title": "x", "title": "The')
    )
    assert "factor is NaN" in refused(data.replace(b'"factor": 0.0', b'"factor": NaN'))
    assert "UTF-16" in refused(b"\xff\xfe" + data)
    assert "not UTF-8" in refused(data.replace(b"Zwei", b"\xffwei"))
    assert "source_text is" in refused(data.replace(b"Zwei", b"\\ud83d"))
    assert "nested more than 10 deep" in refused(b"[" * 900_000)
    assert "more than 1,000,000 bytes" in refused(data + b" " * MAX_BYTES)
    document_from_bytes(data + b" " * (MAX_BYTES - len(data)), "", "lesson")


def test_what_could_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "one.augenmerk"
    write_lesson_file(LESSON, path)
    before = path.read_bytes()
    for lesson, expected in (
        (Lesson(""), "title is"),
        (Lesson("x", (Scene("a\nb", "", PLAIN),)), "scenes[0].title is"),
        (Lesson("x", (Scene("a", "\udc80", PLAIN),)), "invalid character"),
        (Lesson("x", LESSON.scenes[:1] * 101), "scenes has 101 items"),
        (
            Lesson("x", (Scene("a", "", SavedExperiment(Experiment("x" * MAX_BYTES), MODEL)),)),
            "more than 1,000,000",
        ),
    ):
        with pytest.raises(ExperimentFileError, match="lesson cannot be written") as told:
            write_lesson_file(lesson, path)
        assert expected in str(told.value)
        assert path.read_bytes() == before
    with pytest.raises(StorageError, match="Cannot write"):
        write_lesson_file(LESSON, path / "two.augenmerk")


@pytest.mark.skipif(os.name != "posix", reason="named pipes are those of POSIX systems")
def test_what_is_no_ordinary_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.augenmerk")
    for path in (tmp_path / "pipe.augenmerk", tmp_path, tmp_path / "missing", Path("/dev/zero")):
        for read in (read_lesson_file, read_document):
            with pytest.raises(ExperimentFileError):
                read(path)


def _read_or_message(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except ExperimentFileError as error:
        return str(error)


@pytest.mark.heavy
@pytest.mark.parametrize("change", [_with_another_shape, _with_other_bytes])
@pytest.mark.slow
def test_a_damaged_file_is_refused_in_our_words_or_read_and_written_again(
    change: Any, tmp_path: Path
) -> None:
    random_numbers = random.Random(12)
    path = tmp_path / "fuzzed.augenmerk"
    num_refused = num_read = 0
    for number in range(1_500):
        scenes = tuple(
            Scene(
                f"Scene {number}",
                "text",
                SavedExperiment(random_experiment(random_numbers, AnyValues()), MODEL, VIEW),
            )
            for number in range(random_numbers.randrange(1, 4))
        )
        data = change(lesson_to_bytes(Lesson("Fuzzed", scenes)), random_numbers)
        result = _read_or_message(lambda data=data: document_from_bytes(data, path, "lesson"))
        if isinstance(result, str):
            assert str(path) in result
            result.encode("utf-8")
            num_refused += 1
        else:
            assert document_from_bytes(lesson_to_bytes(result), path, "lesson") == result
            assert document_from_bytes(data, path, "experiment", "lesson") == result
            num_read += 1
        if number % 50 == 0:  # through the file system, too
            path.write_bytes(data)
            assert _read_or_message(lambda: read_lesson_file(path)) == result
    assert min(num_refused, num_read) > 50, "the changes are no test of both"
