"""Pairs that are not used are counted, with the reason, wherever a corpus is read."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from augenmerk.core.cli.main import main
from augenmerk.core.config import RunConfig
from augenmerk.core.errors import CorpusError
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.run_settings.toml_file import to_toml
from augenmerk.core.extensions.training.corpora.loading import load_corpus, load_pair
from augenmerk.core.extensions.training.corpora.prepared import save_prepared
from augenmerk.core.extensions.training.folder import read_starts
from tests.builders import command_line
from tests.core.extensions.training.runs import text_run

RUN = preset("notebook")


def run_of(max_length: int | None) -> RunConfig:
    return replace(RUN, data=RUN.data.replace(max_length=max_length))


def write(folder: Path, split: str, number: int, changes: dict[int, tuple[str, str]]) -> None:
    """A split of so many short pairs, some of which are changed, by their lines."""
    pairs = list(
        zip(
            *([f"{text} {n}" for n, text in enumerate([text] * number)] for text in "ab"),
            strict=True,
        )
    )
    for line, pair in changes.items():
        pairs[line - 1] = pair
    folder.mkdir(exist_ok=True)
    for language, side in (("de", 0), ("en", 1)):
        (folder / f"{split}.{language}").write_text(
            "".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8"
        )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """128 pairs, two of them empty and one too long, and ten for validation, one of them too
    long."""
    write(tmp_path / "own", "train", 128, {5: ("", "b"), 9: ("a", " \t"), 57: ("a " * 30, "b")})
    write(tmp_path / "own", "val", 10, {3: ("a", "b " * 40)})
    return tmp_path / "own"


def test_each_split_says_how_many_of_its_pairs_are_used(folder: Path) -> None:
    assert load_corpus(folder, run_of(None)).left_out_note == "126 of 128 pairs: 2 empty"
    corpus = load_corpus(folder, run_of(20))
    assert (
        corpus.left_out_note
        == "125 of 128 pairs: 2 empty, 1 too long; validation: 9 of 10 pairs: 1 too long"
    )
    assert (len(corpus.train), len(corpus.validation), len(corpus.validation_texts)) == (125, 9, 9)
    assert corpus.validation_texts.source[2] == "a 3", "texts and ids are of the same pairs"
    assert corpus.train.lines[3:8] == (4, 6, 7, 8, 10)
    assert corpus.validation.lines == (1, 2, 4, 5, 6, 7, 8, 9, 10)


def test_pairs_held_out_for_validation_are_counted(folder: Path) -> None:
    (folder / "val.de").unlink()
    (folder / "val.en").unlink()
    for corpus in (
        load_corpus(folder, run_of(20)),
        load_pair(folder / "train.de", folder / "train.en", run_of(20)),
    ):
        held_out = len(corpus.validation)
        assert (
            corpus.left_out_note
            == f"119 of 128 pairs: 2 empty, 1 too long, {held_out} held out for validation"
        )
        assert set(corpus.train.lines) | set(corpus.validation.lines) == set(range(1, 129)) - {
            5,
            9,
            57,
        }


def test_a_corpus_that_is_used_whole_says_nothing(tmp_path: Path) -> None:
    write(tmp_path / "own", "train", 20, {})
    write(tmp_path / "own", "val", 10, {})
    assert load_corpus(tmp_path / "own", run_of(20)).left_out_note == ""
    assert load_corpus("copy", preset("copy-task-small")).left_out_note == ""


def test_prepared_data_know_it_too(folder: Path, tmp_path: Path) -> None:
    corpus = load_corpus(folder, run_of(20))
    save_prepared(corpus, tmp_path / "data.safetensors")
    again = load_corpus(tmp_path / "data.safetensors", run_of(20))
    assert (again.left_out_note, again.digest) == (corpus.left_out_note, corpus.digest)


@pytest.mark.parametrize("form", ["files", "gzip", "tsv", "jsonl", "nested", "prepared"])
@pytest.mark.parametrize("is_held_out", [True, False])
def test_all_forms_of_a_corpus_say_the_same(
    folder: Path, tmp_path: Path, form: str, is_held_out: bool
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for split in ("train", "val"):
        sides = [
            (folder / f"{split}.{language}").read_text(encoding="utf-8").splitlines()
            for language in ("de", "en")
        ]
        for language, lines in zip(("de", "en"), sides, strict=True):
            if form == "gzip":
                (other / f"{split}.{language}.gz").write_bytes(
                    gzip.compress("\n".join(lines).encode())
                )
            elif form in ("files", "prepared"):
                (other / f"{split}.{language}").write_text(
                    "\n".join(lines) + "\n", encoding="utf-8"
                )
        objects = [dict(zip(("de", "en"), pair, strict=True)) for pair in zip(*sides, strict=True)]
        if form == "tsv":
            (other / f"{split}.tsv").write_text(
                "".join("\t".join(map(str.strip, pair.values())) + "\n" for pair in objects)
            )
        if form in ("jsonl", "nested"):
            lines = [
                json.dumps(pair if form == "jsonl" else {"translation": pair}) for pair in objects
            ]
            (other / f"{split}.jsonl").write_text("\n".join(lines) + "\n")
    if is_held_out:
        for path in other.glob("val.*"):
            path.unlink()
    source: Path = other
    if form == "prepared":
        save_prepared(load_corpus(other, run_of(None)), tmp_path / "data.safetensors")
        source = tmp_path / "data.safetensors"
    note = load_corpus(source, run_of(20)).left_out_note
    assert note == (
        "119 of 128 pairs: 2 empty, 1 too long, 6 held out for validation"
        if is_held_out
        else "125 of 128 pairs: 2 empty, 1 too long; validation: 9 of 10 pairs: 1 too long"
    )


def test_no_pair_left_for_validation_is_refused(folder: Path) -> None:
    write(folder, "val", 2, {1: ("a", "b " * 40), 2: ("a " * 40, "b")})
    with pytest.raises(
        CorpusError,
        match=r"No validation pair of own is left: all 2 are longer than 20 tokens. Raise",
    ):
        load_corpus(folder, run_of(20))


@pytest.mark.training
def test_the_terminal_and_the_record_of_a_run_say_it(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = replace(text_run(max_steps=1, sample_size=0), data=run_of(20).data)
    (tmp_path / "tiny.toml").write_text(to_toml(run), encoding="utf-8")
    words = command_line(
        "--config {} --data {} --out {} --device cpu",
        tmp_path / "tiny.toml",
        folder,
        tmp_path / "run",
    )
    assert main(["train", *map(str, words)]) == 0
    note = "125 of 128 pairs: 2 empty, 1 too long; validation: 9 of 10 pairs: 1 too long"
    assert capsys.readouterr().err.count(note) == 1
    assert read_starts(tmp_path / "run")[0]["pairs"] == note
    prepared = command_line(
        "data prepare --data {} --preset annotated-2022 --out {}",
        folder,
        tmp_path / "d.safetensors",
    )
    assert main([str(word) for word in prepared]) == 0
    assert "126 of 128 pairs: 2 empty\n" in capsys.readouterr().out
