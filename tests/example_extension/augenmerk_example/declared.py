"""What menus and help need to know. The code behind it is imported when it is used."""

from augenmerk.core.cli.subcommand import Subcommand
from augenmerk.viz_app.translate.analysis_tab import Tab

SHARPEST = Tab(
    name="Sharpest",
    tip="The heads of this kind by the mean of their largest weights",
    meaning="The largest weight of each query, averaged: 1 if the head always looks at one token alone. A sharp head "
    "need not matter.",
    code="augenmerk_example.tab:SharpestTab",
    order=100,
)
COMMAND = Subcommand("print the heads that look at one token alone", "augenmerk_example.command", order=200)
