"""What an experiment means, written down as plainly as possible: the measure of `Translator.run`
and `run_many`.

Nothing here is shared with `core.model` but the parameters: one sentence at a time, no padding, no
cache (the whole decoder is run again at each step), a loop over the heads, in 64-bit numbers. What
is shared are the parts that an experiment does not touch: tokenizing a text, `Translator.max_steps`
and which tokens are never chosen.

Shape legend: `core.model`. There is no batch here, so a sequence of vectors is [S, D] or [T, D].
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from augenmerk.core.model.heads import Head, Network
from augenmerk.core.translation.compilation import max_steps
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Beam,
    Experiment,
    ForcedToken,
    GivenTarget,
    Intervention,
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.translator import Translator
from augenmerk.core.translation.typed_text import encode_source, encode_target


@dataclass(frozen=True, eq=False)
class NaiveResult:
    """What an experiment gives.

    Attributes:
        source_ids: what the encoder reads, [S].
        predicted_ids: what the decoder chooses, or what was given, [T].
        next_log_probabilities: of every token after each of the tokens read, [T, V].
        encoder_maps, decoder_maps, cross_maps: [L, H, S, S], [L, H, T, T], [L, H, T, S].
        unreached: the interventions whose row or step does not exist, in the order of the
            experiment.
        margin: the smallest difference of two scores whose order decided something. Where it is
            tiny, rounding may decide otherwise.
    """

    source_ids: list[int]
    predicted_ids: list[int]
    next_log_probabilities: Tensor
    encoder_maps: Tensor
    decoder_maps: Tensor
    cross_maps: Tensor
    unreached: tuple[Intervention, ...]
    margin: float

    @property
    def log_probabilities(self) -> list[float]:
        """Of the tokens that were chosen, or given."""
        return [
            float(row[token])
            for row, token in zip(self.next_log_probabilities, self.predicted_ids, strict=True)
        ]


Hook = Callable[[Tensor], Tensor]
"""What a forward hook makes of a module's output [N, D]."""


@torch.no_grad()
def naive_run(
    translator: Translator, experiment: Experiment, hooks: Mapping[str, Hook] | None = None
) -> NaiveResult:
    """The result of one experiment that nothing is wrong with, with `hooks` on the modules of these
    names."""
    source_ids = edited_source_ids(translator, experiment)
    model = NaiveModel(translator, experiment, hooks)
    memory, encoder_maps = model.encode(source_ids)
    if isinstance(experiment.output, GivenTarget):
        codecs, run = translator.checkpoint.codecs, translator.checkpoint.run
        chosen, margin = (
            list(encode_target(experiment.output.text, codecs.target, run).ids),
            math.inf,
        )
    else:
        limit = max_steps(len(source_ids), translator.run_config, translator.rules)
        search = NaiveSearch(translator, experiment, model, memory, limit)
        if isinstance(experiment.output, Beam):
            chosen = search.beam(experiment.output.size, experiment.output.length_penalty)
        else:
            chosen = search.greedy()
        margin = search.margin
    logits, decoder_maps, cross_maps = model.decode(
        [translator.rules.start_id, *chosen[:-1]], memory
    )
    return NaiveResult(
        source_ids,
        chosen,
        logits.log_softmax(dim=-1),
        encoder_maps,
        decoder_maps,
        cross_maps,
        tuple(
            intervention
            for intervention in experiment.interventions
            if is_unreached(intervention, len(source_ids), len(chosen))
        ),
        margin,
    )


@torch.no_grad()
def naive_scores(
    translator: Translator, experiment: Experiment, predicted_ids: Sequence[int]
) -> list[float]:
    """Log-probabilities of these tokens under the interventions on source words, heads, networks
    and rows."""
    model = NaiveModel(translator, experiment)
    memory, _ = model.encode(edited_source_ids(translator, experiment))
    logits, _, _ = model.decode([translator.rules.start_id, *predicted_ids[:-1]], memory)
    return [
        float(row[token])
        for row, token in zip(logits.log_softmax(dim=-1), predicted_ids, strict=True)
    ]


def edited_source_ids(translator: Translator, experiment: Experiment) -> list[int]:
    """The ids of the sentence as typed, with those of some words cut out or replaced."""
    codec = translator.checkpoint.codecs.source
    typed = encode_source(experiment.source_text, codec, translator.checkpoint.run)
    replacements = {}
    for intervention in experiment.interventions:
        if isinstance(intervention, SourceWordRemoved):
            replacements[intervention.place] = []
        elif isinstance(intervention, SourceWordReplaced):
            if intervention.text == "<unk>":
                replacements[intervention.place] = [codec.vocabulary.unknown_id]
            else:
                replacements[intervention.place] = [
                    token for word in codec.encode_text(intervention.text) for token in word.ids
                ]
    ids = []
    for position, token in enumerate(typed.ids):
        word = next(
            (index for index, word in enumerate(typed.words) if word.start <= position < word.end),
            None,
        )
        if word not in replacements:
            ids.append(token)
        elif position == typed.words[word].start:
            ids += replacements[word]
    return ids


