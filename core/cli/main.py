"""The command line: chooses the command, parses its options, hands over."""

import argparse
import difflib
import sys
from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from pathlib import Path

from augenmerk.core import __version__
from augenmerk.core.cli.guard import run_guarded
from augenmerk.core.cli.parser import OptionParser

COMMANDS = ("translate", "analyze", "align", "train", "runs", "evaluate", "data", "info", "average", "import")
"""Each is a module of this package, or `_MODULES` names it. Only the one that is asked for is imported: some need
seconds."""
_MODULES = {"import": "import_model"}
"""Of commands whose name a module cannot have."""
WINDOW_COMMANDS = ("app", "figure", "charts")
"""Those that draw: `augenmerk.viz_app.launch` runs them."""
_OWN_OPTIONS = ("-h", "--help", "--version")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status: 0, 2 for a user's error, 130 when interrupted.

    Args:
        argv: the command and its options; None for those of the process.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    return run_guarded(lambda: _parsed_and_run(arguments))


def _parsed_and_run(arguments: list[str]) -> int:
    first = arguments[0] if arguments else ""
    parser = make_parser([first] if first in COMMANDS else COMMANDS)
    if first and first not in (*COMMANDS, *_OWN_OPTIONS):
        parser.error(_no_such_command(first))
    options = parser.parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    return run(options)


def make_parser(commands: Collection[str] = COMMANDS) -> argparse.ArgumentParser:
    """The parser of these commands."""
    parser = OptionParser(
        prog="augenmerk",
        description="Train a translating Transformer, or import one, and look at every head's attention.",
    )
    parser.add_argument("--version", action="version", version=f"augenmerk {__version__}")
    actions = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name in commands:
        import_module(f"augenmerk.core.cli.{_MODULES.get(name, name)}").add_command(actions)
    return parser


def _no_such_command(given: str) -> str:
    """What to say about a first argument that is no command."""
    known = (*WINDOW_COMMANDS, *COMMANDS)
    problem = f"{given!r} stands where a command was expected: one of {', '.join(known)}."
    if given.startswith("-"):
        return f"{problem} Put the command before its options."
    if kind := _kind_of(given):
        return f"{problem} To open a {kind} in the window: augenmerk app {kind.upper()}."
    if near := difflib.get_close_matches(given, known, n=1):
        return f"{problem} Did you mean {near[0]}?"
    return f"{problem} To translate a sentence: augenmerk translate SENTENCE."


def _kind_of(given: str) -> str:
    """Whether it is a file or a folder; empty if it is neither: a sentence may be longer than any path."""
    try:
        path = Path(given)
        return "folder" if path.is_dir() else "file" if path.is_file() else ""
    except OSError:
        return ""
