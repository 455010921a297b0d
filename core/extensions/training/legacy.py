"""The only module that imports torchtext 0.6.0: its `Vocab`, its batches, its BLEU.

The published systems used these functions, so their counts, batches and scores are the reference.
torchtext is imported when a function is first called: it takes seconds and translating does not
need it.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...config.groups import Batching


@dataclass(frozen=True)
class NumericExample:
    """A pair of sentences as ids, and its index in the split."""

    index: int
    source: Sequence[int]
    target: Sequence[int]


def vocabulary_tokens(
    counts: Counter[str], min_frequency: int, specials: Sequence[str]
) -> list[str]:
    """Specials first, then every word seen `min_frequency` times or more, by falling frequency,
    then alphabet.
    """
    from torchtext.vocab import Vocab

    return list(Vocab(counts, min_freq=min_frequency, specials=list(specials)).itos)


def iterator_batches(
    examples: list[NumericExample],
    batch_size: int,
    *,
    count_tokens: bool,
    batching: Batching,
    shuffle_seed: str | None,
) -> list[list[int]]:
    """The batches of one epoch of torchtext's `BucketIterator`, or of the iterator of The Annotated
    Transformer, 2018.

    For training `BucketIterator` shuffles the pairs and cuts them into pools of a hundred batches.
    It sorts a pool by length only if `sort_within_batch` is True. Left unset, as in notebook 6 of
    pytorch-seq2seq, that is False for training: the pairs of a batch are then drawn at random,
    despite the iterator's name.

    The iterator of 2018 sorts by source length, then by target length. Its pools are a hundred
    times `batch_size` *pairs*, also where `batch_size` counts tokens: with 12,000 tokens, 1.2
    million pairs.

    Args:
        examples: the pairs.
        batch_size: in pairs, or in padded tokens if `count_tokens`.
        count_tokens: let a batch grow until max(n × longest source, n × longest target) reaches
            `batch_size`; target lengths include start and end tokens (The Annotated Transformer,
            2018).
        batching: "random": pools are not sorted; "bucketed": pools are sorted by both lengths,
            their bits interleaved; "annotated": as in 2018.
        shuffle_seed: seed of the order; None for no shuffling: sorted by length, as validation is
            read.

    Returns:
        The indices of the pairs in each batch.
    """
    from torchtext.data import BucketIterator, Dataset, interleave_keys
    from torchtext.data import batch as cut
    from torchtext.data.utils import RandomShuffler

    def lengths(example: NumericExample) -> Any:
        source, target = len(example.source), len(example.target)
        return (source, target) if batching == "annotated" else interleave_keys(source, target)

    size_of = _TokenCounter() if count_tokens else None
    iterator = BucketIterator(
        Dataset(examples, []),
        batch_size,
        sort_key=lengths,
        batch_size_fn=size_of,
        train=shuffle_seed is not None,
        sort_within_batch=None if batching == "random" else True,
        device="cpu",
    )
    if shuffle_seed is not None:
        iterator.random_shuffler = RandomShuffler(random.Random(shuffle_seed).getstate())
    if batching == "annotated" and shuffle_seed is not None:
        iterator.batches = (
            batch
            for pool in cut(iterator.data(), 100 * batch_size)
            for batch in iterator.random_shuffler(
                list(cut(sorted(pool, key=lengths), batch_size, size_of))
            )
        )
    else:
        iterator.create_batches()
    return [[example.index for example in batch] for batch in iterator.batches if batch]


class _TokenCounter:
    """Size of a growing batch in padded tokens; torchtext calls it with each new example and the
    batch's length.
    """

    def __init__(self) -> None:
        self._longest_source = 0
        self._longest_target = 0

    def __call__(self, new: NumericExample, count: int, size_so_far: int) -> int:
        if count == 1:
            self._longest_source = self._longest_target = 0
        self._longest_source = max(self._longest_source, len(new.source))
        self._longest_target = max(self._longest_target, len(new.target))
        return count * max(self._longest_source, self._longest_target)


def bleu(hypotheses: Iterable[Sequence[str]], references: Iterable[Sequence[str]]) -> float:
    """Corpus BLEU-4 of token lists against one reference each, from 0 to 100
    (`torchtext.data.metrics.bleu_score`).

    How torchtext 0.6.0 counts:

    - n-grams are counted over the whole corpus, clipped by each sentence's own reference, and not
      smoothed: without a single match of some order the score is 0, also where no sentence has four
      words;
    - a sentence shorter than n words adds no n-gram; an empty hypothesis adds its reference to the
      brevity penalty;
    - counts are kept in single precision, exact up to 2 ** 24, and the score is right to about six
      digits;
    - n-grams are joined by spaces and split again, so a token that holds a space counts as two or
      more. A 4-gram with one in it is then longer than 4 and raises `IndexError`: leave white space
      out before.
    """
    from torchtext.data.metrics import bleu_score

    score: Callable[..., float] = bleu_score
    with np.errstate(divide="ignore"):
        return 100 * float(
            score(
                [list(tokens) for tokens in hypotheses], [[list(tokens)] for tokens in references]
            )
        )
