"""Requests to the worker's thread: who goes first, who gives way, and what is never heard of
again."""

import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from augenmerk.core.errors import AnalysisError, ReaderFaultError
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.result import ExperimentResult, TranslationStoppedError
from augenmerk.viz_app.state.experiment_state import ExperimentRequest, Progress
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.worker.inference import Failure, InferenceWorker, Request
from augenmerk.viz_app.worker.jobs import (
    ExperimentJob,
    Job,
    JobInterrupted,
    JobScope,
    LoadJob,
    OpenTranslator,
)
from tests.viz_app.synthetic import FakeTranslator

Tell = Callable[[Progress], None]
ShouldStop = Callable[[], bool]


@dataclass(frozen=True, eq=False)
class Counting:
    """Counts to a number, a sentence at a time; goes on where it gave way."""

    upto: int = 1_000_000
    at: int = 0
    scope: ClassVar[JobScope] = "model"
    started: ClassVar[list[int]] = []
    stopped: ClassVar[list[int]] = []

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> int:
        self.started.append(self.at)
        for done in range(self.at, self.upto):
            if should_stop():
                self.stopped.append(done)
                raise JobInterrupted(replace(self, at=done))
            progress(Progress(done, self.upto))
            time.sleep(0.001)
        return self.upto


@dataclass(frozen=True, eq=False)
class Naming:
    """Names the model in use."""

    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> str:
        return translator.name


@dataclass(frozen=True, eq=False)
class Refusing:
    """Has no answer."""

    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> str:
        raise AnalysisError("No such thing. Another was expected.")


class Asker:
    """Asks, and writes down what it hears."""

    def __init__(self, worker: InferenceWorker) -> None:
        self._worker = worker
        self.results: list[object] = []
        self.failures: list[Failure] = []
        self.progress: list[int] = []
        self.num_superseded = 0
        self.threads: set[threading.Thread] = set()

    def ask(self, job: Job) -> Request:
        return self._worker.submit(
            Request(
                job,
                self,
                self._on_result,
                self.failures.append,
                self._on_progress,
                self._on_superseded,
            )
        )

    def translate(self, text: str) -> Request:
        return self.ask(ExperimentJob(ExperimentRequest(Experiment(text))))

    @property
    def texts(self) -> list[str]:
        return [
            result.changed.source_text
            for result in self.results
            if isinstance(result, ExperimentResult)
        ]

    def _on_result(self, result: object) -> None:
        self.threads.add(threading.current_thread())
        self.results.append(result)

    def _on_progress(self, progress: Progress) -> None:
        self.progress.append(progress.done)

    def _on_superseded(self) -> None:
        self.num_superseded += 1


class GatedTranslator(FakeTranslator):
    """Holds each experiment until the gate opens."""

    gate = threading.Event()
    started = threading.Event()

    def run(self, experiment: Experiment, *, should_stop=lambda: False):  # type: ignore[no-untyped-def]
        self.started.set()
        assert self.gate.wait(10)
        return super().run(experiment)


@pytest.fixture
def worker(qapp: QApplication) -> Iterator[InferenceWorker]:
    Counting.started.clear()
    worker = InferenceWorker(FakeTranslator)
    yield worker
    worker.close()


@pytest.fixture
def gated(qapp: QApplication) -> Iterator[InferenceWorker]:
    GatedTranslator.gate.clear()
    GatedTranslator.started.clear()
    worker = InferenceWorker(GatedTranslator)
    yield worker
    GatedTranslator.gate.set()
    worker.close()


def test_callbacks_run_in_the_gui_thread(qtbot: QtBot, worker: InferenceWorker) -> None:
    asker = Asker(worker)
    asker.ask(LoadJob(Path("model.safetensors")))
    qtbot.waitUntil(lambda: len(asker.results) == 1)
    assert asker.threads == {threading.main_thread()}


