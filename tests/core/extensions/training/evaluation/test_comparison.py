"""Paired comparison of two systems: no difference where there is none, and the same each time."""

import numpy as np
import pytest
import sacrebleu

from augenmerk.core.errors import ArgumentError, CorpusError
from augenmerk.core.extensions.training.comparison import (
    compare_translations,
    paired_bootstrap,
)
from augenmerk.core.extensions.training.evaluation import bleu_of, bleu_statistics
from tests.core.extensions.training.evaluation.test_bootstrap import corpus
from tests.core.translators import ENGLISH


def test_a_system_does_not_differ_from_itself() -> None:
    comparison = compare_translations(ENGLISH[40:80], ENGLISH[40:80], ENGLISH[:40])
    assert [score.metric for score in comparison.scores] == [
        "sacreBLEU, cased, detokenized",
        "chrF",
    ]
    for score in comparison.scores:
        assert (score.difference, score.interval, score.p_value) == (0, (0, 0), 1)
    assert (comparison.num_different, comparison.most_different) == (0, ())


def test_scores_are_sacrebleus_and_the_numbers_are_the_same_each_time() -> None:
    references = ENGLISH[:60]
    first = [*ENGLISH[:30], *ENGLISH[60:90]]
    second = [*ENGLISH[:50], *ENGLISH[90:100]]
    comparison = compare_translations(first, second, references)
    assert comparison == compare_translations(first, second, references)
    by_metric = zip(comparison.scores, (sacrebleu.corpus_bleu, sacrebleu.corpus_chrf), strict=True)
    for score, library in by_metric:
        expected = [library(side, [references]).score for side in (first, second)]
        assert [score.first, score.second] == pytest.approx(expected)
        assert score.interval[0] < score.difference < score.interval[1]
        assert score.interval[0] > 0
        assert score.p_value < 0.01


def test_a_comparison_of_few_sentences_says_that_it_says_little() -> None:
    few, enough = (
        compare_translations(ENGLISH[1 : count + 1], ENGLISH[:count], ENGLISH[:count])
        for count in (3, 50)
    )
    (warning,) = few.warnings
    assert warning.startswith("A bootstrap of 3 sentences says little")
    assert "Use at least 50 sentences" in warning
    assert enough.warnings == ()


def test_swapped_systems_have_the_opposite_difference() -> None:
    systems = ENGLISH[1:61], [*ENGLISH[:30], *ENGLISH[60:90]]
    there, back = (
        compare_translations(*pair, ENGLISH[:60]).scores[0] for pair in (systems, systems[::-1])
    )
    assert back.difference == -there.difference
    assert back.interval == pytest.approx((-there.interval[1], -there.interval[0]))
    assert back.p_value == there.p_value


def test_the_sentences_that_differ_most_come_first() -> None:
    references = ["A man stands.", "A dog sleeps.", "A boy sings in the grass.", "A boy."]
    first = ["A man stands.", "A dog sleep.", "xyz", "A boy."]
    second = ["A man stands.", "A dog sleeps.", "A boy sings in the grass.", "A boy"]
    comparison = compare_translations(first, second, references)
    assert [sentence.index for sentence in comparison.most_different] == [2, 3, 1]
    assert comparison.most_different[0].chrf_difference == pytest.approx(98, abs=1)
    assert comparison.most_different[1].chrf_difference < 0


@pytest.mark.heavy
def test_five_percent_of_equal_systems_differ_significantly_at_five_percent() -> None:
    """Each sentence's two translations, of which one is much better, fall to the systems by lot."""
    chance = np.random.default_rng(5)
    p_values = []
    for seed in range(300):
        good, references = corpus(seed, 60)
        poor, _ = corpus(seed + 1000, 60)
        statistics = np.stack([bleu_statistics(side, references) for side in (good, poor)])
        lot = chance.integers(2, size=60)
        first, second = (statistics[side, np.arange(60)] for side in (lot, 1 - lot))
        p_values.append(paired_bootstrap(first, second, bleu_of, 200, seed)[1])
    assert 0.02 < np.mean(np.array(p_values) <= 0.05) < 0.085
    assert 0.4 < np.mean(np.array(p_values) <= 0.5) < 0.6


@pytest.mark.parametrize(
    ("first", "second", "references", "message"),
    [
        (["a", "b"], ["a"], ["a"], "2 translations by the first and 1 by the second system"),
        ([], [], [], "There are no references"),
        (["a"], ["b"], [" "], "There are no references"),
        (["a"], ["b"], ["a"], "One sentence has no interval and no p"),
    ],
)
def test_sides_of_unequal_length_and_missing_references_are_refused(
    first: list[str], second: list[str], references: list[str], message: str
) -> None:
    with pytest.raises(CorpusError, match=message):
        compare_translations(first, second, references)


def test_a_single_text_is_not_a_list_of_sentences() -> None:
    with pytest.raises(ArgumentError):
        compare_translations("A man.", "A man.", "A man.")
