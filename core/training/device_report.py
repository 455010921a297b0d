"""What was chosen for the device of a run, and why: lines for the log."""

import os
from typing import TYPE_CHECKING

import torch

from augenmerk.core.inference.products import has_faster_kernels
from augenmerk.core.process import available_cores, spinning

if TYPE_CHECKING:
    from augenmerk.core.training.session import TrainingSession


def describe_device_choices(session: "TrainingSession") -> list[str]:
    """Precision, kernels, threads, optimizer, micro-batches, compiling and processes, one line each."""
    device, precision = session.device.type, session.precision
    lines = [f"Computing in {precision.name}: {precision.reason}"]
    if device == "cpu" and precision.name == "float32" and has_faster_kernels():
        lines.append("Multiplying with oneDNN: this processor has AVX-512")
    if device == "cpu":
        lines += [_threads(), spinning()]
    if session.is_fused:
        lines.append(f"Fused Adam, in one pass over all parameters: available for {device}")
    else:
        lines.append(f"Adam not fused: PyTorch has fused Adam for cpu and cuda, not for {device}")
    if session.gradients.max_tokens is not None:
        lines.append(
            f"Micro-batches of at most {session.gradients.max_tokens:,} tokens: so that a stop acts within seconds"
        )
    if session.compiled.reason:
        lines.append(f"Model {session.compiled.reason}")
    if session.world.size > 1:
        lines.append(f"{session.world.size} processes share each batch: started by torchrun")
    return lines


def _threads() -> str:
    """The number of threads, and the reason for it."""
    number = torch.get_num_threads()
    noun = "thread" if number == 1 else "threads"
    cores = available_cores()
    if os.environ.get("OMP_NUM_THREADS") == str(number):
        return f"Computing on {number} {noun}: set by OMP_NUM_THREADS"
    if number < cores:
        return f"Computing on {number} {noun} of {cores} that this process may use: limited by its environment"
    return f"Computing on {number} {noun}: the number of cores available to this process"