def test_an_answer_that_is_on_its_way_is_superseded_too(
    qtbot: QtBot, worker: InferenceWorker
) -> None:
    """Else what was asked for before would be shown, and nothing would tell that another answer is
    awaited."""
    asker, other = Asker(worker), Asker(worker)
    asker.ask(LoadJob(None))
    qtbot.waitUntil(lambda: len(asker.results) == 1)
    asker.translate("eins")
    other.translate("zwei")
    deadline = time.monotonic() + 10
    # both are answered; no event is processed meanwhile, so none is delivered
    while worker._outcomes.qsize() < 2:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    asker.translate("drei")
    assert asker.num_superseded == 1
    qtbot.waitUntil(lambda: len(asker.texts) == 1)
    assert asker.texts == ["drei"]
    assert other.texts == ["zwei"], "it is another's"
    assert not worker._requests._answered, "nothing is kept that was delivered"


def test_a_newer_experiment_of_the_same_owner_supersedes_the_others(
    qtbot: QtBot, gated: InferenceWorker
) -> None:
    asker = Asker(gated)
    asker.ask(LoadJob(None))
    asker.translate("eins")
    qtbot.waitUntil(GatedTranslator.started.is_set)
    for text in ("zwei", "drei", "vier"):
        asker.translate(text)
    assert asker.num_superseded == 3
    GatedTranslator.gate.set()
    qtbot.waitUntil(lambda: len(asker.texts) == 1)
    assert asker.texts == ["vier"]


def test_experiments_of_two_owners_leave_each_other_alone(
    qtbot: QtBot, gated: InferenceWorker
) -> None:
    one, other = Asker(gated), Asker(gated)
    one.ask(LoadJob(None))
    one.translate("eins")
    other.translate("zwei")
    GatedTranslator.gate.set()
    qtbot.waitUntil(lambda: one.texts == ["eins"] and other.texts == ["zwei"])
    assert one.num_superseded == other.num_superseded == 0


def test_a_model_that_does_not_open_leaves_the_earlier_one(
    qtbot: QtBot, worker: InferenceWorker
) -> None:
    asker = Asker(worker)
    asker.ask(LoadJob(Path("good.safetensors")))
    qtbot.waitUntil(lambda: len(asker.results) == 1)
    opened = asker.results[0]
    assert isinstance(opened, ModelInfo)
    assert opened.summary == "good · 3 + 3 layers · 8 heads"
    assert opened.device_summary == "CPU"
    asker.ask(LoadJob(Path("broken.safetensors")))
    qtbot.waitUntil(lambda: len(asker.failures) == 1)
    assert asker.failures == [
        Failure("broken.safetensors is cut off. A whole checkpoint was expected; use another file.")
    ]
    asker.translate("Ein Mann")
    qtbot.waitUntil(lambda: asker.texts == ["Ein Mann"])


def test_a_model_that_was_superseded_while_it_opened_is_not_in_use(
    qtbot: QtBot, qapp: QApplication
) -> None:
    """The window never heard of it: had it stayed after the next did not open, the two would speak
    of two models."""
    gate, opening = threading.Event(), threading.Event()

    def load(path: Path | None, device: str) -> FakeTranslator:
        if path is not None and path.stem == "second":
            opening.set()
            assert gate.wait(10)
        return FakeTranslator(path, device)

    worker = InferenceWorker(load)
    try:
        asker = Asker(worker)
        asker.ask(LoadJob(Path("first.safetensors")))
        qtbot.waitUntil(lambda: len(asker.results) == 1)
        asker.ask(LoadJob(Path("second.safetensors")))
        assert opening.wait(10)
        asker.ask(LoadJob(Path("broken.safetensors")))
        assert asker.num_superseded == 1
        gate.set()
        qtbot.waitUntil(lambda: len(asker.failures) == 1)
        asker.ask(Naming())
        qtbot.waitUntil(lambda: len(asker.results) == 2)
        assert asker.results[1] == "first"
    finally:
        gate.set()
        worker.close()


def test_a_model_that_is_open_is_told_of_though_another_was_asked_for_meanwhile(
    qtbot: QtBot, worker: InferenceWorker
) -> None:
    asker = Asker(worker)
    asker.ask(LoadJob(Path("first.safetensors")))
    deadline = time.monotonic() + 10
    # it is open; no event is processed meanwhile, so none is delivered
    while not worker._outcomes.qsize():
        assert time.monotonic() < deadline
        time.sleep(0.001)
    asker.ask(LoadJob(Path("broken.safetensors")))
    qtbot.waitUntil(lambda: len(asker.failures) == 1)
    asker.ask(Naming())
    qtbot.waitUntil(lambda: len(asker.results) == 2)
    assert isinstance(asker.results[0], ModelInfo)
    assert asker.results[0].name == asker.results[1] == "first"


