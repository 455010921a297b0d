"""Whole runs: what they say, what they keep, how they end, how they go on."""

import contextlib
import csv
import dataclasses
import itertools
import json
import math
import os
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from augenmerk.core.checkpoint.file import load_checkpoint, save_checkpoint
from augenmerk.core.config import RunConfig
from augenmerk.core.errors import (
    AugenmerkError,
    CheckpointError,
    ConfigError,
    DeviceError,
    StorageError,
    TrainingError,
)
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.run_settings.toml_file import read_toml
from augenmerk.core.extensions.training import loop as loop_module
from augenmerk.core.extensions.training import validation as validation_module
from augenmerk.core.extensions.training.corpora.batches import Batch, collate, validation_batches
from augenmerk.core.extensions.training.corpora.prepared import (
    EncodedPairs,
    PreparedCorpus,
    prepare_copy_task,
)
from augenmerk.core.extensions.training.evaluation import CorpusLoss
from augenmerk.core.extensions.training.events import (
    ChangedDataError,
    CheckpointSaved,
    EpochDone,
    Noted,
    PhaseStarted,
    SaveFailed,
    StepDone,
    TrainingEvent,
    TrainingFinished,
    TrainingStarted,
)
from augenmerk.core.extensions.training.film import FILM
from augenmerk.core.extensions.training.folder import discard_run, locked, summarize
from augenmerk.core.extensions.training.history_file import read_history
from augenmerk.core.extensions.training.loop import train
from augenmerk.core.extensions.training.loss import Gradients
from augenmerk.core.extensions.training.session import StepResult, TrainingSession
from augenmerk.core.folder_lock import LOCK, is_locked
from augenmerk.core.quantities import percent
from augenmerk.core.run_files import (
    BEST,
    ENVIRONMENT,
    HISTORY,
    LAST,
    RUN_SETTINGS,
    STEPS,
    TENSORBOARD,
)
from augenmerk.core.text.tokenizers import SpacyTokenizer
from augenmerk.core.translation.decoding import DecodingRules, greedy_search
from tests.builders import first_quick
from tests.conftest import REPOSITORY
from tests.core.extensions.training.runs import (
    Recorder,
    copy_corpus,
    copy_run,
    record,
    text_corpus,
    text_run,
)

pytestmark = pytest.mark.training

STEPS_PER_EPOCH = 7


def weights(path: Path) -> dict[str, torch.Tensor]:
    return dict(load_checkpoint(path).weights)


def assert_equal_to_the_last_bit(one: Path, other: Path) -> None:
    first, second = (load_checkpoint(path, with_state=True) for path in (one, other))
    assert first.weights.keys() == second.weights.keys()
    assert first.state.keys() == second.state.keys()
    for name in first.weights:
        assert torch.equal(first.weights[name], second.weights[name]), name
    for name in first.state:
        assert torch.equal(first.state[name], second.state[name]), name


def with_fewer_pairs(corpus: PreparedCorpus, number: int) -> PreparedCorpus:
    """The same vocabulary, and the first pairs for training."""
    return dataclasses.replace(
        corpus, train=EncodedPairs(corpus.train.source[:number], corpus.train.target[:number])
    )


def validate_to(monkeypatch: pytest.MonkeyPatch, losses: list[float]) -> None:
    """Makes the validations of the test give these losses, one after the other."""
    following = iter(losses)
    monkeypatch.setattr(
        validation_module,
        "corpus_loss",
        lambda *arguments, **parts: CorpusLoss(next(following), 1.0, 1, 1),
    )


