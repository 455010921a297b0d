"""What the main process of a distributed run (rank 0) sends to the workers: one command at a time, with its tensors."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum

import torch
from torch import Tensor

from augenmerk.core.config import RunConfig
from augenmerk.core.corpora.batches import Batch
from augenmerk.core.training.distributed import World


class CommandKind(IntEnum):
    """What a worker is to do."""

    JOIN = 0
    STEP = 1
    SEND_RANDOM_STATE = 2
    FINISH = 3
    FAIL = 4


@dataclass(frozen=True, eq=False)
class Command:
    """One command.

    Attributes:
        kind: what to do.
        learning_rate: of a step.
        tensors: of JOIN: the settings as bytes of JSON, and the workers' random states, [size, N], or nothing; of STEP:
            source and target ids of each batch in turn.
    """

    kind: CommandKind
    learning_rate: float
    tensors: Sequence[Tensor]


def send_join(world: World, run: RunConfig, random_states: Tensor | None) -> None:
    """Has the workers set up the run. `random_states` are theirs, [size, N], if a run is resumed."""
    settings = torch.frombuffer(bytearray(json.dumps(run.to_dict()).encode()), dtype=torch.uint8)
    states = torch.empty(0, dtype=torch.uint8) if random_states is None else random_states
    _send(world, CommandKind.JOIN, [settings, states])


def send_step(world: World, batches: Sequence[Batch], rate: float) -> None:
    """Has the workers take part in an optimiser step."""
    _send(world, CommandKind.STEP, [ids for batch in batches for ids in (batch.source, batch.target)], rate)


def request_random_states(world: World) -> None:
    """Has the workers send their random states, with `World.all_gather`."""
    _send(world, CommandKind.SEND_RANDOM_STATE)


@contextmanager
def commanding_workers(world: World) -> Iterator[None]:
    """Within the block this process commands the workers, if it is the main one; they finish, or fail, at its end."""
    if not world.is_main:
        yield
        return
    try:
        yield
    except Exception:
        _send(world, CommandKind.FAIL)
        raise
    _send(world, CommandKind.FINISH)


def receive_command(world: World) -> Command:
    """The next command; waits for it. For workers."""
    header, *tensors = world.receive()
    return Command(CommandKind(int(header[0])), float(header[1]), tensors)


def _send(world: World, kind: CommandKind, tensors: Sequence[Tensor] = (), rate: float = 0.0) -> None:
    world.broadcast([torch.tensor([float(kind), rate], dtype=torch.float64), *tensors])
