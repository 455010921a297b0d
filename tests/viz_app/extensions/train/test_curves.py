import numpy as np
import pytest

from augenmerk.viz_app.extensions.train.curves import Series, smoothed


def test_short_curve_keeps_every_point() -> None:
    series = Series(capacity=8)
    for step in range(1, 6):
        series.append(step, step**2)
    x, y = series.xy()
    assert x.tolist() == [1, 2, 3, 4, 5]
    assert y.tolist() == [1, 4, 9, 16, 25]


@pytest.mark.heavy
def test_long_curve_never_exceeds_its_capacity() -> None:
    series = Series(capacity=100)
    for step in range(1, 100_001):
        series.append(step, 1 / step)
        assert len(series) <= 100
    assert len(series) >= 50
    assert series.stride >= 1000


def test_joined_points_are_means_of_what_they_stand_for() -> None:
    series = Series(capacity=4)
    for step in range(1, 6):
        series.append(step, 10 * step)
    x, y = series.xy()
    assert x.tolist() == [1.5, 3.5, 5]
    assert y.tolist() == [15, 35, 50]


def test_latest_value_is_on_the_curve_before_its_point_is_full() -> None:
    series = Series(capacity=4)
    for step in range(1, 10):
        series.append(step, step)
    assert series.xy()[0][-1] == 9


def test_curve_of_a_straight_line_stays_on_it_when_joined() -> None:
    series = Series(capacity=10)
    for step in range(1, 1234):
        series.append(step, 3 * step)
    x, y = series.xy()
    np.testing.assert_allclose(y, 3 * x)
    assert np.all(np.diff(x) > 0)


def test_points_after_a_step_can_be_dropped() -> None:
    series = Series(capacity=8)
    for step in range(1, 8):
        series.append(step, step)
    series.drop_after(4)
    series.append(5, 50)
    x, y = series.xy()
    assert x.tolist() == [1, 2, 3, 4, 5]
    assert y.tolist() == [1, 2, 3, 4, 50]


def test_empty_curve_has_no_points() -> None:
    assert Series().xy()[0].tolist() == []
    assert Series().since(0)[2] == 1


def test_newest_values_are_there_as_they_came_when_they_reach_back_far_enough() -> None:
    series = Series(capacity=8)
    for step in range(1, 101):
        series.append(step, step)
    x, _, stride = series.since(94)
    assert (x.tolist(), stride) == ([93, 94, 95, 96, 97, 98, 99, 100], 1)
    assert series.since(50)[2] == series.stride > 1


def test_dropped_points_are_no_longer_among_the_newest() -> None:
    series = Series(capacity=4)
    for step in range(1, 21):
        series.append(step, step)
    series.drop_after(18)
    assert series.since(17)[0].tolist()[-1] == 18


def test_smoothing_lies_upon_a_falling_curve_not_beside_it() -> None:
    values = np.linspace(9, 1, 400)
    np.testing.assert_allclose(smoothed(values, 50)[:-25], values[:-25])
    assert abs(smoothed(values, 50)[-1] - values[-1]) < 0.3


def test_smoothing_calms_noise_the_more_the_longer_it_looks() -> None:
    values = 3 + np.random.default_rng(1).normal(size=4000)
    spreads = [float(smoothed(values, longest)[1000:].std()) for longest in (1, 20, 250)]
    assert spreads[1] < spreads[0] / 3
    assert spreads[2] < spreads[1] / 2


def test_the_start_is_smoothed_little() -> None:
    values = np.exp(-np.arange(200) / 10.0)
    assert smoothed(values, 250)[:8].tolist() == values[:8].tolist()
    assert abs(smoothed(values, 250)[20] - values[20]) < 0.01


def test_joined_points_are_smoothed_as_much_as_the_values_they_stand_for() -> None:
    values = np.where(np.arange(4000) < 2000, 5.0, 1.0)
    joined = values.reshape(-1, 8).mean(axis=1)
    np.testing.assert_allclose(
        smoothed(joined, 250, stride=8), smoothed(values, 250)[4::8], atol=0.2
    )


def test_no_value_gives_no_curve() -> None:
    assert smoothed(np.empty(0), 50).tolist() == []


def test_no_smoothing_leaves_the_values() -> None:
    values = np.array([3.0, 1.0, 2.0])
    assert smoothed(values, 1).tolist() == values.tolist()


@pytest.mark.parametrize("number", [0, 1, 7, 8, 9, 31, 32, 100, 1001])
def test_filling_is_adding_one_by_one(number: int) -> None:
    rng = np.random.default_rng(number)
    xs, ys = np.arange(1.0, number + 1), rng.normal(size=number)
    filled, added = Series(8), Series(8)
    filled.append(5, 5)
    filled.fill(xs, ys)
    for x, y in zip(xs, ys, strict=True):
        added.append(float(x), float(y))
    for series in (filled, added):
        series.append(number + 1, 0.5)
    assert np.allclose(filled.xy(), added.xy())
    assert (filled.stride, len(filled)) == (added.stride, len(added))
    for x in (0, number - 3):
        assert np.allclose(filled.since(x)[1], added.since(x)[1])
    filled.drop_after(number / 2)
    added.drop_after(number / 2)
    assert np.allclose(filled.xy(), added.xy())
