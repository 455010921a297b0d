"""What the commands tell of the words that the training data hardly had."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from augenmerk.core.checkpoint.file import load_checkpoint, save_checkpoint
from augenmerk.core.cli.main import main
from augenmerk.core.extensions.training.averaging import average
from augenmerk.core.extensions.training.corpora.word_counting import count_words
from augenmerk.core.resources import bundled_model_path
from augenmerk.core.text.word_counts import WordCounts
from augenmerk.core.translation.translator import Translator
from tests.builders import command_line

KNOWN = ["ein", "mann", "steht", "auf", "einer", "leiter", "."]


@pytest.fixture
def file(untrained_checkpoint: Path, tmp_path: Path) -> Path:
    counts = count_words([KNOWN] * 6 + [["leiter", "elefant"]], "picture captions")
    path = tmp_path / "knowing.safetensors"
    save_checkpoint(replace(load_checkpoint(untrained_checkpoint), word_counts=counts), path)
    return path


def test_json_lists_the_rare_words(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", "Ein Elefant steht.", "--json", "--checkpoint", str(file)]) == 0
    told = json.loads(capsys.readouterr().out)
    (word,) = told["rare_words"]
    assert (word["text"], word["count"], word["start"], word["end"]) == ("elefant", 1, 2, 3)
    assert (word["pieces"], word["is_unknown"], word["is_exact"]) == (["elefant"], True, True)
    assert told["is_unlike_training"] is False


def test_a_line_of_json_tells_the_same(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", "This is English.", "--jsonl", "--checkpoint", str(file)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [word["text"] for word in told["rare_words"]] == ["this", "is", "english"]
    assert told["is_unlike_training"] is True


def test_text_unlike_the_training_data_is_noted(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["translate", "Kredite verfallen.", "--checkpoint", str(file)]) == 0
    assert "This text has no word that the model can read." in capsys.readouterr().err
    assert main(["translate", "Kredite verfallen ein.", "--checkpoint", str(file)]) == 0
    notice = (
        "augenmerk: note: This model knows picture captions. For other text, import a bigger "
        "model.\n"
    )
    assert notice in capsys.readouterr().err
    assert main(["translate", "This is English.", "--checkpoint", str(file)]) == 0
    assert (
        "augenmerk: note: This looks like English. Enter a German sentence.\n"
        in capsys.readouterr().err
    )
    assert main(["translate", "Ein Mann steht.", "--checkpoint", str(file)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.heavy
def test_left_out_words_are_noted_and_stand_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    text = "Eine alte Frau strickt gemütlich einen Pullover und wartet geduldig auf ihren Sohn."
    assert main(["translate", text, "--checkpoint", str(bundled_model_path())]) == 0
    note = (
        "augenmerk: note: No word of the translation depends on “geduldig”: it was probably left "
        "out.\n"
    )
    assert note in capsys.readouterr().err
    assert main(["translate", text, "--json", "--checkpoint", str(bundled_model_path())]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [word["text"] for word in told["left_out_words"]] == ["gemütlich", "geduldig"]
    assert all(word in told["source_words"] for word in told["left_out_words"])
    assert main(["analyze", text, "--checkpoint", str(bundled_model_path())]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out)["left_out_words"] == ["gemütlich", "geduldig"]
    assert note in output.err
    assert (
        main(
            command_line(
                "align --text {} --head cross:2:5 --checkpoint {}", text, bundled_model_path()
            )
        )
        == 0
    )
    assert note in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.heavy
def test_streams_and_evaluate_note_left_out_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = ["Ein Junge wartet geduldig auf seinen Vater.", "", "Zwei Hunde spielen."]
    lines = "".join(f"{text}\n" for text in texts)
    note = "No word of the translation depends on “geduldig”: it was probably left out.\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    assert main(["translate", "-", "--checkpoint", str(bundled_model_path())]) == 0
    assert f"augenmerk: note: line 1: {note}" in capsys.readouterr().err
    files = tmp_path / "a.de", tmp_path / "a.en"
    for file in files:
        file.write_text(lines, encoding="utf-8")
    for more in ([], ["--json"]):
        command = ["evaluate", "--source", str(files[0]), "--reference", str(files[1]), *more]
        assert main([*command, "--checkpoint", str(bundled_model_path())]) == 0
        output = capsys.readouterr()
        summary = f"note: 1 of 3 sentences is translated with a word left out (number 1). {note}"
        assert (output.out + output.err).count(summary) == 1
    assert json.loads(output.out)["notes"]["left_out"] == [0]


@pytest.mark.heavy
def test_a_file_that_does_not_tell_gives_null(
    untrained_checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = ["--checkpoint", str(untrained_checkpoint)]
    assert main(["translate", "This is English.", "--json", *checkpoint]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["rare_words"], told["is_unlike_training"]) == (None, None)
    assert main(["info", str(untrained_checkpoint)]) == 0
    assert "knows " not in capsys.readouterr().out
    assert main(["info", str(untrained_checkpoint), "--words"]) == 2
    assert "does not contain the word counts of its training data" in capsys.readouterr().err


def test_info_tells_what_is_known(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(file)]) == 0
    assert (
        "\nknows       picture captions: 8 source words, 7 of them 5 times or more\n"
        in capsys.readouterr().out
    )


def test_info_lists_words_with_their_counts(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(file), "--words"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("7\tleiter", "1\telefant", 8)
    assert main(["info", str(file), "--words", "Ein Elefant trompetet dort."]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines() == [
        "6\tein",
        "1\telefant\tonly once in the training data; read as an unknown word (<unk>)",
        "0\ttrompetet\tnot in the training data; read as an unknown word (<unk>)",
        "0\tdort\tnot in the training data; read as an unknown word (<unk>)",
        "6\t.",
    ]
    assert "This model knows picture captions." in told.err


@pytest.fixture
def subword_file(subword_translator: Translator, tmp_path: Path) -> Path:
    counts = WordCounts(
        dict.fromkeys(["ein", "mann", "steht", "auf", "der", "straße"], 6) | {"bär": 2}
    )
    path = tmp_path / "subwords.safetensors"
    save_checkpoint(replace(subword_translator.checkpoint, word_counts=counts), path)
    return path


def test_json_lists_the_words_read_in_another_spelling(
    subword_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["translate", "MANN auf der STRASSE", "--json", "--checkpoint", str(subword_file)])
        == 0
    )
    told = json.loads(capsys.readouterr().out)
    (word,) = told["respelled_words"]
    assert (word["text"], word["read_as"]) == ("strasse", "straße")
    assert {"text": "strasse", "start": word["start"], "end": word["end"]} == told["source_words"][
        3
    ]
    assert told["rare_words"] == []


def test_info_tells_in_which_spelling_words_are_read(
    subword_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", str(subword_file), "--words", "Ein Baer auf der Strasse"]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert lines[4] == ["6", "strasse", "read as “straße”: “strasse” is not in the training data"]
    assert lines[1][:3] == ["2", "baer", "read as “bär”: “baer” is not in the training data"]
    assert lines[1][3].startswith("only 2 times in the training data")


def test_words_of_a_text_that_cannot_be_read_are_refused(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", str(file), "--words", "   "]) == 2
    assert "nothing to translate" in capsys.readouterr().err


def test_a_mean_of_checkpoints_knows_what_the_last_knows(
    file: Path, untrained_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            command_line(
                "average {} {} --half --out {}", untrained_checkpoint, file, tmp_path / "mean"
            )
        )
        == 0
    )
    counts, original = (
        load_checkpoint(tmp_path / "mean").word_counts,
        load_checkpoint(file).word_counts,
    )
    assert counts is not None
    assert original is not None
    assert dict(counts.counts) == dict(original.counts)
    assert average([file, untrained_checkpoint]).word_counts is None
