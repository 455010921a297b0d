"""The whole model: embeddings, encoder, decoder, output layer. Shape legend: `core.model`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor, nn

from augenmerk.core.config import ModelConfig
from augenmerk.core.errors import ConfigError
from augenmerk.core.model.attention import AttentionChanges, MultiHeadAttention
from augenmerk.core.model.heads import AttentionKind
from augenmerk.core.model.hooks import is_hooked
from augenmerk.core.model.layers import DecoderLayer, EncoderLayer, LayerCache, make_norm
from augenmerk.core.model.positions import TokenAndPosition
from augenmerk.core.model.products import UNTRACKED, Linear, Part, keeps_halves, pack, stamp, watch

_MAX_PACKED = 32_000_000
"""Parameters up to which matrices are packed, which takes their memory once more."""


@dataclass(frozen=True, eq=False)
class ModelOutput:
    """What one parallel pass over a batch of pairs gives.

    Attributes:
        logits: [B, T, V].
        encoder_maps, decoder_maps, cross_maps: [B, L, H, S, S], [B, L, H, T, T], [B, L, H, T, S], without dropout;
            None unless asked for.
    """

    logits: Tensor
    encoder_maps: Tensor | None = None
    decoder_maps: Tensor | None = None
    cross_maps: Tensor | None = None


@dataclass(frozen=True, eq=False)
class Interventions:
    """What is changed in the attention of each of B sentences. See `core.model.interventions`.

    Attributes:
        changes: by kind and layer, counted from 0; modules that are not there are as they are.
        lifts_mask: [B], True where the decoder sees later target tokens too; None if it does so nowhere.
    """

    changes: Mapping[tuple[AttentionKind, int], AttentionChanges]
    lifts_mask: Tensor | None = None

    def of(self, kind: AttentionKind, layer: int) -> AttentionChanges | None:
        """What is changed in one module."""
        return self.changes.get((kind, layer))

    def select(self, batch: Tensor) -> "Interventions":
        """Those of the sentences with these indices [B']."""
        return Interventions(
            {place: changes.select(batch) for place, changes in self.changes.items()},
            None if self.lifts_mask is None else self.lifts_mask[batch],
        )


@dataclass(frozen=True, eq=False)
class Encoding:
    """A batch of sources as the decoder sees it.

    Attributes:
        source: ids, [B, S].
        states: the encoder's output, [B, S, D].
        mask: [B, 1, 1, S], True at real tokens; None if no source is padded.
        maps: [B, L, H, S, S], without dropout; None unless asked for.
        interventions: what is changed for each of the B sentences, in the decoder too; None for nothing.
        is_hooked: whether the model has hooks; None if not asked yet.
    """

    source: Tensor
    states: Tensor
    mask: Tensor | None
    maps: Tensor | None = None
    interventions: Interventions | None = None
    is_hooked: bool | None = None

    def select(self, batch: Tensor) -> "Encoding":
        """Keeps (or repeats, or reorders) the sentences with these indices [B']."""
        return Encoding(
            self.source[batch],
            self.states[batch],
            None if self.mask is None else self.mask[batch],
            None if self.maps is None else self.maps[batch],
            None if self.interventions is None else self.interventions.select(batch),
            self.is_hooked,
        )

    def with_interventions(self, interventions: Interventions | None) -> "Encoding":
        """The same sources with other changes in the decoder."""
        return replace(self, interventions=interventions)


@dataclass
class DecoderState:
    """Where step-by-step decoding stands.

    Attributes:
        layers: one cache for each decoder layer.
        source_mask: [B, 1, 1, S], or None if no source is padded.
        step: target tokens read so far.
        interventions: what is changed in the decoder for each row; None for nothing.
    """

    layers: list[LayerCache]
    source_mask: Tensor | None
    step: int = 0
    interventions: Interventions | None = None

    def select(self, rows: Tensor) -> None:
        """Keeps (or repeats, or reorders) the batch rows with these indices [B']."""
        for cache in self.layers:
            cache.select(rows, self.step)
        if self.source_mask is not None:
            self.source_mask = self.source_mask[rows]
        if self.interventions is not None:
            self.interventions = self.interventions.select(rows)

    def sharing_memory(self) -> "DecoderState":
        """A state of the same rows at the start: rows that leave it stay here, but what is read here is lost."""
        layers = [LayerCache(cache.past, cache.memory) for cache in self.layers]
        return replace(self, layers=layers, step=0)

    def reorder(self, rows: Tensor) -> None:
        """The same for as many rows as there are, each taking the place of one with the same source: cheaper."""
        if not torch.equal(rows, torch.arange(len(rows), device=rows.device)):
            for cache in self.layers:
                cache.reorder(rows, self.step)

    def has_read(self, target: Tensor) -> None:
        """Notes that a pass over the ids [B, T] has filled the caches."""
        self.step = target.size(1)


@dataclass(kw_only=True)
class UncachedState(DecoderState):
    """The state while the model is hooked: all tokens are read again at each step, by all modules.

    Attributes:
        encoding: of the sources.
        prefix: ids [B, T]; the first `step` of them have been read.
    """

    encoding: Encoding
    prefix: Tensor

    def select(self, rows: Tensor) -> None:
        """Keeps (or repeats, or reorders) the batch rows with these indices [B']."""
        self.encoding, self.prefix = self.encoding.select(rows), self.prefix[rows]

    def sharing_memory(self) -> "UncachedState":
        """A state of the same rows at the start."""
        return replace(self, step=0)

    def reorder(self, rows: Tensor) -> None:
        """As `select`, where each row takes the place of one with the same source."""
        self.prefix = self.prefix[rows]

    def has_read(self, target: Tensor) -> None:
        """Notes that these ids [B, T] have been read."""
        self.prefix, self.step = target, target.size(1)

    def read(self, tokens: Tensor) -> Tensor:
        """Adds one token to each row, ids [B]; returns all tokens so far, [B, T]."""
        self.has_read(torch.cat([self.prefix[:, : self.step], tokens[:, None]], dim=1))
        return self.prefix


class Transformer(nn.Module):
    """An encoder–decoder Transformer.

    Calling it, or any of its modules, fires hooks as in any PyTorch model. So does translating with it: while it has
    forward hooks, forward pre-hooks or parametrizations, every search calls all modules and nothing is cached
    (docs/hooks.md).

    Args:
        config: its shape and choices.
        num_source_tokens, num_target_tokens: V of each side.
        padding_id: the id that stands for nothing, on both sides.

    Raises:
        ConfigError: all embeddings are to be tied, but the vocabularies differ in size.
    """

    def __init__(self, config: ModelConfig, num_source_tokens: int, num_target_tokens: int, padding_id: int) -> None:
        super().__init__()
        if config.tied_embeddings == "all" and num_source_tokens != num_target_tokens:
            raise ConfigError(
                f"All embeddings are to be tied, but the source has {num_source_tokens} tokens and the target "
                f"{num_target_tokens}. One joint vocabulary was expected: set num_subwords, or tie the output only."
            )
        self.config = config
        self.padding_id = padding_id
        self.source_embedding = TokenAndPosition(config, num_source_tokens)
        self.target_embedding = TokenAndPosition(config, num_target_tokens)
        self.encoder_layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.num_encoder_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.num_decoder_layers))
        self.encoder_norm = make_norm(config) if config.final_norm else nn.Identity()
        self.decoder_norm = make_norm(config) if config.final_norm else nn.Identity()
        self.output = Linear(config.width, num_target_tokens, bias=config.output_bias)
        self._initialize()

    def _initialize(self) -> None:
        """Xavier uniform on every matrix, as the published systems do, then ties."""
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.xavier_uniform_(module.weight)
        for embedding in (self.source_embedding, self.target_embedding):
            if self.config.positions == "learned":
                nn.init.xavier_uniform_(embedding.positions)
            if self.config.initialization == "xavier-normal-embeddings":
                nn.init.normal_(embedding.tokens.weight, std=self.config.width**-0.5)
        self.tie_weights()

    def tie_weights(self) -> None:
        """Makes the matrices that the config ties one and the same parameter."""
        if self.config.tied_embeddings != "none":
            self.output.weight = self.target_embedding.tokens.weight
        if self.config.tied_embeddings == "all":
            self.source_embedding.tokens.weight = self.target_embedding.tokens.weight

    def reset_constants(self) -> None:
        """Computes anew what is neither learned nor saved."""
        self.source_embedding.reset_constants()
        self.target_embedding.reset_constants()

    def lay_out_for_decoding(self) -> None:
        """Stores the matrices of products as they are read fastest on a CPU; values, shapes and results stay.

        Those of a model that is not too large are packed (see `core.model.products`). One that is not, or does not
        serve products with one row, is stored column by column: a decoding step then takes two thirds of the time, and
        products with many rows as long as before. Not so matrices that are read in parts: rows of a matrix are together
        in memory only where it is stored row by row.
        """
        watch(self.parameters())
        packs = self.num_parameters <= _MAX_PACKED
        for weight, parts in self._matrices():
            if not parts and not (packs and keeps_halves(weight)):
                weight.data = weight.data.t().contiguous().t()
            if packs:
                pack(weight, *parts)

    def encoder_stamp(self) -> tuple[tuple[int, int, int], ...] | None:
        """Changes whenever weights of the encoder may have; None if that is unknown, or the model is hooked."""
        if is_hooked(self):
            return None
        stamps = tuple(
            stamp(parameter)
            for module in self._encoder_modules
            for parameter in module._parameters.values()
            if parameter is not None
        )
        return None if any(version == UNTRACKED for _, version, _ in stamps) else stamps

    @cached_property
    def _encoder_modules(self) -> list[nn.Module]:
        """Those of the encoder that have parameters. Looking for them takes longer than a look at all parameters."""
        parts = (self.source_embedding, self.encoder_layers, self.encoder_norm)
        return [module for part in parts for module in part.modules() if module._parameters]

    def _matrices(self) -> Iterator[tuple[nn.Parameter, tuple[Part, ...]]]:
        """What linear layers multiply by, and the parts in which that is read, if it is not read as a whole."""
        for name, module in self.named_modules():
            if isinstance(module, nn.Linear):
                yield module.weight, ()  # type: ignore[misc]
            elif isinstance(module, MultiHeadAttention):
                width = module.in_proj_weight.size(1)
                is_read_in_parts = name.endswith("cross_attention")
                yield module.in_proj_weight, ((0, width), (width, 3 * width)) if is_read_in_parts else ()

    @property
    def num_parameters(self) -> int:
        """Trainable parameters, shared ones counted once."""
        return sum(parameter.numel() for parameter in self.parameters())

    def source_mask(self, source: Tensor) -> Tensor | None:
        """[B, 1, 1, S], True at real tokens of the ids [B, S]; None if nothing is padded, which is faster."""
        mask = source != self.padding_id
        if source.device.type == "cpu" and not torch.compiler.is_compiling() and bool(mask.all()):
            return None
        return mask[:, None, None, :]

    def target_mask(self, target: Tensor, interventions: Interventions | None = None) -> Tensor:
        """[B or 1, 1, T, T], True where a position of the ids [B, T] may look: at itself and before.

        Padding stands at the right, where no real token looks; and in Marian's models its id begins every target. Where
        `interventions` lift the causal mask, later positions are seen too, and padding is not.
        """
        length = target.size(1)
        causal = torch.ones(length, length, dtype=torch.bool, device=target.device).tril()[None, None]
        if interventions is None or interventions.lifts_mask is None:
            return causal
        is_real = target != self.padding_id
        is_real[:, 0] = True
        return causal | (interventions.lifts_mask[:, None, None, None] & is_real[:, None, None, :])

    def encode(
        self, source: Tensor, *, need_maps: bool = False, interventions: Interventions | None = None
    ) -> Encoding:
        """What the decoder needs to know of the ids [B, S]; it will be under the same interventions."""
        mask = self.source_mask(source)
        states = self.source_embedding(source)
        maps = []
        for index, layer in enumerate(self.encoder_layers):
            changes = None if interventions is None else interventions.of("encoder", index)
            states, layer_maps = layer(states, mask, need_maps=need_maps, changes=changes)
            maps.append(layer_maps)
        encoded_maps = torch.stack(maps, dim=1) if need_maps else None
        return Encoding(source, self.encoder_norm(states), mask, encoded_maps, interventions)

    def hidden_states(self, source: Tensor, target: Tensor) -> Tensor:
        """The decoder's output before the output layer, [B, T, D], for the ids [B, S] and [B, T]."""
        return self._run_decoder(target, self.encode(source), need_maps=False)[0]

    def forward(
        self,
        source: Tensor | Encoding,
        target: Tensor,
        *,
        need_maps: bool = False,
        interventions: Interventions | None = None,
        state: DecoderState | None = None,
    ) -> ModelOutput:
        """Teacher forcing: logits for the token after each of the ids [B, T].

        Args:
            source: ids [B, S], or their encoding, which brings maps and interventions of its own.
            target: the ids [B, T].
            need_maps: whether the output holds maps.
            interventions: of source ids; see `encode`.
            state: of the same rows; as much of it as `target` is long is filled, whatever was in it, for `step` to go
                on from.
        """
        if isinstance(source, Encoding):
            encoding = source
        else:
            encoding = self.encode(source, need_maps=need_maps, interventions=interventions)
        hidden, decoder_maps, cross_maps = self._run_decoder(target, encoding, need_maps, state)
        return ModelOutput(self.output(hidden), encoding.maps, decoder_maps, cross_maps)

    def decode(
        self, encoding: Encoding, target: Tensor, *, need_maps: bool = False, state: DecoderState | None = None
    ) -> ModelOutput:
        """`forward` for sources that were encoded before; the maps of the encoder are those of `encoding`."""
        output: ModelOutput = self(encoding, target, need_maps=need_maps, state=state)
        return output

    def start_decoding(self, encoding: Encoding, max_steps: int) -> DecoderState:
        """A state with room for `max_steps`, for `step` to go on from."""
        if is_hooked(self) if encoding.is_hooked is None else encoding.is_hooked:
            nothing = torch.empty(len(encoding.states), 0, dtype=torch.long, device=encoding.states.device)
            return UncachedState(layers=[], source_mask=None, encoding=encoding, prefix=nothing)
        caches = [layer.new_cache(encoding.states, max_steps) for layer in self.decoder_layers]  # type: ignore[operator]
        return DecoderState(caches, encoding.mask, interventions=encoding.interventions)

    def step(self, tokens: Tensor, state: DecoderState) -> Tensor:
        """Reads one more token of each row, ids [B], and returns the logits [B, V] of the next. Changes `state`.

        For a model in evaluation mode.
        """
        if isinstance(state, UncachedState):
            output: ModelOutput = self(state.encoding, state.read(tokens))
            return output.logits[:, -1].clone()  # a hook may keep the logits, and searches write to these
        states = self.target_embedding(tokens[:, None], state.step)[:, 0]
        for index, (layer, cache) in enumerate(zip(self.decoder_layers, state.layers, strict=True)):
            changes = decoder_changes(state.interventions, index)
            states = layer.step(states, cache, state.step, state.source_mask, *changes)  # type: ignore[operator]
        state.step += 1
        logits: Tensor = self.output(self.decoder_norm(states))
        return logits

    def _run_decoder(
        self, target: Tensor, encoding: Encoding, need_maps: bool, state: DecoderState | None = None
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        target_mask = self.target_mask(target, encoding.interventions)
        states = self.target_embedding(target)
        self_maps, cross_maps = [], []
        caches = {} if state is None else dict(enumerate(state.layers))
        for index, layer in enumerate(self.decoder_layers):
            self_changes, cross_changes = decoder_changes(encoding.interventions, index)
            states, layer_self, layer_cross = layer(
                states,
                encoding.states,
                target_mask,
                encoding.mask,
                need_maps=need_maps,
                self_changes=self_changes,
                cross_changes=cross_changes,
                cache=caches.get(index),
            )
            self_maps.append(layer_self)
            cross_maps.append(layer_cross)
        if state is not None:
            state.has_read(target)
        states = self.decoder_norm(states)
        if not need_maps:
            return states, None, None
        return states, torch.stack(self_maps, dim=1), torch.stack(cross_maps, dim=1)


def decoder_changes(
    interventions: Interventions | None, layer: int
) -> tuple[AttentionChanges | None, AttentionChanges | None]:
    """What is changed in the self-attention and the cross-attention of a decoder layer."""
    if interventions is None:
        return None, None
    return interventions.of("decoder", layer), interventions.of("cross", layer)
