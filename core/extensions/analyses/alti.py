"""ALTI+: the share of every source and prefix token in every predicted token.

Shape legend: `core.maps`.

Ferrando, Gállego and Costa-jussà 2022, "Measuring the Mixing of Contextual Information in the
Transformer" (ALTI, for one stack), and Ferrando, Gállego, Alastruey, Escolano and Costa-jussà 2022,
"Towards Opening the Black Box of Neural Machine Translation" (ALTI+, for encoder and decoder).

One attention block with its residual connection gives position i the vector

    y_i = Σ_j T_i(x_j) + bias,    T_i(x_j) = Σ_h α_ij^h W_O^h W_V^h x_j, plus x_i itself if j = i.

This is exact if each layer norm is read as a linear map: γ ⊙ (v − mean(v)) / σ for every part v,
with the σ of the norm in this pass; β belongs to the bias. After a post-norm block this map is
applied to every part; before a pre-norm block it is part of the map from x_j to its value. Terms of
no token (β, b_V, b_O) form the bias and get no share. The share of token j measures how much nearer
its part brings the sum to y_i, in L1 distance:

    c_ij ∝ max(0, ‖y_i‖₁ − ‖y_i − T_i(x_j)‖₁),    Σ_j c_ij = 1.

In the decoder's cross-attention the residual connection is a separate part, which represents the
prefix. The shares are multiplied from layer to layer (rollout). Feed-forward networks and final
norms work on each position alone and move no share; they may change how much of a share survives,
but this method does not measure that.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ...arguments import checks_arguments
from ...maps.capture import AttentionPass, SublayerPass, bias_of, linear_norm, trace_sublayers
from ...model.heads import AttentionKind
from ...model.sites import PairPass
from ...translation.result import FloatArray, Translation, TranslationStoppedError, read_only
from ...translation.translator import Translator
from .contributions import Contributions

MAX_CHUNK = 2**22
"""Numbers of a block computed at once, to bound memory: a long text in a large model would take
gigabytes."""
Kept = TypeVar("Kept")


@dataclass(frozen=True, eq=False)
class BlockParts:
    """The parts of one attention block and its residual connection, in double precision.

    Attributes:
        weights: [H, Q, M], attention weights.
        by_head: [H, M, D], the vector each head computes from each key.
        norm: the norm after the block, applied to every part of the sum; None for a pre-norm block.
        summed: [Q, D], the input of that norm.
        around: [Q, D], the position's own part, by the residual connection.
        bias: [Q, D], the part of no token.
        output: [Q, D], the block's output; the sum of `tokens_of`, `around` and `bias`.
    """

    weights: Tensor
    by_head: Tensor
    norm: nn.Module | None
    summed: Tensor
    around: Tensor
    bias: Tensor
    output: Tensor

    @torch.inference_mode()
    def tokens_of(self, queries: slice) -> Tensor:
        """The part of each key in each of the given positions, by attention alone: [q, M, D]."""
        tokens = torch.einsum("hqm,hmd->qmd", self.weights[:, queries], self.by_head)
        return (
            tokens
            if self.norm is None
            else linear_norm(self.norm, tokens, self.summed[queries, None])
        )

    def chunks(self) -> Iterator[slice]:
        """Slices that cover all positions, each as large as `MAX_CHUNK` allows."""
        num_queries = len(self.around)
        count = max(MAX_CHUNK // self.by_head[0].numel(), 1)
        for first in range(0, num_queries, count):
            yield slice(first, min(first + count, num_queries))


@dataclass(frozen=True, eq=False)
class BlockTrace(Generic[Kept]):
    """All attention blocks of one pass, one entry per layer, and the outputs of both stacks.

    Attributes:
        encoder: the values kept from the L blocks of the encoder.
        decoder: those of the decoder's self-attention.
        cross: those of cross-attention.
        encoded: the encoder's output, [S, D].
        hidden: the decoder's output before the output layer, [T, D].
    """

    encoder: list[Kept]
    decoder: list[Kept]
    cross: list[Kept]
    encoded: Tensor
    hidden: Tensor


@checks_arguments
def contributions_of(
    translator: Translator,
    translation: Translation,
    should_stop: Callable[[], bool] = lambda: False,
) -> Contributions:
    """ALTI+ for one pair, read by teacher forcing. Not thread-safe with other uses of the model.

    The prefix of the first token is `<sos>` alone; its share is information that depends on no
    target word. The translation's experiment applies: heads that are off contribute nothing, and
    rows that were set are used as set.

    Args:
        translator: provides the model.
        translation: by this model, written by the user, or by a model with the same vocabularies;
            its tokens are read under this model.
        should_stop: called before each layer; a large model takes seconds for a long sentence.

    Raises:
        AnalysisError: as `Translator.pass_over`.
        TranslationStoppedError: `should_stop` returned True.
    """
    shares = shares_of_pair(translator.pass_over(translation), should_stop)
    return Contributions(translation, *shares, translator.digest)


def shares_of_pair(
    pair: PairPass, should_stop: Callable[[], bool] = lambda: False
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The shares `source`, `prefix` and `encoder` of `Contributions` for one pass."""
    shares_of = trace_blocks(pair, _shares_of, should_stop)
    encoder = _encoder_shares(shares_of.encoder)
    source, prefix = _decoder_shares(shares_of.decoder, shares_of.cross)
    return _array(source @ encoder), _array(prefix), _array(encoder)


