"""Rows of attention that look at a single key. No Qt."""

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import AttentionRow

from ...state.experiment_editor import Intent, intervene


def move_row(head: Head, row: int, key: int, num_keys: int) -> Intent:
    """Gives all weight of a row to one of the `num_keys` keys that its query sees."""
    num_seen = row + 1 if head.kind == "decoder" else num_keys
    return intervene(
        AttentionRow(head, row, tuple(float(column == key) for column in range(num_seen)))
    )
