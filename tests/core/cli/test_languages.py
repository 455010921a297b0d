"""Languages are a property of the data and of the model: nothing is stored or called German or
English that is not."""

from pathlib import Path

import pytest

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.cli.main import main
from augenmerk.core.config import ModelConfig
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.run_settings.toml_file import to_toml
from augenmerk.core.extensions.training.corpora.prepared import load_prepared
from augenmerk.core.text.languages import (
    a_sentence_in,
    language_code,
    language_name,
    two_letter_code,
)
from tests.builders import command_line

FRENCH = ("un homme dort .", "une femme dort .", "un chien court .", "l'homme court .") * 4
ITALIAN = ("un uomo dorme .", "una donna dorme .", "un cane corre .", "l'uomo corre .") * 4
GERMAN = ("ein mann schläft .", "eine frau schläft .", "ein hund läuft .", "der mann läuft .") * 4


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "corpus"
    made.mkdir()
    for split in ("train", "val"):
        for language, lines in (("de", GERMAN), ("fr", FRENCH), ("it", ITALIAN)):
            (made / f"{split}.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return made


@pytest.mark.slow
def test_a_corpus_is_prepared_in_its_languages(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder / "prepared.safetensors"
    prepare = ["data", "prepare", "--data", str(folder), "--preset", "notebook", "--out", str(out)]
    assert main(prepare) == 2
    assert "Add train.en or train.en.gz" in capsys.readouterr().err
    assert main([*prepare, "--source-language", "fr", "--target-language", "de"]) == 0
    config = load_prepared(out).config
    assert (config.source_language, config.target_language) == ("fr", "de")
    words = load_prepared(out).codecs.source.vocabulary.tokens
    assert "l'" in words  # spaCy's rules for French


@pytest.mark.training
def test_a_run_is_stored_and_shown_in_its_languages(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Italian: to import spaCy's rules for French takes 4 seconds."""
    base = preset("notebook")
    small = ModelConfig(
        width=16, num_heads=2, num_encoder_layers=1, num_decoder_layers=1, feed_forward_width=16
    )
    settings = folder / "small.toml"
    settings.write_text(_with_model(to_toml(base), small), encoding="utf-8")
    out = folder / "run"
    train = ["train", "--config", str(settings), "--data", str(folder), "--max-steps", "2"]
    train += ["--batch-size", "4", "--device", "cpu", "--out", str(out)]
    assert main([*train, "--source-language", "de", "--target-language", "it"]) == 0
    checkpoint = load_checkpoint(out / "last.safetensors")
    assert checkpoint.run.data.target_language == "it"
    assert checkpoint.codecs.target.language == "it"
    capsys.readouterr()
    assert main(["info", str(out / "last.safetensors")]) == 0
    assert "languages   German to Italian" in capsys.readouterr().out
    assert main(["translate", " ", "--checkpoint", str(out / "last.safetensors")]) == 2
    assert "Enter a German sentence" in capsys.readouterr().err
    assert (
        main(
            command_line(
                "translate {} --target {} --checkpoint {}",
                "ein mann",
                " ",
                out / "last.safetensors",
            )
        )
        == 2
    )
    assert "Enter an Italian sentence" in capsys.readouterr().err


def _with_model(text: str, model: ModelConfig) -> str:
    lines = []
    for line in text.splitlines():
        name = line.partition(" = ")[0]
        sizes = (
            "width",
            "num_heads",
            "num_encoder_layers",
            "num_decoder_layers",
            "feed_forward_width",
        )
        lines.append(f"{name} = {getattr(model, name)}" if name in sizes else line)
    return "\n".join(lines) + "\n"


def test_the_copy_task_has_no_languages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = command_line(
        "train --preset copy-task-small --out {} --target-language fr", tmp_path / "run"
    )
    assert main(copy) == 2
    assert "copies symbols and has no languages" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.heavy
def test_a_language_that_spacy_does_not_know_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "train.qq").write_text("\n".join(GERMAN) + "\n", encoding="utf-8")
    (folder / "val.qq").write_text("\n".join(GERMAN) + "\n", encoding="utf-8")
    prepare = command_line(
        "data prepare --data {} --out {} --target-language qq", folder, folder / "x"
    )
    assert main(prepare) == 2
    assert (
        "target_language is 'qq'. Use a language code such as de or en" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("code", "name", "expected"),
    [
        ("de", "German", "a German sentence"),
        ("eng", "English", "an English sentence"),
        ("pt_BR", "Portuguese", "a Portuguese sentence"),
        ("und", "und", "a sentence"),
        ("ROMANCE", "Romance languages", "a sentence"),
    ],
)
def test_languages_have_names(code: str, name: str, expected: str) -> None:
    assert language_name(code) == name
    assert a_sentence_in(code) == expected


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        *(
            (" German ", "de"),
            ("norwegian", "no"),
            ("deu", "deu"),
            ("pt-BR", "pt-BR"),
            ("zho_Hans", "zho_Hans"),
        ),
        *(("ROMANCE", "ROMANCE"), ("NORTH_EU", "NORTH_EU"), ("kmr", "kmr")),
        *((typed, None) for typed in ("", "Deutsch", "f r", "d", ">>fra<<", "../de", "français")),
    ],
)
def test_a_language_is_typed_by_its_code_or_its_english_name(typed: str, code: str | None) -> None:
    assert language_code(typed) == code


def test_codes_become_those_of_two_letters_where_there_are_any() -> None:
    assert [two_letter_code(code) for code in ("deu", "de-AT", "zho_Hans", "und", "gmw")] == [
        *("de", "de", "zh", "und", "gmw")
    ]
