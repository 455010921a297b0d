"""Experiment files: exact round trips, one refusal that names the field for anything else, and no
other exception."""

import copy
import json
import os
import random
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from augenmerk.core.errors import ExperimentError, ExperimentFileError, StorageError
from augenmerk.core.model.heads import Head
from augenmerk.core.translation import experiment_file
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Beam,
    Experiment,
    ForcedToken,
    GivenTarget,
    HeadScaled,
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.experiment_file import (
    MAX_BYTES,
    ModelReference,
    SavedExperiment,
    experiment_from_json,
    experiment_to_json,
    from_bytes,
    kind_of_file,
    read_experiment_file,
    to_bytes,
    write_experiment_file,
)
from tests.core.translation.random_experiments import AnyValues, random_experiment

MODEL = ModelReference("multi30k-de-en", "0123456789abcdef" * 4)
EXPERIMENT = Experiment(
    "Zwei Hunde spielen im Schnee.",
    Beam(4, 0.6),
    (
        SourceWordRemoved(1),
        SourceWordReplaced(2, "Katze"),
        HeadScaled(Head("cross", 1, 4)),
        AttentionRow(Head("cross", 1, 4), 2, (0.1, 0.2, 0.7)),
        ForcedToken(2, "▁dog"),
    ),
)
VIEW = {
    "kind": "cross",
    "layer": 1,
    "words": True,
    "zoom": 1.25,
    "none": None,
    "hide": ("start", "end"),
    "cells": ((0, 1), (2, 3)),
}
SAVED = SavedExperiment(EXPERIMENT, MODEL, VIEW)


def values_of(saved: SavedExperiment = SAVED) -> dict[str, Any]:
    """The file as plain values, to be changed by a test."""
    return json.loads(to_bytes(saved))


def refused(values: Any) -> str:
    """The message about a file that holds `values`, or these bytes."""
    data = values if isinstance(values, bytes) else json.dumps(values).encode()
    with pytest.raises(ExperimentFileError) as told:
        from_bytes(data, "some.augenmerk")
    message = str(told.value)
    assert message.startswith("some.augenmerk cannot be used as an experiment. ")
    assert message.endswith("correct the file, or choose another.")
    return message


