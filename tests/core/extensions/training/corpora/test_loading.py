"""What a user names becomes a corpus, or a message."""

import dataclasses
from pathlib import Path

import pytest

from augenmerk.core.config import RunConfig
from augenmerk.core.errors import ConfigError, CorpusError
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora import multi30k
from augenmerk.core.extensions.training.corpora.loading import (
    describe_progress,
    load_corpus,
    load_pair,
)
from augenmerk.core.extensions.training.corpora.prepared import save_prepared

NUMBER = 60
GERMAN = [f"Satz {index} ein Mann ." for index in range(NUMBER)]
ENGLISH = [f"sentence {index} a man ." for index in range(NUMBER)]
NOTEBOOK = preset("notebook")


def with_seed(seed: int) -> RunConfig:
    return RunConfig.from_dict(NOTEBOOK.to_dict() | {"training": {"seed": seed}})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "train.de").write_text("\n".join(GERMAN) + "\n", encoding="utf-8")
    (folder / "train.en").write_text("\n".join(ENGLISH) + "\n", encoding="utf-8")
    return folder


def test_a_folder_is_read_and_prepared_and_each_phase_is_said(folder: Path) -> None:
    phases: list[str] = []
    corpus = load_corpus(folder, NOTEBOOK, phases.append)
    assert corpus.name == "corpus"
    assert (len(corpus.train), len(corpus.validation)) == (57, 3)
    assert phases == [
        f"Reading {folder}: train.de, train.en",
        "Tokenizing 57 sentence pairs",
        "Building vocabularies",
        "Turning words into numbers",
    ]


def test_two_sides_in_one_language_are_refused(folder: Path) -> None:
    run = dataclasses.replace(
        NOTEBOOK, data=NOTEBOOK.data.replace(source_language="de", target_language="de")
    )
    for source in folder, (folder / "train.de", folder / "train.en"):
        with pytest.raises(
            ConfigError, match=r"source and the target are both German: .* Choose two languages"
        ):
            load_corpus(source, run)


def test_a_path_can_be_given_as_text(folder: Path) -> None:
    assert len(load_corpus(str(folder), NOTEBOOK).train) == 57


def test_a_prepared_file_is_read(folder: Path, tmp_path: Path) -> None:
    corpus = load_corpus(folder, NOTEBOOK)
    save_prepared(corpus, tmp_path / "data.safetensors")
    phases: list[str] = []
    again = load_corpus(tmp_path / "data.safetensors", NOTEBOOK, phases.append)
    assert again.train.source == corpus.train.source
    assert phases == ["Reading data.safetensors"]


