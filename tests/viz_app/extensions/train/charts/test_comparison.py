from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.core.errors import TrainingError
from augenmerk.core.extensions.training.folder import was_interrupted_before_first_checkpoint
from augenmerk.core.extensions.training.history_file import write_history
from augenmerk.viz_app.extensions.train.charts.run_menu import CompareMenu
from augenmerk.viz_app.extensions.train.run_files import (
    NUM_RUNS,
    PUBLISHED,
    PUBLISHED_LOSSES,
    RunComparison,
    read_run,
    runs_in,
)
from augenmerk.viz_app.extensions.train.state import Run, TrainState
from tests.core.conftest import permissions_withheld  # noqa: F401


def write_run(parent: Path, name: str, num_epochs: int = 3) -> Path:
    """A folder with a history: validation losses 3.1, 2.1, 1.1 …"""
    records = [
        EpochRecord(n, 10 * n, 5 - n, 4.1 - n, 4.1 - n, 1e-3, 9.0) for n in range(1, num_epochs + 1)
    ]
    write_history(parent / name / "history.csv", records)
    return parent / name


def test_finished_run_is_read_from_its_folder(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path, "notebook-1"))
    assert run.name == "notebook-1"
    assert [(point.step, round(point.validation_loss, 1)) for point in run.curves.validations] == [
        (10, 3.1),
        (20, 2.1),
        (30, 1.1),
    ]
    assert run.curves.best is not None
    assert run.curves.best.epoch == 3
    assert run.summary.startswith("3 epochs · best validation loss 1.100 (epoch 3) · ")


@pytest.mark.parametrize(
    "content", [None, "", "epoch,step\n1,2\n", "epoch,step,training_loss\nx,y,z\n", "\x00\n\x00"]
)
def test_folder_that_is_no_run_is_refused(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "history.csv").write_text(content, encoding="utf-8")
    with pytest.raises(TrainingError, match=r"not the folder of a run|no validated epoch"):
        read_run(tmp_path)


def test_a_run_that_may_not_be_read_is_refused_so(
    tmp_path: Path,
    permissions_withheld: Any,  # noqa: F811
) -> None:
    run = write_run(tmp_path / "locked", "run")
    with permissions_withheld(tmp_path / "locked", 0o000):
        with pytest.raises(
            TrainingError, match=r"cannot be read: no permission\. Make the folder readable"
        ):
            read_run(run)
        assert not was_interrupted_before_first_checkpoint(run)
        assert runs_in(tmp_path / "locked") == []


def test_runs_of_a_folder_are_listed_newest_first_without_the_unreadable(tmp_path: Path) -> None:
    import os

    for age, name in enumerate(("newest", "older", "oldest")):
        folder = write_run(tmp_path, name)
        os.utime(folder / "history.csv", (1e9 - age, 1e9 - age))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "history.csv").write_text("nonsense", encoding="utf-8")
    assert [run.name for run in runs_in(tmp_path)] == ["newest", "older", "oldest"]
    with suppress(OSError):  # where links may not be made
        (tmp_path / "a-link").symlink_to("newest")
    assert [run.name for run in runs_in(tmp_path)] == ["newest", "older", "oldest"], "each once"
    assert runs_in(tmp_path / "missing") == []


def test_runs_come_in_colours_of_their_own_and_go(tmp_path: Path) -> None:
    comparison = RunComparison()
    changes: list[int] = []
    comparison.changed.connect(lambda: changes.append(len(comparison.runs)))
    first, second = write_run(tmp_path, "first"), write_run(tmp_path, "second")
    comparison.add_folder(first)
    comparison.add_folder(second)
    comparison.remove(str(first))
    comparison.add_published()
    assert [(run.name, run.slot) for run in comparison.runs] == [
        ("second", 1),
        ("published notebook", 0),
    ]
    assert changes == [1, 2, 1, 2]


def test_run_that_is_there_already_is_read_anew(tmp_path: Path) -> None:
    comparison = RunComparison()
    comparison.add_folder(write_run(tmp_path, "run", 1))
    comparison.add_folder(write_run(tmp_path, "run", 2))
    assert [len(run.curves.validations) for run in comparison.runs] == [2]


def test_more_runs_than_colours_are_refused(tmp_path: Path) -> None:
    comparison = RunComparison()
    for number in range(NUM_RUNS):
        comparison.add_folder(write_run(tmp_path, str(number)))
    with pytest.raises(TrainingError, match="At most 4 runs"):
        comparison.add_published()
    assert len(comparison.runs) == NUM_RUNS


def test_published_curve_has_ten_epochs() -> None:
    comparison = RunComparison()
    comparison.add_published(steps_per_epoch=100)
    assert comparison.contains(PUBLISHED)
    points = comparison.runs[0].curves.validations
    assert [point.validation_loss for point in points] == list(PUBLISHED_LOSSES)
    assert [point.step for point in points] == list(range(100, 1001, 100))


def test_neither_the_current_run_nor_one_that_is_there_is_offered(
    qtbot: QtBot, tmp_path: Path
) -> None:
    folders = [write_run(tmp_path, name) for name in ("current", "there", "other")]
    state, comparison = TrainState(), RunComparison()
    state.show_run(Run(folder=folders[0]))
    comparison.add_folder(folders[1])
    menu = CompareMenu(state, comparison, lambda: tmp_path)
    qtbot.addWidget(menu)
    menu.menu().aboutToShow.emit()
    assert [action.text() for action in menu.menu().actions() if action.text()] == [
        "other",
        "Other folder…",
    ]
