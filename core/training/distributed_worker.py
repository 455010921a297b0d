"""A worker of a distributed run: any process but the main one. It carries out commands until it is told to finish."""

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from torch import Tensor

from augenmerk.core.config import RunConfig
from augenmerk.core.corpora.batches import Batch
from augenmerk.core.corpora.prepared import PreparedCorpus
from augenmerk.core.device import choose_device
from augenmerk.core.errors import TrainingError
from augenmerk.core.training.distributed import CommandKind, World, receive_command
from augenmerk.core.training.randomness import deterministic, random_state
from augenmerk.core.training.session import TrainingSession


def run_worker(read_corpus: Callable[[RunConfig], PreparedCorpus], device: str, world: World) -> None:
    """Carries out the commands of the main process, until that is done.

    Args:
        read_corpus: gives the corpus that the main process has; called when that has read it.
        device: as for `train`.
        world: this process in it.

    Raises:
        TrainingError: the main process or another worker failed.
        DeviceError: there is no device for this process.
    """
    with ExitStack() as flags:
        _carry_out_commands(read_corpus, device, world, flags)


def _carry_out_commands(
    read_corpus: Callable[[RunConfig], PreparedCorpus], device: str, world: World, flags: ExitStack
) -> None:
    """What `run_worker` does; `flags` keeps what holds as long as the run."""
    session: TrainingSession | None = None
    failure: Exception | None = None
    while True:
        command = receive_command(world)
        if command.kind == CommandKind.JOIN:
            settings, states = command.tensors
            run = RunConfig.from_dict(json.loads(bytes(settings.tolist())))
            name = choose_device(world.device(device)).name
            flags.enter_context(deterministic(run.training.deterministic, name))
            session = TrainingSession(run, read_corpus(run), name, world)
            session.join(states[world.rank] if len(states) else None)
        elif command.kind == CommandKind.STEP and session is not None:
            try:
                _take_step(session, command.tensors, command.learning_rate)
            except Exception as error:  # the main process learns of it in the step, and decides what follows
                failure = error
        elif command.kind == CommandKind.SEND_RANDOM_STATE and session is not None:
            world.all_gather(random_state(session.device))
        elif command.kind == CommandKind.FINISH:
            return
        else:
            raise failure or TrainingError(
                "The main process (number 0) of this run failed and reports why. Fix the problem, then resume the run."
            )


def _take_step(session: TrainingSession, ids: Sequence[Tensor], rate: float) -> None:
    """One optimizer step on batches given as source and target ids in turn."""
    batches = [
        Batch(source, target, int((target[:, 1:] != session.padding_id).sum()))
        for source, target in zip(ids[::2], ids[1::2], strict=True)
    ]
    session.take_step(batches, rate, lambda: False)
