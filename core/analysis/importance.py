"""The importance of each head: how much the loss on a sample rises with it switched off. Shape legend: `core.analysis`.

After Michel et al. 2019, "Are Sixteen Heads Really Better than One?", section 3, who count BLEU instead.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from augenmerk.core.corpora.batches import pad
from augenmerk.core.errors import AnalysisError, TextError
from augenmerk.core.inference.compiled import Model, plain_form
from augenmerk.core.model.heads import Head
from augenmerk.core.model.interventions import all_heads, attentions_of, compile_head_factors
from augenmerk.core.model.transformer import Encoding, require_finite
from augenmerk.core.translation.decoding import batches_by_length
from augenmerk.core.translation.experiment import HeadScaled
from augenmerk.core.translation.result import MAP_KINDS, FloatArray, MapKind, read_only
from augenmerk.core.translation.translator import Translator
from augenmerk.core.translation.typed_text import encode_source, encode_target

BATCH_SIZE = 16
"""Sentences per batch: few, for little padding and small logits; 64 take half as long again."""


@dataclass(frozen=True, eq=False)
class HeadImportance:
    """How much worse a model predicts a sample without each of its heads.

    Attributes:
        loss: the whole model's mean cross-entropy, in nats per target token, including the end token; NaN if stopped
            before.
        encoder, decoder, cross: [L, H], the loss with this head off minus `loss`, in nats per token: above 0 if the
            head helps; NaN for heads not reached before stopping.
        num_sentences, num_tokens: of the sample.
        num_skipped: pairs that the model refused.
        is_complete: whether every head was reached.
        scalings: heads that were scaled or off.
    """

    loss: float
    encoder: FloatArray
    decoder: FloatArray
    cross: FloatArray
    num_sentences: int
    num_tokens: int
    num_skipped: int
    is_complete: bool
    scalings: tuple[HeadScaled, ...] = ()

    def __post_init__(self) -> None:
        for kind in MAP_KINDS:
            read_only(self.of_kind(kind))

    def of_kind(self, kind: MapKind) -> FloatArray:
        """[L, H] of one kind."""
        return {"encoder": self.encoder, "decoder": self.decoder, "cross": self.cross}[kind]

    @property
    def largest(self) -> float:
        """The largest absolute change: the end of a symmetric colour scale."""
        return max(float(np.nanmax(np.abs(self.of_kind(kind)), initial=0.0)) for kind in MAP_KINDS)

    def joined(self, other: "HeadImportance") -> "HeadImportance":
        """Two samples, read with the same scalings, as one: means weighted by tokens."""
        total = max(1, self.num_tokens + other.num_tokens)
        mine, theirs = self.num_tokens / total, other.num_tokens / total

        def mean(kind: MapKind) -> FloatArray:
            return (mine * self.of_kind(kind) + theirs * other.of_kind(kind)).astype(np.float32)

        return HeadImportance(
            loss=mine * self.loss + theirs * other.loss,
            encoder=mean("encoder"),
            decoder=mean("decoder"),
            cross=mean("cross"),
            num_sentences=self.num_sentences + other.num_sentences,
            num_tokens=self.num_tokens + other.num_tokens,
            num_skipped=self.num_skipped + other.num_skipped,
            is_complete=self.is_complete and other.is_complete,
            scalings=self.scalings,
        )

    def ranked(self) -> list[tuple[Head, float]]:
        """The finished heads with their importance, the most important first."""
        found = [
            (Head(kind, int(layer), int(head)), float(self.of_kind(kind)[layer, head]))
            for kind in MAP_KINDS
            for layer, head in np.argwhere(np.isfinite(self.of_kind(kind)))
        ]
        return sorted(found, key=lambda item: -item[1])


@dataclass(frozen=True, eq=False)
class _Batch:
    """Padded ids: [B, S] of the sources, [B, T] read and predicted; and the whole model's encoding of the sources."""

    source: Tensor
    read: Tensor
    predicted: Tensor
    encoding: Encoding


