"""List the training runs in a folder, with their best scores."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ....errors import CheckpointError
from ....plain_text import one_line

if TYPE_CHECKING:
    from ..folder import RunSummary

_HEADER = ("run", "preset", "epochs", "steps", "best loss", "best BLEU", "state")
_TO_THE_RIGHT = frozenset({2, 3, 4, 5})
"""Columns of numbers, aligned to the right."""
HERE = Path("runs")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `runs`."""
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        help=f"where to look (default: {HERE} in the current folder, and the folders used by the "
        "window)",
    )


def run(options: argparse.Namespace) -> int:
    """Print a table for each folder that contains runs. Raises `AugenmerkError`."""
    from ..folder import (
        default_runs_folder,
        each_once,
        list_runs,
        remembered_run_folders,
        require_readable,
    )

    expected = [options.folder] if options.folder is not None else [HERE, default_runs_folder()]
    folders = expected if options.folder is not None else [*expected, *remembered_run_folders()]
    runs_by_folder = {folder: list_runs(folder) for folder in each_once(folders)}
    listed = set(map(id, each_once(run.folder for runs in runs_by_folder.values() for run in runs)))
    for folder, runs in runs_by_folder.items():
        runs_by_folder[folder] = [run for run in runs if id(run.folder) in listed]
    if not any(runs_by_folder.values()):
        for folder in expected:
            require_readable(folder)
        searched = " or ".join(map(str, each_once(expected)))
        raise CheckpointError(
            f"No run found in {searched}. Name the folder of a run (augenmerk train --out), or "
            "one that contains such folders."
        )
    tables = [
        "\n".join([*([one_line(folder)] if len(runs_by_folder) > 1 else []), *_table(runs)])
        for folder, runs in runs_by_folder.items()
        if runs
    ]
    print("\n\n".join(tables))
    return 0


def _table(runs: "Sequence[RunSummary]") -> list[str]:
    """A header and a line per run, in aligned columns."""
    rows = [_HEADER, *map(_cells, runs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(_aligned(row, widths)).rstrip() for row in rows]


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        cell.rjust(width) if column in _TO_THE_RIGHT else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]


def _cells(summary: "RunSummary") -> tuple[str, ...]:
    best, bleu = summary.best, summary.best_bleu
    total = summary.run.training.num_epochs if summary.run else "?"
    return (
        one_line(summary.folder.resolve().name),
        one_line(summary.preset),
        f"{len(summary.history)}/{total}",
        str(summary.step),
        f"{best.validation_loss:.4f}" if best else "–",
        f"{bleu:.2f}" if bleu is not None else "–",
        summary.state,
    )
