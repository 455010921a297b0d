from pathlib import Path

import pytest

from augenmerk.core.extensions.training.events import CheckpointSaved, Noted, PhaseStarted
from augenmerk.viz_app.extensions.train.run.status_text import (
    activity,
    metric_rows,
    notice,
    status_line,
)
from augenmerk.viz_app.extensions.train.state import TrainState
from tests.viz_app.extensions.train.scripted import (
    epoch_done,
    finished,
    request,
    started,
    step_done,
)

FOLDER = Path("runs") / "notebook-1"


@pytest.fixture
def running() -> TrainState:
    """A run in its second epoch."""
    state = TrainState()
    state.begin(request(FOLDER))
    state.apply(started(FOLDER))
    for step in range(1, 6):
        state.apply(step_done(step))
    state.apply(CheckpointSaved(FOLDER / "best.safetensors", "best", 1, 5))
    state.apply(epoch_done(1, 2.5))
    state.apply(step_done(6))
    return state


def test_all_figures_are_there_while_training(running: TrainState) -> None:
    assert dict(metric_rows(running.run)) == {
        "epoch": "2 of 3",
        "step": "6 of 15",
        "tokens / s": "4,123",
        "time left": "2 min 05 s",
        "loss": "1.333",
        "validation": "2.500",
        "perplexity": "12.18",
        "BLEU": "–",
        "best": "2.500 · epoch 1",
        "learning rate": "6.00e-04",
        "gradient norm": "0.84",
    }


def test_figures_have_the_same_names_before_the_first_step(running: TrainState) -> None:
    before = TrainState()
    assert [name for name, _ in metric_rows(before.run)] == [
        name for name, _ in metric_rows(running.run)
    ]
    assert {value for _, value in metric_rows(before.run)} == {"–"}


def test_phase_is_said_while_it_lasts(running: TrainState) -> None:
    assert activity(running.run) == "Training"
    running.apply(PhaseStarted("Validating"))
    assert activity(running.run) == "Validating…"
    assert status_line(running.run) == "training notebook · epoch 2 of 3"


def test_preparation_is_said_with_its_phase() -> None:
    state = TrainState()
    state.begin(request(FOLDER))
    state.apply(PhaseStarted("Tokenizing 29,000 sentence pairs"))
    shown = notice(state.run)
    assert shown is not None
    assert shown.text == "Tokenizing 29,000 sentence pairs…"
    assert "Tokenizing" in status_line(state.run)


def test_best_epoch_offers_the_model(running: TrainState) -> None:
    shown = notice(running.run)
    assert shown is not None
    assert shown.heading == "Epoch 1 done"
    assert "2.500, the best so far" in shown.text
    assert shown.offers_model


def test_worse_epoch_names_the_best(running: TrainState) -> None:
    running.apply(epoch_done(2, 3.0, is_best=False))
    shown = notice(running.run)
    assert shown is not None
    assert "The best is still epoch 1" in shown.text


def test_stopping_says_that_what_was_learned_is_kept(running: TrainState) -> None:
    running.request_stop()
    shown = notice(running.run)
    assert shown is not None
    assert shown.heading == "Stopping…"
    assert "saved" in shown.text
    assert activity(running.run) == "Stopping…"


def test_what_was_told_at_the_end_stays(running: TrainState) -> None:
    running.apply(Noted("The metrics of each step could not all be written."))
    running.apply(finished(FOLDER, "completed", 15, 3))
    shown = notice(running.run)
    assert shown is not None
    assert "could not all be written." in shown.text


def test_every_note_stays_next_to_the_validations(running: TrainState) -> None:
    for note in (
        "Training uses 125 of 128 pairs: 2 empty, 1 too long.",
        "The schedule is short.",
        "The schedule is short.",
    ):
        running.apply(Noted(note))
    running.apply(epoch_done(2, 3.0, is_best=False))
    shown = notice(running.run)
    assert shown is not None
    assert shown.heading == "Epoch 2 done"
    assert (
        "The best is still epoch 1. Training uses 125 of 128 pairs: 2 empty, 1 too long. The "
        "schedule" in shown.text
    )
    assert shown.text.count("The schedule is short.") == 1


def test_end_says_what_happened_and_where_the_files_are(running: TrainState) -> None:
    running.apply(finished(FOLDER, "completed", 15, 3))
    shown = notice(running.run)
    assert shown is not None
    assert shown.heading == "Finished"
    assert "step 15, 1 min 15 s" in shown.text
    assert "1.667 in epoch 3" in shown.text
    assert shown.offers_folder
    assert shown.offers_model
    assert shown.offers_folder
    assert dict(metric_rows(running.run))["time left"] == "–"


def test_error_is_shown_in_full_and_in_a_warm_tone(running: TrainState) -> None:
    running.fail("At step 7 the loss became nan.")
    shown = notice(running.run)
    assert shown is not None
    assert shown.text == "At step 7 the loss became nan."
    assert shown.tone == "warm"
    assert shown.offers_model
    assert "training failed" in status_line(running.run)


def test_nothing_is_said_before_the_first_run() -> None:
    state = TrainState()
    assert notice(state.run) is None
    assert status_line(state.run) == ""
    assert activity(state.run) == ""
