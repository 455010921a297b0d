"""The names of the files in the folder of a run."""

import re
from pathlib import Path
from typing import Literal

LAST, BEST, HISTORY, STEPS = "last.safetensors", "best.safetensors", "history.csv", "steps.bin"
RUN_SETTINGS, ENVIRONMENT, TENSORBOARD = "run.toml", "environment.json", "tensorboard"
INPUTS = "inputs.json"
FILES = (LAST, BEST, HISTORY, STEPS, RUN_SETTINGS, ENVIRONMENT, INPUTS)
"""Names of the files of every run."""
CheckpointKind = Literal["best", "last"]
KEPT_NAMES: dict[CheckpointKind, re.Pattern[str]] = {
    "best": re.compile(r"best-epoch\d+-step\d+\.safetensors"),
    "last": re.compile(r"last-step\d+\.safetensors"),
}


def is_run(folder: Path) -> bool:
    """Whether `folder` holds a run."""
    try:
        return any((folder / name).is_file() for name in (RUN_SETTINGS, LAST, BEST))
    except OSError:
        return False


def belongs_to_run(path: Path) -> bool:
    """Whether training wrote this file into the folder of a run."""
    is_own = path.name in FILES or any(
        pattern.fullmatch(path.name) for pattern in KEPT_NAMES.values()
    )
    return is_own and (path.parent / RUN_SETTINGS).is_file()
