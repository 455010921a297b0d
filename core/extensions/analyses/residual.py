"""The residual streams of one pass, and their split into components. Shape legend: `core.maps`.

Any number that is linear in a vector of the stream, such as a logit or a dimension of a query, is a
dot product with a direction. Norms are linear maps once their deviation is known. So the direction
is carried back through the frozen norms to every component that wrote to the stream, and its dot
product with the component's output there is the component's part. This gives all parts in one walk
from the last sublayer to the embedding.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from ...maps.capture import AttentionPass, SublayerPass, bias_of, trace_sublayers, transposed_norm
from ...model.heads import Head, Network, Side
from ...model.layers import TokenAndPosition
from ...model.sites import PairPass
from .parts import Component, Origin

ALL = slice(None)


@dataclass(frozen=True, eq=False)
class ResidualStream:
    """The residual stream of encoder or decoder in one pass over one sentence of N tokens.

    Attributes:
        side: encoder or decoder.
        sublayers: from the first layer up.
        embedding: of token and position.
        norm: the final norm, or an identity.
    """

    side: Side
    sublayers: tuple[SublayerPass, ...]
    embedding: TokenAndPosition
    norm: nn.Module

    @cached_property
    def components(self) -> tuple[Component, ...]:
        """The components of the stream after all layers."""
        return self.components_before(None)

    def components_before(self, depth: int | None) -> tuple[Component, ...]:
        """The P components of the stream before the sublayer `depth`, ordered as in `split`.

        None stands for the stream after all layers.
        """
        per_layer = 2 if self.side == "encoder" else 3
        components: list[Component] = [Origin.TOKEN, Origin.POSITION]
        for index, sublayer in enumerate(self.sublayers[:depth]):
            layer = index // per_layer
            attention = sublayer.attention
            if attention is None:
                components.append(Network(self.side, layer))
            else:
                components += [
                    Head(attention.kind, layer, head) for head in range(attention.module.num_heads)
                ]
        return (*components, Origin.BIAS)

    @torch.inference_mode()
    def split(
        self,
        directions: Tensor,
        rows: slice | Tensor = ALL,
        depth: int | None = None,
        *,
        on_cross: Callable[[AttentionPass, Tensor], None] = lambda _attention, _directions: None,
    ) -> Tensor:
        """The part of each component in the dot products of some directions with the stream.

        Args:
            directions: [..., N, D], in double precision, one for each row.
            rows: the positions of these N.
            depth: of the sublayer whose input is split, after the norm that precedes it; None for
                the output of the stack, after the final norm.
            on_cross: receives each cross-attention, from the last layer down, and the directions at
                its output.

        Returns:
            The parts, [P, ..., N], which sum to the dot products.
        """
        last = self.sublayers[-1] if depth is None else self.sublayers[depth]
        if depth is None:
            norm = self.norm
            whole = last.output
        else:
            norm = last.residual.norm if last.residual.is_pre else nn.Identity()
            whole = last.states
        parts: list[Tensor] = []
        bias = torch.zeros_like(directions[..., 0])

        def before(norm: nn.Module, whole: Tensor) -> tuple[Tensor, Tensor]:
            shift = (directions * bias_of(norm).to(directions.device)).sum(dim=-1)
            return transposed_norm(norm, directions, whole[0, rows].double()), bias + shift

        directions, bias = before(norm, whole)
        for sublayer in reversed(self.sublayers[:depth]):
            if not sublayer.residual.is_pre:
                directions, bias = before(sublayer.residual.norm, sublayer.states + sublayer.added)
            if sublayer.attention is None:
                parts.append((directions * sublayer.added[0, rows].double()).sum(dim=-1)[None])
                continue
            bias = bias + directions @ sublayer.attention.module.out_proj.bias.double()
            parts.append(
                torch.einsum("...nd,hnd->h...n", directions, _outputs(sublayer.attention, rows))
            )
            if sublayer.attention.kind == "cross":
                on_cross(sublayer.attention, directions)
        positions = self.embedding.positions[: self.sublayers[0].states.size(1)][rows].double()
        tokens = self.sublayers[0].states[0, rows].double() - positions
        embedded = torch.stack(
            [(directions * vectors).sum(dim=-1) for vectors in (tokens, positions)]
        )
        return torch.cat([embedded, *reversed(parts), bias[None]])


@dataclass(frozen=True, eq=False)
class ResidualStreams:
    """The streams of one pass over a pair.

    Attributes:
        encoder: the stream of S source tokens.
        decoder: the stream of T target tokens.
        logits: [T, V].
    """

    encoder: ResidualStream
    decoder: ResidualStream
    logits: Tensor


def residual_streams(pair: PairPass) -> ResidualStreams:
    """The residual streams of one pass. Raises `NonFiniteError`, see `trace_sublayers`."""
    model = pair.model
    sublayers, _, _, logits = trace_sublayers(pair)
    num_encoder = 2 * len(model.encoder_layers)
    return ResidualStreams(
        ResidualStream(
            "encoder", tuple(sublayers[:num_encoder]), model.source_embedding, model.encoder_norm
        ),
        ResidualStream(
            "decoder", tuple(sublayers[num_encoder:]), model.target_embedding, model.decoder_norm
        ),
        logits,
    )


def _outputs(attention: AttentionPass, rows: slice | Tensor) -> Tensor:
    """The vector that each head adds to each row: [H, N, D]."""
    mixing = attention.module.mixing.double()
    joined = attention.joined[0, rows].double().unflatten(-1, mixing.shape[:2])
    return torch.einsum("nhk,hkd->hnd", joined, mixing)
