from dataclasses import replace
from pathlib import Path

import pytest

from augenmerk.core.extensions.training.history_file import read_history, write_history
from augenmerk.viz_app.extensions.train.run_files import PUBLISHED_LOSSES
from tools.notebook_curve import DOCS, main, published_picture

HISTORY = read_history(DOCS / "notebook.history.csv")


def test_both_curves_are_drawn_epoch_by_epoch_and_counted_alike() -> None:
    picture = published_picture(DOCS / "notebook.history.csv")
    lines = {line.name: line for line in picture.lines}
    published, ours = lines["published notebook"], lines["validation, mean of batches"]
    assert list(published.ys) == list(PUBLISHED_LOSSES)
    assert list(ours.ys) == [record.validation_loss_batch_mean for record in HISTORY]
    assert list(ours.xs) == list(published.xs), "as many steps an epoch"
    assert picture.best is not None
    assert picture.best[2] == "best 1.628 · epoch 7"


def test_our_curve_stays_near_the_published_one() -> None:
    for record, published in zip(HISTORY, PUBLISHED_LOSSES, strict=True):
        assert record.validation_loss_batch_mean == pytest.approx(published, rel=0.02)
    assert HISTORY[-1].validation_loss_batch_mean == pytest.approx(PUBLISHED_LOSSES[-1], rel=0.02)


@pytest.mark.figures
def test_the_command_draws_the_history_it_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_history(tmp_path / "one.csv", [replace(HISTORY[0], validation_loss_batch_mean=3.5)])
    assert main([str(tmp_path / "one.csv"), str(tmp_path / "curve.png")]) == 0
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert str(tmp_path / "curve.png") in capsys.readouterr().out
