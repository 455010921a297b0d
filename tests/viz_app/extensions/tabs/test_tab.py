"""What every tab gets from its base class: when it works, what it forgets, and where keyboard focus
stays."""

import gc
import weakref

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import HeadScaled
from augenmerk.viz_app.extensions.tabs import computing_tab
from augenmerk.viz_app.extensions.tabs.computing_tab import JobBar
from augenmerk.viz_app.state.experiment_editor import intervene, toggle
from augenmerk.viz_app.state.experiment_state import Progress, RequestState
from augenmerk.viz_app.state.tabs import Tab
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.translate.analysis_panel import AnalysisPanel
from augenmerk.viz_app.translate.analysis_tab import AnalysisContext, AnalysisTab
from augenmerk.viz_app.worker.jobs import MeasureJob, TraceJob
from tests.viz_app.extensions.tabs.conftest import MakeContext, load, settle


class RecordingTab(AnalysisTab):
    """Notes what it is told."""

    def __init__(self, context: AnalysisContext) -> None:
        super().__init__(
            context, Tab("Recording", "Notes what it is told", "A tab of a test.", "", order=0)
        )
        self.told: list[str] = []

    def refresh(self) -> None:
        """Notes it."""
        self.told.append("refresh")

    def redraw(self) -> None:
        """Notes it."""
        self.told.append("redraw")

    def forget_result(self) -> None:
        """Notes it."""
        self.told.append("forget")

    def begin_model(self) -> None:
        """Notes it."""
        self.told.append("model")


@pytest.fixture
def tab(make_context: MakeContext, qtbot: QtBot) -> RecordingTab:
    made = RecordingTab(make_context())
    qtbot.addWidget(made)
    return made


def _change(tab: AnalysisTab, qtbot: QtBot) -> None:
    tab.state.submit(toggle(Head("cross", 0, 0)))
    settle(qtbot, tab)


def test_a_tab_works_only_while_it_is_in_sight(tab: RecordingTab, qtbot: QtBot) -> None:
    _change(tab, qtbot)
    tab.state.selection.choose(Head("cross", 1, 1))
    assert tab.told == ["forget"]
    tab.show()
    assert tab.told == ["forget", "refresh"]
    tab.told.clear()
    _change(tab, qtbot)
    assert tab.told == ["forget", "refresh"]
    tab.state.selection.choose(Head("cross", 2, 2))
    assert tab.told[2:] == ["redraw"]
    tab.hide()
    tab.state.selection.choose(Head("cross", 0, 1))
    assert tab.told[3:] == []


def test_another_theme_is_taken_up_in_sight(
    tab: RecordingTab, qtbot: QtBot, qapp: QApplication, theme: Theme
) -> None:
    tab.show()
    tab.told.clear()
    Theme.dark().apply(qapp)
    qtbot.waitUntil(lambda: "redraw" in tab.told)
    assert tab.theme.is_dark
    theme.apply(qapp)


def test_another_model_is_told(
    tab: RecordingTab, qtbot: QtBot, model_files: dict[str, object]
) -> None:
    old = tab.translation_to_ask_about
    assert old is tab.state.translation is not None
    told: list[object] = []
    tab.state.model_changed.connect(lambda: told.append(tab.translation_to_ask_about))
    load(tab.context, model_files["single"])  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: tab.state.translation is not old, timeout=10_000)
    assert tab.told == ["model", "forget"]
    assert told == [None], "the old translation is no question for the new model"


def test_an_answer_about_an_earlier_result_never_comes(tab: RecordingTab, qtbot: QtBot) -> None:
    translation = tab.state.translation
    assert translation is not None
    tab.state.submit(toggle(Head("cross", 0, 0)))  # asked for before, and answered before
    answers: list[object] = []
    tab.ask(MeasureJob(translation, "norm"), answers.append)
    assert tab.request.is_running
    qtbot.waitUntil(lambda: tab.state.translation is not translation, timeout=10_000)
    assert not tab.request.is_running
    tab.ask(TraceJob(tab.state.translation), lambda _: None)
    settle(qtbot, tab)  # the worker has answered all that was asked before
    assert answers == []


