"""Adds typing noise to the sources of some batches of each epoch, which makes a model robust against it.

Belinkov & Bisk 2018 ("Synthetic and Natural Noise Both Break Neural Machine Translation") and many after them.
"""

import random
from collections.abc import Sequence

from augenmerk.core.corpora.prepared import EncodedPairs
from augenmerk.core.text.codec import TextCodec, fold_case
from augenmerk.core.text.distortions import DISTORTIONS, Distortion, distort


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
