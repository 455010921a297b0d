"""Noise on the sources of some batches: what it reads as, how much of it there is, and that it can
be repeated."""

from dataclasses import replace

import pytest

from augenmerk.core.config import DataConfig
from augenmerk.core.extensions.training.corpora import augmentation
from augenmerk.core.extensions.training.corpora.augmentation import with_noisy_sources
from augenmerk.core.extensions.training.corpora.parallel import SentencePairs
from augenmerk.core.extensions.training.corpora.prepared import (
    EncodedPairs,
    PreparedCorpus,
    prepare,
)
from augenmerk.core.extensions.training.distortions import DISTORTIONS, Distortion

TRAIN = SentencePairs(
    (
        "Ein großer Mann in einem blauen Hemd steht früh auf einer Leiter.",
        "Zwei Kinder laufen über die Straße und strassauf ae oe ue.",
        "Ein Hund rennt.",
    )
    * 40,
    ("A man in a blue shirt is standing on a ladder.", "Two kids run.", "A dog runs.") * 40,
)
BATCHES = [list(range(first, first + 6)) for first in range(0, 120, 6)]
SUBWORDS = DataConfig(
    num_subwords=90, keep_spaces=False, source_case="lower", target_case="sentence"
)


@pytest.fixture(scope="module", params=["subwords", "words"])
def corpus(request: pytest.FixtureRequest) -> PreparedCorpus:
    return prepare(
        "tiny",
        SUBWORDS if request.param == "subwords" else DataConfig(),
        TRAIN,
        TRAIN,
        lambda text: None,
    )


def only(monkeypatch: pytest.MonkeyPatch, kind: Distortion) -> None:
    monkeypatch.setattr(augmentation, "DISTORTIONS", (kind,))


def noisy(corpus: PreparedCorpus, share: float = 0.999999, seed: str = "1") -> EncodedPairs:
    return with_noisy_sources(corpus.train, BATCHES, share, corpus.codecs.source, seed)


def texts(corpus: PreparedCorpus, pairs: EncodedPairs) -> list[str]:
    return [
        " ".join(word.text for word in corpus.codecs.source.decode(ids)) for ids in pairs.source
    ]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("no-final-stop", "ein großer mann in einem blauen hemd steht früh auf einer leiter"),
        ("lower-case", "ein großer mann in einem blauen hemd steht früh auf einer leiter ."),
        ("upper-case", "ein grosser mann in einem blauen hemd steht früh auf einer leiter ."),
        ("ss", "ein grosser mann in einem blauen hemd steht früh auf einer leiter ."),
        ("umlauts", "ein großer mann in einem blauen hemd steht frueh auf einer leiter ."),
    ],
)
def test_the_model_reads_what_it_would_read_of_text_typed_so(
    monkeypatch: pytest.MonkeyPatch, kind: Distortion, expected: str
) -> None:
    corpus = prepare("tiny", SUBWORDS.replace(num_subwords=120), TRAIN, TRAIN, lambda text: None)
    # long enough that nothing is left as it is for its length
    pairs = corpus.train
    pairs = EncodedPairs([*pairs.source, (9,) * 200], [*pairs.target, (2, 3)])
    corpus = replace(corpus, train=pairs)
    only(monkeypatch, kind)
    read = texts(corpus, noisy(corpus))
    assert read[0] == expected
    codec = corpus.codecs.source
    ids = noisy(corpus).source[0]
    assert list(ids[1:-1]) == codec.encode_words(expected.split())
    assert (ids[0], ids[-1]) == (2, 3), "the wrapping tokens stay"


def test_targets_and_batches_that_are_not_chosen_stay_as_they_are(corpus: PreparedCorpus) -> None:
    some = noisy(corpus, share=0.3)
    assert some.target is corpus.train.target
    touched = {
        number
        for number, batch in enumerate(BATCHES)
        if any(some.source[index] != corpus.train.source[index] for index in batch)
    }
    assert 1 <= len(touched) <= 12
    assert noisy(corpus, share=0.0).source == corpus.train.source


def test_the_share_is_that_of_the_batches(
    monkeypatch: pytest.MonkeyPatch, corpus: PreparedCorpus
) -> None:
    only(monkeypatch, "no-final-stop")
    many = EncodedPairs(corpus.train.source * 50, corpus.train.target * 50)
    batches = [list(range(first, first + 6)) for first in range(0, 6000, 6)]
    changed = with_noisy_sources(many, batches, 0.1, corpus.codecs.source, "1")
    touched = sum(changed.source[batch[0]] != many.source[batch[0]] for batch in batches)
    assert 70 <= touched <= 130


def test_the_same_seed_gives_the_same_noise_and_another_gives_other(corpus: PreparedCorpus) -> None:
    assert noisy(corpus, 0.5).source == noisy(corpus, 0.5).source
    assert noisy(corpus, 0.5).source != noisy(corpus, 0.5, seed="2").source


def test_a_batch_is_distorted_in_one_way_and_all_ways_occur(
    monkeypatch: pytest.MonkeyPatch, corpus: PreparedCorpus
) -> None:
    seen: list[Distortion] = []
    plain = augmentation.distort

    def watch(words: list[str], kind: Distortion, rng: object) -> list[str]:
        seen.append(kind)
        return plain(words, kind, rng)  # type: ignore[arg-type]

    monkeypatch.setattr(augmentation, "distort", watch)
    noisy(corpus)
    assert set(seen) == set(DISTORTIONS)
    assert all(len(set(seen[first : first + 6])) == 1 for first in range(0, 120, 6))


@pytest.mark.parametrize("kind", DISTORTIONS)
def test_no_source_becomes_longer_than_the_longest_nor_empty(
    monkeypatch: pytest.MonkeyPatch, corpus: PreparedCorpus, kind: Distortion
) -> None:
    only(monkeypatch, kind)
    changed = noisy(corpus)
    assert max(map(len, changed.source)) <= max(map(len, corpus.train.source))
    full_stop = corpus.codecs.source.encode_words(["."])
    alone = EncodedPairs([(2, *full_stop, 3)], [(2, 3)])
    assert (
        with_noisy_sources(alone, [[0]], 0.999999, corpus.codecs.source, "1").source == alone.source
    )


def test_an_unknown_word_stays_unknown(
    monkeypatch: pytest.MonkeyPatch, corpus: PreparedCorpus
) -> None:
    only(monkeypatch, "upper-case")
    unknown = corpus.codecs.source.vocabulary.unknown_id
    assert unknown is not None
    sentence = (2, unknown, *corpus.train.source[0][1:])
    pairs = EncodedPairs([sentence, (9,) * 100], [(2, 3), (2, 3)])
    changed = with_noisy_sources(pairs, [[0]], 0.999999, corpus.codecs.source, "1")
    assert changed.source[0][:2] == (2, unknown)
