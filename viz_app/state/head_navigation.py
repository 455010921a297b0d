"""Walking from head to head by keys. No Qt."""

from typing import Literal

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import MAP_KINDS
from augenmerk.viz_app.state.experiment_state import ExperimentState

Direction = Literal["left", "right", "up", "down", "first", "last"]


def neighbour(state: ExperimentState, direction: Direction) -> Head | None:
    """The head beside the chosen one as the grid shows them: up and down through layers and on through the kinds.

    None at an edge, or while nothing is shown.
    """
    if state.result is None:
        return None
    lines = [line for kind in MAP_KINDS for line in state.roles.lines_of_heads(kind)]
    head = state.selection.head
    here = next((number for number, line in enumerate(lines) if head in line), None)
    if here is None:
        return None
    place, last = lines[here].index(head), len(lines[here]) - 1
    place = {"left": place - 1, "right": place + 1, "first": 0, "last": last}.get(direction, place)
    here += {"up": -1, "down": 1}.get(direction, 0)
    if not (0 <= here < len(lines) and 0 <= place <= last):
        return None
    return lines[here][min(place, len(lines[here]) - 1)]
