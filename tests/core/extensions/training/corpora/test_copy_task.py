"""The copy task draws what The Annotated Transformer draws."""

import random
from collections import Counter

import pytest

from augenmerk.core.extensions.training.corpora.prepared import draw_sequences


def test_every_sequence_begins_with_the_start_symbol_and_has_the_length_asked_for() -> None:
    sequences = draw_sequences(30, 10, 10, random.Random(1))
    assert len(sequences) == 30
    assert all(len(sequence) == 10 and sequence[0] == 1 for sequence in sequences)


def test_symbols_are_uniform_from_one_to_the_largest_and_never_padding() -> None:
    drawn = Counter(
        symbol
        for sequence in draw_sequences(2000, 10, 10, random.Random(1))
        for symbol in sequence[1:]
    )
    assert sorted(drawn) == list(range(1, 11))
    expected = 2000 * 9 / 10
    assert all(abs(count - expected) < 5 * expected**0.5 for count in drawn.values())


def test_the_generator_alone_decides_the_sequences() -> None:
    random.seed(7)
    state = random.getstate()
    first = draw_sequences(20, 10, 10, random.Random(5))
    assert random.getstate() == state, "the global generator was touched"
    random.seed(8)
    assert draw_sequences(20, 10, 10, random.Random(5)) == first
    assert draw_sequences(20, 10, 10, random.Random(6)) != first


def test_the_generator_moves_on_so_that_each_epoch_sees_new_sequences() -> None:
    generator = random.Random(5)
    assert draw_sequences(20, 10, 10, generator) != draw_sequences(20, 10, 10, generator)


@pytest.mark.parametrize(("num_pairs", "length", "expected"), [(0, 10, []), (2, 1, [[1], [1]])])
def test_the_smallest_sizes_hold(num_pairs: int, length: int, expected: list[list[int]]) -> None:
    assert draw_sequences(num_pairs, length, 10, random.Random(0)) == expected
