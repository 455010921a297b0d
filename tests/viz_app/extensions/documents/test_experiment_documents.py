"""Experiments as files: saved, opened with their model, refused whole, restored at the next
start."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.core.checkpoint.file import load_checkpoint, model_digest
from augenmerk.core.device import DeviceChoice
from augenmerk.core.errors import ExperimentFileError
from augenmerk.core.extensions.lessons.lesson_file import Lesson, Scene, write_lesson_file
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import (
    Experiment,
    ForcedToken,
    GivenTarget,
    Greedy,
    HeadScaled,
    SourceWordReplaced,
)
from augenmerk.core.translation.experiment_file import (
    ModelReference,
    SavedExperiment,
    read_experiment_file,
    to_bytes,
    write_experiment_file,
)
from augenmerk.viz_app.extensions.documents.experiment_documents import (
    ExperimentDocuments,
    FindModelJob,
)
from augenmerk.viz_app.extensions.documents.reading import (
    is_experiment,
    read_lesson,
    saved_experiment,
    view_values,
)
from augenmerk.viz_app.extensions.documents.session import SESSION, KeptSession
from augenmerk.viz_app.models.loader import source_to_import
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_editor import intervene, open_experiment, reset, undo
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.worker.inference import InferenceWorker, Request
from augenmerk.viz_app.worker.jobs import LoadJob
from tests.checkpoints import write_untrained_checkpoint
from tests.viz_app.builders import state_of
from tests.viz_app.synthetic import FakeTranslator, make_result, make_translation

MODEL = ModelInfo(
    "one",
    Path("one.safetensors"),
    preset("notebook"),
    DeviceChoice("cpu", "requested"),
    1,
    digest="a" * 64,
)
CHANGES = (HeadScaled(Head("cross", 1, 4)), ForcedToken(2, "dog"))


@pytest.fixture
def state() -> ExperimentState:
    return state_of("ein mann schläft .", model=MODEL)


@pytest.fixture
def worker() -> Iterator[InferenceWorker]:
    worker = InferenceWorker(FakeTranslator)
    yield worker
    worker.close()


@pytest.fixture
def documents(
    qtbot: QtBot, state: ExperimentState, preferences: Preferences, worker: InferenceWorker
) -> Iterator[ExperimentDocuments]:
    window = QWidget()
    qtbot.addWidget(window)
    yield ExperimentDocuments(state, worker, preferences, window)
    for box in window.findChildren(QMessageBox):
        box.close()


@pytest.fixture
def session(
    documents: ExperimentDocuments, state: ExperimentState, preferences: Preferences
) -> KeptSession:
    """What is kept of the same experiment."""
    return KeptSession(state, preferences, documents)


def open_model(worker: InferenceWorker, owner: object) -> None:
    worker.submit(Request(LoadJob(None), owner, on_result=lambda _: None))


@pytest.fixture
def model_nearby(tmp_path: Path) -> ModelInfo:
    """The model of `found.safetensors`, in the folder of the test."""
    checkpoint = write_untrained_checkpoint(tmp_path / "found.safetensors", seed=7)
    return replace(MODEL, digest=model_digest(load_checkpoint(checkpoint)))


def problem(documents: ExperimentDocuments) -> str:
    return "\n".join(box.informativeText() for box in documents.parent().findChildren(QMessageBox))


def test_what_is_saved_is_opened_again_as_it_was(
    documents: ExperimentDocuments, state: ExperimentState, tmp_path: Path
) -> None:
    state.submit(intervene(*CHANGES))
    state.settings.scale, state.settings.shown, state.settings.picture = (
        "own",
        "difference",
        "lines",
    )
    state.intents.choose_head(Head("decoder", 1, 2))
    state.selection.pin(Pair(2, 1))
    documents.save(tmp_path / "one.augenmerk")
    before, view = state.experiment, view_values(state)

    state.submit(reset)
    state.settings.scale, state.settings.shown, state.settings.picture = (
        "shared",
        "changed",
        "heatmap",
    )
    state.intents.choose_head(Head("cross", 0, 0))
    documents.open(tmp_path / "one.augenmerk")
    assert state.experiment == before
    state.accept(
        make_result(make_translation("ein mann schläft .", experiment=before), make_translation())
    )
    assert view_values(state) == view
    state.submit(undo)
    assert state.experiment.interventions == ()


def test_a_file_names_no_path(
    documents: ExperimentDocuments, state: ExperimentState, tmp_path: Path
) -> None:
    documents.save(tmp_path / "one.augenmerk")
    text = (tmp_path / "one.augenmerk").read_text(encoding="utf-8")
    assert str(tmp_path) not in text
    assert json.loads(text)["model"] == {"name": "one", "digest": "a" * 64}


def test_scope_combination_heads_shown_together_and_zoom_come_back(
    documents: ExperimentDocuments, state: ExperimentState, tmp_path: Path
) -> None:
    settings, together = state.settings, frozenset({Head("cross", 0, 0), Head("cross", 1, 1)})
    state.intents.choose_head(Head("cross", 0, 0))
    for scope, several in (
        ("layer", frozenset()),
        ("all", frozenset()),
        ("chosen", together),
        ("head", frozenset()),
    ):
        settings.scope, settings.several = scope, several
        settings.combination, settings.zoom = "max", 24.5
        view = view_values(state)
        path = tmp_path / f"{scope}.augenmerk"
        documents.save(path)
        settings.scope, settings.several, settings.combination, settings.zoom = (
            "head",
            frozenset(),
            "mean",
            -1.0,
        )
        documents.open(path)
        state.accept(make_result(make_translation("ein mann schläft .")))
        assert (settings.scope, settings.several) == (scope, several)
        assert (settings.combination, settings.zoom) == ("max", 24.5)
        assert view_values(state) == view


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("experiment", {"source_text": 3}, "experiment"),
        ("view", {"scale": "huge"}, "view.scale"),
        ("view", {"merges_words": "yes"}, "view.merges_words"),
        ("view", {"head": ["cross", -1, 0]}, "view.head"),
        ("view", {"pinned": [1]}, "view.pinned"),
        ("view", {"scope": "some"}, "view.scope"),
        ("view", {"combination": "sum"}, "view.combination"),
        ("view", {"several": [["cross", 0, 0], ["encoder", 0, 0]]}, "view.several"),
        ("view", {"several": "cross"}, "view.several"),
        ("view", {"zoom": -2}, "view.zoom"),
        ("view", {"zoom": True}, "view.zoom"),
        ("view", {"colour": "red"}, "view.colour"),
        ("version", 2, "version"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_whole_and_the_screen_stays(
    documents: ExperimentDocuments,
    state: ExperimentState,
    tmp_path: Path,
    field,
    value,
    named: str,
    preferences: Preferences,
) -> None:
    path = tmp_path / "one.augenmerk"
    documents.save(path)
    path.write_text(
        json.dumps(json.loads(path.read_text(encoding="utf-8")) | {field: value}), encoding="utf-8"
    )
    state.intents.choose_head(Head("encoder", 0, 0))
    before, view = state.experiment, view_values(state)
    documents.open(path)
    told = problem(documents)
    assert named in told
    assert str(path) in told
    assert (state.experiment, view_values(state)) == (before, view)
    assert path not in preferences.recent_experiments.paths


def test_a_file_that_cannot_be_written_is_told(
    documents: ExperimentDocuments, tmp_path: Path
) -> None:
    (tmp_path / "folder.augenmerk").mkdir()
    documents.save(tmp_path / "folder.augenmerk")
    assert "folder.augenmerk" in problem(documents)


@pytest.mark.heavy
def test_a_model_beside_the_file_is_found_by_its_digest(
    qtbot: QtBot,
    documents: ExperimentDocuments,
    state: ExperimentState,
    tmp_path: Path,
    model_nearby: ModelInfo,
    worker: InferenceWorker,
) -> None:
    (tmp_path / "damaged.safetensors").write_bytes(b"nothing of this is a checkpoint")
    state.begin_model(model_nearby)
    state.submit(intervene(*CHANGES))
    saved = state.experiment
    documents.save(tmp_path / "one.augenmerk")
    state.begin_model(MODEL)
    state.submit(reset)
    asked: list[Path | None] = []
    documents.model_requested.connect(asked.append)
    open_model(worker, documents)
    documents.open(tmp_path / "one.augenmerk")
    qtbot.waitUntil(lambda: asked == [tmp_path / "found.safetensors"])
    assert state.experiment != saved, "it waits for its model"
    state.begin_model(model_nearby)
    assert state.experiment == saved


@pytest.mark.heavy
def test_an_experiment_opened_before_any_model_is_looks_for_its_model_too(
    qtbot: QtBot,
    documents: ExperimentDocuments,
    state: ExperimentState,
    tmp_path: Path,
    model_nearby: ModelInfo,
    worker: InferenceWorker,
) -> None:
    state.begin_model(model_nearby)
    state.submit(intervene(*CHANGES))
    saved = state.experiment
    documents.save(tmp_path / "one.augenmerk")
    state.model = None
    state.submit(reset)
    documents.open(tmp_path / "one.augenmerk")
    assert state.experiment == saved, "shown at once"
    asked: list[Path | None] = []
    documents.model_requested.connect(asked.append)
    open_model(worker, documents)
    state.begin_model(MODEL)
    state.submit(open_experiment(Experiment("1 2 3")), asks=False)  # its own example
    qtbot.waitUntil(lambda: asked == [tmp_path / "found.safetensors"])
    state.begin_model(model_nearby)
    assert state.experiment == saved


@pytest.mark.heavy
def test_an_experiment_that_waits_for_its_model_is_forgotten_with_another_one(
    qtbot: QtBot,
    documents: ExperimentDocuments,
    state: ExperimentState,
    tmp_path: Path,
    model_nearby: ModelInfo,
    worker: InferenceWorker,
) -> None:
    """The model that was found could not be opened, or the user chose another one meanwhile."""
    state.begin_model(model_nearby)
    state.submit(intervene(*CHANGES))
    saved = state.experiment
    documents.save(tmp_path / "one.augenmerk")
    state.begin_model(MODEL)
    state.submit(reset)
    open_model(worker, documents)
    with qtbot.waitSignal(documents.model_requested):
        documents.open(tmp_path / "one.augenmerk")
    for other in (replace(MODEL, digest="c" * 64), model_nearby):
        state.begin_model(other)
        assert state.experiment != saved


@pytest.mark.heavy
def test_an_experiment_whose_model_is_being_searched_gives_way_to_what_waits_for_another_model(
    qtbot: QtBot,
    documents: ExperimentDocuments,
    state: ExperimentState,
    tmp_path: Path,
    model_nearby: ModelInfo,
    worker: InferenceWorker,
) -> None:
    state.begin_model(model_nearby)
    documents.save(tmp_path / "one.augenmerk")
    state.begin_model(MODEL)
    open_model(worker, documents)
    requested: list[Path | None] = []
    documents.model_requested.connect(requested.append)
    documents.open(tmp_path / "one.augenmerk")
    shown: list[str] = []
    state.with_next_model = lambda: shown.append("tried")
    done: list[object] = []
    worker.submit(
        Request(FindModelJob("0" * 64, ()), object(), on_result=lambda _: done.append(True))
    )
    qtbot.waitUntil(lambda: bool(done))
    assert requested == []
    state.begin_model(replace(MODEL, name="tried"))
    assert shown == ["tried"]


@pytest.mark.heavy
def test_without_its_model_an_experiment_is_shown_with_the_one_in_use(
    qtbot: QtBot,
    documents: ExperimentDocuments,
    state: ExperimentState,
    tmp_path: Path,
    worker: InferenceWorker,
) -> None:
    state.submit(intervene(*CHANGES))
    saved = state.experiment
    documents.save(tmp_path / "one.augenmerk")
    for name, told in (
        ("one", "made with another version of the model “one”"),
        ("two", "made with the model “one”"),
    ):
        state.begin_model(replace(MODEL, name=name, digest="b" * 64))
        state.submit(reset)
        open_model(worker, documents)
        documents.open(tmp_path / "one.augenmerk")
        qtbot.waitUntil(lambda: state.experiment == saved)
        assert told in state.notice


@pytest.mark.subprocess
@pytest.mark.slow
def test_copied_python_and_command_give_the_experiment_again(
    documents: ExperimentDocuments, state: ExperimentState, tmp_path: Path
) -> None:
    checkpoint = write_untrained_checkpoint(tmp_path / "small.safetensors")
    state.begin_model(replace(MODEL, path=checkpoint))
    state.submit(
        open_experiment(Experiment("ein mann steht", Greedy(), (ForcedToken(0, "ladder"),))),
        asks=False,
    )
    documents.copy_as_command_line()
    command = QGuiApplication.clipboard().text()
    assert command.startswith("augenmerk translate 'ein mann steht'")
    assert "--force-token 1=ladder" in command
    documents.copy_as_python()
    code = QGuiApplication.clipboard().text()
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert printed.stdout.startswith("Ladder")


def test_what_was_on_the_screen_comes_back(
    session: KeptSession,
    documents: ExperimentDocuments,
    state: ExperimentState,
    preferences: Preferences,
) -> None:
    state.submit(intervene(*CHANGES))
    session.keep()
    later = ExperimentState()
    window = QWidget()
    assert KeptSession(later, preferences, window).restore()
    assert later.experiment == state.experiment
    assert not later.editor.can_undo
    assert later.selection.head == state.selection.head


def test_keeping_what_is_on_the_screen_does_not_wait_for_the_disk(
    session: KeptSession,
    documents: ExperimentDocuments,
    state: ExperimentState,
    preferences: Preferences,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is kept while somebody types, and a busy disk takes a tenth of a second and more."""
    waited: list[int] = []
    monkeypatch.setattr("augenmerk.core.storage.os.fsync", waited.append)
    session.keep()
    assert preferences.own_file(SESSION).exists()
    assert not waited
    state.submit(intervene(*CHANGES))
    write_experiment_file(saved_experiment(state), preferences.own_file("saved.augenmerk"))
    assert waited, "what somebody saves by hand survives a loss of power"


