"""IBM model 1 on corpora so small that the answer is known."""

import math

import numpy as np
import pytest

from augenmerk.core.errors import AnalysisError
from augenmerk.core.extensions.analyses.alignment import train_ibm_1

GERMAN = [["das", "Haus"], ["das", "Buch"], ["ein", "Buch"]]
ENGLISH = [["the", "house"], ["the", "book"], ["a", "book"]]


def reference_em(
    sources: list[list[str]], targets: list[list[str]], num_iterations: int
) -> dict[tuple, float]:
    """The textbook's loops."""
    words = {word for target in targets for word in target}
    t = {(s, w): 1 / len(words) for source in sources for s in [None, *source] for w in words}
    for _ in range(num_iterations):
        counts, totals = dict.fromkeys(t, 0.0), dict.fromkeys({s for s, _ in t}, 0.0)
        for source, target in zip(sources, targets, strict=True):
            for word in target:
                norm = sum(t[s, word] for s in [None, *source])
                for s in [None, *source]:
                    counts[s, word] += t[s, word] / norm
                    totals[s] += t[s, word] / norm
        t = {(s, w): value / totals[s] for (s, w), value in counts.items()}
    return t


@pytest.mark.parametrize("num_iterations", [1, 5])
def test_probabilities_are_those_of_the_textbooks_loops(num_iterations: int) -> None:
    # a word twice counts twice
    german, english = [*GERMAN, ["Buch", "Buch"]], [*ENGLISH, ["book", "the", "book"]]
    model = train_ibm_1(german, english, num_iterations)
    for (source, target), value in reference_em(german, english, num_iterations).items():
        assert model.probability(source, target) == pytest.approx(value, abs=1e-12), (
            source,
            target,
        )


def test_the_house_is_found_by_what_the_other_pairs_explain() -> None:
    model = train_ibm_1(GERMAN, ENGLISH, 50)
    assert model.probability("Haus", "house") > 0.9
    assert model.probability("das", "the") > 0.9
    for source, target in zip(GERMAN, ENGLISH, strict=True):
        assert model.links(source, target) == {(0, 0), (1, 1)}
    # order does not matter to it
    assert model.links(["Haus", "das"], ["the", "house"]) == {(1, 0), (0, 1)}


def test_probabilities_of_each_source_word_sum_to_one_and_likelihood_never_falls() -> None:
    model = train_ibm_1(GERMAN, ENGLISH, 20)
    for source in (None, "das", "haus", "buch", "ein"):
        assert math.fsum(
            model.probability(source, word) for word in model.target_ids
        ) == pytest.approx(1)
    assert (np.diff(model.log_likelihoods) >= -1e-12).all()


def test_unknown_words_go_to_the_diagonal_and_known_ones_never_to_the_empty_word() -> None:
    model = train_ibm_1(GERMAN, ENGLISH)
    assert model.links(["Ein", "Zebra", "schläft"], ["a", "zebra", "sleeps"]) == {
        (0, 0),
        (1, 1),
        (2, 2),
    }
    assert model.probability("Zebra", "house") == 0
    assert len(model.links(["Haus"], ["the", "house", "."])) == 3


def test_case_makes_no_difference() -> None:
    model = train_ibm_1([["Das", "HAUS"]], [["The", "House"]])
    assert model.probability("haus", "HOUSE") == model.probability("Haus", "house") > 0


def test_nothing_to_learn_from_is_refused() -> None:
    with pytest.raises(AnalysisError, match="at least one sentence pair"):
        train_ibm_1([[]], [["a"]])
    with pytest.raises(AnalysisError, match="1 sentence and 2 translations"):
        train_ibm_1([["a"]], [["a"], ["b"]])
