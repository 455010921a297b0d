"""Parameters of each module of a Transformer, and operations of a pass, derived from the settings.

No torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from ...config import ModelConfig, RunConfig

Module = Literal[
    "source embedding",
    "source positions",
    "encoder self-attention",
    "encoder feed-forward",
    "encoder norms",
    "target embedding",
    "target positions",
    "decoder self-attention",
    "cross-attention",
    "decoder feed-forward",
    "decoder norms",
    "output",
]
MODULES: Final[tuple[Module, ...]] = get_args(Module)
MULTI30K_VOCABULARY_SIZES: Final[dict[str, tuple[int, int]]] = {
    "multi30k": (8000, 8000),
    "notebook": (7853, 5893),
    "annotated-2018": (8012, 6191),
    "annotated-2022": (8014, 6191),
}
"""V of source and target by preset, learned from the training split of Multi30k."""


@dataclass(frozen=True)
class SizeRow:
    """One computation of a module, in all layers of its stack together.

    Attributes:
        module: the module.
        part: the computation.
        num_layers: number of layers with it; 1 outside the layers.
        num_parameters: trainable ones. A matrix that several modules share counts at its first use.
        num_flops: of one pass over a sentence pair. A multiplication with its addition counts as
            two. Only products of matrices count, as in `torch.utils.flop_counter.FlopCounterMode`,
            including their masked cells.
        shared_with: the module whose matrix is used here; None if the matrix is not shared.
    """

    module: Module
    part: str
    num_layers: int
    num_parameters: int
    num_flops: int = 0
    shared_with: Module | None = None


def size_rows(
    config: ModelConfig,
    num_source_tokens: int,
    num_target_tokens: int,
    source_length: int,
    target_length: int,
) -> tuple[SizeRow, ...]:
    """The rows of all modules, in the order of `MODULES`.

    The pass uses teacher forcing: all target tokens are read at once, side by side. Step-by-step
    decoding with a cache computes the same, without the masked products.

    Args:
        config: the model.
        num_source_tokens, num_target_tokens: V of each side.
        source_length, target_length: S and T, wrapping tokens included.
    """
    width = config.width
    num_encoder, num_decoder = config.num_encoder_layers, config.num_decoder_layers
    is_learned = config.positions == "learned"
    positions = (
        f"learned table of {config.max_positions:,}" if is_learned else "sinusoidal waves, computed"
    )
    num_in_table = config.max_positions * width if is_learned else 0
    is_one_matrix = config.tied_embeddings == "all"
    output_is_tied = config.tied_embeddings != "none"
    embedding_of_output: Module = "source embedding" if is_one_matrix else "target embedding"
    lookup = "a vector for each token of the vocabulary"
    return (
        SizeRow("source embedding", lookup, 1, num_source_tokens * width),
        SizeRow("source positions", positions, 1, num_in_table),
        *_attention("encoder self-attention", num_encoder, width, source_length, source_length),
        *_feed_forward(
            "encoder feed-forward", num_encoder, width, config.feed_forward_width, source_length
        ),
        *_norms("encoder norms", num_encoder, 2, config),
        SizeRow(
            "target embedding",
            lookup,
            1,
            0 if is_one_matrix else num_target_tokens * width,
            shared_with="source embedding" if is_one_matrix else None,
        ),
        SizeRow("target positions", positions, 1, num_in_table),
        *_attention("decoder self-attention", num_decoder, width, target_length, target_length),
        *_attention("cross-attention", num_decoder, width, target_length, source_length),
        *_feed_forward(
            "decoder feed-forward", num_decoder, width, config.decoder_inner_width, target_length
        ),
        *_norms("decoder norms", num_decoder, 3, config),
        SizeRow(
            "output",
            "a score for each token of the vocabulary",
            1,
            (0 if output_is_tied else num_target_tokens * width)
            + (num_target_tokens if config.output_bias else 0),
            2 * target_length * width * num_target_tokens,
            shared_with=embedding_of_output if output_is_tied else None,
        ),
    )


def _attention(
    module: Module, num_layers: int, width: int, num_queries: int, num_keys: int
) -> tuple[SizeRow, ...]:
    """The rows of an attention module; H heads of width D / H cost the same for any H."""
    of_matrix = width * width + width
    product = 2 * num_queries * num_keys * width
    projections = 2 * width * width * (num_queries + 2 * num_keys)
    return (
        SizeRow(
            module,
            "queries, keys and values",
            num_layers,
            num_layers * 3 * of_matrix,
            num_layers * projections,
        ),
        SizeRow(module, "scores: queries times keys", num_layers, 0, num_layers * product),
        SizeRow(module, "weights times values", num_layers, 0, num_layers * product),
        SizeRow(
            module,
            "heads joined by a matrix",
            num_layers,
            num_layers * of_matrix,
            num_layers * 2 * width * width * num_queries,
        ),
    )


def _feed_forward(
    module: Module, num_layers: int, width: int, inner_width: int, length: int
) -> tuple[SizeRow, ...]:
    product = num_layers * 2 * length * width * inner_width
    return (
        SizeRow(
            module,
            f"from {width:,} to {inner_width:,}",
            num_layers,
            num_layers * (width + 1) * inner_width,
            product,
        ),
        SizeRow(
            module,
            f"back to {width:,}",
            num_layers,
            num_layers * (inner_width + 1) * width,
            product,
        ),
    )


def _norms(
    module: Module, num_layers: int, num_sublayers: int, config: ModelConfig
) -> tuple[SizeRow, ...]:
    of_norm = 2 * config.width
    rows = [
        SizeRow(
            module,
            f"{num_sublayers} in each layer",
            num_layers,
            num_layers * num_sublayers * of_norm,
        )
    ]
    if config.final_norm:
        rows.append(SizeRow(module, "one at the top", 1, of_norm))
    return tuple(rows)


@dataclass(frozen=True)
class Size:
    """Parameters and floating-point operations of some rows together."""

    num_parameters: int
    num_flops: int


def total(rows: Sequence[SizeRow], *modules: Module) -> Size:
    """The sum of all rows, or of those of these modules."""
    counted = [row for row in rows if not modules or row.module in modules]
    return Size(sum(row.num_parameters for row in counted), sum(row.num_flops for row in counted))


def preset_vocabulary_sizes(run: RunConfig) -> tuple[int, int] | None:
    """V of source and target that a preset has on its own data; None for other runs."""
    if run.is_copy_task:
        num_symbols = run.data.copy_symbols + 1
        return num_symbols, num_symbols
    return MULTI30K_VOCABULARY_SIZES.get(run.preset)
