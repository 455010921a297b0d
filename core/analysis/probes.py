"""What hangs on each source word: the translation without it, or with another in its place. No torch here.

`core.analysis.probing` computes it. Other than a picture of attention, this is an experiment: something is changed, and
what becomes of the output is looked at. Leaving a word out to see what hangs on it is an old method (Li, Monroe and
Jurafsky 2016, "Understanding Neural Networks through Representation Erasure"; Zeiler and Fergus 2014 for pictures).
"""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.translation.result import FloatArray, Translation, Word


@dataclass(frozen=True, eq=False)
class WordProbe:
    """One source word that was left out or replaced.

    Attributes:
        place: its index in the translation's `source_words`.
        word: the word.
        replacement: what stands in its place; None if nothing does.
        text: what the model makes of the changed sentence, for people.
        words: the words of it.
        gone: indices of words of the old translation that are no longer there, or not in this order.
        new: indices of words in `words` that were not there before.
        log_probabilities: natural logs of the probabilities of the tokens of the *old* translation, T values, as the
            model gives them after reading the changed sentence.
    """

    place: int
    word: Word
    replacement: str | None
    text: str
    words: tuple[str, ...]
    gone: tuple[int, ...]
    new: tuple[int, ...]
    log_probabilities: tuple[float, ...]

    @property
    def is_same(self) -> bool:
        """Whether the translation stayed as it was."""
        return not self.gone and not self.new

    @property
    def log_probability(self) -> float:
        """Natural log of the probability of the whole old translation after the change."""
        return sum(self.log_probabilities)


@dataclass(frozen=True, eq=False)
class SourceProbes:
    """The source words of one translation, changed one at a time.

    Attributes:
        translation: the old one.
        probes: one for each word that was looked at, by their places.
        is_complete: whether all that were asked for are there; False if someone stopped.
    """

    translation: Translation
    probes: tuple[WordProbe, ...]
    is_complete: bool

    def change_of(self, probe: WordProbe) -> float:
        """How much the log-probability of the old translation changed, in nats; below 0 if it became less probable."""
        return probe.log_probability - self.translation.log_probability

    @property
    def effects(self) -> FloatArray:
        """[target words + 1, probes]: how much log-probability each old target word loses by each change, in nats.

        Above 0 where the word hung on what was changed. The last row is the end token.
        """
        old = np.array(self.translation.log_probabilities, dtype=np.float64)
        losses = np.array([old - np.array(probe.log_probabilities) for probe in self.probes]).reshape(-1, len(old))
        words = self.translation.target_words
        last = words[-1].end if words else 0
        rows = [losses[:, word.start : word.end].sum(axis=1) for word in words]
        return np.stack([*rows, losses[:, last:].sum(axis=1)]).astype(np.float32)


def changed_words(old: Sequence[str], new: Sequence[str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Indices of the words of `old` that `new` has not, and of those of `new` that `old` has not, order regarded."""
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    kept_old = {block.a + place for block in blocks for place in range(block.size)}
    kept_new = {block.b + place for block in blocks for place in range(block.size)}
    return (
        tuple(place for place in range(len(old)) if place not in kept_old),
        tuple(place for place in range(len(new)) if place not in kept_new),
    )
