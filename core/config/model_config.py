"""The architecture of a Transformer, with all settings in which the published systems differ."""

from dataclasses import dataclass
from typing import Literal

from core.config.settings import Settings, require_boolean, require_choice, require_fraction, require_integer
from core.errors import ConfigError

NormPosition = Literal["post", "pre"]
NormKind = Literal["torch", "annotated"]
Positions = Literal["learned", "sinusoidal"]
Tying = Literal["none", "output", "all"]
Initialization = Literal["xavier", "xavier-normal-embeddings"]
MAX_LAYERS = 1_000
"""Of each stack: as many as the deepest Transformers that were published (DeepNet, Wang et al. 2022)."""
MAX_WIDTH = 2**18
MAX_POSITIONS = 10_000_000


@dataclass(frozen=True)
class ModelConfig(Settings):
    """Architecture of an encoder–decoder Transformer (Vaswani et al. 2017), vocabulary sizes apart.

    Attributes:
        width: D, size of every token's vector.
        num_encoder_layers, num_decoder_layers: L of each stack.
        num_heads: H; must divide `width`.
        feed_forward_width: inner size of the position-wise feed-forward network.
        dropout: probability after embeddings, in the feed-forward network, on sublayer outputs and attention weights.
        norm_position: "post": norm(x + sublayer(x)); "pre": x + sublayer(norm(x)).
        norm_kind: "torch": `nn.LayerNorm`; "annotated": unbiased standard deviation, epsilon outside the root.
        final_norm: one more norm at the top of each stack (needed by pre-norm).
        positions: "learned" table or fixed "sinusoidal" waves.
        max_positions: rows of the position table: the longest sequence, wrapping tokens included, that fits.
        scale_embeddings: multiply token embeddings by √width.
        tied_embeddings: "none"; "output": decoder embedding and output layer share one matrix; "all": the source
            embedding too (needs one joint vocabulary).
        output_bias: whether the output layer adds a bias.
        initialization: "xavier": Xavier uniform on every matrix; "xavier-normal-embeddings": the same, but embeddings
            from N(0, 1/width), as fits tied embeddings.
    """

    width: int = 256
    num_encoder_layers: int = 3
    num_decoder_layers: int = 3
    num_heads: int = 8
    feed_forward_width: int = 512
    dropout: float = 0.1
    norm_position: NormPosition = "post"
    norm_kind: NormKind = "torch"
    final_norm: bool = False
    positions: Positions = "learned"
    max_positions: int = 100
    scale_embeddings: bool = True
    tied_embeddings: Tying = "none"
    output_bias: bool = True
    initialization: Initialization = "xavier"

    def __post_init__(self) -> None:
        require_integer(
            "model",
            maximum=MAX_LAYERS,
            num_encoder_layers=self.num_encoder_layers,
            num_decoder_layers=self.num_decoder_layers,
        )
        require_integer(
            "model",
            maximum=MAX_WIDTH,
            width=self.width,
            num_heads=self.num_heads,
            feed_forward_width=self.feed_forward_width,
        )
        require_integer("model", maximum=MAX_POSITIONS, max_positions=self.max_positions)
        require_fraction("model", dropout=self.dropout)
        require_boolean(
            "model",
            final_norm=self.final_norm,
            scale_embeddings=self.scale_embeddings,
            output_bias=self.output_bias,
        )
        require_choice("model", ("post", "pre"), norm_position=self.norm_position)
        require_choice("model", ("torch", "annotated"), norm_kind=self.norm_kind)
        require_choice("model", ("learned", "sinusoidal"), positions=self.positions)
        require_choice("model", ("none", "output", "all"), tied_embeddings=self.tied_embeddings)
        require_choice("model", ("xavier", "xavier-normal-embeddings"), initialization=self.initialization)
        if self.width % self.num_heads:
            raise ConfigError(
                f"model: {self.num_heads} heads do not divide a width of {self.width}. Each head takes an equal share "
                "of the width: choose a number of heads that divides it, 8 and 256 for instance."
            )
        if self.positions == "sinusoidal" and self.width % 2:
            raise ConfigError(f"model: width is {self.width}; sinusoidal positions need an even width. Choose one.")

    @property
    def head_width(self) -> int:
        """K, the share of the width that one head works on."""
        return self.width // self.num_heads
