"""What the heads of a saved view mean for another model."""

import pytest

from augenmerk.core.config import ModelConfig
from augenmerk.viz_app.extensions.documents.reading import heads_missing

FEWER_IN_DECODER = ModelConfig(
    num_encoder_layers=3, num_decoder_layers=2, num_heads=8, num_decoder_heads=4
)
MORE_IN_DECODER = ModelConfig(
    num_encoder_layers=3, num_decoder_layers=2, num_heads=4, num_decoder_heads=8
)


@pytest.mark.parametrize(
    ("config", "view", "missing"),
    [
        (FEWER_IN_DECODER, {"head": ("encoder", 2, 7)}, ""),
        (FEWER_IN_DECODER, {"head": ("decoder", 1, 3)}, ""),
        (FEWER_IN_DECODER, {"head": ("decoder", 1, 4)}, "decoder 2·5"),
        (FEWER_IN_DECODER, {"head": ("cross", 0, 7)}, "cross 1·8"),
        (FEWER_IN_DECODER, {"head": ("cross", 2, 0)}, "cross 3·1"),
        (
            FEWER_IN_DECODER,
            {"several": (("cross", 0, 2), ("cross", 0, 5), ("cross", 1, 4))},
            "cross 1·6, cross 2·5",
        ),
        (MORE_IN_DECODER, {"head": ("cross", 1, 7)}, ""),
        (MORE_IN_DECODER, {"head": ("encoder", 0, 4)}, "encoder 1·5"),
        (MORE_IN_DECODER, {}, ""),
    ],
)
def test_heads_of_each_kind_are_compared_with_their_own_side_of_the_model(
    config: ModelConfig, view: dict[str, object], missing: str
) -> None:
    sentence = heads_missing(view, config)
    assert sentence.startswith(
        f"The view has heads that this model lacks: {missing}. " if missing else ""
    )
    assert bool(sentence) == bool(missing)


def test_the_heads_of_both_sides_are_named() -> None:
    sentence = heads_missing({"head": ("cross", 0, 7)}, FEWER_IN_DECODER)
    assert "Its encoder has 3 layers of 8 heads, its decoder 2 layers of 4 heads." in sentence
