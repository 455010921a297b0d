"""Two systems compared on the same sentences by paired bootstrap (Koehn 2004, W04-3250)."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...arguments import checks_arguments
from ...errors import CorpusError
from ...quantities import counted
from ...translation.running import Hypothesis
from .evaluation import (
    NUM_RESAMPLES,
    SEED,
    bleu_of,
    bleu_statistics,
    interval_95,
    lowered_words,
    reference_words,
    resampled_sums,
    score_by,
    statistics_by,
)
from .scores import ScoreDifference, SentenceDifference, SystemComparison

NUM_LISTED = 10
"""Sentences listed, at most."""
Score = Callable[[NDArray[np.int64]], NDArray[np.float64]]
"""The score of each row of summed statistics."""


@checks_arguments
def compare_translations(
    first: Sequence[str], second: Sequence[str], references: Sequence[str]
) -> SystemComparison:
    """Compare the translations of two systems by sacreBLEU and chrF.

    The same arguments give the same numbers each time.

    Args:
        first: translations by the first system, one of each sentence.
        second: translations by the second system.
        references: one of each sentence.

    Raises:
        CorpusError: there is no reference, or just one sentence, or the numbers differ.
    """
    one, other = ([Hypothesis(text, ()) for text in texts] for texts in (first, second))
    return compare_hypotheses(one, other, references, None)


def compare_hypotheses(
    first: Sequence[Hypothesis],
    second: Sequence[Hypothesis],
    references: Sequence[str],
    language: str | None,
) -> SystemComparison:
    """The same for hypotheses, also by the BLEU of their words.

    Args:
        first, second, references: see `compare_translations`.
        language: spaCy's code for the references' words. With None, the words of hypotheses are
            not compared.

    Raises:
        CorpusError: as `compare_translations`.
    """
    from sacrebleu.metrics import BLEU, CHRF

    if not len(first) == len(second) == len(references):
        raise CorpusError(
            f"Found {counted(len(first), 'translation')} by the first and {len(second):,} by the "
            f"second system for {counted(len(references), 'reference')}. Each sentence needs one "
            "of each."
        )
    if not any(reference.strip() for reference in references):
        raise CorpusError("There are no references. Use a file with a reference in each line.")
    if len(references) < 2:
        raise CorpusError("One sentence has no interval and no p. Compare at least two sentences.")
    scores = []
    if language is not None:
        expected = reference_words(references, language)
        counts = [
            bleu_statistics([lowered_words(hypothesis.words) for hypothesis in side], expected)
            for side in (first, second)
        ]
        scores.append(_difference("BLEU, spaCy tokens, lower-cased", "", counts, bleu_of))
    for metric in (BLEU(force=True), CHRF()):
        counts = [
            statistics_by(metric, [hypothesis.text for hypothesis in side], references)
            for side in (first, second)
        ]
        name = "sacreBLEU, cased, detokenized" if isinstance(metric, BLEU) else "chrF"
        scores.append(_difference(name, str(metric.get_signature()), counts, score_by(metric)))
    of_sentence = score_by(metric)  # chrF: BLEU of one sentence is 0 without a common 4-gram
    gains = of_sentence(counts[1]) - of_sentence(counts[0])
    different = [
        SentenceDifference(index, one.text, other.text, float(gain))
        for index, (one, other, gain) in enumerate(zip(first, second, gains, strict=True))
        if one.text != other.text
    ]
    by_size = sorted(different, key=lambda sentence: -abs(sentence.chrf_difference))
    return SystemComparison(
        len(references),
        len(different),
        tuple(scores),
        tuple(by_size[:NUM_LISTED]),
    )


def paired_bootstrap(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    score: Score,
    num_resamples: int = NUM_RESAMPLES,
    seed: int = SEED,
) -> tuple[tuple[float, float], float]:
    """The 95% interval of the difference in a score, second minus first, and its p-value.

    Differences of the resamples scatter around the observed one. They are centred before the
    absolute value is taken, which gives those of two equally good systems. Taking it first, as
    sacreBLEU 2.6 does, finds too many differences significant.

    Args:
        first: statistics of each sentence, [N, K].
        second: those of the other system, [N, K].
        score: of summed statistics.
        num_resamples: number of sets of N sentences, drawn with replacement.
        seed: of drawing.
    """
    width = first.shape[1]
    sums = resampled_sums(np.hstack([first, second]), num_resamples, seed)
    differences = score(sums[:, width:]) - score(sums[:, :width])
    observed = float((score(second.sum(axis=0)[None]) - score(first.sum(axis=0)[None]))[0])
    num_extreme = int((np.abs(differences - differences.mean()) >= abs(observed)).sum())
    return interval_95(differences), (num_extreme + 1) / (num_resamples + 1)


def _difference(
    name: str, signature: str, statistics: Sequence[NDArray[np.int64]], score: Score
) -> ScoreDifference:
    before, after = (float(score(side.sum(axis=0)[None])[0]) for side in statistics)
    interval, p_value = paired_bootstrap(statistics[0], statistics[1], score)
    return ScoreDifference(name, signature, before, after, after - before, interval, p_value)
