"""`augenmerk analyze` end to end: the same numbers as from Python, in both formats, and what it
refuses."""

import json
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.cli.main import main
from augenmerk.core.maps.measures import MEASURES, measure_maps
from augenmerk.core.maps.model_pass import Pass
from augenmerk.core.maps.selection import Selection
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Experiment, GivenTarget
from augenmerk.core.translation.experiment_file import part_to_json
from augenmerk.core.translation.translator import Translator
from tests.builders import command_line
from tests.interventions import heads_switched_off

SENTENCE = "Ein Mann steht auf einer Leiter."
TARGET = "A man stands on a ladder."


@pytest.fixture
def sample(tmp_path: Path) -> list[str]:
    """Arguments that name two files."""
    (tmp_path / "some.de").write_text(
        "Ein Mann steht.\nEin Mann auf einer Leiter.\nLeiter.\n", encoding="utf-8"
    )
    (tmp_path / "some.en").write_text(
        "A man stands.\nA man on a ladder.\nLadder.\n", encoding="utf-8"
    )
    return ["--sample", str(tmp_path / "some.de"), str(tmp_path / "some.en")]


def told(capsys: pytest.CaptureFixture[str], checkpoint: Path, *arguments: str) -> dict:
    """The JSON that a command printed."""
    capsys.readouterr()
    assert (
        main(["analyze", SENTENCE, "--checkpoint", str(checkpoint), "--device", "cpu", *arguments])
        == 0
    )
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("measure", MEASURES)
def test_measures_are_those_of_the_library(untrained_checkpoint: Path, capsys, measure) -> None:
    fields = told(
        capsys,
        untrained_checkpoint,
        "--target",
        TARGET,
        "--measure",
        measure,
        "--hide",
        "end",
        "--words",
    )
    translator = Translator.load(untrained_checkpoint, "cpu")
    translation = translator.run(Experiment(SENTENCE, GivenTarget(TARGET)))
    for kind in ("encoder", "decoder", "cross"):
        if kind not in MEASURES[measure].kinds:
            assert kind not in fields
            continue
        maps = measure_maps(Pass.of(translator, translation), measure, kind)
        shown = Selection("predicted", True, frozenset({"end"})).apply(maps, translation, kind)
        np.testing.assert_allclose(fields[kind], shown.weights, atol=1e-6)
        np.testing.assert_allclose(fields[f"{kind}_hidden_mass"], shown.hidden_mass, atol=1e-6)
        assert tuple(fields[f"{kind}_columns"]) == shown.keys.labels
    assert fields["translation"] == TARGET
    assert sum(fields["log_probabilities"]) == pytest.approx(translation.log_probability, abs=1e-5)


def test_rows_say_what_they_are(untrained_checkpoint: Path, capsys) -> None:
    fields = told(capsys, untrained_checkpoint, "--target", TARGET, "--rows", "predicted")
    assert (fields["cross_rows_are"], fields["cross_rows"]) == (
        "token predicted",
        fields["predicted_tokens"],
    )
    assert fields["decoder_columns_are"] == "token read"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--off", "cross:2:1", "encoder:1:2"],
        ["--head-off", "cross:2:1", "--head-off", "encoder:1:2"],
        ["--scale-head", "cross:2:1=0", "--head-off", "encoder:1:2"],
    ],
)
def test_heads_off_change_the_numbers(
    untrained_checkpoint: Path, capsys, arguments: list[str]
) -> None:
    fields = told(capsys, untrained_checkpoint, "--target", TARGET, *arguments)
    off = heads_switched_off([Head("cross", 1, 0), Head("encoder", 0, 1)])
    scored = Translator.load(untrained_checkpoint, "cpu").run(
        Experiment(SENTENCE, GivenTarget(TARGET), off)
    )
    assert fields["interventions"] == [part_to_json(intervention) for intervention in off]
    assert sum(fields["log_probabilities"]) == pytest.approx(scored.log_probability, abs=1e-5)


def test_products_sum_to_the_attention_score(untrained_checkpoint: Path, capsys) -> None:
    fields = told(
        capsys, untrained_checkpoint, "--target", TARGET, "--query-key", "cross:2:1", "4", "5"
    )
    assert sum(fields["query_key_products"]) == pytest.approx(fields["query_key_score"], abs=1e-5)
    assert fields["query_key_weight"] == pytest.approx(fields["cross"][1][0][3][4], abs=1e-6)


