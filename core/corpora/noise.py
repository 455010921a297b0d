"""Adds typing noise to the sources of some batches of each epoch, which makes a model robust against it.

Belinkov & Bisk 2018 ("Synthetic and Natural Noise Both Break Neural Machine Translation") and many after them.
"""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from core.config.data_config import LetterCase
from core.corpora.prepared import EncodedPairs, PreparedCorpus
from core.text.codec import TextCodec, fold_case
from core.text.distortions import DISTORTIONS, PER_WORD, Distortion, distort
from core.text.word_counts import WordCounts


def with_noisy_sources(
    pairs: EncodedPairs, batches: Sequence[Sequence[int]], share: float, codec: TextCodec, seed: str
) -> EncodedPairs:
    """The same pairs with every source distorted in some of the batches, in one way for each batch.

    Unchanged words keep their ids. A source that would become empty, or longer than the longest of `pairs`, is left
    unchanged, so that the result fits wherever `pairs` fits.

    Args:
        pairs: those of an epoch.
        batches: indices of pairs; each pair is in at most one batch.
        share: fraction of the batches, in [0, 1), on average: batches are drawn at random.
        codec: of the sources.
        seed: the same seed gives the same noise.
    """
    rng = random.Random(seed)
    longest = max(map(len, pairs.source))
    source = list(pairs.source)
    for batch in batches:
        if rng.random() < share:
            kind = rng.choice(DISTORTIONS)
            for index in batch:
                noisy = _distorted(source[index], kind, codec, rng)
                if codec.vocabulary.special_ids.issuperset(noisy) or len(noisy) > longest:
                    continue
                source[index] = noisy
    return EncodedPairs(source, pairs.target)


def counts_with_noise(counts: WordCounts, share: float, case: LetterCase) -> WordCounts:
    """The counts of an epoch in which so large a share of the batches is distorted, on average; typing errors left out.

    Other spellings of a word, such as “strasse” for “straße”, are counted as often as they are drawn; the usual one is
    counted as if it never were.
    """
    drawn: dict[str, float] = defaultdict(float)
    for word, number in counts.counts.items():
        for kind in PER_WORD:
            (typed,) = fold_case(distort([word], kind, random.Random(0)), "lower" if case == "lower" else "keep")
            if typed != word:
                drawn[typed] += number * share / len(DISTORTIONS)
    others = {word: counts.counts.get(word, 0) + int(number) for word, number in drawn.items() if int(number)}
    known = {word: number for word, number in others.items() if number >= counts.least}
    return replace(counts, counts=dict(sorted({**counts.counts, **known}.items())))


def counts_of_training(corpus: PreparedCorpus, source_noise: float) -> WordCounts | None:
    """The words that a model reads in training: those of the corpus, and other spellings where there is noise."""
    if corpus.word_counts is None or not source_noise:
        return corpus.word_counts
    return counts_with_noise(corpus.word_counts, source_noise, corpus.config.source_case)


def _distorted(ids: list[int], kind: Distortion, codec: TextCodec, rng: random.Random) -> list[int]:
    """The ids of a sentence distorted in this way."""
    words = codec.decode(ids)
    if not words:
        return ids
    unknown = codec.vocabulary.unknown_id
    typed = fold_case(distort([word.text for word in words], kind, rng), codec.case)
    parts = [ids[: words[0].start]]
    for before, after in zip(words, typed, strict=True):
        usual = ids[before.start : before.end]
        if after == before.text or unknown in usual:  # the text of an unknown word is not known
            parts.append(usual)
        elif after:
            parts.append(codec.encode_words([after]))
    parts.append(ids[words[-1].end :])
    return [token for part in parts for token in part]
