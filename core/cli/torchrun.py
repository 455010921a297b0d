"""`augenmerk train` as one of several processes started by torchrun."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from augenmerk.core.cli.options import load_given_models, read_training_corpus
from augenmerk.core.errors import TrainingError

if TYPE_CHECKING:
    from augenmerk.core.config import RunConfig
    from augenmerk.core.corpora.prepared import PreparedCorpus
    from augenmerk.core.training.distributed import World

TORCHRUN_ECHO_SECONDS = 5.0
"""Ctrl-C reaches a process twice: from the terminal and from torchrun."""
_FAILED = 1


def train_in_process_group(options: argparse.Namespace, lead: Callable[["World"], int]) -> int:
    """Run `lead` in the main process, and a worker in the others. Returns the exit status. Raises `AugenmerkError`."""
    from augenmerk.core.cli.stopping import stop_on_interrupt
    from augenmerk.core.training.distributed import commanding_workers, process_group
    from augenmerk.core.training.distributed_worker import run_worker

    with process_group(options.device) as world:
        if world.is_main:
            with commanding_workers(world):
                return lead(world)
        with stop_on_interrupt(float("inf"), announce=False):  # the main process decides when to stop
            try:
                run_worker(lambda run: _corpus_of_main_process(options, run), options.device, world)
            except TrainingError:  # the main process reports it
                return _FAILED
    return 0


def _corpus_of_main_process(options: argparse.Namespace, run: "RunConfig") -> "PreparedCorpus":
    return read_training_corpus(options, run, lambda text: None, *load_given_models(options))