@torch.inference_mode()
def trace_blocks(
    pair: PairPass,
    keep: Callable[[AttentionKind, BlockParts], Kept],
    should_stop: Callable[[], bool] = lambda: False,
) -> BlockTrace[Kept]:
    """The parts of every attention block.

    Args:
        pair: the pass.
        keep: reduces a block to the values to keep; all parts of all blocks of a large model would
            take gigabytes.
        should_stop: called before each layer.

    Raises:
        TranslationStoppedError: `should_stop` returned True.
        NonFiniteError: the model's states are not finite.
    """
    blocks: dict[AttentionKind, list[Kept]] = {"encoder": [], "decoder": [], "cross": []}
    _stop_if(should_stop)
    sublayers, encoded, hidden, _ = trace_sublayers(pair)
    for sublayer in sublayers:
        if sublayer.attention is not None:
            kind = sublayer.attention.kind
            blocks[kind].append(keep(kind, _parts_of(sublayer, sublayer.attention)))
        else:
            _stop_if(should_stop)
    return BlockTrace(blocks["encoder"], blocks["decoder"], blocks["cross"], encoded, hidden)


def _stop_if(should_stop: Callable[[], bool]) -> None:
    if should_stop():
        raise TranslationStoppedError


def _parts_of(sublayer: SublayerPass, attention: AttentionPass) -> BlockParts:
    """The parts of an attention block with its residual connection."""
    residual = sublayer.residual
    output = sublayer.output[0].double()
    summed = (sublayer.states + sublayer.added)[0].double()
    around = sublayer.states[0].double()
    if attention.memory is not None:
        values = attention.memory[0].double()
        constant = None
    elif residual.is_pre:
        values = linear_norm(residual.norm, around, around)
        constant = bias_of(residual.norm)
    else:
        values = around
        constant = None
    by_head, bias = _attended_parts(attention, values, constant)
    bias = bias.expand_as(around)
    norm = None if residual.is_pre else residual.norm
    if norm is not None:
        around = linear_norm(norm, around, summed)
        bias = linear_norm(norm, bias, summed) + bias_of(norm)
    return BlockParts(attention.weights[0].double(), by_head, norm, summed, around, bias, output)


