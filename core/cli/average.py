"""`augenmerk average`: the mean of several checkpoints of a run, or one of them at half the size."""

import argparse
from pathlib import Path


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds `average`."""
    parser = commands.add_parser("average", help="average checkpoints, or halve the size of one", description=__doc__)
    parser.add_argument("checkpoints", nargs="+", type=Path, metavar="FILE", help="one or more checkpoints of one run")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the checkpoint to write")
    parser.add_argument("--half", action="store_true", help="store 16-bit weights: half the size")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Averages and writes. Raises `AugenmerkError`."""
    from core.checkpoint.average import average
    from core.checkpoint.file import save_checkpoint

    save_checkpoint(average(options.checkpoints), options.out, half_precision=options.half)
    print(
        f"{options.out}: the mean of {len(options.checkpoints)} checkpoints, {options.out.stat().st_size / 1e6:.1f} MB"
    )
    return 0