def test_a_file_prepared_with_other_settings_is_refused_and_they_are_named(
    folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "data.safetensors"
    save_prepared(load_corpus(folder, NOTEBOOK), path)
    with pytest.raises(CorpusError) as caught:
        load_corpus(path, preset("annotated-2018"))
    message = str(caught.value)
    assert f"{path} was prepared with other settings than the preset annotated-2018 has" in message
    for difference in ("source_case is lower, not keep", "wrap_source is True, not False"):
        assert difference in message
    assert "min_frequency" not in message, "this one is the same"
    assert "max_length" not in message, "longer pairs would be left out"
    save_prepared(load_corpus(folder, preset("annotated-2018")), path)
    longer = dataclasses.replace(
        preset("annotated-2018"), data=preset("annotated-2018").data.replace(max_length=None)
    )
    with pytest.raises(CorpusError, match="max_length is 100, not None"):
        load_corpus(path, longer)
    assert "Prepare it again with --preset annotated-2018" in message


def test_a_pair_of_files_is_prepared(folder: Path) -> None:
    corpus = load_pair(folder / "train.de", folder / "train.en", NOTEBOOK)
    assert (len(corpus.train), len(corpus.validation)) == (57, 3)


def test_what_is_held_out_does_not_depend_on_the_seed_of_the_run(folder: Path) -> None:
    """Two runs with different seeds can be compared, and a resumed or averaged one never trains on
    its validation."""
    texts = {
        corpus.validation_texts.source
        for seed in (1, 2, 1234)
        for corpus in (
            load_corpus(folder, with_seed(seed)),
            load_pair(folder / "train.de", folder / "train.en", with_seed(seed)),
        )
    }
    assert len(texts) == 1


def test_the_copy_task_makes_its_own() -> None:
    corpus = load_corpus("copy", preset("copy-task-small"))
    assert len(corpus.train) == 1800
    assert corpus.name == "copy task"


def test_preset_and_corpus_must_fit(folder: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"notebook cannot learn from copy\. Choose sentence pairs"
    ):
        load_corpus("copy", NOTEBOOK)
    for load in (
        lambda run: load_corpus(folder, run),
        lambda run: load_pair(folder / "train.de", folder / "train.en", run),
    ):
        with pytest.raises(
            ConfigError, match=r"copy-task cannot learn from .*\. Choose the word copy"
        ):
            load(preset("copy-task"))


def test_a_path_where_nothing_is_gets_a_message_that_names_both_kinds(tmp_path: Path) -> None:
    with pytest.raises(CorpusError) as caught:
        load_corpus(tmp_path / "corpsu", NOTEBOOK)
    message = str(caught.value)
    assert f"Nothing readable was found at {tmp_path / 'corpsu'}" in message
    assert (
        "a folder with train.de and train.en, a file of sentence pairs (TSV or JSON lines)"
        in message
    )
    assert "or a file of prepared data" in message
    assert "Check the path" in message


def test_a_path_where_one_may_not_look_is_refused_too(folder: Path, permissions_withheld) -> None:
    with permissions_withheld(folder, 0o000), pytest.raises(CorpusError, match="no permission"):
        load_corpus(folder / "deeper", NOTEBOOK)


def test_the_name_multi30k_fetches_it_and_says_how_far_it_is(
    folder: Path, tmp_path: Path, monkeypatch
) -> None:
    def download(*, on_progress, should_stop) -> Path:
        on_progress(multi30k.DownloadProgress("train.de.gz", 500_000, 2_000_000))
        assert not should_stop()
        return folder

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(multi30k, "download", download)
    phases: list[str] = []
    corpus = load_corpus("multi30k", NOTEBOOK, phases.append)
    assert len(corpus.train) == 57
    assert phases[:3] == [
        "Downloading Multi30k",
        "Downloading Multi30k: train.de.gz, 0.5 of 2.0 MB",
        f"Reading {folder}: train.de, train.en",
    ]


def test_progress_of_unknown_size_says_what_is_there() -> None:
    assert (
        describe_progress(multi30k.DownloadProgress("f", 1_200_000, 0))
        == "Downloading Multi30k: f, 1.2 MB"
    )


@pytest.mark.parametrize("num_subwords", [None, 60])
def test_other_text_is_read_with_the_vocabularies_of_a_model(
    folder: Path, tmp_path: Path, num_subwords: int | None
) -> None:
    run = dataclasses.replace(NOTEBOOK, data=NOTEBOOK.data.replace(num_subwords=num_subwords))
    known = load_corpus(folder, run)
    for language, lines in (("de", GERMAN), ("en", ENGLISH)):
        other = [line.replace("ein", "kein").replace("man", "ant") + " ☃" for line in lines]
        (tmp_path / f"train.{language}").write_text("\n".join(other) + "\n", encoding="utf-8")
    phases: list[str] = []
    of_folder = load_corpus(tmp_path, run, phases.append, codecs=known.codecs)
    of_pair = load_pair(tmp_path / "train.de", tmp_path / "train.en", run, codecs=known.codecs)
    assert not [phase for phase in phases if phase.startswith(("Learning", "Building"))]
    for corpus in (of_folder, of_pair):
        assert corpus.codecs is known.codecs
        for codec, sentences in (
            (corpus.codecs.source, corpus.train.source),
            (corpus.codecs.target, corpus.train.target),
        ):
            assert all(codec.vocabulary.unknown_id in ids for ids in sentences), "of ☃"
        assert corpus.word_counts is not None
        assert corpus.word_counts.of("kein") == len(corpus.train), "counted as in any text"
        assert corpus.digest != known.digest
    assert of_folder.digest == of_pair.digest
    save_prepared(load_corpus(tmp_path, run), tmp_path / "data.safetensors")
    prepared = load_corpus(tmp_path / "data.safetensors", run, codecs=known.codecs)
    assert prepared.codecs.to_dict() != known.codecs.to_dict(), (
        "what is numbers already keeps its vocabularies"
    )


def test_the_text_of_a_model_gives_the_corpus_that_it_was_trained_on(folder: Path) -> None:
    corpus = load_corpus(folder, NOTEBOOK)
    assert load_corpus(folder, NOTEBOOK, codecs=corpus.codecs).digest == corpus.digest