def test_without_a_model_a_question_is_refused(qtbot: QtBot, worker: InferenceWorker) -> None:
    asker = Asker(worker)
    asker.translate("Ein Mann")
    qtbot.waitUntil(lambda: len(asker.failures) == 1)
    assert "No model is open" in asker.failures[0].message


@pytest.mark.allow_log_warnings
def test_an_unexpected_error_keeps_its_traceback_and_the_thread_lives_on(
    qtbot: QtBot, worker: InferenceWorker
) -> None:
    asker = Asker(worker)
    asker.ask(LoadJob(None))
    asker.translate("BOOM")
    qtbot.waitUntil(lambda: len(asker.failures) == 1)
    assert "ZeroDivisionError: boom" in asker.failures[0].details
    asker.translate("Ein Mann")
    qtbot.waitUntil(lambda: asker.texts == ["Ein Mann"])


@pytest.mark.allow_log_warnings
def test_a_fault_of_a_reader_has_its_own_message_and_its_traceback_is_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fault = ReaderFaultError("The reader of Toys failed.")
    fault.__cause__ = KeyError("oops")
    failure = Failure.of(fault)
    assert failure.message == "The reader of Toys failed."
    assert "KeyError: 'oops'" in failure.details
    assert "KeyError: 'oops'" in caplog.text


def test_closing_drops_what_was_running(qtbot: QtBot) -> None:
    GatedTranslator.gate.clear()
    GatedTranslator.started.clear()
    worker = InferenceWorker(GatedTranslator)
    asker = Asker(worker)
    asker.ask(LoadJob(None))
    asker.translate("eins")
    qtbot.waitUntil(GatedTranslator.started.is_set)
    GatedTranslator.gate.set()
    assert worker.close()
    QCoreApplication.processEvents()
    assert asker.texts == []


def test_a_closed_worker_frees_its_model(qtbot: QtBot) -> None:
    opened: list[weakref.ref[FakeTranslator]] = []

    def load(path: Path | None, device: str | None) -> FakeTranslator:
        translator = FakeTranslator(path, device)
        opened.append(weakref.ref(translator))
        return translator

    worker = InferenceWorker(load)
    asker = Asker(worker)
    asker.ask(LoadJob(None))
    asker.translate("eins")
    qtbot.waitUntil(lambda: bool(asker.texts))
    assert opened[0]() is not None
    worker.close()
    gc.collect()
    assert opened[0]() is None


def test_a_newer_experiment_ends_the_one_in_hand(qtbot: QtBot) -> None:
    class EndlessTranslator(FakeTranslator):
        started = threading.Event()

        def run(self, experiment: Experiment, *, should_stop=lambda: False):  # type: ignore[no-untyped-def]
            if experiment.source_text == "endless":
                self.started.set()
                while not should_stop():
                    pass
                raise TranslationStoppedError
            return super().run(experiment)

        def compare(self, experiment: Experiment, *, should_stop=lambda: False, **_):  # type: ignore[no-untyped-def]
            return ExperimentResult.of(self.run(experiment, should_stop=should_stop))

    worker = InferenceWorker(EndlessTranslator)
    asker = Asker(worker)
    asker.ask(LoadJob(None))
    asker.translate("endless")
    assert EndlessTranslator.started.wait(10)
    asker.translate("Ein Mann")
    qtbot.waitUntil(lambda: asker.texts == ["Ein Mann"])
    asker.translate("endless")
    worker.close()


@pytest.mark.heavy
def test_an_experiment_goes_before_a_long_job_which_then_goes_on(
    qtbot: QtBot, worker: InferenceWorker
) -> None:
    asker = Asker(worker)
    asker.ask(LoadJob(None))
    asker.ask(Counting(400))
    qtbot.waitUntil(lambda: len(asker.progress) > 5)
    asker.translate("Ein Mann .")
    qtbot.waitUntil(lambda: asker.texts == ["Ein Mann ."], timeout=2000)
    assert 400 not in asker.results
    qtbot.waitUntil(lambda: 400 in asker.results)
    assert asker.progress == list(range(400)), "nothing is done twice, nothing left out"
    assert Counting.started[0] == 0
    assert Counting.started[1] > 0


