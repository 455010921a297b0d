"""Answers of scenes are those of the chapters' questions, for the sentence and head on the
screen."""

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Experiment, HeadScaled
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.learn.chapter import read_chapters
from augenmerk.viz_app.extensions.learn.checks import CHECKS
from augenmerk.viz_app.extensions.lessons.scene_answers import CANNOT, SceneAnswers
from augenmerk.viz_app.state.experiment_editor import show_experiment, toggle
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.worker.inference import ExperimentController, InferenceWorker, Request
from augenmerk.viz_app.worker.jobs import LoadJob

pytestmark = pytest.mark.heavy
SENTENCE = "Ein Mann steht auf einer Leiter."


@pytest.fixture
def controller(qtbot: QtBot) -> ExperimentController:
    """Of the bundled model and a sentence."""
    parent, state = QObject(), ExperimentState()
    worker = InferenceWorker(parent=parent)
    controller = ExperimentController(state, worker, parent)
    infos: list[ModelInfo] = []
    worker.submit(Request(LoadJob(None, "cpu"), state, on_result=infos.append))
    qtbot.waitUntil(lambda: bool(infos))
    state.begin_model(infos[0])
    state.submit(show_experiment(Experiment(SENTENCE)))
    qtbot.waitUntil(lambda: state.current is not None)
    yield controller
    worker.close()
    parent.deleteLater()


def answer(qtbot: QtBot, answers: SceneAnswers, name: str) -> str:
    texts: list[str] = []
    answers.compute(name, texts.append)
    qtbot.waitUntil(lambda: bool(texts))
    (text,) = texts
    return text


def test_every_question_of_the_chapters_is_offered_and_answered(
    qtbot: QtBot, controller: ExperimentController
) -> None:
    answers, state = SceneAnswers(controller.state, controller.ask), controller.state
    state.intents.choose_head(Head("cross", 1, 4))
    state.selection.pin(Pair(2, 2))
    questions = answers.questions()
    assert set(questions) <= set(CHECKS)
    assert len(questions) >= 10
    before = state.experiment
    for name, (chapter, question) in questions.items():
        assert chapter in {listed.title for listed in read_chapters()}
        assert "{" not in question
        assert "**" not in question
        text = answer(qtbot, answers, name)
        assert text
        assert text != CANNOT, name
    assert state.experiment == before, "nothing on the screen changes"


def test_the_answer_is_that_of_the_model(
    qtbot: QtBot, controller: ExperimentController, bundled_translator: Translator
) -> None:
    answers, state = SceneAnswers(controller.state, controller.ask), controller.state
    head = Head("cross", 1, 4)
    state.intents.choose_head(head)
    plain = bundled_translator.run(Experiment(SENTENCE))
    changed = bundled_translator.run(Experiment(SENTENCE, interventions=(HeadScaled(head),)))
    text = answer(qtbot, answers, "without-head")
    assert ("stay the same" in text) == (plain.text == changed.text)
    assert plain.text == changed.text or changed.text in text
    state.submit(toggle(Head("encoder", 0, 0)))
    qtbot.waitUntil(lambda: not state.request.is_running)
    assert answer(qtbot, answers, "without-head") == text, (
        "changes of the scene are not part of the question"
    )


def test_what_cannot_be_answered_is_explained(
    qtbot: QtBot, controller: ExperimentController
) -> None:
    answers = SceneAnswers(controller.state, controller.ask)
    controller.state.intents.choose_head(Head("encoder", 0, 0))
    assert answer(qtbot, answers, "chosen-head") == CANNOT, "the question is about cross-attention"
    assert answer(qtbot, answers, "later-version") == "This version cannot compute “later-version”."
