"""Jobs in the worker's thread: who goes first, who gives way, and what is never heard of again."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.errors import AnalysisError
from tests.viz_app.synthetic import FakeTranslator
from viz_app.worker import Failure, InferenceWorker, JobDesk, JobInterrupted, JobScope, Progress
from viz_app.worker.jobs import TranslatorLike


@dataclass(frozen=True, eq=False)
class Counting:
    """Counts to a number, a sentence at a time; goes on where it gave way."""

    upto: int = 1_000_000
    at: int = 0
    scope: ClassVar[JobScope] = "model"
    started: ClassVar[list[int]] = []

    def run(
        self, translator: TranslatorLike, progress: Callable[[Progress], None], should_stop: Callable[[], bool]
    ) -> int:
        self.started.append(self.at)
        for done in range(self.at, self.upto):
            if should_stop():
                raise JobInterrupted(replace(self, at=done))
            progress(Progress(done, self.upto))
            time.sleep(0.001)
        return self.upto


@dataclass(frozen=True, eq=False)
class Naming:
    """Names the model in use."""

    scope: ClassVar[JobScope] = "sentence"

    def run(
        self, translator: TranslatorLike, progress: Callable[[Progress], None], should_stop: Callable[[], bool]
    ) -> str:
        return translator.name


@dataclass(frozen=True, eq=False)
class Refusing:
    """Has no answer."""

    scope: ClassVar[JobScope] = "sentence"

    def run(
        self, translator: TranslatorLike, progress: Callable[[Progress], None], should_stop: Callable[[], bool]
    ) -> str:
        raise AnalysisError("No such thing. Another was expected.")


class Heard:
    """What came of jobs, in order."""

    def __init__(self, worker: InferenceWorker) -> None:
        self.answers: list[tuple[int, object]] = []
        self.progress: list[int] = []
        self.given_up: list[int] = []
        self.failures: list[Failure] = []
        worker.answered.connect(lambda number, result: self.answers.append((number, result)))
        worker.progressed.connect(lambda _, progress: self.progress.append(progress.done))
        worker.given_up.connect(self.given_up.append)
        worker.failed.connect(lambda _, failure: self.failures.append(failure))


@pytest.fixture
def worker(qapp: QApplication) -> Iterator[InferenceWorker]:
    Counting.started.clear()
    worker = InferenceWorker(FakeTranslator)
    yield worker
    worker.close()


def test_a_job_is_answered_under_its_id_and_tells_how_far_it_is(qtbot: QtBot, worker: InferenceWorker) -> None:
    heard = Heard(worker)
    worker.load(None)
    request_id = worker.ask(Counting(5))
    qtbot.waitUntil(lambda: bool(heard.answers))
    assert heard.answers == [(request_id, 5)]
    assert heard.progress == [0, 1, 2, 3, 4]


def test_a_sentence_goes_before_a_long_job_which_then_goes_on(qtbot: QtBot, worker: InferenceWorker) -> None:
    heard = Heard(worker)
    worker.load(None)
    request_id = worker.ask(Counting(400))
    qtbot.waitUntil(lambda: len(heard.progress) > 5)
    with qtbot.waitSignal(worker.translated, timeout=2000):
        worker.translate("Ein Mann .")
    assert not heard.answers
    qtbot.waitUntil(lambda: heard.answers == [(request_id, 400)])
    assert heard.progress == list(range(400)), "nothing is done twice, nothing left out"
    assert Counting.started[0] == 0
    assert Counting.started[1] > 0


def test_a_question_about_the_sentence_goes_before_one_about_the_model(qtbot: QtBot, worker: InferenceWorker) -> None:
    heard = Heard(worker)
    worker.load(None)
    worker.ask(Counting())
    qtbot.waitUntil(lambda: len(heard.progress) > 5)
    request_id = worker.ask(Naming())
    qtbot.waitUntil(lambda: heard.answers == [(request_id, "bundled")])


def test_nothing_is_heard_of_a_cancelled_job(qtbot: QtBot, worker: InferenceWorker) -> None:
    heard = Heard(worker)
    worker.load(None)
    request_id = worker.ask(Counting())
    qtbot.waitUntil(lambda: len(heard.progress) > 5)
    worker.cancel(request_id)
    heard.progress.clear()
    with qtbot.waitSignal(worker.answered):
        worker.ask(Naming())
    assert heard.progress == []
    assert Counting.started == [0], "it is not taken up again"
    assert heard.given_up == []


def test_the_newest_job_of_a_class_supersedes_the_others(qtbot: QtBot, worker: InferenceWorker) -> None:
    heard = Heard(worker)
    worker.load(None)
    worker.ask(Counting())
    qtbot.waitUntil(lambda: len(heard.progress) > 5)
    worker.ask(Counting(7, at=7))
    request_id = worker.ask(Counting(3, at=3))
    qtbot.waitUntil(lambda: heard.answers == [(request_id, 3)])
    assert Counting.started == [0, 3]


def test_another_model_makes_every_job_pointless(qtbot: QtBot, worker: InferenceWorker) -> None:
    heard = Heard(worker)
    worker.load(None)
    request_id = worker.ask(Counting())
    qtbot.waitUntil(lambda: len(heard.progress) > 5)
    worker.load(Path("other.safetensors"))
    qtbot.waitUntil(lambda: heard.given_up == [request_id])
    assert not heard.answers


def test_a_model_that_does_not_open_leaves_jobs_going(qtbot: QtBot, worker: InferenceWorker) -> None:
    heard = Heard(worker)
    worker.load(None)
    request_id = worker.ask(Counting(100))
    qtbot.waitUntil(lambda: len(heard.progress) > 5)
    worker.load(Path("broken.safetensors"))
    qtbot.waitUntil(lambda: heard.answers == [(request_id, 100)])
    assert heard.given_up == []


def test_a_new_sentence_makes_questions_about_the_old_one_pointless(qtbot: QtBot, worker: InferenceWorker) -> None:
    class Waiting(FakeTranslator):
        gate = threading.Event()

        def translate(self, *arguments, **options):  # type: ignore[no-untyped-def]
            assert self.gate.wait(10)
            return super().translate(*arguments, **options)

    waiting = InferenceWorker(Waiting)
    heard = Heard(waiting)
    waiting.load(None)
    waiting.translate("eins")
    request_id = waiting.ask(Naming())
    waiting.translate("zwei")
    long = waiting.ask(Counting(3))
    Waiting.gate.set()
    qtbot.waitUntil(lambda: bool(heard.answers))
    waiting.close()
    assert heard.given_up == [request_id]
    assert heard.answers == [(long, 3)]


def test_a_job_without_an_answer_says_why(qtbot: QtBot, worker: InferenceWorker) -> None:
    heard = Heard(worker)
    worker.ask(Naming())
    qtbot.waitUntil(lambda: len(heard.failures) == 1)
    assert "No model is open" in heard.failures[0].message
    worker.load(None)
    worker.ask(Refusing())
    qtbot.waitUntil(lambda: len(heard.failures) == 2)
    assert heard.failures[1] == Failure("No such thing. Another was expected.")


def test_closing_ends_a_long_job_at_once(qtbot: QtBot) -> None:
    worker = InferenceWorker(FakeTranslator)
    heard = Heard(worker)
    worker.load(None)
    worker.ask(Counting())
    qtbot.waitUntil(lambda: len(heard.progress) > 5)
    began = time.monotonic()
    worker.close()
    assert time.monotonic() - began < 1


class Recording:
    """An asker that writes down what it hears."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, int, object]] = []

    def follow(self, request_id: int, progress: Progress, /) -> None:
        self.heard.append(("follow", request_id, progress.done))

    def accept(self, request_id: int, result: object, /) -> None:
        self.heard.append(("accept", request_id, result))

    def refuse(self, request_id: int, failure: Failure, /) -> None:
        self.heard.append(("refuse", request_id, failure.message))

    def give_up(self, request_id: int, /) -> None:
        self.heard.append(("give_up", request_id, None))