def test_a_second_question_takes_the_place_of_the_first_and_is_still_awaited(
    tab: RecordingTab, qtbot: QtBot
) -> None:
    translation = tab.state.translation
    assert translation is not None
    answers: list[object] = []
    tab.ask(TraceJob(translation), lambda _: answers.append("first"))
    tab.ask(TraceJob(translation), lambda _: answers.append("second"))
    assert tab.request.is_running
    settle(qtbot, tab)
    assert answers == ["second"]
    tab.controller.ask(TraceJob(translation), tab.request, lambda _: answers.append("third"))
    tab.controller.ask(TraceJob(translation), tab.request, lambda _: answers.append("fourth"))
    assert tab.request.is_running
    settle(qtbot, tab)
    assert answers == ["second", "fourth"]


def test_nothing_is_heard_of_a_cancelled_question(tab: RecordingTab, qtbot: QtBot) -> None:
    translation = tab.state.translation
    assert translation is not None
    answers: list[object] = []
    tab.ask(TraceJob(translation), answers.append)
    tab.cancel()
    assert not tab.request.is_running
    _change(tab, qtbot)
    assert answers == []


def test_a_problem_is_shown_until_another_result(tab: RecordingTab, qtbot: QtBot) -> None:
    tab.show()
    assert not tab.problem.isVisible()
    tab.request.finish("No such thing.")
    assert tab.problem.isVisible()
    assert tab.problem.text() == "No such thing."
    tab.state.submit(intervene(HeadScaled(Head("cross", 0, 0), 0.5)))
    settle(qtbot, tab)
    assert not tab.problem.isVisible()


def test_focus_stays_in_the_bar_of_a_job(qtbot: QtBot, theme: Theme) -> None:
    window, request = QWidget(), RequestState()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    bar = JobBar(request, "Measure", "Measures")
    bar.start.clicked.connect(lambda: request.begin())
    bar.stop.clicked.connect(lambda: request.finish())
    for widget in (QLineEdit(), bar, QLineEdit()):
        column.addWidget(widget)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    bar.start.setFocus()
    qtbot.keyClick(bar.start, Qt.Key.Key_Space)
    assert not bar.start.isVisible()
    assert bar.stop.hasFocus()
    request.advance(Progress(2, 7, "2 of 7"))
    assert (bar.bar.value(), bar.bar.maximum(), bar.text.text()) == (2, 7, "2 of 7")
    qtbot.keyClick(bar.stop, Qt.Key.Key_Space)
    assert bar.start.hasFocus()
    request.begin()
    request.finish()
    assert bar.start.hasFocus(), "an answer at once"


def test_a_long_job_says_how_long_it_still_takes(
    qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, request = [100.0], RequestState()
    monkeypatch.setattr(computing_tab.time, "monotonic", lambda: clock[0])
    bar = JobBar(request, "Measure", "Measures")
    qtbot.addWidget(bar)
    for _ in range(2):  # the second is timed from its own beginning
        request.begin()
        for seconds, done, text in (
            (0, 20, "20 of 200"),
            (4, 40, "40 of 200"),
            (6, 80, "80 of 200 · about 20 s left"),  # 60 in ten seconds, 120 are left
            (60, 110, "110 of 200 · about 1 min 10 s left"),
            (0, 200, "200 of 200"),
        ):
            clock[0] += seconds
            request.advance(Progress(done, 200, f"{done} of 200"))
            assert bar.text.text() == text
        request.finish()


@pytest.mark.heavy
def test_nothing_keeps_a_tab_that_was_closed(
    make_context: MakeContext, qtbot: QtBot, qapp: QApplication
) -> None:
    context = make_context()
    panel = AnalysisPanel(context)
    panel.show()
    for index, tab in enumerate(panel.tabs):
        panel.show_tab(index)
        settle(qtbot, tab)
    references = [weakref.ref(widget) for widget in (panel, *panel.tabs)]
    panel.close()
    panel.deleteLater()
    del panel, tab
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # type: ignore[arg-type]  # the stub forgets None
    gc.collect()
    assert [reference() for reference in references] == [None] * len(references)
    context.state.submit(toggle(Head("cross", 0, 0)))
    qtbot.waitUntil(lambda: not context.state.request.is_running, timeout=10_000)
