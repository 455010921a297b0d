"""What was chosen for a run's device, and why: lines for the log."""

import os
from typing import TYPE_CHECKING

import torch

from core.model.products import has_faster_kernels

if TYPE_CHECKING:
    from core.training.session import TrainingSession


def choices_of(session: "TrainingSession") -> list[str]:
    """Numbers, products, threads, optimiser, micro-batches, compiling and processes, a line each."""
    device, precision = session.device.type, session.precision
    lines = [f"Computing in {precision.name}: {precision.reason}"]
    if device == "cpu" and precision.name == "float32" and has_faster_kernels():
        lines.append("Multiplying with oneDNN: this processor has AVX-512")
    if device == "cpu":
        lines.append(_threads())
    if session.is_fused:
        lines.append(f"Adam fused, in one pass over all parameters: PyTorch has that for {device}")
    else:
        lines.append(f"Adam not fused: PyTorch has that for cpu and cuda, not for {device}")
    if session.gradients.max_tokens is not None:
        lines.append(f"At most {session.gradients.max_tokens:,} tokens at once: so that Stop acts within seconds")
    if session.compiled.reason:
        lines.append(f"Model {session.compiled.reason}")
    if session.world.size > 1:
        lines.append(f"{session.world.size} processes share each batch: torchrun started them")
    return lines


def _threads() -> str:
    """How many, and who said so."""
    number = torch.get_num_threads()
    noun = "thread" if number == 1 else "threads"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if os.environ.get("OMP_NUM_THREADS") == str(number):
        return f"Computing on {number} {noun}: OMP_NUM_THREADS says so"
    if cores is not None and number < cores:
        return f"Computing on {number} {noun} of {cores} that this process may use: whoever started it asks for no more"
    return f"Computing on {number} {noun}: as many as there are cores for this process"
