"""The declaration of the map as lines. Its code is imported with the large map. No Qt."""

from augenmerk.core.quantities import percent

from ...state.experiment_state import ExperimentState
from ...state.map_drawings import MapDrawing


def explain(state: ExperimentState) -> str:
    """What wider lines and their colours mean."""
    threshold = percent(state.settings.line_threshold)
    text = (
        f"Wider lines stand for larger values. Lines under {threshold} of the strongest colour "
        "are left out."
    )
    is_signed = state.maps.is_signed(state.selection.head.kind)
    return f"{text} Orange lines mean more, blue lines less." if is_signed else text


LINES = MapDrawing(
    "augenmerk.viz_app.extensions.lines.view:LinesView",
    order=10,
    name="lines",
    tip="Lines between tokens, wider for larger weights",
    exported_as="as lines",
    row="The lines of each token",
    hint="""Click words at the left to sum their lines (Ctrl, Shift: several)
Click words at the left to sum their lines
Click words at the left
Click words""",
    headings=("Tokens on the left:", "Tokens on the right:", "Lines:"),
    explain=explain,
    elsewhere="In the app, lines show these values.",
)
