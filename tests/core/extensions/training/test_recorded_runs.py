"""The metrics of runs of the presets of The Annotated Transformer in `docs`."""

import csv
from pathlib import Path

import pytest

from augenmerk.core.extensions.run_settings.presets import preset

DOCS = Path(__file__).resolve().parents[4] / "docs"
COLUMNS = ("step", "epoch", "loss", "learning_rate", "gradient_norm", "num_tokens")
NAMES = ("annotated-2018", "annotated-2022")
Row = dict[str, float]


def _read(name: str) -> list[Row]:
    with (DOCS / f"{name}.history.csv").open(encoding="utf-8", newline="") as file:
        return [{column: float(row[column]) for column in COLUMNS} for row in csv.DictReader(file)]


def _mean_loss(rows: list[Row]) -> float:
    """Weighted by tokens, as the loss of an epoch is."""
    return sum(row["loss"] * row["num_tokens"] for row in rows) / sum(
        row["num_tokens"] for row in rows
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_hundred_steps_and_more_were_recorded_without_a_gap(name: str) -> None:
    rows = _read(name)
    assert len(rows) >= 100
    assert [row["step"] for row in rows] == list(range(1, len(rows) + 1))


@pytest.mark.parametrize("name", NAMES)
def test_the_page_about_the_runs_tells_the_steps_and_losses_that_the_tables_hold(name: str) -> None:
    rows = _read(name)
    page = (DOCS / "annotated-runs.md").read_text(encoding="utf-8")
    size = len(rows) // 5
    first, last = _mean_loss(rows[:size]), _mean_loss(rows[4 * size : 5 * size])
    assert f"--preset {name} --max-steps {len(rows)} " in page
    assert f"| {len(rows)} | {first:.2f} → {last:.2f} |" in page


@pytest.mark.parametrize(
    ("name", "warmup", "schedule_steps"),
    [("annotated-2018", 2000, 1), ("annotated-2022", 3000, 10)],
)
def test_the_recorded_rate_is_noams_in_closed_form(
    name: str, warmup: int, schedule_steps: int
) -> None:
    """The schedule of 2022 steps with each of the ten batches whose gradients are summed."""
    run = preset(name)
    width, factor = run.model.width, run.training.noam_factor
    assert (width, factor, run.training.warmup_steps) == (512, 1.0, warmup)
    for row in _read(name):
        step = row["step"] * schedule_steps
        expected = factor * width**-0.5 * min(step**-0.5, step * warmup**-1.5)
        assert row["learning_rate"] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_the_loss_fell_from_fifth_to_fifth_of_the_run(name: str) -> None:
    rows = _read(name)
    size = len(rows) // 5
    means = [_mean_loss(rows[part * size : (part + 1) * size]) for part in range(5)]
    assert means == sorted(means, reverse=True)
    assert means[-1] < means[0] - 1.5


def test_no_batch_of_the_token_counted_run_is_larger_than_was_asked_for() -> None:
    assert max(row["num_tokens"] for row in _read("annotated-2018")) <= 12_000


def test_the_losses_of_the_originals_code_are_those_of_ours() -> None:
    """Of the same batches; means of 30 steps, as dropout differs."""
    ours = {row["step"]: row["loss"] for row in _read("annotated-2022")}
    with (DOCS / "annotated-2022.original.csv").open(encoding="utf-8", newline="") as file:
        original = {int(row["step"]): float(row["loss"]) for row in csv.DictReader(file)}
    assert len(original) == 300
    page = (DOCS / "annotated-runs.md").read_text(encoding="utf-8")
    blocks = [range(first, first + 30) for first in range(1, 300, 30)]
    means = [
        [sum(run[step] for step in block) / 30 for block in blocks] for run in (ours, original)
    ]
    for one, other in zip(*means, strict=True):
        assert one == pytest.approx(other, abs=0.05)
    for name, values in zip(("this code", "the original's code"), means, strict=True):
        assert f"| mean loss, {name} | {' | '.join(f'{value:.3f}' for value in values)} |\n" in page


def test_the_page_tells_the_epochs_of_the_whole_run() -> None:
    with (DOCS / "annotated-2022.epochs.csv").open(encoding="utf-8", newline="") as file:
        epochs = list(csv.DictReader(file))
    assert [int(row["epoch"]) for row in epochs] == list(
        range(1, preset("annotated-2022").training.num_epochs + 1)
    )
    assert int(epochs[-1]["step"]) == len(_read("annotated-2022"))
    page = (DOCS / "annotated-runs.md").read_text(encoding="utf-8")
    for column, name, digits in (
        ("training_loss", "training loss, with label smoothing", 3),
        ("validation_loss", "validation loss", 3),
        ("bleu", "BLEU of 100 sentences of `val`", 1),
    ):
        values = (f"{float(row[column]):.{digits}f}" for row in epochs)
        assert f"| {name} | {' | '.join(values)} |" in page
