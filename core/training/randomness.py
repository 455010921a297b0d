"""Random numbers of a training on a device, and deterministic algorithms on a GPU."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor

WORKSPACE, WORKSPACE_SIZE = "CUBLAS_WORKSPACE_CONFIG", ":4096:8"
"""Without a workspace of fixed size cuBLAS may sum in another order each time; it reads this when it starts."""


def random_states(device: torch.device) -> dict[str, Tensor]:
    """The states of the CPU's generator and of the device's, by their names in checkpoints."""
    states = {"random.cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["random.cuda"] = torch.cuda.get_rng_state(device)
    elif device.type == "mps":
        states["random.mps"] = torch.mps.get_rng_state()
    return states


def restore_random_states(device: torch.device, states: Mapping[str, Tensor]) -> None:
    """Restores the result of `random_states`; that of another device is ignored."""
    torch.set_rng_state(states["random.cpu"])
    if device.type == "cuda" and "random.cuda" in states:
        torch.cuda.set_rng_state(states["random.cuda"], device)
    elif device.type == "mps" and "random.mps" in states:
        torch.mps.set_rng_state(states["random.mps"])


def random_state(device: torch.device) -> Tensor:
    """[N] bytes: the values of `random_states`."""
    return torch.cat(list(random_states(device).values()))


def set_random_state(device: torch.device, state: Tensor) -> None:
    """Restores the result of `random_state` for a device of the same type."""
    size = len(torch.get_rng_state())
    states = {f"random.{device.type}": state[size:].clone(), "random.cpu": state[:size].clone()}
    restore_random_states(device, states)


@contextmanager
def random_state_restored(device: str) -> Iterator[None]:
    """The caller's random numbers continue after this context as if nothing had been drawn or seeded within it."""
    before = random_state(torch.device(device))
    try:
        yield
    finally:
        set_random_state(torch.device(device), before)


@contextmanager
def deterministic(is_requested: bool, device: str) -> Iterator[str]:
    """Within this context a GPU uses deterministic algorithms, where PyTorch has them.

    Where it has none for an operation, it warns and continues. The flags of the process are restored at the end.

    Args:
        is_requested: whether the settings ask for it.
        device: "cpu", "cuda:0" …

    Yields:
        What was done and why, for the user; "" if not requested.
    """
    kind = device.partition(":")[0]
    if not is_requested:
        yield ""
    elif kind == "cpu":
        yield "Deterministic, as requested: on a CPU always, for the same number of threads"
    elif kind != "cuda":
        yield f"Not guaranteed to be deterministic: PyTorch guarantees that for cuda only, not for {kind}"
    else:
        with _deterministic_cuda() as reason:
            yield reason


@contextmanager
def _deterministic_cuda() -> Iterator[str]:
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    benchmark, workspace = torch.backends.cudnn.benchmark, os.environ.get(WORKSPACE)
    is_late = workspace is None and torch.cuda.is_initialized()
    try:
        os.environ.setdefault(WORKSPACE, WORKSPACE_SIZE)
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.backends.cudnn.benchmark = False
        reason = "Deterministic on the GPU, at some cost in speed, as requested"
        yield f"{reason}; except possibly cuBLAS, because CUDA was initialized before" if is_late else reason
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])
        torch.backends.cudnn.benchmark = benchmark
        if workspace is None:
            os.environ.pop(WORKSPACE, None)
