"""The weights of the last colour, all at once, are those of one head after the other."""

import numpy as np
import pytest
from viz_app.state.seeing import SCALES, Scale, Seeing

from core.model.heads import Head
from core.translation.result import MAP_KINDS
from tests.viz_app.synthetic import make_translation


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", MAP_KINDS)
def test_tops_of_a_kind_are_those_of_its_heads(kind, scale: Scale) -> None:
    seeing, translation = Seeing(), make_translation()
    seeing.scale = scale
    maps = seeing.thumbnails(translation, kind)
    found = seeing.tops(translation, kind)
    assert found.shape == maps.shape[:2]
    for place in np.ndindex(*found.shape):
        assert found[place] == pytest.approx(seeing.top(translation, Head(kind, *place), maps[place]))
