"""Files that version 0.1.0 wrote: `tests/earlier`.

All of them still open.

The folder holds a run (stopped in the second of three epochs, float32, one layer), its corpus, an
experiment, a lesson and the settings of a window. `metrics.csv` is what `augenmerk charts` made of
the run then.
"""

import csv
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from augenmerk.core.cli.main import main
from augenmerk.core.extensions.lessons.lesson_file import read_lesson_file, write_lesson_file
from augenmerk.core.model.heads import Head
from augenmerk.core.run_files import HISTORY
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Beam,
    CausalMaskLifted,
    Experiment,
    ForcedToken,
    GivenTarget,
    HeadScaled,
    SoftmaxTemperature,
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.experiment_file import (
    SavedExperiment,
    read_experiment_file,
    write_experiment_file,
)
from augenmerk.viz_app.extensions.documents.reading import apply_view, check_view, view_values
from augenmerk.viz_app.extensions.train.run.settings import load_choices, load_unfinished
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view_settings import MapViewSettings
from tests.builders import command_line

EARLIER = Path(__file__).parent / "earlier"
BEAM = Experiment(
    "Zwei Hunde spielen im Schnee.",
    output=Beam(4, 1.5),
    interventions=(
        SourceWordRemoved(3),
        SourceWordReplaced(1, "Katzen"),
        HeadScaled(Head("cross", 1, 4), 0.0),
        HeadScaled(Head("encoder", 0, 2), 0.5),
        SoftmaxTemperature(Head("decoder", 0, 1), 2.0),
        AttentionRow(Head("cross", 0, 0), 1, (0.25, 0.25, 0.5)),
        ForcedToken(2, "▁dogs"),
    ),
)

GIVEN = Experiment(
    BEAM.source_text,
    output=GivenTarget("Two dogs play in the snow."),
    interventions=(CausalMaskLifted(),),
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A copy of the run's folder."""
    return Path(shutil.copytree(EARLIER / "run", tmp_path / "run"))


def table(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


@pytest.mark.training
@pytest.mark.heavy
def test_a_run_resumes_with_the_losses_of_then(run: Path) -> None:
    arguments = command_line(
        "train --data {} --out {} --resume --change max_steps=none", EARLIER / "corpus", run
    )
    assert main([*arguments, "--device", "cpu"]) == 0
    rows = table(run / HISTORY)
    assert [int(row["step"]) for row in rows] == [5, 10, 15]
    assert [float(row["validation_loss"]) for row in rows] == pytest.approx(
        [4.329238, 3.924194, 3.808284], abs=1e-3
    )


@pytest.mark.figures
def test_metrics_of_steps_are_those_of_then(run: Path, tmp_path: Path) -> None:
    made = tmp_path / "metrics.csv"
    assert main(["charts", str(run), "--out", str(made)]) == 0
    assert table(made) == table(EARLIER / "metrics.csv")


@pytest.mark.figures
@pytest.mark.heavy
def test_the_film_of_a_run_is_read(run: Path, tmp_path: Path) -> None:
    made = tmp_path / "film.gif"
    assert main(["charts", str(run), "--out", str(made)]) == 0
    assert made.stat().st_size > 1_000


@pytest.mark.heavy
def test_a_checkpoint_translates(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(
            command_line(
                "translate {} --checkpoint {} --device cpu", "Hunde .", run / "best.safetensors"
            )
        )
        == 0
    )
    assert capsys.readouterr().out.startswith("D d d")


def test_experiments_are_read_and_written_alike(tmp_path: Path) -> None:
    saved = read_experiment_file(EARLIER / "experiment.augenmerk")
    assert saved.experiment == BEAM
    write_experiment_file(saved, tmp_path / "again.augenmerk")
    assert read_experiment_file(tmp_path / "again.augenmerk") == saved


def test_lessons_are_read_and_written_alike(tmp_path: Path) -> None:
    lesson = read_lesson_file(EARLIER / "lesson.augenmerk")
    assert [scene.title for scene in lesson.scenes] == ["Beam search", "Given", "Greedy"]
    assert lesson.scenes[0].saved.experiment == BEAM
    assert lesson.scenes[1].saved.experiment == GIVEN
    assert lesson.scenes[0].question == "Which one wins?"
    write_lesson_file(lesson, tmp_path / "again.augenmerk")
    assert read_lesson_file(tmp_path / "again.augenmerk") == lesson


def test_the_view_of_an_experiment_is_restored() -> None:
    saved: SavedExperiment = read_experiment_file(EARLIER / "experiment.augenmerk")
    state = ExperimentState()
    check_view(state, saved.view)
    apply_view(state, saved.view)
    restored = view_values(state)
    pinned = {"pinned"}  # of the next result
    assert {key: restored[key] for key in saved.view if key not in pinned} == {
        key: value for key, value in saved.view.items() if key not in pinned
    }


def test_settings_of_the_window_are_restored(tmp_path: Path) -> None:
    copy = Path(shutil.copy(EARLIER / "settings.ini", tmp_path / "settings.ini"))
    preferences = Preferences(QSettings(str(copy), QSettings.Format.IniFormat))
    assert preferences.restored(MapViewSettings()) == MapViewSettings(
        label_mode="read",
        scale="own",
        hides_wrapping=True,
        hides_punctuation=True,
        merges_words=False,
        folds_encoder=True,
        folds_decoder=True,
        folds_cross=True,
    )
    assert (preferences.theme, preferences.scale, preferences.learn_language) == ("dark", 150, "de")
    assert preferences.model == Path("/models/mine.safetensors")
    assert preferences.head == Head("decoder", 2, 5)
    assert (preferences.lesson_name, preferences.lesson_place) == ("/lessons/order.augenmerk", 3)
    assert preferences.has_taken_quick_tour
    assert not preferences.exports_captions
    assert (preferences.is_analysis_open, preferences.analysis_tab) == (True, "steps")
    assert preferences.recent_models.paths == (
        Path("/models/mine.safetensors"),
        Path("/models/a.safetensors"),
    )
    assert preferences.recent_experiments.paths == (Path("/experiments/x.augenmerk"),)


def test_settings_of_the_train_page_are_restored(tmp_path: Path) -> None:
    copy = Path(shutil.copy(EARLIER / "settings.ini", tmp_path / "settings.ini"))
    last = tmp_path / "last.safetensors"
    last.touch()  # a run whose checkpoint is gone cannot be resumed, and is not offered
    copy.write_text(
        copy.read_text(encoding="utf-8").replace("/runs/copy/last.safetensors", str(last)),
        encoding="utf-8",
    )
    settings = QSettings(str(copy), QSettings.Format.IniFormat)
    choices = load_choices(settings)
    assert (choices.preset, choices.data_kind, choices.data_path) == (
        "notebook",
        "folder",
        "/data/pairs",
    )
    assert (choices.parent_folder, choices.probe) == (Path("/runs"), "Ein Hund.")
    assert choices.settings == {"model.width": "64", "training.learning_rate": "0.001"}
    unfinished = load_unfinished(settings)
    assert unfinished is not None
    assert (
        unfinished.request.folder,
        unfinished.request.run.preset,
        unfinished.request.run.model.width,
    ) == (
        Path("/runs/copy"),
        "copy-task-small",
        64,
    )
    assert unfinished.request.changes == {"learning_rate": 0.0001}
