"""A corpus that does not fit the settings: all misfits are said at once, before anything starts,
with a way out."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from augenmerk.core.cli.main import main
from augenmerk.core.config import RunConfig
from augenmerk.core.errors import ConfigError
from augenmerk.core.extensions.run_settings.dotted import with_dotted
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.checks import check_corpus_fits
from augenmerk.core.extensions.training.corpora.loading import load_corpus
from augenmerk.core.extensions.training.corpora.parallel import SentencePairs
from augenmerk.core.extensions.training.corpora.prepared import prepare, save_prepared
from augenmerk.core.extensions.training.events import MisfitError, Proposal
from augenmerk.core.extensions.training.inputs import read_corpus
from tests.builders import command_line
from tests.core.extensions.training.runs import (
    copy_corpus,
    copy_run,
    record,
    sentences,
    text_corpus,
    text_run,
)

SMALL = {
    "model.width": 16,
    "model.num_heads": 2,
    "model.num_encoder_layers": 1,
    "model.num_decoder_layers": 1,
}
SHAPE = [f"{name}={value}" for name, value in (SMALL | {"model.feed_forward_width": 16}).items()]
RUN = with_dotted(
    preset("multi30k"), [*SHAPE, "model.max_positions=40", "training.batch_size=9000"]
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """128 pairs, of which the one in line 57 is long; validation pairs are held out."""
    folder, pairs = tmp_path / "own", sentences(128)
    folder.mkdir()
    for language, lines in (("de", list(pairs.source)), ("en", list(pairs.target))):
        lines[56] = " ".join(lines[:20])
        (folder / f"train.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def misfit(run: RunConfig, source: Path, tmp_path: Path) -> MisfitError:
    with pytest.raises(MisfitError) as caught:
        check_corpus_fits(run, read_corpus(run, tmp_path / "run", source))
    return caught.value


def proposal_of(error: MisfitError) -> Proposal:
    assert error.proposal is not None
    return error.proposal


def corrected(run: RunConfig, error: MisfitError) -> RunConfig:
    return with_dotted(
        run, [f"{name}={value}" for name, value in proposal_of(error).settings.items()]
    )


def test_vocabulary_positions_and_batch_are_refused_together_and_all_corrections_fit(
    folder: Path, tmp_path: Path
) -> None:
    error = misfit(RUN, folder, tmp_path)
    said = str(error)
    assert (
        "8,000 subwords cannot be learned from this text: it has pieces for 26 to 159, but "
        "nearly all of" in said
    )
    phases: list[str] = []
    with pytest.raises(MisfitError):
        read_corpus(RUN, tmp_path / "run", folder, on_phase=phases.append)
    assert phases.count("Learning subwords") == 1
    assert "src/" not in said, "no line of a C++ file"
    assert "Line 57 of the training text has" in said
    assert "the model has 40 positions" in said
    assert "batch_size is 9,000 tokens, but the training split of own has only" in said
    settings = proposal_of(error).settings
    assert settings.keys() == {"data.num_subwords", "data.max_length", "training.batch_size"}
    assert settings["data.max_length"] == 38
    assert said.endswith(" ".join(f"--set {name}={value}" for name, value in settings.items()))
    run = corrected(RUN, error)
    corpus = read_corpus(run, tmp_path / "run", folder)
    check_corpus_fits(run, corpus)
    assert corpus.left_out.too_long == 1
    assert len(corpus.codecs.source.vocabulary) == settings["data.num_subwords"]


@pytest.mark.training
def test_the_options_of_the_message_start_the_run(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shape = [word for setting in (*SHAPE, "model.max_positions=40") for word in ("--set", setting)]
    words = command_line(
        "--preset multi30k --data {} --out {} --device cpu --max-steps 1", folder, tmp_path / "run"
    )
    assert main(["train", *map(str, words), *shape]) == 2
    options = shlex.split(capsys.readouterr().err.strip().rpartition(": --set ")[2])
    assert not (tmp_path / "run").exists()
    assert main(["train", *map(str, words), *shape, "--set", *options]) == 0


def test_too_few_subwords_for_the_characters_are_refused_too(folder: Path, tmp_path: Path) -> None:
    run = replace(RUN, data=RUN.data.replace(num_subwords=9))
    error = misfit(run, folder, tmp_path)
    assert "9 subwords cannot be learned from this text: its characters alone need 26" in str(error)
    check_corpus_fits(
        corrected(run, error), read_corpus(corrected(run, error), tmp_path / "run", folder)
    )


def test_a_long_validation_sentence_is_named_and_its_correction_helps(
    folder: Path, tmp_path: Path
) -> None:
    pairs, run = sentences(9, seed=4), text_run({"max_positions": 12}, batch_size=4)
    for language, lines in (("de", list(pairs.source)), ("en", list(pairs.target))):
        lines[4] = " ".join(lines)
        (folder / f"val.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    error = misfit(run, folder, tmp_path)
    assert "Line 57 of the training text has" in str(error)
    assert "Line 5 of the validation text has" in str(error)
    assert proposal_of(error).settings == {"data.max_length": 10}
    check_corpus_fits(
        corrected(run, error), read_corpus(corrected(run, error), tmp_path / "run", folder)
    )


def test_a_held_out_sentence_is_named_by_its_line_in_the_training_text(tmp_path: Path) -> None:
    run = text_run({"max_positions": 12}, batch_size=4)
    held_out = load_corpus(written(tmp_path / "first", sentences(60)), run).validation.lines[0]
    pairs = sentences(60)
    source = list(pairs.source)
    source[held_out - 1] = " ".join(source[:9])
    folder = written(tmp_path / "second", SentencePairs(tuple(source), pairs.target))
    said = str(misfit(run, folder, tmp_path))
    assert f"Line {held_out} of the training text, held out for validation, has" in said


def written(folder: Path, pairs: SentencePairs) -> Path:
    folder.mkdir()
    for language, lines in (("de", pairs.source), ("en", pairs.target)):
        (folder / f"train.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_prepared_data_are_limited_without_preparing_them_again(
    folder: Path, tmp_path: Path
) -> None:
    run = text_run({"max_positions": 12}, batch_size=4)
    save_prepared(load_corpus(folder, run), tmp_path / "data.safetensors")
    error = misfit(run, tmp_path / "data.safetensors", tmp_path)
    assert "Pair" in str(error)
    again = load_corpus(tmp_path / "data.safetensors", corrected(run, error))
    assert again.digest == load_corpus(folder, corrected(run, error)).digest
    assert again.left_out.too_long == 1
    assert len(again.validation_texts) == len(again.validation)


def test_every_pair_too_long_is_one_misfit_of_several(folder: Path, tmp_path: Path) -> None:
    run = with_dotted(RUN, ["model.max_positions=6"], [])
    error = misfit(run, folder, tmp_path)
    said = str(error)
    assert "8,000 subwords cannot be learned" in said
    assert re.search(
        r"Line 57 of the .* has \d+ tokens, but the model has 6 positions, and every .* pair is longer",
        said,
    )
    assert "model.max_positions" in proposal_of(error).settings
    check_corpus_fits(
        corrected(run, error), read_corpus(corrected(run, error), tmp_path / "run", folder)
    )


def test_every_pair_too_long_for_a_model_to_train_further_asks_for_shorter_ones() -> None:
    run = text_run({"max_positions": 4}, batch_size=4)
    with pytest.raises(
        ConfigError, match=r"every training pair is longer\. Use shorter sentences, or"
    ) as caught:
        check_corpus_fits(run, text_corpus(run), keeps_model=True)
    assert not isinstance(caught.value, MisfitError)


@pytest.mark.parametrize("num_pairs", [2, 3, 10, 128])
@pytest.mark.parametrize(
    "setting", ["model.max_positions=6", "data.max_length=1", "model.max_positions=11"]
)
@pytest.mark.parametrize("name", ["multi30k", "notebook", "annotated-2018", "annotated-2022"])
def test_one_correction_is_enough(name: str, setting: str, num_pairs: int, tmp_path: Path) -> None:
    run = with_dotted(preset(name), [*SHAPE, setting])
    source = written(tmp_path / "own", sentences(num_pairs))
    error = misfit(run, source, tmp_path)
    check_corpus_fits(
        corrected(run, error), read_corpus(corrected(run, error), tmp_path / "run", source)
    )


def test_a_length_limit_is_named_as_it_was_typed(folder: Path, tmp_path: Path) -> None:
    """Its correction for training pairs is too short for the validation pairs."""
    written_pairs = sentences(4, seed=4)
    for language, lines in (("de", written_pairs.source), ("en", written_pairs.target)):
        (folder / f"val.{language}").write_text(
            "\n".join([" ".join(lines)] * 2) + "\n", encoding="utf-8"
        )
        (folder / f"train.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run = with_dotted(text_run(batch_size=2), ["data.max_length=1"])
    error = misfit(run, folder, tmp_path)
    assert str(error).count("longer than 1 tokens") == 1
    assert "longer than" not in str(error).replace("longer than 1 tokens", "")
    check_corpus_fits(
        corrected(run, error), read_corpus(corrected(run, error), tmp_path / "run", folder)
    )


def test_padding_and_batches_of_the_copy_task_are_corrected(tmp_path: Path) -> None:
    run = copy_run({"max_positions": 9}, pad_to=12, batch_size=57)
    with pytest.raises(MisfitError) as caught:
        check_corpus_fits(run, copy_corpus(run))
    said = str(caught.value)
    assert "pad_to is 12 tokens, but the model has only 9 positions" in said
    assert "The sequences of the copy task have 10 symbols, but the model has 9 positions" in said
    assert (
        "batch_size is 57 sentence pairs, but the training split of copy task has only 56" in said
    )
    run = corrected(run, caught.value)
    assert (run.data.copy_length, run.training.pad_to) == (9, 9)
    check_corpus_fits(run, copy_corpus(run))


@pytest.mark.training
def test_a_resumed_run_gets_no_other_settings_proposed(tmp_path: Path) -> None:
    run = text_run({"max_positions": 12}, batch_size=4, max_steps=1)
    record(run, tmp_path / "run")
    longer = SentencePairs(("ein mann " * 9, *["ein mann"] * 8), ("a man " * 9, *["a man"] * 8))
    codecs = text_corpus(run).codecs
    corpus = prepare("longer", run.data, longer, longer, lambda text: None, codecs=codecs)
    with pytest.raises(ConfigError, match="Resume with the original data") as caught:
        record(run, tmp_path / "run", corpus=corpus, resume=True)
    assert "--set" not in str(caught.value)


def test_preparing_data_says_it_without_a_line_of_c(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare_it = command_line(
        "data prepare --data {} --out {}", folder, tmp_path / "data.safetensors"
    )
    assert main(prepare_it) == 2
    said = capsys.readouterr().err
    options = re.findall(r"--set (\S+=\w+)", said)
    assert [main([*prepare_it, "--set", option]) for option in options] == [0], (
        "whole words would need other ties"
    )
    assert "src/" not in said
    assert (
        "it has pieces for 26 to 159, but nearly all of the last occur only once. Use fewer "
        "(--set data." in said
    )
    assert "data.num_subwords=64)" in said
