"""Deterministic algorithms on a GPU, where that is wished for: the same run gives the same bits each time."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

WORKSPACE, WORKSPACE_SIZE = "CUBLAS_WORKSPACE_CONFIG", ":4096:8"
"""Without a workspace of fixed size cuBLAS may sum in another order each time; it reads this when it starts."""


@contextmanager
def deterministic(wish: bool, device: str) -> Iterator[str]:
    """While this is entered, a GPU computes with deterministic algorithms, where PyTorch has them.

    Where it has none for an operation, it warns, and goes on. The flags of the process are as before at the end.

    Args:
        wish: whether anybody asked for it.
        device: "cpu", "cuda:0" …

    Yields:
        What was done and why, for people; "" if nobody asked.
    """
    kind = device.partition(":")[0]
    if not wish:
        yield ""
    elif kind == "cpu":
        yield "Deterministic, as the settings ask for: on a CPU that is so anyhow, with as many threads as before"
    elif kind != "cuda":
        yield f"Not deterministic for certain: PyTorch promises that for cuda only, not for {kind}"
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
        reason = "Deterministic on the GPU, which costs some speed: the settings ask for it"
        yield f"{reason}; cuBLAS may not follow, because CUDA had been started before" if is_late else reason
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])
        torch.backends.cudnn.benchmark = benchmark
        if workspace is None:
            os.environ.pop(WORKSPACE, None)
