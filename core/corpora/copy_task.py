"""The copy task of The Annotated Transformer: the target repeats the source.

Symbol 0 is padding and symbol 1 the start; there is no end token: the length of a sequence is known.
"""

import random

START_SYMBOL = 1


def draw_sequences(num_pairs: int, length: int, num_symbols: int, rng: random.Random) -> list[list[int]]:
    """`num_pairs` sequences of `length` symbols; each is both source and target of one pair.

    The first symbol of each is 1, the others are uniform over 1 … `num_symbols` (both included), drawn from `rng`.
    """
    return [[START_SYMBOL, *(rng.randint(1, num_symbols) for _ in range(length - 1))] for _ in range(num_pairs)]
