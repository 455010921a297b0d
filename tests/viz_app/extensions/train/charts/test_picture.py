import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.core.extensions.training.history_file import write_history
from augenmerk.viz_app.extensions.train.charts.panel import legend_entries
from augenmerk.viz_app.extensions.train.charts.picture import (
    QUANTITY_NAMES,
    ChartLine,
    ChartPicture,
    ChartSettings,
    Limits,
    Quantity,
    Scale,
    Shown,
    picture_of,
)
from augenmerk.viz_app.extensions.train.curves import RunCurves
from augenmerk.viz_app.extensions.train.run_files import RunComparison
from augenmerk.viz_app.extensions.train.state import TrainState
from tests.viz_app.extensions.train.scripted import epoch_done, request, started, step_done


@pytest.fixture
def state() -> TrainState:
    """A run of 600 epochs, 3,000 steps, 450 of them done, with two validations."""
    state = TrainState()
    state.begin(request(Path("runs")))
    state.apply(started(Path("runs"), num_epochs=600))
    for step in range(1, 451):
        state.apply(step_done(step, loss=8 - step / 100 + step % 2 / 10))
    state.apply(epoch_done(40, 4.5))
    state.apply(epoch_done(80, 4.0))
    return state


def draw(state: TrainState, choices: ChartSettings, before: Limits | None = None) -> ChartPicture:
    return picture_of(state.run.curves, choices, state.run.num_steps_shown, y_before=before)


def line(picture: ChartPicture, key: str) -> ChartLine:
    return next(line for line in picture.lines if line.key == key)


def test_loss_has_raw_smoothed_and_validation_lines_and_the_best_epoch(state: TrainState) -> None:
    picture = draw(state, ChartSettings("loss"))
    assert [line.key for line in picture.lines] == ["raw", "curve", "validation"]
    assert (
        np.abs(np.diff(line(picture, "curve").ys)).max()
        < np.abs(np.diff(line(picture, "raw").ys)).max()
    )
    assert line(picture, "validation").xs.tolist() == [200, 400]
    assert picture.best == (400, 4.0, "best 4.000 · epoch 80")


def test_without_smoothing_there_is_one_training_line(state: TrainState) -> None:
    picture = draw(state, ChartSettings("loss", smoothing="none"))
    assert [line.key for line in picture.lines] == ["curve", "validation"]
    assert line(picture, "curve").ys.tolist() == state.run.curves.training_loss.xy()[1].tolist()


def test_perplexity_is_e_to_the_loss(state: TrainState) -> None:
    loss, perplexity = draw(state, ChartSettings("loss")), draw(state, ChartSettings("perplexity"))
    for key in ("curve", "validation"):
        np.testing.assert_allclose(line(perplexity, key).ys, np.exp(line(loss, key).ys))
    assert perplexity.is_log
    assert perplexity.best is not None
    assert perplexity.best[1] == pytest.approx(math.exp(4.0))


def test_scale_is_remembered_for_each_quantity() -> None:
    choices = ChartSettings("loss")
    choices.scale = "log"
    choices.quantity = "gradient_norm"
    assert choices.scale == "linear"
    choices.quantity = "loss"
    assert choices.scale == "log"


@pytest.mark.parametrize("quantity", list(QUANTITY_NAMES))
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_every_quantity_has_limits_before_the_first_value(quantity: Quantity, scale: str) -> None:
    choices = ChartSettings(quantity)
    choices.scale = "log" if scale == "log" else "linear"
    low, high = draw(TrainState(), choices).y_limits
    assert low < high
    assert scale == "linear" or low > 0


def test_falling_loss_keeps_its_limits_until_it_fills_less_than_half(state: TrainState) -> None:
    choices = ChartSettings("loss", smoothing="none")
    first = draw(state, choices)
    assert first.y_limits[0] == 0
    assert draw(state, choices, first.y_limits).y_limits == first.y_limits
    assert draw(state, choices, (0, 100)).y_limits != (0, 100)
    assert draw(state, choices, (0, 5)).y_limits[1] > 8


@pytest.mark.slow
@pytest.mark.heavy
def test_last_steps_are_shown_on_an_axis_that_moves_in_jumps() -> None:
    long_run = TrainState()
    long_run.begin(request(Path("runs")))
    long_run.apply(started(Path("runs"), num_epochs=1000))
    limits = []
    for step in range(1, 5001):
        long_run.apply(step_done(step))
        if step > 4000:
            limits.append(draw(long_run, ChartSettings("loss", shown="500")).x_limits)
    assert len(set(limits)) <= 12
    assert limits[-1] == (4500, 5000)
    assert line(draw(long_run, ChartSettings("loss", shown="500")), "raw").xs[-1] == 5000


