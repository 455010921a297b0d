"""From a state to the worker and back: experiments, what they reuse, measures, questions."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, cast

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Experiment, GivenTarget, HeadScaled
from augenmerk.core.translation.result import ExperimentResult, TranslationStoppedError
from augenmerk.viz_app.state.experiment_editor import (
    edit_text,
    force,
    intervene,
    open_experiment,
    set_output,
    toggle,
)
from augenmerk.viz_app.state.experiment_state import ExperimentState, Progress, RequestState
from augenmerk.viz_app.worker.inference import (
    ExperimentController,
    Failure,
    InferenceWorker,
    Request,
)
from augenmerk.viz_app.worker.jobs import JobScope, LoadJob, OpenTranslator, TraceJob
from tests.viz_app.synthetic import FakeTranslator

HEAD = Head("cross", 0, 0)


@pytest.fixture
def translators() -> list[FakeTranslator]:
    return []


@pytest.fixture
def worker(qapp: QApplication, translators: list[FakeTranslator]) -> Iterator[InferenceWorker]:
    def load(*arguments):  # type: ignore[no-untyped-def]
        translators.append(FakeTranslator(*arguments))
        return translators[-1]

    worker = InferenceWorker(load)
    yield worker
    worker.close()


@pytest.fixture
def controller(qtbot: QtBot, worker: InferenceWorker) -> ExperimentController:
    state = ExperimentState()
    controller = ExperimentController(state, worker)
    worker.submit(Request(LoadJob(None), controller, on_result=state.begin_model))
    qtbot.waitUntil(lambda: state.model is not None)
    return controller


def shown(state: ExperimentState) -> str:
    return state.translation.text if state.translation is not None else ""


def test_what_is_asked_for_is_computed_and_shown(
    qtbot: QtBot, controller: ExperimentController
) -> None:
    state = controller.state
    state.submit(edit_text("Ein Mann ."))
    assert state.request.is_running
    qtbot.waitUntil(lambda: shown(state) == "Ein mann.")
    assert not state.request.is_running
    state.submit(toggle(HEAD))
    qtbot.waitUntil(lambda: shown(state) == "Off1 mann.")
    assert state.result is not None
    assert state.result.original.text == "Ein mann."


def test_the_original_is_computed_once_for_all_changes(
    qtbot: QtBot, controller: ExperimentController, translators: list[FakeTranslator]
) -> None:
    state = controller.state
    state.submit(edit_text("Ein Mann ."))
    qtbot.waitUntil(lambda: shown(state) == "Ein mann.")
    for layer in range(3):
        state.submit(toggle(Head("cross", layer, 0)))
        qtbot.waitUntil(lambda: shown(state) == f"Off{len(state.experiment.interventions)} mann.")
    assert translators[0].experiments.count(Experiment("Ein Mann .")) == 1


def test_a_refusal_is_told_until_the_next_experiment_and_leaves_the_one_shown(
    qtbot: QtBot, controller: ExperimentController
) -> None:
    state, failures = controller.state, []
    controller.failed.connect(failures.append)
    state.submit(edit_text("Ein Mann ."))
    qtbot.waitUntil(lambda: shown(state) == "Ein mann.")
    state.submit(force(1, "unknown"))
    qtbot.waitUntil(lambda: len(failures) == 1)
    assert "not in this model's vocabulary" in state.request.problem
    assert shown(state) == "Ein mann."
    assert state.experiment == Experiment("Ein Mann .")
    state.submit(toggle(HEAD))
    qtbot.waitUntil(lambda: not state.request.is_running)
    assert state.request.problem == ""
    assert all(isinstance(failure, Failure) for failure in failures)


class EndlessTranslator(FakeTranslator):
    """Texts that begin with "Endless" are translated until nobody waits for them any more."""

    has_stopped = False

    def compare(
        self, experiment: Experiment, *, should_stop=lambda: False, **options
    ) -> ExperimentResult:  # type: ignore[no-untyped-def]
        """Waits until it is stopped."""
        if experiment.source_text.startswith("Endless"):
            self.experiments.append(experiment)
            while not should_stop():
                time.sleep(0.001)
            self.has_stopped = True
            raise TranslationStoppedError
        return super().compare(experiment, **options)


def test_what_was_cancelled_ends_and_leaves_what_is_shown(
    qtbot: QtBot, controller: ExperimentController, translators: list[FakeTranslator]
) -> None:
    state, ended = controller.state, []
    translators[0].__class__ = EndlessTranslator
    state.experiment_cancelled.connect(lambda: ended.append(state.request.is_running))
    state.submit(edit_text("Ein Mann ."))
    qtbot.waitUntil(lambda: shown(state) == "Ein mann.")
    state.cancel()
    assert not ended, "nothing was awaited"
    state.submit(edit_text("Endless ."))
    qtbot.waitUntil(lambda: translators[0].experiments[-1].source_text == "Endless .")
    state.cancel()
    assert ended == [False]
    assert state.experiment == Experiment("Ein Mann .")
    assert shown(state) == "Ein mann."
    assert "was cancelled; the previous sentence is still shown" in state.request.problem
    qtbot.waitUntil(lambda: cast(EndlessTranslator, translators[0]).has_stopped)
    state.submit(toggle(HEAD))
    qtbot.waitUntil(lambda: shown(state) == "Off1 mann.")
    assert state.request.problem == ""


def test_a_first_translation_that_was_cancelled_can_be_asked_for_again(
    qtbot: QtBot, controller: ExperimentController, translators: list[FakeTranslator]
) -> None:
    state = controller.state
    translators[0].__class__ = EndlessTranslator
    state.submit(edit_text("Endless ."))
    state.cancel()
    assert state.result is None
    assert state.experiment == Experiment("Endless .")
    assert "to translate" in state.request.problem
    translators[0].__class__ = FakeTranslator
    state.ask_again()
    qtbot.waitUntil(lambda: shown(state) == "Endless.")


def test_an_opened_experiment_whose_given_target_is_refused_shows_the_plain_sentence(
    qtbot: QtBot, controller: ExperimentController
) -> None:
    state = controller.state
    state.submit(open_experiment(Experiment("Ein Mann .", GivenTarget(" ")), forgets_history=True))
    qtbot.waitUntil(lambda: shown(state) == "Ein mann.")
    assert state.experiment == Experiment("Ein Mann .")
    assert "the given translation. There is no word in the given translation." in state.notice


def test_another_model_is_asked_for_what_fits_it(
    qtbot: QtBot, controller: ExperimentController
) -> None:
    state = controller.state
    state.submit(edit_text("Ein Mann ."))
    state.submit(intervene(HeadScaled(HEAD), HeadScaled(Head("cross", 2, 7))))
    qtbot.waitUntil(lambda: shown(state) == "Off2 mann.")
    state.submit(
        open_experiment(state.experiment.with_interventions(HeadScaled(Head("cross", 5, 0))))
    )
    qtbot.waitUntil(lambda: bool(state.notice))
    assert state.experiment.heads_off == {HEAD, Head("cross", 2, 7)}
    assert "cross 6·1 off" in state.notice


def test_beside_a_given_target_stands_the_models_own(
    qtbot: QtBot, controller: ExperimentController
) -> None:
    state = controller.state
    state.submit(edit_text("Ein Mann ."))
    qtbot.waitUntil(lambda: shown(state) == "Ein mann.")
    state.submit(set_output(GivenTarget("someone rests")))
    qtbot.waitUntil(lambda: shown(state) == "someone rests")
    assert state.result is not None
    assert state.result.own is not None
    assert state.result.own.text == "Ein mann."


def test_a_question_about_the_result_of_an_earlier_model_is_not_asked(
    qtbot: QtBot, controller: ExperimentController
) -> None:
    state, awaiting = controller.state, RequestState()
    state.submit(edit_text("Ein Mann ."))
    qtbot.waitUntil(lambda: shown(state) == "Ein mann.")
    assert state.translation is not None
    assert state.model is not None
    job, answers = TraceJob(state.translation), []
    state.begin_model(state.model)
    assert controller.ask(job, awaiting, answers.append) is None
    assert not awaiting.is_running
    assert controller.ask(Halves(), awaiting, answers.append) is not None, "it is about the model"
    qtbot.waitUntil(lambda: answers == ["whole"])


@dataclass(frozen=True, eq=False)
class Halves:
    """Tells a half on the way to the whole."""

    scope: ClassVar[JobScope] = "model"

    def run(
        self,
        translator: OpenTranslator,
        progress: Callable[[Progress], None],
        should_stop: Callable[[], bool],
    ) -> str:
        progress(Progress(1, 2, "half", partial="half"))
        return "whole"


def test_a_question_tells_how_far_it_is_to_whoever_shows_it(
    qtbot: QtBot, controller: ExperimentController
) -> None:
    awaiting, results, partials = RequestState(), [], []
    texts: list[str] = []
    awaiting.progressed.connect(lambda value: texts.append(value.text if value else ""))
    controller.ask(Halves(), awaiting, results.append, on_partial=partials.append)
    assert awaiting.is_running
    qtbot.waitUntil(lambda: results == ["whole"])
    assert partials == ["half"]
    assert "half" in texts
    assert not awaiting.is_running


def test_what_was_shown_last_is_the_draft_of_the_next(
    qtbot: QtBot, controller: ExperimentController, translators: list[FakeTranslator]
) -> None:
    state = controller.state
    state.submit(edit_text("Ein Mann ."))
    qtbot.waitUntil(lambda: shown(state) == "Ein mann.")
    state.submit(toggle(HEAD))
    qtbot.waitUntil(lambda: shown(state) == "Off1 mann.")
    state.submit(edit_text("Ein Hund ."))
    qtbot.waitUntil(lambda: shown(state) == "Off1 hund.")
    assert translators[0].drafts == [None, "Ein mann.", "Off1 mann."]
