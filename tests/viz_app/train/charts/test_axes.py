import numpy as np
import pytest

from augenmerk.viz_app.train.charts.axes import LabelPosition, ValueFormatter, best_label_position

AREA, SIZE = (800.0, 200.0), (130.0, 14.0)
FALLING = (np.array([0.0, 400.0]), np.array([180.0, 60.0]))


def _names(place: LabelPosition) -> tuple[str, str]:
    return place.horizontal, place.vertical


def test_with_nothing_behind_the_label_stands_above_to_the_left() -> None:
    assert _names(best_label_position((400, 100), SIZE, AREA, [])) == ("right", "bottom")


def test_a_curve_that_comes_down_from_the_left_is_not_hidden() -> None:
    assert _names(best_label_position((400, 60), SIZE, AREA, [FALLING])) == ("left", "bottom")


def test_at_the_right_edge_the_label_goes_below_rather_than_outside() -> None:
    falling = (FALLING[0] + 395, FALLING[1])
    assert _names(best_label_position((795, 60), SIZE, AREA, [falling])) == ("right", "top")


def test_near_the_bottom_the_label_stays_above() -> None:
    flat = (np.array([0.0, 800.0]), np.array([30.0, 30.0]))
    assert best_label_position((400, 10), SIZE, AREA, [flat]).vertical == "bottom"


def test_curves_without_points_are_no_hindrance() -> None:
    empty = (np.empty(0), np.empty(0))
    assert _names(best_label_position((400, 100), SIZE, AREA, [empty])) == ("right", "bottom")


def test_between_flat_curves_at_the_end_of_a_run_the_label_goes_to_where_it_hides_neither() -> None:
    across = np.array([400.0, 795.0])
    training, validation = (across, np.array([42.0, 40.0])), (across, np.array([20.0, 18.0]))
    place = best_label_position((795, 18), SIZE, AREA, [training, validation])
    assert _names(place) == ("right", "bottom")
    assert 18 + place.dy_px > 42
    assert place.dy_px < 50, "yet near its point"


@pytest.mark.parametrize(
    ("ticks", "labels"),
    [
        ([0, 1e-4, 2.5e-4, 5e-4], ["0", "0.0001", "0.00025", "0.0005"]),
        ([0.0005, 0.00050005, 0.0005001], ["0.0005", "0.00050005", "0.0005001"]),
        ([1.7001, 1.7002, 1.7003], ["1.7001", "1.7002", "1.7003"]),
        ([0, 1000, 2500], ["0", "1,000", "2,500"]),
        ([1000, 1000.5], ["1,000.0", "1,000.5"]),
    ],
)
def test_no_two_ticks_read_the_same_and_none_has_more_digits_than_that_needs(
    ticks: list[float], labels: list[str]
) -> None:
    assert ValueFormatter().format_ticks(ticks) == labels
