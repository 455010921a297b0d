"""The commands that step through the scenes of a lesson, and their keys."""

from collections.abc import Callable
from typing import Protocol

from ...widgets.commands import Command

SCENES = "While a lesson is shown"
"""A heading of the sheet of keys."""
KEYS_BESIDE_SCENES = """Alt ← → heads   ↑ ↓ layers   O on/off   (← → scenes of the lesson)
Alt ← → heads   ↑ ↓ layers   O on/off"""
"""Below the grid of heads, while ← and → alone step through scenes."""


class Scenes(Protocol):
    """A part that steps through the scenes of a lesson."""

    @property
    def step_scene(self) -> Callable[[int], bool]:
        """Moves by a number of scenes; False if none is shown."""


SCENE_COMMANDS = (
    Command[Scenes](
        "Previous scene",
        lambda part: part.step_scene(-1),
        keys=("PgUp",),
        local_keys=("Left", "PgUp"),
        group=SCENES,
        line="Previous and next scene",
    ),
    Command[Scenes](
        "Next scene",
        lambda part: part.step_scene(1),
        keys=("PgDown",),
        local_keys=("Right", "PgDown"),
        group=SCENES,
        line="Previous and next scene",
    ),
)
"""From the maps and the lesson bar; Page Up and Page Down, which a presenter's remote sends, from
anywhere.
"""
