"""BPE-dropout: words split with merges left out at random (Provilkov et al. 2020)."""

import heapq
import random
from collections.abc import Mapping, Sequence

from ....text.subwords import Subwords


class BpeDropout:
    """Splits words with merges left out at random (Provilkov et al. 2020).

    As in sentencepiece, a skipped merge is reconsidered when one of its two neighbours has changed.
    sentencepiece's own sampler draws random numbers from the process, so a second process or a
    resumed run would get other pieces.

    Args:
        scores: of each piece of the model; the merge with the highest score comes first.
    """

    def __init__(self, scores: Mapping[str, float]) -> None:
        self._scores = scores
        self._usual: dict[str, tuple[str, ...]] = {}

    def sample(self, text: str, dropout: float, generator: random.Random) -> tuple[str, ...]:
        """The pieces of `text`, in which each merge is left out with probability `dropout`, in [0,
        1).
        """
        usual = self._usual.get(text)
        if usual is None:
            usual = self._usual[text] = self._split(text, dropout=0.0, generator=generator)
        # one random number says which merge of the usual ones is the first to be left out; mostly
        # none is
        num_merges = len(text) - len(usual)
        drawn = generator.random()
        num_kept = 0
        probability = 1.0 - dropout
        while num_kept < num_merges and drawn < probability:
            num_kept += 1
            probability *= 1.0 - dropout
        if num_kept == num_merges:
            return usual
        return self._split(text, dropout, generator, num_kept)

    def _split(
        self, text: str, dropout: float, generator: random.Random, first_left_out: int | None = None
    ) -> tuple[str, ...]:
        """The pieces; merges before number `first_left_out` are kept, that one is left out, later
        ones are drawn.
        """
        symbols = list(text)
        before, after = list(range(-1, len(text) - 1)), list(range(1, len(text) + 1))
        agenda: list[tuple[float, int, int, str]] = []

        def add(left: int, right: int) -> None:
            if left >= 0 and right < len(symbols):
                joined = symbols[left] + symbols[right]
                if (score := self._scores.get(joined)) is not None:
                    heapq.heappush(agenda, (-score, left, right, joined))

        for left in range(len(text) - 1):
            add(left, left + 1)
        number = -1
        while agenda:
            _, left, right, joined = heapq.heappop(agenda)
            if not symbols[left] or not symbols[right] or symbols[left] + symbols[right] != joined:
                continue  # one of the two has been merged with another
            number += 1
            if first_left_out is not None and number <= first_left_out:
                is_left_out = number == first_left_out
            else:
                is_left_out = dropout > 0.0 and generator.random() < dropout
            if is_left_out:
                continue
            symbols[left], symbols[right] = joined, ""
            after[left] = after[right]
            if after[right] < len(symbols):
                before[after[right]] = left
            add(before[left], left)
            add(left, after[left])
        return tuple(symbol for symbol in symbols if symbol)


class SubwordSampler:
    """Splits words into subwords at random.

    Args:
        subwords: those of the model.
    """

    def __init__(self, subwords: Subwords) -> None:
        self._subwords = subwords
        self._dropout = BpeDropout(subwords.scores)

    def sample(self, words: Sequence[str], dropout: float, seed: int) -> list[tuple[str, ...]]:
        """The pieces of every word with each merge left out at random.

        Args:
            words: of known characters.
            dropout: probability that a merge is left out, in [0, 1).
            seed: the same seed gives the same pieces, in any process.
        """
        generator = random.Random(seed)
        # as sentencepiece normalizes them
        written = ("".join(self._subwords.pieces_of(word)) for word in words)
        return [self._dropout.sample(text, dropout, generator) for text in written]
