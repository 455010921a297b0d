"""Deterministic algorithms on a GPU, if requested: the same run gives bit-identical results."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

WORKSPACE, WORKSPACE_SIZE = "CUBLAS_WORKSPACE_CONFIG", ":4096:8"
"""Without a workspace of fixed size cuBLAS may sum in another order each time; it reads this when it starts."""


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
