"""BPE-dropout follows the distribution that sentencepiece samples from, and is the same in every
process."""

import random
import subprocess
import sys
from collections import Counter
from functools import cache

import pytest
import sentencepiece

from augenmerk.core.extensions.training.corpora.bpe_dropout import BpeDropout, SubwordSampler
from augenmerk.core.extensions.training.corpora.learning import learn_subwords
from augenmerk.core.text.subwords import WORD_MARK, Subwords
from tests.conftest import REPOSITORY

SENTENCES = [
    "ein mann in einem blauen hemd steht auf einer leiter",
    "zwei kinder laufen über die straße",
    "a man in a blue shirt is standing on a ladder",
    "two kids run across the street .",
] * 3
WORDS = sorted({word for sentence in SENTENCES for word in sentence.split()})
NUM_DRAWN = 20_000


@pytest.fixture(scope="module")
def subwords() -> Subwords:
    return learn_subwords([sentence.split() for sentence in SENTENCES], 80)


def exact_distribution(
    scores: dict[str, float], text: str, dropout: float
) -> dict[tuple[str, ...], float]:
    """Of the pieces of `text`, written down plainly: all that can be kept or left out is
    followed."""

    @cache
    def follow(
        symbols: tuple[str, ...], left_out: frozenset[tuple[int, int]]
    ) -> tuple[tuple[tuple[str, ...], float], ...]:
        """`left_out`: first and last character, from and to, of the pairs that were left out and
        have not changed."""
        starts = [sum(map(len, symbols[:index])) for index in range(len(symbols) + 1)]
        pairs = [
            (-scores[symbols[at] + symbols[at + 1]], starts[at], at)
            for at in range(len(symbols) - 1)
            if symbols[at] + symbols[at + 1] in scores
            and (starts[at], starts[at + 1], starts[at + 2]) not in left_out
        ]
        if not pairs:
            return ((symbols, 1.0),)
        _, _, at = min(pairs)
        merged = (*symbols[:at], symbols[at] + symbols[at + 1], *symbols[at + 2 :])
        probabilities: Counter[tuple[str, ...]] = Counter()
        key = (starts[at], starts[at + 1], starts[at + 2])
        for outcomes, weight in (
            (follow(merged, left_out), 1 - dropout),
            (follow(symbols, left_out | {key}), dropout),
        ):
            for pieces, probability in outcomes:
                probabilities[pieces] += weight * probability
        return tuple(probabilities.items())

    return dict(follow(tuple(text), frozenset()))


def distance(expected: dict[tuple[str, ...], float], drawn: Counter[tuple[str, ...]]) -> float:
    """Half the sum of the differences of the probabilities (total variation)."""
    total = sum(drawn.values())
    return (
        sum(
            abs(expected.get(key, 0.0) - drawn[key] / total)
            for key in expected.keys() | drawn.keys()
        )
        / 2
    )


@pytest.mark.parametrize("dropout", [0.1, 0.5])
@pytest.mark.parametrize("word", ["einem", "leiter", "shirt"])
@pytest.mark.heavy
def test_pieces_are_drawn_from_the_distribution_of_bpe_dropout(
    subwords: Subwords, word: str, dropout: float
) -> None:
    scores = subwords.scores
    text = WORD_MARK + word
    expected = exact_distribution(dict(scores), text, dropout)
    assert sum(expected.values()) == pytest.approx(1)
    assert len(expected) >= 5
    drawn = Counter(SubwordSampler(subwords).sample([word] * NUM_DRAWN, dropout, seed=1))
    assert drawn.keys() <= expected.keys()
    assert distance(expected, drawn) < 0.02
    # and sentencepiece's own sampler, whose random numbers differ in each process, draws from the
    # same
    processor = sentencepiece.SentencePieceProcessor(model_proto=subwords.model)
    theirs = processor.encode(
        [word] * NUM_DRAWN, out_type=str, enable_sampling=True, alpha=dropout, nbest_size=-1
    )
    assert distance(expected, Counter(map(tuple, theirs))) < 0.03


def test_without_dropout_the_pieces_are_those_of_sentencepiece(subwords: Subwords) -> None:
    generator = random.Random(0)
    letters = sorted({letter for word in WORDS for letter in word})
    words = [
        *WORDS,
        *("".join(generator.choices(letters, k=generator.randint(1, 12))) for _ in range(500)),
    ]
    assert SubwordSampler(subwords).sample(words, 0.0, seed=0) == [
        subwords.pieces_of(word) for word in words
    ]


def test_a_piece_that_is_no_merge_of_two_pieces_is_never_made() -> None:
    assert BpeDropout({"a": -1.0, "b": -2.0, "abc": 0.0}).sample("abc", 0.0, random.Random(0)) == (
        "a",
        "b",
        "c",
    )


@pytest.mark.subprocess
def test_another_process_draws_the_same_pieces(subwords: Subwords) -> None:
    program = """
import sys
from augenmerk.core.extensions.training.corpora.bpe_dropout import SubwordSampler
from augenmerk.core.text.subwords import Subwords
print(repr(SubwordSampler(Subwords.from_text(sys.argv[1])).sample(sys.argv[2:] * 20, 0.3, seed=5)), end="")
"""
    command = [sys.executable, "-c", program, subwords.to_text(), *WORDS]
    process = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert process.stdout == repr(SubwordSampler(subwords).sample(WORDS * 20, 0.3, seed=5))
