"""IBM model 1: word alignment learned from sentence pairs alone, as a baseline. No torch.

Source: Brown et al. 1993, "The Mathematics of Statistical Machine Translation", sections 4.2 and
4.4. A target word is drawn from one source word of its sentence or from none (the empty word), each as likely as the
other, with probability t(target | source); EM finds t. Words are lower-cased.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from augenmerk.core.analysis.alignment import Links, diagonal_place
from augenmerk.core.errors import AnalysisError

NUM_ITERATIONS = 5
_EMPTY = 0
"""The id of the empty word, which precedes the words of every source sentence."""

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class IbmModel1:
    """A trained model.

    Attributes:
        source_ids, target_ids: words, lower-cased, by number; source words count from 1.
        keys: [N], sorted: source id × number of target words + target id, for all words that met in a sentence pair.
        probabilities: [N], t(target | source) of these.
        log_likelihoods: before each iteration, the natural log of the probability of all target sentences, up to a
            constant.
    """

    source_ids: dict[str, int]
    target_ids: dict[str, int]
    keys: Ids
    probabilities: NDArray[np.float64]
    log_likelihoods: tuple[float, ...]

    def probability(self, source: str | None, target: str) -> float:
        """t(target | source), with None for the empty word; 0 for words that never occur together."""
        source_id = _EMPTY if source is None else self.source_ids.get(source.lower(), -1)
        return float(self._probabilities(np.array([source_id]), np.array([self.target_ids.get(target.lower(), -1)]))[0])

    def links(self, source: Sequence[str], target: Sequence[str]) -> Links:
        """One link per target word, to the source word with the largest t; among equal ones, the most diagonal.

        The empty word is excluded, like start and end tokens in links from a map.
        """
        found = set()
        sources = np.array([self.source_ids.get(word.lower(), -1) for word in source])
        for place, word in enumerate(target):
            target_id = np.full(len(source), self.target_ids.get(word.lower(), -1))
            values = self._probabilities(sources, target_id)
            distance = np.abs(np.arange(len(source)) - diagonal_place(place, len(source), len(target)))
            found.add((int(np.lexsort((distance, -values))[0]), place))
        return frozenset(found)

    def _probabilities(self, sources: Ids, targets: Ids) -> NDArray[np.float64]:
        wanted = sources * len(self.target_ids) + targets
        places = np.searchsorted(self.keys, wanted).clip(max=len(self.keys) - 1)
        known = (self.keys[places] == wanted) & (sources >= 0) & (targets >= 0)
        return np.where(known, self.probabilities[places], 0.0)


def train_ibm_1(
    sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]], num_iterations: int = NUM_ITERATIONS
) -> IbmModel1:
    """Train by EM from equal probabilities; a few seconds for Multi30k's 29,000 pairs.

    Args:
        sources, targets: words of each side, pair by pair; pairs with an empty side are skipped.
        num_iterations: number of EM iterations.

    Raises:
        AnalysisError: the sides differ in length, or no pair is left.
    """
    if len(sources) != len(targets):
        raise AnalysisError(
            f"There are {len(sources)} sentences and {len(targets)} translations. Pass one translation per sentence."
        )
    pairs = [(source, target) for source, target in zip(sources, targets, strict=True) if len(source) and len(target)]
    if not pairs:
        raise AnalysisError("Learning an alignment needs at least one sentence pair.")
    source_ids: dict[str, int] = {}
    target_ids: dict[str, int] = {}
    source_rows = [[source_ids.setdefault(word.lower(), len(source_ids) + 1) for word in pair[0]] for pair in pairs]
    target_rows = [[target_ids.setdefault(word.lower(), len(target_ids)) for word in pair[1]] for pair in pairs]
    cell_sources, cell_targets, row_starts = _cells(source_rows, target_rows)
    keys, cell_keys = np.unique(cell_sources * len(target_ids) + cell_targets, return_inverse=True)
    key_sources, row_sizes = keys // len(target_ids), np.diff(np.append(row_starts, len(cell_keys)))
    probabilities = np.full(len(keys), 1 / len(target_ids))
    log_likelihoods = []
    for _ in range(num_iterations):
        values = probabilities[cell_keys]
        sums = np.add.reduceat(values, row_starts)
        log_likelihoods.append(float(np.log(sums).sum()))
        expected = np.bincount(cell_keys, values / np.repeat(sums, row_sizes))
        probabilities = expected / np.bincount(key_sources, expected)[key_sources]
    return IbmModel1(source_ids, target_ids, keys, probabilities, tuple(log_likelihoods))


def _cells(source_rows: list[list[int]], target_rows: list[list[int]]) -> tuple[Ids, Ids, Ids]:
    """One cell for each target word and each source word of its sentence, the empty word included.

    Returns:
        Source ids and target ids of all cells, a target word's cells side by side, and where each target word's begin.
    """
    cell_sources = [
        np.tile(np.array([_EMPTY, *row]), len(other)) for row, other in zip(source_rows, target_rows, strict=True)
    ]
    cell_targets = [
        np.repeat(np.array(row), len(other) + 1) for row, other in zip(target_rows, source_rows, strict=True)
    ]
    sizes = np.concatenate(
        [np.full(len(row), len(other) + 1) for row, other in zip(target_rows, source_rows, strict=True)]
    )
    return np.concatenate(cell_sources), np.concatenate(cell_targets), np.cumsum(sizes) - sizes
