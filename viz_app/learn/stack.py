"""The stacks of a model as boxes, and a description of each module. No Qt."""

from dataclasses import dataclass
from typing import Final, Literal

from augenmerk.core.config import ModelConfig
from augenmerk.core.model.size import Module, Size, SizeRow, total
from augenmerk.viz_app.state.model_info import heads_in_words

NORM: Final = "norm"
Side = Literal["encoder", "decoder"]
Group = Literal["embeddings and positions", "attention", "feed-forward", "norms", "output"]
GROUPS: Final[dict[Group, tuple[Module, ...]]] = {
    "embeddings and positions": ("source embedding", "source positions", "target embedding", "target positions"),
    "attention": ("encoder self-attention", "decoder self-attention", "cross-attention"),
    "feed-forward": ("encoder feed-forward", "decoder feed-forward"),
    "norms": ("encoder norms", "decoder norms"),
    "output": ("output",),
}
"""What modules are added up to while none is chosen."""


@dataclass(frozen=True)
class Box:
    """A module at one place of a stack.

    Attributes:
        module: which.
        text: what stands in the box.
        is_in_layer: whether each layer has it.
        begins_residual: whether a copy of what goes into it is kept for later.
        ends_residual: whether that copy is added to what leaves it.
    """

    module: Module
    text: str
    is_in_layer: bool = False
    begins_residual: bool = False
    ends_residual: bool = False


def boxes_of(config: ModelConfig, side: Side, num_tokens: int) -> tuple[Box, ...]:
    """The boxes of one stack, from its input up, a layer once.

    Args:
        config: the model.
        side: which stack.
        num_tokens: V of this side.
    """
    embedding: Module
    positions: Module
    feed_forward: Module
    norms: Module
    if side == "encoder":
        heads, inner_width = config.num_heads, config.feed_forward_width
        attentions: tuple[tuple[Module, str], ...] = (("encoder self-attention", "self-attention"),)
        embedding, positions = "source embedding", "source positions"
        feed_forward, norms = "encoder feed-forward", "encoder norms"
    else:
        heads, inner_width = config.decoder_heads, config.decoder_inner_width
        attentions = (("decoder self-attention", "masked self-attention"), ("cross-attention", "cross-attention"))
        embedding, positions = "target embedding", "target positions"
        feed_forward, norms = "decoder feed-forward", "decoder norms"
    sublayers = [(module, f"{name} · {heads_in_words(heads)}") for module, name in attentions]
    sublayers.append((feed_forward, f"feed-forward · {inner_width:,}"))
    boxes = [Box(embedding, f"embedding · {num_tokens:,} tokens"), Box(positions, f"positions · {config.positions}")]
    for module, text in sublayers:
        if config.norm_position == "pre":
            boxes.append(Box(norms, NORM, is_in_layer=True, begins_residual=True))
            boxes.append(Box(module, text, is_in_layer=True, ends_residual=True))
        else:
            boxes.append(Box(module, text, is_in_layer=True, begins_residual=True, ends_residual=True))
            boxes.append(Box(norms, NORM, is_in_layer=True))
    if config.final_norm:
        boxes.append(Box(norms, NORM))
    if side == "decoder":
        boxes.append(Box("output", f"output · {num_tokens:,} tokens"))
    return tuple(boxes)


def about(module: Module, config: ModelConfig, rows: tuple[SizeRow, ...]) -> str:
    """A description of a module and of what determines its size."""
    shared = next((row.shared_with for row in rows if row.module == module and row.shared_with is not None), None)
    match module:
        case "source embedding" | "target embedding":
            text = f"A vector of {config.width:,} numbers for each token, looked up in a table without any product."
        case "source positions" | "target positions" if config.positions == "learned":
            text = f"A learned vector for each of {config.max_positions:,} positions, added to the embedding."
        case "source positions" | "target positions":
            text = "Waves that depend only on the position, added to the embedding. They are computed, not learned."
        case "encoder self-attention":
            text = (
                "Every source token looks at all source tokens. The scores grow with the square of the source length."
            )
        case "decoder self-attention":
            text = (
                "Every target token looks at those before it. The mask hides the others, but their scores count here."
            )
        case "cross-attention":
            text = "Every target token looks at all source tokens. The scores grow with both lengths multiplied."
        case "encoder feed-forward" | "decoder feed-forward":
            text = f"Two matrices with {_activation(config)} between, applied to each position separately."
        case "encoder norms" | "decoder norms":
            place = "before each sublayer" if config.norm_position == "pre" else "after each sublayer"
            kind = f"{config.norm_position}-norm"
            text = f"They stand {place} ({kind}), each with two numbers for each of {config.width:,} columns."
        case "output":
            text = "A product with a vector for each token of the vocabulary, at every position of the target."
    return (
        text if shared is None else f"{text} The matrix is shared with the {shared}, where its parameters are counted."
    )


def _activation(config: ModelConfig) -> str:
    return {"relu": "ReLU", "gelu": "GELU", "gelu-tanh": "GELU by tanh", "swish": "Swish"}[config.activation]


def largest_group(rows: tuple[SizeRow, ...]) -> tuple[str, dict[str, Size]]:
    """The largest of three parts, and the sizes of all three: tokens, attention, feed-forward."""
    parts: dict[str, tuple[Module, ...]] = {
        "tokens": (*GROUPS["embeddings and positions"], "output"),
        "attention": GROUPS["attention"],
        "feed-forward": GROUPS["feed-forward"],
    }
    sizes = {name: total(rows, *modules) for name, modules in parts.items()}
    return max(sizes, key=lambda name: sizes[name].num_parameters), sizes
