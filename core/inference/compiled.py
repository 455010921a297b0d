"""A `Transformer` compiled for translating on a CPU: packed matrices, cached keys, quick guesses.

A decoding step of one sentence spends its time on reading matrices and on calling PyTorch's
operators. So matrices are packed (`products`), no modules are called, and keys and values of
earlier tokens are kept. If the weights need 32 bits, a second decoder with matrices of 16 bits
guesses tokens; the search checks them (`core.translation.decoding`). A `Compiler` chooses between
this form and the plain model.
"""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.modules import module as of_all_modules

from ..model.attention import MultiHeadAttention, attend
from ..model.decoder_state import DecoderState
from ..model.interventions import NO_INTERVENTIONS, AttentionChanges, Interventions, scaled
from ..model.layers import DecoderLayer, EncoderLayer, FeedForward, Residual, TokenAndPosition
from ..model.outputs import Encoding, ModelOutput
from ..model.transformer import Transformer
from .known_modules import are_as_written, is_known, settings_of
from .products import (
    ExactProduct,
    Product,
    fits_in_16_bits,
    halved_product,
    has_half_matrices,
)

PLAIN_VARIABLE = "AUGENMERK_PLAIN"
"""With "1" in this environment variable, every translation calls the modules of the plain model."""
_MAX_COPIED = 32_000_000
"""Parameters up to which matrices are packed, which takes their memory once more."""
_ENCODED_TOGETHER = 32
"""Sentences of a padded batch that pass through the encoder together.

Sorted by length, they need little padding; larger parts also exceed the processor's cache.
"""
MakeProduct = Callable[[Tensor, Tensor | None], Product]
Norm = Callable[[Tensor], Tensor]


class CompiledTransformer:
    """The same maps and logits as the model that it was built from, to rounding.

    Without gradients, hooks and dropout.

    Attributes:
        model: float32 on a CPU. `Compiler` stops using this form when its weights change.
    """

    def __init__(self, model: Transformer) -> None:
        copies = model.num_parameters <= _MAX_COPIED
        exact = partial(ExactProduct, copies=copies)
        self.model = model
        self._embed_source = _embedding(model.source_embedding)
        self._encoder_layers = [
            _EncoderLayer(layer, exact)  # type: ignore[arg-type]
            for layer in model.encoder_layers
        ]
        self._encoder_norm = _plain_norm(model.encoder_norm)
        self._memories = [
            _memory_product(layer.cross_attention, exact)  # type: ignore[arg-type]
            for layer in model.decoder_layers
        ]
        self.decoder = Decoder(model, exact)
        is_halved = copies and fits_in_16_bits(model.output.weight)
        can_guess = has_half_matrices() and not is_halved
        self.guessing = Decoder(model, halved_product) if can_guess else self.decoder

    def __deepcopy__(self, memo: dict[int, object]) -> "CompiledTransformer":
        """A copy of the model, compiled: packed matrices cannot be copied."""
        return CompiledTransformer(deepcopy(self.model, memo))

    @torch.no_grad()
    def encode(
        self,
        source: Tensor,
        *,
        need_maps: bool = False,
        interventions: Interventions = NO_INTERVENTIONS,
    ) -> Encoding:
        """See `Transformer.encode`."""
        mask = self.model.source_mask(source)
        is_padded = not bool(mask.all())
        if is_padded and not need_maps and len(source) > _ENCODED_TOGETHER:
            return Encoding(
                source, self._encode_parts(source, mask, interventions), mask, None, interventions
            )
        states = self._embed_source(source, 0)
        maps = []
        for index, layer in enumerate(self._encoder_layers):
            changes, factor = (
                interventions.of("encoder", index),
                interventions.factor_of("encoder", index),
            )
            states, layer_maps = layer.read(
                states, mask if is_padded else None, changes, factor, need_maps
            )
            maps.append(layer_maps)
        return Encoding(
            source,
            self._encoder_norm(states),
            mask if is_padded else None,
            _stacked(maps, need_maps),
            interventions,
        )

    def _encode_parts(self, source: Tensor, mask: Tensor, interventions: Interventions) -> Tensor:
        """The states [B, S, D] of the ids, each part padded to its own longest sentence only."""
        states = torch.zeros(*source.shape, self.model.config.width)
        lengths = (mask[:, 0, 0] * torch.arange(1, source.size(1) + 1)).amax(dim=1)
        for rows in torch.arange(len(source)).split(_ENCODED_TOGETHER):
            length = int(lengths[rows].max())
            part = self.encode(source[rows, :length], interventions=interventions.select(rows))
            states[rows, :length] = part.states
        return states

    def decode(self, encoding: Encoding, target: Tensor, *, need_maps: bool = False) -> ModelOutput:
        """See `Transformer.decode`."""
        return self.start_decoding(encoding, target.size(1)).read_all(target, need_maps=need_maps)

    def start_decoding(self, encoding: Encoding, max_steps: int) -> "CachedState":
        """See `Transformer.start_decoding`."""
        memories = [multiply(encoding.states) for multiply in self._memories]
        layers = [LayerCache(empty_past(max_steps, memory[0]), memory) for memory in memories]
        return CachedState(self, layers, encoding.mask, encoding.maps, encoding.interventions)


