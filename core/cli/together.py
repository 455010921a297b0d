"""`augenmerk train` as one of several processes that torchrun started."""

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
"""Ctrl-C reaches a process twice: from the terminal, and again from torchrun."""
_FAILED = 1


def train_with_others(options: argparse.Namespace, lead: Callable[["World"], int]) -> int:
    """Leads, with `lead`, or follows, whichever torchrun wants of this process. Raises `AugenmerkError`."""
    from augenmerk.core.cli.stopping import stop_on_interrupt
    from augenmerk.core.training.distributed import commanding_workers, process_group
    from augenmerk.core.training.distributed_worker import run_worker

    with process_group(options.device) as world:
        if world.is_main:
            with commanding_workers(world):
                return lead(world)
        with stop_on_interrupt(float("inf"), announce=False):  # whether to stop is decided by the main process
            try:
                run_worker(lambda run: _corpus_of_main_process(options, run), options.device, world)
            except TrainingError:  # the main process says why
                return _FAILED
    return 0


def _corpus_of_main_process(options: argparse.Namespace, run: "RunConfig") -> "PreparedCorpus":
    return read_training_corpus(options, run, lambda text: None, *load_given_models(options))
