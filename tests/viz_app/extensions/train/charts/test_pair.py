from pathlib import Path
from typing import get_args

import pytest
from PySide6.QtCore import QCoreApplication, QPoint, QPointF, QTimer
from PySide6.QtWidgets import QToolTip
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.extensions.train.charts.live_chart import LiveChart
from augenmerk.viz_app.extensions.train.charts.panel import ChartPair, ChartPanel
from augenmerk.viz_app.extensions.train.charts.picture import Quantity
from augenmerk.viz_app.extensions.train.run_files import RunComparison
from augenmerk.viz_app.extensions.train.state import TrainState
from augenmerk.viz_app.theme import Theme
from tests.viz_app.builders import settle_layout, shown
from tests.viz_app.extensions.train.scripted import epoch_done, request, started, step_done

NUM_STEPS = 3_000


@pytest.fixture
def state() -> TrainState:
    state = TrainState()
    state.begin(request(Path("one")))
    state.apply(started(Path("one"), num_epochs=2 * NUM_STEPS // 5))
    for step in range(1, NUM_STEPS + 1):
        state.apply(step_done(step))
    state.apply(epoch_done(NUM_STEPS // 5))
    return state


@pytest.fixture
def pair(qtbot: QtBot, theme: Theme, state: TrainState) -> ChartPair:
    return shown(qtbot, ChartPair(state, RunComparison(), Path), (740, 330))


def ends_of_axis(chart: LiveChart) -> tuple[QPoint, QPoint]:
    """Where the step axis of a chart begins and ends, on the screen."""
    chart.draw()
    box, height = chart.axes.get_window_extent(), chart.height()
    return tuple(
        chart.mapToGlobal(QPoint(round(x), round(height - box.y0))) for x in (box.x0, box.x1)
    )  # type: ignore[return-value]


@pytest.mark.heavy
def test_in_a_narrow_page_the_second_chart_is_shorter_and_its_steps_stand_below_the_main_chart(
    pair: ChartPair,
) -> None:
    pair.resize(600, 430)  # too narrow for both next to each other
    settle_layout()
    main, second = pair.main.chart, pair.second.chart
    assert main.isVisible()
    assert second.isVisible()
    assert main.height() > second.height() > 50
    for above, below in zip(ends_of_axis(main), ends_of_axis(second), strict=True):
        assert above.x() == below.x()
        assert above.y() < below.y()
    assert main.axes.get_xlim() == second.axes.get_xlim()


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["main", "second"])
def test_both_charts_zoom_to_the_same_steps(pair: ChartPair, name: str) -> None:
    panel: ChartPanel = getattr(pair, name)
    all_steps = pair.main.chart.axes.get_xlim()
    panel.chart.range_chosen.emit(100.0, 200.0)
    assert pair.main.chart.axes.get_xlim() == pair.second.chart.axes.get_xlim() == (100, 200)
    assert pair.main.shown_menu.text().startswith("zoomed")
    panel.chart.range_reset.emit()
    assert pair.main.chart.axes.get_xlim() == pair.second.chart.axes.get_xlim() == all_steps
    pair.main.choose(shown="500")
    assert pair.second.chart.axes.get_xlim() == (NUM_STEPS - 500, NUM_STEPS)
    assert not pair.second.shown_menu.isVisible()


@pytest.mark.heavy
def test_the_mouse_on_one_chart_shows_the_values_of_both(pair: ChartPair, qtbot: QtBot) -> None:
    for chart in (pair.main.chart, pair.second.chart):
        QToolTip.hideText()
        qtbot.mouseMove(chart, QPointF(chart.width() / 3, chart.height() / 2).toPoint())
        qtbot.waitUntil(
            lambda: "learning rate" in QToolTip.text() and "validation" in QToolTip.text()
        )


@pytest.mark.heavy
def test_each_quantity_can_be_chosen_in_the_second_chart(pair: ChartPair) -> None:
    assert pair.second.choices.quantity == "learning_rate"
    for quantity in get_args(Quantity):
        pair.second.quantity_menu.actions_by_name[quantity].trigger()
        assert pair.second.choices.quantity == quantity
        assert pair.main.choices.quantity == "loss"
    assert [shown.settings.quantity for shown in pair.pictures] == ["loss", get_args(Quantity)[-1]]


@pytest.mark.heavy
def test_the_window_reacts_between_the_full_redraws_of_both_charts(
    pair: ChartPair, qtbot: QtBot
) -> None:
    charts = pair.main.chart, pair.second.chart
    QCoreApplication.processEvents()
    before = [chart.num_full_draws for chart in charts]
    seen = []
    pulse = QTimer(pair, interval=0)
    pulse.timeout.connect(
        lambda: seen.append(
            [chart.num_full_draws - num for chart, num in zip(charts, before, strict=True)]
        )
    )
    for redraw in (lambda: pair.main.choose(shown="500"), lambda: pair.resize(800, 400)):
        seen.clear()
        before[:] = [chart.num_full_draws for chart in charts]
        pulse.start()
        redraw()
        qtbot.waitUntil(lambda: bool(seen) and min(seen[-1]) > 0)
        pulse.stop()
        assert [1, 0] in seen or [0, 1] in seen


@pytest.mark.heavy
def test_a_new_point_of_a_long_run_redraws_no_axes(pair: ChartPair, state: TrainState) -> None:
    charts = pair.main.chart, pair.second.chart
    before = [(chart.num_full_draws, chart.num_blits) for chart in charts]
    for step in range(NUM_STEPS + 1, NUM_STEPS + 11):
        state.apply(step_done(step))
    assert [(chart.num_full_draws, chart.num_blits) for chart in charts] == [
        (full, blits + 10) for full, blits in before
    ]
    assert all(
        len(line.xs) <= state.run.curves.training_loss.capacity
        for line in pair.second.chart.picture.lines
    )  # type: ignore[union-attr]
