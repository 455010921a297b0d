"""The scores of one system and the differences of two, as results. No torch."""

from dataclasses import dataclass

from ...conversions import Result
from ...quantities import counted
from ...short_repr import ShortRepr, shortened

MIN_SENTENCES = 50
"""Sentences from which intervals and p-values by bootstrap hold nearly what they promise.

Of 3,000 samples from a normal distribution, 24% of 3 sentences had a 95% interval that missed the
true mean, 10% of 10, 6% of 50 and 5% of 100. Of equal systems as many had p ≤ 0.05.
"""


def few_sentences(num_sentences: int) -> tuple[str, ...]:
    """The warning about a bootstrap of so few sentences; none if they are enough."""
    warning = (
        f"A bootstrap of {counted(num_sentences, 'sentence')} says little: 95% intervals of 3 "
        "sentences miss the true value in 24% of cases, of 10 sentences in 10%, and p is too small "
        f"as often. Use at least {MIN_SENTENCES} sentences, where it is 6%."
    )
    return () if num_sentences >= MIN_SENTENCES else (warning,)


@dataclass(frozen=True)
class CorpusScores(Result):
    """Scores from 0 to 100.

    Attributes:
        sentences: pairs scored. The notes of their hypotheses tell those that were cut or refused.
        bleu_tokenized_lowercased: BLEU-4 as in pytorch-seq2seq: spaCy tokens, lower-cased,
            `torchtext.data.metrics.bleu_score`; references are not passed through the vocabulary.
            White space does not count as a word.
        bleu_tokenized_lowercased_interval: its 95% interval: percentiles of 1,000 bootstrap
            resamples of the sentences, fixed seed.
        sacrebleu: BLEU of cased, detokenized text by sacreBLEU.
        sacrebleu_interval: its 95% interval by sacreBLEU's own bootstrap: mean of 1,000 resamples,
            less and plus the half width, from 0 to 100.
        sacrebleu_signature: sacreBLEU's description of its method.
        chrf: chrF2 of the same text, by sacreBLEU.
        chrf_interval: its 95% interval, as that of `bleu_tokenized_lowercased`.
        seconds: wall time of translating.
    """

    sentences: int
    bleu_tokenized_lowercased: float
    bleu_tokenized_lowercased_interval: tuple[float, float]
    sacrebleu: float
    sacrebleu_interval: tuple[float, float]
    sacrebleu_signature: str
    chrf: float
    chrf_interval: tuple[float, float]
    seconds: float

    def __repr__(self) -> str:
        scores = ", ".join(
            f"{name}={score:.2f} ({low:.2f} to {high:.2f})"
            for name, score, (low, high) in self.metrics
        )
        return shortened(f"CorpusScores(sentences={self.sentences}, {scores})")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why the intervals say little; empty if nothing is wrong with them."""
        return few_sentences(self.sentences)

    @property
    def metrics(self) -> tuple[tuple[str, float, tuple[float, float]], ...]:
        """The name of each score, the score and its interval."""
        names = ("bleu_tokenized_lowercased", "sacrebleu", "chrf")
        return tuple(
            (name, getattr(self, name), getattr(self, f"{name}_interval")) for name in names
        )


@dataclass(frozen=True)
class ScoreDifference(Result):
    """One score of two systems, from 0 to 100.

    Attributes:
        metric: its name.
        signature: sacreBLEU's description of its method; empty for the score of spaCy's tokens.
        first: of the first system.
        second: of the second system.
        difference: second minus first.
        interval: the 95% interval of the difference: percentiles of 1,000 resamples.
        p_value: the probability of a difference at least as large, in either direction, between two
            systems that are equally good. At least 1 / 1,001.
    """

    metric: str
    signature: str
    first: float
    second: float
    difference: float
    interval: tuple[float, float]
    p_value: float

    def __repr__(self) -> str:
        low, high = self.interval
        return shortened(
            f"ScoreDifference(metric={self.metric!r}, first={self.first:.2f}, "
            f"second={self.second:.2f}, difference={self.difference:+.2f}, "
            f"interval=({low:+.2f}, {high:+.2f}), p_value={self.p_value:.3f})"
        )


@dataclass(frozen=True)
class SentenceDifference(ShortRepr):
    """One sentence that two systems translate differently.

    Attributes:
        index: of the sentence, from 0.
        first: translation by the first system.
        second: translation by the second system.
        chrf_difference: chrF of the second minus that of the first, of this sentence alone.
    """

    index: int
    first: str
    second: str
    chrf_difference: float


@dataclass(frozen=True)
class SystemComparison(Result):
    """The comparison of two systems.

    Attributes:
        num_sentences: sentences that both translate.
        num_different: sentences with two different translations.
        scores: one for each metric.
        most_different: at most ten of the different sentences, the largest differences in chrF
            first.
    """

    num_sentences: int
    num_different: int
    scores: tuple[ScoreDifference, ...]
    most_different: tuple[SentenceDifference, ...]

    def __repr__(self) -> str:
        scores = ", ".join(
            f"{score.metric.partition(',')[0]} {score.first:.2f} → {score.second:.2f} "
            f"(p = {score.p_value:.3f})"
            for score in self.scores
        )
        counts = f"num_sentences={self.num_sentences}, num_different={self.num_different}"
        return shortened(f"SystemComparison({counts}, scores: {scores})")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why the numbers say little; empty if nothing is wrong with them."""
        return few_sentences(self.num_sentences)
