"""A training that cannot go on says what to try, and can go on with that."""

from pathlib import Path
from typing import Any

import pytest
import torch

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.config import TrainingConfig
from augenmerk.core.errors import CheckpointError, ConfigError
from augenmerk.core.extensions.run_settings.toml_file import read_toml
from augenmerk.core.extensions.training.events import (
    DivergedError,
    Noted,
    OutOfMemoryError,
    StepDone,
    lower_rate,
    smaller_batches,
)
from augenmerk.core.extensions.training.loss import Gradients
from augenmerk.core.extensions.training.session import TrainingSession
from augenmerk.core.memory import is_out_of_memory
from augenmerk.core.run_files import BEST, HISTORY, LAST, RUN_SETTINGS
from tests.core.extensions.training.runs import copy_corpus, copy_run, record, text_run

pytestmark = pytest.mark.training


def failing_at(monkeypatch: pytest.MonkeyPatch, call: int, error: Exception | None) -> None:
    """Makes loss number `call` raise `error`, or be no number if there is none."""
    original, calls = Gradients._backward, 0

    def failing(self: Gradients, batch: Any, weight: float) -> torch.Tensor:
        nonlocal calls
        calls += 1
        if calls == call and error is not None:
            raise error
        return original(self, batch, weight * (float("nan") if calls == call else 1))

    monkeypatch.setattr(Gradients, "_backward", failing)


def test_a_diverged_run_proposes_a_lower_rate_and_goes_on_with_it(
    tmp_path: Path, monkeypatch
) -> None:
    run = copy_run(schedule="constant", learning_rate=1e-3, checkpoint_steps=2, num_epochs=1)
    failing_at(monkeypatch, 6, None)
    with pytest.raises(DivergedError, match="At step 6 the loss became nan") as caught:
        record(run, tmp_path / "run")
    monkeypatch.undo()
    error = caught.value
    assert error.resumable_checkpoint == tmp_path / "run" / LAST
    assert error.proposal is not None
    assert dict(error.proposal.changes) == {"learning_rate": 5e-4, "clip_norm": 1.0}
    assert "a learning rate of 0.0005 instead of 0.001" in str(error)
    assert "--resume --change learning_rate=0.0005 --change clip_norm=1" in str(error)
    finished, said = record(run, tmp_path / "run", resume=True, changes=error.proposal.changes)
    assert finished.reason == "completed"
    assert [(step.step, step.learning_rate) for step in said.of(StepDone)] == [
        (5, 5e-4),
        (6, 5e-4),
        (7, 5e-4),
    ]
    assert load_checkpoint(tmp_path / "run" / LAST).run.training.learning_rate == 5e-4
    with pytest.raises(
        CheckpointError,
        match=r"learning_rate was 0.0005 and is now 0.001.*--change learning_rate=0.001",
    ):
        record(run, tmp_path / "run", resume=True)


def test_before_the_first_checkpoint_there_is_nothing_to_go_on_from(
    tmp_path: Path, monkeypatch
) -> None:
    failing_at(monkeypatch, 2, None)
    with pytest.raises(
        DivergedError, match=r"Start again with a Noam factor of 0\.5 instead of 1"
    ) as caught:
        record(copy_run(), tmp_path / "run")
    assert caught.value.resumable_checkpoint is None


def test_a_run_that_explodes_ends_before_it_saves(tmp_path: Path) -> None:
    """Its loss is a hundred times that of a model that knows nothing, but still a number."""
    run = copy_run(schedule="constant", learning_rate=30.0, num_epochs=2, sample_size=0)
    with pytest.raises(
        DivergedError, match=r"At step 7 the loss was .*, above the limit of"
    ) as caught:
        record(run, tmp_path / "run")
    assert caught.value.resumable_checkpoint is None
    assert not (tmp_path / "run" / LAST).exists()
    assert not (tmp_path / "run" / BEST).exists()


@pytest.mark.slow
def test_a_change_that_fails_leaves_the_run_as_it_was(tmp_path: Path) -> None:
    run = copy_run(schedule="constant", learning_rate=1e-3, num_epochs=3, sample_size=0)
    _, whole = record(run, tmp_path / "whole")
    record(run, tmp_path / "run", stop_after=9)
    files = [tmp_path / "run" / name for name in (LAST, BEST, RUN_SETTINGS, HISTORY)]
    before = [path.read_bytes() for path in files]
    with pytest.raises(DivergedError, match="the loss was"):
        record(run, tmp_path / "run", resume=True, changes={"learning_rate": 100.0})
    assert [path.read_bytes() for path in files] == before
    _, said = record(run, tmp_path / "run", resume=True)
    assert said.losses == whole.losses[9:]
    record(run, tmp_path / "run", resume=True, changes={"learning_rate": 1e-4})
    assert read_toml(tmp_path / "run" / RUN_SETTINGS).training.learning_rate == 1e-4