@torch.inference_mode()
def head_importance(
    translator: Translator,
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    scalings: Sequence[HeadScaled] = (),
    begun: HeadImportance | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> HeadImportance:
    """Read a sample by teacher forcing, once with the whole model and once with each head off.

    Sources are encoded again only for encoder heads. Not thread-safe with other uses of the model.

    Args:
        translator: whose model is looked at.
        sources, targets: sentence pairs as plain text. Pairs that the model refuses are skipped.
        scalings: heads that are scaled or off in all passes.
        begun: an incomplete result for the same pairs and scalings, which is completed.
        on_progress: called with the number of finished heads and their total.
        should_stop: checked before each batch; unfinished heads stay NaN.

    Raises:
        AnalysisError: no pair could be read, or the two sides differ in length.
    """
    model = translator.current_model()
    pairs = _encode_pairs(translator, sources, targets)
    factors = {scaling.head: scaling.factor for scaling in scalings}
    batches = _batches(translator, model, pairs, factors)
    num_tokens = sum(len(predicted) for _, predicted in pairs)
    increase = {
        kind: np.full((len(layers), layers[0].num_heads), np.nan, dtype=np.float32)
        for kind, layers in attentions_of(translator.model).items()
    }
    heads, loss = all_heads(translator.model), math.nan
    if begun is not None:
        loss, increase = begun.loss, {kind: begun.of_kind(kind).copy() for kind in increase}
    left = [head for head in heads if np.isnan(increase[head.kind][head.layer, head.head])]
    done = len(heads) - len(left)
    with suppress(_StoppedError):
        if math.isnan(loss):
            loss = _loss(model, batches, factors, None, should_stop) / num_tokens
        on_progress(done, len(heads))
        for head in left:
            without = _loss(model, batches, factors, head, should_stop) / num_tokens
            increase[head.kind][head.layer, head.head] = without - loss
            done += 1
            on_progress(done, len(heads))
    return HeadImportance(
        loss=loss,
        **increase,
        num_sentences=len(pairs),
        num_tokens=num_tokens,
        num_skipped=len(sources) - len(pairs),
        is_complete=done == len(heads),
        scalings=tuple(scalings),
    )


class _StoppedError(Exception):
    """Raised to stop the computation."""


def _loss(
    model: Model,
    batches: Sequence[_Batch],
    factors: Mapping[Head, float],
    off: Head | None,
    should_stop: Callable[[], bool],
) -> float:
    """Cross-entropy in nats, summed over all real tokens, with one more head off. For one of the encoder, sources are
    encoded anew.
    """
    total, plain = 0.0, plain_form(model)
    for batch in batches:
        if should_stop():
            raise _StoppedError
        encoding = batch.encoding
        if off is not None:
            interventions = compile_head_factors(plain, {**factors, off: 0.0}, len(batch.source))
            if off.kind == "encoder":
                encoding = model.encode(batch.source, interventions=interventions)
            else:
                encoding = encoding.with_interventions(interventions)
        logits = model.decode(encoding, batch.read).logits
        require_finite(plain, encoding, batch.read, logits)
        total += float(
            functional.cross_entropy(
                logits.flatten(0, 1).float(), batch.predicted.flatten(), ignore_index=plain.padding_id, reduction="sum"
            )
        )
    return total


def _encode_pairs(
    translator: Translator, sources: Sequence[str], targets: Sequence[str]
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The ids of the pairs that the model accepts."""
    if len(sources) != len(targets):
        raise AnalysisError(
            f"There are {len(sources)} sentences and {len(targets)} translations. Pass one translation per sentence."
        )
    codecs, pairs = translator.checkpoint.codecs, []
    for source, target in zip(sources, targets, strict=True):
        try:
            found = encode_source(source, codecs.source, translator.run_config)
            pairs.append((found.ids, encode_target(target, codecs.target, translator.run_config).ids))
        except TextError:
            continue
    if not pairs:
        raise AnalysisError(f"Not one of {len(sources)} sentence pairs could be read. Choose another sample.")
    return pairs


def _batches(
    translator: Translator,
    model: Model,
    pairs: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
    factors: Mapping[Head, float],
) -> list[_Batch]:
    plain, device = translator.model, translator.device.name
    start_id = translator.checkpoint.codecs.target.vocabulary.start_id
    batches = []
    for group in batches_by_length([len(predicted) for _, predicted in pairs], BATCH_SIZE):
        source = pad([pairs[index][0] for index in group], plain.padding_id).to(device)
        predicted = [pairs[index][1] for index in group]
        read = pad([(start_id, *ids[:-1]) for ids in predicted], plain.padding_id).to(device)
        encoding = model.encode(source, interventions=compile_head_factors(plain, factors, len(source)))
        batches.append(_Batch(source, read, pad(predicted, plain.padding_id).to(device), encoding))
    return batches