def test_a_file_holds_all_and_no_path(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "one.augenmerk"
    write_experiment_file(SAVED, path)
    assert read_experiment_file(path) == SAVED
    assert read_experiment_file(str(path)).view == VIEW
    values = json.loads(path.read_text(encoding="utf-8"))
    assert list(values) == ["format", "version", "kind", "experiment", "view", "model"]
    assert (values["format"], values["version"], values["kind"]) == ("augenmerk", 1, "experiment")
    assert values["experiment"]["interventions"][-1] == {
        "type": "forced_token",
        "step": 2,
        "token": "▁dog",
    }
    assert values["model"] == {"name": "multi30k-de-en", "digest": MODEL.digest}
    assert str(tmp_path) not in path.read_text(encoding="utf-8")


def test_the_example_in_the_documentation_is_one() -> None:
    text = (experiment_file.__doc__ or "").split("\n\n")[2].replace("5d04…", MODEL.digest)
    example = from_bytes(text.encode(), "")
    assert [type(intervention).__name__ for intervention in example.experiment.interventions] == [
        "SourceWordRemoved", "SourceWordReplaced", "HeadScaled", "FeedForwardScaled", "SoftmaxTemperature",
        "AttentionRow", "ForcedToken",
    ]  # fmt: skip


def test_the_name_of_a_model_is_no_path_and_can_always_be_written() -> None:
    for raw_name, name in (
        ("/home/me/a.b", "a.b"),
        ("C:\\models\\a", "a"),
        ("x" * 300, "x" * 255),
        ("\udcff", "\ufffd"),
    ):
        saved = SavedExperiment(EXPERIMENT, ModelReference(raw_name, MODEL.digest))
        assert from_bytes(to_bytes(saved), "").model.name == name


@pytest.mark.slow
@pytest.mark.heavy
def test_random_experiments_come_back_to_the_last_bit() -> None:
    random_numbers = random.Random(4)
    for _ in range(500):
        experiment = random_experiment(random_numbers, AnyValues())
        assert experiment_from_json(experiment_to_json(experiment)) == experiment
        saved = SavedExperiment(experiment, MODEL, {"x": random_numbers.random()})
        data = to_bytes(saved)
        reread = from_bytes(data, "")
        assert reread == saved
        assert repr(reread) == repr(saved)
        assert to_bytes(reread) == data


def _at(values: Any, path: str, new: Any) -> Any:
    """The same values with another one at this path."""
    *before, last = [int(part) if part.isdecimal() else part for part in re.findall(r"\w+", path)]
    container = values
    for part in before:
        container = container[part]
    container[last] = new
    return values


HEAD = {"kind": "cross", "layer": 0, "head": 0}
WRONG_FIELDS: list[tuple[str, Any, str]] = [
    ("format", "other", 'format is "other". Use "augenmerk".'),
    ("version", 2, "newer Augenmerk: version is 2, above 1. Update Augenmerk."),
    ("version", True, "version is true. Use a whole number from 1"),
    ("version", 0, "version is 0."),
    ("version", 1.0, "version is 1.0."),
    ("kind", "lesson", 'kind is "lesson". Use "experiment".'),
    ("extra", 1, "extra is not a known field."),
    ("experiment", [], "experiment is an empty list. Use an object"),
    ("experiment.source_text", 3, "experiment.source_text is 3. Use a text."),
    ("experiment.output", "greedy", 'experiment.output is "greedy". Use an object'),
    (
        "experiment.output.type",
        "sampling",
        'experiment.output.type is "sampling". Use one of "greedy"',
    ),
    (
        "experiment.output.size",
        101,
        "experiment.output.size is 101. Use a whole number from 1 to 100",
    ),
    ("experiment.output.size", 4.0, "experiment.output.size is 4.0."),
    (
        "experiment.output.length_penalty",
        -1,
        "experiment.output.length_penalty is -1. Use a number from 0 to 10",
    ),
    (
        "experiment.output",
        {"type": "greedy", "size": 4},
        "experiment.output.size is not a known field.",
    ),
    ("experiment.output", {"type": "given"}, "experiment.output.text is missing."),
    ("experiment.interventions", {}, "experiment.interventions is an empty object. Use a list"),
    ("experiment.interventions[0]", {}, "experiment.interventions[0].type is missing."),
    (
        "experiment.interventions[0].type",
        "patched",
        'experiment.interventions[0].type is "patched". Use one of',
    ),
    (
        "experiment.interventions[0].type",
        ["x"],
        "experiment.interventions[0].type is a list of 1 item. Use one of",
    ),
    ("experiment.interventions[0].place", -1, "experiment.interventions[0].place is -1."),
    ("experiment.interventions[0].place", 100_001, "experiment.interventions[0].place is 100001."),
    (
        "experiment.interventions[1].text",
        "  ",
        "experiment.interventions[1].text: The replacement of source word 2",
    ),
    (
        "experiment.interventions[2].factor",
        True,
        "experiment.interventions[2].factor is true. Use a number from -1000",
    ),
    ("experiment.interventions[2].factor", 1001, "experiment.interventions[2].factor is 1001."),
    ("experiment.interventions[2].factor", "0", 'experiment.interventions[2].factor is "0".'),
    (
        "experiment.interventions[2].head.kind",
        "both",
        'experiment.interventions[2].head.kind is "both". Use one of',
    ),
    (
        "experiment.interventions[2].head.layer",
        False,
        "experiment.interventions[2].head.layer is false.",
    ),
    (
        "experiment.interventions[2].head",
        HEAD | {"x": 1},
        "experiment.interventions[2].head.x is not a known field",
    ),
    (
        "experiment.interventions[3].weights[0]",
        -0.5,
        "experiment.interventions[3].weights[0] is -0.5. Use a number of 0 or",
    ),
    (
        "experiment.interventions[3].weights[0]",
        True,
        "experiment.interventions[3].weights[0] is true.",
    ),
    (
        "experiment.interventions[3].weights",
        [],
        "experiment.interventions[3].weights: All weights of the row are 0.",
    ),
    (
        "experiment.interventions[3].weights",
        [0],
        "experiment.interventions[3].weights: All weights of the row are 0.",
    ),
    (
        "experiment.interventions[3].head.kind",
        "decoder",  # with three weights at row 2, that is right
        "",
    ),
    (
        "experiment.interventions[3]",
        {"type": "attention_row", "head": HEAD | {"kind": "decoder"}, "row": 0, "weights": [1, 1]},
        (
            "experiment.interventions[3].weights: The row of step 0 in decoder layer 0 head 0 has 2 "
            "weights."
        ),
    ),
    (
        "experiment.interventions[4].token",
        "",
        "experiment.interventions[4].token: The forced token is empty.",
    ),
    (
        "experiment.interventions[4].token",
        None,
        "experiment.interventions[4].token is null. Use a text",
    ),
    (
        "experiment.interventions[0]",
        {"type": "forced_token", "step": 2, "token": "x"},
        "change the same thing",
    ),
    (
        "experiment.output",
        {"type": "given", "text": "a dog"},
        "while the whole translation is given",
    ),
    ("view", [], "view is an empty list. Use an object"),
    (
        "view.zoom",
        {"a": 1},
        "view.zoom is an object with 1 field. Use a text, a number, true, false or null, or a list",
    ),
    ("view.cells[0]", [[0]], "view.cells[0][0] is a list of 1 item."),
    ("view.cells", [0] * 1_001, "view.cells has 1,001 items. Use at most 1,000"),
    ("view.kind", "x" * 10_001, "view.kind has 10,001 characters."),
    ("view.layer", 2**53 + 1, "view.layer is 9007199254740993."),
    ("view", {str(number): 1 for number in range(201)}, "view has 201 fields. Use at most 200"),
    ("model", None, "model is null."),
    ("model.name", "folder/name", 'model.name is "folder/name". Use a name without / and \\.'),
    ("model.digest", "0" * 63, "64 lower-case hexadecimal digits"),
    ("model.digest", "0" * 64 + "\n", "64 lower-case hexadecimal digits"),
    ("model.path", "/tmp/x", "model.path is not a known field."),
]


@pytest.mark.parametrize(
    ("path", "new", "expected"), WRONG_FIELDS, ids=[f"{e[0]}={e[1]!r}"[:60] for e in WRONG_FIELDS]
)
def test_a_wrong_field_is_named_by_its_path(path: str, new: Any, expected: str) -> None:
    changed = _at(values_of(), path, new)
    if expected:
        assert expected in refused(changed)
    else:
        from_bytes(json.dumps(changed).encode(), "")


@pytest.mark.parametrize("name", ["format", "version", "kind", "experiment", "view", "model"])
def test_a_missing_field_is_named(name: str) -> None:
    values = values_of()
    del values[name]
    assert f"{name} is missing. Add this field." in refused(values)


def test_a_newer_version_is_named_as_such_whatever_else_it_holds() -> None:
    newer = {"format": "augenmerk", "version": 7, "kind": "lesson", "chapters": []}
    assert "written by a newer Augenmerk: version is 7" in refused(newer)


def test_what_is_no_json_is_refused() -> None:
    data = to_bytes(SAVED)
    assert "version is there twice" in refused(
        data.replace(b'"version": 1', b'"version": 1, "version": 1')
    )
    assert "factor is NaN" in refused(data.replace(b'"factor": 0.0', b'"factor": NaN'))
    assert "factor is 1e999" in refused(data.replace(b'"factor": 0.0', b'"factor": 1e999'))
    assert "UTF-16" in refused(b"\xff\xfe" + data)
    assert "not UTF-8" in refused(data.replace("ß".encode(), b"").replace(b"Zwei", b"\xffwei"))
    assert "source_text is" in refused(data.replace(b"Zwei", b"\\ud83d"))
    assert "nested more than 10 deep" in refused(b"[" * 900_000)
    assert "more than 1,000,000 bytes" in refused(data + b" " * MAX_BYTES)
    from_bytes(data + b" " * (MAX_BYTES - len(data)), "")


def test_plain_values_are_refused_in_the_same_words() -> None:
    with pytest.raises(
        ExperimentError, match=r"session\.output\.size is 0\. Use a whole number from 1 to 100"
    ):
        experiment_from_json(
            {
                "source_text": "",
                "output": {"type": "beam", "size": 0, "length_penalty": 1},
                "interventions": [],
            },
            "session",
        )
    row = {"type": "attention_row", "head": HEAD, "row": 0, "weights": [10**400]}
    huge = {"source_text": "", "output": {"type": "greedy"}, "interventions": [row]}
    for strange in (None, {1: 2}, {"source_text": object()}, [{}], float("nan"), 10**5_000, huge):
        with pytest.raises(ExperimentError):
            experiment_from_json(strange)


@pytest.mark.heavy
def test_what_could_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "one.augenmerk"
    write_experiment_file(SAVED, path)
    before = path.read_bytes()
    row = AttentionRow(Head("cross", 0, 0), 0, tuple([1.0] * 60_000))
    for saved, expected in (
        (SavedExperiment(EXPERIMENT, MODEL, {"typed": "\udc80"}), "invalid character"),
        (SavedExperiment(Experiment("x" * MAX_BYTES), MODEL), "more than 1,000,000 bytes"),
        (
            SavedExperiment(Experiment("x", interventions=(row,)), MODEL),
            "more than 1,000,000 bytes",
        ),
        (SavedExperiment(EXPERIMENT, MODEL, {"zoom": float("inf")}), "not JSON compliant"),
        (SavedExperiment(EXPERIMENT, MODEL, {"zoom": {"a": 1}}), "view.zoom is an object"),  # type: ignore[dict-item]
        (SavedExperiment(EXPERIMENT, MODEL, {"zoom": Path("x")}), "not JSON serializable"),  # type: ignore[dict-item]
        (SavedExperiment(EXPERIMENT, ModelReference("x", "12")), "model.digest is"),
    ):
        with pytest.raises(ExperimentFileError, match="Nothing was written") as told:
            write_experiment_file(saved, path)
        assert expected in str(told.value)
        assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["one.augenmerk"]
    with pytest.raises(StorageError, match="Cannot write"):
        write_experiment_file(SAVED, path / "two.augenmerk")


@pytest.mark.skipif(os.name != "posix", reason="named pipes and devices are those of POSIX systems")
def test_what_is_no_ordinary_file_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.augenmerk"
    os.mkfifo(pipe)
    missing = tmp_path / "missing.augenmerk"
    for path in (
        pipe,
        tmp_path,
        missing,
        Path("/dev/zero"),
        Path("/dev/null"),
        Path("/dev/full"),
        Path("a\0b"),
    ):
        done = threading.Event()
        told: list[str] = []

        def read(path: Path = path, done: threading.Event = done, told: list[str] = told) -> None:
            for use in (read_experiment_file, kind_of_file):
                try:
                    use(path)
                except ExperimentFileError as error:
                    told.append(str(error))
            done.set()

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        assert done.wait(10), f"hangs on {path}"
        thread.join()
        assert len(told) == 2, path
        for message in told:
            assert str(path) in message
            assert "Choose an experiment (*.augenmerk) or a checkpoint (*.safetensors)." in message
    empty = tmp_path / "empty.augenmerk"
    empty.write_bytes(b"")
    with pytest.raises(ExperimentFileError, match=r"empty\.augenmerk .* It is empty"):
        read_experiment_file(empty)


def test_a_forbidden_file_is_refused(tmp_path: Path, permissions_withheld) -> None:
    path = tmp_path / "one.augenmerk"
    write_experiment_file(SAVED, path)
    tmp_path.chmod(0o755)
    with (
        permissions_withheld(path, 0o000),
        pytest.raises(ExperimentFileError, match=r"cannot be read: Permission denied"),
    ):
        read_experiment_file(path)


def test_files_are_told_apart_by_their_content(tmp_path: Path, untrained_checkpoint: Path) -> None:
    experiment = tmp_path / "misnamed.safetensors"
    write_experiment_file(SAVED, experiment)
    checkpoint = tmp_path / "misnamed.augenmerk"
    checkpoint.write_bytes(untrained_checkpoint.read_bytes())
    cut_off = tmp_path / "cut.augenmerk"
    cut_off.write_bytes(untrained_checkpoint.read_bytes()[:100])
    by_hand = tmp_path / "by-hand"
    by_hand.write_bytes(b"\xef\xbb\xbf\r\n  {")
    picture = tmp_path / "picture.augenmerk"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n{{{{{{")
    (tmp_path / "empty").write_bytes(b"")
    assert kind_of_file(experiment) == kind_of_file(by_hand) == "experiment"
    assert kind_of_file(checkpoint) == kind_of_file(cut_off) == "checkpoint"
    assert kind_of_file(picture) == kind_of_file(tmp_path / "empty") == "unknown"
    with pytest.raises(ExperimentFileError):
        read_experiment_file(checkpoint)


STRANGE = (
    None, True, False, 0, -1, 1, 2, 3.5, -0.0, 1e308, 1e-320, 2**53, 2**63, 10**19, 10**30, float("nan"), float("inf"),
    "", " ", "x", "cross", "greedy", "forced_token", "head_scaled", "<eos>", "\ud800", "\x00", "▁", "a" * 300,
    [], {}, [[]], [1], [0, 1, 0], {"type": "greedy"}, {"type": None}, {"kind": "cross", "layer": 0, "head": 0},
    [[[[[[[[[[]]]]]]]]]],
)  # fmt: skip


def _places(values: Any) -> list[tuple[Any, Any]]:
    """All containers with their keys or indices."""
    if isinstance(values, dict):
        keys: list[Any] = list(values)
    elif isinstance(values, list):
        keys = list(range(len(values)))
    else:
        return []
    return [(values, key) for key in keys] + [
        location for key in keys for location in _places(values[key])
    ]


def _with_another_shape(data: bytes, random_numbers: random.Random) -> bytes:
    """A valid file with a few of its values, names or items changed, moved, doubled or gone."""
    values = json.loads(data)
    for _ in range(random_numbers.choice([1, 1, 1, 2, 5])):
        places = _places(values)
        if not places:
            break
        container, key = random_numbers.choice(places)
        other_container, other_key = random_numbers.choice(places)
        match random_numbers.randrange(6):
            case 0 | 1:
                container[key] = copy.deepcopy(random_numbers.choice(STRANGE))
            case 2:
                del container[key]
            case 3:
                container[key] = copy.deepcopy(other_container[other_key])
            case 4 if isinstance(container, list):
                strange = copy.deepcopy(random_numbers.choice(STRANGE))
                container.insert(random_numbers.randrange(len(container) + 1), strange)
            case 4:
                container[
                    random_numbers.choice(["type", "x", "place", "a b", "\udc00", "weights"])
                ] = copy.deepcopy(container[key])
            case _ if isinstance(container, list):
                random_numbers.shuffle(container)
            case _:
                container[random_numbers.choice(["type", *container])] = container.pop(key)
    text = json.dumps(values, ensure_ascii=random_numbers.random() < 0.5)
    if random_numbers.random() < 0.1:  # a name twice
        text = re.sub(r'("\w+": )', r"\g<1>0, \g<1>", text, count=1)
    return text.encode("utf-8", "surrogatepass")


def _with_other_bytes(data: bytes, random_numbers: random.Random) -> bytes:
    """A valid file with a few bytes changed, put in, left out or moved."""
    changed = bytearray(data)
    for _ in range(random_numbers.choice([1, 1, 2, 8])):
        position = random_numbers.randrange(len(changed) + 1)
        match random_numbers.randrange(5):
            case 0:
                changed[position : position + 1] = bytes([random_numbers.randrange(256)])
            case 1:
                changed[position:position] = random_numbers.choice(
                    [b'"', b"{", b"[", b",", b"\\", b"9", b"-", b"e9", b"\xff"]
                )
            case 2:
                del changed[position : position + random_numbers.choice([1, 2, 50])]
            case 3:
                changed[position:position] = changed[random_numbers.randrange(len(changed) + 1) :][
                    :40
                ]
            case _:
                del changed[max(position, 1) :]
    return bytes(changed)


def _read_or_message(read: Callable[[], SavedExperiment]) -> SavedExperiment | str:
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
    random_numbers = random.Random(11)
    path = tmp_path / "fuzzed.augenmerk"
    num_refused = num_read = 0
    for number in range(3_000):
        saved = SavedExperiment(random_experiment(random_numbers, AnyValues()), MODEL, VIEW)
        data = change(to_bytes(saved), random_numbers)
        result = _read_or_message(lambda data=data: from_bytes(data, path))
        if isinstance(result, str):
            assert str(path) in result
            result.encode("utf-8")
            num_refused += 1
        else:
            assert from_bytes(to_bytes(result), path) == result
            num_read += 1
        if number % 50 == 0:  # through the file system, too
            path.write_bytes(data)
            assert kind_of_file(path) in {"experiment", "unknown"}
            assert _read_or_message(lambda: read_experiment_file(path)) == result
    assert min(num_refused, num_read) > 100, "the changes are no test of both"


def test_a_given_target_comes_back() -> None:
    saved = SavedExperiment(Experiment("a", GivenTarget("“x”\n\\")), MODEL)
    assert from_bytes(to_bytes(saved), "") == saved
