"""Commands that draw or write pages, found by entry points. Imports nothing heavy."""

from augenmerk.core.cli.subcommand import Subcommand

FIGURE = Subcommand(
    "draw a map, or all heads (--grid), as PNG, SVG, PDF or one HTML page",
    "augenmerk.viz_app.extensions.pictures.figure_command",
    order=110,
)
PAGE = Subcommand(
    "write a model as one HTML page that runs it in a browser",
    "augenmerk.viz_app.extensions.lessons.page_command",
    order=120,
)
CHARTS = Subcommand(
    "of a training: charts (PNG, SVG, PDF), metrics (CSV), film (GIF, MP4)",
    "augenmerk.viz_app.extensions.train.charts_command",
    order=130,
)