@dataclass
class LayerCache:
    """The memory of one decoder layer between steps.

    Attributes:
        past: keys and values of the target tokens read so far, [2, B, H, max steps, K], filled from
            the left.
        memory: keys and values of the encoder's output, [2, B, H, S, K].
    """

    past: Tensor
    memory: Tensor

    def select(self, rows: Tensor, num_filled: int) -> None:
        """Keeps the batch rows with these indices [B']; `num_filled` tokens are in the cache."""
        self.memory = self.memory.index_select(1, rows)
        filled = self.past[:, :, :, :num_filled].index_select(1, rows)
        if len(rows) <= self.past.size(1):  # writing to new memory costs more than copying
            self.past = self.past[:, : len(rows)]
        else:
            self.past = empty_past(self.past.size(3), self.memory[0])
        self.past[:, :, :, :num_filled] = filled


def empty_past(max_steps: int, keys: Tensor) -> Tensor:
    """Memory for keys and values, [2, B, H, max steps, K], with those of one step side by side.

    A step then writes to one place, and a batch is read in one stream per step. Collecting the few
    steps of each head would take twice as long.

    Args:
        max_steps: the largest number of tokens.
        keys: any with the same B, H and K.
    """
    batch, num_heads, _, width = keys.shape
    return keys.new_empty(2, max_steps, batch, num_heads, width).permute(0, 2, 3, 1, 4)


