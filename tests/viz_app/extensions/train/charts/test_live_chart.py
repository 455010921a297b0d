import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.extensions.train.charts.live_chart import LiveChart
from augenmerk.viz_app.extensions.train.charts.picture import ChartSettings, Quantity, picture_of
from augenmerk.viz_app.extensions.train.state import TrainState
from augenmerk.viz_app.theme import Theme
from tests.viz_app.builders import shown
from tests.viz_app.extensions.train.scripted import epoch_done, request, started, step_done


@pytest.fixture
def state() -> TrainState:
    """A run of 600 epochs, 3,000 steps, 450 of them done."""
    state = TrainState()
    state.begin(request(Path("runs")))
    state.apply(started(Path("runs"), num_epochs=600))
    for step in range(1, 451):
        state.apply(step_done(step, loss=8 - step / 100))
    state.apply(epoch_done(40, 4.5))
    state.apply(epoch_done(80, 4.0))
    return state


def show(chart: LiveChart, state: TrainState, quantity: Quantity = "loss") -> None:
    """What the panel around the chart does."""
    before = chart.picture.y_limits if chart.picture else None
    choices = ChartSettings(quantity)
    chart.show_picture(
        picture_of(state.run.curves, choices, state.run.num_steps_shown, y_before=before)
    )


def make_chart(qtbot: QtBot, size: tuple[int, int] = (700, 260)) -> LiveChart:
    return shown(qtbot, LiveChart(), size)


@pytest.fixture
def chart(qtbot: QtBot, state: TrainState, theme: Theme) -> LiveChart:
    chart = make_chart(qtbot)
    show(chart, state)
    QCoreApplication.processEvents()
    return chart


def colors_in(chart: LiveChart) -> set[str]:
    image = chart.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), dtype=np.uint32)
    return {f"#{pixel & 0xFFFFFF:06x}" for pixel in np.unique(pixels).tolist()}


def test_a_style_of_the_user_changes_no_chart(
    qtbot: QtBot, state: TrainState, chart: LiveChart, theme: Theme, qapp: QApplication
) -> None:
    with matplotlib.rc_context(
        {"text.usetex": True, "font.size": 30, "axes.linewidth": 5, "lines.linestyle": "--"}
    ):
        styled = make_chart(qtbot)
        show(styled, state)
        show(styled, state, "learning_rate")
        show(styled, state)
        Theme.dark().apply(qapp)
        styled.resize(500, 200)
        theme.apply(qapp)
        styled.resize(700, 260)
        QCoreApplication.processEvents()
        picture = styled.grab().toImage()
    assert picture == chart.grab().toImage()


@pytest.mark.heavy
def test_new_points_are_blitted(chart: LiveChart, state: TrainState) -> None:
    full_draws, blits = chart.num_full_draws, chart.num_blits
    for step in range(451, 471):
        state.apply(step_done(step, loss=3.6))
        show(chart, state)
    QCoreApplication.processEvents()
    assert chart.num_full_draws == full_draws
    assert chart.num_blits == blits + 20


def test_everything_is_drawn_again_when_the_step_axis_grows(
    chart: LiveChart, state: TrainState
) -> None:
    full_draws = chart.num_full_draws
    for step in range(451, 901):
        state.apply(step_done(step, loss=3.6))
    show(chart, state)
    QCoreApplication.processEvents()
    assert chart.num_full_draws == full_draws + 1
    assert chart.axes.get_xlim() == (0, 1600)


@pytest.mark.heavy
def test_everything_is_drawn_again_when_the_theme_or_the_size_changes(
    chart: LiveChart, qapp: QApplication, qtbot: QtBot, state: TrainState
) -> None:
    full_draws = chart.num_full_draws
    Theme.dark().apply(qapp)
    qtbot.waitUntil(lambda: chart.num_full_draws == full_draws + 1)
    chart.resize(640, 300)
    qtbot.waitUntil(lambda: chart.num_full_draws > full_draws + 1)
    full_draws = chart.num_full_draws
    show(chart, state)
    assert chart.num_full_draws == full_draws


def test_chart_wears_the_colours_of_its_theme(
    chart: LiveChart, qapp: QApplication, qtbot: QtBot
) -> None:
    for theme in (Theme.dark(), Theme.light()):
        full_draws = chart.num_full_draws
        theme.apply(qapp)
        qtbot.waitUntil(lambda before=full_draws: chart.num_full_draws > before)
        assert {theme.palette.panel, theme.palette.accent} <= colors_in(chart)


