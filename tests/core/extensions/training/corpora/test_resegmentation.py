"""BPE-dropout changes how words are cut, never what they spell; and it is the same for the same
epoch and seed.
"""

from dataclasses import replace

import pytest

from augenmerk.core.config import DataConfig
from augenmerk.core.extensions.training.corpora.augmentation import Resegmentation
from augenmerk.core.extensions.training.corpora.parallel import SentencePairs
from augenmerk.core.extensions.training.corpora.prepared import PreparedCorpus, prepare

TRAIN = SentencePairs(
    (
        "Ein Mann in einem blauen Hemd steht auf einer Leiter.",
        "Zwei Kinder laufen.",
        "Ein Hund rennt über die Straße.",
    )
    * 20,
    (
        "A man in a blue shirt is standing on a ladder.",
        "Two kids run.",
        "A dog runs across the street.",
    )
    * 20,
)
CONFIG = DataConfig(num_subwords=90, keep_spaces=False, source_case="lower", target_case="sentence")


@pytest.fixture(scope="module")
def corpus() -> PreparedCorpus:
    return prepare("tiny", CONFIG, TRAIN, TRAIN, lambda text: None)


def test_every_sentence_still_spells_the_same_words(corpus: PreparedCorpus) -> None:
    cut = Resegmentation(corpus, 0.5).pairs(1, seed=0)
    for codec, usual, other in (
        (corpus.codecs.source, corpus.train.source, cut.source),
        (corpus.codecs.target, corpus.train.target, cut.target),
    ):
        for before, after in zip(usual, other, strict=True):
            assert [word.text for word in codec.decode(after)] == [
                word.text for word in codec.decode(before)
            ]
            assert (after[0], after[-1]) == (before[0], before[-1]), "the wrapping tokens"


def test_words_fall_into_more_pieces_the_more_merges_are_left_out(corpus: PreparedCorpus) -> None:
    def count(dropout: float) -> int:
        return sum(map(len, Resegmentation(corpus, dropout).pairs(1, seed=0).source))

    usual = sum(map(len, corpus.train.source))
    assert count(0.0) == usual
    assert usual < count(0.1) < count(0.3)


def test_one_word_is_cut_in_several_ways_within_an_epoch(corpus: PreparedCorpus) -> None:
    cut = Resegmentation(corpus, 0.3).pairs(1, seed=0)
    assert len({tuple(ids) for ids in cut.source[1::3]}) > 1


def test_the_same_epoch_and_seed_give_the_same_pieces_and_others_give_others(
    corpus: PreparedCorpus,
) -> None:
    first = Resegmentation(corpus, 0.2).pairs(3, seed=7)
    again = Resegmentation(corpus, 0.2)
    again.pairs(1, seed=7)
    same = again.pairs(3, seed=7)
    assert (same.source, same.target) == (first.source, first.target)
    assert again.pairs(4, seed=7).source != first.source
    assert again.pairs(3, seed=8).source != first.source


def test_no_sentence_becomes_longer_than_the_longest_of_the_corpus(corpus: PreparedCorpus) -> None:
    cut = Resegmentation(corpus, 0.9).pairs(1, seed=0)
    for usual, other in ((corpus.train.source, cut.source), (corpus.train.target, cut.target)):
        assert max(map(len, other)) <= max(map(len, usual))


def test_a_character_never_seen_stays_unknown() -> None:
    train = SentencePairs((*TRAIN.source, "Ein Hund rennt."), (*TRAIN.target, "A dog runs."))
    corpus = prepare("tiny", CONFIG, train, train, lambda text: None)
    unknown = corpus.codecs.source.vocabulary.unknown_id
    assert unknown is not None
    first, *others = corpus.train.source
    with_unknown = (first[0], unknown, *first[1:])
    train_pairs = replace(corpus.train, source=[with_unknown, *others])
    corpus = replace(corpus, train=train_pairs)
    cut = Resegmentation(corpus, 0.3).pairs(1, seed=0)
    assert cut.source[0].count(unknown) == 1


def test_what_follows_an_unknown_character_in_a_word_stays_as_it_is(corpus: PreparedCorpus) -> None:
    """Text that a model is trained further on may have characters that its subwords lack."""
    line = "Ein Hund reżnnt über Straßenżleiter ."
    # the last leaves room for more pieces
    other = SentencePairs((*[line] * 30, line * 3), ("A dog runs.",) * 31)
    read = prepare("other", CONFIG, other, other, lambda text: None, codecs=corpus.codecs)
    codec = read.codecs.source
    cut = Resegmentation(read, 0.5).pairs(1, seed=0).source[:30]
    assert len({tuple(ids) for ids in cut}) > 1, "other words are cut in several ways"
    usual = [word.text for word in codec.decode(read.train.source[0])]
    assert all([word.text for word in codec.decode(ids)] == usual for ids in cut)
