"""A shape that no Transformer can have is refused before anything is built."""

import pytest

from core.config import ModelConfig
from core.errors import ConfigError


@pytest.mark.parametrize(("width", "num_heads"), [(256, 3), (64, 5), (512, 7), (8, 16)])
def test_heads_that_do_not_divide_the_width_are_refused(width: int, num_heads: int) -> None:
    with pytest.raises(ConfigError) as caught:
        ModelConfig(width=width, num_heads=num_heads)
    message = str(caught.value)
    assert f"{num_heads} heads do not divide a width of {width}" in message
    assert "choose a number of heads that divides it" in message


@pytest.mark.parametrize(("width", "num_heads", "head_width"), [(256, 8, 32), (512, 8, 64), (64, 4, 16), (64, 64, 1)])
def test_each_head_has_an_equal_share_of_the_width(width: int, num_heads: int, head_width: int) -> None:
    assert ModelConfig(width=width, num_heads=num_heads).head_width == head_width


@pytest.mark.parametrize(
    "name", ["width", "num_encoder_layers", "num_decoder_layers", "num_heads", "feed_forward_width", "max_positions"]
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


@pytest.mark.parametrize("name", ["norm_position", "norm_kind", "positions", "tied_embeddings", "initialization"])
def test_an_unknown_choice_is_refused_with_the_known_ones(name: str) -> None:
    default = getattr(ModelConfig(), name)
    with pytest.raises(ConfigError, match=f"model: {name} is 'rotary'; one of .*{default}.* was expected"):
        ModelConfig.from_dict({name: "rotary"})


def test_sinusoidal_positions_need_an_even_width() -> None:
    with pytest.raises(ConfigError, match="width is 9; sinusoidal positions need an even width"):
        ModelConfig(width=9, num_heads=3, positions="sinusoidal")
    assert ModelConfig(width=9, num_heads=3, positions="learned").head_width == 3
