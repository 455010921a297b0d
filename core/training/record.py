"""The record of a run in its folder: `run.toml` to repeat it, `environment.json` for versions and hardware."""

import json
import platform
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from augenmerk.core import __version__
from augenmerk.core.checkpoint.history import read_history
from augenmerk.core.config import RunConfig
from augenmerk.core.config.toml import to_toml
from augenmerk.core.device import DeviceChoice
from augenmerk.core.errors import CheckpointError
from augenmerk.core.storage import read_text, write_text
from augenmerk.core.training.events import EndReason
from augenmerk.core.training.folder import BEST, ENVIRONMENT, HISTORY, LAST, RUN_SETTINGS, older_files

MAX_BYTES = 50_000_000
"""Of `environment.json`: each start of a run adds some 1,500."""
_PACKAGES = ("torch", "numpy", "safetensors", "sentencepiece", "spacy", "torchtext")


class RunRecord:
    """The two files; each start of a run, the first and each resumption, adds an entry to `environment.json`.

    Args:
        folder: of the run.
        run: its current settings.
        device: where it runs.
        precision: the number format of matrix products.
        corpus: name of the training data.
        choices: what was chosen for the device and why, one sentence each.
    """

    def __init__(
        self,
        folder: Path,
        run: RunConfig,
        device: DeviceChoice,
        precision: str,
        corpus: str,
        choices: Sequence[str] = (),
    ) -> None:
        self.folder = folder
        self.run = run
        self.starts = read_starts(folder)
        self._has_written_settings = False
        self.entry = describe_environment(device, precision) | {
            "choices": [" ".join(without_paths(line.split(" "))) for line in choices],
            "corpus": corpus,
            "seed": run.training.seed,
        }

    def begin(self, step: int) -> None:
        """The run is about to continue from `step`. Raises `StorageError`.

        The settings of a run that is resumed are written with its first checkpoint: an attempt that fails before leaves
        the ones that its checkpoint has.
        """
        self.entry["first_step"] = step
        self.starts = [*self.starts, self.entry]
        if step == 0:
            self.write_settings()
        self._write()

    def write_settings(self) -> None:
        """Writes `run.toml`, once. Raises `StorageError`."""
        if not self._has_written_settings:
            write_text(self.folder / RUN_SETTINGS, to_toml(self.run))
            self._has_written_settings = True

    def write_again(self) -> None:
        """Writes both files anew, because they were deleted. Raises `StorageError`."""
        self._has_written_settings = False
        self.write_settings()
        self._write()

    def end(self, reason: EndReason, step: int) -> None:
        """The run ended. Raises `StorageError`."""
        self.entry |= {"ended": _now(), "reason": reason, "last_step": step}
        self._write()

    def _write(self) -> None:
        text = json.dumps({"starts": self.starts}, indent=2, ensure_ascii=False)
        write_text(self.folder / ENVIRONMENT, text + "\n")


def read_starts(folder: Path) -> list[dict[str, Any]]:
    """The entries of `environment.json`, oldest first; none if there is no such file or it is damaged."""
    try:
        starts = json.loads(read_text(Path(folder) / ENVIRONMENT, MAX_BYTES))["starts"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    return [entry for entry in starts if isinstance(entry, dict)] if isinstance(starts, list) else []


def was_interrupted_before_first_checkpoint(folder: Path) -> bool:
    """Whether the run in `folder` crashed so early that it has nothing to resume from.

    False if there is evidence of a checkpoint: then the checkpoint was deleted.
    """
    starts = read_starts(folder)
    if any("last_step" in start or start.get("first_step") != 0 for start in starts):
        return False
    if (folder / LAST).exists() or older_files(folder, "last") or not (folder / RUN_SETTINGS).is_file():
        return False
    if not starts and (folder / BEST).exists():
        return False
    try:
        return len(read_history(folder / HISTORY)) <= 1  # a checkpoint is written before the second epoch
    except CheckpointError:
        return False


def describe_environment(device: DeviceChoice, precision: str) -> dict[str, Any]:
    """Versions, machine, device, threads and command line: everything that results may depend on."""
    import torch

    return {
        "started": _now(),
        "augenmerk": __version__,
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES} | {"torch": torch.__version__},  # with its CUDA
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "device": device.name,
        "device_reason": device.reason,
        "precision": precision,
        "threads": torch.get_num_threads(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "command": without_paths(sys.argv),
    }


def without_paths(arguments: Sequence[str]) -> list[str]:
    """The words of a command line; paths are shortened to …/name, because folders may be private."""
    words = (argument.rstrip("/\\").replace("\\", "/").rpartition("/") for argument in arguments)
    return [f"…/{name}" if slash else name for _, slash, name in words]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _now() -> str:
    return datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds")
