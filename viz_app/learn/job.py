"""The jobs of chapters for the model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Beam, Experiment, HeadScaled
from augenmerk.core.translation.result import FloatArray, Translation, read_only
from augenmerk.viz_app.worker.inference import JobScope, OpenTranslator, ShouldStop, Tell

if TYPE_CHECKING:  # torch belongs to the worker thread
    from augenmerk.core.analysis.beam_tree import BeamTree
    from augenmerk.core.analysis.logit_attribution import LogitParts
    from augenmerk.core.analysis.logit_lens import LogitLens

NUM_POSITIONS, NUM_SMALL_DIMENSIONS = 100, 20
SMOOTHING, MAX_ODDS = 0.1, 100


@dataclass(frozen=True, eq=False)
class RunJob:
    """The results of some experiments, in their order."""

    experiments: Sequence[Experiment]
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> tuple[Translation, ...]:
        """See `Job.run`."""
        return tuple(translator.run_many(self.experiments, should_stop=should_stop))


@dataclass(frozen=True, eq=False)
class LensJob:
    """The decoder's prediction after each layer."""

    translation: Translation
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> "LogitLens":
        """See `Job.run`."""
        from augenmerk.core.analysis.logit_lens import logit_lens

        return logit_lens(translator, self.translation)


@dataclass(frozen=True, eq=False)
class LogitPartsJob:
    """The parts of each word's logit."""

    translation: Translation
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> "LogitParts":
        """See `Job.run`."""
        from augenmerk.core.analysis.logit_attribution import logit_parts

        return logit_parts(translator, self.translation)


@dataclass(frozen=True, eq=False)
class BeamTreeJob:
    """The tree of a beam search."""

    source_text: str
    beam: Beam
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> "BeamTree":
        """See `Job.run`."""
        from augenmerk.core.analysis.beam_tree import beam_tree

        return beam_tree(translator, self.source_text, self.beam)


@dataclass(frozen=True, eq=False)
class HeadCosts:
    """The loss of a translation without each head.

    Attributes:
        translation: of the sentence with nothing changed.
        by_head: the log-probability that its tokens lose when the head is off; below 0 they gain.
    """

    translation: Translation
    by_head: Mapping[Head, float]


@dataclass(frozen=True, eq=False)
class HeadCostsJob:
    """Every head is switched off, one at a time; the same tokens are scored (Michel et al. 2019)."""

    translation: Translation
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> HeadCosts:
        """See `Job.run`."""
        from augenmerk.core.model.interventions import all_heads

        heads = all_heads(translator.model)
        off = [self.translation.experiment.with_interventions(HeadScaled(head)) for head in heads]
        scores = translator.score_many(self.translation, off, should_stop=should_stop)
        whole = self.translation.log_probability
        return HeadCosts(
            self.translation, {head: whole - sum(found) for head, found in zip(heads, scores, strict=True)}
        )


@dataclass(frozen=True, eq=False)
class PositionTables:
    """Vectors of positions.

    Attributes:
        small: [100, 20], sinusoidal.
        own: [at most 100, D], those of the model's source side.
    """

    small: FloatArray
    own: FloatArray


@dataclass(frozen=True, eq=False)
class PositionsJob:
    """The vectors that the model adds for positions."""

    scope: ClassVar[JobScope] = "model"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> PositionTables:
        """See `Job.run`."""
        from augenmerk.core.model.layers import sinusoidal_table

        own = translator.model.source_embedding.positions[:NUM_POSITIONS]
        small = sinusoidal_table(NUM_POSITIONS, NUM_SMALL_DIMENSIONS)
        return PositionTables(read_only(small.numpy()), read_only(own.detach().cpu().float().numpy().copy()))


@dataclass(frozen=True, eq=False)
class Smoothing:
    """Label smoothing on a vocabulary of five: the first is padding, the third the right word.

    Attributes:
        target: [5], the distribution that the loss compares with.
        odds: [N], how much more probable than each of the others the right word is made.
        smoothed_loss, plain_loss: [N], the Kullback–Leibler divergence from the smoothed and from the plain target.
    """

    target: FloatArray
    odds: NDArray[np.float64]
    smoothed_loss: NDArray[np.float64]
    plain_loss: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SmoothingJob:
    """The curve of The Annotated Transformer: the loss of an over-confident model."""

    scope: ClassVar[JobScope] = "model"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> Smoothing:
        """See `Job.run`."""
        from augenmerk.core.training.loss import smoothed_distribution

        target, plain = (smoothed_distribution(2, 5, smoothing, 0).numpy() for smoothing in (SMOOTHING, 0.0))
        odds = np.linspace(1, MAX_ODDS, 400)
        losses = [_divergences(each.astype(np.float64), odds) for each in (target, plain)]
        return Smoothing(read_only(target), odds, *losses)


def _divergences(target: NDArray[np.float64], odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ t · log(t / p) for each of the odds, 0 · log 0 being 0; padding is never predicted."""
    other = 1 / (odds + 3)
    predicted = np.stack([np.zeros_like(odds), other, odds * other, other, other], axis=-1)
    asked = target > 0
    return np.asarray((target[asked] * np.log(target[asked] / predicted[:, asked])).sum(axis=-1))
