"""Event files for TensorBoard, if it is installed (`pip install augenmerk[tensorboard]`). No torch until used."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from augenmerk.core.errors import TrainingError
from augenmerk.core.training.events import EpochDone, SampleTranslated, StepDone, TrainingEvent, TrainingStarted
from augenmerk.core.training.folder import TENSORBOARD


@contextmanager
def tensorboard_log(
    run_folder: Path, say: Callable[[str], None] = lambda text: None
) -> Iterator[Callable[[TrainingEvent], None]]:
    """A listener for `on_event` that writes curves and examples into the folder `tensorboard` of the run.

    A resumed run continues the same curves: steps after the checkpoint are not shown twice. These files are optional:
    if they cannot be written, the run continues without them.

    Args:
        run_folder: of the run.
        say: called once if they cannot be written.

    Raises:
        TrainingError: the package is not installed.
    """
    if find_spec("tensorboard") is None:
        raise TrainingError(
            "The package tensorboard is not installed, so no event files can be written. Install it with `pip install "
            "augenmerk[tensorboard]`, or leave --tensorboard out: history.csv has the same curves."
        )
    log = _Log(Path(run_folder) / TENSORBOARD, say)
    try:
        yield log
    finally:
        log.close()


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
                f"The event files for TensorBoard in {self.folder} cannot be written ({error.strerror or error}). "
                "Training continues without them; history.csv has the curves of the epochs."
            )

    def _write(self, event: TrainingEvent) -> None:
        match event:
            case TrainingStarted():
                from torch.utils.tensorboard import SummaryWriter

                self._writer = SummaryWriter(str(self.folder), purge_step=event.first_step + 1)
            case StepDone():
                self._add("loss/training", event.loss, event.step)
                self._add("learning rate", event.learning_rate, event.step)
                self._add("gradient norm", event.gradient_norm, event.step)
                self._add("tokens per second", event.tokens_per_second, event.step)
            case EpochDone():
                self._add("loss/validation", event.validation_loss, event.step)
                self._add("perplexity", event.perplexity, event.step)
            case SampleTranslated():
                self._add("BLEU", event.bleu, event.step)
                self._writer.add_text("examples", _table(event), event.step)

    def close(self) -> None:
        """Flushes and closes the files, unless writing failed: then the writer's thread has ended."""
        if self._writer is not None:
            self._try(self._writer.close)

    def _add(self, name: str, value: float, step: int) -> None:
        self._writer.add_scalar(name, value, step)


def _table(event: SampleTranslated) -> str:
    """The examples in Markdown."""
    rows = [f"| {_cell(one.source)} | {_cell(one.reference)} | {_cell(one.hypothesis)} |" for one in event.examples]
    return "\n".join(["| source | reference | translation |", "|---|---|---|", *rows])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
