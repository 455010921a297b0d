"""The parts of each word's logit: direct logit attribution. Shape legend: `core.analysis`.

The vector at a position of the decoder is a sum: the embedding of the token that is read and its position, the output
of every head of self- and cross-attention, the outputs of the feed-forward networks, and biases. Norms are linear maps
once their deviation is known, and a logit is a dot product with that vector. So every logit is a sum with one part for
each of these (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"). A constant added to all logits
changes no probability. Therefore two tokens are compared: the predicted one and its rival, the next most probable one.

A part is the *direct* effect alone. Later layers also read a head's output; that effect is among their parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from augenmerk.core.analysis.capture import AttentionPass, SublayerPass, bias_of, linear_norm, trace_sublayers
from augenmerk.core.errors import NonFiniteError
from augenmerk.core.model.interventions import Interventions
from augenmerk.core.model.transformer import Transformer, is_finite
from augenmerk.core.translation.compilation import interventions_of
from augenmerk.core.translation.decoding import DecodingRules
from augenmerk.core.translation.result import Alternative, FloatArray, ReadOnlyArrays, Translation, read_only
from augenmerk.core.translation.translator import Translator


@dataclass(frozen=True, eq=False)
class LogitParts(ReadOnlyArrays):
    """For each step of one translation: the predicted token's logit − its rival's, and the parts of the difference.

    Attributes:
        translation: the translation with these T steps.
        rivals: for each step, the most probable token other than the predicted one.
        differences: [T], in nats: the logarithm of the ratio of both probabilities; positive if the predicted token is
            more probable.
        embedding: [T], from the token that is read and its position.
        decoder, cross: [L, H, T], from the heads of self-attention and of cross-attention.
        feed_forward: [L, T], from the feed-forward networks.
        bias: [T], from the biases after heads, of norms and of the output layer.
    """

    translation: Translation
    rivals: tuple[Alternative, ...]
    differences: FloatArray
    embedding: FloatArray
    decoder: FloatArray
    cross: FloatArray
    feed_forward: FloatArray
    bias: FloatArray

    def of_kind(self, kind: Literal["decoder", "cross"]) -> FloatArray:
        """The parts of the heads of one kind, [L, H, T]."""
        return self.decoder if kind == "decoder" else self.cross


@dataclass(frozen=True, eq=False)
class ResidualParts:
    """The parts of the decoder's output at every position, in double precision; their sum is the output.

    Attributes:
        embedding: [T, D].
        decoder, cross: [L, H, T, D].
        feed_forward: [L, T, D].
        bias: [T, D].
        hidden: [T, D], the decoder's output before the output layer; the sum of all parts.
    """

    embedding: Tensor
    decoder: Tensor
    cross: Tensor
    feed_forward: Tensor
    bias: Tensor
    hidden: Tensor


def logit_parts(translator: Translator, translation: Translation) -> LogitParts:
    """Direct logit attribution of each predicted token against its rival. Takes one more pass over the pair.

    The translation's experiment applies. Not thread-safe with other uses of the model.

    Args:
        translator: provides the model.
        translation: by this model, written by the user, or by a model with the same vocabularies.

    Raises:
        AnalysisError: the experiment changes a head that this model lacks.
    """
    model = translator.model
    interventions = interventions_of(model, translation.experiment)
    parts = residual_parts(model, translation.source_ids, translation.read_ids, interventions)
    with torch.inference_mode():
        logits = functional.linear(parts.hidden, model.output.weight.double(), _output_bias(model))
        predicted = torch.tensor(translation.predicted_ids, device=logits.device)
        rivals = _rivals(logits, predicted, translator.rules)
        directions = (model.output.weight[predicted] - model.output.weight[rivals]).double()  # [T, D]

        def along(vectors: Tensor) -> FloatArray:
            return _array((vectors * directions).sum(dim=-1))

        steps = torch.arange(len(predicted), device=logits.device)
        output_bias = _output_bias(model)
        bias = (parts.bias * directions).sum(dim=-1) + output_bias[predicted] - output_bias[rivals]
        chances = logits.log_softmax(dim=-1)[steps, rivals].tolist()
        target = translator.checkpoint.codecs.target
        return LogitParts(
            translation,
            tuple(
                Alternative(target.labels[rival], chance, target.vocabulary.tokens[rival])
                for rival, chance in zip(rivals.tolist(), chances, strict=True)
            ),
            _array(logits[steps, predicted] - logits[steps, rivals]),
            along(parts.embedding),
            along(parts.decoder),
            along(parts.cross),
            along(parts.feed_forward),
            _array(bias),
        )


@torch.inference_mode()
def residual_parts(
    model: Transformer,
    source_ids: Sequence[int],
    read_ids: Sequence[int],
    interventions: Interventions | None = None,
) -> ResidualParts:
    """The parts of the decoder's output for one pair of ids.

    Args:
        model: in evaluation mode.
        source_ids, read_ids: S and T ids, without padding.
        interventions: for one sentence.
    """
    stream = _Stream()
    _, hidden = trace_sublayers(model, source_ids, read_ids, stream.add, interventions)
    norm, whole = model.decoder_norm, stream.states
    parts = linear_norm(norm, stream.parts, whole)
    bias = linear_norm(norm, stream.bias, whole) + bias_of(norm).to(whole.device)
    num_heads = model.config.decoder_heads
    by_layer = parts[1:].unflatten(0, (len(model.decoder_layers), 2 * num_heads + 1))
    return ResidualParts(
        parts[0], by_layer[:, :num_heads], by_layer[:, num_heads:-1], by_layer[:, -1], bias, hidden.double()
    )


class _Stream:
    """The vectors of all positions on their way through the decoder, and their parts.

    Attributes:
        states: [T, D], the model's own vectors, in double precision.
        parts: [N, T, D]: the embedding, then the output of every sublayer, one part per head.
        bias: [T, D].
    """

    states: Tensor
    parts: Tensor
    bias: Tensor

    def __init__(self) -> None:
        self._is_in_decoder = False

    def add(self, sublayer: SublayerPass) -> None:
        """Adds the output of a decoder sublayer; ignores those of the encoder."""
        attention = sublayer.attention
        if not self._is_in_decoder:
            if attention is None or attention.kind != "decoder":
                return
            self._is_in_decoder = True
            self.parts = sublayer.states.double()
            self.bias = torch.zeros_like(self.parts[0])
        if attention is None:
            parts = sublayer.added[0].double()[None]
        else:
            parts = _parts_of_heads(attention)
            self.bias = self.bias + attention.module.out_proj.bias.double()
        self.parts = torch.cat([self.parts, parts])
        norm = sublayer.residual.norm
        if not sublayer.residual.is_pre:
            summed = (sublayer.states + sublayer.added)[0].double()
            self.parts = linear_norm(norm, self.parts, summed)
            self.bias = linear_norm(norm, self.bias, summed) + bias_of(norm)
        self.states = sublayer.output[0].double()


def _parts_of_heads(attention: AttentionPass) -> Tensor:
    """The output of each head: [H, T, D]. The bias added after them belongs to none."""
    module, changes = attention.module, attention.changes
    weight, bias = module.in_proj_weight.chunk(3)[2], module.in_proj_bias.chunk(3)[2]
    memory = attention.queries_of if attention.memory is None else attention.memory
    by_head = functional.linear(memory[0], weight, bias).unflatten(1, (module.num_heads, -1)).transpose(0, 1)
    mixed = attention.maps[0].double() @ by_head.double()  # [H, T, K]
    if changes is not None:
        mixed = changes.scaled(mixed[None])[0].double()
    return mixed @ module.out_proj.weight.double().t().unflatten(0, (module.num_heads, -1))


def _rivals(logits: Tensor, predicted: Tensor, rules: DecodingRules) -> Tensor:
    """The most probable allowed token other than the predicted one: [T]."""
    allowed = logits.clone()
    for step in range(len(allowed)):
        allowed[step, list(rules.forbidden_at(step))] = float("-inf")
    allowed[torch.arange(len(predicted), device=logits.device), predicted] = float("-inf")
    return allowed.argmax(dim=-1)


def _output_bias(model: Transformer) -> Tensor:
    """The bias of the output layer: [V]; zeros if the model has none."""
    bias = model.output.bias
    return (torch.zeros_like(model.output.weight[:, 0]) if bias is None else bias).double()


def _array(values: Tensor) -> FloatArray:
    if not is_finite(values.float()):
        raise NonFiniteError("the parts of the logits")
    return read_only(values.cpu().numpy().astype(np.float32))