def test_the_desk_hands_each_answer_to_the_one_who_asked(qtbot: QtBot, worker: InferenceWorker) -> None:
    desk, one, other = JobDesk(worker), Recording(), Recording()
    worker.load(None)
    first, second, third = desk.ask(Counting(1), one), desk.ask(Naming(), other), desk.ask(Refusing(), other)
    qtbot.waitUntil(lambda: len(one.heard) + len(other.heard) == 4)
    assert one.heard == [("follow", first, 0), ("accept", first, 1)]
    assert [each[:2] for each in other.heard] == [("accept", second), ("refuse", third)]


def test_the_desk_forgets_what_was_cancelled_and_tells_what_was_given_up(qtbot: QtBot, worker: InferenceWorker) -> None:
    desk, one, other = JobDesk(worker), Recording(), Recording()
    worker.load(None)
    cancelled = desk.ask(Counting(), one)
    qtbot.waitUntil(lambda: bool(one.heard))
    desk.cancel(cancelled)
    one.heard.clear()
    given_up = desk.ask(Counting(), other)
    qtbot.waitUntil(lambda: bool(other.heard))
    worker.load(Path("other.safetensors"))
    qtbot.waitUntil(lambda: other.heard[-1] == ("give_up", given_up, None))
    assert one.heard == []
