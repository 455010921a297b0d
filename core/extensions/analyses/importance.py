"""The importance of each head and feed-forward network: the effect of switching it off on a loss or
a metric.

An effect is the value after a change minus the value before it. After Michel et al. 2019, "Are
Sixteen Heads Really Better than One?", section 3, who count BLEU instead. Shape legend:
`core.maps`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ...arguments import checks_arguments
from ...conversions import Result
from ...errors import AnalysisError
from ...inference.compiled import Model, plain_form
from ...model.heads import AttentionKind, Head, Network, Side, heads_of, networks_of
from ...model.non_finite import require_finite
from ...model.outputs import Encoding
from ...padding import pad
from ...translation.compilation import compile_general
from ...translation.decoding import batches_by_length
from ...translation.experiment import Experiment, General, GivenTarget, scaling
from ...translation.result import FloatArray
from ...translation.translator import Translator
from ..note_summaries import summaries
from .samples import require_translations

BATCH_SIZE = 16
"""Sentences per batch: few, for little padding and small logits; 64 take half as long again."""


@checks_arguments
@dataclass(frozen=True, eq=False)
class HeadImportance(Result):
    """The effects on a model's value on a sample of switching off each of its heads and
    feed-forward networks.

    Attributes:
        before: the value of the whole model, in nats. Of `head_importance`, the loss: the mean
            cross-entropy per target token, including the end token. Of `pairs_importance`, the mean
            log P(word) − log P(foil).
        effects: for each head and network, the value with it off minus `before`. If it helps, a
            loss rises (above 0) and a difference falls (below 0).
        num_sentences: sentences in the sample.
        num_tokens: tokens in the sample.
        num_skipped: pairs that the model refused.
        changes: heads and networks that were changed.
        model_digest: of the model.
        notes: notes for the reader on the sentences, see `summaries`.
    """

    before: float
    effects: Mapping[Head | Network, float]
    num_sentences: int
    num_tokens: int
    num_skipped: int
    changes: tuple[General, ...] = ()
    model_digest: str = ""
    notes: tuple[str, ...] = ()

    def of_kind(self, kind: AttentionKind) -> FloatArray:
        """The effects of the heads of one kind, [L, H]."""
        effects = {
            part: value
            for part, value in self.effects.items()
            if isinstance(part, Head) and part.kind == kind
        }
        num_layers = len({head.layer for head in effects})
        return np.array(list(effects.values()), dtype=np.float32).reshape(num_layers, -1)

    def of_networks(self, side: Side) -> FloatArray:
        """The effects of the feed-forward networks of one side, [L]."""
        networks = [
            part for part in self.effects if isinstance(part, Network) and part.side == side
        ]
        return np.array([self.effects[network] for network in networks], dtype=np.float32)

    def of(self, part: Head | Network) -> float:
        """The effect of switching off one head or network.

        Raises `AnalysisError` if the model has no such part.
        """
        if part not in self.effects:
            raise AnalysisError(
                "The model has no {part}. Choose one of its heads and networks.", part=part
            )
        return self.effects[part]

    @property
    def largest(self) -> float:
        """The largest absolute effect of a head: the end of a symmetric colour scale.

        A network can exceed it: without the first of the decoder, the bundled model loses 20 times
        as much.
        """
        return max(abs(value) for part, value in self.effects.items() if isinstance(part, Head))


@checks_arguments
def head_importance(
    translator: Translator,
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    changes: Sequence[General] = (),
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> HeadImportance:
    """The effect on the loss of a sample of switching off each head and feed-forward network: above
    0 if it helps.

    The sample is read by teacher forcing.

    Args:
        translator: provides the model.
        sources, targets: sentence pairs as plain text. Pairs that the model refuses are skipped.
        changes: heads and networks that are changed in all passes.
        on_progress: called with the number of finished passes over a batch and their total.

    Raises:
        AnalysisError: no pair could be read, the two sides differ in length, or the model lacks a
            changed head.
    """
    return last_importance(importance_by_pass(translator, sources, targets, changes), on_progress)


def last_importance(
    passes: Iterator[tuple[int, int, HeadImportance | None]],
    on_progress: Callable[[int, int], None],
) -> HeadImportance:
    """The importance after all passes; `on_progress` as in `head_importance`."""
    importance = None
    for done, total, latest in passes:
        on_progress(done, total)
        importance = latest
    assert importance is not None
    return importance


def importance_by_pass(
    translator: Translator,
    sources: Sequence[str],
    targets: Sequence[str],
    changes: Sequence[General] = (),
) -> Iterator[tuple[int, int, HeadImportance | None]]:
    """`head_importance` in steps, so that it can pause before every pass over a batch, and after
    the last.

    Yields:
        The number of finished passes, their total, and the importance over the batches read with
            every head off; None
        before the first of these.
    """
    pairs, notes = _encode_pairs(translator, sources, targets)
    yield from importance_of_targets(translator, pairs, changes, len(sources) - len(pairs), notes)


@dataclass(frozen=True)
class ScoredTarget:
    """A sentence and a target, whose negative log-probability is a part of the value to measure.

    Attributes:
        source: ids of the source.
        target: ids of the target.
        weight: the value is the sum of these terms, each times its weight, divided by the sum of
            `count`.
        count: see `weight`.
        start: the first position of the target that counts.
    """

    source: tuple[int, ...]
    target: tuple[int, ...]
    weight: int
    count: int
    start: int = 0


def importance_of_targets(
    translator: Translator,
    targets: Sequence[ScoredTarget],
    changes: Sequence[General],
    num_skipped: int = 0,
    notes: tuple[str, ...] = (),
) -> Iterator[tuple[int, int, HeadImportance | None]]:
    """`importance_by_pass` of encoded targets."""
    model = translator.current_model()
    plain = translator.model
    digest = translator.digest
    groups = list(batches_by_length([len(target.target) for target in targets], BATCH_SIZE))
    experiment = Experiment("", interventions=tuple(changes))
    parts: list[Head | Network] = [*heads_of(plain.config), *networks_of(plain.config)]
    importance: HeadImportance | None = None
    done = 0
    total = len(groups) * (len(parts) + 1)
    num_sentences = num_tokens = count = 0
    sums = np.zeros(len(parts) + 1)
    for group in groups:
        chosen = [targets[index] for index in group]
        batch = _read_batch(translator, model, chosen, experiment.general)
        losses: list[float] = []
        for part in (None, *parts):
            yield done, total, importance
            losses.append(_loss(model, batch, experiment, part))
            done += 1
        sums += losses
        num_sentences += len(group)
        num_tokens += sum(len(target.target) - target.start for target in chosen)
        count += sum(target.count for target in chosen)
        if not count:
            continue
        before, *after = (sums / count).tolist()
        effects = dict(
            zip(parts, (np.array(after) - before).astype(np.float32).tolist(), strict=True)
        )
        importance = HeadImportance(
            before, effects, num_sentences, num_tokens, num_skipped, tuple(changes), digest, notes
        )
    yield done, total, importance


@dataclass(frozen=True, eq=False)
class _Batch:
    """Padded ids and the whole model's encoding of the sources.

    Attributes:
        source: [B, S].
        read: [B, T].
        predicted: [B, T], with padding for positions that do not count.
        weights: [B].
        encoding: of the sources.
    """

    source: Tensor
    read: Tensor
    predicted: Tensor
    weights: Tensor
    encoding: Encoding


@torch.inference_mode()
def _read_batch(
    translator: Translator,
    model: Model,
    targets: Sequence[ScoredTarget],
    changes: Sequence[General],
) -> _Batch:
    plain = translator.model
    device = translator.device.name
    padding = plain.padding_id
    source = pad([target.source for target in targets], padding).to(device)
    read = pad([translator.rules.read_ids(target.target) for target in targets], padding).to(device)
    counted = [(*[padding] * target.start, *target.target[target.start :]) for target in targets]
    predicted = pad(counted, padding).to(device)
    weights = torch.tensor([float(target.weight) for target in targets], device=device)
    encoding = model.encode(source, interventions=compile_general(plain, changes, len(source)))
    return _Batch(source, read, predicted, weights, encoding)


@torch.inference_mode()
def _loss(model: Model, batch: _Batch, experiment: Experiment, off: Head | Network | None) -> float:
    """Cross-entropy in nats, summed over all tokens that count, with one more head or network off.

    The sources are encoded again if it is one of the encoder.
    """
    plain = plain_form(model)
    encoding = batch.encoding
    if off is not None:
        changes = experiment.with_interventions(scaling(off)).general
        interventions = compile_general(plain, changes, len(batch.source))
        if off.side == "encoder":
            encoding = model.encode(batch.source, interventions=interventions)
        else:
            encoding = encoding.with_interventions(interventions)
    logits = model.decode(encoding, batch.read).logits
    require_finite(plain, encoding, batch.read, logits)
    flat = logits.flatten(0, 1).float()
    predicted = batch.predicted.flatten()
    losses = functional.cross_entropy(
        flat, predicted, ignore_index=plain.padding_id, reduction="none"
    )
    return float(losses.view_as(batch.read).sum(dim=1) @ batch.weights)


def _encode_pairs(
    translator: Translator, sources: Sequence[str], targets: Sequence[str]
) -> tuple[list[ScoredTarget], tuple[str, ...]]:
    """The pairs that the model accepts, and the notes on all of them."""
    require_translations(sources, targets)
    pairs = []
    notes = []
    for source, target in zip(sources, targets, strict=True):
        compiled, notes_of_pair = translator.try_compile(Experiment(source, GivenTarget(target)))
        notes.append(notes_of_pair)
        if compiled is not None and compiled.given is not None:
            ids = compiled.given.ids
            pairs.append(ScoredTarget(compiled.source.ids, ids, weight=1, count=len(ids)))
    if not sources:
        raise AnalysisError("There is no sentence pair. Pass at least one.")
    if not pairs:
        raise AnalysisError(
            f"Not one of {len(sources)} sentence pairs could be read. The first: {notes[0][0].text}"
        )
    return pairs, summaries(notes)
