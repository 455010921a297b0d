"""Event files for TensorBoard, if it is installed (`pip install augenmerk[tensorboard]`).

No torch until used.
"""

from collections.abc import Callable
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...errors import TrainingError
from ...run_files import TENSORBOARD
from .events import (
    EpochDone,
    SampleTranslated,
    StepDone,
    TrainingEvent,
    TrainingStarted,
)

_CURVES = {
    StepDone: {
        "loss/training": "loss",
        "learning rate": "learning_rate",
        "gradient norm": "gradient_norm",
        "tokens per second": "tokens_per_second",
    },
    EpochDone: {"loss/validation": "validation_loss", "perplexity": "perplexity"},
    SampleTranslated: {"BLEU": "bleu"},
}


def tensorboard_log(
    run_folder: Path, say: Callable[[str], None] = lambda text: None
) -> "closing[_Log]":
    """A context with a listener for `on_event` that writes curves and examples to `tensorboard` in
    the folder of a run.

    A resumed run continues the same curves: steps after the checkpoint are not shown twice. These
    files are optional: if they cannot be written, the run continues without them.

    Args:
        run_folder: of the run.
        say: called once if they cannot be written.

    Raises:
        TrainingError: the package is not installed.
    """
    if find_spec("tensorboard") is None:
        raise TrainingError(
            "The package tensorboard is not installed, so no event files can be written. Install "
            "it with `pip install augenmerk[tensorboard]`, or leave --tensorboard out: "
            "history.csv has the same curves."
        )
    return closing(_Log(Path(run_folder) / TENSORBOARD, say))


class _Log:
    """Writes events; the files are opened at the first step."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        self.folder = folder
        self.say = say
        self._writer: Any = None
        self._has_failed = False

    def __call__(self, event: TrainingEvent) -> None:
        self._try(lambda: self._write(event))

    def _try(self, write: Callable[[], None]) -> None:
        """Writes, unless an earlier write failed: so there is only one message."""
        if self._has_failed:
            return
        try:
            write()
        except OSError as error:
            self._has_failed = True
            self.say(
                f"The event files for TensorBoard in {self.folder} cannot be written "
                f"({error.strerror or error}). Training continues without them; history.csv has "
                "the curves of the epochs."
            )

    def _write(self, event: TrainingEvent) -> None:
        if isinstance(event, TrainingStarted):
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(str(self.folder), purge_step=event.first_step + 1)
        elif isinstance(event, StepDone | EpochDone | SampleTranslated):
            for name, attribute in _CURVES[type(event)].items():
                self._writer.add_scalar(name, getattr(event, attribute), event.step)
            if isinstance(event, SampleTranslated):
                self._writer.add_text("examples", _table(event), event.step)

    def close(self) -> None:
        """Flushes and closes the files, unless writing failed: then the writer's thread has
        ended.
        """
        if self._writer is not None:
            self._try(self._writer.close)


def _table(event: SampleTranslated) -> str:
    """The examples in Markdown."""
    rows = [
        f"| {_cell(one.source)} | {_cell(one.reference)} | {_cell(one.hypothesis)} |"
        for one in event.examples
    ]
    return "\n".join(["| source | reference | translation |", "|---|---|---|", *rows])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