@pytest.mark.heavy
def test_json_and_npz_hold_the_same(
    untrained_checkpoint: Path, tmp_path: Path, sample: list[str], capsys
) -> None:
    fields = told(capsys, untrained_checkpoint, *sample, "--importance")
    for name in ("numbers.npz", "numbers.json"):
        arguments = [
            *sample,
            *command_line("--importance --checkpoint {} --device cpu", untrained_checkpoint),
        ]
        assert main(["analyze", SENTENCE, *arguments, "--out", str(tmp_path / name)]) == 0
    assert json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8")) == fields
    with np.load(tmp_path / "numbers.npz", allow_pickle=False) as arrays:
        flat = fields | {
            f"{parent}/{name}": value
            for parent in ("model", "output")
            for name, value in fields[parent].items()
        }
        assert set(arrays) == set(flat) - {"model", "output"}
        for name in arrays:
            if arrays[name].dtype.kind == "f":
                np.testing.assert_allclose(arrays[name], flat[name], atol=1e-6)
            else:
                assert arrays[name].tolist() == flat[name]
    assert np.shape(fields["cross_roles"]) == np.shape(fields["cross_importance"]) == (2, 2)
    assert fields["sample_sentences"] == 3


def test_help_names_query_and_key_whatever_way_maps_are_drawn(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["analyze", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "--query-key HEAD QUERY KEY" in told
    assert "ROW COLUMN" not in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "numbers.csv"], "ends in .json or .npz"),
        (["--importance"], "needs a sample"),
        (["--off", "cross:9:1"], "no cross layer 9 head 1"),
        (
            ["--query-key", "cross:1:1", "1", "99"],
            "There is no weight of query 1 on key 99: choose from queries 1 to",
        ),
        (
            ["--query-key", "cross:1:1", "0", "1"],
            "the query cannot be used: '0' is not a whole number from 1",
        ),
        (["--query-key", "cross:1", "0", "0"], "is not a head"),
        (
            ["--query-key", "cross:1:1", "one", "0"],
            "the query cannot be used: 'one' is not a whole number from 1 to 100,001",
        ),
        (["--query-key", "cross:1:1", "1", "1.5"], "the key cannot be used: '1.5' is"),
        (["--target", " "], "can read no word of the given translation"),
        (["--sample", "missing.de", "missing.en"], "missing.de"),
        (["--num-sentences", "0"], "at least 1"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_message(
    untrained_checkpoint: Path, capsys, arguments: list[str], message: str
) -> None:
    assert main(["analyze", SENTENCE, "--checkpoint", str(untrained_checkpoint), *arguments]) == 2
    output = capsys.readouterr()
    assert message in output.err
    assert output.out == ""


@pytest.mark.parametrize(
    ("text", "more"),
    [("?!", []), (SENTENCE, ["--compare", "?!"])],
    ids=["the sentence", "the one compared with"],
)
def test_hiding_every_token_is_refused_and_nothing_is_written(
    untrained_checkpoint: Path, tmp_path: Path, capsys, text: str, more: list[str]
) -> None:
    arguments = [
        *command_line("--checkpoint {} --out {}", untrained_checkpoint, tmp_path / "numbers.npz"),
        *more,
    ]
    assert main(["analyze", text, *arguments, "--hide", "start", "end", "punctuation"]) == 2
    said = capsys.readouterr().err
    for words in ("--hide end punctuation start", "'?!'", "Hide fewer kinds"):
        assert words in said, words
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_said(
    untrained_checkpoint: Path, tmp_path: Path, capsys
) -> None:
    (tmp_path / "file").write_text("")
    target = tmp_path / "file" / "numbers.npz"
    assert (
        main(["analyze", SENTENCE, "--checkpoint", str(untrained_checkpoint), "--out", str(target)])
        == 2
    )
    assert "Cannot write" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["cross:0:1", "side:1:1", "cross:1:x", "cross:1:1:1"])
def test_a_name_of_no_head_is_refused(untrained_checkpoint: Path, capsys, name: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["analyze", SENTENCE, "--checkpoint", str(untrained_checkpoint), "--off", name])
    assert ended.value.code == 2
    assert "is not a head" in capsys.readouterr().err
