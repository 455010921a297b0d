"""The architecture of a Transformer, with all settings in which the published systems differ."""

import math
from dataclasses import dataclass
from typing import Literal

from augenmerk.core.config.settings import FRACTION, Limits, Settings, setting
from augenmerk.core.errors import ConfigError

NormPosition = Literal["post", "pre"]
NormKind = Literal["torch", "annotated", "joeynmt"]
Positions = Literal["learned", "sinusoidal", "sinusoidal-halves"]
Activation = Literal["relu", "gelu", "gelu-tanh", "swish"]
Tying = Literal["none", "output", "all"]
Initialization = Literal["xavier", "xavier-normal-embeddings"]
MAX_LAYERS = 1_000
"""Of each stack: as many as the deepest Transformers that were published (DeepNet, Wang et al. 2022)."""
MAX_WIDTH = 2**18
MAX_POSITIONS = 10_000_000


_LAYERS, _WIDTH = Limits(1, MAX_LAYERS), Limits(1, MAX_WIDTH)


@dataclass(frozen=True)
class ModelConfig(Settings, owner="model"):
    """Architecture of an encoder–decoder Transformer (Vaswani et al. 2017), vocabulary sizes apart."""

    width: int = setting(256, "width", "D, the size of each token's vector. The heads share it equally.", _WIDTH)
    num_encoder_layers: int = setting(3, "encoder layers", "Number of layers of the encoder, L.", _LAYERS)
    num_decoder_layers: int = setting(3, "decoder layers", "Number of layers of the decoder.", _LAYERS)
    num_heads: int = setting(8, "heads", "Number of heads of each attention, H. Must divide the width.", _WIDTH)
    num_decoder_heads: int | None = setting(
        None, "decoder heads", "Heads of the decoder's two attentions. None: as many as in the encoder.", _WIDTH
    )
    feed_forward_width: int = setting(
        512, "feed-forward width", "Inner size of the position-wise feed-forward network.", _WIDTH
    )
    decoder_feed_forward_width: int | None = setting(
        None, "decoder feed-forward width", "The inner size in the decoder. None: the same as in the encoder.", _WIDTH
    )
    activation: Activation = setting(
        "relu",
        "activation",
        "Function between the two layers of the feed-forward network. relu: max(0, x); gelu: exact (Hendrycks and "
        "Gimpel 2016); gelu-tanh: their approximation of it by a hyperbolic tangent; swish: x · sigmoid(x) "
        "(Ramachandran et al. 2017).",
    )
    dropout: float = setting(
        0.1,
        "dropout",
        "Probability that a number is set to 0 during training: after embeddings, in the feed-forward network, in "
        "sublayer outputs and attention weights.",
        FRACTION,
    )
    norm_position: NormPosition = setting(
        "post", "norm position", "post: norm(x + sublayer(x)); pre: x + sublayer(norm(x))."
    )
    norm_kind: NormKind = setting(
        "torch",
        "norm kind",
        "torch: nn.LayerNorm; annotated: unbiased standard deviation, epsilon outside the root; joeynmt: nn.LayerNorm "
        "with an epsilon of 1e-6.",
    )
    final_norm: bool = setting(
        False, "final norm", "Adds a norm after the last layer of each stack (needed by pre-norm)."
    )
    positions: Positions = setting(
        "learned",
        "positions",
        "learned: a table; sinusoidal: fixed waves, sines in even and cosines in odd columns; sinusoidal-halves: the "
        "same waves, all sines in the left half and all cosines in the right one (Marian).",
    )
    max_positions: int = setting(
        100,
        "longest sequence",
        "Rows of the position table: the longest sequence that fits, wrapping tokens included.",
        Limits(1, MAX_POSITIONS),
        unit="tokens",
    )
    scale_embeddings: bool = setting(True, "scaled embeddings", "Multiplies token embeddings by √width.")
    tied_embeddings: Tying = setting(
        "none",
        "tied embeddings",
        "output: decoder embedding and output layer share one matrix; all: so does the source embedding (needs a joint "
        "vocabulary).",
    )
    output_bias: bool = setting(True, "output bias", "Whether the output layer adds a bias.")
    initialization: Initialization = setting(
        "xavier",
        "initialization",
        "xavier: Xavier uniform for each matrix; xavier-normal-embeddings: the same, but embeddings from "
        "N(0, 1/width), which suits tied embeddings.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        unit = math.lcm(self.num_heads, self.decoder_heads)
        if self.width % unit:
            is_one = self.num_heads == self.decoder_heads
            of_heads = (
                f"number of heads ({self.num_heads})"
                if is_one
                else f"numbers of heads ({self.num_heads} and {self.decoder_heads})"
            )
            if self.positions == "sinusoidal":
                unit = math.lcm(unit, 2)
            nearest = max(1, (self.width + unit // 2) // unit) * unit
            raise ConfigError(f"The width ({self.width}) must be a multiple of the {of_heads}, for example {nearest}.")
        if self.positions == "sinusoidal" and self.width % 2:
            raise ConfigError(f"model: width is {self.width}; sinusoidal positions need an even width. Choose one.")

    @property
    def head_width(self) -> int:
        """K, the share of the width that one head of the encoder works on."""
        return self.width // self.num_heads

    @property
    def decoder_heads(self) -> int:
        """H of the decoder's attentions."""
        return self.num_heads if self.num_decoder_heads is None else self.num_decoder_heads

    @property
    def decoder_inner_width(self) -> int:
        """Inner size of the decoder's feed-forward networks."""
        return self.feed_forward_width if self.decoder_feed_forward_width is None else self.decoder_feed_forward_width
