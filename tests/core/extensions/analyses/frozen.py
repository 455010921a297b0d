"""A model in double precision in which one component can be removed while everything else keeps its
values."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from augenmerk.core.extensions.analyses.parts import Component, Origin
from augenmerk.core.model.attention import MultiHeadAttention
from augenmerk.core.model.heads import AttentionKind, Head, Network, Side
from augenmerk.core.model.intervention_tensors import compile_interventions
from augenmerk.core.model.layers import AnnotatedLayerNorm, FeedForward
from augenmerk.core.model.sites import attentions_of
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.translation.experiment import Experiment


class FrozenModel:
    """Norms keep their deviations, and sublayers their outputs, of one pass over a pair of ids."""

    def __init__(
        self,
        model: Transformer,
        source: Sequence[int],
        read: Sequence[int],
        experiment: Experiment | None = None,
    ) -> None:
        self.model = copy.deepcopy(model).double()
        self.pair = torch.tensor([source]), torch.tensor([read])
        changes = compile_interventions(
            self.model, [] if experiment is None else [experiment.changes]
        )
        self.options = {"need_maps": True, "interventions": changes}
        self.inputs: dict[nn.Module, Tensor] = {}
        self.outputs: dict[nn.Module, Any] = {}
        with ExitStack() as hooks:
            for module in self.model.modules():
                if isinstance(
                    module, MultiHeadAttention | FeedForward | nn.LayerNorm | AnnotatedLayerNorm
                ):
                    hooks.callback(module.register_forward_hook(self._record).remove)
            self.logits = self._run()

    def _record(self, module: nn.Module, inputs: tuple[Tensor, ...], output: Any) -> None:
        self.inputs[module], self.outputs[module] = inputs[0], output

    @torch.no_grad()
    def _run(self) -> Tensor:
        return self.model(*self.pair, **self.options).logits[0]  # type: ignore[no-any-return]

    def without(self, component: Component) -> Tensor:
        """The logits [T, V] without what one component adds to the decoder's stream."""
        with self._frozen(component, "decoder"):
            return self._run()

    def with_head(self, head: Head, outputs: Tensor) -> Tensor:
        """The logits [T, V] if a head of the decoder gave `outputs` [K] to its output projection,
        in every row."""
        module = self._module_of(head)
        own = slice(head.head * module.head_width, (head.head + 1) * module.head_width)

        def put(_module: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
            joined = inputs[0].clone()
            joined[..., own] = outputs
            return (joined,)

        with self._frozen(head, "decoder"), ExitStack() as hooks:
            hooks.callback(module.out_proj.register_forward_pre_hook(put).remove)
            return self._run()

    def attended(
        self,
        kind: AttentionKind,
        layer: int,
        without: Component | None = None,
        side: Side = "decoder",
    ) -> tuple[Tensor, Tensor]:
        """The inputs of queries [Q, D] and keys [M, D] of an attention, perhaps without a component
        of one stream."""
        seen: list[tuple[Tensor, Tensor | None]] = []
        module = attentions_of(self.model)[kind][layer]
        handle = module.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[:2]))
        with self._frozen(without, side):
            self._run()
        handle.remove()
        states, memory = seen[0]
        return states[0], (states if memory is None else memory)[0]

    @contextmanager
    def _frozen(self, component: Component | None, side: Side) -> Iterator[None]:
        attacked = self._module_of(component)
        embedding = (
            self.model.source_embedding if side == "encoder" else self.model.target_embedding
        )
        with ExitStack() as hooks:
            for module in self.model.modules():
                if isinstance(module, nn.LayerNorm | AnnotatedLayerNorm):
                    hooks.callback(module.register_forward_hook(self._frozen_norm).remove)
                elif (
                    isinstance(module, MultiHeadAttention | FeedForward) and module is not attacked
                ):
                    hooks.callback(
                        module.register_forward_hook(lambda module, *_: self.outputs[module]).remove
                    )
            if isinstance(component, Head):
                assert isinstance(attacked, MultiHeadAttention)
                width = attacked.head_width
                own = slice(component.head * width, (component.head + 1) * width)
                zeroed = attacked.out_proj.register_forward_pre_hook(
                    lambda _, inputs: (_without(inputs[0], own),)
                )
                hooks.callback(zeroed.remove)
            elif isinstance(component, Network):
                hooks.callback(
                    attacked.register_forward_hook(
                        lambda *arguments: torch.zeros_like(arguments[-1])
                    ).remove
                )
            elif component is Origin.TOKEN:
                zeroed = embedding.tokens.register_forward_hook(
                    lambda *arguments: torch.zeros_like(arguments[-1])
                )
                hooks.callback(zeroed.remove)
            elif component is Origin.POSITION:
                hooks.callback(embedding.register_forward_hook(_only_tokens).remove)
            yield

    def _frozen_norm(self, module: Any, inputs: tuple[Tensor], _output: Tensor) -> Tensor:
        before, now = self.inputs[module], inputs[0]
        if isinstance(module, AnnotatedLayerNorm):
            deviation = before.std(dim=-1, keepdim=True) + module.epsilon
        else:
            deviation = (before.var(dim=-1, keepdim=True, correction=0) + module.eps).sqrt()
        return module.weight * (now - now.mean(dim=-1, keepdim=True)) / deviation + module.bias

    def _module_of(self, component: Component | None) -> Any:
        match component:
            case Head(kind, layer):
                return attentions_of(self.model)[kind][layer]
            case Network(side, layer):
                return getattr(self.model, f"{side}_layers")[layer].feed_forward
            case _:
                return None


def _only_tokens(embedding: Any, ids: tuple[Tensor], _output: Tensor) -> Tensor:
    tokens: Tensor = embedding.tokens(*ids) * embedding.scale
    return tokens


def _without(joined: Tensor, own: slice) -> Tensor:
    zeroed = joined.clone()
    zeroed[..., own] = 0
    return zeroed
