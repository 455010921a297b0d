"""How large the cells of the large map are. No Qt."""

Zoom = float
AUTO: Zoom = -1.0
"""The whole map where its labels stay legible that way; else cells that are, and the map scrolls."""
FIT: Zoom = 0.0
"""The whole map, however small its cells."""
MIN_LEGIBLE_PX = 9.0
LEGIBLE_PX = 11.0
MAX_PX = 96.0
STEP = 1.25


def zoomed(side: float, num_steps: float) -> Zoom:
    """Cells larger by so many steps, smaller if negative, from the height they have now."""
    return float(min(side * STEP**num_steps, MAX_PX))