@dataclass
class CachedState:
    """Step-by-step decoding with cached keys and values. See `DecoderState`.

    Attributes:
        compiled: the model.
        layers: one cache for each decoder layer.
        source_mask: [B, 1, 1, S], or None if no source is padded.
        encoder_maps: [B, L, H, S, S], or None.
        interventions: for each row; None for nothing.
        step: target tokens read so far, of all hypotheses.
        ancestors: [B, R, step], True at the tokens of each of R hypotheses; None if a row is one
            sequence.
    """

    compiled: CompiledTransformer
    layers: list[LayerCache]
    source_mask: Tensor | None
    encoder_maps: Tensor | None
    interventions: Interventions
    step: int = 0
    ancestors: Tensor | None = None

    def read(self, tokens: Tensor) -> Tensor:
        """Reads one more token of each row, ids [B]; returns the logits [B, V] of the next."""
        return self._read(tokens, self.compiled.decoder)

    def guess(self, tokens: Tensor) -> Tensor:
        """Like `read`, but approximate. `read_all` corrects the state."""
        return self._read(tokens, self.compiled.guessing)

    def _read(self, tokens: Tensor, decoder: "Decoder") -> Tensor:
        states, _, _ = decoder.read(decoder.embed(tokens[:, None], self.step), self, None, False)
        self.step += 1
        return decoder.output(states)[:, 0]

    def read_hypotheses(self, prefixes: Tensor, parents: Tensor) -> Tensor:
        """See `DecoderState.read_hypotheses`.

        The hypotheses of a sentence are queries side by side. Cached keys stay where they are: each
        hypothesis sees those of its own tokens only.
        """
        num_sentences, num_rows, length = prefixes.shape
        if self.ancestors is None:
            self.ancestors = torch.zeros(num_sentences, 1, 0, dtype=torch.bool)
        inherited = self.ancestors.gather(1, parents[:, :, None].expand(-1, -1, self.step))
        own = torch.eye(num_rows, dtype=torch.bool).expand(num_sentences, -1, -1)
        self.ancestors = torch.cat((inherited, own), dim=2)
        decoder = self.compiled.decoder
        states = decoder.embed(prefixes[:, :, -1].reshape(-1, 1), length - 1)
        hypotheses = replace(
            self, interventions=self.interventions.of_hypotheses(length - 1, self.ancestors)
        )
        states, _, _ = decoder.read(
            states.view(num_sentences, num_rows, -1), hypotheses, self.ancestors[:, None], False
        )
        self.step += num_rows
        return decoder.output(states)

    def read_all(
        self, target: Tensor, *, need_maps: bool = False, before: ModelOutput | None = None
    ) -> ModelOutput:
        """Teacher forcing of the ids [B, T]; `read` then continues from any `step` up to T.

        Args:
            target: the ids.
            need_maps: whether the output holds maps.
            before: the rows of an earlier pass over the first tokens, which are not computed again.
        """
        self.step = first = 0 if before is None else before.logits.size(1)
        mask = self.compiled.model.target_mask(target, self.interventions)[:, :, first:]
        decoder = self.compiled.decoder
        states, decoder_maps, cross_maps = decoder.read(
            decoder.embed(target[:, first:], first), self, mask, need_maps
        )
        self.step = target.size(1)
        output = ModelOutput(decoder.output(states), self.encoder_maps, decoder_maps, cross_maps)
        return output if before is None else before.followed_by(output)

    def select(self, rows: Tensor) -> None:
        """Keeps (or repeats, or reorders) the batch rows with these indices [B']."""
        for cache in self.layers:
            cache.select(rows, self.step)
        if self.source_mask is not None:
            self.source_mask = self.source_mask[rows]
        if self.encoder_maps is not None:
            self.encoder_maps = self.encoder_maps[rows]
        if self.ancestors is not None:
            self.ancestors = self.ancestors[rows]
        self.interventions = self.interventions.select(rows)

    def restarted(self) -> "CachedState":
        """A state of the same rows at the start.

        Selecting rows in it does not affect this one; reading does.
        """
        return replace(self, layers=[replace(cache) for cache in self.layers], step=0)


Model = Transformer | CompiledTransformer
State = DecoderState | CachedState


def plain_form(model: Model) -> Transformer:
    """The model itself, or the one it was compiled from."""
    return model.model if isinstance(model, CompiledTransformer) else model


