import numpy as np
import pytest

from augenmerk.viz_app.heatmap.drawing import EMBER, PAPER, Ramp, color_table, quantize, rgb_table

LUMA = np.array([0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize(("ramp", "direction"), [(PAPER, -1), (EMBER, 1)])
def test_lightness_runs_one_way(ramp: Ramp, direction: int) -> None:
    linear = (rgb_table(ramp) / 255.0) ** 2.2
    steps = np.diff(linear @ LUMA)
    assert (steps * direction > -1e-3).all()


def test_tables_hold_256_opaque_colours() -> None:
    for ramp in (PAPER, EMBER):
        table = color_table(ramp)
        assert len(table) == 256
        assert all(color >> 24 == 0xFF for color in table)


def test_weights_become_indices_and_what_lies_outside_is_clipped() -> None:
    weights = np.array([[-0.1, 0.0, 0.5, 1.0, 1.2]], dtype=np.float32)
    assert quantize(weights).tolist() == [[0, 0, 128, 255, 255]]
    assert quantize(weights, top=0.5).tolist() == [[0, 0, 255, 255, 255]]
