"""The state of all random numbers that training on a device draws, as one row of bytes."""

import torch
from torch import Tensor


def random_state(device: torch.device) -> Tensor:
    """[N] bytes: of the CPU's generator, then of the device's own."""
    parts = [torch.get_rng_state()]
    if device.type == "cuda":
        parts.append(torch.cuda.get_rng_state(device))
    elif device.type == "mps":
        parts.append(torch.mps.get_rng_state())
    return torch.cat(parts)


def set_random_state(device: torch.device, state: Tensor) -> None:
    """Takes up what `random_state` gave on such a device."""
    size = len(torch.get_rng_state())
    torch.set_rng_state(state[:size].clone())
    if device.type == "cuda":
        torch.cuda.set_rng_state(state[size:].clone(), device)
    elif device.type == "mps":
        torch.mps.set_rng_state(state[size:].clone())
