"""Several processes, one for each device, train one model together: `torchrun --nproc-per-node N -m
augenmerk train`.

Process 0 is the main process: it runs the loop, decides, validates, writes and reports. The others
are workers (`loop.run_worker`): they wait for its commands, most of which are "this step". Commands
and status codes use gloo, gradients nccl where there are GPUs (PyTorch's `DistributedDataParallel`,
Li et al. 2020).
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from enum import IntEnum
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from ...errors import ConfigError, DeviceError

GO, STOP, FAILED = range(3)
"""The outcomes of a step in a process, from best to worst."""
_TIMEOUT = timedelta(days=7)
"""Longest wait for another process: the main one may validate, or wait until the user has freed
disk space."""
_DTYPES = (torch.float64, torch.float32, torch.int64, torch.uint8)


class CommandKind(IntEnum):
    """A command to the workers.

    JOIN has the settings as bytes of JSON, and the workers' random states, [size, N], or nothing;
    STEP a learning rate, and the source and target ids of each batch in turn.
    """

    JOIN = 0
    STEP = 1
    SEND_RANDOM_STATE = 2
    FINISH = 3
    FAIL = 4


@dataclass(frozen=True)
class World:
    """The processes that train together.

    Attributes:
        rank: the number of this one; 0 is the main process.
        size: the number of processes.
        local_rank: the number of this one on its machine, which is that of its GPU.
    """

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    _control_group: Any = field(default=None, repr=False)

    @property
    def is_main(self) -> bool:
        """Whether this process commands workers."""
        return self.rank == 0 and self.size > 1

    def device(self, requested: str) -> str:
        """The device of this process. Raises `DeviceError` if all would share one GPU."""
        if self.size == 1 or requested in ("cpu", "mps"):
            return requested
        if requested == "cuda" or (requested == "auto" and torch.cuda.is_available()):
            return f"cuda:{self.local_rank}"
        if requested == "auto":
            return requested
        raise DeviceError(
            f"{self.size} processes cannot share the device {requested!r}. Choose auto, cuda or "
            "cpu, and as many processes as there are GPUs."
        )

    def all_reduce_sum(self, value: Tensor) -> float:
        """The sum of a scalar over all processes, the same in each."""
        if self.size == 1:
            return float(value)
        total = value.detach().to("cpu", torch.float64)
        dist.all_reduce(total, group=self._control_group)
        return float(total)

    def all_reduce_max(self, value: int) -> int:
        """The highest value of all processes, the same in each."""
        if self.size == 1:
            return value
        highest = torch.tensor(value)
        dist.all_reduce(highest, op=dist.ReduceOp.MAX, group=self._control_group)
        return int(highest)

    def all_gather(self, value: Tensor) -> list[Tensor]:
        """A tensor of the same shape from each process, on the CPU."""
        parts = [torch.empty_like(value) for _ in range(self.size)]
        dist.all_gather(parts, value, group=self._control_group)
        return parts

    def broadcast(self, tensors: Sequence[Tensor]) -> None:
        """Send tensors from the main process to all workers, which `receive` at the same time."""
        dist.broadcast(torch.tensor(len(tensors)), 0, group=self._control_group)
        for tensor in tensors:
            value = tensor.detach().cpu().contiguous()
            header = torch.tensor(
                [_DTYPES.index(value.dtype), value.dim(), *value.shape, *[0] * (6 - value.dim())]
            )
            dist.broadcast(header, 0, group=self._control_group)
            dist.broadcast(value, 0, group=self._control_group)

    def receive(self) -> list[Tensor]:
        """The tensors that the main process broadcasts."""
        count = torch.tensor(0)
        dist.broadcast(count, 0, group=self._control_group)
        tensors = []
        for _ in range(int(count)):
            header = torch.zeros(8, dtype=torch.int64)
            dist.broadcast(header, 0, group=self._control_group)
            kind, dim, *shape = header.tolist()
            value = torch.empty(shape[:dim], dtype=_DTYPES[kind])
            dist.broadcast(value, 0, group=self._control_group)
            tensors.append(value)
        return tensors

    def command(self, kind: CommandKind, tensors: Sequence[Tensor] = (), rate: float = 0.0) -> None:
        """Sends a command to all workers, which `receive_command` at the same time."""
        self.broadcast([torch.tensor([float(kind), rate], dtype=torch.float64), *tensors])

    def receive_command(self) -> tuple[CommandKind, float, list[Tensor]]:
        """The next command, with its learning rate and tensors; waits for it. For workers."""
        header, *tensors = self.receive()
        return CommandKind(int(header[0])), float(header[1]), tensors


SINGLE_PROCESS = World()


def is_distributed() -> bool:
    """Whether torchrun started this process as one of several.

    Raises `ConfigError` if WORLD_SIZE is not a number.
    """
    return bool(os.environ.get("WORLD_SIZE")) and _number_in_environment("WORLD_SIZE") > 1


def _number_in_environment(name: str) -> int:
    value = os.environ.get(name, "")
    if not (value.isascii() and value.isdecimal() and len(value) < 10):
        raise _not_of_torchrun(name)
    return int(value)


def _not_of_torchrun(name: str) -> ConfigError:
    state = f"is {os.environ[name]!r}" if name in os.environ else "is not set"
    return ConfigError(
        f"WORLD_SIZE={os.environ['WORLD_SIZE']} says that several processes train together, but "
        f"{name} {state}. Start with torchrun --nproc-per-node 2 -m augenmerk train; or, to "
        "train in one process, unset WORLD_SIZE."
    )


@contextmanager
def process_group(device: str = "auto") -> Iterator[World]:
    """The world that torchrun describes in the environment; without torchrun, this process alone.

    Args:
        device: for training; it determines how gradients travel.

    Raises:
        ConfigError: the environment announces several processes, but lacks other variables of
            torchrun.
    """
    if not is_distributed():
        yield SINGLE_PROCESS
        return
    rank, size, local_rank, _ = map(
        _number_in_environment, ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_PORT")
    )
    if not os.environ.get("MASTER_ADDR"):
        raise _not_of_torchrun("MASTER_ADDR")
    on_gpus = device != "cpu" and torch.cuda.is_available()
    if on_gpus:
        torch.cuda.set_device(local_rank % torch.cuda.device_count())
    dist.init_process_group(
        "nccl" if on_gpus else "gloo", rank=rank, world_size=size, timeout=_TIMEOUT
    )
    try:
        yield World(
            rank,
            size,
            local_rank,
            dist.new_group(backend="gloo", timeout=_TIMEOUT) if on_gpus else None,
        )
    finally:
        dist.destroy_process_group()


@contextmanager
def commanding_workers(world: World) -> Iterator[None]:
    """Within the block this process commands the workers, if it is the main one; they finish, or
    fail, at its end.
    """
    if not world.is_main:
        yield
        return
    try:
        yield
    except Exception:
        world.command(CommandKind.FAIL)
        raise
    world.command(CommandKind.FINISH)
