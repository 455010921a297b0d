"""A small line chart: round ticks, curves in their places, the values under the mouse."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor, QFontMetrics
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.extensions.widgets.line_chart import (
    CURVES_LIGHT,
    Curve,
    LineChart,
    points_that_show,
    shown_value,
    ticks,
)
from augenmerk.viz_app.theme import Theme


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 100, [0, 20, 40, 60, 80, 100]),
        (-1, 1, [-1, -0.5, 0, 0.5, 1]),
        (0, 0.0031, [0, 0.0005, 0.001, 0.0015, 0.002, 0.0025, 0.003]),
        (3, 17, [5, 7.5, 10, 12.5, 15]),
    ],
)
def test_ticks_are_round_and_within_the_range(
    low: float, high: float, expected: list[float]
) -> None:
    assert ticks(low, high) == pytest.approx(expected)


@pytest.fixture
def chart(qtbot: QtBot, theme: Theme) -> LineChart:
    chart = LineChart("waves", "position", "value")
    qtbot.addWidget(chart)
    chart.resize(400, 240)
    places = np.linspace(0, 10, 11)
    chart.show_curves([Curve("up", places, places), Curve("flat", places, np.full(11, 5.0))])
    chart.show()
    return chart


def test_numbers_of_an_axis_are_written_alike() -> None:
    assert [shown_value(value) for value in (0, 5_000, 10_000, 15_000)] == [
        "0",
        "5,000",
        "10,000",
        "15,000",
    ]
    assert [shown_value(value) for value in (0.00125, -0.5, 2e-6)] == ["0.00125", "−0.5", "2.0e−06"]


def test_the_last_number_of_an_axis_is_not_clipped(chart: LineChart) -> None:
    chart.show_curves([Curve("rate", np.linspace(0, 20_000, 9), np.zeros(9))], x_range=(0, 20_000))
    image, bottom = chart.grab().toImage(), int(chart.area.bottom())
    right = [image.pixelColor(image.width() - 1, y) for y in range(bottom + 3, bottom + 16)]
    assert len({color.name() for color in right}) == 1, "nothing is drawn at the edge"


def test_curves_are_drawn_where_their_values_are(chart: LineChart) -> None:
    image, area = chart.grab().toImage(), chart.area
    for color, share in ((CURVES_LIGHT[0], 0.2), (CURVES_LIGHT[1], 0.5)):
        x = int(area.left() + 0.2 * area.width())
        column = [image.pixelColor(x, y) for y in range(int(area.top()), int(area.bottom()))]
        distances = [_distance(pixel, QColor(color)) for pixel in column]
        nearest = area.top() + int(np.argmin(distances))
        assert min(distances) < 150, "antialiased"
        assert abs(nearest - (area.bottom() - share * area.height())) < 3


def test_the_mouse_tells_the_values_there(qtbot: QtBot, chart: LineChart) -> None:
    area = chart.area
    qtbot.mouseMove(chart, QPoint(int(area.left() + 0.75 * area.width()), int(area.center().y())))
    qtbot.waitUntil(lambda: chart.hovered is not None)
    assert chart.hovered == pytest.approx(7.5, abs=0.05)
    assert chart.values_at(7.5) == pytest.approx([7.5, 5])
    assert np.isnan(chart.values_at(100)).all(), "no curve goes on so far"
    before = chart.grab().toImage()
    chart.hovered = None
    assert chart.grab().toImage() != before


@pytest.mark.parametrize("width", [260, 420, 900])
def test_the_legend_has_room_for_values_next_to_the_title_of_the_axis(
    qtbot: QtBot, theme: Theme, width: int
) -> None:
    chart = LineChart("waves", "position", "value")
    qtbot.addWidget(chart)
    chart.resize(width, 200)
    x = np.arange(9.0)
    names, metrics = [f"dimension {index}" for index in range(4)], QFontMetrics(theme.font("body"))
    chart.show_curves([Curve(name, x, -x / 9) for name in names])
    lines = chart._legend_lines()
    assert [index for line in lines for index in line] == [0, 1, 2, 3]
    assert (len(lines) > 1) == (width < 900)
    for line in lines:
        widths = [metrics.horizontalAdvance(f"{names[index]} −0.1234") for index in line]
        assert (
            sum(widths) + len(line) * 16 + metrics.horizontalAdvance("value") <= chart.area.right()
            or len(line) == 1
        )
    assert chart.area.top() >= len(lines) * 16


def test_without_curves_nothing_is_drawn(qtbot: QtBot, theme: Theme) -> None:
    chart = LineChart("empty", "x", "y")
    qtbot.addWidget(chart)
    chart.resize(300, 200)
    qtbot.mouseMove(chart, QPoint(100, 100))
    assert chart.hovered is None
    image = chart.grab().toImage()
    assert len({image.pixel(x, y) for x in range(0, 300, 7) for y in range(0, 200, 7)}) == 1


def _distance(first: QColor, second: QColor) -> int:
    return sum(abs(a - b) for a, b in zip(first.getRgb()[:3], second.getRgb()[:3], strict=True))


def test_a_curve_of_many_points_is_drawn_with_the_ends_and_extremes_of_each_pixel_column() -> None:
    generator = np.random.default_rng(0)
    across = np.sort(generator.uniform(0, 50, 5_000))
    down = generator.normal(size=5_000)
    shown = points_that_show(across, down)
    assert np.all(np.diff(shown) > 0)
    assert shown.size <= 4 * 50
    for column in range(50):
        inside = np.flatnonzero(np.floor(across) == column)
        expected = {
            inside[0],
            inside[-1],
            inside[down[inside].argmin()],
            inside[down[inside].argmax()],
        }
        assert expected <= set(shown)


def test_a_curve_of_few_points_is_drawn_whole() -> None:
    assert points_that_show(np.array([0.0, 10.0, 10.5, 30.0]), np.zeros(4)).tolist() == [0, 1, 2, 3]
    assert not points_that_show(np.zeros(0), np.zeros(0)).size


@pytest.mark.parametrize("top", [1.0, 2.4, 7.3, 11.0])
def test_numbers_of_a_low_chart_do_not_overlap(qtbot: QtBot, theme: Theme, top: float) -> None:
    chart = LineChart("Chart", "x", "y")
    qtbot.addWidget(chart)
    chart.show_curves(
        [Curve("curve", np.arange(3.0), np.array([0.0, top, 0.5]))], y_range=(0.0, top)
    )
    for height in range(100, 300, 8):
        chart.resize(300, height)
        values = np.array(chart.ticks[1])
        down = chart.places(np.zeros(len(values)), values)[1]
        assert (-np.diff(down) >= QFontMetrics(theme.font("body")).ascent()).all()
        assert (
            len(values) >= 2 or chart.area.height() < 2 * QFontMetrics(theme.font("body")).height()
        )
