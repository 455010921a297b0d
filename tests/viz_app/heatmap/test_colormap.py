import numpy as np
import pytest

from augenmerk.viz_app.state.color_scale import EMBER, PAPER, SIGNED_EMBER, SIGNED_PAPER, ColorTable

LUMA = np.array([0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize(("colors", "direction"), [(PAPER, -1), (EMBER, 1)])
def test_lightness_runs_one_way(colors: ColorTable, direction: int) -> None:
    linear = (colors.rgb / 255.0) ** 2.2
    steps = np.diff(linear @ LUMA)
    assert (steps * direction > -1e-3).all()


def test_tables_hold_opaque_colours_and_a_tone_for_no_value() -> None:
    for colors in (PAPER, EMBER, SIGNED_PAPER, SIGNED_EMBER):
        assert len(colors.rgb) == (255 if colors.is_signed else 256)
        assert len(colors.packed) == len(colors.rgb) + 1
        assert all(color >> 24 == 0xFF for color in colors.packed.tolist())


def test_weights_become_indices_and_what_lies_outside_is_clipped() -> None:
    weights = np.array([[-0.1, 0.0, 0.5, 1.0, 1.2]], dtype=np.float32)
    assert PAPER.indices(weights).tolist() == [[0, 0, 128, 255, 255]]
    assert PAPER.indices(weights, 0.5).tolist() == [[0, 0, 255, 255, 255]]
    assert PAPER.indices(weights, 0.0).tolist() == [[0] * 5]


def test_a_signed_table_has_zero_in_the_middle_and_an_index_for_no_value() -> None:
    values = np.array([-3, -1, 0, 1, np.nan], dtype=np.float32)
    assert SIGNED_PAPER.indices(values, 2.0).tolist() == [0, 63, 127, 191, 255]
