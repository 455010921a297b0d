from dataclasses import replace
from pathlib import Path

import pytest

from augenmerk.core.checkpoint.history import read_history, write_history
from augenmerk.viz_app.train.charts.comparison import PUBLISHED_LOSSES
from augenmerk.viz_app.train.charts.published_figure import published_figure
from tools.notebook_curve import DOCS, main

HISTORY = read_history(DOCS / "notebook.history.csv")


@pytest.mark.heavy
def test_both_curves_are_drawn_epoch_by_epoch_and_counted_alike() -> None:
    axes = published_figure(HISTORY).axes[0]
    published, ours = (line for line in axes.lines if len(line.get_xdata()) > 1)
    assert list(published.get_ydata()) == list(PUBLISHED_LOSSES)
    assert list(ours.get_ydata()) == [record.validation_loss_batch_mean for record in HISTORY]
    assert list(ours.get_xdata()) == list(published.get_xdata()) == list(range(1, 11))


def test_the_legend_names_the_best_epoch_of_each() -> None:
    legend = published_figure(HISTORY).axes[0].get_legend()
    assert legend is not None
    words = [text.get_text() for text in legend.get_texts()]
    assert words == ["published: best 1.613 in epoch 9", "trained by Augenmerk: best 1.628 in epoch 7"]


def test_our_curve_stays_near_the_published_one() -> None:
    for record, published in zip(HISTORY, PUBLISHED_LOSSES, strict=True):
        assert record.validation_loss_batch_mean == pytest.approx(published, rel=0.02)
    assert HISTORY[-1].validation_loss_batch_mean == pytest.approx(PUBLISHED_LOSSES[-1], rel=0.02)


@pytest.mark.figures
def test_the_command_draws_the_history_it_is_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_history(tmp_path / "one.csv", [replace(HISTORY[0], validation_loss_batch_mean=3.5)])
    assert main([str(tmp_path / "one.csv"), str(tmp_path / "curve.png")]) == 0
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert str(tmp_path / "curve.png") in capsys.readouterr().out
