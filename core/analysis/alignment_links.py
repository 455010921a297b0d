"""From a map to word links: for each target word the source word with the largest weight. No torch.

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
    """A line between two words.

    Attributes:
        source, target: indices into `Translation.source_words` and `Translation.target_words`.
        share: from 0 to 1, the source word's part of the target word's row, start and end token left out.
    """

    source: int
    target: int
    share: float


def word_maps(
    maps: FloatArray, source_words: Sequence[Word], target_words: Sequence[Word], label_mode: LabelMode
) -> FloatArray:
    """Cross maps [..., T, S] between words instead of tokens, start and end token left out: [..., J, I].

    Sum over the pieces of a key word, mean over those of a query word. Rows are not scaled up by what was left out:
    that would not change which word has the most. A word that was never read (the last one, where a translation was
    cut off) has a row of zeros if rows are labelled by the token read.

    Args:
        maps: row t belongs to the step that predicts token t of the target, and reads the one before.
        source_words: ranges of columns.
        target_words: ranges of decoding steps, as in `Translation`.
        label_mode: whether a row speaks for the token read or for the one predicted.
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
    """One link for each target word of one cross map [T, S], in the order of the target; of equal words the first.

    A target word whose row has nothing on any source word has no link.

    Raises:
        AnalysisError: it is not a cross map of this translation.
    """
    expected = (len(translation.predicted_tokens), len(translation.source_tokens))
    if weights.shape != expected:
        raise AnalysisError(
            f"This map is {list(weights.shape)}. One cross map of this translation, {list(expected)}, was expected; "
            "compute it again."
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
