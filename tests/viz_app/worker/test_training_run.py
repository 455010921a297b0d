"""One thread that trains: its events, its end, and how it is stopped."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.errors import CorpusError, StorageError
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.run_settings.toml_file import read_toml
from augenmerk.core.extensions.training.corpora.loading import load_corpus
from augenmerk.core.extensions.training.events import (
    DivergedError,
    PhaseStarted,
    Proposal,
    SaveFailed,
    TrainingEvent,
    TrainingFinished,
    TrainingRequest,
)
from augenmerk.core.run_files import LAST, RUN_SETTINGS
from augenmerk.viz_app.extensions.train.worker import (
    DRAIN_INTERVAL_MS,
    OnEvent,
    OnSaveFailed,
    ShouldStop,
    TrainingFailure,
    TrainingRun,
    _read_and_train,
)
from tests.core.extensions.training.runs import record, sentences, text_run


def _request() -> TrainingRequest:
    return TrainingRequest(preset("copy-task"), "copy", Path("nowhere"))


def _finished(reason: str = "stopped") -> TrainingFinished:
    best, last = Path("best.safetensors"), Path("last.safetensors")
    return TrainingFinished(reason, 1, 10, 1, 2.0, best, last, 0.1)  # type: ignore[arg-type]


def _body(num_events: int) -> Callable[..., TrainingFinished]:
    def body(
        request: TrainingRequest,
        on_event: OnEvent,
        should_stop: ShouldStop,
        on_save_failed: OnSaveFailed,
    ) -> TrainingFinished:
        for number in range(num_events):
            on_event(PhaseStarted(f"phase {number}"))
        while not should_stop():
            time.sleep(0.005)
        return _finished()

    return body


@pytest.mark.heavy
def test_training_events_come_in_order_and_in_handfuls(qtbot: QtBot) -> None:
    run = TrainingRun(_request(), body=_body(500))
    handfuls: list[list[TrainingEvent]] = []
    run.events.connect(handfuls.append)
    run.start()
    qtbot.waitUntil(lambda: sum(map(len, handfuls)) == 500)
    assert len(handfuls) <= 3
    assert [event for handful in handfuls for event in handful] == [
        PhaseStarted(f"phase {n}") for n in range(500)
    ]
    assert DRAIN_INTERVAL_MS >= 200
    assert run.is_running
    run.stop()
    assert run.is_stopping
    with qtbot.waitSignal(run.finished) as finished:
        pass
    assert finished.args == [_finished()]
    assert not run.is_running


@pytest.mark.heavy
def test_a_training_that_fails_says_why(qtbot: QtBot) -> None:
    def body(*_: object) -> TrainingFinished:
        raise CorpusError("No pairs. Some were expected.")

    run = TrainingRun(_request(), body=body)
    with qtbot.waitSignal(run.finished) as finished:
        run.start()
    assert finished.args == [TrainingFailure("No pairs. Some were expected.")]


@pytest.mark.heavy
def test_failure_carries_what_the_error_proposes(qtbot: QtBot) -> None:
    proposal = Proposal("a learning rate of 0.1 instead of 0.2", {"learning_rate": 0.1})

    def body(*_: object) -> TrainingFinished:
        raise DivergedError("The loss became nan.", proposal, Path("last.safetensors"))

    run = TrainingRun(_request(), body=body)
    with qtbot.waitSignal(run.finished) as finished:
        run.start()
    assert finished.args == [
        TrainingFailure("The loss became nan.", "", proposal, Path("last.safetensors"))
    ]


def _failing_save_body(
    request: TrainingRequest,
    on_event: OnEvent,
    should_stop: ShouldStop,
    on_save_failed: OnSaveFailed,
) -> TrainingFinished:
    failure = SaveFailed(Path("last.safetensors"), "No space left.", 7)
    on_event(failure)
    while on_save_failed(failure) == "retry":
        on_event(PhaseStarted("again"))
        on_event(failure)
    raise StorageError("No space left.")


@pytest.mark.heavy
def test_training_waits_for_an_answer_when_a_save_has_failed(qtbot: QtBot) -> None:
    run = TrainingRun(_request(), body=_failing_save_body)
    events: list[TrainingEvent] = []
    run.events.connect(events.extend)
    run.start()
    qtbot.waitUntil(lambda: len(events) == 1)
    run.answer_failed_save("retry")
    qtbot.waitUntil(lambda: len(events) == 3)
    assert run.is_running
    with qtbot.waitSignal(run.finished) as finished:
        run.answer_failed_save("stop")
    assert finished.args == [TrainingFailure("No space left.")]


@pytest.mark.heavy
def test_stopping_ends_a_training_that_waits_for_an_answer(qtbot: QtBot) -> None:
    run = TrainingRun(_request(), body=_failing_save_body)
    events: list[TrainingEvent] = []
    run.events.connect(events.extend)
    run.start()
    qtbot.waitUntil(lambda: len(events) == 1)
    run.stop("pause")
    run.wait()
    assert not run.is_running


def test_training_hears_how_it_is_to_stop(qtbot: QtBot) -> None:
    heard: list[object] = []

    def body(
        request: TrainingRequest,
        on_event: OnEvent,
        should_stop: ShouldStop,
        on_save_failed: OnSaveFailed,
    ) -> TrainingFinished:
        while not (how := should_stop()):
            time.sleep(0.005)
        heard.append(how)
        return _finished()

    run = TrainingRun(_request(), body=body)
    run.start()
    run.stop("discard")
    run.wait()
    assert heard == ["discard"]


def test_waiting_for_a_stopped_training_delivers_its_end(qapp: QApplication) -> None:
    run = TrainingRun(_request(), body=_body(3))
    ends: list[object] = []
    run.finished.connect(ends.append)
    run.start()
    run.stop()
    run.wait()
    assert ends == [_finished()]
    assert not run.is_running


@pytest.mark.training
def test_a_run_on_other_data_than_its_initial_model_had_is_resumed_with_its_own_vocabulary(
    tmp_path: Path,
) -> None:
    run = text_run(num_epochs=1, sample_size=0)
    record(run, tmp_path / "first", stop_after=2)
    initial = load_checkpoint(tmp_path / "first" / LAST)
    pairs = sentences(40, seed=5)
    for language, lines in (("de", pairs.source), ("en", pairs.target)):
        words = "\n".join(lines).replace("hund", "kater").replace("dog", "tomcat")
        (tmp_path / f"train.{language}").write_text(words + "\n", encoding="utf-8")
    corpus = load_corpus(tmp_path, run, codecs=initial.codecs)
    record(run, tmp_path / "run", corpus=corpus, initial=initial, stop_after=1)
    request = TrainingRequest(
        read_toml(tmp_path / "run" / RUN_SETTINGS), tmp_path, tmp_path / "run", "cpu", resume=True
    )
    threads = torch.get_num_threads()
    try:
        finished = _read_and_train(
            request, lambda event: None, lambda: False, lambda failure: "stop"
        )
    finally:
        torch.set_num_threads(threads)
    assert finished.reason == "completed"
    assert load_checkpoint(tmp_path / "run" / LAST).codecs.to_dict() == initial.codecs.to_dict()