class TestEvents:
    def test_they_come_in_order(self, tmp_path: Path) -> None:
        run = copy_run(num_epochs=2)
        _, said = record(run, tmp_path / "run")
        choices = TrainingSession(run, copy_corpus(run), "cpu").describe_device_choices()
        assert choices[0] == "Computing in float32: the settings ask for it"
        judged = ["PhaseStarted", "PhaseStarted", "SampleTranslated", "FilmFrame"]
        epoch = [
            *["StepDone"] * STEPS_PER_EPOCH,
            *judged,
            "CheckpointSaved",
            "EpochDone",
            "CheckpointSaved",
        ]
        assert said.kinds == [
            "PhaseStarted",  # the device
            *["PhaseStarted"] * len(choices),
            "TrainingStarted",
            "FilmFrame",
            *epoch,
            *epoch,
            "CheckpointSaved",
            "TrainingFinished",
        ]
        assert [event.text for event in said.of(PhaseStarted)] == [
            "Moving the model to cpu",
            *choices,
            *["Validating", "Translating a sample"] * 2,
        ]

    @pytest.mark.slow
    def test_the_beginning_says_what_is_trained(self, tmp_path: Path) -> None:
        run = copy_run()
        _, said = record(run, tmp_path / "run")
        (started,) = said.of(TrainingStarted)
        assert started.preset == "copy-task-small"
        assert (
            started.num_parameters
            == TrainingSession(run, copy_corpus(run), "cpu").model.num_parameters
        )
        assert (started.num_training_pairs, started.num_validation_pairs) == (56, 20)
        assert (started.num_epochs, started.num_steps, started.first_step) == (3, 21, 0)
        assert (started.device, started.device_reason) == ("cpu", "requested")
        assert started.folder == tmp_path / "run"

    @pytest.mark.slow
    def test_a_short_run_that_fits_its_schedule_rises_to_the_full_rate_and_cools_down(
        self, tmp_path: Path
    ) -> None:
        """As set, it would begin at 30% of its rate and only fall, and its warm-up would never
        end."""
        run = text_run(
            schedule="noam",
            warmup_steps=400,
            num_epochs=3,
            cooldown_epochs=10,
            fit_schedule=True,
            sample_size=0,
        )
        corpus = text_corpus(run)  # 8 steps an epoch
        finished, said = record(run, tmp_path / "whole", corpus=corpus)
        rates = [event.learning_rate for event in said.of(StepDone)]
        peak = (32 * 400) ** -0.5
        assert rates[:6] == [pytest.approx(peak * step / 6) for step in range(1, 7)], (
            "a quarter of 24 steps"
        )
        assert rates[11] == pytest.approx(peak * (6 / 12) ** 0.5), "it has not begun to cool down"
        assert rates[23] == pytest.approx(peak * (6 / 24) ** 0.5 * (1 / 8) / 1.5)
        (note,) = said.of(Noted)
        assert note.text == (
            "A run of 3 epochs is short for a cool-down of 10 epochs: the rate falls to zero "
            "over the last 1.5 epochs instead. It has 24 steps, which is short for a warm-up of "
            "400: the rate rises over the first 6 instead, to the same height."
        )
        assert said.kinds.index("Noted") < said.kinds.index("StepDone")
        stored = load_checkpoint(finished.last_checkpoint).run.training
        assert (stored.warmup_steps, stored.cooldown_epochs, stored.noam_factor) == (
            400,
            10,
            1.0,
        ), "as they were set"
        for stop_after in (3, 13):
            folder = tmp_path / str(stop_after)
            _, first = record(run, folder, corpus=corpus, stop_after=stop_after)
            _, second = record(run, folder, corpus=corpus, resume=True)
            assert [
                event.learning_rate for event in (*first.of(StepDone), *second.of(StepDone))
            ] == rates
            assert_equal_to_the_last_bit(tmp_path / "whole" / LAST, folder / LAST)

    def test_a_run_shorter_than_its_warm_up_is_told_so(self, tmp_path: Path) -> None:
        run = text_run(
            schedule="noam", warmup_steps=2000, batch_unit="tokens", batch_size=200, num_epochs=3
        )
        _, said = record(run, tmp_path / "run")
        (note,) = said.of(Noted)
        (started,) = said.of(TrainingStarted)
        assert f"rises for 2,000 steps (warm-up), but this run has {started.num_steps}" in note.text
        assert f"ends at {percent(started.num_steps / 2000)} of the highest rate" in note.text

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "settings",
        [
            {"schedule": "constant"},
            {"warmup_steps": 16},
            {
                "warmup_steps": 32,
                "num_accumulated": 1,
                "schedule_unit": "micro-batches",
                "num_epochs": 4,
            },
            {
                "warmup_steps": 30,
                "num_accumulated": 4,
                "schedule_unit": "micro-batches",
                "num_epochs": 4,
            },
        ],
    )
    def test_a_run_that_reaches_its_highest_rate_is_not(
        self, tmp_path: Path, settings: dict[str, Any]
    ) -> None:
        run = text_run(**({"schedule": "noam"} | settings))
        _, said = record(run, tmp_path / "run")
        assert not said.of(Noted)
        assert said.of(StepDone)[-1].step == said.of(TrainingStarted)[0].num_steps

    @pytest.mark.slow
    def test_each_step_says_where_it_stands(self, tmp_path: Path) -> None:
        _, said = record(copy_run(), tmp_path / "run")
        steps: list[StepDone] = said.of(StepDone)
        assert [step.step for step in steps] == list(range(1, 22))
        assert [step.epoch for step in steps] == [1] * 7 + [2] * 7 + [3] * 7
        assert {step.num_tokens for step in steps} == {8 * 9}
        assert all(math.isfinite(step.loss) and step.gradient_norm > 0 for step in steps)
        assert all(step.tokens_per_second > 0 for step in steps)
        assert steps[0].seconds_left > 0
        assert steps[-1].seconds_left == 0

    def test_an_epoch_sums_up_its_steps_by_tokens(self, tmp_path: Path) -> None:
        finished, said = record(text_run(), tmp_path / "run")
        for epoch in said.of(EpochDone):
            steps = [step for step in said.of(StepDone) if step.epoch == epoch.epoch]
            assert len({step.num_tokens for step in steps}) > 1
            total = sum(step.loss * step.num_tokens for step in steps)
            assert epoch.training_loss == pytest.approx(
                total / sum(step.num_tokens for step in steps)
            )
            assert epoch.learning_rate == steps[-1].learning_rate
            assert epoch.step == steps[-1].step
        assert said.events[-1] is finished

    @pytest.mark.slow
    def test_best_is_said_of_an_epoch_better_than_every_earlier_one(
        self, tmp_path: Path, monkeypatch
    ) -> None:
        validate_to(monkeypatch, [3.0, 2.0, 2.5, 2.0, 1.0])
        finished, said = record(copy_run(num_epochs=5), tmp_path / "run")
        assert [event.is_best for event in said.of(EpochDone)] == [True, True, False, False, True]
        assert [event.epoch for event in said.of(CheckpointSaved) if event.kind == "best"] == [
            1,
            2,
            5,
        ]
        assert (finished.best_epoch, finished.best_validation_loss) == (5, 1.0)


