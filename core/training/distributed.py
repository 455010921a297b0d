"""Several processes, one for each device, that train one model together: `torchrun --nproc-per-node N -m core train …`.

Process 0 leads: it runs the loop, decides, validates, writes and speaks. The others follow (`core.training.following`):
they wait for its orders, of which most are "this step". Orders and votes go over gloo, gradients over nccl where there
are GPUs (PyTorch's `DistributedDataParallel`, Li et al. 2020).
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from core.errors import DeviceError

GO, STOP, FAILED = range(3)
"""Votes on a step, from best to worst."""
_PATIENCE = timedelta(days=7)
"""How long a process waits for another: a leader may validate, or wait for a person who makes room on a disk."""
_DTYPES = (torch.float64, torch.float32, torch.int64, torch.uint8)


@dataclass(frozen=True)
class World:
    """The processes that train together.

    Attributes:
        rank: the number of this one; 0 leads.
        size: how many there are.
        local_rank: the number of this one on its machine, which is that of its GPU.
    """

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    _orders: Any = field(default=None, repr=False)

    @property
    def leads(self) -> bool:
        """Whether this process leads others."""
        return self.rank == 0 and self.size > 1

    def device(self, requested: str) -> str:
        """The device of this process. Raises `DeviceError` if all were to share one GPU."""
        if self.size == 1 or requested in ("cpu", "mps"):
            return requested
        if requested == "cuda" or (requested == "auto" and torch.cuda.is_available()):
            return f"cuda:{self.local_rank}"
        if requested == "auto":
            return requested
        raise DeviceError(
            f"The device {requested!r} was asked for {self.size} processes. One for each was expected: choose auto, "
            "cuda or cpu, and as many processes as there are GPUs."
        )

    def sum(self, value: Tensor) -> float:
        """The sum of a scalar over all processes, the same in each."""
        if self.size == 1:
            return float(value)
        total = value.detach().to("cpu", torch.float64)
        dist.all_reduce(total, group=self._orders)
        return float(total)

    def worst(self, vote: int) -> int:
        """The highest of all votes, the same in each process."""
        if self.size == 1:
            return vote
        votes = torch.tensor(vote)
        dist.all_reduce(votes, op=dist.ReduceOp.MAX, group=self._orders)
        return int(votes)

    def gather(self, value: Tensor) -> list[Tensor]:
        """A tensor of the same shape from each process, on the CPU."""
        parts = [torch.empty_like(value) for _ in range(self.size)]
        dist.all_gather(parts, value, group=self._orders)
        return parts

    def send(self, tensors: Sequence[Tensor]) -> None:
        """From the leader to all others, who `receive` at the same time."""
        dist.broadcast(torch.tensor(len(tensors)), 0, group=self._orders)
        for tensor in tensors:
            value = tensor.detach().cpu().contiguous()
            header = torch.tensor([_DTYPES.index(value.dtype), value.dim(), *value.shape, *[0] * (6 - value.dim())])
            dist.broadcast(header, 0, group=self._orders)
            dist.broadcast(value, 0, group=self._orders)

    def receive(self) -> list[Tensor]:
        """What the leader sends."""
        count = torch.tensor(0)
        dist.broadcast(count, 0, group=self._orders)
        tensors = []
        for _ in range(int(count)):
            header = torch.zeros(8, dtype=torch.int64)
            dist.broadcast(header, 0, group=self._orders)
            kind, dim, *shape = header.tolist()
            value = torch.empty(shape[:dim], dtype=_DTYPES[kind])
            dist.broadcast(value, 0, group=self._orders)
            tensors.append(value)
        return tensors


ALONE = World()


def is_launched_with_others() -> bool:
    """Whether torchrun started this process as one of several."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1


@contextmanager
def joined_world(device: str = "auto") -> Iterator[World]:
    """The world that torchrun describes in the environment; outside of it this process alone.

    Args:
        device: where is to be trained; it decides how gradients travel.
    """
    if not is_launched_with_others():
        yield ALONE
        return
    rank, size, local_rank = (int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
    on_gpus = device != "cpu" and torch.cuda.is_available()
    if on_gpus:
        torch.cuda.set_device(local_rank % torch.cuda.device_count())
    dist.init_process_group("nccl" if on_gpus else "gloo", rank=rank, world_size=size, timeout=_PATIENCE)
    try:
        yield World(rank, size, local_rank, dist.new_group(backend="gloo", timeout=_PATIENCE) if on_gpus else None)
    finally:
        dist.destroy_process_group()
