"""A shape that no Transformer can have is refused before anything is built."""

import pytest

from augenmerk.core.config import ModelConfig
from augenmerk.core.errors import ConfigError


@pytest.mark.parametrize(
    ("width", "num_heads", "nearest"),
    [
        (65, 4, 64),
        (67, 4, 68),
        (256, 3, 255),
        (64, 5, 65),
        (512, 7, 511),
        (1, 4, 4),
        (2**18, 3, 2**18 - 1),
    ],
)
def test_a_width_that_the_heads_cannot_share_is_refused_with_the_nearest_that_they_can(
    width: int, num_heads: int, nearest: int
) -> None:
    with pytest.raises(ConfigError) as caught:
        ModelConfig(width=width, num_heads=num_heads)
    assert str(caught.value) == (
        f"The width ({width}) must be a multiple of the number of heads ({num_heads}), for "
        f"example {nearest}."
    )


def test_the_suggested_width_suits_the_heads_of_encoder_and_decoder() -> None:
    with pytest.raises(
        ConfigError, match=r"multiple of the numbers of heads \(4 and 6\), for example 60\."
    ):
        ModelConfig(width=64, num_heads=4, num_decoder_heads=6)
    assert ModelConfig(width=60, num_heads=4, num_decoder_heads=6).head_width == 15


def test_the_suggested_width_is_even_where_sinusoidal_positions_need_it() -> None:
    with pytest.raises(
        ConfigError, match=r"multiple of the number of heads \(5\), for example 60\."
    ):
        ModelConfig(width=64, num_heads=5, positions="sinusoidal")
    assert ModelConfig(width=60, num_heads=5, positions="sinusoidal").head_width == 12


@pytest.mark.parametrize(
    ("width", "num_heads", "head_width"), [(256, 8, 32), (512, 8, 64), (64, 4, 16), (64, 64, 1)]
)
def test_each_head_has_an_equal_share_of_the_width(
    width: int, num_heads: int, head_width: int
) -> None:
    assert ModelConfig(width=width, num_heads=num_heads).head_width == head_width


@pytest.mark.parametrize(
    "name",
    [
        "width",
        "num_encoder_layers",
        "num_decoder_layers",
        "num_heads",
        "feed_forward_width",
        "max_positions",
    ],
)
@pytest.mark.parametrize("value", [0, -1, 1.5, True])
def test_sizes_are_whole_numbers_from_one(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"model: {name} is {value!r}"):
        ModelConfig.from_dict({name: value})


@pytest.mark.parametrize("dropout", [-0.1, 1, 1.5, float("nan")])
def test_dropout_is_a_probability_below_one(dropout: float) -> None:
    with pytest.raises(ConfigError, match="model: dropout is"):
        ModelConfig(dropout=dropout)
    assert ModelConfig(dropout=0).dropout == 0


@pytest.mark.parametrize(
    "name", ["norm_position", "norm_kind", "positions", "tied_embeddings", "initialization"]
)
def test_an_unknown_choice_is_refused_with_the_known_ones(name: str) -> None:
    default = getattr(ModelConfig(), name)
    with pytest.raises(ConfigError, match=f"model: {name} is 'rotary'. Use one of .*{default}"):
        ModelConfig.from_dict({name: "rotary"})


def test_a_norm_named_after_an_architecture_is_read_from_earlier_files() -> None:
    assert ModelConfig.from_dict({"norm_kind": "joeynmt"}).norm_kind == "torch-1e-6"
    assert ModelConfig.described()["norm_kind"].read("joeynmt") == "torch-1e-6"
    with pytest.raises(ConfigError, match="Use one of"):
        ModelConfig(norm_kind="joeynmt")  # type: ignore[arg-type]  # as named earlier


def test_sinusoidal_positions_need_an_even_width() -> None:
    with pytest.raises(ConfigError, match="width is 9; sinusoidal positions need an even width"):
        ModelConfig(width=9, num_heads=3, positions="sinusoidal")
    assert ModelConfig(width=9, num_heads=3, positions="learned").head_width == 3
