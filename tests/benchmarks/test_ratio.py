"""Ratios of two times."""

import math

from benchmarks.ratio import Ratio


def test_a_ratio_is_above_one_if_ours_is_faster() -> None:
    assert Ratio("name", 2.0, 3.0, 1.0, 1.0).ratio == 1.5


def test_no_lag_at_all_is_infinitely_fast() -> None:
    assert Ratio("lag of the window", 0.0, 0.016, 1.0, 1.5).ratio == math.inf
