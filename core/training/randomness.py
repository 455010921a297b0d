"""The state of all random number generators used for training on a device, as one tensor of bytes."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


def random_state(device: torch.device) -> Tensor:
    """[N] bytes: of the CPU's generator, then of the device's."""
    parts = [torch.get_rng_state()]
    if device.type == "cuda":
        parts.append(torch.cuda.get_rng_state(device))
    elif device.type == "mps":
        parts.append(torch.mps.get_rng_state())
    return torch.cat(parts)


def set_random_state(device: torch.device, state: Tensor) -> None:
    """Restores the result of `random_state` for a device of the same type."""
    size = len(torch.get_rng_state())
    torch.set_rng_state(state[:size].clone())
    if device.type == "cuda":
        torch.cuda.set_rng_state(state[size:].clone(), device)
    elif device.type == "mps":
        torch.mps.set_rng_state(state[size:].clone())


@contextmanager
def random_state_restored(device: str) -> Iterator[None]:
    """The caller's random numbers continue after this context as if nothing had been drawn or seeded within it."""
    before = random_state(torch.device(device))
    try:
        yield
    finally:
        set_random_state(torch.device(device), before)
