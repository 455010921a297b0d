import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from tests.viz_app.train.scripted import epoch_done, started, step_done
from viz_app.theme import Theme
from viz_app.train.charts import LiveChart, LossChart, RateChart
from viz_app.train.state import TrainState


@pytest.fixture
def state() -> TrainState:
    """A run of 600 epochs, 3,000 steps, 450 of them done."""
    state = TrainState()
    state.begin(Path("runs"))
    state.apply(started(Path("runs"), num_epochs=600))
    for step in range(1, 451):
        state.apply(step_done(step, loss=8 - step / 100))
    state.apply(epoch_done(40, 4.5))
    state.apply(epoch_done(80, 4.0))
    return state


@pytest.fixture(params=[LossChart, RateChart])
def chart(request: pytest.FixtureRequest, qtbot: QtBot, state: TrainState) -> LiveChart:
    chart: LiveChart = request.param(Theme.light())
    qtbot.addWidget(chart)
    chart.resize(700, 260)
    with qtbot.waitExposed(chart):
        chart.show()
    chart.show_state(state)
    QCoreApplication.processEvents()
    return chart


def colors_in(chart: LiveChart) -> set[str]:
    image = chart.grab().toImage()
    return {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}


def test_new_points_are_blitted(chart: LiveChart, state: TrainState) -> None:
    full_draws, blits = chart.num_full_draws, chart.num_blits
    for step in range(451, 471):
        state.apply(step_done(step, loss=3.6))
        chart.show_state(state)
    QCoreApplication.processEvents()
    assert chart.num_full_draws == full_draws
    assert chart.num_blits == blits + 20


def test_everything_is_drawn_again_when_the_step_axis_grows(chart: LiveChart, state: TrainState) -> None:
    full_draws = chart.num_full_draws
    for step in range(451, 901):
        state.apply(step_done(step, loss=3.6))
    chart.show_state(state)
    assert chart.num_full_draws == full_draws + 1
    assert chart.axes.get_xlim() == (0, 1600)


def test_everything_is_drawn_again_when_the_theme_or_the_size_changes(
    chart: LiveChart, qtbot: QtBot, state: TrainState
) -> None:
    full_draws = chart.num_full_draws
    chart.apply_theme(Theme.dark())
    qtbot.waitUntil(lambda: chart.num_full_draws == full_draws + 1)
    chart.resize(640, 300)
    qtbot.waitUntil(lambda: chart.num_full_draws > full_draws + 1)
    full_draws = chart.num_full_draws
    chart.show_state(state)
    assert chart.num_full_draws == full_draws


def test_chart_wears_the_colours_of_its_theme(chart: LiveChart, qtbot: QtBot) -> None:
    for theme in (Theme.light(), Theme.dark()):
        full_draws = chart.num_full_draws
        chart.apply_theme(theme)
        qtbot.waitUntil(lambda before=full_draws: chart.num_full_draws > before)
        assert {theme.palette.panel, theme.palette.accent} <= colors_in(chart)


def test_hidden_chart_is_not_drawn(chart: LiveChart, qtbot: QtBot, state: TrainState) -> None:
    chart.hide()
    full_draws, blits = chart.num_full_draws, chart.num_blits
    state.apply(step_done(451, loss=3.6))
    chart.show_state(state)
    assert (chart.num_full_draws, chart.num_blits) == (full_draws, blits)
    with qtbot.waitExposed(chart):
        chart.show()
    chart.show_state(state)
    assert chart.num_full_draws == full_draws + 1


def test_validations_and_the_best_are_marked(qtbot: QtBot, state: TrainState) -> None:
    chart = LossChart(Theme.light())
    qtbot.addWidget(chart)
    chart.resize(700, 260)
    with qtbot.waitExposed(chart):
        chart.show()
    chart.show_state(state)
    assert Theme.light().palette.warm in colors_in(chart)
    assert "best 4.000" in [artist.get_text() for artist in chart.axes.texts]


@pytest.mark.parametrize("size", [(200, 90), (120, 40), (2400, 900)])
def test_chart_fits_any_size(qtbot: QtBot, state: TrainState, size: tuple[int, int]) -> None:
    chart = LossChart(Theme.light())
    qtbot.addWidget(chart)
    chart.resize(*size)
    with qtbot.waitExposed(chart):
        chart.show()
    chart.show_state(state)
    QCoreApplication.processEvents()
    assert chart.num_full_draws >= 1


def test_blitting_costs_a_fraction_of_a_full_redraw(qtbot: QtBot, state: TrainState) -> None:
    charts: list[LiveChart] = [LossChart(Theme.light()), RateChart(Theme.light())]
    for step in range(451, 3001):
        state.apply(step_done(step, loss=3.6 + step % 7 / 10))
    for chart in charts:
        qtbot.addWidget(chart)
        chart.resize(1080, 300)
        with qtbot.waitExposed(chart):
            chart.show()
        chart.show_state(state)

    def redraw() -> None:
        for chart in charts:
            chart.draw()

    def blit() -> None:
        for chart in charts:
            chart.show_state(state)

    assert best_seconds(blit) < best_seconds(redraw) / 2


def best_seconds(work: Callable[[], None], repeats: int = 7) -> float:
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        QCoreApplication.processEvents()
        times.append(time.perf_counter() - began)
    return min(times)
