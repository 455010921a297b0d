"""Colours of curves in figures that are saved, which are always light; colours and markers of compared runs. No Qt.

Those of compared runs are safe for colour-blind users, and differ in their markers, too. The colours are from the set
of Okabe and Ito ("Color Universal Design", 2008), without those close to the accent and the warm colour of the themes.
"""

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
"""Those of the light theme; a test compares them."""


def paper_color(name: str) -> str:
    """The colour "#rrggbb" behind a name: "run 0", "run 1" … or a key of `PAPER_COLORS`."""
    if name.startswith("run "):
        return RUN_COLORS_LIGHT[int(name[4:]) % NUM_RUNS]
    return PAPER_COLORS[name]


def marker_of(name: str) -> str:
    """matplotlib's name of the marker for points in this colour."""
    return RUN_MARKERS[int(name[4:]) % NUM_RUNS] if name.startswith("run ") else "o"
