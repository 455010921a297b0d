"""`augenmerk info` prints what a file says about its origin, all of it."""

import base64
import json
import re
import zlib
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.cli.main import main
from augenmerk.core.counting import display_text
from augenmerk.core.extensions.provenance import (
    VERSIONS,
    provenance_values,
    save_beside_table,
    with_provenance,
)
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Experiment, HeadScaled
from augenmerk.core.translation.experiment_file import (
    ModelReference,
    SavedExperiment,
    experiment_to_json,
    part_to_json,
    to_bytes,
)

OFF = Experiment("Ein Mann\nsteht.", interventions=(HeadScaled(Head("cross", 2, 4)),))
SAVED = SavedExperiment(
    OFF,
    ModelReference("mine", "ab" * 32),
    {
        VERSIONS: "augenmerk 9.9.9, matplotlib 3.4.5",
        "kind": "cross",
        "layer": 3,
        "head": None,
        "hide": ("end", "punctuation"),
        "words": True,
    },
)


def npz(**arrays: np.ndarray) -> bytes:
    content = BytesIO()
    np.savez_compressed(content, **arrays)  # type: ignore[arg-type]
    return content.getvalue()


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "map.svg"
    path.write_bytes(with_provenance(b"<svg></svg>", SAVED))
    return path


def test_an_empty_list_of_an_option_is_a_dash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = SavedExperiment(SAVED.experiment, SAVED.model, {**SAVED.view, "hide": ()})
    path = tmp_path / "map.svg"
    path.write_bytes(with_provenance(b"<svg></svg>", saved))
    assert main(["info", str(path)]) == 0
    assert re.search(r"^  hide +–$", capsys.readouterr().out, re.MULTILINE)


def test_json_has_the_versions_the_model_and_the_options_of_the_file(
    picture: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", str(picture), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "version": "9.9.9",
        "matplotlib_version": "3.4.5",
        "model": "mine",
        "model_digest": "ab" * 32,
        "experiment_values": experiment_to_json(OFF),
        "options": {
            "kind": "cross",
            "layer": 3,
            "head": None,
            "hide": ["end", "punctuation"],
            "words": True,
        },
    }


def test_the_lines_for_people_have_the_same(
    picture: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", str(picture)]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        str(picture),
        "augenmerk 9.9.9",
        "matplotlib 3.4.5",
        "model mine",
        f"digest of the model {'ab' * 32}",
        "experiment",
        "sentence Ein Mann\\nsteht.",
        "output",
        "type greedy",
        "changes cross 3·5 off",
        "options",
        "kind cross",
        "layer 3",
        "head –",
        "hide end, punctuation",
        "words yes",
    ]


def test_a_file_that_names_no_version_gets_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    word = base64.urlsafe_b64encode(zlib.compress(to_bytes(SavedExperiment(OFF, SAVED.model))))
    content = b'<svg><metadata id="augenmerk">augenmerk:' + word + b"</metadata></svg>"
    (tmp_path / "map.svg").write_bytes(content)
    assert main(["info", str(tmp_path / "map.svg"), "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == [
        "model",
        "model_digest",
        "experiment_values",
    ]


HEAD = Head("cross", 2, 4)
FACTS = {"model": "mine", "sentence": "Ein Mann.", "map": HEAD.title, **provenance_values(SAVED)}
NUMBERS = {"row_labels": ["a"], "column_labels": ["b"], "weights": [[0.5]]}


@pytest.mark.parametrize("name", ["num.json", "num.npz", "num.csv", "num.csv-metadata.json"])
def test_numbers_say_their_origin_without_the_numbers(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Facts count as the numbers do: from 0 in JSON, from 1 next to a table."""
    expected = provenance_values(SAVED) if name == "num.npz" else FACTS
    if ".csv" in name:
        expected = expected | {"map": display_text(HEAD.title)}
    (tmp_path / "num.json").write_text(json.dumps(FACTS | NUMBERS), encoding="utf-8")
    np.savez(tmp_path / "num.npz", map=[[0.5]], provenance=np.array(json.dumps(expected)))
    (tmp_path / "num.csv").write_text(",b\na,0.5\n", encoding="utf-8")
    save_beside_table(FACTS, tmp_path / "num.csv")
    assert main(["info", str(tmp_path / name), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(expected))
    assert main(["info", str(tmp_path / name)]) == 0
    lines = capsys.readouterr().out
    assert ("count from 0" in lines) == (name == "num.json")
    layer, head = (2, 4) if name == "num.json" else (3, 5)
    assert re.search(f"changes +cross {layer}·{head} off", lines)
    if name != "num.npz":
        assert f"layer {layer} · head {head}" in lines


def test_a_table_of_an_analysis_says_its_origin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "analysis.json"
    path.write_text(json.dumps(FACTS | {"rows": [{"head": 0, "score": 0.5}]}), encoding="utf-8")
    assert main(["info", str(path), "--json"]) == 0
    assert "rows" not in json.loads(capsys.readouterr().out)


@pytest.mark.heavy
@pytest.mark.parametrize("ending", ["npz", "json"])
def test_numbers_of_a_command_say_their_origin(
    ending: str, untrained_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"numbers.{ending}"
    options = ["--head-off", "cross:1:1", "--checkpoint", str(untrained_checkpoint)]
    assert main(["analyze", "Ein Mann steht.", *options, "--out", str(path)]) == 0
    capsys.readouterr()
    assert main(["info", str(path), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["model"]["name"] == "untrained"
    assert (values["source"], values["output"]) == ("Ein Mann steht.", {"type": "greedy"})
    off = HeadScaled(Head("cross", 0, 0))
    assert values["interventions"] == [part_to_json(off)]
    assert main(["info", str(path)]) == 0
    off_in_words = "cross 0·0 off" if ending == "json" else "cross 1·1 off"
    assert re.search(f"changes +{off_in_words}", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b",b", "There is no file .*a.csv-metadata.json"),
        ("a.json", b"[1]", "does not say its origin"),
        ("a.json", b'{"weights": [[1]]}', "does not say its origin"),
        ("a.json", b"{" * 30, "cannot be used as numbers by Augenmerk"),
        ("a.json", b'{"version": 1', "cannot be used as numbers by Augenmerk"),
        ("a.npz", b"PK", "is no complete NPZ file"),
        ("a.npz", npz(map=np.zeros(1)), "does not say its origin"),
        ("a.npz", npz(provenance=np.array("x" * 3_000_000)), "more than 8,000,000 bytes"),
        ("a.npz", npz(provenance=np.array([{}], object)), "is no complete NPZ file"),
    ],
    ids="table list numbers nested cut zip other bomb pickle".split(),
)
def test_other_numbers_are_refused(
    name: str,
    content: bytes,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / name).write_bytes(content)
    assert main(["info", str(tmp_path / name)]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_json_of_a_checkpoint_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--json"]) == 2
    assert "Name one" in capsys.readouterr().err
