"""Maps on paper and in pages."""

import json

import numpy as np
import pytest

from augenmerk.viz_app.extensions.pictures.printed_maps import cell_text, scale_ends
from augenmerk.viz_app.state.color_scale import ColorScale, color_table, ink_on
from tests.viz_app.extensions.pictures.test_html_page import content, page_html, read_by_the_script


@pytest.mark.parametrize("is_signed", [False, True])
def test_pages_and_sheets_write_the_same_numbers(qapp, is_signed: bool) -> None:
    values = [0.25, 0.999, 1.0, 0.006, 12.345, *([-0.25, -1.5] if is_signed else [])]
    signed = json.dumps(is_signed)
    tell = f"JSON.stringify({json.dumps(values)}.map((value) => shortNumber(value, {signed})))"
    written = [cell_text(value, is_signed=is_signed) for value in values]
    assert read_by_the_script(page_html(content()), tell) == written
    assert not any("-" in text for text in written), "a minus sign, not a hyphen"
    tell = f"JSON.stringify([0.4239, 1, 12.5].map((top) => scaleEnds(top, {signed})))"
    ends = [list(scale_ends(ColorScale(top, is_signed))) for top in (0.4239, 1.0, 12.5)]
    assert read_by_the_script(page_html(content()), tell) == ends


@pytest.mark.parametrize("is_signed", [False, True])
@pytest.mark.parametrize("is_dark", [False, True])
def test_numbers_can_be_read_on_every_colour(*, is_dark: bool, is_signed: bool) -> None:
    """Their contrast is at least 4.5:1 (WCAG 2), on paper and in both themes."""
    table = color_table(is_dark=is_dark, is_signed=is_signed).rgb / 255
    linear = np.where(table < 0.04, table / 12.92, ((table + 0.055) / 1.055) ** 2.4)
    luminances = linear @ (0.2126, 0.7152, 0.0722)
    for luminance, color in zip(luminances, (255 * table).round().astype(int), strict=True):
        is_black = ink_on(*color.tolist()) == "#000"
        contrast = (luminance + 0.05) / 0.05 if is_black else 1.05 / (luminance + 0.05)
        assert contrast >= 4.5