@pytest.mark.slow
def test_what_is_on_the_screen_is_kept_soon_after_a_result_without_any_end(
    session: KeptSession,
    qtbot: QtBot,
    documents: ExperimentDocuments,
    state: ExperimentState,
    preferences: Preferences,
) -> None:
    path, timer = preferences.own_file(SESSION), session.timer
    assert not path.exists()
    timer.setInterval(1_000)
    state.submit(intervene(*CHANGES))
    state.accept(make_result(make_translation("ein mann schläft .", experiment=state.experiment)))
    assert timer.isActive()
    started = timer.remainingTime()
    qtbot.wait(50)
    state.accept(make_result(make_translation("ein mann schläft .", experiment=state.experiment)))
    assert timer.remainingTime() < started, "further results do not put it off"
    qtbot.waitUntil(path.exists, timeout=5_000)
    saved = read_experiment_file(path)
    assert saved.experiment == state.experiment
    assert not timer.isActive()
    state.clear()
    assert not timer.isActive(), "nothing is on the screen"


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe", b'{"format": "augenmerk", "version": 99}', b"[" * 100_000]
)
def test_a_session_that_cannot_be_restored_is_set_aside(
    session: KeptSession, documents: ExperimentDocuments, preferences: Preferences, content: bytes
) -> None:
    path = preferences.own_file(SESSION)
    path.write_bytes(content)
    assert not session.restore()
    assert not path.exists()
    assert path.with_name("session.augenmerk.unreadable").read_bytes() == content
    assert not session.restore()