class Decoder:
    """Embedding, layers, norm and output layer of a decoder, with one kind of product.

    Attributes:
        embed: from ids [B, T] and the first position to vectors [B, T, D].
        output: from states [B, T, D] to logits [B, T, V].
    """

    def __init__(self, model: Transformer, multiply: MakeProduct) -> None:
        self.embed = _embedding(model.target_embedding)
        self._layers = [_DecoderLayer(layer, multiply) for layer in model.decoder_layers]  # type: ignore[arg-type]
        self._norm = _plain_norm(model.decoder_norm)
        self.output = multiply(model.output.weight, model.output.bias)

    @torch.no_grad()
    def read(
        self, states: Tensor, state: CachedState, mask: Tensor | None, need_maps: bool
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """The states [B, T, D] of T more vectors [B, T, D] and their maps; fills the caches."""
        self_maps = []
        cross_maps = []
        for index, (layer, cache) in enumerate(zip(self._layers, state.layers, strict=True)):
            states, of_self, of_cross = layer.read(states, cache, index, state, mask, need_maps)
            self_maps.append(of_self)
            cross_maps.append(of_cross)
        return self._norm(states), _stacked(self_maps, need_maps), _stacked(cross_maps, need_maps)


class _EncoderLayer:
    def __init__(self, layer: EncoderLayer, multiply: MakeProduct) -> None:
        self._attention = _Attention(
            layer.self_attention, layer.attention_residual, multiply, num_projections=3
        )
        self._feed_forward = _FeedForward(layer.feed_forward, layer.feed_forward_residual, multiply)

    def read(
        self,
        states: Tensor,
        mask: Tensor | None,
        changes: AttentionChanges,
        factor: Tensor | None,
        need_maps: bool,
    ) -> tuple[Tensor, Tensor | None]:
        queries, keys, values = self._attention.project(states).unbind()
        states, maps = self._attention.attend(
            states, queries, keys, values, mask, changes, need_maps
        )
        return self._feed_forward.add_to(states, factor), maps


class _DecoderLayer:
    def __init__(self, layer: DecoderLayer, multiply: MakeProduct) -> None:
        self._own = _Attention(
            layer.self_attention, layer.self_residual, multiply, num_projections=3
        )
        self._cross = _Attention(
            layer.cross_attention, layer.cross_residual, multiply, num_projections=1
        )
        self._feed_forward = _FeedForward(layer.feed_forward, layer.feed_forward_residual, multiply)

    def read(
        self,
        states: Tensor,
        cache: LayerCache,
        index: int,
        state: CachedState,
        mask: Tensor | None,
        need_maps: bool,
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        changes = state.interventions
        first = state.step
        length = states.size(1)
        parts = self._own.project(states)  # [3, B, H, T, K]
        cache.past.narrow(3, first, length).copy_(parts[1:])
        keys, values = cache.past.narrow(3, 0, first + length).unbind()
        states, self_maps = self._own.attend(
            states, parts[0], keys, values, mask, changes.of("decoder", index), need_maps, first
        )
        (queries,), (keys, values) = self._cross.project(states), cache.memory
        states, cross_maps = self._cross.attend(
            states,
            queries,
            keys,
            values,
            state.source_mask,
            changes.of("cross", index),
            need_maps,
            first,
        )
        return (
            self._feed_forward.add_to(states, changes.factor_of("decoder", index)),
            self_maps,
            cross_maps,
        )


class _Attention:
    """An attention module with its residual connection."""

    def __init__(
        self,
        module: MultiHeadAttention,
        residual: Residual,
        multiply: MakeProduct,
        *,
        num_projections: int,
    ) -> None:
        self._num_heads, self._head_width = module.num_heads, module.head_width
        num_rows = num_projections * module.num_heads * module.head_width
        self._project = multiply(module.in_proj_weight[:num_rows], module.in_proj_bias[:num_rows])
        self._join = multiply(module.out_proj.weight, module.out_proj.bias)
        self._norm = _plain_norm(residual.norm)
        self._is_pre = residual.is_pre

    def project(self, states: Tensor) -> Tensor:
        """Queries, perhaps keys and values, [1 or 3, B, H, T, K], of the stream [B, T, D]."""
        projected = self._project(self._norm(states) if self._is_pre else states)
        batch, length, _ = projected.shape
        return projected.view(batch, length, -1, self._num_heads, self._head_width).permute(
            2, 0, 3, 1, 4
        )

    def attend(
        self,
        states: Tensor,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor | None,
        changes: AttentionChanges,
        need_maps: bool,
        first_query: int = 0,
    ) -> tuple[Tensor, Tensor | None]:
        """The residual stream [B, T, D] after this module, and the maps if requested."""
        mixed, maps = attend(
            queries,
            keys,
            values,
            mask,
            changes,
            need_maps=need_maps,
            first_query=first_query,
        )
        states = self._join(mixed.transpose(1, 2).flatten(2)).add_(states)
        return states if self._is_pre else self._norm(states), maps


class _FeedForward:
    """A feed-forward network with its residual connection."""

    def __init__(self, network: FeedForward, residual: Residual, multiply: MakeProduct) -> None:
        self._expand = multiply(network.expand.weight, network.expand.bias)
        self._contract = multiply(network.contract.weight, network.contract.bias)
        self._activate = torch.relu_ if network.activate is torch.relu else network.activate
        self._norm = _plain_norm(residual.norm)
        self._is_pre = residual.is_pre

    def add_to(self, states: Tensor, factor: Tensor | None) -> Tensor:
        """The residual stream [B, T, D] after this network, which `factor` [B, 1, 1] scales."""
        inner = self._expand(self._norm(states) if self._is_pre else states)
        states = scaled(self._contract(self._activate(inner)), factor).add_(states)
        return states if self._is_pre else self._norm(states)


def _embedding(embedding: TokenAndPosition) -> Callable[[Tensor, int], Tensor]:
    """Computes vectors [B, N, D] of ids [B, N] from a position on.

    Calling the modules takes twice as long.
    """
    table = embedding.tokens
    positions = embedding.positions.detach()
    weight = table.weight.detach()

    def embed(ids: Tensor, first: int) -> Tensor:
        vectors = functional.embedding(
            ids, weight, max_norm=table.max_norm, norm_type=table.norm_type
        )
        return vectors.mul_(embedding.scale).add_(positions[first : first + ids.size(1)])

    return embed


def _memory_product(
    attention: MultiHeadAttention, multiply: MakeProduct
) -> Callable[[Tensor], Tensor]:
    """Computes keys and values [2, B, H, S, K] of the encoder's output [B, S, D]."""
    width = attention.in_proj_weight.size(1)
    project = multiply(attention.in_proj_weight[width:], attention.in_proj_bias[width:])

    def keys_and_values(memory: Tensor) -> Tensor:
        parts = project(memory).unflatten(2, (2, attention.num_heads, attention.head_width))
        return parts.permute(2, 0, 3, 1, 4).contiguous()

    return keys_and_values


def _plain_norm(norm: nn.Module) -> Norm:
    """The function of the norm, without calling the module if it is PyTorch's own."""
    if not isinstance(norm, nn.LayerNorm):
        return norm
    shape = list(norm.normalized_shape)
    epsilon = norm.eps
    weight, bias = (
        None if values is None else values.detach() for values in (norm.weight, norm.bias)
    )
    return lambda states: torch.layer_norm(states, shape, weight, bias, epsilon)


def _stacked(maps: Sequence[Tensor | None], need_maps: bool) -> Tensor | None:
    """[B, L, H, Q, M] of the maps of L layers."""
    return torch.stack(maps, dim=1) if need_maps else None  # type: ignore[arg-type]


class Compiler:
    """Compiles a model on first use, and again once its weights have changed.

    Args:
        model: the model to compile.
    """

    def __init__(self, model: Transformer) -> None:
        self._modules = list(model.modules())
        self._structure = _structure_of(self._modules)
        self._is_known = all(map(is_known, self._modules))
        self._stamp: _Stamp | None = None
        self._compiled: CompiledTransformer | None = None
        self._model = model

    def current(self) -> Model:
        """The fastest form of the model in its present state. For one call of a user.

        Takes 0.11 ms, a third of a decoding step (median, bundled model, AMD EPYC family 26 model
        2).

        The plain model where `AUGENMERK_PLAIN=1`, on a GPU, in training mode, under autocast, while
        it has hooks or modules that this form was not written for, and for weights that are not of
        32 bits or cannot be watched.
        """
        weights = _weights_of(self._modules)
        stamp = None if self._must_be_plain() else _versions(weights)
        if stamp is None or (stamp != self._stamp and not _can_be_compiled(weights)):
            self._stamp = self._compiled = None
            return self._model
        if self._compiled is None or stamp != self._stamp:
            watch(weights)
            self._stamp, self._compiled = stamp, CompiledTransformer(self._model)
        return self._compiled

    def state(self) -> object | None:
        """A value that stays equal until weights, modules or hooks of the model may have changed.

        None if the weights were made in inference mode, where PyTorch counts no changes.
        """
        must_call_modules = self.must_call_modules()
        weights = _weights_of(self._model.modules() if must_call_modules else self._modules)
        watch(weights)
        versions = _versions(weights)
        return versions and (versions, self._hooks() if must_call_modules else ())

    @property
    def compiled_state(self) -> object:
        """The `state` in which the model was compiled last."""
        return self._stamp, ()

    def _hooks(self) -> list[object]:
        hooks: list[object] = [
            *of_all_modules._global_forward_hooks,
            *of_all_modules._global_forward_pre_hooks,
        ]
        for module in self._model.modules():
            hooks += [
                module,
                module.__dict__.get("forward"),
                *module._forward_hooks,
                *module._forward_pre_hooks,
            ]
        return hooks

    def _must_be_plain(self) -> bool:
        return (
            os.environ.get(PLAIN_VARIABLE) == "1"
            or torch.is_autocast_enabled("cpu")
            or self.must_call_modules()
        )

    def must_call_modules(self) -> bool:
        """Whether calling the model's modules may differ from computing with its weights.

        True if there is a module that `CompiledTransformer` was not written for; while a forward
        hook or a forward pre-hook is registered on any module, or on all modules; while a module is
        in training mode; while a module or its class has another `forward`; and while a module is
        replaced, added, removed or parametrized, or computes in another way by a changed setting.
        Backward hooks do not count: translating computes no gradients.
        """
        return bool(
            not self._is_known
            or of_all_modules._global_forward_hooks
            or of_all_modules._global_forward_pre_hooks
            or not are_as_written()
            or _structure_of(self._modules) != self._structure
            or any(
                module._forward_hooks
                or module._forward_pre_hooks
                or module.training
                or "forward" in module.__dict__
                for module in self._modules
            )
        )


def _structure_of(modules: Iterable[nn.Module]) -> list[object]:
    """The type, the parts and the settings of each module."""
    parts = ((type(module), *module._modules.values(), *settings_of(module)) for module in modules)
    return list(chain.from_iterable(parts))


_Stamp = tuple[tuple[int, int, int], ...]


def _can_be_compiled(weights: Iterable[Tensor]) -> bool:
    """Whether all have 32 bits and are on the CPU."""
    return all(weight.dtype == torch.float32 and weight.device.type == "cpu" for weight in weights)


def _weights_of(modules: Iterable[nn.Module]) -> list[Tensor]:
    """The parameters and buffers of the modules themselves, without those of their parts."""
    parts = (values for module in modules for values in (module._parameters, module._buffers))
    return [weight for values in parts for weight in values.values() if weight is not None]


def _versions(weights: Sequence[Tensor]) -> _Stamp | None:
    """A value for each weight: another one once it may have changed, by `watch`ed writing or by
    lying elsewhere.

    None if one of them was made in inference mode, where PyTorch counts no changes.
    """
    if any(weight.is_inference() for weight in weights):
        return None
    return tuple(
        (weight.data_ptr(), weight._version, getattr(weight, "num_data_uses", 0))
        for weight in weights
    )


class _WatchedParameter(nn.Parameter):
    """A parameter that counts reads of `data`, which can change it without a new version."""

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]  # as of its base class
    num_data_uses: ClassVar[int] = 0

    @property
    def data(self) -> Tensor:
        self.num_data_uses += 1  # type: ignore[misc]
        values: Tensor = nn.Parameter.data.__get__(self)  # type: ignore[attr-defined]
        return values

    @data.setter
    def data(self, values: Tensor) -> None:
        self.num_data_uses += 1  # type: ignore[misc]
        nn.Parameter.data.__set__(self, values)  # type: ignore[attr-defined]

    def detach(self) -> Tensor:
        """A plain tensor; a watched parameter for `nn.Parameter(weight)`, which demands one."""
        values = super().detach()
        is_for_parameter = sys._getframe(1).f_code is nn.Parameter.__new__.__code__
        return (
            torch.Tensor._make_subclass(_WatchedParameter, values, False)
            if is_for_parameter
            else values
        )


def watch(weights: Iterable[Tensor]) -> None:
    """Lets `Compiler` notice every later change of the parameters among them.

    It misses changes through another tensor or array of their memory.
    """
    for weight in weights:
        if type(weight) is nn.Parameter:
            weight.__class__ = _WatchedParameter
