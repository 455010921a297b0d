"""The command line: choose the command, parse its options, run it."""

import argparse
import difflib
import sys
from collections.abc import Callable, Collection, Sequence
from importlib import import_module

from .. import __version__
from ..registry import Registry
from ..storage import is_file, is_folder
from .command import OptionParser, run_guarded
from .subcommand import Subcommand

SUBCOMMANDS: Registry[Subcommand] = Registry(
    "augenmerk.commands",
    Subcommand,
    "command",
    {"translate": Subcommand("translate a text", "augenmerk.core.cli.translate", order=10)},
)
"""Every command, by its name. Only the requested one is imported: some take seconds."""
WINDOW = "app"
"""The command that opens the window, which `augenmerk.viz_app.launch` runs."""
_OWN_OPTIONS = ("-h", "--help", "--version")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0, 2 for a user error, 130 if interrupted.

    Args:
        argv: the command and its options; None: those of the process.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    return run_guarded(lambda: _parsed_and_run(arguments))


def _parsed_and_run(arguments: list[str]) -> int:
    first = arguments[0] if arguments else ""
    parser = make_parser([first]) if first in SUBCOMMANDS else make_parser(has_options=False)
    if first and first not in (*SUBCOMMANDS, *_OWN_OPTIONS):
        parser.error(_no_such_command(first))
    options = parser.parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    return run(options)


def make_parser(
    commands: Collection[str] = SUBCOMMANDS, *, has_options: bool = True
) -> argparse.ArgumentParser:
    """The parser of these commands.

    Without their options, it only lists them, and imports no code of theirs.
    """
    parser = OptionParser(
        prog="augenmerk",
        description="Train or import a Transformer that translates, and see the attention of every head.",
    )
    parser.add_argument("--version", action="version", version=f"augenmerk {__version__}")
    actions = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name in commands:
        subcommand = SUBCOMMANDS[name]
        command = actions.add_parser(name, help=subcommand.help)
        if has_options:
            module = import_module(subcommand.module)
            command.description = module.__doc__
            command.set_defaults(run=module.run)
            module.add_options(command)
    return parser


def _no_such_command(argument: str) -> str:
    """The message for a first argument that is not a command."""
    known = (WINDOW, *SUBCOMMANDS)
    problem = f"{argument!r} is not a command. Commands: {', '.join(known)}."
    if argument.startswith("-"):
        return f"{problem} Put the command before its options."
    if kind := _kind_of(argument):
        return f"{problem} To open a {kind} in the window: augenmerk app {kind.upper()}."
    if near := difflib.get_close_matches(argument, known, n=1):
        return f"{problem} Did you mean {near[0]}?"
    return f"{problem} To translate a sentence: augenmerk translate SENTENCE."


def _kind_of(argument: str) -> str:
    """“file”, “folder” or an empty string. A sentence may be longer than any path."""
    if is_folder(argument):
        return "folder"
    return "file" if is_file(argument) else ""
