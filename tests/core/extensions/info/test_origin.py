"""`augenmerk info` prints what a file says about its origin, all of it."""

import base64
import json
import zlib
from pathlib import Path

import pytest

from augenmerk.core.cli.main import main
from augenmerk.core.extensions.provenance import VERSIONS, with_provenance
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Experiment, HeadScaled
from augenmerk.core.translation.experiment_file import (
    ModelReference,
    SavedExperiment,
    experiment_to_json,
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


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "map.svg"
    path.write_bytes(with_provenance(b"<svg></svg>", SAVED))
    return path


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


def test_json_of_a_checkpoint_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--json"]) == 2
    assert "Name one" in capsys.readouterr().err
