"""The command line: parses, hands over, and turns user errors into one message and exit status 2."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from core import __version__
from core.cli import align, analyze, average, data, evaluate, info, runs, train, translate
from core.errors import AugenmerkError

USER_ERROR = 2
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status: 0, 2 for a user's error, 130 when interrupted."""
    options = make_parser().parse_args(argv)
    return run_guarded(lambda: options.run(options))


def run_guarded(command: Callable[[], int]) -> int:
    """Runs a command; what a user can act on becomes one message on standard error and an exit status."""
    try:
        return command()
    except AugenmerkError as error:
        print(f"augenmerk: {error}", file=sys.stderr)
        return USER_ERROR
    except KeyboardInterrupt:
        print("augenmerk: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output, `head` for instance, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="augenmerk",
        description="Train a German–English Transformer, translate with it, and look at every head's attention.",
    )
    parser.add_argument("--version", action="version", version=f"augenmerk {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for module in (translate, analyze, align, train, runs, evaluate, data, info, average):
        module.add_command(commands)
    return parser
