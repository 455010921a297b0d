import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.core.extensions.training.events import CheckpointSaved, PhaseStarted
from augenmerk.viz_app.extensions.train.curves import RunCurves
from augenmerk.viz_app.extensions.train.state import Run, Status, TrainState
from tests.viz_app.extensions.train.scripted import (
    epoch_done,
    finished,
    request,
    started,
    step_done,
)

FOLDER = Path("runs") / "notebook-1"


@pytest.fixture
def state() -> TrainState:
    """A run of three epochs of five steps that is about to take its first step."""
    state = TrainState()
    state.begin(request(FOLDER))
    state.apply(started(FOLDER))
    return state


@pytest.mark.subprocess
def test_state_needs_no_qt() -> None:
    modules = "state curves run_files run.status_text run.settings run.choices charts.picture"
    imports = "; ".join(
        f"import augenmerk.viz_app.extensions.train.{name}" for name in modules.split()
    )
    code = (
        f"import sys; {imports}; assert 'PySide6' not in sys.modules; assert 'torch' not in "
        "sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_phase_is_shown_until_the_next_step(state: TrainState) -> None:
    state.apply(PhaseStarted("Validating"))
    assert state.run.phase == "Validating"
    state.apply(step_done(1))
    assert state.run.phase == ""


def test_run_goes_from_preparing_to_training() -> None:
    state = TrainState()
    assert state.run.status is Status.IDLE
    state.begin(request(FOLDER))
    assert state.run.status is Status.PREPARING
    state.apply(started(FOLDER))
    assert state.run.status is Status.TRAINING


def test_steps_become_curves(state: TrainState) -> None:
    for step in range(1, 5):
        state.apply(step_done(step))
    assert state.run.curves.training_loss.xy()[0].tolist() == [1, 2, 3, 4]
    assert state.run.curves.training_loss.xy()[1].tolist() == [8, 4, 8 / 3, 2]
    assert (
        len(state.run.curves.learning_rate)
        == len(state.run.curves.gradient_norm)
        == len(state.run.curves.tokens_per_second)
        == 4
    )
    assert state.run.fraction_done == pytest.approx(4 / 15)


def test_events_that_arrive_together_are_published_once_with_their_result(
    state: TrainState,
) -> None:
    published: list[Run] = []
    state.run_changed.connect(published.append)
    state.apply(
        step_done(1), step_done(2), CheckpointSaved(FOLDER / "last.safetensors", "last", 1, 2)
    )
    (run,) = published
    assert run is state.run
    assert (run.curves.last_step, run.last_checkpoint) == (2, FOLDER / "last.safetensors")


def test_best_validation_is_the_lowest(state: TrainState) -> None:
    for epoch, loss in enumerate((3.0, 2.0, 2.5), start=1):
        state.apply(epoch_done(epoch, loss))
    assert state.run.curves.best is not None
    assert (state.run.curves.best.epoch, state.run.curves.best.validation_loss) == (2, 2.0)
    assert [point.step for point in state.run.curves.validations] == [5, 10, 15]


def test_validation_that_is_no_number_is_never_the_best(state: TrainState) -> None:
    state.apply(epoch_done(1, math.nan))
    state.apply(epoch_done(2, 2.0))
    assert state.run.curves.best is not None
    assert state.run.curves.best.epoch == 2


def test_loss_that_is_no_number_stays_off_the_chart(state: TrainState) -> None:
    state.apply(step_done(1))
    state.apply(step_done(2, loss=math.nan))
    assert len(state.run.curves.training_loss) == 1
    assert len(state.run.curves.learning_rate) == 2


def test_model_can_be_tried_when_the_best_checkpoint_stands(state: TrainState) -> None:
    assert not state.run.can_try_model
    state.apply(CheckpointSaved(FOLDER / "best.safetensors", "best", 1, 5))
    assert state.run.can_try_model


def test_stop_is_said_at_once_and_lasts_until_the_run_has_ended(state: TrainState) -> None:
    state.request_stop()
    assert state.run.status is Status.STOPPING
    state.apply(step_done(1))
    assert state.run.status is Status.STOPPING
    state.apply(finished(FOLDER, "stopped", 1, 1))
    assert state.run.status is Status.FINISHED


def test_stop_asked_for_while_preparing_survives_the_start(state: TrainState) -> None:
    state.begin(request(FOLDER))
    state.request_stop()
    state.apply(started(FOLDER))
    assert state.run.status is Status.STOPPING


def test_stopped_run_can_be_resumed_and_a_complete_one_cannot(state: TrainState) -> None:
    state.apply(finished(FOLDER, "stopped", 7, 1))
    assert state.run.can_resume
    state.apply(finished(FOLDER, "completed", 15, 3))
    assert not state.run.can_resume


def test_run_stopped_before_its_first_validation_offers_no_model(state: TrainState) -> None:
    state.apply(finished(FOLDER, "stopped", 0, 0))
    assert not state.run.can_try_model
    assert state.run.can_resume


def test_error_keeps_curves_and_checkpoints(state: TrainState) -> None:
    state.apply(step_done(1))
    state.apply(CheckpointSaved(FOLDER / "last.safetensors", "last", 1, 1, 2.5))
    assert state.run.save_seconds == 2.5
    state.fail("The loss became nan.")
    assert state.run.status is Status.FAILED
    assert state.run.error == "The loss became nan."
    assert len(state.run.curves.training_loss) == 1
    assert state.run.can_resume


def test_resumed_run_goes_on_with_its_curves(state: TrainState) -> None:
    for step in range(1, 6):
        state.apply(step_done(step))
    state.apply(epoch_done(1))
    state.apply(finished(FOLDER, "stopped", 5, 1))
    state.begin(request(FOLDER, resume=True))
    state.apply(started(FOLDER, first_step=5))
    state.apply(step_done(6))
    assert state.run.curves.training_loss.xy()[0].tolist() == [1, 2, 3, 4, 5, 6]
    assert len(state.run.curves.validations) == 1


def test_steps_that_a_resumed_run_does_again_are_dropped(state: TrainState) -> None:
    for step in range(1, 9):
        state.apply(step_done(step))
    state.apply(CheckpointSaved(FOLDER / "last.safetensors", "last", 1, 5))
    state.fail("No space left on device")
    state.begin(request(FOLDER, resume=True))
    state.apply(started(FOLDER, first_step=5))
    state.apply(step_done(6, loss=9.0))
    assert state.run.curves.training_loss.xy()[0].tolist() == [1, 2, 3, 4, 5, 6]
    assert state.run.curves.training_loss.xy()[1][-1] == 9.0


def test_new_run_forgets_the_one_before(state: TrainState) -> None:
    state.apply(step_done(1))
    state.apply(epoch_done(1))
    state.apply(finished(FOLDER, "stopped", 1, 1))
    state.begin(request(Path("runs") / "notebook-2"))
    assert len(state.run.curves.training_loss) == 0
    assert state.run.curves.validations == []
    assert state.run.curves.best is None
    assert not state.run.can_try_model


def test_run_stopped_while_preparing_leaves_the_page_as_it_was() -> None:
    state = TrainState()
    state.begin(request(FOLDER))
    state.request_stop()
    state.stop_before_training()
    assert state.run.status is Status.IDLE
    assert not state.run.can_resume


def test_step_axis_grows_by_doubling_up_to_the_length_of_the_run(state: TrainState) -> None:
    assert state.run.num_steps_shown == 15
    long_run = TrainState()
    long_run.begin(request(FOLDER))
    long_run.apply(started(FOLDER, num_epochs=1000))
    ends = []
    for step in range(1, 5001):
        long_run.apply(step_done(step))
        ends.append(long_run.run.num_steps_shown)
    assert sorted(set(ends)) == [100, 200, 400, 800, 1600, 3200, 5000]
    assert all(end >= step for step, end in enumerate(ends, start=1))


def unfinished(history: list[EpochRecord]) -> Run:
    """A run of an earlier session."""
    curves = RunCurves()
    curves.add_run(history)
    return Run(folder=FOLDER, curves=curves, last_checkpoint=FOLDER / "last.safetensors")


@pytest.mark.parametrize("steps", [[54, 108, 540], [227, 454, 2270], [7]])
def test_step_axis_of_an_earlier_run_ends_with_it(steps: list[int]) -> None:
    curves = RunCurves()
    for epoch, step in enumerate(steps, start=1):
        curves.add_record(EpochRecord(epoch, step, 3.0, 2.9, 2.9, 1e-3, 10.0))
    state = TrainState()
    state.show_run(Run(Status.VIEWING, folder=FOLDER, curves=curves))
    assert state.run.num_steps_shown == steps[-1]


def test_step_axis_of_a_run_to_resume_holds_what_is_known_of_it() -> None:
    state = TrainState()
    history = [EpochRecord(epoch, 227 * epoch, 3.0, 2.9, 2.9, 1e-3, 10.0) for epoch in (1, 2)]
    state.show_run(unfinished(history))
    state.begin(request(FOLDER, resume=True))
    assert state.run.num_steps_shown >= 454


def test_earlier_run_is_offered_with_its_history() -> None:
    state = TrainState()
    history = [
        EpochRecord(1, 5, 3.0, 2.9, 2.9, 1e-3, 10.0),
        EpochRecord(2, 10, 2.0, 2.2, 2.2, 1e-3, 10.0),
    ]
    state.show_run(unfinished(history))
    assert state.run.status is Status.IDLE
    assert state.run.can_resume
    assert state.run.has_curves
    assert [point.validation_loss for point in state.run.curves.validations] == [2.9, 2.2]


def test_both_means_of_a_validation_are_known(state: TrainState) -> None:
    state.apply(replace(epoch_done(1, 2.5), validation_loss_batch_mean=2.4))
    assert [
        (point.validation_loss, point.validation_loss_batch_mean)
        for point in state.run.curves.validations
    ] == [(2.5, 2.4)]


@pytest.mark.slow
@pytest.mark.heavy
def test_hundred_thousand_steps_stay_bounded(state: TrainState) -> None:
    for step in range(1, 100_001):
        state.apply(step_done(step))
    assert len(state.run.curves.training_loss) <= 2000
    assert len(state.run.curves.learning_rate) <= 2000
