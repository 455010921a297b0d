"""`augenmerk runs`: the training runs in a folder, with their best scores."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import CheckpointError

if TYPE_CHECKING:
    from core.training.overview import RunSummary

_HEADER = f"{'run':24} {'preset':16} {'epochs':>9} {'steps':>8} {'best loss':>10} {'best BLEU':>10}  state"


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds `runs`."""
    parser = commands.add_parser("runs", help="list training runs", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("runs"), help="where to look (default: runs)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Prints the table. Raises `AugenmerkError`."""
    from core.training.overview import list_runs

    found = list_runs(options.folder)
    if not found:
        raise CheckpointError(
            f"There is no run in {options.folder}. A folder that `augenmerk train --out` wrote to, or one that holds "
            "such folders, was expected. Name it."
        )
    print(_HEADER)
    for summary in found:
        print(_line(summary))
    return 0


def _line(summary: "RunSummary") -> str:
    best, bleu = summary.best, summary.best_bleu
    total = summary.run.training.num_epochs if summary.run else "?"
    epochs = f"{len(summary.history)}/{total}"
    loss = f"{best.validation_loss:.4f}" if best else "–"
    score = f"{bleu:.2f}" if bleu is not None else "–"
    name = summary.folder.resolve().name
    return f"{name:24} {summary.preset:16} {epochs:>9} {summary.step:8d} {loss:>10} {score:>10}  {summary.state}"
