"""What kind of text a corpus is: told by its sentences."""

import gzip
import shutil
from pathlib import Path

import pytest

from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora import parallel
from augenmerk.core.extensions.training.corpora.loading import load_corpus, load_pair
from augenmerk.core.extensions.training.corpora.parallel import (
    CAPTIONS,
    digest_of,
    kind_of_text,
    read_folder,
    read_pair,
)

RUN = preset("notebook")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus whose German sentences are registered as captions."""
    folder = tmp_path / "anything"
    folder.mkdir()
    german = [f"Hund Nummer {number} rennt." for number in range(40)]
    (folder / "train.de").write_text("\n".join(german), encoding="utf-8")
    (folder / "train.en").write_text("A dog runs.\n" * 40, encoding="utf-8")
    monkeypatch.setattr(parallel, "_KINDS", {digest_of(german): CAPTIONS})
    return folder


def test_a_corpus_is_known_by_its_sentences_whatever_its_folder_is_called(folder: Path) -> None:
    texts = read_folder(folder, "de", "en")
    assert (texts.kind, texts.name) == (CAPTIONS, "anything")
    assert len(texts.train) < 40, "some are held out, and it is known nevertheless"
    corpus = load_corpus(folder, RUN)
    assert corpus.word_counts is not None
    assert corpus.word_counts.kind == CAPTIONS


def test_two_files_are_known_too_and_so_is_the_other_direction(folder: Path) -> None:
    corpus = load_pair(folder / "train.de", folder / "train.en", RUN)
    assert corpus.word_counts is not None
    assert corpus.word_counts.kind == CAPTIONS
    pairs = read_pair(folder / "train.en", folder / "train.de")
    assert kind_of_text(pairs.source, pairs.target) == CAPTIONS


def test_a_corpus_with_other_sentences_is_of_no_known_kind(folder: Path) -> None:
    multi30k = folder.with_name("multi30k")
    shutil.copytree(folder, multi30k)
    with (multi30k / "train.de").open("a", encoding="utf-8") as file:
        file.write("\nNoch ein Satz.")
    with (multi30k / "train.en").open("a", encoding="utf-8") as file:
        file.write("One more.")
    assert read_folder(multi30k, "de", "en").kind == ""


@pytest.mark.corpus
def test_multi30k_is_known(multi30k_folder: Path, tmp_path: Path) -> None:
    pairs = read_pair(multi30k_folder / "train.de.gz", multi30k_folder / "train.en.gz")
    assert kind_of_text(pairs.source) == kind_of_text(pairs.target) == CAPTIONS
    assert kind_of_text(pairs.source[:-1], pairs.target[:-1]) == ""
    (tmp_path / "train.en").write_bytes(
        gzip.decompress((multi30k_folder / "train.en.gz").read_bytes())
    )
    (tmp_path / "train.fr").write_text("Une phrase.\n" * len(pairs), encoding="utf-8")
    assert read_folder(tmp_path, "fr", "en").kind == CAPTIONS, "its English side tells"