class TestKept:
    @pytest.mark.parametrize(
        ("settings", "stop_after", "reason", "step", "num_validated"),
        first_quick(
            [
                ({}, None, "completed", 21, 3),
                ({"max_steps": 9}, None, "max_steps", 9, 2),
                ({"max_steps": 14}, None, "max_steps", 14, 2),
                ({}, 9, "stopped", 9, 2),
                ({}, 3, "stopped", 3, 1),
                ({}, 7, "stopped", 7, 1),
            ]
        ),
    )
    def test_best_and_last_are_kept_however_a_run_ends(
        self,
        tmp_path: Path,
        settings: dict[str, Any],
        stop_after: int | None,
        reason: str,
        step: int,
        num_validated: int,
    ) -> None:
        run, folder = copy_run(**settings), tmp_path / "run"
        finished, said = record(run, folder, stop_after=stop_after)
        assert (finished.reason, finished.step) == (reason, step)
        assert (finished.best_checkpoint, finished.last_checkpoint) == (
            folder / BEST,
            folder / LAST,
        )
        assert len(said.of(EpochDone)) == num_validated
        last, best = (
            load_checkpoint(folder / LAST, with_state=True),
            load_checkpoint(folder / BEST, with_state=True),
        )
        assert last.run == best.run == run
        assert last.progress["step"] == step
        assert last.state
        assert not best.state
        assert best.history[-1].validation_loss == finished.best_validation_loss
        assert best.history[-1].epoch == finished.best_epoch
        best.build_model()
        assert {path.name for path in folder.iterdir()} == {
            LAST,
            BEST,
            HISTORY,
            STEPS,
            FILM,
            RUN_SETTINGS,
            ENVIRONMENT,
        }

    def test_a_run_stopped_before_its_first_step_has_both_files_too(self, tmp_path: Path) -> None:
        finished, said = record(copy_run(), tmp_path / "run", stop_after=0)
        assert (finished.reason, finished.step, finished.best_epoch) == ("stopped", 0, 0)
        assert not said.of(StepDone, EpochDone)
        for path in (finished.best_checkpoint, finished.last_checkpoint):
            load_checkpoint(path).build_model()

    @pytest.mark.slow
    def test_the_last_weights_are_those_of_the_end_and_the_best_those_of_the_best_epoch(
        self, tmp_path: Path, monkeypatch
    ) -> None:
        validate_to(monkeypatch, [3.0, 2.0, 2.5, 2.2])
        run = copy_run(num_epochs=4)
        copies: dict[int, dict[str, torch.Tensor]] = {}

        def keep(event: TrainingEvent) -> None:
            if isinstance(event, CheckpointSaved) and event.kind == "last":
                copies[event.step] = weights(event.path)

        finished, _ = record(run, tmp_path / "run", on_event=keep)
        assert finished.best_epoch == 2
        best_step = 2 * STEPS_PER_EPOCH
        best, last = weights(finished.best_checkpoint), weights(finished.last_checkpoint)
        assert all(torch.equal(best[name], copies[best_step][name]) for name in best)
        assert any(not torch.equal(best[name], last[name]) for name in best)

    def test_the_last_checkpoint_is_written_every_so_many_steps_too(self, tmp_path: Path) -> None:
        _, said = record(copy_run(num_epochs=1, checkpoint_steps=3), tmp_path / "run")
        steps = [event.step for event in said.of(CheckpointSaved) if event.kind == "last"]
        assert steps == [3, 6, 7, 7]

    def test_the_history_is_a_table_of_the_complete_epochs(self, tmp_path: Path) -> None:
        finished, said = record(copy_run(), tmp_path / "run", stop_after=16)
        with (tmp_path / "run" / HISTORY).open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        epochs: list[EpochDone] = said.of(EpochDone)
        assert [int(row["epoch"]) for row in rows] == [1, 2]
        for row, event in zip(rows, epochs, strict=False):
            for name in row:
                assert float(row[name]) == pytest.approx(getattr(event, name))
        assert (
            load_checkpoint(finished.last_checkpoint).history[1].validation_loss
            == epochs[1].validation_loss
        )

    def test_the_checkpoint_names_its_corpus(self, tmp_path: Path) -> None:
        finished, _ = record(copy_run(max_steps=1), tmp_path / "run")
        assert load_checkpoint(finished.best_checkpoint).corpus == "copy task"


