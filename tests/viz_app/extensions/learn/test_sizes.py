"""Parameters and FLOPs: boxes, table, sliders and the choice of models, with the bundled model."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from augenmerk.core.device import DeviceChoice
from augenmerk.core.extensions.info.size import MODULES, Module, size_rows, total
from augenmerk.core.extensions.run_settings.presets import PRESETS, preset
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.learn.chapter_view import COMPUTING
from augenmerk.viz_app.extensions.learn.checks import part_sizes
from augenmerk.viz_app.extensions.learn.figures.sizes import OPEN, OWN, PartSizesFigure, SizesFigure
from augenmerk.viz_app.extensions.learn.figures.stack import StackDrawing, StackPicture
from augenmerk.viz_app.extensions.learn.page import LearnPage
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view_settings import MapViewSettings
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.worker.inference import InferenceWorker
from tests.viz_app.builders import settle_layout, shown

pytestmark = pytest.mark.heavy  # each test makes a window with a model

TIMEOUT_MS = 20_000


@pytest.fixture
def window_state() -> ExperimentState:
    return ExperimentState(MapViewSettings())


@pytest.fixture
def page(
    qtbot: QtBot, theme: Theme, window_state: ExperimentState, bundled_translator: Translator
) -> Iterator[LearnPage]:
    page = LearnPage(InferenceWorker(lambda path, device: bundled_translator), window_state)
    shown(qtbot, page, (1064, 620))
    qtbot.waitUntil(lambda: page.view is not None, timeout=TIMEOUT_MS)
    page.open_named("model")
    qtbot.waitUntil(lambda: not page.state.request.is_running, timeout=TIMEOUT_MS)
    yield page
    page.shutdown()


def picture_of(stack: StackDrawing) -> StackPicture:
    assert stack.picture is not None
    return stack.picture


def figure_of(page: LearnPage) -> SizesFigure:
    assert page.view is not None
    (figure,) = (figure for figure in page.view.figures if isinstance(figure, SizesFigure))
    return figure


def click(qtbot: QtBot, stack: StackDrawing, module: Module) -> None:
    side, index = next(
        (side, index)
        for side, boxes in stack.boxes.items()
        for index, box in enumerate(boxes)
        if box.module == module
    )
    qtbot.mouseClick(
        stack,
        Qt.MouseButton.LeftButton,
        pos=picture_of(stack).place_of(side, index).center().toPoint(),
    )


def test_the_model_that_is_open_here_is_drawn_at_the_length_of_the_sentence(
    qtbot: QtBot, page: LearnPage
) -> None:
    page.sentence.input.set_text("Drei Kinder bauen am Strand eine Burg aus Sand.")
    qtbot.waitUntil(lambda: not page.state.request.is_running, timeout=TIMEOUT_MS)
    figure = figure_of(page)
    assert page.state.model is not None
    assert figure.menu.choice == OWN
    assert figure.lines[-1][:2] == ("all", f"{page.state.model.num_parameters:,}")
    assert [slider.value() for slider in figure.sliders] == [12, 10]
    rows = size_rows(page.state.model.run.model, 8000, 8000, 12, 10)
    assert figure.lines[-1][3] == f"{total(rows).num_flops:,}"
    assert [line[0] for line in figure.lines] == [
        "embeddings and positions",
        "attention",
        "feed-forward",
        "norms",
        "output",
        "all",
    ]


def test_a_click_shows_the_rows_of_a_module_and_a_second_one_the_whole(
    qtbot: QtBot, page: LearnPage
) -> None:
    figure = figure_of(page)
    click(qtbot, figure.stack, "cross-attention")
    assert figure.stack.module == "cross-attention"
    rows = (
        [row for row in figure.measured.rows if row.module == "cross-attention"]
        if figure.measured
        else []
    )
    assert [line[1] for line in figure.lines[:-1]] == [f"{row.num_parameters:,}" for row in rows]
    assert [line[3] for line in figure.lines[:-1]] == [f"{row.num_flops:,}" for row in rows]
    assert figure.lines[-1][0] == "cross-attention, of the whole"
    assert "all source tokens" in figure.says.text()
    click(qtbot, figure.stack, "output")
    assert "The matrix is shared with the source embedding" in figure.says.text()
    click(qtbot, figure.stack, "output")
    assert figure.stack.module is None
    assert figure.lines[-1][0] == "all"


def test_every_box_of_every_preset_is_apart_from_the_others_and_inside(
    qtbot: QtBot, page: LearnPage
) -> None:
    figure = figure_of(page)
    for name in PRESETS:
        figure.menu.chosen.emit(name)
        places = [
            picture_of(figure.stack).place_of(side, index)
            for side, boxes in figure.stack.boxes.items()
            for index in range(len(boxes))
        ]
        area = figure.stack.rect().toRectF()
        assert all(area.contains(box) for box in places)
        assert not any(
            one.intersects(other) for one in places for other in places if one is not other
        )


def test_the_arrow_keys_go_through_the_modules(qtbot: QtBot, page: LearnPage) -> None:
    stack = figure_of(page).stack
    stack.setFocus()
    seen = []
    for _ in MODULES:
        qtbot.keyClick(stack, Qt.Key.Key_Up)
        seen.append(stack.module)
    assert tuple(seen) == MODULES
    qtbot.keyClick(stack, Qt.Key.Key_Escape)
    assert stack.module is None


def test_longer_sentences_do_not_widen_the_figure(qtbot: QtBot, page: LearnPage) -> None:
    figure = figure_of(page)
    settle_layout()
    width, least = figure.width(), figure.minimumSizeHint().width()
    for slider in figure.sliders:
        slider.setValue(slider.maximum())
    settle_layout()
    assert (figure.width(), figure.minimumSizeHint().width()) == (width, least)


def test_sliders_follow_the_sentence_until_they_are_moved(qtbot: QtBot, page: LearnPage) -> None:
    figure = figure_of(page)
    page.sentence.input.set_text("Ein Hund.")
    qtbot.waitUntil(lambda: figure.sliders[0].value() == 5, timeout=TIMEOUT_MS)
    before = figure.lines
    figure.sliders[0].setValue(200)
    assert figure.lines[-1][3] != before[-1][3]
    assert figure.lines[-1][1] == before[-1][1], "parameters are the same for every sentence"
    page.sentence.input.set_text("Ein Koch schneidet Gemüse.")
    qtbot.waitUntil(lambda: not page.state.request.is_running, timeout=TIMEOUT_MS)
    assert figure.sliders[0].value() == 200
    figure.menu.chosen.emit("notebook")
    assert (
        figure.sliders[0].value()
        == figure.sliders[0].maximum()
        == preset("notebook").model.max_positions
    )


def test_a_published_system_has_its_published_number_of_parameters(page: LearnPage) -> None:
    figure = figure_of(page)
    figure.menu.chosen.emit("notebook")
    assert figure.lines[-1][1] == "9,038,341"


def test_the_model_of_the_window_can_be_chosen_when_it_is_another(
    page: LearnPage, window_state: ExperimentState
) -> None:
    figure = figure_of(page)
    assert page.state.model is not None
    window_state.begin_model(page.state.model)
    assert OPEN not in figure.menu.actions_by_name
    device = DeviceChoice("cpu", "requested")
    window_state.begin_model(
        ModelInfo("mine", None, preset("copy-task"), device, 1, None, "other", (11, 11))
    )
    figure.menu.actions_by_name[OPEN].trigger()
    rows = size_rows(preset("copy-task").model, 11, 11, 11, 10)
    assert figure.lines[-1][1] == f"{total(rows).num_parameters:,}"
    window_state.begin_model(page.state.model)
    assert figure.menu.choice == OWN


def test_what_is_predicted_is_computed_from_the_preset(qtbot: QtBot, page: LearnPage) -> None:
    assert page.view is not None
    (prediction,) = page.view.text.predictions
    prediction.choices["attention"].click()
    prediction.look.click()
    qtbot.waitUntil(lambda: prediction.verdict.text() not in ("", COMPUTING), timeout=TIMEOUT_MS)
    assert prediction.verdict.text().startswith("No: tables and output matrix. Tables of tokens")
    assert "5,084,677 parameters" in prediction.verdict.text()


def test_the_bars_of_the_preset_wait_for_the_answer(qtbot: QtBot, page: LearnPage) -> None:
    assert page.view is not None
    assert page.state.model is not None
    (figure,) = (figure for figure in page.view.figures if isinstance(figure, PartSizesFigure))
    own = page.state.model
    parts = part_sizes(size_rows(own.run.model, *own.vocabulary_sizes, 1, 1))
    assert [bar.text for bar in figure.own.bars] == [f"{size:,}" for size in parts.values()]
    assert not figure.asked.isVisible()
    (prediction,) = page.view.text.predictions
    prediction.choices["tokens"].click()
    prediction.look.click()
    qtbot.waitUntil(figure.asked.isVisible, timeout=TIMEOUT_MS)
    assert [bar.text for bar in figure.asked.bars] == ["5,084,677", "2,368,512", "1,577,472"]
    assert [bar.is_lit for bar in figure.asked.bars] == [True, False, False]
    assert figure.asked.bars[0].value == pytest.approx(5_084_677 / 9_038_341)
