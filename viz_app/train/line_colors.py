"""Colours of curves. Those of compared runs are safe for colour-blind users, and differ in their markers, too.

The colours are from the set of Okabe and Ito ("Color Universal Design", 2008), without those close to the accent and
the warm colour of the themes.
"""

from viz_app.theme import Theme
from viz_app.train.chart_settings import NUM_RUNS

RUN_COLORS_LIGHT = ("#00795a", "#b0528c", "#7a6a00", "#4a4f57")
RUN_COLORS_DARK = ("#2fc79f", "#e08fc0", "#f0e442", "#c9cdd3")
RUN_MARKERS = ("s", "^", "D", "v")
assert len(RUN_COLORS_LIGHT) == len(RUN_COLORS_DARK) == len(RUN_MARKERS) == NUM_RUNS


def line_color(name: str, theme: Theme) -> str:
    """The colour "#rrggbb" behind a name: "run 0", "run 1" … or a field of the theme's palette."""
    if name.startswith("run "):
        return (RUN_COLORS_DARK if theme.is_dark else RUN_COLORS_LIGHT)[int(name[4:]) % NUM_RUNS]
    return str(getattr(theme.palette, name))


def marker_of(name: str) -> str:
    """matplotlib's name of the marker for points in this colour."""
    return RUN_MARKERS[int(name[4:]) % NUM_RUNS] if name.startswith("run ") else "o"