class TestStop:
    def test_it_acts_before_the_next_batch(self, tmp_path: Path) -> None:
        for stop_after in (1, 5, 8):
            _, said = record(copy_run(), tmp_path / str(stop_after), stop_after=stop_after)
            assert len(said.of(StepDone)) == stop_after

    def test_it_is_asked_for_before_every_step_and_every_batch_of_a_validation(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(validation_module.Validator, "translate_probe", lambda *arguments: None)
        run, asked = copy_run(num_epochs=1, sample_size=0), []
        _, said = record(run, tmp_path / "run", should_stop=lambda: asked.append(True))
        validation = validation_batches(copy_corpus(run).validation, run.training)
        assert len(asked) == STEPS_PER_EPOCH + len(validation)
        assert len(said.of(StepDone)) == STEPS_PER_EPOCH

    def test_what_was_learned_in_a_part_of_an_epoch_is_judged(self, tmp_path: Path) -> None:
        finished, said = record(copy_run(), tmp_path / "run", stop_after=3)
        (epoch,) = said.of(EpochDone)
        assert (epoch.epoch, epoch.step) == (1, 3)
        assert epoch.training_loss == pytest.approx(sum(said.losses) / 3)
        assert finished.best_validation_loss == epoch.validation_loss

    @pytest.mark.slow
    def test_where_judging_would_take_long_a_part_of_the_split_is_judged_or_nothing(
        self, tmp_path: Path, monkeypatch
    ) -> None:
        run, folder = copy_run(), tmp_path / "run"
        num_pairs = run.data.copy_validation_pairs
        with monkeypatch.context() as patch:
            patch.setattr(
                "augenmerk.core.extensions.training.validation.max_tokens_at_once",
                lambda size, device: 30,
            )
            first, said = record(run, folder, stop_after=3)
            (epoch,) = said.of(EpochDone)
            assert (first.best_epoch, first.best_validation_loss) == (1, epoch.validation_loss)
            (note,) = said.of(Noted)
            judged = int(note.text.split("validated on only ")[1].split(" of ")[0])
            assert 0 < judged < num_pairs
            assert f"of {num_pairs} pairs," in note.text
            _, said = record(run, folder, resume=True, stop_after=6)
            assert len(said.of(EpochDone)) == 1, "the epoch's end, not the stop"
            assert said.of(Noted)[-1].text == (
                "Stopped within epoch 2: last.safetensors holds step 9. It was not validated, "
                "which takes long; best.safetensors is still that of epoch 1."
            )
            assert load_checkpoint(folder / BEST).history[-1].step == STEPS_PER_EPOCH
        third, said = record(run, folder, resume=True)
        whole, _ = record(run, tmp_path / "whole")
        assert (third.best_epoch, third.best_validation_loss) == (
            whole.best_epoch,
            whole.best_validation_loss,
        )

    @pytest.mark.slow
    def test_a_model_judged_in_part_is_not_what_later_ones_must_beat(
        self, tmp_path: Path, monkeypatch
    ) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(
                "augenmerk.core.extensions.training.validation.max_tokens_at_once",
                lambda size, device: 30,
            )
            validate_to(patch, [0.5])
            record(copy_run(), tmp_path / "run", stop_after=3)
        validate_to(monkeypatch, [3.0, 2.0, 2.5])
        finished, _ = record(copy_run(), tmp_path / "run", resume=True)
        assert (finished.best_epoch, finished.best_validation_loss) == (2, 2.0)


class TestStopWhileValidating:
    @pytest.mark.parametrize("how", ["keep", "pause"])
    @pytest.mark.parametrize("phase", ["Validating", "Translating a sample"])
    @pytest.mark.parametrize("epoch", [1, 2])
    @pytest.mark.slow
    def test_it_acts_within_a_batch_and_nothing_is_lost(
        self, tmp_path: Path, how: str, phase: str, epoch: int
    ) -> None:
        run = copy_run(num_epochs=3)
        whole, everything = record(run, tmp_path / "whole")
        phases: list[str] = []
        requests: list[str] = []

        def stop_in_phase(event: TrainingEvent) -> None:
            if isinstance(event, PhaseStarted):
                phases.append(event.text)
                if phases.count(phase) == epoch:
                    requests.append(how)

        options = {
            "on_event": stop_in_phase,
            "should_stop": lambda: requests[0] if requests else False,
        }
        finished, first = record(run, tmp_path / "run", **options)
        assert finished.reason == {"keep": "stopped", "pause": "paused"}[how]
        assert (finished.epoch, finished.step) == (epoch, epoch * STEPS_PER_EPOCH)
        assert len(read_history(tmp_path / "run" / HISTORY)) == epoch - 1
        judged = [event for event in first.of(EpochDone) if event.epoch == epoch]
        assert len(judged) == (how == "keep" and epoch == 1), (
            "only where there is no best model yet"
        )
        notes = [event.text for event in first.of(Noted)]
        expected = (
            f"Stopped while epoch {epoch} was validated: last.safetensors holds its last step"
        )
        assert [note.startswith(expected) for note in notes] == ([True] if how == "keep" else [])
        # validated first, and then on
        torch.manual_seed(99)
        again, second = record(run, tmp_path / "run", resume=True)
        assert [*first.losses, *second.losses] == everything.losses
        assert second.kinds.index("EpochDone") < second.kinds.index("StepDone")
        assert_equal_to_the_last_bit(tmp_path / "whole" / LAST, tmp_path / "run" / LAST)
        assert (again.best_epoch, again.best_validation_loss) == (
            whole.best_epoch,
            whole.best_validation_loss,
        )
        for one, other in zip(
            read_history(tmp_path / "whole" / HISTORY),
            read_history(tmp_path / "run" / HISTORY),
            strict=True,
        ):
            assert dataclasses.replace(one, seconds=0) == dataclasses.replace(other, seconds=0)

    def test_a_discarded_run_is_not_validated_to_the_end(self, tmp_path: Path) -> None:
        requests: list[str] = []
        options = {"should_stop": lambda: requests[0] if requests else False}

        def discard(event: TrainingEvent) -> None:
            if event == PhaseStarted("Validating"):
                requests.append("discard")

        finished, said = record(copy_run(), tmp_path / "run", on_event=discard, **options)
        assert finished.reason == "discarded"
        assert not said.of(EpochDone)
        assert not (tmp_path / "run").exists()


class TestFolder:
    def test_a_folder_that_was_deleted_is_made_anew_with_its_lock(self, tmp_path: Path) -> None:
        folder, run = tmp_path / "run", copy_run(num_epochs=2, checkpoint_steps=3)
        found_locked: list[bool] = []

        def delete(event: TrainingEvent) -> None:
            if isinstance(event, StepDone) and event.step == 5:
                shutil.rmtree(folder)
            if isinstance(event, CheckpointSaved):
                found_locked.append(is_locked(folder))

        finished, said = record(run, folder, on_event=delete)
        assert finished.reason == "completed"
        assert all(found_locked)
        (note,) = said.of(Noted)
        assert "was deleted or moved while its run was training. It was created again" in note.text
        assert read_toml(folder / RUN_SETTINGS) == run
        assert len(read_history(folder / HISTORY)) == 2
        assert not is_locked(folder)
        assert summarize(folder).state == "finished"

    @pytest.mark.parametrize("num_deleted", [2, 20])
    def test_a_file_deleted_while_it_is_written_is_written_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, num_deleted: int
    ) -> None:
        """As by someone who is deleting the folder; a folder where every file vanishes is
        reported."""
        left, replace = [num_deleted], os.replace

        def vanish(source: Path, target: Path) -> None:
            if target.name == LAST and left[0]:
                left[0] -= 1
                source.unlink()
            replace(source, target)

        monkeypatch.setattr("augenmerk.core.storage.os.replace", vanish)
        run, said = copy_run(num_epochs=1), Recorder()
        if num_deleted == 20:
            with pytest.raises(StorageError, match=f"Cannot write .*{LAST}: No such file"):
                record(run, tmp_path / "run", on_event=said)
            assert said.of(SaveFailed)
        else:
            finished, _ = record(run, tmp_path / "run", on_event=said)
            assert finished.reason == "completed"
            assert not said.of(SaveFailed)
            assert (tmp_path / "run" / LAST).exists()

    def test_a_folder_that_another_training_has_taken_is_left_to_it(self, tmp_path: Path) -> None:
        folder = tmp_path / "run"
        with contextlib.ExitStack() as stack:

            def move(event: TrainingEvent) -> None:
                if isinstance(event, StepDone) and event.step == 2:
                    folder.rename(tmp_path / "moved")
                    stack.enter_context(locked(folder))

            with pytest.raises(TrainingError, match="Another training is running"):
                record(copy_run(num_epochs=1, checkpoint_steps=3), folder, on_event=move)
            assert {path.name for path in folder.iterdir()} == {LOCK}
            assert is_locked(folder)

    @pytest.mark.slow
    def test_a_link_in_the_place_of_the_film_lets_nothing_be_removed_elsewhere(
        self, tmp_path: Path
    ) -> None:
        folder, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
        record(copy_run(num_epochs=2), folder)
        (folder / FILM).rename(elsewhere)
        (elsewhere / ".frame-1.part").touch()
        (folder / FILM).symlink_to(elsewhere, target_is_directory=True)
        (folder / TENSORBOARD).symlink_to(elsewhere, target_is_directory=True)
        (elsewhere / "events.out.tfevents.1").touch()
        before = {path.name for path in elsewhere.iterdir()}
        first = folder / LAST
        stale = first.read_bytes()
        record(copy_run(num_epochs=3), folder, resume=True, stop_after=1)
        assert before < {path.name for path in elsewhere.iterdir()}, "frames are still added"
        first.write_bytes(stale)  # so that later frames would be removed
        record(copy_run(num_epochs=3), folder, resume=True, stop_after=1)
        discard_run(folder)
        assert before < {path.name for path in elsewhere.iterdir()}


