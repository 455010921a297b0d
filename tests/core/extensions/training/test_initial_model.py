"""A run that begins with the weights of a model that was trained already."""

import dataclasses
from pathlib import Path

import pytest
import torch

from augenmerk.core.checkpoint.file import Checkpoint, load_checkpoint, model_digest
from augenmerk.core.cli.main import main
from augenmerk.core.config import RunConfig
from augenmerk.core.errors import CheckpointError, ConfigError
from augenmerk.core.extensions.run_settings.toml_file import read_toml
from augenmerk.core.extensions.training.events import StepDone, TrainingEvent
from augenmerk.core.extensions.training.session import TrainingSession
from augenmerk.core.run_files import BEST, LAST, RUN_SETTINGS
from augenmerk.core.text.word_counts import WordCounts
from tests.builders import command_line
from tests.core.extensions.training.runs import copy_corpus, copy_run, record, text_corpus, text_run

pytestmark = pytest.mark.training

RUN = text_run({"dropout": 0.0}, num_epochs=6)


@pytest.fixture(scope="module")
def initial(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    folder = tmp_path_factory.mktemp("initial")
    record(RUN, folder)
    return load_checkpoint(folder / BEST)


def further(**training: object) -> RunConfig:
    return dataclasses.replace(
        RUN, training=RUN.training.replace(num_epochs=2, learning_rate=1e-4, **training)
    )


@pytest.mark.slow
def test_the_first_step_has_the_weights_of_the_model(initial: Checkpoint) -> None:
    session = TrainingSession(further(), text_corpus(RUN), "cpu")
    session.begin_with(initial)
    for name, parameter in session.model.named_parameters():
        assert torch.equal(parameter, initial.weights[name]), name
    assert session.run.training.initial_model == model_digest(initial)


@pytest.mark.slow
def test_what_was_learned_is_kept_and_the_run_says_where_it_comes_from(
    tmp_path: Path, initial: Checkpoint
) -> None:
    _, anew = record(further(), tmp_path / "anew")
    _, begun = record(further(), tmp_path / "begun", initial=initial)
    assert begun.losses[0] < 0.5 * anew.losses[0]
    assert read_toml(tmp_path / "begun" / RUN_SETTINGS).training.initial_model == model_digest(
        initial
    )
    assert load_checkpoint(tmp_path / "begun" / LAST).run.training.initial_model == model_digest(
        initial
    )


@pytest.mark.slow
def test_it_is_resumed_without_the_model_to_the_last_bit(
    tmp_path: Path, initial: Checkpoint
) -> None:
    _, whole = record(further(), tmp_path / "whole", initial=initial)
    _, first = record(further(), tmp_path / "parts", initial=initial, stop_after=3)
    for settings in (further(), read_toml(tmp_path / "parts" / RUN_SETTINGS)):
        _, second = record(settings, tmp_path / "parts", resume=True, stop_after=3)
        first.events += second.events
    assert first.losses == whole.losses[: len(first.losses)]
    assert len(first.losses) == 9


@pytest.mark.slow
def test_a_run_that_ended_before_its_first_checkpoint_asks_for_the_model_again(
    tmp_path: Path, initial: Checkpoint
) -> None:
    def crash(event: TrainingEvent) -> None:
        if isinstance(event, StepDone):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(further(), tmp_path, initial=initial, on_event=crash)
    own = read_toml(tmp_path / RUN_SETTINGS)
    with pytest.raises(
        ConfigError, match=r"initial_model is [0-9a-f]{64}, but no model was given\. Give its file"
    ):
        record(own, tmp_path, resume=True)
    _, again = record(own, tmp_path, resume=True, initial=initial)
    _, whole = record(further(), tmp_path / "whole", initial=initial)
    assert again.losses == whole.losses


def test_another_dropout_is_no_other_architecture(tmp_path: Path, initial: Checkpoint) -> None:
    run = dataclasses.replace(further(), model=RUN.model.replace(dropout=0.3))
    record(run, tmp_path, initial=initial)
    assert load_checkpoint(tmp_path / LAST).run.model.dropout == 0.3


@pytest.mark.slow
def test_a_model_that_does_not_fit_is_refused_before_anything_is_written(
    tmp_path: Path, initial: Checkpoint
) -> None:
    wider = dataclasses.replace(
        further(), model=RUN.model.replace(feed_forward_width=64, num_heads=2)
    )
    with pytest.raises(
        CheckpointError,
        match="num_heads is 4 there and 2 here; feed_forward_width is 32 there and 64",
    ):
        record(wider, tmp_path / "run", initial=initial)
    with pytest.raises(
        CheckpointError, match="The corpus gives another vocabulary than that of the initial model"
    ):
        record(further(), tmp_path / "run", initial=initial, corpus=text_corpus(RUN, 20))
    with pytest.raises(
        CheckpointError, match=f"begins with the model {'0' * 64}; the one given is"
    ):
        record(further(initial_model="0" * 64), tmp_path / "run", initial=initial)
    assert not (tmp_path / "run" / RUN_SETTINGS).exists()


@pytest.mark.parametrize("digest", ["", "0" * 63, "G" * 64, 5])
def test_a_setting_that_names_no_model_is_refused(digest: object) -> None:
    with pytest.raises(
        ConfigError, match=r"initial_model is .* the 64 hexadecimal digits of a model's digest"
    ):
        RUN.training.replace(initial_model=digest)


@pytest.mark.slow
def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = copy_run()
    record(run, tmp_path / "first", corpus=copy_corpus(run))
    values = {name: value for name, value in run.model.to_dict().items() if value is not None}
    shape = [f"model.{name}={str(value).lower()}" for name, value in values.items()]
    data = ["data.copy_training_pairs=56", "data.copy_validation_pairs=20"]
    settings = [word for setting in (*shape, *data) for word in ("--set", setting)]
    command = [
        *command_line("train --preset copy-task-small"),
        *settings,
        *command_line("--max-steps 2 --device cpu --initial-model"),
    ]
    first = tmp_path / "first" / BEST
    assert main([*command, str(first), "--out", str(tmp_path / "run")]) == 0
    digest = model_digest(load_checkpoint(first))
    assert read_toml(tmp_path / "run" / RUN_SETTINGS).training.initial_model == digest
    assert main([*command, str(tmp_path / "none"), "--out", str(tmp_path / "other")]) != 0
    assert "none" in capsys.readouterr().err


def counts_of(checkpoint: Checkpoint) -> dict[str, int] | None:
    return None if checkpoint.word_counts is None else dict(checkpoint.word_counts.counts)


def test_words_of_the_data_that_it_was_trained_on_before_are_known_too(
    tmp_path: Path, initial: Checkpoint
) -> None:
    corpus = text_corpus(RUN)
    assert corpus.word_counts is not None
    session = TrainingSession(further(), corpus, "cpu")
    session.begin_with(initial)
    assert counts_of(session.snapshot(())) == dict(corpus.word_counts.counts), (
        "the same data: counted once"
    )
    before = WordCounts({"pferd": 7, "ein": 1}, kind="tales")
    of_other_data = dataclasses.replace(initial, corpus_digest="0" * 64, word_counts=before)
    session.begin_with(of_other_data)
    joined = counts_of(session.snapshot(()))
    assert joined == {**dict(corpus.word_counts.counts), "pferd": 7}
    session.begin_with(dataclasses.replace(of_other_data, word_counts=None))
    assert counts_of(session.snapshot(())) is None, "what it has seen before is not known"


@pytest.mark.slow
def test_they_are_still_known_when_the_run_is_resumed(tmp_path: Path, initial: Checkpoint) -> None:
    before = WordCounts({"pferd": 7, "ein": 1}, kind="tales")
    for counts in (before, None):
        folder = tmp_path / str(counts is None)
        model = dataclasses.replace(initial, corpus_digest="0" * 64, word_counts=counts)
        record(further(), folder, initial=model, stop_after=3)
        record(further(), folder, resume=True, stop_after=3)
        known = counts_of(load_checkpoint(folder / LAST))
        assert (known is None) if counts is None else (known is not None and known["pferd"] == 7)