def test_absurd_weights_are_not_saved_whatever_the_loss_was() -> None:
    run = copy_run()
    session = TrainingSession(run, copy_corpus(run), "cpu")
    session.require_sound_weights()
    parameter = next(iter(session.model.parameters()))
    with torch.no_grad():
        parameter.flatten()[0] = -1e5
    with pytest.raises(DivergedError, match=r"contain values of 1e\+05, above the limit of 10000"):
        session.require_sound_weights()
    with torch.no_grad():
        parameter.flatten()[0] = float("nan")
    with pytest.raises(DivergedError, match="not finite"):
        session.require_sound_weights()


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.\nmore lines"),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:73] . DefaultCPUAllocator: can't allocate memory: "
            "you tried to"
        ),
        RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)"),
        MemoryError(),
    ],
)
@pytest.mark.slow
def test_memory_used_up_proposes_smaller_batches_that_learn_the_same(
    tmp_path: Path, monkeypatch, error: Exception
) -> None:
    run = copy_run({"dropout": 0.0}, checkpoint_steps=2, num_epochs=2, sample_size=0)
    _, whole = record(run, tmp_path / "whole")
    failing_at(monkeypatch, 9, error)
    with pytest.raises(OutOfMemoryError, match="At step 9 there was not enough memory") as caught:
        record(run, tmp_path / "run")
    monkeypatch.undo()
    proposal = caught.value.proposal
    assert proposal is not None
    assert dict(proposal.changes) == {"batch_size": 4, "num_accumulated": 2}
    assert caught.value.__context__ is None, "else its frames would keep the memory"
    finished, said = record(run, tmp_path / "run", resume=True, changes=proposal.changes)
    assert (finished.reason, finished.step) == ("completed", 15), (
        "epoch 2 starts again after step 8"
    )
    (note,) = said.of(Noted)
    assert note.text == "The batches are different now, so epoch 2 starts again."
    assert {step.num_tokens for step in said.of(StepDone)} == {
        step.num_tokens for step in whole.of(StepDone)
    }


def test_other_errors_are_left_as_they_are(tmp_path: Path, monkeypatch) -> None:
    failing_at(monkeypatch, 2, RuntimeError("a mistake in the code"))
    with pytest.raises(RuntimeError, match="a mistake in the code"):
        record(copy_run(), tmp_path / "run")
    assert not is_out_of_memory(ValueError("out of range"))


def test_a_batch_of_one_cannot_be_halved() -> None:
    assert smaller_batches(TrainingConfig(batch_size=1)) is None
    assert dict(smaller_batches(TrainingConfig(batch_size=5, num_accumulated=3)).changes) == {  # type: ignore[union-attr]
        "batch_size": 2,
        "num_accumulated": 6,
    }


def test_what_is_clipped_already_is_left_so() -> None:
    assert dict(lower_rate(TrainingConfig(clip_norm=0.5)).changes) == {"learning_rate": 2.5e-4}
    assert dict(lower_rate(TrainingConfig(clip_norm=0.5, schedule="noam")).changes) == {
        "noam_factor": 0.5
    }


def test_proposals_are_settings_that_a_run_takes() -> None:
    for training in (TrainingConfig(), TrainingConfig(schedule="noam")):
        for proposal in (lower_rate(training), smaller_batches(training)):
            assert proposal is not None
            assert training.replace(**proposal.changes) != training


class TestChanges:
    def test_a_change_that_is_refused_leaves_the_run_alone(self, tmp_path: Path) -> None:
        record(copy_run(max_steps=1), tmp_path / "run")
        before = {
            path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()
        }
        for changes, said in (
            ({"learning_rate": 0}, "learning_rate is 0"),
            ({"rate": 1}, "no setting 'rate'"),
        ):
            with pytest.raises(ConfigError, match=said):
                record(copy_run(), tmp_path / "run", resume=True, changes=changes)
        assert before == {
            path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()
        }

    def test_the_shape_of_the_model_is_nothing_to_change(self, tmp_path: Path) -> None:
        record(copy_run(max_steps=1), tmp_path / "run")
        with pytest.raises(CheckpointError, match=r"model\.width was 16 and is now 32") as caught:
            record(copy_run({"width": 32}), tmp_path / "run", resume=True)
        assert "--change" not in str(caught.value)

    def test_a_run_made_longer_after_cooling_down_says_that_its_rate_rises(
        self, tmp_path: Path
    ) -> None:
        run = copy_run(num_epochs=2, cooldown_epochs=1, sample_size=0)
        record(run, tmp_path / "run")
        _, same = record(run, tmp_path / "run", resume=True)
        assert not same.of(Noted)
        longer = copy_run(num_epochs=4, cooldown_epochs=1, sample_size=0)
        _, said = record(longer, tmp_path / "run", resume=True, stop_after=1)
        (note,) = said.of(Noted)
        assert (
            "its rate had cooled down to 0% of the schedule's, because it was set to 2 epochs"
            in note.text
        )
        assert "It is set to 4 now, so it continues at 100%" in note.text

    def test_a_run_made_longer_before_it_cools_says_nothing(self, tmp_path: Path) -> None:
        record(
            copy_run(num_epochs=3, cooldown_epochs=1, sample_size=0), tmp_path / "run", stop_after=8
        )
        _, said = record(
            copy_run(num_epochs=4, cooldown_epochs=1, sample_size=0),
            tmp_path / "run",
            resume=True,
            stop_after=1,
        )
        assert not said.of(Noted)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"batch_size": 121},
            "batch_size is 121 sentence pairs, but the training split of made up has only 120",
        ),
        (
            {"batch_unit": "tokens", "batch_size": 9000},
            "batch_size is 9,000 tokens, but .* has only 1,",
        ),
    ],
)
def test_a_batch_larger_than_the_corpus_is_refused(
    tmp_path: Path, settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        record(text_run(**settings), tmp_path / "run")
    assert not (tmp_path / "run").exists()
    if "batch_unit" not in settings:
        record(text_run(batch_size=120, max_steps=1, sample_size=0), tmp_path / "run")
