"""Two experiments side by side, each with its controller, on one worker: neither disturbs the
other."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import (
    Experiment,
    ForcedToken,
    GivenTarget,
    HeadScaled,
    SourceWordRemoved,
)
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.state.experiment_editor import (
    edit_text,
    intervene,
    reset,
    set_output,
    toggle,
    undo,
)
from augenmerk.viz_app.state.experiment_state import ExperimentState, RequestState
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.worker.inference import ExperimentController, InferenceWorker, Request
from augenmerk.viz_app.worker.jobs import LoadJob, TraceJob
from tests.checkpoints import write_untrained_checkpoint

FIRST, SECOND = "Ein Mann steht auf einer Leiter .", "Ein Mann steht ."


class _Events:
    """Counts what a state tells."""

    def __init__(self, state: ExperimentState) -> None:
        self.told: list[str] = []
        for name in ("experiment_changed", "result_changed", "notice_changed", "roles_changed"):
            getattr(state, name).connect(lambda name=name: self.told.append(name), max_args=0)
        state.measuring.changed.connect(lambda: self.told.append("measuring"))
        state.settings.events.connect(lambda _: self.told.append("settings"))
        state.selection.events.connect(lambda _: self.told.append("selection"))


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_untrained_checkpoint(tmp_path_factory.mktemp("two") / "model.safetensors")


@pytest.fixture
def both(
    qtbot: QtBot, checkpoint: Path
) -> Iterator[tuple[ExperimentController, ExperimentController]]:
    """Two controllers on one worker, each with the translation of a sentence of its own."""
    worker = InferenceWorker()
    controllers = []
    for text in (FIRST, SECOND):
        state = ExperimentState()
        state.prepare_text(text)
        controllers.append(ExperimentController(state, worker))

    def begin(model: ModelInfo) -> None:
        for controller in controllers:
            controller.state.begin_model(model)
            controller.state.ask_again()

    worker.submit(Request(LoadJob(checkpoint, "cpu"), worker, on_result=begin))
    qtbot.waitUntil(
        lambda: all(controller.state.result is not None for controller in controllers),
        timeout=30_000,
    )
    yield controllers[0], controllers[1]
    worker.close()


def _settle(qtbot: QtBot, *states: ExperimentState) -> None:
    qtbot.waitUntil(lambda: not any(state.request.is_running for state in states), timeout=10_000)


def test_each_has_the_answer_to_its_own_experiment(
    both: tuple[ExperimentController, ExperimentController], checkpoint: Path, qtbot: QtBot
) -> None:
    first, second = (controller.state for controller in both)
    first.submit(intervene(HeadScaled(Head("cross", 0, 0)), ForcedToken(1, "ladder")))
    second.submit(set_output(GivenTarget("a man stands .")))
    second.submit(intervene(SourceWordRemoved(1)))
    assert first.request.is_running
    assert second.request.is_running, "the younger question does not supersede the other's"
    _settle(qtbot, first, second)
    translator = Translator.load(checkpoint, "cpu")
    for state in (first, second):
        assert state.translation is not None
        assert state.translation.experiment == state.experiment
        assert (
            state.translation.predicted_tokens == translator.run(state.experiment).predicted_tokens
        )
    assert first.experiment.source_text == FIRST
    assert second.experiment == Experiment(
        SECOND, GivenTarget("a man stands ."), (SourceWordRemoved(1),)
    )


def test_nothing_that_is_done_to_one_is_heard_of_at_the_other(
    both: tuple[ExperimentController, ExperimentController], qtbot: QtBot
) -> None:
    first, second = (controller.state for controller in both)
    other = _Events(second)
    result, experiment, maps = second.result, second.experiment, second.maps.view()
    settings, head = asdict(second.settings), second.selection.head
    first.submit(toggle(Head("cross", 1, 1)))
    _settle(qtbot, first)
    first.submit(edit_text("Ein Mann auf einer Leiter ."))
    _settle(qtbot, first)
    first.submit(undo)
    _settle(qtbot, first)
    first.settings.label_mode = "read" if first.settings.label_mode == "predicted" else "predicted"
    first.settings.merges_words = not first.settings.merges_words
    first.settings.shown = "difference"
    first.settings.measure = "norm"
    qtbot.waitUntil(lambda: first.maps.shown_measure("cross") == "norm", timeout=10_000)
    first.intents.choose_head(Head("encoder", 1, 0))
    first.selection.pin(Pair(1, 1))
    first.submit(reset)
    _settle(qtbot, first)
    first.clear()
    assert other.told == []
    assert second.result is result
    assert second.experiment == experiment
    assert second.maps.view() is maps
    assert (asdict(second.settings), second.selection.head) == (settings, head)
    assert not second.editor.can_undo
    assert not second.editor.can_redo


def test_each_undoes_its_own(
    both: tuple[ExperimentController, ExperimentController], qtbot: QtBot
) -> None:
    first, second = (controller.state for controller in both)
    first.submit(toggle(Head("cross", 0, 0)))
    second.submit(toggle(Head("encoder", 1, 1)))
    first.submit(undo)
    _settle(qtbot, first, second)
    assert not first.experiment.interventions
    assert second.experiment.heads_off == {Head("encoder", 1, 1)}
    assert (first.editor.can_redo, second.editor.can_redo) == (True, False)


def _ask(controller: ExperimentController, answers: list[object]) -> Request:
    translation = controller.state.translation
    assert translation is not None
    return controller.ask(
        TraceJob(translation), RequestState(), lambda _: answers.append(controller)
    )


def test_the_same_question_of_both_is_answered_twice(
    both: tuple[ExperimentController, ExperimentController], qtbot: QtBot
) -> None:
    answers: list[object] = []
    requests = [_ask(controller, answers) for controller in both]
    qtbot.waitUntil(lambda: all(request.is_over for request in requests), timeout=10_000)
    assert answers == list(both)


def test_another_result_of_one_drops_no_question_about_the_other(
    both: tuple[ExperimentController, ExperimentController], qtbot: QtBot
) -> None:
    first, second = both
    answers: list[object] = []
    asked = _ask(second, answers)
    # it is computed first: experiments are more urgent
    first.state.submit(toggle(Head("cross", 0, 0)))
    qtbot.waitUntil(lambda: asked.is_over, timeout=10_000)
    _settle(qtbot, first.state)
    assert answers == [second]