def _attended_parts(
    attention: AttentionPass, values: Tensor, constant: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The parts of the attention's output: [H, M, D] by heads and keys, and [D] added at every
    position.

    Rows of attention sum to 1, so a constant part of the values passes unchanged.

    Args:
        attention: one pass through the module.
        values: [M, D], the input of the value projection.
        constant: [D], added to each of them, and belonging to no token; None for zero.
    """
    module = attention.module
    num_heads = attention.module.num_heads
    weight = module.in_proj_weight.chunk(3)[2].double()
    shared = module.in_proj_bias.chunk(3)[2].double()
    if constant is not None:
        shared = shared + weight @ constant
    mixing = attention.changes.scaled(module.mixing[None].double())[0]  # [H, K, D]
    # [H, M, D]
    by_head = (values @ weight.t()).unflatten(1, (num_heads, -1)).transpose(0, 1) @ mixing
    bias = torch.einsum("hk,hkd->d", shared.unflatten(0, (num_heads, -1)), mixing)
    return by_head, bias + module.out_proj.bias.double()


def shares(parts: Tensor, output: Tensor, last_resort: Tensor) -> Tensor:
    """The share of each part in the output, by how much nearer it brings the sum: [Q, N].

    Rows sum to 1. `parts` is [Q, N, D], `output` [Q, D]. If no part brings the sum nearer (the
    output is the bias alone), the part of the residual connection gets everything; its index is in
    `last_resort` [Q].
    """
    length = output.abs().sum(dim=-1, keepdim=True)
    rows = zip(output, parts, strict=True)
    distances = [(row_output - row_parts).abs().sum(dim=-1) for row_output, row_parts in rows]
    # row by row: all at once would be another two of `parts`
    nearer = (length - torch.stack(distances)).clamp(min=0)
    total = nearer.sum(dim=-1, keepdim=True)
    fallback = functional.one_hot(last_resort, nearer.size(1)).to(nearer.dtype)
    return torch.where(total > 0, nearer / total.clamp(min=1e-300), fallback)


def _self_shares(block: BlockParts) -> Tensor:
    """Shares [Q, Q]; the residual connection belongs to the position's own token."""
    own = torch.arange(len(block.around), device=block.around.device)
    shares_by_chunk = []
    for queries in block.chunks():
        parts = block.tokens_of(queries)
        parts[own[: len(parts)], own[queries]] += block.around[queries]
        shares_by_chunk.append(shares(parts, block.output[queries], own[queries]))
    return torch.cat(shares_by_chunk)


def _cross_shares(block: BlockParts) -> Tensor:
    """Shares [Q, M + 1]; the last part is the residual connection."""
    shares_by_chunk = []
    for queries in block.chunks():
        parts = torch.cat([block.tokens_of(queries), block.around[queries, None]], dim=1)
        last = torch.full((len(parts),), parts.size(1) - 1, device=parts.device)
        shares_by_chunk.append(shares(parts, block.output[queries], last))
    return torch.cat(shares_by_chunk)


def _shares_of(kind: AttentionKind, block: BlockParts) -> Tensor:
    return _cross_shares(block) if kind == "cross" else _self_shares(block)


def _encoder_shares(layers: Sequence[Tensor]) -> Tensor:
    """Shares over all layers: [S, S]."""
    flow = layers[0]
    for own in layers[1:]:
        flow = own @ flow
    return flow


def _decoder_shares(decoder: Sequence[Tensor], cross: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Shares of the encoder's output [T, S] and of the tokens read [T, T], over all layers."""
    source = torch.zeros_like(cross[0][:, :-1])
    prefix = torch.eye(len(source), dtype=source.dtype, device=source.device)
    for own, of_both in zip(decoder, cross, strict=True):
        through_residual = of_both[:, -1:] * own
        source = of_both[:, :-1] + through_residual @ source
        prefix = through_residual @ prefix
    return source, prefix


def _array(values: Tensor) -> FloatArray:
    return read_only(values.cpu().numpy().astype(np.float32))