def test_hidden_chart_is_not_drawn(chart: LiveChart, qtbot: QtBot, state: TrainState) -> None:
    chart.hide()
    full_draws, blits = chart.num_full_draws, chart.num_blits
    state.apply(step_done(451, loss=3.6))
    show(chart, state)
    assert (chart.num_full_draws, chart.num_blits) == (full_draws, blits)
    with qtbot.waitExposed(chart):
        chart.show()
    show(chart, state)
    QCoreApplication.processEvents()
    assert chart.num_full_draws == full_draws + 1


@pytest.mark.heavy
def test_validations_and_the_best_are_marked(qtbot: QtBot, state: TrainState, theme: Theme) -> None:
    chart = make_chart(qtbot)
    show(chart, state)
    QCoreApplication.processEvents()
    assert theme.palette.warm in colors_in(chart)
    assert "best 4.000 · epoch 80" in [artist.get_text() for artist in chart.axes.texts]


@pytest.mark.parametrize("size", [(200, 90), (120, 40), (2400, 900)])
def test_chart_fits_any_size(qtbot: QtBot, state: TrainState, size: tuple[int, int]) -> None:
    chart = make_chart(qtbot, size)
    show(chart, state)
    QCoreApplication.processEvents()
    assert chart.num_full_draws >= 1


@pytest.mark.slow
@pytest.mark.heavy
def test_blitting_costs_a_fraction_of_a_full_redraw(qtbot: QtBot, state: TrainState) -> None:
    charts = [make_chart(qtbot, (1080, 300)) for _ in range(2)]
    for step in range(451, 3001):
        state.apply(step_done(step, loss=3.6 + step % 7 / 10))
    for chart in charts:
        show(chart, state)

    def redraw() -> None:
        for chart in charts:
            chart.draw()

    def blit() -> None:
        for chart in charts:
            show(chart, state)

    seconds = [best_seconds(blit, redraw) for _ in range(3)]
    assert min(blitted / redrawn for blitted, redrawn in seconds) < 1 / 2


@pytest.mark.heavy
def test_logarithmic_axis_is_drawn_and_left_again(chart: LiveChart, state: TrainState) -> None:
    show(chart, state, "perplexity")
    assert chart.axes.get_yscale() == "log"
    assert chart.axes.get_ylim()[0] > 0
    show(chart, state, "loss")
    assert chart.axes.get_yscale() == "linear"


def test_dragging_chooses_a_range_and_a_click_a_step(chart: LiveChart, qtbot: QtBot) -> None:
    middle = chart.height() // 2
    ranges, steps = [], []
    chart.range_chosen.connect(lambda first, last: ranges.append((first, last)))
    chart.step_chosen.connect(steps.append)
    qtbot.mousePress(chart, Qt.MouseButton.LeftButton, pos=QPoint(200, middle))
    qtbot.mouseMove(chart, QPoint(400, middle))
    qtbot.mouseRelease(chart, Qt.MouseButton.LeftButton, pos=QPoint(400, middle))
    assert ranges == [(pytest.approx(chart.step_at(200)), pytest.approx(chart.step_at(400)))]
    assert steps == []
    qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=QPoint(300, middle))
    assert steps == [pytest.approx(chart.step_at(300))]
    with qtbot.waitSignal(chart.range_reset):
        qtbot.mouseDClick(chart, Qt.MouseButton.LeftButton, pos=QPoint(300, middle))


def test_step_under_the_mouse_is_that_of_the_axis(chart: LiveChart) -> None:
    for step in (0, 100, 400):
        x_px = chart.axes.transData.transform((step, 1.0))[0] / chart.devicePixelRatioF()
        assert chart.step_at(x_px) == pytest.approx(step, abs=2)


def test_values_under_the_mouse_are_the_nearest_of_each_line(chart: LiveChart) -> None:
    values = {line.name: (step, value) for line, step, value in chart.values_at(210)}
    assert values["validation"] == (200, 4.5)
    assert values["training"][0] == 210


def test_step_of_the_film_is_a_line_that_costs_no_full_redraw(
    chart: LiveChart, state: TrainState
) -> None:
    before = colors_in(chart)
    full_draws = chart.num_full_draws
    picture = chart.picture
    assert picture is not None
    chart.show_picture(replace(picture, shown_step=200.0))
    assert chart.num_full_draws == full_draws
    assert colors_in(chart) != before


def best_seconds(*works: Callable[[], None], repeats: int = 7) -> list[float]:
    """The least CPU time that this thread has taken for each, by turns: other processes slow all of
    them down."""
    times = np.empty((repeats, len(works)))
    for repeat in range(repeats):
        for number, work in enumerate(works):
            began = time.thread_time()
            work()
            QCoreApplication.processEvents()
            times[repeat, number] = time.thread_time() - began
    return times.min(axis=0).tolist()
