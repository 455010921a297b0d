"""Colours of curves in the window, by theme."""

from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.train.charts.paper_colors import RUN_COLORS_DARK, RUN_COLORS_LIGHT
from augenmerk.viz_app.train.charts.settings import NUM_RUNS


def line_color(name: str, theme: Theme) -> str:
    """The colour "#rrggbb" behind a name: "run 0", "run 1" … or a field of the theme's palette."""
    if name.startswith("run "):
        return (RUN_COLORS_DARK if theme.is_dark else RUN_COLORS_LIGHT)[int(name[4:]) % NUM_RUNS]
    return str(getattr(theme.palette, name))
