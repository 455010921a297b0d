import threading
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.config import preset
from core.errors import CorpusError, StorageError
from core.model.heads import Head
from core.training.events import PhaseStarted, SaveFailed, TrainingEvent, TrainingFinished
from core.training.failures import DivergedError, Proposal
from core.translation.result import Translation, TranslationStoppedError
from tests.viz_app.synthetic import FakeTranslator
from viz_app.state.model_info import ModelInfo
from viz_app.worker import DRAIN_INTERVAL_MS, Failure, InferenceWorker, TrainingFailure, TrainingRequest, TrainingRun
from viz_app.worker.training import OnEvent, OnSaveFailed, ShouldStop


class GatedTranslator(FakeTranslator):
    """Holds each translation until the gate opens."""

    gate = threading.Event()
    started = threading.Event()

    def translate(self, text: str, *, off: Collection[Head] = (), should_stop=lambda: False) -> Translation:
        self.started.set()
        assert self.gate.wait(10)
        return super().translate(text, off=off)


@pytest.fixture
def worker(qapp: QApplication) -> Iterator[InferenceWorker]:
    worker = InferenceWorker(FakeTranslator)
    yield worker
    worker.close()


def test_slots_run_in_the_gui_thread(qtbot: QtBot, worker: InferenceWorker) -> None:
    threads = []
    worker.loaded.connect(lambda *_: threads.append(threading.current_thread()))
    with qtbot.waitSignal(worker.loaded):
        worker.load(Path("model.safetensors"))
    assert threads == [threading.main_thread()]


def test_a_result_carries_the_id_of_its_request(qtbot: QtBot, worker: InferenceWorker) -> None:
    worker.load(None)
    with qtbot.waitSignal(worker.translated) as answer:
        request_id = worker.translate("Ein Mann")
    assert answer.args is not None
    assert answer.args[0] == request_id
    assert answer.args[1].source_text == "Ein Mann"


def test_a_newer_sentence_supersedes_those_that_wait(qtbot: QtBot) -> None:
    GatedTranslator.gate.clear()
    GatedTranslator.started.clear()
    worker = InferenceWorker(GatedTranslator)
    answers: list[str] = []
    worker.translated.connect(lambda _, translation: answers.append(translation.source_text))
    worker.load(None)
    worker.translate("eins")
    qtbot.waitUntil(GatedTranslator.started.is_set)
    for text in ("zwei", "drei", "vier"):
        worker.translate(text)
    GatedTranslator.gate.set()
    qtbot.waitUntil(lambda: len(answers) == 2)
    worker.close()
    assert answers == ["eins", "vier"]


def test_a_model_that_does_not_open_leaves_the_earlier_one(qtbot: QtBot, worker: InferenceWorker) -> None:
    with qtbot.waitSignal(worker.loaded) as opened:
        worker.load(Path("good.safetensors"))
    assert opened.args is not None
    assert isinstance(opened.args[1], ModelInfo)
    assert opened.args[1].summary == "good · 3 + 3 layers · 8 heads"
    assert opened.args[1].device_summary == "CPU: no CUDA device found"
    with qtbot.waitSignal(worker.load_failed) as refused:
        worker.load(Path("broken.safetensors"))
    assert refused.args is not None
    assert refused.args[1] == Failure(
        "broken.safetensors is cut off. A whole checkpoint was expected; use another file."
    )
    with qtbot.waitSignal(worker.translated):
        worker.translate("Ein Mann")


def test_a_sentence_without_a_model_is_refused(qtbot: QtBot, worker: InferenceWorker) -> None:
    with qtbot.waitSignal(worker.translation_failed) as refused:
        worker.translate("Ein Mann")
    assert refused.args is not None
    assert "No model is open" in refused.args[1].message


@pytest.mark.allow_log_warnings
def test_an_unexpected_error_keeps_its_traceback_and_the_thread_lives_on(qtbot: QtBot, worker: InferenceWorker) -> None:
    worker.load(None)
    with qtbot.waitSignal(worker.translation_failed) as refused:
        worker.translate("BOOM")
    assert refused.args is not None
    assert "ZeroDivisionError: boom" in refused.args[1].details
    with qtbot.waitSignal(worker.translated):
        worker.translate("Ein Mann")


