"""Average several checkpoints of a run, or store one of them at half the size."""

import argparse
from pathlib import Path

from ....cli.outputs import OutputFile
from ....errors import CheckpointError, ConfigError
from ....plain_text import one_line
from ....quantities import counted
from .outputs import CHECKPOINT


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `average`."""
    parser.add_argument(
        "checkpoints",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="one or more checkpoints of a run; or the run's folder, with --last or --best",
    )
    parser.add_argument(
        "--last",
        type=int,
        metavar="K",
        help="average the K newest checkpoints in the folder (see train --keep-last)",
    )
    parser.add_argument(
        "--best",
        type=int,
        metavar="K",
        help="average the K best checkpoints in the folder (see train --keep-best)",
    )
    parser.add_argument(
        "--out",
        type=OutputFile(CHECKPOINT),
        required=True,
        metavar="FILE",
        help="the checkpoint to write",
    )
    parser.add_argument(
        "--half", action="store_true", help="store weights in 16 bits: half the size"
    )


def run(options: argparse.Namespace) -> int:
    """Average and write. Raises `AugenmerkError`."""
    from ....checkpoint.file import save_checkpoint
    from ..averaging import average

    paths = chosen_checkpoints(options)
    save_checkpoint(average(paths), options.out, half_precision=options.half)
    contents = "1 checkpoint" if len(paths) == 1 else f"the mean of {len(paths)} checkpoints"
    print(f"{one_line(options.out)}: {contents}, {options.out.stat().st_size / 1e6:.1f} MB")
    return 0


def chosen_checkpoints(options: argparse.Namespace) -> list[Path]:
    """The files that the options name.

    Raises:
        ConfigError: --last and --best are combined with each other or with files.
        CheckpointError: the folder has too few checkpoints.
    """
    from ..folder import kept_checkpoints, require_readable

    paths: list[Path] = options.checkpoints
    number = options.last if options.best is None else options.best
    if number is None:
        return paths
    for path in paths:
        require_readable(path)
    if (
        len(paths) != 1
        or not paths[0].is_dir()
        or number < 1
        or None not in (options.last, options.best)
    ):
        raise ConfigError(
            "--last and --best need one folder of a run and a number of at least 1. Name the "
            "folder with one of the two, or name checkpoint files without them."
        )
    kind = "best" if options.last is None else "last"
    checkpoints = kept_checkpoints(paths[0], "best" if options.last is None else "last")
    if len(checkpoints) < number:
        raise CheckpointError(
            f"{paths[0]} has only {len(checkpoints)} of {counted(number, 'checkpoint')} "
            f"requested by --{kind}. Request fewer, or train with --keep-{kind} {number}."
        )
    return [checkpoint.path for checkpoint in reversed(checkpoints[:number])]
