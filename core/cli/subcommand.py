"""The declaration of a command of the program. Imports nothing heavy."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Subcommand:
    """A command of the program. Its code is imported when it runs, or when its options are shown.

    Attributes:
        help: what it does, for the list of commands.
        module: full name of a module with `add_options(parser)` and `run(options)`. Its docstring
            describes it.
        order: its place in the list, from small to large.
    """

    help: str
    module: str
    order: int