def test_this_epoch_begins_where_the_last_one_ended(state: TrainState) -> None:
    left, right = draw(state, ChartSettings("loss", shown="epoch")).x_limits
    assert left == 400
    assert right == 600


def test_zoom_shows_what_was_chosen_and_fits_the_values_to_it(state: TrainState) -> None:
    choices = ChartSettings("loss")
    choices.shown, choices.zoom = "zoom", (200, 300)
    picture = draw(state, choices)
    assert picture.x_limits == (200, 300)
    assert 3.5 < picture.y_limits[0] < picture.y_limits[1] < 7


def test_compared_runs_make_the_step_axis_long_enough(state: TrainState) -> None:
    comparison = RunComparison()
    comparison.add_published(steps_per_epoch=227)
    picture = picture_of(state.run.curves, ChartSettings("loss"), 512, comparison.runs)
    assert picture.x_limits == (0, 2270)
    published = line(picture, "run 0 validation")
    assert published.ys.tolist()[8] == 1.613
    assert published.xs.tolist()[0] == 227


@pytest.mark.parametrize("shown", ["epoch", "500", "zoom"])
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_constant_rate_runs_through_the_middle_of_a_wide_axis(shown: Shown, scale: Scale) -> None:
    curves = RunCurves()
    for step in range(1, 51):
        curves.add_step(replace(step_done(step), learning_rate=5e-4))
    choices = ChartSettings("learning_rate", shown=shown)
    choices.scale = scale
    low, high = picture_of(curves, choices, 100).y_limits
    assert low < 4e-4
    assert high > 6e-4


@pytest.fixture
def notebook() -> RunCurves:
    """A run whose best epoch is another when its batches are counted alike; then a diverged
    epoch."""
    curves = RunCurves()
    for epoch, (loss, batch_mean) in enumerate(
        [(2.0, 1.9), (1.7, 1.65), (1.72, 1.64), (math.nan, math.nan)], start=1
    ):
        curves.add_record(EpochRecord(epoch, 227 * epoch, 2.5, loss, batch_mean, 5e-4, 9.0))
    return curves


def test_beside_the_published_curve_every_run_is_drawn_as_means_of_batch_means(
    notebook: RunCurves, tmp_path: Path
) -> None:
    write_history(
        tmp_path / "other" / "history.csv", [EpochRecord(1, 227, 2.5, 2.2, 2.1, 5e-4, 9.0)]
    )
    comparison = RunComparison()
    comparison.add_folder(tmp_path / "other")
    alone = picture_of(notebook, ChartSettings("loss"), 1000, comparison.runs)
    assert line(alone, "validation").ys.tolist() == [2.0, 1.7, 1.72]
    assert line(alone, "validation").name == "validation"
    assert alone.best == (454, 1.7, "best 1.700 · epoch 2")
    assert line(alone, "run 0 validation").ys.tolist() == [2.2]
    comparison.add_published()
    beside = picture_of(notebook, ChartSettings("loss"), 1000, comparison.runs)
    assert line(beside, "validation").ys.tolist() == [1.9, 1.65, 1.64]
    assert line(beside, "validation").name == "validation, mean of batches"
    assert beside.best == (681, 1.64, "best 1.640 · epoch 3")
    assert line(beside, "run 0 validation").ys.tolist() == [2.1]
    perplexity = picture_of(notebook, ChartSettings("perplexity"), 1000, comparison.runs)
    np.testing.assert_allclose(line(perplexity, "validation").ys, np.exp([1.9, 1.65, 1.64]))


def test_legend_says_which_mean_the_validation_line_is(notebook: RunCurves) -> None:
    comparison = RunComparison()
    assert [entry.name for entry in legend_entries("loss", notebook, comparison.runs)] == [
        "training",
        "validation",
    ]
    comparison.add_published()
    names = [entry.name for entry in legend_entries("loss", notebook, comparison.runs)]
    assert names == ["training", "validation, mean of batches", "published notebook"]


def test_bleu_is_drawn_at_its_steps(state: TrainState) -> None:
    for point, bleu in zip(state.run.curves.validations, (12.5, 20.0), strict=True):
        state.run.curves.add_validation(replace(point, bleu=bleu))
    picture = draw(state, ChartSettings("bleu"))
    assert line(picture, "bleu").ys.tolist() == [12.5, 20.0]
    assert picture.best == (400, 20.0, "best 20.0")
