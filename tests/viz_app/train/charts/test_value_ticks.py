import pytest

from augenmerk.viz_app.train.charts.value_ticks import ValueFormatter


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