def is_unreached(intervention: Intervention, source_length: int, num_steps: int) -> bool:
    """Whether its row or its step does not exist."""
    if isinstance(intervention, ForcedToken):
        return intervention.step >= num_steps
    if isinstance(intervention, AttentionRow):
        return intervention.row >= (
            source_length if intervention.head.kind == "encoder" else num_steps
        )
    return False


SUBLAYERS = {
    "attention_residual": "self_attention",
    "self_residual": "self_attention",
    "cross_residual": "cross_attention",
    "feed_forward_residual": "feed_forward",
}


class NaiveModel:
    """The Transformer as a function of its parameters, of interventions on heads, networks and
    rows, and of hooks.

    Attributes:
        values: of the last calls, by the site as `Translator.trace` names it; those of single heads
            if `keeps_heads`, as a search does not need them at each step.
    """

    def __init__(
        self,
        translator: Translator,
        experiment: Experiment,
        hooks: Mapping[str, Hook] | None = None,
        *,
        keeps_heads: bool = False,
    ) -> None:
        self.hooks, self.keeps_heads = hooks or {}, keeps_heads
        self.config = translator.checkpoint.run.model
        self.parameters = {
            name: value.double() for name, value in translator.model.state_dict().items()
        }
        self.factors = {scaling.part: scaling.factor for scaling in experiment.scalings}
        self.temperatures = {
            temperature.head: temperature.temperature for temperature in experiment.temperatures
        }
        self.rows = experiment.attention_rows
        self.sees_future = experiment.lifts_mask
        self.values: dict[str, Tensor] = {}

    def hooked(self, name: str, output: Tensor) -> Tensor:
        """What leaves the module of this name."""
        return self.hooks[name](output) if name in self.hooks else output

    def encode(self, ids: list[int]) -> tuple[Tensor, Tensor]:
        """The encoder's output [S, D] and its maps [L, H, S, S]."""
        states, maps = self.embed("source_embedding", ids), []
        for layer in range(self.config.num_encoder_layers):
            name = f"encoder_layers.{layer}"

            def attend(
                read: Tensor, name: str = f"{name}.self_attention", layer: int = layer
            ) -> Tensor:
                output, weights = self.attention(name, "encoder", layer, read, read)
                maps.append(weights)
                return output

            states = self.sublayer(f"{name}.attention_residual", states, attend)
            transform = self.feed_forward(f"{name}.feed_forward", Network("encoder", layer))
            states = self.sublayer(f"{name}.feed_forward_residual", states, transform)
            states = self.hooked(name, states)
        return self.final_norm("encoder_norm", states), torch.stack(maps)

    def decode(self, ids: list[int], memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Logits [T, V] of the token after each of the ids, and the maps [L, H, T, T] and [L, H, T,
        S]."""
        states, self_maps, cross_maps = self.embed("target_embedding", ids), [], []
        for layer in range(self.config.num_decoder_layers):
            name = f"decoder_layers.{layer}"

            def attend_to_target(
                read: Tensor, name: str = f"{name}.self_attention", layer: int = layer
            ) -> Tensor:
                output, weights = self.attention(name, "decoder", layer, read, read)
                self_maps.append(weights)
                return output

            def attend_to_source(
                read: Tensor, name: str = f"{name}.cross_attention", layer: int = layer
            ) -> Tensor:
                output, weights = self.attention(name, "cross", layer, read, memory)
                cross_maps.append(weights)
                return output

            states = self.sublayer(f"{name}.self_residual", states, attend_to_target)
            states = self.sublayer(f"{name}.cross_residual", states, attend_to_source)
            transform = self.feed_forward(f"{name}.feed_forward", Network("decoder", layer))
            states = self.sublayer(f"{name}.feed_forward_residual", states, transform)
            states = self.hooked(name, states)
        hidden = self.final_norm("decoder_norm", states)
        logits = hidden @ self.parameters["output.weight"].T
        if self.config.output_bias:
            logits = logits + self.parameters["output.bias"]
        self.values["logits"] = logits = self.hooked("output", logits)
        return logits, torch.stack(self_maps), torch.stack(cross_maps)

    def attention(
        self, name: str, kind: str, layer: int, queries_of: Tensor, keys_of: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The mixed outputs of all heads [Q, D], and their weights [H, Q, M]."""
        width = self.config.width
        num_heads = self.config.num_heads if kind == "encoder" else self.config.decoder_heads
        head_width = width // num_heads
        weight, bias = (
            self.parameters[f"{name}.in_proj_weight"],
            self.parameters[f"{name}.in_proj_bias"],
        )

        def project(states: Tensor, which: int) -> tuple[Tensor, ...]:
            rows = slice(which * width, (which + 1) * width)
            return (states @ weight[rows].T + bias[rows]).split(head_width, dim=-1)

        projected = zip(
            project(queries_of, 0), project(keys_of, 1), project(keys_of, 2), strict=True
        )
        outputs, maps = [], []
        noted: dict[str, list[Tensor]] = {}
        for number, (queries, keys, values) in enumerate(projected):
            head = Head(kind, layer, number)
            scores = queries @ keys.T / math.sqrt(head_width) / self.temperatures.get(head, 1.0)
            if kind == "decoder" and not self.sees_future:
                is_later = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
                scores = scores.masked_fill(is_later, -math.inf)
            weights = scores.softmax(dim=-1)
            for row in self.rows:
                if row.head == head and row.row < len(weights):
                    weights[row.row] = 0
                    weights[row.row, : len(row.weights)] = torch.tensor(
                        row.weights, dtype=torch.float64
                    )
            outputs.append(weights @ values * self.factors.get(head, 1.0))
            maps.append(weights)
            if self.keeps_heads:
                columns = slice(number * head_width, (number + 1) * head_width)
                of_head = {
                    "query": queries,
                    "key": keys,
                    "value": values,
                    "score": scores,
                    "weight": weights,
                }
                of_head["head_output"] = (
                    outputs[-1] @ self.parameters[f"{name}.out_proj.weight"][:, columns].T
                )
                for value, of_value in of_head.items():
                    noted.setdefault(value, []).append(of_value)
        site = name.replace("_layers", "")
        self.values |= {
            f"{site}.{value}": torch.stack(of_heads) for value, of_heads in noted.items()
        }
        self.values[f"{site}.joined"] = torch.cat(outputs, dim=1)
        if kind == "cross":
            self.values[f"{site}.memory"] = keys_of
        mixed = torch.cat(outputs, dim=1) @ self.parameters[f"{name}.out_proj.weight"].T
        mixed = self.hooked(f"{name}.out_proj", mixed + self.parameters[f"{name}.out_proj.bias"])
        return self.hooked(name, mixed), torch.stack(maps)

    def feed_forward(self, name: str, network: Network) -> Callable[[Tensor], Tensor]:
        def transform(states: Tensor) -> Tensor:
            inner = (
                states @ self.parameters[f"{name}.expand.weight"].T
                + self.parameters[f"{name}.expand.bias"]
            )
            inner = self.hooked(f"{name}.expand", inner)
            inner = (
                inner / (1 + (-inner).exp())
                if self.config.activation == "swish"
                else inner.clamp(min=0)
            )
            output = (
                inner @ self.parameters[f"{name}.contract.weight"].T
                + self.parameters[f"{name}.contract.bias"]
            )
            return self.hooked(name, output) * self.factors.get(network, 1.0)

        return transform

    def sublayer(self, name: str, states: Tensor, transform: Callable[[Tensor], Tensor]) -> Tensor:
        """A sublayer with its residual connection."""
        is_pre = self.config.norm_position == "pre"
        read = self.norm(f"{name}.norm", states) if is_pre else states
        output = transform(read)
        summed = states + output
        after = self.hooked(name, summed if is_pre else self.norm(f"{name}.norm", summed))
        layer, _, residual = name.replace("_layers", "").rpartition(".")
        of_sublayer = {"before": states, "input": read, "output": output, "after": after}
        self.values |= {
            f"{layer}.{SUBLAYERS[residual]}.{value}": of_value
            for value, of_value in of_sublayer.items()
        }
        return after

    def final_norm(self, name: str, states: Tensor) -> Tensor:
        output = self.norm(name, states) if self.config.final_norm else states
        self.values[name.replace("_norm", ".output")] = output
        return output

    def norm(self, name: str, states: Tensor) -> Tensor:
        deviations = states - states.mean(dim=-1, keepdim=True)
        squares = (deviations**2).sum(dim=-1, keepdim=True)
        if self.config.norm_kind == "annotated":
            scaled = deviations / ((squares / (self.config.width - 1)).sqrt() + 1e-6)
        else:
            epsilon = 1e-6 if self.config.norm_kind == "torch-1e-6" else 1e-5
            scaled = deviations / (squares / self.config.width + epsilon).sqrt()
        return self.hooked(
            name, scaled * self.parameters[f"{name}.weight"] + self.parameters[f"{name}.bias"]
        )

    def embed(self, name: str, ids: list[int]) -> Tensor:
        """Vectors of tokens plus vectors of their positions, [N, D]."""
        side = "encoder" if name == "source_embedding" else "decoder"
        self.values[f"{side}.embedding"] = embedded = self.hooked(name, self.vectors(name, ids))
        return embedded

    def vectors(self, name: str, ids: list[int]) -> Tensor:
        scale = math.sqrt(self.config.width) if self.config.scale_embeddings else 1.0
        tokens = self.parameters[f"{name}.tokens.weight"][ids] * scale
        if self.config.positions == "learned":
            return tokens + self.parameters[f"{name}.positions"][: len(ids)]
        waves = torch.tensor(
            [self.wave(position) for position in range(len(ids))], dtype=torch.float64
        )
        return tokens + waves

    def wave(self, position: int) -> list[float]:
        """Vaswani et al. 2017, section 3.5."""
        angles = [
            position / 10000 ** (first / self.config.width)
            for first in range(0, self.config.width, 2)
        ]
        if self.config.positions == "sinusoidal-halves":
            return [*map(math.sin, angles), *map(math.cos, angles)]
        return [value for angle in angles for value in (math.sin(angle), math.cos(angle))]


class NaiveSearch:
    """Choosing tokens, with the whole decoder run again for each.

    Attributes:
        margin: see `NaiveResult`.
    """

    def __init__(
        self,
        translator: Translator,
        experiment: Experiment,
        model: NaiveModel,
        memory: Tensor,
        limit: int,
    ) -> None:
        self.rules = translator.rules
        ids_of_tokens = translator.checkpoint.codecs.target.vocabulary.ids
        self.forced = {token.step: ids_of_tokens[token.token] for token in experiment.forced}
        self.model, self.memory, self.limit = model, memory, limit
        self.margin = math.inf

    def log_probabilities_after(self, ids: list[int]) -> list[float]:
        """Of every token after the start token and these ids."""
        logits = self.model.decode([self.rules.start_id, *ids], self.memory)[0]
        return logits[-1].log_softmax(dim=-1).tolist()

    def choices_after(self, ids: list[int], num_tokens: int) -> list[int]:
        """The tokens that may be chosen next."""
        if len(ids) in self.forced:
            return [self.forced[len(ids)]]
        return [
            token for token in range(num_tokens) if token not in self.rules.forbidden_at(len(ids))
        ]

    def greedy(self) -> list[int]:
        """The most probable token at each step, unless another is forced."""
        ids: list[int] = []
        while len(ids) < self.limit and (not ids or ids[-1] != self.rules.end_id):
            values = self.log_probabilities_after(ids)
            ranked = sorted(
                self.choices_after(ids, len(values)), key=lambda token: (-values[token], token)
            )
            self.note_differences([values[token] for token in ranked[:2]])
            ids.append(ranked[0])
        return ids

    def beam(self, size: int, length_penalty: float) -> list[int]:
        """The definition in `core.translation.beam`, for one sentence."""

        def judged(score: float, num_tokens: int) -> float:
            return score / ((5 + num_tokens) / 6) ** length_penalty

        live: list[tuple[float, list[int]]] = [(0.0, [])]
        ended: list[tuple[float, list[int]]] = []
        while live:
            candidates = []
            for rank, (score, ids) in enumerate(live):
                values = self.log_probabilities_after(ids)
                candidates += [
                    (score + values[t], rank, t) for t in self.choices_after(ids, len(values))
                ]
            candidates.sort(key=lambda candidate: (-candidate[0], candidate[1], candidate[2]))
            self.note_differences([score for score, _, _ in candidates[: 2 * size + 1]])
            best = [
                (score, [*live[rank][1], token]) for score, rank, token in candidates[: 2 * size]
            ]
            ended += [
                (judged(score, len(ids)), ids)
                for score, ids in best[:size]
                if ids[-1] == self.rules.end_id
            ]
            live = [(score, ids) for score, ids in best if ids[-1] != self.rules.end_id][:size]
            if len(ended) >= size or not live or len(live[0][1]) >= self.limit:
                break
            if ended:
                best_ended, bound = max(score for score, _ in ended), judged(live[0][0], self.limit)
                self.note_differences(sorted([best_ended, bound], reverse=True))
                if best_ended >= bound:  # no live one could overtake it
                    break
        if not ended:
            return live[0][1]
        ranked = sorted(ended, key=lambda one: -one[0])
        self.note_differences([score for score, _ in ranked[:2]])
        return ranked[0][1]

    def note_differences(self, descending: list[float]) -> None:
        for larger, smaller in pairwise(descending):
            self.margin = min(self.margin, larger - smaller)
