import pytest
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.viz_app.extensions.train.charts.axes import ChartAxes, ValueFormatter
from augenmerk.viz_app.extensions.train.charts.picture import (
    ChartSettings,
    Quantity,
    line_color,
    picture_of,
)
from augenmerk.viz_app.extensions.train.curves import RunCurves


def label_of_best(step: int, loss: float, quantity: Quantity, training: float) -> Annotation:
    """The label of the only validation of a run of 100 steps, whose training loss falls from 9 to
    `training`."""
    curves = RunCurves()
    for step_number in range(1, 101):
        curves.training_loss.append(step_number, 9.0 if step_number < 10 else training)
    curves.last_step = 100
    curves.add_validation(EpochRecord(1, step, training, loss, loss, 1e-3, 1.0, bleu=loss))
    axes = ChartAxes(Figure().add_subplot())
    axes.set_style(line_color, "white", 8)
    axes.show_picture(picture_of(curves, ChartSettings(quantity), 100, y_before=(0, 10)))
    return next(text for text in axes.curves if isinstance(text, Annotation))


@pytest.mark.parametrize(
    ("step", "loss", "quantity", "training", "corner"),
    [
        (90, 2.0, "loss", 3.0, "top"),
        (90, 5.0, "loss", 4.0, "top"),
        (10, 1.0, "loss", 9.0, "bottom"),
        (90, 7.0, "loss", 8.0, "bottom"),
        (90, 9.5, "bleu", 9.0, "bottom"),
    ],
)
def test_the_label_of_the_best_validation_is_in_the_corner_farther_from_all_lines(
    step: int, loss: float, quantity: Quantity, training: float, corner: str
) -> None:
    label = label_of_best(step, loss, quantity, training)
    assert (label.get_horizontalalignment(), label.get_verticalalignment()) == ("right", corner)
    assert label.xy == (1, int(corner == "top")), "not at the ring, which lies on a curve"
    assert label.get_visible()


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