def test_a_session_with_an_impossible_intervention_is_set_aside(
    session: KeptSession, documents: ExperimentDocuments, preferences: Preferences
) -> None:
    path = preferences.own_file(SESSION)
    saved = SavedExperiment(
        Experiment("ein mann", interventions=(ForcedToken(0, "dog"),)),
        ModelReference("one", "a" * 64),
    )
    content = to_bytes(saved).replace(b'"dog"', b'""')
    path.write_bytes(content)
    assert not session.restore()
    assert path.with_name("session.augenmerk.unreadable").read_bytes() == content


@pytest.mark.parametrize(
    "experiment", [Experiment("x" * 900_000), Experiment("ein mann", GivenTarget("x" * 900_000))]
)
def test_an_experiment_too_long_for_the_window_is_refused_and_a_session_of_it_set_aside(
    session: KeptSession,
    documents: ExperimentDocuments,
    preferences: Preferences,
    tmp_path: Path,
    experiment: Experiment,
) -> None:
    path = preferences.own_file(SESSION)
    write_experiment_file(SavedExperiment(experiment, ModelReference("one", "a" * 64), {}), path)
    documents.open(path)
    assert "has 900,000 characters; the window allows 5,000" in problem(documents)
    assert not session.restore()
    assert path.with_name("session.augenmerk.unreadable").is_file()


