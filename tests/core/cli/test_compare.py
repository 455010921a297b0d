"""`augenmerk evaluate --compare A B`: checkpoints, experiments and finished translations."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from augenmerk.core.cli.main import main
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Beam, Experiment, GivenTarget, HeadScaled
from augenmerk.core.translation.experiment_file import (
    ModelReference,
    SavedExperiment,
    read_experiment_file,
    write_experiment_file,
)
from augenmerk.core.translation.translator import Translator
from tests.core.translators import ENGLISH, GERMAN

NUM_SENTENCES = 6


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """The options that name the data."""
    for name, lines in (("src.de", GERMAN), ("ref.en", ENGLISH)):
        (tmp_path / name).write_text("\n".join(lines[:NUM_SENTENCES]), encoding="utf-8")
    return ["--source", str(tmp_path / "src.de"), "--reference", str(tmp_path / "ref.en")]


def written(path: Path, lines: list[str]) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def compared(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["evaluate", "--json", *arguments]) == 0
    values: dict[str, Any] = json.loads(capsys.readouterr().out)
    return values


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(["evaluate", *arguments]) == 2
    output = capsys.readouterr()
    assert (output.out, "Traceback" in output.err) == ("", False)
    return output.err


@pytest.mark.heavy
def test_a_checkpoint_does_not_differ_from_itself_or_from_its_finished_translations(
    files: list[str],
    untrained_checkpoint: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model, finished = str(untrained_checkpoint), str(tmp_path / "a.txt")
    evaluate = ["evaluate", *files, "--json", "--checkpoint", model, "--hypotheses", finished]
    assert main(evaluate) == 0
    alone = json.loads(capsys.readouterr().out)
    values = compared(capsys, *files, "--compare", model, model)
    assert [score["metric"].split(",")[0] for score in values["scores"]] == [
        "BLEU",
        "sacreBLEU",
        "chrF",
    ]
    for score in values["scores"]:
        assert (score["difference"], score["interval"], score["p_value"]) == (0, [0, 0], 1)
    assert values["most_different"] == []
    assert [score["first"] for score in values["scores"]] == pytest.approx(
        [alone["bleu_tokenized_lowercased"], alone["sacrebleu"], alone["chrf"]]
    )
    values = compared(capsys, *files, "--compare", model, finished)
    assert values["num_different"] == 0
    assert values["systems"][1] == {"file": finished, "model": None}


@pytest.mark.heavy
def test_an_experiment_brings_its_decoding_and_its_changes(
    files: list[str],
    untrained_checkpoint: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    translator = Translator.load(untrained_checkpoint, "cpu")
    change = HeadScaled(Head("cross", 0, 0))
    experiment = Experiment("Ein Mann.", Beam(3, 0.5), (change,))
    saved = SavedExperiment(experiment, ModelReference(translator.name, translator.digest))
    path = tmp_path / "off.augenmerk"
    write_experiment_file(saved, path)
    model = str(untrained_checkpoint)
    options = [*files, "--checkpoint", model, "--compare", model, str(path)]
    plain, changed = compared(capsys, *options)["systems"]
    assert (plain["output"]["type"], plain["interventions"]) == ("greedy", [])
    assert changed["output"] == {"type": "beam", "size": 3, "length_penalty": 0.5}
    assert [part["type"] for part in changed["interventions"]] == ["head_scaled"]
    assert changed["model"]["digest"] == translator.digest


@pytest.mark.heavy
def test_the_sentences_that_differ_most_are_listed_and_open_in_the_window(
    files: list[str],
    untrained_checkpoint: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    finished = written(tmp_path / "a.txt", [*ENGLISH[: NUM_SENTENCES - 1], ""])
    folder = tmp_path / "differences"
    model = str(untrained_checkpoint)
    options = [*files, "--compare", model, finished, "--differences", str(folder)]
    assert main(["evaluate", *options]) == 0
    output = capsys.readouterr()
    assert re.search(r"chrF .*\+\d+\.\d\d to \+\d+\.\d\d +0\.\d{3}\n", output.out)
    assert ENGLISH[0] in output.out
    paths = sorted(folder.iterdir())
    assert len(paths) == 2 * NUM_SENTENCES - 1, "an empty translation cannot be opened"
    assert f"augenmerk app {folder}" in output.err
    digest = Translator.load(untrained_checkpoint, "cpu").digest
    saved = read_experiment_file(folder / "000001-B.augenmerk")
    assert saved.experiment == Experiment(GERMAN[0], GivenTarget(ENGLISH[0]))
    assert saved.model.digest == digest
    assert read_experiment_file(folder / "000001-A.augenmerk").experiment == Experiment(GERMAN[0])
    assert "already contains experiments" in refused(capsys, *options)


def test_two_finished_translations_need_no_model(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = written(tmp_path / "a.txt", ENGLISH[1 : NUM_SENTENCES + 1])
    lines = [
        {"source": source, "translation": text}
        for source, text in zip(GERMAN[:NUM_SENTENCES], ENGLISH, strict=False)
    ]
    second = written(tmp_path / "b.jsonl", [json.dumps(line) for line in lines])
    values = compared(capsys, *files, "--compare", first, second)
    assert [score["metric"].split(",")[0] for score in values["scores"]] == ["sacreBLEU", "chrF"]
    assert values["scores"][0]["second"] == pytest.approx(100)
    lines[2]["source"] = "Ein anderer Satz."
    second = written(tmp_path / "b.jsonl", [json.dumps(line) for line in lines])
    message = refused(capsys, *files, "--compare", first, second)
    assert "b.jsonl, line 3 translates another sentence: 'Ein anderer Satz.'" in message


def test_refused_and_empty_lines_are_counted_as_for_a_checkpoint(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [{"source": source, "error": "The text is too long."} for source in GERMAN]
    first = written(tmp_path / "a.jsonl", list(map(json.dumps, lines[:NUM_SENTENCES])))
    second = written(tmp_path / "b.txt", ["", *ENGLISH[1:NUM_SENTENCES]])
    arguments = ["evaluate", "--json", *files, "--compare", first, second]
    assert main(arguments) == 0
    output = capsys.readouterr()
    assert "A: 6 of 6 sentences are not translated (number 1, 2, 3, 4, 5, 6)." in output.err
    assert "The text is too long." in output.err
    assert "note: A bootstrap of 6 sentences says little" in output.err
    assert "B: 1 of 6 sentences is translated as nothing (number 1)." in output.err
    values = json.loads(output.out)
    assert values["warnings"][0].startswith("A bootstrap of 6 sentences says little")
    notes = values["notes"]
    assert (notes[0]["refused"], notes[1]["empty"]) == ([0, 1, 2, 3, 4, 5], [0])


@pytest.mark.parametrize(
    "members", [{}, {"text": "A man."}, {"translation": "A man.", "error": "too long"}]
)
def test_a_line_that_is_neither_translated_nor_refused_is_named(
    members: dict[str, str],
    files: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = [{"source": source, "translation": "A man."} for source in GERMAN[:NUM_SENTENCES]]
    lines[3] = {"source": GERMAN[3], **members}
    first = written(tmp_path / "a.jsonl", list(map(json.dumps, lines)))
    message = refused(capsys, *files, "--compare", first, first)
    assert "a.jsonl, line 4 has no source with a translation or an error" in message


@pytest.mark.parametrize("line", ["no JSON", "[]", '{"source": "a", "translation": 3}', "[" * 999])
def test_lines_that_are_no_translations_are_refused(
    line: str, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = written(tmp_path / "a.txt", ENGLISH[:NUM_SENTENCES])
    second = written(tmp_path / "b.jsonl", [line] * NUM_SENTENCES)
    assert "b.jsonl, line 1" in refused(capsys, *files, "--compare", first, second)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--compare", "a.txt", "short.txt"], "short.txt has 1 line, but there are 6 sentences"),
        (["--compare", "a.txt", "none.txt"], "There is no file none.txt. Choose a checkpoint"),
        (["--compare", "a.txt", "none.txt"], "or a file of finished translations"),
        (["--compare", "a.txt", "."], ". is a folder. Choose a checkpoint"),
        (["--compare", "a.txt", "empty.txt"], "empty.txt is empty"),
        (["--compare", "a.txt", "a.txt", "--hypotheses", "h.txt"], "--hypotheses applies to one"),
        (["--compare", "a.txt", "a.txt", "--beam", "4"], "--beam has no effect"),
        (["--compare", "a.txt", "a.txt", "--head-off", "cross:1:1"], "no effect on the compared"),
        (["--compare", "a.txt", "a.txt", "--checkpoint", "m"], "--checkpoint has no effect"),
        (["--compare", "a.txt", "a.txt", "--differences", "d"], "--differences needs a model"),
        (["--differences", "d"], "--differences needs two systems"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_a_reason(
    options: list[str],
    message: str,
    files: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "a.txt", ENGLISH[:NUM_SENTENCES])
    written(tmp_path / "short.txt", ENGLISH[:1])
    written(tmp_path / "empty.txt", [])
    assert message in refused(capsys, *files, *options)


def test_missing_references_are_refused(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = written(tmp_path / "a.txt", ENGLISH[:NUM_SENTENCES])
    written(tmp_path / "ref.en", [""] * NUM_SENTENCES)
    assert "There are no references" in refused(capsys, *files, "--compare", first, first)
    (tmp_path / "ref.en").unlink()
    assert "ref.en" in refused(capsys, *files, "--compare", first, first)
