"""The jobs of chapters for the model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from augenmerk.core.extensions.analyses.parts_of_words import WordParts
from augenmerk.core.model.heads import ATTENTION_KINDS, Head, Network, networks_of
from augenmerk.core.translation.experiment import Beam, Experiment, FeedForwardScaled, HeadScaled
from augenmerk.core.translation.result import FloatArray, Translation, read_only

from ...state.head_roles import clarity
from ...worker.jobs import Job, JobScope, OpenTranslator, ShouldStop, Tell, TranslationJob

if TYPE_CHECKING:  # torch belongs to the worker thread
    from augenmerk.core.extensions.analyses.beam_tree import BeamTree

NUM_POSITIONS, NUM_SMALL_DIMENSIONS = 100, 20
SMOOTHING = 0.1
MAX_ODDS = 100


@dataclass(frozen=True)
class RunJob(Job):
    """The results of some experiments, in their order."""

    experiments: Sequence[Experiment]

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> tuple[Translation, ...]:
        """See `Job.run`."""
        return tuple(
            translator.run_many(map(translator.compile, self.experiments), should_stop=should_stop)
        )


class LogitPartsJob(TranslationJob):
    """The parts of each word's logit."""

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> tuple[WordParts, ...]:
        """See `Job.run`."""
        from augenmerk.core.extensions.analyses.logit_attribution import logit_parts

        return logit_parts(translator, self.translation)


@dataclass(frozen=True)
class HeadPoint:
    """The clarity and the importance of a head.

    Attributes:
        head: the head.
        clarity: of its map in this sentence, from 0 to 1.
        effect: the log-probability of the translation without the head minus the one with it, in
            nats; below 0 if the head helps.
    """

    head: Head
    clarity: float
    effect: float


class HeadPointsJob(TranslationJob):
    """A point for each head.

    Its effect is measured with the head off and the same tokens (Michel et al. 2019).
    """

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> tuple[HeadPoint, ...]:
        """See `Job.run`."""
        from augenmerk.core.model.heads import heads_of

        heads = heads_of(translator.model.config)
        whole = self.translation
        off = [whole.experiment.with_interventions(HeadScaled(head)) for head in heads]
        scores = translator.score_many(
            whole, list(map(translator.compile, off)), should_stop=should_stop
        )
        clear = {kind: clarity(whole.maps.of_kind(kind)) for kind in ATTENTION_KINDS}
        effects = (sum(log_probabilities) - whole.log_probability for log_probabilities in scores)
        return tuple(
            HeadPoint(head, float(clear[head.kind][head.layer, head.head]), effect)
            for head, effect in zip(heads, effects, strict=True)
        )


NUM_PADDING = 4


class PaddingJob(TranslationJob):
    """[2, S + 4], the attention of all heads of the encoder to the sentence with `<pad>` after it,
    with the padding mask and without: means over heads and over the queries of the sentence.
    """

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> FloatArray:
        """See `Job.run`."""
        import torch

        from augenmerk.core.padding import pad

        model, num_source = translator.model, len(self.translation.source_ids)
        source = pad([self.translation.source_ids], model.padding_id, num_source + NUM_PADDING)
        source = source.to(model.output.weight.device)
        shares = []
        with torch.inference_mode():
            for mask in (model.source_mask(source), None):
                states, layers = model.source_embedding(source), []
                for layer in model.encoder_layers:
                    states, maps = layer(states, mask, need_maps=True)  # maps: [1, H, S, S]
                    layers.append(maps[0, :, :num_source].mean(dim=(0, 1)))
                shares.append(torch.stack(layers).mean(dim=0).float().cpu())
        return read_only(torch.stack(shares).numpy())


@dataclass(frozen=True)
class NetworksOffJob(Job):
    """A translation with each feed-forward network off in turn.

    Attributes:
        given: the sentence with a given translation, so that all results have the same tokens.
    """

    given: Experiment

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> dict[Network | None, Translation]:
        """The results by the network that is off; None: none is."""
        networks = (None, *networks_of(translator.model.config))
        changes = [() if network is None else (FeedForwardScaled(network),) for network in networks]
        experiments = [self.given.with_interventions(*change) for change in changes]
        compiled = map(translator.compile, experiments)
        translations = translator.run_many(compiled, need_maps=False, should_stop=should_stop)
        return dict(zip(networks, translations, strict=True))


@dataclass(frozen=True)
class BeamTreeJob(Job):
    """The tree of a beam search."""

    source_text: str
    beam: Beam

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> "BeamTree":
        """See `Job.run`."""
        from augenmerk.core.extensions.analyses.beam_tree import beam_tree

        return beam_tree(translator, self.source_text, self.beam)


@dataclass(frozen=True)
class PositionsJob(Job):
    """Vectors of positions: [100, 20] sinusoidal ones, and [at most 100, D] those of the model's
    source side.
    """

    scope: ClassVar[JobScope] = "model"

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> tuple[FloatArray, FloatArray]:
        """See `Job.run`."""
        from augenmerk.core.model.layers import sinusoidal_table

        own = translator.model.source_embedding.positions[:NUM_POSITIONS]
        small = sinusoidal_table(NUM_POSITIONS, NUM_SMALL_DIMENSIONS)
        return read_only(small.numpy()), read_only(own.detach().cpu().float().numpy().copy())


@dataclass(frozen=True, eq=False)
class Smoothing:
    """Label smoothing on a vocabulary of five: the first is padding, the third the right word.

    Attributes:
        target: [5], the distribution that the loss compares with.
        odds: [N], how much more probable than each of the others the right word is made.
        smoothed_loss: [N], the Kullback–Leibler divergence from the smoothed target.
        plain_loss: [N], that from the plain target.
    """

    target: FloatArray
    odds: NDArray[np.float64]
    smoothed_loss: NDArray[np.float64]
    plain_loss: NDArray[np.float64]


@dataclass(frozen=True)
class SmoothingJob(Job):
    """The curve of The Annotated Transformer: the loss of an over-confident model."""

    scope: ClassVar[JobScope] = "model"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> Smoothing:
        """See `Job.run`."""
        from augenmerk.core.extensions.training.loss import smoothed_distribution

        target, plain = (
            smoothed_distribution(2, 5, smoothing, 0).numpy() for smoothing in (SMOOTHING, 0.0)
        )
        odds = np.linspace(1, MAX_ODDS, 400)
        losses = [
            _divergences(distribution.astype(np.float64), odds) for distribution in (target, plain)
        ]
        return Smoothing(read_only(target), odds, *losses)


def _divergences(target: NDArray[np.float64], odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ t · log(t / p) for each of the odds, 0 · log 0 being 0; padding is never predicted."""
    other = 1 / (odds + 3)
    predicted = np.stack([np.zeros_like(odds), other, odds * other, other, other], axis=-1)
    asked = target > 0
    return np.asarray((target[asked] * np.log(target[asked] / predicted[:, asked])).sum(axis=-1))
