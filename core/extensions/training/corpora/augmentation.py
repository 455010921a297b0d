"""Variants of the training pairs, drawn again for each epoch: typing noise in the sources,
BPE-dropout.
"""

import random
import zlib
from collections import Counter
from collections.abc import Sequence

from ....text.codec import TextCodec, fold_case
from ....text.subwords import WORD_MARK
from ..distortions import DISTORTIONS, Distortion, distort
from .bpe_dropout import SubwordSampler
from .prepared import EncodedPairs, PreparedCorpus


def with_noisy_sources(
    pairs: EncodedPairs, batches: Sequence[Sequence[int]], share: float, codec: TextCodec, seed: str
) -> EncodedPairs:
    """The same pairs with every source distorted in some of the batches, in one way for each batch.

    Makes a model robust against typing noise (Belinkov & Bisk 2018, "Synthetic and Natural Noise
    Both Break Neural Machine Translation"). Unchanged words keep their ids. A source that would
    become empty, or longer than the longest of `pairs`, is left unchanged, so that the result fits
    wherever `pairs` fits.

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


def _distorted(
    ids: Sequence[int], kind: Distortion, codec: TextCodec, rng: random.Random
) -> Sequence[int]:
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
    return tuple(token for part in parts for token in part)


MAX_VARIANTS = 8
"""Number of splits per word and epoch; each occurrence of the word uses one of them."""

_Ids = tuple[int, ...]


class Resegmentation:
    """BPE-dropout: the training pairs of a subword corpus, split again for each epoch (Provilkov et
    al. 2020).

    A sentence that would become longer than the longest of the corpus keeps its usual pieces, so
    that every epoch fits wherever the corpus fits.

    Args:
        corpus: of joint subwords.
        dropout: probability that a merge is left out, in [0, 1).
    """

    def __init__(self, corpus: PreparedCorpus, dropout: float) -> None:
        self._corpus = corpus
        self._dropout = dropout
        subwords = corpus.codecs.source.subwords
        assert subwords is not None
        self._sampler = SubwordSampler(subwords)
        self._source_words = [_words(ids, corpus.codecs.source) for ids in corpus.train.source]
        self._target_words = [_words(ids, corpus.codecs.target) for ids in corpus.train.target]

    def pairs(self, epoch: int, seed: int) -> EncodedPairs:
        """The pairs of one epoch, reproducible by epoch and seed."""
        codecs, train = self._corpus.codecs, self._corpus.train
        return EncodedPairs(
            self._resegment(
                self._source_words, train.source, codecs.source, f"{seed}-{epoch}-source"
            ),
            self._resegment(
                self._target_words, train.target, codecs.target, f"{seed}-{epoch}-target"
            ),
        )

    def _resegment(
        self,
        sentences: list[list[_Ids]],
        plain: Sequence[Sequence[int]],
        codec: TextCodec,
        seed: str,
    ) -> list[Sequence[int]]:
        variants = self._variants(sentences, codec, seed)
        longest = max(map(len, plain))
        rng = random.Random(seed)
        cut: list[Sequence[int]] = []
        for words, usual in zip(sentences, plain, strict=True):
            ids = tuple(token for word in words for token in _choose(variants[word], rng))
            cut.append(ids if len(ids) <= longest else usual)
        return cut

    def _variants(
        self, sentences: list[list[_Ids]], codec: TextCodec, seed: str
    ) -> dict[_Ids, list[_Ids]]:
        """The different splits of each distinct word in this epoch."""
        counts = Counter(word for words in sentences for word in words)
        spelled = {word: _spelling(word, codec) for word in counts}
        requested = [
            word
            for word, count in counts.items()
            if spelled[word]
            for _ in range(min(count, MAX_VARIANTS))
        ]
        number = zlib.crc32(seed.encode())
        drawn = self._sampler.sample([spelled[word] for word in requested], self._dropout, number)
        ids_of = codec.vocabulary.ids
        variants: dict[_Ids, list[_Ids]] = {word: [] for word in counts}
        for word, pieces in zip(requested, drawn, strict=True):
            variants[word].append(
                tuple(ids_of[piece] for piece in pieces) if ids_of.keys() >= set(pieces) else word
            )
        return {word: splits or [word] for word, splits in variants.items()}


def _choose(variants: list[_Ids], rng: random.Random) -> _Ids:
    return variants[0] if len(variants) == 1 else variants[int(rng.random() * len(variants))]


def _words(ids: Sequence[int], codec: TextCodec) -> list[_Ids]:
    """The ids of a sentence, word by word; start and end are words of their own."""
    tokens = codec.vocabulary.tokens
    words: list[list[int]] = []
    for token_id in ids:
        is_later_piece = token_id not in codec.vocabulary.special_ids and not tokens[
            token_id
        ].startswith(WORD_MARK)
        if is_later_piece and words and words[-1][-1] not in codec.vocabulary.special_ids:
            words[-1].append(token_id)
        else:
            words.append([token_id])
    return [tuple(word) for word in words]


def _spelling(word: _Ids, codec: TextCodec) -> str:
    """The text of a word's ids; empty for ids that are never split: specials, and ids after an
    unknown character.

    Unknown characters occur in text outside the training data of the subwords.
    """
    text = "".join(codec.vocabulary.tokens[token_id] for token_id in word)
    if codec.vocabulary.special_ids & set(word) or not text.startswith(WORD_MARK):
        return ""
    return text.removeprefix(WORD_MARK)