@pytest.mark.parametrize(
    ("experiment", "told"),
    [
        (Experiment("  "), "Its sentence is empty. Add a sentence to translate."),
        (
            Experiment("ein mann", interventions=(SourceWordReplaced(0, "x" * 80_000),)),
            "Its replacement of word 1 has 80,000 characters; the window allows 5,000",
        ),
        (
            Experiment("ein mann", interventions=(ForcedToken(2, "x" * 80_000),)),
            "Its token forced at step 3 has 80,000 characters; the window allows 5,000",
        ),
    ],
)
def test_nothing_to_translate_and_words_too_long_are_refused(
    documents: ExperimentDocuments,
    tmp_path: Path,
    experiment: Experiment,
    told: str,
    state: ExperimentState,
) -> None:
    saved = SavedExperiment(experiment, ModelReference("one", "a" * 64), {})
    write_experiment_file(saved, tmp_path / "one.augenmerk")
    documents.open(tmp_path / "one.augenmerk")
    assert told in problem(documents)
    write_lesson_file(
        Lesson(
            "x",
            (Scene("fine", "", replace(saved, experiment=Experiment("a"))), Scene("y", "", saved)),
        ),
        tmp_path / "two.augenmerk",
    )
    with pytest.raises(ExperimentFileError, match=r"scenes\[1\]: Its ") as refused:
        read_lesson(state, tmp_path / "two.augenmerk")
    assert told in str(refused.value)


