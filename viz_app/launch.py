"""The console script `augenmerk`: opens the window, or runs a command of `core.cli`.

Nothing heavy is imported here: `augenmerk translate` starts without Qt, and the window appears
before torch is imported.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from augenmerk.core.cli.command import OptionParser, leave, refuse, run_guarded
from augenmerk.core.cli.outputs import PICTURES, OutputFile
from augenmerk.core.process import (
    collector_paused,
    open_standard_streams,
    share_one_heap,
    tune_process,
)

HELP_FLAGS = ("-h", "--help")
VERSION_FLAG = "--version"
WINDOW_HELP = """\
Augenmerk translates German into English with a Transformer, and shows where every head of every layer looked.

The window:
  augenmerk                              open the window with the bundled model
  augenmerk app [FILE]                   open it with a checkpoint, a model to import, a saved experiment or a lesson
      --sentence TEXT                    start with this sentence; the word app may be left out before options
      --screenshot PNG                   translate, save a picture of the window, and exit

Command-line commands:
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `augenmerk` with `argv`, else with that of the process; returns its exit status.

    A command of the process itself ends it.
    """
    open_standard_streams()
    tune_process()  # before anything imports torch
    # a notebook's backend may be unknown here, and is not needed
    os.environ.pop("MPLBACKEND", None)
    os.environ["QT_HASH_SEED"] = "0"  # else the order of the fonts in a PDF file is random
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments:
        return open_window([])
    if arguments[0] == "app":
        return open_window(arguments[1:])
    if arguments[0] in HELP_FLAGS:
        return run_guarded(lambda: _show_help(arguments))
    if arguments[0].startswith("-") and arguments[0] != VERSION_FLAG:
        return open_window(arguments)  # options of `app`, whose name is optional
    status = run_command(arguments)
    if argv is None:
        leave(status)
    return status


def _show_help(arguments: list[str]) -> int:
    print(WINDOW_HELP, flush=True)
    return run_command(arguments)


def run_command(arguments: list[str]) -> int:
    """Runs a subcommand, without Qt."""
    from augenmerk.core.cli.main import main as run

    return run(arguments)


def open_window(arguments: list[str]) -> int:
    """Opens the window with the arguments of `augenmerk app`.

    Returns 2, with a message, if it cannot.
    """
    return run_guarded(lambda: _open_window(window_parser().parse_args(arguments)))


def _open_window(options: argparse.Namespace) -> int:
    import_module("PySide6")  # a missing package is reported before a missing screen
    from .system_libraries import prepare_display

    problem = prepare_display(picture_only=options.screenshot is not None)
    if problem:
        return refuse(problem)
    share_one_heap()  # before any thread takes memory
    with collector_paused(for_good=True):
        from .application import end_process, run_app

    return end_process(run_app(options.checkpoint, options.sentence, options.screenshot))


def window_parser() -> argparse.ArgumentParser:
    """The options of `augenmerk app`."""
    parser = OptionParser(prog="augenmerk app", description="Open the window.")
    parser.add_argument(
        "checkpoint",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="a checkpoint, a model of another project, or an experiment or lesson (*.augenmerk) "
        "(default: the bundled model, German to English)",
    )
    parser.add_argument("--sentence", metavar="TEXT", help="start with this sentence")
    parser.add_argument(
        "--screenshot",
        type=OutputFile(PICTURES[0]),
        metavar="PNG",
        help="translate, save a picture of the window to this file, and exit",
    )
    return parser
