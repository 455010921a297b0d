"""The measure behind `python -m benchmarks gui_load`, on lags that were made up."""

import pytest

from benchmarks.lag import FRAME_SECONDS, allowed_lag, lags, percentile


def test_a_punctual_loop_has_no_lag() -> None:
    assert lags([0.0, 0.01, 0.02, 0.03], 0.01) == pytest.approx([0, 0, 0], abs=1e-12)


def test_a_tick_a_little_late_is_late_by_that() -> None:
    assert lags([0.0, 0.013, 0.023], 0.01) == pytest.approx([0.003, 0])


def test_a_standstill_counts_at_every_moment_at_which_the_loop_was_due() -> None:
    assert lags([0.0, 0.1, 0.11], 0.025) == pytest.approx([0.075, 0.05, 0.025, 0, 0])


def test_one_standstill_among_many_ticks_is_seen_by_the_percentile() -> None:
    ticks = [tick * 0.01 for tick in range(101)]
    assert percentile(lags([*ticks, 1.5], 0.01), 0.99) == pytest.approx(0.48)


def test_the_percentile_is_one_of_the_values() -> None:
    values = [float(value) for value in range(200, 0, -1)]
    assert percentile(values, 0.99) == 198
    assert percentile(values, 1.0) == 200
    assert percentile([3.0], 0.5) == 3


def test_no_lag_at_all_is_no_measurement() -> None:
    with pytest.raises(ValueError, match="Measure for longer"):
        percentile([], 0.99)


def test_twice_the_idle_lag_and_a_frame_are_allowed() -> None:
    assert allowed_lag(0.03) == pytest.approx(0.06 + FRAME_SECONDS)
    assert FRAME_SECONDS == 0.016
