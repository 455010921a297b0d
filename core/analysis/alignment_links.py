"""Word links from a map: for each target word, the source word with the largest weight. No torch.

Shape legend: `core.analysis`; I source words, J target words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from augenmerk.core.analysis.selection import LabelMode
from augenmerk.core.errors import AnalysisError
from augenmerk.core.translation.result import FloatArray, Translation, Word


@dataclass(frozen=True)
class WordLink:
    """A link between two words.

    Attributes:
        source, target: indices into `Translation.source_words` and `Translation.target_words`.
        share: the source word's share of the target word's row, from 0 to 1, without start and end tokens.
    """

    source: int
    target: int
    share: float


def word_maps(
    maps: FloatArray, source_words: Sequence[Word], target_words: Sequence[Word], label_mode: LabelMode
) -> FloatArray:
    """Cross maps [..., T, S] between words instead of tokens, without start and end tokens: [..., J, I].

    Sums over the pieces of a key word, and means over those of a query word. Rows are not renormalized, which would not
    change the largest word. If rows are named by the token read, a word that was never read (the last one of a
    truncated translation) has a row of zeros.

    Args:
        maps: row t belongs to the step that predicts token t of the target and reads the previous one.
        source_words: ranges of columns.
        target_words: ranges of decoding steps, as in `Translation`.
        label_mode: whether a row belongs to the token read or to the token predicted.
    """
    num_steps, num_keys = maps.shape[-2:]
    shift = 1 if label_mode == "read" else 0
    keys, queries = _membership(source_words, num_keys, 0), _membership(target_words, num_steps, shift)
    merged: FloatArray = (queries / queries.sum(axis=0).clip(1)).T @ maps @ keys
    return merged


def _membership(words: Sequence[Word], num_tokens: int, shift: int) -> FloatArray:
    """[tokens, words]: 1 where a token is a piece of a word."""
    member = np.zeros((num_tokens, len(words)), dtype=np.float32)
    for index, word in enumerate(words):
        member[word.start + shift : word.end + shift, index] = 1
    return member


def word_links(weights: FloatArray, translation: Translation, label_mode: LabelMode) -> tuple[WordLink, ...]:
    """One link per target word of a cross map [T, S], in the order of the target; among equal words, the first.

    A target word without weight on any source word has no link.

    Raises:
        AnalysisError: the map is not a cross map of this translation.
    """
    expected = (len(translation.predicted_tokens), len(translation.source_tokens))
    if weights.shape != expected:
        raise AnalysisError(
            f"This map has the shape {list(weights.shape)}, but a cross map of this translation has {list(expected)}. "
            "Compute it again."
        )
    words = word_maps(weights, translation.source_words, translation.target_words, label_mode)
    if not words.shape[-1]:
        return ()
    totals, best = words.sum(axis=-1), words.argmax(axis=-1)
    return tuple(
        WordLink(int(source), target, float(words[target, source] / totals[target]))
        for target, source in enumerate(best)
        if totals[target] > 0
    )