def test_closing_drops_what_was_running(qtbot: QtBot) -> None:
    GatedTranslator.gate.clear()
    GatedTranslator.started.clear()
    worker = InferenceWorker(GatedTranslator)
    answers: list[object] = []
    worker.translated.connect(lambda *answer: answers.append(answer))
    worker.load(None)
    worker.translate("eins")
    qtbot.waitUntil(GatedTranslator.started.is_set)
    GatedTranslator.gate.set()
    worker.close()
    qtbot.wait(20)
    assert answers == []


def _request() -> TrainingRequest:
    return TrainingRequest(preset("copy-task"), "copy", Path("nowhere"))


def _finished(reason: str = "stopped") -> TrainingFinished:
    best, last = Path("best.safetensors"), Path("last.safetensors")
    return TrainingFinished(reason, 1, 10, 1, 2.0, best, last, 0.1)  # type: ignore[arg-type]


def _body(num_events: int) -> Callable[..., TrainingFinished]:
    def body(
        request: TrainingRequest, on_event: OnEvent, should_stop: ShouldStop, on_save_failed: OnSaveFailed
    ) -> TrainingFinished:
        for number in range(num_events):
            on_event(PhaseStarted(f"phase {number}"))
        while not should_stop():
            time.sleep(0.005)
        return _finished()

    return body


def test_training_events_come_in_order_and_in_handfuls(qtbot: QtBot) -> None:
    run = TrainingRun(_request(), body=_body(500))
    handfuls: list[list[TrainingEvent]] = []
    run.events.connect(handfuls.append)
    run.start()
    qtbot.waitUntil(lambda: sum(map(len, handfuls)) == 500)
    assert len(handfuls) <= 3
    assert [event for handful in handfuls for event in handful] == [PhaseStarted(f"phase {n}") for n in range(500)]
    assert DRAIN_INTERVAL_MS >= 200
    assert run.is_running
    run.stop()
    assert run.is_stopping
    with qtbot.waitSignal(run.finished) as finished:
        pass
    assert finished.args == [_finished()]
    assert not run.is_running


def test_a_training_that_fails_says_why(qtbot: QtBot) -> None:
    def body(*_: object) -> TrainingFinished:
        raise CorpusError("No pairs. Some were expected.")

    run = TrainingRun(_request(), body=body)
    with qtbot.waitSignal(run.finished) as finished:
        run.start()
    assert finished.args == [TrainingFailure("No pairs. Some were expected.")]


def test_failure_carries_what_the_error_proposes(qtbot: QtBot) -> None:
    proposal = Proposal("a learning rate of 0.1 instead of 0.2", {"learning_rate": 0.1})

    def body(*_: object) -> TrainingFinished:
        raise DivergedError("The loss became nan.", proposal, Path("last.safetensors"))

    run = TrainingRun(_request(), body=body)
    with qtbot.waitSignal(run.finished) as finished:
        run.start()
    assert finished.args == [TrainingFailure("The loss became nan.", "", proposal, Path("last.safetensors"))]


def _failing_save_body(
    request: TrainingRequest, on_event: OnEvent, should_stop: ShouldStop, on_save_failed: OnSaveFailed
) -> TrainingFinished:
    failure = SaveFailed(Path("last.safetensors"), "No space left.", 7)
    on_event(failure)
    while on_save_failed(failure) == "retry":
        on_event(PhaseStarted("again"))
        on_event(failure)
    raise StorageError("No space left.")


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
        request: TrainingRequest, on_event: OnEvent, should_stop: ShouldStop, on_save_failed: OnSaveFailed
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


def test_a_newer_sentence_ends_the_one_in_hand(qtbot: QtBot) -> None:
    class EndlessTranslator(FakeTranslator):
        started = threading.Event()

        def translate(self, text: str, *, off: Collection[Head] = (), should_stop=lambda: False) -> Translation:
            if text == "endless":
                self.started.set()
                while not should_stop():
                    pass
                raise TranslationStoppedError
            return super().translate(text, off=off)

    worker = InferenceWorker(EndlessTranslator)
    worker.load(None)
    worker.translate("endless")
    assert EndlessTranslator.started.wait(10)
    with qtbot.waitSignal(worker.translated) as answer:
        request_id = worker.translate("Ein Mann")
    assert answer.args is not None
    assert answer.args[0] == request_id
    worker.translate("endless")
    worker.close()