def test_a_question_about_a_result_goes_before_one_about_the_model(
    qtbot: QtBot, worker: InferenceWorker
) -> None:
    asker = Asker(worker)
    asker.ask(LoadJob(None))
    asker.ask(Counting())
    qtbot.waitUntil(lambda: len(asker.progress) > 5)
    asker.ask(Naming())
    qtbot.waitUntil(lambda: "bundled" in asker.results)


def test_nothing_is_heard_of_a_cancelled_request(qtbot: QtBot, worker: InferenceWorker) -> None:
    asker, other = Asker(worker), Asker(worker)
    asker.ask(LoadJob(None))
    request = asker.ask(Counting())
    qtbot.waitUntil(lambda: len(asker.progress) > 5)
    request.cancel()
    asker.progress.clear()
    other.ask(Naming())
    qtbot.waitUntil(lambda: other.results == ["bundled"])
    assert asker.progress == []
    assert Counting.started == [0], "it is not taken up again"
    assert asker.num_superseded == 0


def test_another_model_makes_every_question_pointless(
    qtbot: QtBot, worker: InferenceWorker
) -> None:
    asker = Asker(worker)
    asker.ask(LoadJob(None))
    asker.ask(Counting())
    qtbot.waitUntil(lambda: len(asker.progress) > 5)
    asker.ask(LoadJob(Path("other.safetensors")))
    qtbot.waitUntil(lambda: asker.num_superseded == 1)
    assert len(asker.results) == 2, "two models, and no number"


@pytest.mark.heavy
def test_a_model_that_does_not_open_leaves_jobs_going(
    qtbot: QtBot, worker: InferenceWorker
) -> None:
    asker = Asker(worker)
    asker.ask(LoadJob(None))
    asker.ask(Counting(100))
    qtbot.waitUntil(lambda: len(asker.progress) > 5)
    asker.ask(LoadJob(Path("broken.safetensors")))
    qtbot.waitUntil(lambda: 100 in asker.results)
    assert asker.num_superseded == 0


def test_another_result_makes_questions_of_its_owner_about_the_old_one_pointless(
    qtbot: QtBot, gated: InferenceWorker
) -> None:
    asker, other = Asker(gated), Asker(gated)
    asker.ask(LoadJob(None))
    asker.translate("eins")
    qtbot.waitUntil(GatedTranslator.started.is_set)
    asker.ask(Naming())
    other.ask(Naming())
    asker.translate("zwei")
    GatedTranslator.gate.set()
    qtbot.waitUntil(lambda: other.results == ["bundled"])
    assert asker.num_superseded == 2, "the first experiment, and the question about it"
    assert "bundled" not in asker.results


def test_a_job_without_an_answer_says_why(qtbot: QtBot, worker: InferenceWorker) -> None:
    asker = Asker(worker)
    asker.ask(LoadJob(None))
    asker.ask(Refusing())
    qtbot.waitUntil(lambda: len(asker.failures) == 1)
    assert asker.failures == [Failure("No such thing. Another was expected.")]


def test_closing_ends_a_long_job_at_once(qtbot: QtBot) -> None:
    worker = InferenceWorker(FakeTranslator)
    asker = Asker(worker)
    asker.ask(LoadJob(None))
    asker.ask(Counting())
    qtbot.waitUntil(lambda: len(asker.progress) > 5)
    Counting.stopped.clear()
    worker.close()
    (count,) = Counting.stopped
    assert 5 < count < Counting.upto


def test_a_worker_that_is_deleted_ends_its_thread(qtbot: QtBot) -> None:
    """Its owner may be gone before the first answer, and with it the one who would close it."""
    is_asked, may_answer = threading.Event(), threading.Event()

    def load_slowly(path: Path | None, device: str) -> OpenTranslator:
        is_asked.set()
        may_answer.wait(10)
        return FakeTranslator(path, device)  # type: ignore[return-value]  # it has what is used

    page = QObject()
    worker = InferenceWorker(load_slowly, page)
    worker.submit(Request(LoadJob(None, "cpu"), page, on_result=lambda info: None))
    thread = worker._thread
    assert is_asked.wait(10)
    del worker
    shiboken6.delete(page)
    may_answer.set()
    thread.join(10)
    assert not thread.is_alive()
