"""The interval around the BLEU of the reproduced systems: the same counts as torchtext, sentence by
sentence."""

import gzip
import random
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.extensions.training.evaluation import (
    bleu_of,
    bleu_statistics,
    bootstrap_bleu,
    interval_95,
    reference_words,
)
from augenmerk.core.extensions.training.legacy import bleu


def changed(words: list[str], chance: random.Random) -> list[str]:
    """Some words dropped, doubled, replaced or put elsewhere, as a poor translation would."""
    result = []
    for word in words:
        draw = chance.random()
        if draw > 0.1:
            result.append(word if draw > 0.2 else chance.choice(words))
        if draw > 0.95:
            result.append(word)
    if chance.random() < 0.1:
        chance.shuffle(result)
    return result


def corpus(
    seed: int, num_sentences: int = 30, num_words: int = 6
) -> tuple[list[list[str]], list[list[str]]]:
    """Sentences of 0 to 12 words out of few, so that n-grams repeat and clipping matters."""
    chance = random.Random(seed)
    words = [chr(ord("a") + index) for index in range(num_words)]
    references = [
        [chance.choice(words) for _ in range(chance.randrange(13))] for _ in range(num_sentences)
    ]
    return [changed(reference, chance) for reference in references], references


def score_of(hypotheses: list[list[str]], references: list[list[str]]) -> float:
    return float(bleu_of(bleu_statistics(hypotheses, references).sum(axis=0)))


@pytest.mark.parametrize("seed", range(20))
def test_summed_statistics_give_torchtexts_score(seed: int) -> None:
    hypotheses, references = corpus(seed)
    assert score_of(hypotheses, references) == pytest.approx(bleu(hypotheses, references), rel=1e-5)
    assert score_of(hypotheses, references) > 10


def test_summed_statistics_give_torchtexts_score_on_real_sentences(multi30k_folder: Path) -> None:
    lines = (
        gzip.decompress((multi30k_folder / "val.en.gz").read_bytes()).decode("utf-8").splitlines()
    )
    references = reference_words(lines, "en")
    chance = random.Random(0)
    hypotheses = [changed(words, chance) for words in references]
    assert score_of(hypotheses, references) == pytest.approx(bleu(hypotheses, references), rel=1e-5)
    assert len(references) == 1014


@pytest.mark.parametrize(
    ("hypotheses", "references"),
    [
        ([["a", "b", "c"]], [["a", "b", "c"]]),
        ([[]], [["a"]]),
        ([[], ["x", "y", "z", "w"]], [["a", "b"], ["x", "y", "z", "w"]]),
        ([["a", "b", "c", "d", "e"]], [["v", "w", "x", "y", "z"]]),
        ([["a", "a", "a", "a", "a"]], [["a", "a", "a", "a"]]),
        ([["a", "b", "c", "d"]], [[]]),
    ],
    ids=["no 4-gram", "nothing", "one empty", "no match", "clipped", "empty reference"],
)
def test_the_odd_cases_are_torchtexts(
    hypotheses: list[list[str]], references: list[list[str]]
) -> None:
    assert score_of(hypotheses, references) == pytest.approx(bleu(hypotheses, references), rel=1e-5)


def test_each_resample_is_a_set_that_torchtext_would_score_so() -> None:
    hypotheses, references = corpus(3)
    scores = bootstrap_bleu(bleu_statistics(hypotheses, references), num_resamples=5, seed=7)
    generator = np.random.default_rng(7)
    for score in scores:
        drawn = generator.integers(len(references), size=len(references))
        expected = bleu(
            [hypotheses[index] for index in drawn], [references[index] for index in drawn]
        )
        assert score == pytest.approx(expected, rel=1e-5)


@pytest.mark.heavy
def test_the_interval_holds_the_score_and_narrows_with_more_sentences() -> None:
    widths = []
    for num_sentences in (50, 800):
        hypotheses, references = corpus(1, num_sentences)
        statistics = bleu_statistics(hypotheses, references)
        low, high = interval_95(bootstrap_bleu(statistics))
        assert low < score_of(hypotheses, references) < high
        assert (low, high) == interval_95(bootstrap_bleu(statistics)), "the same numbers each time"
        widths.append(high - low)
    assert widths[0] / widths[1] == pytest.approx(4, rel=0.35)  # the square root of 16


def test_a_perfect_or_a_single_translation_has_no_width() -> None:
    _, references = corpus(2)
    assert interval_95(bootstrap_bleu(bleu_statistics(references, references))) == pytest.approx(
        (100, 100)
    )
    one = bleu_statistics([["a", "b", "c", "d", "e"]], [["a", "b", "c", "d", "f"]])
    low, high = interval_95(bootstrap_bleu(one))
    assert low == high == pytest.approx(float(bleu_of(one[0])))
