"""The Learn page with the bundled model: every station, driven as a reader would."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.translation.experiment import GivenTarget, SoftmaxTemperature
from viz_app.learn.figures.layers import LayersFigure
from viz_app.learn.figures.one_weight import TEMPERATURES, OneWeightFigure
from viz_app.learn.figures.tokens import TokensFigure
from viz_app.learn.page import FIRST_EXAMPLE, LearnPage
from viz_app.learn.predict_view import PredictView
from viz_app.learn.station_view import StationView
from viz_app.theme import Theme

TIMEOUT_MS = 20_000


@pytest.fixture
def page(qtbot: QtBot, theme: Theme) -> Iterator[LearnPage]:
    page = LearnPage()
    qtbot.addWidget(page)
    page.resize(1400, 850)
    with qtbot.waitSignal(page.ready, timeout=TIMEOUT_MS):
        page.show()
    qtbot.waitUntil(lambda: page.view is not None, timeout=TIMEOUT_MS)
    yield page
    page.shutdown()


def station(qtbot: QtBot, page: LearnPage, name: str) -> StationView:
    """Opens the station of this name."""
    place = next(place for place, each in enumerate(page.stations) if each.name == name)
    page.open_station(place)
    view = page.view
    assert view is not None
    qtbot.waitUntil(lambda: not page.state.request.is_running, timeout=TIMEOUT_MS)
    return view


def answer(qtbot: QtBot, prediction: PredictView, choice: str) -> str:
    """Chooses, looks, and returns what turned out."""
    prediction.choices[choice].click()
    assert prediction.look.isEnabled()
    qtbot.mouseClick(prediction.look, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(prediction.verdict.text()), timeout=TIMEOUT_MS)
    return prediction.verdict.text()


def settle(qtbot: QtBot, page: LearnPage) -> None:
    qtbot.waitUntil(lambda: not page.state.request.is_running, timeout=TIMEOUT_MS)


def test_every_station_opens_and_fills_in_its_values(qtbot: QtBot, page: LearnPage) -> None:
    for place, each in enumerate(page.stations):
        view = station(qtbot, page, each.name)
        assert page.place == place
        assert all(text.text() and "{" not in text.text() and "…" not in text.text() for _, text in view.texts)
        assert all(figure.isVisible() for figure in view.figures)
        qtbot.waitUntil(
            lambda view=view: not any(figure.request.is_running for figure in view.figures), timeout=TIMEOUT_MS
        )
        assert not any(figure.request.problem for figure in view.figures)
    assert page.view is not None
    assert page.view.next_button.isHidden(), "there is nothing after the last"


def test_the_next_button_goes_on(qtbot: QtBot, page: LearnPage) -> None:
    assert page.view is not None
    qtbot.mouseClick(page.view.next_button, Qt.MouseButton.LeftButton)
    assert page.place == 1


def test_no_answer_is_given_before_a_choice(page: LearnPage) -> None:
    assert page.view is not None
    prediction = page.view.predictions[0]
    assert not prediction.look.isEnabled()
    assert prediction.verdict.text() == ""


def test_tokens_are_counted_in_the_sentence_that_was_typed(qtbot: QtBot, page: LearnPage) -> None:
    view = station(qtbot, page, "words")
    assert "10" not in view.texts[1][1].text()
    verdict = answer(qtbot, view.predictions[0], "fewer")
    assert verdict.startswith("No: more")
    assert "reads 8 tokens" in verdict
    page.sentence.input.set_text("Eine Schneeballschlacht.")
    settle(qtbot, page)
    assert view.predictions[0].verdict.text() == "", "another sentence is another question"
    assert "Schneeballschlacht" in view.texts[1][1].text()
    figure = view.figures[0]
    assert isinstance(figure, TokensFigure)
    assert len(figure.sides) == 2
    assert "schneeballschlacht in 4 pieces" in answer(qtbot, view.predictions[0], "more")


def test_a_softer_softmax_lowers_the_largest_weight_and_the_figure_follows(qtbot: QtBot, page: LearnPage) -> None:
    view = station(qtbot, page, "weight")
    figure = next(figure for figure in view.figures if isinstance(figure, OneWeightFigure))
    assert answer(qtbot, view.predictions[0], "falls").startswith("Right.")
    settle(qtbot, page)
    head = page.state.selection.head
    assert page.state.experiment.interventions == (SoftmaxTemperature(head, 4),)
    assert TEMPERATURES[figure.temperature.value()] == 4
    figure.temperature.setValue(TEMPERATURES.index(1.0))
    settle(qtbot, page)
    assert page.state.experiment.interventions == ()
    figure.temperature.setValue(TEMPERATURES.index(8.0))
    settle(qtbot, page)
    assert page.state.experiment.interventions == (SoftmaxTemperature(head, 8),)
    page.sentence.undo()
    settle(qtbot, page)
    assert TEMPERATURES[figure.temperature.value()] == 1


def test_a_click_on_a_line_pins_its_key(qtbot: QtBot, page: LearnPage) -> None:
    view = station(qtbot, page, "weight")
    figure = next(figure for figure in view.figures if isinstance(figure, OneWeightFigure))
    qtbot.waitUntil(lambda: figure.table.height() > 100, timeout=TIMEOUT_MS)
    pinned = page.state.selection.pinned
    assert pinned is not None
    qtbot.mouseClick(figure.table, Qt.MouseButton.LeftButton, pos=figure.table.line_of(1).center().toPoint())
    assert page.state.selection.pinned is not None
    assert (page.state.selection.pinned.query, page.state.selection.pinned.key) == (pinned.query, 1)
    assert any("zwei" in text.text() for _, text in view.texts)


def test_the_lens_shows_the_translation_that_is_shown(qtbot: QtBot, page: LearnPage) -> None:
    view = station(qtbot, page, "layers")
    figure = view.figures[0]
    assert isinstance(figure, LayersFigure)
    qtbot.waitUntil(lambda: figure.lens is not None, timeout=TIMEOUT_MS)
    page.state.set_output(GivenTarget("A cat."))
    settle(qtbot, page)
    qtbot.waitUntil(
        lambda: figure.lens is not None and figure.lens.translation is page.state.translation, timeout=TIMEOUT_MS
    )
    (matrix,) = figure.matrix.matrices
    assert matrix.column_labels == ("a", "cat", ".", "<eos>")


def test_entering_a_station_again_takes_back_what_was_changed_there(qtbot: QtBot, page: LearnPage) -> None:
    station(qtbot, page, "weight").tries[0].click()
    settle(qtbot, page)
    assert page.state.experiment.interventions
    station(qtbot, page, "layers")
    assert page.state.experiment.interventions == ()
    assert page.state.experiment.source_text == FIRST_EXAMPLE
