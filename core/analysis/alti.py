"""ALTI+: the share of every source and prefix token in every predicted token. Shape legend: `core.analysis`.

Ferrando, Gállego and Costa-jussà 2022, "Measuring the Mixing of Contextual Information in the Transformer" (ALTI, for
one stack), and Ferrando, Gállego, Alastruey, Escolano and Costa-jussà 2022, "Towards Opening the Black Box of Neural
Machine Translation" (ALTI+, for encoder and decoder).

One attention block with its residual connection gives position i the vector

    y_i = Σ_j T_i(x_j) + bias,    T_i(x_j) = Σ_h α_ij^h W_O^h W_V^h x_j, plus x_i itself if j = i,

exactly, once each layer norm is read as a linear map: γ ⊙ (v − mean(v)) / σ for every part v, with the σ that the norm
really divided by in this pass, and β among the bias. Behind a post-norm block this map is laid on every part; before a
pre-norm block it is part of what makes x_j a value. What no token brought (β, b_V, b_O) is the bias, and gets no share.
The share of token j is how much nearer its part brings the sum to y_i, in L1 distance:

    c_ij ∝ max(0, ‖y_i‖₁ − ‖y_i − T_i(x_j)‖₁),    Σ_j c_ij = 1.

In the decoder's cross-attention the residual connection is a part of its own, which stands for the prefix. The shares
are multiplied from layer to layer (rollout). Feed-forward networks and final norms work on each position alone and move
no share; they may change how much of a share survives, which this method does not see.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from augenmerk.core.analysis.capture import AttentionPass, SublayerPass, trace_sublayers
from augenmerk.core.analysis.contributions import Contributions
from augenmerk.core.analysis.linear_norm import bias_of, linear_norm
from augenmerk.core.model.heads import AttentionKind
from augenmerk.core.model.transformer import Interventions, Transformer
from augenmerk.core.translation.compilation import interventions_of
from augenmerk.core.translation.result import FloatArray, Translation, TranslationStoppedError, read_only
from augenmerk.core.translation.translator import Translator

MAX_CHUNK = 2**22
"""Numbers of a block that are computed at once: all of a long text in a large model would take gigabytes."""
Kept = TypeVar("Kept")


@dataclass(frozen=True, eq=False)
class BlockParts:
    """What one attention block and its residual connection are made of, in double precision.

    Attributes:
        weights: [H, Q, M], those of the attention.
        by_head: [H, M, D], what each head makes of each key.
        norm: what is laid on every part of the sum behind the block; None before a pre-norm block.
        summed: [Q, D], what that norm is of.
        around: [Q, D], what the position itself brings, by the residual connection.
        bias: [Q, D], what no token brings.
        output: [Q, D], what really leaves the block; the sum of `tokens_of`, `around` and `bias`.
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
        """[q, M, D], what each key brings to each of some positions, by the attention alone."""
        tokens = torch.einsum("hqm,hmd->qmd", self.weights[:, queries], self.by_head)
        return tokens if self.norm is None else linear_norm(self.norm, tokens, self.summed[queries, None])

    def chunks(self) -> Iterator[slice]:
        """All positions, as many at a time as `MAX_CHUNK` allows."""
        num_queries, count = len(self.around), max(MAX_CHUNK // self.by_head[0].numel(), 1)
        for first in range(0, num_queries, count):
            yield slice(first, min(first + count, num_queries))


@dataclass(frozen=True, eq=False)
class BlockTrace(Generic[Kept]):
    """All attention blocks of one pass: one entry for each layer, and what the last layers put out.

    Attributes:
        encoder, decoder, cross: what is kept of L blocks each.
        encoded: the encoder's output, [S, D].
        hidden: the decoder's output before the output layer, [T, D].
    """

    encoder: list[Kept]
    decoder: list[Kept]
    cross: list[Kept]
    encoded: Tensor
    hidden: Tensor


def contributions_of(
    translator: Translator, translation: Translation, should_stop: Callable[[], bool] = lambda: False
) -> Contributions:
    """ALTI+ for one pair, read by teacher forcing. Not while another thread uses the model.

    The first token has only `<sos>` for a prefix; that share is what the model takes from there being a start at all.
    Heads and rows are changed as the translation's experiment says: heads that are off give nothing, and rows that were
    set are taken as they are used.

    Args:
        translator: whose model is looked at.
        translation: its own, a given one, or one of a model with the same vocabularies.
        should_stop: asked before each layer: a large model takes seconds for a long sentence.

    Raises:
        AnalysisError: the experiment changes a head that this model has not.
        TranslationStoppedError: `should_stop` said so.
    """
    interventions = interventions_of(translator.model, translation.experiment)
    shares_of = trace_blocks(
        translator.model, translation.source_ids, translation.read_ids, _shares_of, interventions, should_stop
    )
    encoder = _encoder_shares(shares_of.encoder)
    source, prefix = _decoder_shares(shares_of.decoder, shares_of.cross)
    return Contributions(translation, _array(source @ encoder), _array(prefix), _array(encoder))


@torch.inference_mode()
def trace_blocks(
    model: Transformer,
    source_ids: Sequence[int],
    read_ids: Sequence[int],
    keep: Callable[[AttentionKind, BlockParts], Kept],
    interventions: Interventions | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> BlockTrace[Kept]:
    """The parts of every attention block, for S source ids and the T ids that the decoder reads.

    Args:
        model: in evaluation mode.
        source_ids, read_ids: without padding.
        keep: what is kept of each block: all parts of all blocks of a large model take gigabytes for a long text.
        interventions: for one sentence.
        should_stop: asked before each layer.

    Raises:
        TranslationStoppedError: `should_stop`, asked before each layer, said so.
        NonFiniteError: the model's states are not finite.
    """
    kept: dict[AttentionKind, list[Kept]] = {"encoder": [], "decoder": [], "cross": []}

    def keep_parts(sublayer: SublayerPass) -> None:
        if sublayer.attention is not None:
            kept[sublayer.attention.kind].append(keep(sublayer.attention.kind, _parts_of(sublayer, sublayer.attention)))
        else:
            _stop_if(should_stop)

    _stop_if(should_stop)
    encoded, hidden = trace_sublayers(model, source_ids, read_ids, keep_parts, interventions)
    return BlockTrace(kept["encoder"], kept["decoder"], kept["cross"], encoded, hidden)


def _stop_if(should_stop: Callable[[], bool]) -> None:
    if should_stop():
        raise TranslationStoppedError


def _parts_of(sublayer: SublayerPass, attention: AttentionPass) -> BlockParts:
    """What an attention with its residual connection is made of."""
    residual, output = sublayer.residual, sublayer.output[0].double()
    summed, around = (sublayer.states + sublayer.added)[0].double(), sublayer.states[0].double()
    if attention.memory is not None:
        values, constant = attention.memory[0].double(), None
    elif residual.is_pre:
        values, constant = linear_norm(residual.norm, around, around), bias_of(residual.norm)
    else:
        values, constant = around, None
    by_head, bias = _attended_parts(attention, values, constant)
    bias = bias.expand_as(around)
    norm = None if residual.is_pre else residual.norm
    if norm is not None:
        around = linear_norm(norm, around, summed)
        bias = linear_norm(norm, bias, summed) + bias_of(norm)
    return BlockParts(attention.maps[0].double(), by_head, norm, summed, around, bias, output)


def _attended_parts(attention: AttentionPass, values: Tensor, constant: Tensor | None) -> tuple[Tensor, Tensor]:
    """What the attention's output is made of: [H, M, D] by heads and keys, and [D] that every position gets.

    Rows of attention sum to 1, so that a constant part of the values comes through whole.

    Args:
        attention: what it did.
        values: [M, D], what values are made from.
        constant: [D], what is added to each of them and is no token's; None for nothing.
    """
    module, num_heads = attention.module, attention.module.num_heads
    weight = module.in_proj_weight.chunk(3)[2].double()
    shared = module.in_proj_bias.chunk(3)[2].double()
    if constant is not None:
        shared = shared + weight @ constant
    mixing = module.out_proj.weight.double().t().unflatten(0, (num_heads, -1))  # [H, K, D]
    if attention.changes is not None:
        mixing = attention.changes.scaled(mixing[None])[0].double()
    by_head = (values @ weight.t()).unflatten(1, (num_heads, -1)).transpose(0, 1) @ mixing  # [H, M, D]
    bias = torch.einsum("hk,hkd->d", shared.unflatten(0, (num_heads, -1)), mixing)
    return by_head, bias + module.out_proj.bias.double()


def shares(parts: Tensor, output: Tensor, last_resort: Tensor) -> Tensor:
    """[Q, N], rows of which sum to 1: how much nearer each part [Q, N, D] brings the sum to the output [Q, D].

    Where no part brings it nearer (the output is the bias alone), the part with the index in `last_resort` [Q] gets
    all: the one that the residual connection belongs to.
    """
    length = output.abs().sum(dim=-1, keepdim=True)
    distances = [(wanted - row).abs().sum(dim=-1) for wanted, row in zip(output, parts, strict=True)]
    nearer = (length - torch.stack(distances)).clamp(min=0)  # row by row: all at once would be another two of `parts`
    total = nearer.sum(dim=-1, keepdim=True)
    fallback = functional.one_hot(last_resort, nearer.size(1)).to(nearer.dtype)
    return torch.where(total > 0, nearer / total.clamp(min=1e-300), fallback)


def _self_shares(block: BlockParts) -> Tensor:
    """[Q, Q]: the residual connection belongs to the position's own token."""
    own = torch.arange(len(block.around), device=block.around.device)
    found = []
    for queries in block.chunks():
        parts = block.tokens_of(queries)
        parts[own[: len(parts)], own[queries]] += block.around[queries]
        found.append(shares(parts, block.output[queries], own[queries]))
    return torch.cat(found)


def _cross_shares(block: BlockParts) -> Tensor:
    """[Q, M + 1]: the residual connection is the last part."""
    found = []
    for queries in block.chunks():
        parts = torch.cat([block.tokens_of(queries), block.around[queries, None]], dim=1)
        last = torch.full((len(parts),), parts.size(1) - 1, device=parts.device)
        found.append(shares(parts, block.output[queries], last))
    return torch.cat(found)


def _shares_of(kind: AttentionKind, block: BlockParts) -> Tensor:
    return _cross_shares(block) if kind == "cross" else _self_shares(block)


def _encoder_shares(layers: Sequence[Tensor]) -> Tensor:
    """[S, S], all layers together."""
    flow = layers[0]
    for own in layers[1:]:
        flow = own @ flow
    return flow


def _decoder_shares(decoder: Sequence[Tensor], cross: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """The shares of the encoder's output [T, S] and of the tokens read [T, T], all layers together."""
    source = torch.zeros_like(cross[0][:, :-1])
    prefix = torch.eye(len(source), dtype=source.dtype, device=source.device)
    for own, of_both in zip(decoder, cross, strict=True):
        kept = of_both[:, -1:] * own
        source = of_both[:, :-1] + kept @ source
        prefix = kept @ prefix
    return source, prefix


def _array(values: Tensor) -> FloatArray:
    return read_only(values.cpu().numpy().astype(np.float32))
