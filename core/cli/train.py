"""`augenmerk train`: train a model; loss, rate, speed and time left are shown while it learns."""

import argparse
import dataclasses
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.cli.options import add_corpus, add_device, read_corpus
from core.config import DEFAULT_PRESET, PRESETS, RunConfig, preset
from core.durations import duration

if TYPE_CHECKING:
    from core.training.events import TrainingEvent


STOPPING = b"\nStopping after this step; what was learned is kept.\n"


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds `train`."""
    parser = commands.add_parser(
        "train",
        help="train a model",
        description=__doc__,
        epilog="presets: " + "; ".join(f"{run.preset}: {run.description}" for run in PRESETS.values()),
    )
    parser.add_argument("--preset", choices=PRESETS, default=DEFAULT_PRESET, help="what to train (%(default)s)")
    add_corpus(parser)
    parser.add_argument("--epochs", type=int, metavar="N", help="passes over the training split (the preset's)")
    parser.add_argument("--max-steps", type=int, metavar="N", help="stop after so many optimiser steps")
    parser.add_argument("--seed", type=int, metavar="N", help="start of all random numbers (the preset's)")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint in --out")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for checkpoints and history")
    add_device(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Trains. Ctrl-C once stops and keeps what was learned. Raises `AugenmerkError`."""
    from core.training.loop import train

    wanted = configured_run(options)
    show = TerminalProgress()
    corpus = read_corpus(options, wanted, show.phase)
    with stop_on_interrupt() as stop:
        try:
            train(
                wanted,
                corpus,
                options.out,
                device=options.device,
                resume=options.resume,
                on_event=show,
                should_stop=lambda: stop.requested,
            )
        finally:
            show.close()
    return 0


def configured_run(options: argparse.Namespace) -> RunConfig:
    """The preset with what the options change. Raises `ConfigError`."""
    chosen = preset(options.preset)
    changes = {"num_epochs": options.epochs, "max_steps": options.max_steps, "seed": options.seed}
    given = {name: value for name, value in changes.items() if value is not None}
    return dataclasses.replace(chosen, training=chosen.training.replace(**given))


@dataclasses.dataclass
class StopFlag:
    """Whether the user wants the run to end."""

    requested: bool = False


@contextmanager
def stop_on_interrupt() -> Iterator[StopFlag]:
    """Turns the first Ctrl-C (or a polite kill) into a request to stop; the second acts at once."""
    flag = StopFlag()

    def request(number: int, frame: Any) -> None:
        if flag.requested:
            raise KeyboardInterrupt
        flag.requested = True
        os.write(2, STOPPING)  # not `print`: the bar may be in the middle of writing, and a stream is not entered twice

    numbers = (signal.SIGINT, signal.SIGTERM)
    earlier = [signal.signal(number, request) for number in numbers]
    try:
        yield flag
    finally:
        for number, handler in zip(numbers, earlier, strict=True):
            signal.signal(number, handler)


class TerminalProgress:
    """Draws training events as a progress bar and one line for each epoch, on standard error."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __call__(self, event: "TrainingEvent") -> None:
        """Shows one event."""
        from core.training import events

        match event:
            case events.PhaseStarted():
                self.phase(event.text)
            case events.TrainingStarted():
                self._start(event)
            case events.StepDone():
                self._bar.n = event.step
                self._bar.total = max(self._bar.total, event.step)  # epochs of token batches differ a little in length
                self._bar.set_postfix_str(
                    f"loss {event.loss:.3f}, rate {event.learning_rate:.2e}, {event.tokens_per_second:,.0f} tokens/s, "
                    f"{duration(event.seconds_left)} left"
                )
            case events.EpochDone():
                self._say(
                    f"epoch {event.epoch:3d}  step {event.step:6d}  training {event.training_loss:.4f}  validation "
                    f"{event.validation_loss:.4f} (batch mean {event.validation_loss_batch_mean:.4f})  "
                    f"{duration(event.seconds)}{'  best' if event.is_best else ''}"
                )
            case events.TrainingFinished():
                self._finish(event)

    def phase(self, text: str) -> None:
        """Says what is being done; while the bar runs, beside it."""
        if self._bar is None:
            self._say(text)
        else:
            self._bar.set_postfix_str(text)

    def close(self) -> None:
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _start(self, event: Any) -> None:
        from tqdm import tqdm

        self._say(
            f"{event.preset}: {event.num_parameters:,} parameters, {event.num_training_pairs:,} training pairs, on "
            f"{event.device} ({event.device_reason}); checkpoints go to {event.folder}"
        )
        self._bar = tqdm(
            total=event.num_steps,
            initial=event.first_step,
            unit=" steps",
            file=sys.stderr,
            mininterval=0.2,
            bar_format="{percentage:3.0f}% |{bar:20}| {n_fmt}/{total_fmt}{postfix}",
        )

    def _finish(self, event: Any) -> None:
        self.close()
        endings = {"completed": "All epochs are done", "max_steps": "The step limit is reached", "stopped": "Stopped"}
        self._say(
            f"{endings[event.reason]} after step {event.step} ({duration(event.seconds)}). Best validation loss "
            f"{event.best_validation_loss:.4f} in epoch {event.best_epoch}: {event.best_checkpoint}"
        )

    def _say(self, text: str) -> None:
        if self._bar is None:
            print(text, file=sys.stderr)
        else:
            self._bar.write(text, file=sys.stderr)
