"""What menus and help need to know. The code behind it is imported when it is used."""

from augenmerk.core.cli.subcommand import Subcommand
from augenmerk.core.extensions.readers.reader import FileReader, FolderReader
from augenmerk.viz_app.state.tabs import Tab

SHARPEST = Tab(
    name="Sharpest",
    tip="The heads of this kind by the mean of their largest weights",
    meaning="The largest weight of each query, averaged: 1 if the head always looks at one token "
    "alone. A sharp head need not matter.",
    code="augenmerk_example.tab:SharpestTab",
    order=100,
)
PREFIX = "example/"
"""Of the names of the weights in a single file; the rest of them is as here, and so are those in a
folder.
"""
EXAMPLE_FILE = FileReader(
    name="the example",
    code="augenmerk_example.reader:read_example",
    order=100,
    weight=f"{PREFIX}output.weight",
    files="*.example",
)
EXAMPLE_FOLDER = FolderReader(
    name="Example",
    code="augenmerk_example.reader:ExampleFolder",
    order=110,
    settings_file="example.json",
    weights="weights.safetensors",
)
COMMAND = Subcommand(
    "print the heads that look at one token alone", "augenmerk_example.command", order=200
)
