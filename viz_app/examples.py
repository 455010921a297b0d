"""The examples that can be chosen instead of typing."""

from core.resources import example_sentences

__all__ = ["copy_examples", "example_sentences"]


def copy_examples(num_symbols: int) -> tuple[str, ...]:
    """Sequences for a model of the copy task, which knows the symbols 1 to `num_symbols` and begins with 1."""
    patterns = (range(2, 11), (9, 2, 8, 3, 7, 4, 6, 5, 10), (7, 7, 3, 3, 5, 5, 2, 2, 4))
    return tuple(" ".join(["1", *(str((each - 1) % num_symbols + 1) for each in row)]) for row in patterns)