def test_heads_and_cells_that_the_model_lacks_are_told(
    documents: ExperimentDocuments, state: ExperimentState, tmp_path: Path
) -> None:
    config = MODEL.run.model
    view = {
        "head": ("cross", config.num_decoder_layers, 0),
        "several": (("cross", 0, config.num_heads),),
    }
    saved = SavedExperiment(Experiment("ein mann schläft ."), ModelReference("one", "a" * 64), view)
    write_experiment_file(saved, tmp_path / "one.augenmerk")
    documents.open(tmp_path / "one.augenmerk")
    assert (
        f"cross 1·{config.num_heads + 1}, cross {config.num_decoder_layers + 1}·1" in state.notice
    )
    assert "Another head is shown" in state.notice
    write_experiment_file(
        replace(saved, view={"head": ("cross", 0, 0), "pinned": (0, 77)}),
        tmp_path / "two.augenmerk",
    )
    documents.open(tmp_path / "two.augenmerk")
    assert "lacks" not in state.notice
    state.accept(make_result(make_translation("ein mann schläft .")))
    assert "query 1 and key 78, is not in this map" in state.notice


def test_experiments_and_checkpoints_are_told_apart_by_content(
    documents: ExperimentDocuments, tmp_path: Path
) -> None:
    documents.save(tmp_path / "looks.safetensors")
    assert is_experiment(tmp_path / "looks.safetensors")
    assert not is_experiment(write_untrained_checkpoint(tmp_path / "looks.augenmerk"))
    assert not is_experiment(tmp_path)
    assert not is_experiment(tmp_path / "missing")


def test_a_folder_named_like_an_experiment_is_refused_as_one_in_plain_words(
    documents: ExperimentDocuments, tmp_path: Path
) -> None:
    folder = tmp_path / "one.augenmerk"
    folder.mkdir()
    assert is_experiment(folder)
    assert source_to_import(folder) is None, "augenmerk app would import it"
    assert is_experiment(tmp_path / "missing.augenmerk")
    documents.open(folder)
    assert f"{folder} cannot be read: it is a folder. Choose an experiment" in problem(documents)
