"""The importance of each head: how much the loss on a sample rises with it switched off. Shape legend: `core.analysis`.

After Michel et al. 2019, "Are Sixteen Heads Really Better than One?", section 3, who count BLEU instead.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from augenmerk.core.corpora.batches import pad
from augenmerk.core.errors import AnalysisError, TextError
from augenmerk.core.inference.compiled import Model, plain_form
from augenmerk.core.model.heads import Head, Network
from augenmerk.core.model.transformer import Encoding, all_heads, attentions_of, compile_factors, require_finite
from augenmerk.core.translation.decoding import batches_by_length
from augenmerk.core.translation.experiment import Scaling, factors_of
from augenmerk.core.translation.result import MAP_KINDS, FloatArray, MapKind, ReadOnlyArrays
from augenmerk.core.translation.translator import Translator
from augenmerk.core.translation.typed_text import encode_source, encode_target

BATCH_SIZE = 16
"""Sentences per batch: few, for little padding and small logits; 64 take half as long again."""


@dataclass(frozen=True, eq=False)
class HeadImportance(ReadOnlyArrays):
    """The rise of a model's loss on a sample without each of its heads.

    Attributes:
        loss: the whole model's mean cross-entropy, in nats per target token, including the end token.
        encoder, decoder, cross: [L, H], the loss with this head off minus `loss`, in nats per token: above 0 if the
            head helps.
        num_sentences, num_tokens: of the sample.
        num_skipped: pairs that the model refused.
        scalings: heads and networks that were scaled or off.
    """

    loss: float
    encoder: FloatArray
    decoder: FloatArray
    cross: FloatArray
    num_sentences: int
    num_tokens: int
    num_skipped: int
    scalings: tuple[Scaling, ...] = ()

    def of_kind(self, kind: MapKind) -> FloatArray:
        """[L, H] of one kind."""
        return {"encoder": self.encoder, "decoder": self.decoder, "cross": self.cross}[kind]

    @property
    def largest(self) -> float:
        """The largest absolute change: the end of a symmetric colour scale."""
        return max(float(np.abs(self.of_kind(kind)).max()) for kind in MAP_KINDS)


def head_importance(
    translator: Translator,
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    scalings: Sequence[Scaling] = (),
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> HeadImportance:
    """Read a sample by teacher forcing, with the whole model and with each head off.

    Args:
        translator: provides the model.
        sources, targets: sentence pairs as plain text. Pairs that the model refuses are skipped.
        scalings: heads and networks that are scaled or off in all passes.
        on_progress: called with the number of finished passes over a batch and their total.

    Raises:
        AnalysisError: no pair could be read, the two sides differ in length, or the model lacks a scaled head.
    """
    found = None
    for done, total, latest in importance_by_pass(translator, sources, targets, scalings):
        on_progress(done, total)
        found = latest
    assert found is not None
    return found


def importance_by_pass(
    translator: Translator, sources: Sequence[str], targets: Sequence[str], scalings: Sequence[Scaling] = ()
) -> Iterator[tuple[int, int, HeadImportance | None]]:
    """`head_importance` in steps, so that it can pause before every pass over a batch, and after the last.

    Yields:
        The number of finished passes, their total, and the importance over the batches read with every head off; None
        before the first of these.
    """
    model, plain = translator.current_model(), translator.model
    pairs = _encode_pairs(translator, sources, targets)
    groups = list(batches_by_length([len(predicted) for _, predicted in pairs], BATCH_SIZE))
    factors, heads = factors_of(scalings), all_heads(plain)
    done, total, found = 0, len(groups) * (len(heads) + 1), None
    num_sentences = num_tokens = 0
    loss, sums = 0.0, {kind: np.zeros((len(each), each[0].num_heads)) for kind, each in attentions_of(plain).items()}
    for group in groups:
        batch = _read_batch(translator, model, [pairs[index] for index in group], factors)
        losses: dict[Head | None, float] = {}
        for head in (None, *heads):
            yield done, total, found
            losses[head] = _loss(model, batch, factors, head)
            done += 1
        loss += losses[None]
        for head in heads:
            sums[head.kind][head.layer, head.head] += losses[head]
        num_sentences += len(group)
        num_tokens += sum(len(pairs[index][1]) for index in group)
        mean = loss / num_tokens
        found = HeadImportance(
            loss=mean,
            **{kind: (each / num_tokens - mean).astype(np.float32) for kind, each in sums.items()},
            num_sentences=num_sentences,
            num_tokens=num_tokens,
            num_skipped=len(sources) - len(pairs),
            scalings=tuple(scalings),
        )
    yield done, total, found


@dataclass(frozen=True, eq=False)
class _Batch:
    """Padded ids: [B, S] of the sources, [B, T] read and predicted; and the whole model's encoding of the sources."""

    source: Tensor
    read: Tensor
    predicted: Tensor
    encoding: Encoding


@torch.inference_mode()
def _read_batch(
    translator: Translator,
    model: Model,
    pairs: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
    factors: Mapping[Head | Network, float],
) -> _Batch:
    plain, device = translator.model, translator.device.name
    start_id = translator.checkpoint.codecs.target.vocabulary.start_id
    source = pad([source for source, _ in pairs], plain.padding_id).to(device)
    predicted = pad([predicted for _, predicted in pairs], plain.padding_id).to(device)
    read = pad([(start_id, *predicted[:-1]) for _, predicted in pairs], plain.padding_id).to(device)
    encoding = model.encode(source, interventions=compile_factors(plain, factors, len(source)))
    return _Batch(source, read, predicted, encoding)


@torch.inference_mode()
def _loss(model: Model, batch: _Batch, factors: Mapping[Head | Network, float], off: Head | None) -> float:
    """Cross-entropy in nats, summed over all real tokens, with one more head off.

    The sources are encoded again if the head is one of the encoder.
    """
    plain, encoding = plain_form(model), batch.encoding
    if off is not None:
        interventions = compile_factors(plain, {**factors, off: 0.0}, len(batch.source))
        if off.side == "encoder":
            encoding = model.encode(batch.source, interventions=interventions)
        else:
            encoding = encoding.with_interventions(interventions)
    logits = model.decode(encoding, batch.read).logits
    require_finite(plain, encoding, batch.read, logits)
    flat = logits.flatten(0, 1).float()
    return float(
        functional.cross_entropy(flat, batch.predicted.flatten(), ignore_index=plain.padding_id, reduction="sum")
    )


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
