"""The architecture of a Transformer, with all settings in which the published systems differ."""

from dataclasses import dataclass
from typing import Literal, get_args

from core.config.settings import Settings, require_boolean, require_choice, require_fraction, require_integer
from core.errors import ConfigError

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


@dataclass(frozen=True)
class ModelConfig(Settings):
    """Architecture of an encoder–decoder Transformer (Vaswani et al. 2017), vocabulary sizes apart.

    Attributes:
        width: D, size of every token's vector.
        num_encoder_layers, num_decoder_layers: L of each stack.
        num_heads: H; must divide `width`.
        num_decoder_heads: H of the decoder's two attentions; None for as many as in the encoder.
        feed_forward_width: inner size of the position-wise feed-forward network.
        decoder_feed_forward_width: that of the decoder; None for the encoder's.
        activation: between the two layers of the feed-forward network: "relu"; "gelu", exact (Hendrycks and Gimpel
            2016); "gelu-tanh", their approximation of it by a hyperbolic tangent; "swish": x · sigmoid(x)
            (Ramachandran et al. 2017).
        dropout: probability after embeddings, in the feed-forward network, on sublayer outputs and attention weights.
        norm_position: "post": norm(x + sublayer(x)); "pre": x + sublayer(norm(x)).
        norm_kind: "torch": `nn.LayerNorm`; "annotated": unbiased standard deviation, epsilon outside the root;
            "joeynmt": `nn.LayerNorm` with an epsilon of 1e-6.
        final_norm: one more norm at the top of each stack (needed by pre-norm).
        positions: "learned" table or fixed "sinusoidal" waves, sines in even and cosines in odd columns;
            "sinusoidal-halves": the same waves, all sines in the left half and all cosines in the right one (Marian).
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
    num_decoder_heads: int | None = None
    feed_forward_width: int = 512
    decoder_feed_forward_width: int | None = None
    activation: Activation = "relu"
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
        for name in ("num_decoder_heads", "decoder_feed_forward_width"):
            if (value := getattr(self, name)) is not None:
                require_integer("model", maximum=MAX_WIDTH, **{name: value})
        require_fraction("model", dropout=self.dropout)
        require_boolean(
            "model",
            final_norm=self.final_norm,
            scale_embeddings=self.scale_embeddings,
            output_bias=self.output_bias,
        )
        require_choice("model", ("post", "pre"), norm_position=self.norm_position)
        require_choice("model", get_args(NormKind), norm_kind=self.norm_kind)
        require_choice("model", ("learned", "sinusoidal", "sinusoidal-halves"), positions=self.positions)
        require_choice("model", get_args(Activation), activation=self.activation)
        require_choice("model", ("none", "output", "all"), tied_embeddings=self.tied_embeddings)
        require_choice("model", ("xavier", "xavier-normal-embeddings"), initialization=self.initialization)
        for num_heads in (self.num_heads, self.decoder_heads):
            if self.width % num_heads:
                raise ConfigError(
                    f"model: {num_heads} heads do not divide a width of {self.width}. Each head takes an equal share "
                    "of the width: choose a number of heads that divides it, 8 and 256 for instance."
                )
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
