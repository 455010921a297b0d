"""The whole model: embeddings, encoder, decoder, output layer. Shape legend: `core.model`.

At the end: interventions in the form that the model reads, the shapes of parameters before a model is built, and the
search for the layer where numbers overflow.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import init
from torch.overrides import TorchFunctionMode

from augenmerk.core.config import ModelConfig
from augenmerk.core.counting import Index
from augenmerk.core.errors import AnalysisError, ConfigError, NonFiniteError
from augenmerk.core.model.attention import MultiHeadAttention
from augenmerk.core.model.heads import AttentionKind, Head, Network, SentenceChanges, heads_of, networks_of
from augenmerk.core.model.interventions import NO_INTERVENTIONS, AttentionChanges, Interventions, RowOverride
from augenmerk.core.model.layers import DecoderLayer, EncoderLayer, TokenAndPosition, make_norm


@dataclass(frozen=True, eq=False)
class ModelOutput:
    """The result of one parallel pass over a batch of pairs.

    Attributes:
        logits: [B, T, V].
        encoder_maps, decoder_maps, cross_maps: [B, L, H, S, S], [B, L, H, T, T], [B, L, H, T, S], without dropout;
            None unless requested.
    """

    logits: Tensor
    encoder_maps: Tensor | None = None
    decoder_maps: Tensor | None = None
    cross_maps: Tensor | None = None


@dataclass(frozen=True, eq=False)
class Encoding:
    """A batch of sources as the decoder sees it.

    Attributes:
        source: ids, [B, S].
        states: the encoder's output, [B, S, D].
        mask: [B, 1, 1, S], True at real tokens; None if everything may be seen.
        maps: [B, L, H, S, S], without dropout; None unless requested.
        interventions: for each of the B sentences, in the decoder too; None for nothing.
    """

    source: Tensor
    states: Tensor
    mask: Tensor | None
    maps: Tensor | None = None
    interventions: Interventions = NO_INTERVENTIONS

    def select(self, batch: Tensor) -> "Encoding":
        """Keeps (or repeats, or reorders) the sentences with these indices [B']."""
        return Encoding(
            self.source[batch],
            self.states[batch],
            None if self.mask is None else self.mask[batch],
            None if self.maps is None else self.maps[batch],
            self.interventions.select(batch),
        )

    def with_interventions(self, interventions: Interventions) -> "Encoding":
        """The same sources with other changes in the decoder."""
        return replace(self, interventions=interventions)


@dataclass
class DecoderState:
    """Step-by-step decoding of a batch. All tokens are read again at each step, by all modules of the model.

    Attributes:
        model: in evaluation mode.
        encoding: of the sources.
        prefix: ids [B, T]; the first `step` of them have been read.
    """

    model: "Transformer"
    encoding: Encoding
    prefix: Tensor
    step: int = 0

    has_guesses = False
    """Whether `guess` is cheaper than `read`."""

    def read(self, tokens: Tensor) -> Tensor:
        """Reads one more token of each row, ids [B]; returns the logits [B, V] of the next."""
        prefix = torch.cat([self.prefix[:, : self.step], tokens[:, None]], dim=1)
        return self.read_all(prefix).logits[:, -1].clone()  # a hook may keep the logits, and searches write to these

    def guess(self, tokens: Tensor) -> Tensor:
        """Like `read`, but may be approximate. `read_all` corrects the state."""
        return self.read(tokens)

    def read_all(self, target: Tensor, *, need_maps: bool = False) -> ModelOutput:
        """Teacher forcing of the ids [B, T]; `read` then continues from any `step` up to T."""
        self.prefix, self.step = target, target.size(1)
        return self.model.decode(self.encoding, target, need_maps=need_maps)

    def select(self, rows: Tensor) -> None:
        """Keeps (or repeats, or reorders) the batch rows with these indices [B']."""
        self.encoding, self.prefix = self.encoding.select(rows), self.prefix[rows]

    def reorder(self, rows: Tensor) -> None:
        """Like `select`, where each row takes the place of one with the same source."""
        self.prefix = self.prefix[rows]

    def restarted(self) -> "DecoderState":
        """A state of the same rows at the start. Selecting rows in it does not affect this one; reading may."""
        return replace(self, step=0)


class Transformer(nn.Module):
    """An encoder–decoder Transformer.

    It computes everything by calling its modules, so hooks fire as in any PyTorch model. For translating on a CPU, see
    `core.inference`, which computes the same faster.

    Args:
        config: its shape and choices.
        num_source_tokens, num_target_tokens: V of each side.
        padding_id: the id of padding, on both sides.

    Raises:
        ConfigError: all embeddings are tied, but the vocabularies differ in size.
    """

    def __init__(self, config: ModelConfig, num_source_tokens: int, num_target_tokens: int, padding_id: int) -> None:
        super().__init__()
        if config.tied_embeddings == "all" and num_source_tokens != num_target_tokens:
            raise ConfigError(
                f"Tying all embeddings needs one joint vocabulary, but the source has {num_source_tokens} tokens and "
                f"the target {num_target_tokens}. Set num_subwords, or tie only the output."
            )
        self.config = config
        self.padding_id = padding_id
        self.source_embedding = TokenAndPosition(config, num_source_tokens)
        self.target_embedding = TokenAndPosition(config, num_target_tokens)
        self.encoder_layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.num_encoder_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.num_decoder_layers))
        self.encoder_norm = make_norm(config) if config.final_norm else nn.Identity()
        self.decoder_norm = make_norm(config) if config.final_norm else nn.Identity()
        self.output = nn.Linear(config.width, num_target_tokens, bias=config.output_bias)
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
        """Recomputes tensors that are neither learned nor saved."""
        self.source_embedding.reset_constants()
        self.target_embedding.reset_constants()

    @property
    def num_parameters(self) -> int:
        """Trainable parameters, shared ones counted once."""
        return sum(parameter.numel() for parameter in self.parameters())

    def source_mask(self, source: Tensor) -> Tensor:
        """[B, 1, 1, S], True at real tokens of the ids [B, S]."""
        return (source != self.padding_id)[:, None, None, :]

    def target_mask(self, target: Tensor, interventions: Interventions = NO_INTERVENTIONS) -> Tensor:
        """[B or 1, 1, T, T], True where a position of the ids [B, T] may look: at itself and before.

        Padding is at the right, where no real token looks; in Marian's models its id also begins every target. If
        `interventions` lift the causal mask, later positions are seen too, except padding.
        """
        length = target.size(1)
        causal = torch.ones(length, length, dtype=torch.bool, device=target.device).tril()[None, None]
        if interventions.lifts_mask is None:
            return causal
        is_real = target != self.padding_id
        is_real[:, 0] = True
        return causal | (interventions.lifts_mask[:, None, None, None] & is_real[:, None, None, :])

    def encode(
        self, source: Tensor, *, need_maps: bool = False, interventions: Interventions = NO_INTERVENTIONS
    ) -> Encoding:
        """The encoding of the ids [B, S]; the decoder runs under the same interventions."""
        mask = self.source_mask(source)
        states = self.source_embedding(source)  # [B, S, D]
        maps = []
        for index, layer in enumerate(self.encoder_layers):
            changes, factor = interventions.of("encoder", index), interventions.factor_of("encoder", index)
            states, layer_maps = layer(states, mask, need_maps=need_maps, changes=changes, factor=factor)
            maps.append(layer_maps)
        stacked = torch.stack(maps, dim=1) if need_maps else None  # [B, L, H, S, S]
        return Encoding(source, self.encoder_norm(states), mask, stacked, interventions)

    def forward(
        self,
        source: Tensor | Encoding,
        target: Tensor,
        *,
        need_maps: bool = False,
        interventions: Interventions = NO_INTERVENTIONS,
    ) -> ModelOutput:
        """Teacher forcing: logits for the token after each of the ids [B, T].

        Args:
            source: ids [B, S], or their encoding, which brings its own maps and interventions.
            target: the ids [B, T].
            need_maps: whether the output holds maps.
            interventions: of source ids; see `encode`.
        """
        if isinstance(source, Encoding):
            encoding = source
        else:
            encoding = self.encode(source, need_maps=need_maps, interventions=interventions)
        hidden, decoder_maps, cross_maps = self._run_decoder(target, encoding, need_maps)
        return ModelOutput(self.output(hidden), encoding.maps, decoder_maps, cross_maps)

    def decode(self, encoding: Encoding, target: Tensor, *, need_maps: bool = False) -> ModelOutput:
        """`forward` for encoded sources; the maps of the encoder are those of `encoding`."""
        output: ModelOutput = self(encoding, target, need_maps=need_maps)
        return output

    def hidden_states(self, source: Tensor, target: Tensor) -> Tensor:
        """The decoder's output before the output layer, [B, T, D], for the ids [B, S] and [B, T]."""
        return self._run_decoder(target, self.encode(source), need_maps=False)[0]

    def start_decoding(self, encoding: Encoding, max_steps: int) -> DecoderState:
        """The state before the first of up to `max_steps` tokens."""
        nothing = torch.empty(len(encoding.states), 0, dtype=torch.long, device=encoding.states.device)
        return DecoderState(self, encoding, nothing)

    def _run_decoder(
        self, target: Tensor, encoding: Encoding, need_maps: bool
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        interventions = encoding.interventions
        target_mask = self.target_mask(target, interventions)
        states = self.target_embedding(target)  # [B, T, D]
        self_maps, cross_maps = [], []
        for index, layer in enumerate(self.decoder_layers):
            states, layer_self, layer_cross = layer(
                states,
                encoding.states,
                target_mask,
                encoding.mask,
                need_maps=need_maps,
                self_changes=interventions.of("decoder", index),
                cross_changes=interventions.of("cross", index),
                factor=interventions.factor_of("decoder", index),
            )
            self_maps.append(layer_self)
            cross_maps.append(layer_cross)
        states = self.decoder_norm(states)
        if not need_maps:
            return states, None, None
        return states, torch.stack(self_maps, dim=1), torch.stack(cross_maps, dim=1)  # [B, L, H, T, T or S]


def compile_interventions(model: Transformer, sentences: Sequence[SentenceChanges]) -> Interventions:
    """The changes to B sentences as tensors for the passes of the model.

    Raises:
        AnalysisError: the model has no such head or network.
    """
    if all(sentence.is_empty for sentence in sentences):
        return NO_INTERVENTIONS
    modules = attentions_of(model)
    touched: dict[tuple[AttentionKind, int], None] = {}
    networks: dict[Network, None] = {}
    for sentence in sentences:
        for part in (*sentence.factors, *sentence.temperatures, *(head for head, _ in sentence.rows)):
            if isinstance(part, Network):
                _check_network(part, model)
                networks[part] = None
            else:
                _check(part, modules)
                touched[part.kind, part.layer] = None
    like = model.output.weight
    return Interventions(
        {
            (kind, layer): _changes_of_module(kind, layer, modules[kind][layer].num_heads, sentences, like)
            for kind, layer in touched
        },
        {
            (network.side, network.layer): like.new_tensor(
                [sentence.factors.get(network, 1.0) for sentence in sentences]
            )[:, None, None]
            for network in networks
        },
        lifts_mask=torch.tensor([sentence.lifts_mask for sentence in sentences], device=like.device)
        if any(sentence.lifts_mask for sentence in sentences)
        else None,
    )


def _changes_of_module(
    kind: AttentionKind, layer: int, num_heads: int, sentences: Sequence[SentenceChanges], like: Tensor
) -> AttentionChanges:
    scale = torch.ones(len(sentences), num_heads, device=like.device, dtype=like.dtype)
    temperatures = torch.ones_like(scale)
    rows: list[tuple[RowOverride, ...]] = []
    for index, sentence in enumerate(sentences):
        for part, factor in sentence.factors.items():
            if isinstance(part, Head) and (part.kind, part.layer) == (kind, layer):
                scale[index, part.head] = factor
        for head, temperature in sentence.temperatures.items():
            if (head.kind, head.layer) == (kind, layer):
                temperatures[index, head.head] = temperature
        rows.append(
            tuple(
                RowOverride(head.head, query, torch.tensor(list(weights), device=like.device, dtype=like.dtype))
                for (head, query), weights in sentence.rows.items()
                if (head.kind, head.layer) == (kind, layer)
            )
        )
    return AttentionChanges(
        scale if bool((scale != 1).any()) else None,
        tuple(rows) if any(rows) else None,
        temperatures if bool((temperatures != 1).any()) else None,
    )


def attentions_of(model: Transformer) -> dict[AttentionKind, list[MultiHeadAttention]]:
    """The attention modules of each kind, layer by layer."""
    return {
        "encoder": [layer.self_attention for layer in model.encoder_layers],  # type: ignore[misc]
        "decoder": [layer.self_attention for layer in model.decoder_layers],  # type: ignore[misc]
        "cross": [layer.cross_attention for layer in model.decoder_layers],  # type: ignore[misc]
    }


def all_heads(model: Transformer) -> list[Head]:
    """Every head: encoder, decoder, cross; from the first layer up."""
    return list(heads_of(model.config))


def _check(head: Head, modules: dict[AttentionKind, list[MultiHeadAttention]]) -> None:
    layers = modules.get(head.kind, [])
    if head.layer not in range(len(layers)) or head.head not in range(layers[head.layer].num_heads):
        shapes = ", ".join(f"{kind} {len(found)} × {found[0].num_heads}" for kind, found in modules.items())
        raise AnalysisError(
            "This model has no {head}. It has, layers × heads: {shapes}. Name one of these, counted from {first}.",
            head=head,
            shapes=shapes,
            first=Index(0),
        )


def _check_network(network: Network, model: Transformer) -> None:
    if network not in networks_of(model.config):
        raise AnalysisError(
            f"This model has no {{network}}. It has {len(model.encoder_layers)} encoder and "
            f"{len(model.decoder_layers)} decoder layers, each with one. Name one of these, counted from {{first}}.",
            network=network,
            first=Index(0),
        )


MAX_TABLE_NUMBERS = 2**23
"""Maximum size of a table of sinusoidal positions, which no file holds: 32 MiB, 16,384 positions of width 512."""
_STACKS = {"encoder_layers": "num_encoder_layers", "decoder_layers": "num_decoder_layers"}


class NoRandomNumbers(TorchFunctionMode):
    """Skips random initialization: weights will be loaded, and initializing on "meta" imports half of torch."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Calls every other function unchanged."""
        given = kwargs or {}
        if func in _DRAWING:
            return args[0] if args else given["tensor"]
        return func(*args, **given)


_DRAWING = (Tensor.uniform_, Tensor.normal_, init.uniform_, init.normal_, init.kaiming_uniform_, init.xavier_uniform_)


def parameter_shapes(config: ModelConfig, num_source_tokens: int, num_target_tokens: int) -> dict[str, tuple[int, ...]]:
    """The shape of every parameter by its name, shared ones once, in the order of `Transformer.named_parameters`.

    Only one layer of each stack is outlined, without memory: the others have the same shapes.

    Raises:
        ConfigError: all embeddings are tied, but the vocabularies differ in size.
    """
    one_layer = replace(config, num_encoder_layers=1, num_decoder_layers=1)
    shapes: dict[str, tuple[int, ...]] = {}
    layers: dict[str, dict[str, tuple[int, ...]]] = {stack: {} for stack in _STACKS}
    for name, shape in _outlined(one_layer, num_source_tokens, num_target_tokens):
        stack, _, rest = name.partition(".0.")
        if stack in _STACKS:
            layers[stack][rest] = shape
        else:
            shapes[name] = shape
    for stack, setting in _STACKS.items():
        for index in range(getattr(config, setting)):
            shapes |= {f"{stack}.{index}.{name}": shape for name, shape in layers[stack].items()}
    return shapes


@lru_cache(maxsize=16)  # torch keeps 100 small objects for ever for each outline: a window opens many models alike
def _outlined(
    config: ModelConfig, num_source_tokens: int, num_target_tokens: int
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    with NoRandomNumbers(), torch.device("meta"):
        outline = Transformer(config, num_source_tokens, num_target_tokens, padding_id=0)
    return tuple((name, tuple(parameter.shape)) for name, parameter in outline.named_parameters())


def num_table_numbers(config: ModelConfig) -> int:
    """Numbers in each of the two tables of positions that are computed, not learned; 0 where they are parameters."""
    return 0 if config.positions == "learned" else config.max_positions * config.width


_PARTS = {
    "self_attention": "self-attention",
    "cross_attention": "cross-attention",
    "feed_forward": "feed-forward network",
    "attention_residual": "norm of the self-attention",
    "self_residual": "norm of the self-attention",
    "cross_residual": "norm of the cross-attention",
    "feed_forward_residual": "norm of the feed-forward network",
}


def is_finite(values: Tensor) -> bool:
    """Whether no value is NaN or infinite. Compares the extremes, in a thirtieth of the time of `isfinite`."""
    return not values.numel() or all(math.isfinite(float(edge)) for edge in torch.aminmax(values.detach()))


def require_finite(model: Transformer, encoding: Encoding, read: Tensor, logits: Tensor) -> None:
    """Raises `NonFiniteError` if a logit [B, T, V] after the ids [B, T] is NaN or infinite."""
    if not is_finite(logits):
        row = next(row for row, of_row in enumerate(logits) if not is_finite(of_row))
        raise non_finite(model, encoding, row, read[row].tolist())


@torch.inference_mode()
def non_finite(model: Transformer, encoding: Encoding, row: int, read_ids: Sequence[int]) -> NonFiniteError:
    """The error that names the first layer whose output is not finite; the model runs once more to find it.

    Args:
        model: in evaluation mode.
        encoding: of the sources.
        row: the sentence.
        read_ids: the ids that the decoder read, the start token first.
    """
    places: list[tuple[str, dict[str, object]]] = []

    def watch(name: str, module: nn.Module) -> Any:
        def note(module: nn.Module, inputs: Any, output: Any) -> None:
            if not places and not all(map(is_finite, _tensors(output))):
                places.append(_place(name))

        return module.register_forward_hook(note)

    with ExitStack() as hooks:
        for name, module in model.named_modules():
            if name:
                hooks.callback(watch(name, module).remove)
        one = encoding.select(torch.tensor([row], device=encoding.states.device))
        read = torch.tensor([list(read_ids)], device=encoding.states.device)
        for need_maps in (True, False):  # attention is computed in different ways, which overflow differently
            model(one.source, read, need_maps=need_maps, interventions=one.interventions)
    place, values = places[0] if places else ("the logits", {})
    return NonFiniteError(place, **values)


def _tensors(output: Any) -> Iterator[Tensor]:
    for each in output if isinstance(output, tuple) else (output,):
        if isinstance(each, Tensor) and each.is_floating_point():
            yield each


def _place(name: str) -> tuple[str, dict[str, object]]:
    """A module's name, for people, and its values: see `NonFiniteError`."""
    stack, _, rest = name.partition("_layers.")
    if not rest:
        return f"the {name.partition('.')[0].replace('_', ' ')}", {}
    index, _, part = rest.partition(".")
    suffix = f", {_PARTS[part.partition('.')[0]]}" if part else ""
    return f"{stack} layer {{layer}}{suffix}", {"layer": Index(index)}
