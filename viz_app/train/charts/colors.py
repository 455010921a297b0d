"""Colours and markers of curves, in the window and in saved figures. No Qt.

Those of compared runs are safe for colour-blind users, and differ in their markers, too. The colours are from the set
of Okabe and Ito ("Color Universal Design", 2008), without those close to the accent and the warm colour of the themes.
"""

from collections.abc import Mapping

from augenmerk.viz_app.train.charts.settings import NUM_RUNS

RUN_COLORS_LIGHT = ("#00795a", "#b0528c", "#7a6a00", "#4a4f57")
RUN_COLORS_DARK = ("#2fc79f", "#e08fc0", "#f0e442", "#c9cdd3")
RUN_MARKERS = ("s", "^", "D", "v")
assert len(RUN_COLORS_LIGHT) == len(RUN_COLORS_DARK) == len(RUN_MARKERS) == NUM_RUNS
PAPER_COLORS = {
    "text": "#1b1e23",
    "muted": "#61676f",
    "border": "#dfe1e5",
    "grid": "#e8eaed",
    "accent": "#2a63cc",
    "faint_accent": "#b7cbf1",
    "warm": "#a84c08",
}
"""For saved figures, which are always light: those of the light theme; a test compares them."""


def line_color(name: str, palette: Mapping[str, str] = PAPER_COLORS, *, is_dark: bool = False) -> str:
    """The colour "#rrggbb" of a name: "run 0", "run 1" … or a key of `palette`."""
    if name.startswith("run "):
        return (RUN_COLORS_DARK if is_dark else RUN_COLORS_LIGHT)[int(name[4:]) % NUM_RUNS]
    return palette[name]


def marker_of(name: str) -> str:
    """matplotlib's name of the marker for points in this colour."""
    return RUN_MARKERS[int(name[4:]) % NUM_RUNS] if name.startswith("run ") else "o"
