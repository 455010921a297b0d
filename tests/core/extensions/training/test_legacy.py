"""Behind the one door to torchtext: the score of the published systems.

Vocabulary and batches have their own tests.
"""

import pytest

from augenmerk.core.extensions.training.legacy import bleu


def test_bleu_of_the_reference_itself_is_100() -> None:
    words = "a man in a blue shirt".split()
    assert bleu([words], [words]) == pytest.approx(100)


def test_bleu_agrees_with_a_count_by_hand() -> None:
    hypothesis, reference = (
        "a man in a red shirt stands".split(),
        "a man in a blue shirt stands here".split(),
    )
    precisions = (6 / 7) * (4 / 6) * (2 / 5) * (1 / 4)
    brevity = 2.718281828459045 ** (1 - 8 / 7)
    assert bleu([hypothesis], [reference]) == pytest.approx(
        100 * brevity * precisions**0.25, rel=1e-5
    )


def test_bleu_without_any_common_words_is_zero_and_no_warning() -> None:
    assert bleu(["a b c d e".split()], ["v w x y z".split()]) == 0
