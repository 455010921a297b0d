"""How far a corpus BLEU would move with other sentences of the same kind (Koehn 2004, W04-3250).

Each sentence is counted once; resampling then only adds these counts up, in numpy. The counts are those of
`torchtext.data.metrics.bleu_score`, see `core.text.legacy.bleu`: the score of the whole set is the same.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAX_ORDER = 4
NUM_RESAMPLES = 1000
SEED = 12345
"""That of sacreBLEU."""

Statistics = NDArray[np.int64]
"""One row for each sentence, [N, 10]: n-grams found in the reference too (n = 1 to 4), n-grams (n = 1 to 4), words of
the hypothesis, words of the reference."""


def bleu_statistics(hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> Statistics:
    """What BLEU-4 has to know of each hypothesis and its reference, both as words without white space in them."""
    pairs = zip(hypotheses, references, strict=True)
    rows = [[*_matches(words, reference), len(words), len(reference)] for words, reference in pairs]
    return np.array(rows, dtype=np.int64).reshape(-1, 2 * MAX_ORDER + 2)


def _matches(words: Sequence[str], reference: Sequence[str]) -> list[int]:
    """Clipped counts of n = 1 to 4, then all counts of n = 1 to 4."""
    clipped, total = [], []
    for order in range(1, MAX_ORDER + 1):
        found = _ngrams(words, order) & _ngrams(reference, order)
        clipped.append(found.total())
        total.append(max(0, len(words) - order + 1))
    return clipped + total


def _ngrams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[first:] for first in range(order)), strict=False))


def bleu_of(sums: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
    """BLEU-4 from 0 to 100 of each row of summed statistics [..., 10]; 0 where any order has no match at all."""
    clipped, total = sums[..., :MAX_ORDER].astype(float), sums[..., MAX_ORDER : 2 * MAX_ORDER].astype(float)
    hypothesis_length, reference_length = sums[..., -2].astype(float), sums[..., -1].astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.exp(np.log(clipped / total).mean(axis=-1))
        brevity = np.exp(np.minimum(1 - reference_length / hypothesis_length, 0))
        return np.where(clipped.min(axis=-1) == 0, 0.0, 100 * precision * brevity)


def bootstrap_bleu(statistics: Statistics, num_resamples: int = NUM_RESAMPLES, seed: int = SEED) -> NDArray[np.float64]:
    """BLEU of `num_resamples` sets of as many sentences, drawn with replacement, [num_resamples].

    With the same seed and number of sentences the same ones are drawn, so two systems can be compared pairwise.
    """
    generator = np.random.default_rng(seed)
    num_sentences = len(statistics)
    sums = np.empty((num_resamples, statistics.shape[1]), dtype=np.int64)
    for index in range(num_resamples):
        sums[index] = statistics[generator.integers(num_sentences, size=num_sentences)].sum(axis=0)
    return bleu_of(sums)


def interval_95(scores: NDArray[np.float64]) -> tuple[float, float]:
    """The middle 95% of `scores`: their 2.5th and 97.5th percentile."""
    low, high = np.percentile(scores, [2.5, 97.5])
    return float(low), float(high)


@dataclass(frozen=True)
class PairedDifference:
    """How two systems compare on the same sentences.

    Attributes:
        difference: BLEU of the second less that of the first.
        interval: of the difference over the resamples, the middle 95%.
        p_value: share of the resamples in which the second is not better.
    """

    difference: float
    interval: tuple[float, float]
    p_value: float


def paired_bootstrap(first: Statistics, second: Statistics) -> PairedDifference:
    """Compares two systems on the same resamples of the sentences (Koehn 2004, section 5), one-sided."""
    if len(first) != len(second):
        raise ValueError(f"{len(first)} sentences of one system and {len(second)} of the other cannot be paired")
    differences = bootstrap_bleu(second) - bootstrap_bleu(first)
    whole = float(bleu_of(second.sum(axis=0)) - bleu_of(first.sum(axis=0)))
    return PairedDifference(whole, interval_95(differences), float((differences <= 0).mean()))