class TestResume:
    @pytest.mark.parametrize("stop_after", [1, 5, 7, 10])
    @pytest.mark.slow
    def test_a_resumed_run_is_the_uninterrupted_one_to_the_last_bit(
        self, tmp_path: Path, stop_after: int
    ) -> None:
        """With dropout, in the middle of an epoch and at its end; the order of the data goes on
        too.
        """
        run = copy_run()
        assert run.model.dropout > 0
        _, whole = record(run, tmp_path / "whole")
        _, first = record(run, tmp_path / "parts", stop_after=stop_after)
        torch.manual_seed(99)
        finished, second = record(run, tmp_path / "parts", resume=True)
        assert finished.reason == "completed"
        assert [*first.losses, *second.losses] == whole.losses
        assert_equal_to_the_last_bit(tmp_path / "whole" / LAST, tmp_path / "parts" / LAST)
        (started,) = second.of(TrainingStarted)
        assert started.first_step == stop_after
        ends = [
            [
                (e.epoch, e.validation_loss, e.training_loss)
                for e in said.of(EpochDone)
                if e.step % STEPS_PER_EPOCH == 0
            ]
            for said in (whole, second)
        ]
        assert ends[0][-len(ends[1]) :] == [
            (epoch, loss, pytest.approx(mean)) for epoch, loss, mean in ends[1]
        ]

    @pytest.mark.slow
    def test_micro_batches_and_tokens_go_on_as_well(self, tmp_path: Path) -> None:
        run = text_run(
            batch_unit="tokens", batch_size=80, num_accumulated=2, schedule="noam", warmup_steps=9
        )
        corpus = text_corpus(run)
        _, whole = record(run, tmp_path / "whole", corpus=corpus)
        _, first = record(run, tmp_path / "parts", corpus=corpus, stop_after=3)
        _, second = record(run, tmp_path / "parts", corpus=corpus, resume=True)
        assert [*first.losses, *second.losses] == whole.losses
        assert_equal_to_the_last_bit(tmp_path / "whole" / LAST, tmp_path / "parts" / LAST)

    @pytest.mark.parametrize(
        "settings", [{"source_noise": 0.5}, {"source_noise": 0.5, "batching": "random"}]
    )
    @pytest.mark.slow
    def test_noise_on_sources_goes_on_as_well(
        self, tmp_path: Path, settings: dict[str, Any]
    ) -> None:
        """Resumed within an epoch or at its end: each has its own noise, whoever asks and when."""
        run = text_run(num_epochs=3, **settings)
        corpus = text_corpus(run)
        _, whole = record(run, tmp_path / "whole", corpus=corpus)
        for stop_after in (3, 8):
            folder = tmp_path / str(stop_after)
            _, first = record(run, folder, corpus=corpus, stop_after=stop_after)
            _, second = record(run, folder, corpus=corpus, resume=True)
            assert [*first.losses, *second.losses] == whole.losses
        _, clean = record(
            text_run(num_epochs=3, **settings | {"source_noise": 0.0}),
            tmp_path / "clean",
            corpus=corpus,
        )
        assert clean.losses != whole.losses

    @pytest.mark.subprocess
    @pytest.mark.slow
    def test_subword_dropout_goes_on_as_well_in_another_process(self, tmp_path: Path) -> None:
        run = text_run(num_epochs=3)
        data = run.data.replace(num_subwords=60, keep_spaces=False)
        run = dataclasses.replace(
            run, data=data, training=run.training.replace(subword_dropout=0.3)
        )
        corpus = text_corpus(run)
        _, whole = record(run, tmp_path / "whole", corpus=corpus)
        _, first = record(run, tmp_path / "parts", corpus=corpus, stop_after=11)
        program = """
import json, sys
from pathlib import Path
from augenmerk.core.run_files import RUN_SETTINGS
from augenmerk.core.extensions.run_settings.toml_file import read_toml
from tests.core.extensions.training.runs import record
folder = Path(sys.argv[1])
print(json.dumps(record(read_toml(folder / RUN_SETTINGS), folder, resume=True)[1].losses))
"""
        command = [sys.executable, "-c", program, str(tmp_path / "parts")]
        second = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
        assert [*first.losses, *json.loads(second.stdout)] == whole.losses
        assert_equal_to_the_last_bit(tmp_path / "whole" / LAST, tmp_path / "parts" / LAST)

    @pytest.mark.slow
    def test_batches_at_random_go_on_as_well(self, tmp_path: Path) -> None:
        run = text_run(
            batching="random", num_accumulated=2, schedule="noam", schedule_unit="micro-batches"
        )
        corpus = text_corpus(run)
        _, whole = record(run, tmp_path / "whole", corpus=corpus)
        _, first = record(run, tmp_path / "parts", corpus=corpus, stop_after=6)
        _, second = record(run, tmp_path / "parts", corpus=corpus, resume=True)
        assert [*first.losses, *second.losses] == whole.losses
        _, by_length = record(
            text_run(num_accumulated=2, batching="bucketed"), tmp_path / "by length", corpus=corpus
        )
        assert by_length.losses[0] != whole.losses[0]

    @pytest.mark.slow
    def test_a_run_goes_on_from_a_checkpoint_written_before_a_crash(self, tmp_path: Path) -> None:
        run = copy_run(checkpoint_steps=4)
        _, whole = record(run, tmp_path / "whole")

        def crash(event: TrainingEvent) -> None:
            if isinstance(event, StepDone) and event.step == 6:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            record(run, tmp_path / "run", on_event=crash)
        _, second = record(run, tmp_path / "run", resume=True)
        assert second.losses == whole.losses[4:]
        assert_equal_to_the_last_bit(tmp_path / "whole" / LAST, tmp_path / "run" / LAST)

    @pytest.mark.slow
    def test_a_complete_run_can_be_made_longer(self, tmp_path: Path) -> None:
        _, whole = record(copy_run(num_epochs=3), tmp_path / "whole")
        record(copy_run(num_epochs=2), tmp_path / "run")
        finished, more = record(copy_run(num_epochs=3), tmp_path / "run", resume=True)
        assert (finished.reason, finished.step) == ("completed", 21)
        assert more.losses == whole.losses[14:]

    @pytest.mark.parametrize(("stop_after", "epoch"), [(6, 1), (7, 1), (8, 2), (14, 2)])
    def test_the_end_names_the_epoch_of_the_last_step(
        self, tmp_path: Path, stop_after: int, epoch: int
    ) -> None:
        finished, said = record(copy_run(), tmp_path / "run", stop_after=stop_after)
        assert finished.epoch == said.of(StepDone)[-1].epoch == epoch

    @pytest.mark.slow
    def test_the_seconds_of_every_part_are_counted(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        clock = itertools.count()
        monkeypatch.setattr(
            loop_module, "time", SimpleNamespace(perf_counter=lambda: float(next(clock)))
        )
        run = copy_run()  # each of 21 steps asks before and after it: one second
        record(run, tmp_path / "run", stop_after=10)
        second, _ = record(run, tmp_path / "run", resume=True)
        assert second.seconds == 10 + 11 * 2 + 1
        again, _ = record(run, tmp_path / "run", resume=True)
        assert again.seconds == 21 + 1

    def test_a_complete_run_resumed_is_complete_at_once(self, tmp_path: Path) -> None:
        run = copy_run(num_epochs=1)
        first, _ = record(run, tmp_path / "run")
        again, said = record(run, tmp_path / "run", resume=True)
        assert not said.of(StepDone)
        assert (again.reason, again.epoch, again.best_validation_loss) == (
            "completed",
            1,
            first.best_validation_loss,
        )

    @pytest.mark.slow
    def test_a_worse_epoch_after_resuming_does_not_replace_the_best(
        self, tmp_path: Path, monkeypatch
    ) -> None:
        validate_to(monkeypatch, [3.0, 2.0, 2.6, 2.5, 2.2])
        run = copy_run(num_epochs=4)
        first, _ = record(run, tmp_path / "run", stop_after=15)
        best = first.best_checkpoint.read_bytes()
        second, said = record(run, tmp_path / "run", resume=True)
        assert [event.is_best for event in said.of(EpochDone)] == [False, False]
        assert (second.best_epoch, second.best_validation_loss) == (2, 2.0)
        assert second.best_checkpoint.read_bytes() == best

    def test_nothing_to_resume_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(
            CheckpointError, match=r"There is no run to resume in .*last\.safetensors"
        ):
            record(copy_run(), tmp_path / "run", resume=True)

    def test_a_damaged_checkpoint_is_refused_and_left_as_it_is(self, tmp_path: Path) -> None:
        finished, _ = record(copy_run(max_steps=2), tmp_path / "run")
        damaged = finished.last_checkpoint.read_bytes()[:-100]
        finished.last_checkpoint.write_bytes(damaged)
        with pytest.raises(CheckpointError, match="cannot be read as a checkpoint"):
            record(copy_run(), tmp_path / "run", resume=True)
        assert finished.last_checkpoint.read_bytes() == damaged

    @pytest.mark.parametrize(
        "settings", [{"learning_rate": 1.0}, {"seed": 7}, {"label_smoothing": 0.1}]
    )
    def test_other_settings_are_refused(self, tmp_path: Path, settings: dict[str, Any]) -> None:
        record(copy_run(max_steps=2), tmp_path / "run")
        with pytest.raises(
            CheckpointError,
            match=f"started with other settings: training.{next(iter(settings))} was",
        ):
            record(copy_run(**settings), tmp_path / "run", resume=True)

    def test_another_vocabulary_is_refused(self, tmp_path: Path) -> None:
        run = text_run(max_steps=1)
        record(run, tmp_path / "run")
        with pytest.raises(CheckpointError, match="another vocabulary"):
            record(run, tmp_path / "run", corpus=text_corpus(run, number=16), resume=True)

    @pytest.mark.parametrize("stop_after", [3, 8, 11])
    @pytest.mark.slow
    def test_changed_data_of_the_same_words_is_refused_until_it_is_allowed(
        self, tmp_path: Path, stop_after: int
    ) -> None:
        run = text_run(num_epochs=3)  # 8 steps an epoch
        corpus = text_corpus(run)
        record(run, tmp_path / "run", corpus=corpus, stop_after=stop_after)
        before = {
            path: path.read_bytes() for path in (tmp_path / "run").iterdir() if path.is_file()
        }
        changed = with_fewer_pairs(corpus, 100)  # 7 steps an epoch
        with pytest.raises(
            ChangedDataError,
            match=r"made up\) has changed .* or accept the new data: --resume --allow-changed-data",
        ) as caught:
            record(run, tmp_path / "run", corpus=changed, resume=True)
        assert {
            path: path.read_bytes() for path in (tmp_path / "run").iterdir() if path.is_file()
        } == before
        assert caught.value.proposal is not None
        assert caught.value.proposal.allows_changed_data
        assert caught.value.resumable_checkpoint == tmp_path / "run" / LAST
        finished, said = record(
            run,
            tmp_path / "run",
            corpus=changed,
            resume=True,
            allow_changed_data=True,
            stop_after=1,
        )
        (note, *_) = [event.text for event in said.of(Noted)]
        assert note.startswith("The training data is not the same as when this run was saved.")
        assert note.endswith(f"Epoch {1 + (stop_after - 1) // 8} starts again with it.")
        assert finished.step == stop_after + 1
        # it is now the data of the run
        finished, said = record(run, tmp_path / "run", corpus=changed, resume=True)
        assert not said.of(Noted)
        assert finished.reason == "completed"
        assert finished.step == stop_after + (3 - (stop_after - 1) // 8) * 7
        with pytest.raises(ChangedDataError):
            record(run, tmp_path / "run", corpus=corpus, resume=True)

    def test_a_changed_validation_split_is_noticed_too(self, tmp_path: Path) -> None:
        run = text_run(max_steps=2)
        corpus = text_corpus(run)
        record(run, tmp_path / "run", corpus=corpus)
        fewer = EncodedPairs(corpus.validation.source[1:], corpus.validation.target[1:])
        with pytest.raises(ChangedDataError):
            record(
                run,
                tmp_path / "run",
                corpus=dataclasses.replace(corpus, validation=fewer),
                resume=True,
            )

    def test_a_run_that_stands_beyond_the_end_of_its_epoch_is_refused(self, tmp_path: Path) -> None:
        run = text_run()
        corpus = text_corpus(run)
        record(run, tmp_path, corpus=corpus, stop_after=6)
        saved = load_checkpoint(tmp_path / LAST, with_state=True)
        beyond = dataclasses.replace(saved, progress={**saved.progress, "group": 99})
        save_checkpoint(beyond, tmp_path / LAST)
        with pytest.raises(CheckpointError, match="has done 99 steps of its epoch"):
            record(run, tmp_path, corpus=corpus, resume=True)


class TestRefusals:
    @pytest.mark.parametrize(
        "name",
        [LAST, BEST, "best-epoch002-step0000014.safetensors", "last-step0000014.safetensors"],
    )
    def test_a_folder_that_holds_a_run_is_not_written_to(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_bytes(b"precious")
        with pytest.raises(TrainingError) as caught:
            record(copy_run(), tmp_path)
        message = str(caught.value)
        assert f"{tmp_path} already contains a run" in message
        assert "Resume that run, or choose an empty or new folder" in message
        assert [path.name for path in tmp_path.iterdir()] == [name]
        assert (tmp_path / name).read_bytes() == b"precious"

    def test_a_folder_that_cannot_be_written_is_found_before_the_first_step(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "run").write_text("a file")
        recorder = Recorder()
        run = copy_run()
        with pytest.raises(StorageError, match="Cannot write"):
            train(run, copy_corpus(run), tmp_path / "run", device="cpu", on_event=recorder)
        assert not recorder.of(StepDone)

    def test_a_folder_without_permission_is_found_before_the_first_step(
        self, tmp_path: Path, permissions_withheld
    ) -> None:
        recorder = Recorder()
        run = copy_run()
        with (
            permissions_withheld(tmp_path, 0o555),
            pytest.raises(StorageError, match="Permission denied"),
        ):
            train(run, copy_corpus(run), tmp_path / "run", device="cpu", on_event=recorder)
        assert not recorder.of(StepDone)

    def test_a_device_that_is_not_there_is_refused(self, tmp_path: Path) -> None:
        run = copy_run()
        with pytest.raises(
            DeviceError, match=r"This machine has no device 'cuda:99'. Choose one of: auto, cpu"
        ):
            train(run, copy_corpus(run), tmp_path / "run", device="cuda:99")
        assert not (tmp_path / "run").exists()

    @pytest.mark.parametrize("split", ["training", "validation"])
    def test_a_sentence_longer_than_the_model_has_positions(
        self, tmp_path: Path, split: str
    ) -> None:
        run = text_run({"max_positions": 12})
        corpus = text_corpus(run)
        targets = getattr(corpus, {"training": "train"}.get(split, split)).target
        targets[3] = (targets[3][0], *[5] * 11, targets[3][-1])
        with pytest.raises(ConfigError) as caught:
            record(run, tmp_path / "run", corpus=corpus)
        message = str(caught.value)
        assert (
            f"Pair 4 of the {split} split has 13 tokens, but the model has 12 positions" in message
        )
        assert message.endswith("Use sentences of at most 10 tokens: --set data.max_length=10")

    def test_padding_beyond_the_positions(self, tmp_path: Path) -> None:
        with pytest.raises(
            ConfigError, match="pad_to is 13 tokens, but the model has only 12 positions"
        ):
            record(text_run({"max_positions": 12}, pad_to=13), tmp_path / "run")

    @pytest.mark.slow
    def test_a_loss_that_is_no_number_ends_the_run_and_leaves_the_last_checkpoint(
        self, tmp_path: Path, monkeypatch
    ) -> None:
        run = copy_run(checkpoint_steps=2)
        original, calls = Gradients._backward, 0

        def turning(self: Gradients, batch: Any, weight: float) -> torch.Tensor:
            nonlocal calls
            calls += 1
            return original(self, batch, weight * (math.nan if calls == 6 else 1))

        monkeypatch.setattr(Gradients, "_backward", turning)
        with pytest.raises(TrainingError, match="At step 6 the loss became nan"):
            record(run, tmp_path / "run")
        monkeypatch.undo()
        checkpoint = load_checkpoint(tmp_path / "run" / LAST, with_state=True)
        assert checkpoint.progress["step"] == 4
        assert all(bool(value.isfinite().all()) for value in checkpoint.weights.values())
        finished, _ = record(run, tmp_path / "run", resume=True)
        assert finished.reason == "completed"

    def test_an_infinite_rate_of_growth_is_noticed(self, tmp_path: Path) -> None:
        with pytest.raises(
            TrainingError,
            match=r"a learning rate of 5e\+29 instead of 1e\+30, with gradients clipped",
        ):
            record(copy_run(schedule="constant", learning_rate=1e30), tmp_path / "run")

    def test_a_validation_loss_that_is_no_number_is_refused(
        self, tmp_path: Path, monkeypatch
    ) -> None:
        original = validation_module.corpus_loss
        monkeypatch.setattr(
            validation_module,
            "corpus_loss",
            lambda *arguments, **parts: dataclasses.replace(
                original(*arguments, **parts), token_weighted=math.nan
            ),
        )
        with pytest.raises(TrainingError, match="After step 7 the validation loss is nan"):
            record(copy_run(), tmp_path / "run")

    def test_a_full_disk_in_the_middle_leaves_the_last_checkpoint(
        self, tmp_path: Path, monkeypatch
    ) -> None:
        from augenmerk.core.checkpoint import file

        original, calls = file.save_file, 0

        def filling(*args: Any, **kwargs: Any) -> None:
            nonlocal calls
            calls += 1
            if calls > 1:
                raise OSError(28, "No space left on device")
            original(*args, **kwargs)

        monkeypatch.setattr(file, "save_file", filling)
        with pytest.raises(StorageError, match="No space left on device"):
            record(copy_run(checkpoint_steps=2), tmp_path / "run")
        assert load_checkpoint(tmp_path / "run" / LAST, with_state=True).progress["step"] == 2

    def test_every_refusal_is_an_error_for_people(self) -> None:
        assert all(
            issubclass(kind, AugenmerkError) for kind in (TrainingError, StorageError, DeviceError)
        )


class TestLearning:
    @pytest.mark.slow
    def test_the_same_seed_gives_the_same_losses(self, tmp_path: Path) -> None:
        run = copy_run(num_epochs=1)
        losses = [record(run, tmp_path / name)[1].losses for name in "ab"]
        other = record(copy_run(num_epochs=1, seed=5), tmp_path / "c")[1].losses
        assert losses[0] == losses[1] != other

    @pytest.mark.slow
    def test_small_notebook_learns(self, tmp_path: Path) -> None:
        run = text_run(num_epochs=6, learning_rate=3e-3)
        _, said = record(run, tmp_path / "run")
        validation = [event.validation_loss for event in said.of(EpochDone)]
        assert said.losses[0] > math.log(10)
        assert validation[-1] < 0.5 * validation[0]
        assert sum(said.losses[-5:]) / 5 < 0.5 * said.losses[0]

    def test_validation_is_that_of_an_independent_count(self, tmp_path: Path) -> None:
        """Token-weighted, and the mean of batch means; without dropout and without smoothing."""
        run = text_run({"dropout": 0.5}, label_smoothing=0.1, num_epochs=1)
        corpus = text_corpus(run)
        finished, said = record(run, tmp_path / "run", corpus=corpus)
        (epoch,) = said.of(EpochDone)
        model = load_checkpoint(finished.best_checkpoint).build_model()
        means, sums, num_tokens = [], [], 0
        for indices in validation_batches(corpus.validation, run.training):
            batch = collate(corpus.validation, indices, 1)
            with torch.no_grad():
                logits = model(batch.source, batch.target[:, :-1]).logits.flatten(0, 1)
            targets = batch.target[:, 1:].flatten()
            means.append(float(torch.nn.functional.cross_entropy(logits, targets, ignore_index=1)))
            count = int((targets != 1).sum())
            sums.append(means[-1] * count)
            num_tokens += count
        assert len(means) > 1
        assert epoch.validation_loss == pytest.approx(sum(sums) / num_tokens, rel=1e-5)
        assert epoch.validation_loss_batch_mean == pytest.approx(sum(means) / len(means), rel=1e-5)

    def test_the_schedule_goes_by_optimizer_steps_and_not_by_micro_batches(
        self, tmp_path: Path
    ) -> None:
        run = copy_run(num_accumulated=3, num_epochs=2)
        _, said = record(run, tmp_path / "run")
        steps: list[StepDone] = said.of(StepDone)
        assert len(steps) == 2 * 3, "7 batches are 3 groups: 3 + 3 + 1"
        assert [step.num_tokens for step in steps[:3]] == [216, 216, 72]
        for step in steps:
            expected = 16**-0.5 * min(step.step**-0.5, step.step * 20**-1.5)
            assert step.learning_rate == pytest.approx(expected)

    def test_the_rate_cools_down_within_the_last_epochs(self, tmp_path: Path) -> None:
        run = copy_run(schedule="constant", learning_rate=1e-3, cooldown_epochs=2)
        _, said = record(run, tmp_path / "run")
        steps: list[StepDone] = said.of(StepDone)
        expected = [1e-3] * 7 + [1e-3 * (14 - done) / 14 for done in range(14)]
        assert [step.learning_rate for step in steps] == pytest.approx(expected)
        assert said.of(EpochDone)[-1].learning_rate == steps[-1].learning_rate

    @pytest.mark.slow
    def test_a_cooling_run_goes_on_to_the_last_bit_too(self, tmp_path: Path) -> None:
        run = copy_run(cooldown_epochs=2)
        _, whole = record(run, tmp_path / "whole")
        _, first = record(run, tmp_path / "parts", stop_after=17)
        _, second = record(run, tmp_path / "parts", resume=True)
        assert [*first.losses, *second.losses] == whole.losses
        assert_equal_to_the_last_bit(tmp_path / "whole" / LAST, tmp_path / "parts" / LAST)

    def test_every_pair_is_learned_from_once_in_each_epoch(
        self, tmp_path: Path, monkeypatch
    ) -> None:
        """Also where epochs differ in their number of steps, as they do with batches of tokens."""
        seen: dict[int, Counter[tuple[int, ...]]] = defaultdict(Counter)

        def only_watching(
            self: TrainingSession, batches: Sequence[Batch], *rest: Any
        ) -> StepResult:
            for batch in batches:
                seen[self.progress.epoch].update(
                    tuple(row[row != 1].tolist()) for row in batch.target
                )
            self.progress.step += 1
            self.progress.group += 1
            return StepResult(loss=1.0, learning_rate=0.1, gradient_norm=1.0, num_tokens=1)

        monkeypatch.setattr(TrainingSession, "step", only_watching)
        run = text_run(num_epochs=4, batch_unit="tokens", batch_size=30, checkpoint_steps=10_000)
        corpus = text_corpus(run, number=500)
        _, said = record(run, tmp_path / "run", corpus=corpus)
        steps = Counter(step.epoch for step in said.of(StepDone))
        assert len(set(steps.values())) > 1, "else the test shows too little"
        assert list(seen) == [1, 2, 3, 4]
        assert all(counted == Counter(map(tuple, corpus.train.target)) for counted in seen.values())

    def test_each_sentence_is_tokenized_once_in_three_epochs(
        self, tmp_path: Path, monkeypatch
    ) -> None:
        num_lines = 0
        pipe, call = SpacyTokenizer.pipe, SpacyTokenizer.__call__

        def counting_pipe(self: SpacyTokenizer, lines: Any) -> Iterator[list[str]]:
            nonlocal num_lines
            for words in pipe(self, lines):
                num_lines += 1
                yield words

        def counting_call(self: SpacyTokenizer, line: str) -> Any:
            nonlocal num_lines
            num_lines += 1
            return call(self, line)

        monkeypatch.setattr(SpacyTokenizer, "pipe", counting_pipe)
        monkeypatch.setattr(SpacyTokenizer, "__call__", counting_call)
        run = text_run(num_epochs=3, sample_size=0)
        record(run, tmp_path / "run", corpus=text_corpus(run, number=50))
        num_probes = 1 + 3  # before the first step, and at each validation
        assert num_lines == 2 * (50 + 30) + num_probes

    @pytest.mark.slow
    def test_the_copy_task_is_learned(self, tmp_path: Path) -> None:
        """As the text judges it: greedy decoding of 1 … 10, for ten symbols, gives 1 … 10."""
        run: RunConfig = preset("copy-task-small")
        corpus = prepare_copy_task(run.data, run.training.seed)
        finished, _ = record(run, tmp_path / "run", corpus=corpus)
        assert isinstance(finished, TrainingFinished)
        assert finished.best_validation_loss < 0.1
        model = load_checkpoint(finished.best_checkpoint).build_model()
        rules = DecodingRules.of_vocabulary(corpus.codecs.target.vocabulary, forbid_unknown=True)
        symbols = list(range(1, 11))
        with torch.inference_mode():
            (chosen,) = greedy_search(model, model.encode(torch.tensor([symbols])), [9], rules)
        assert [1, *chosen] == symbols
