"""What was chosen for a run's device, and why: lines for the log."""

from typing import TYPE_CHECKING

from core.model.products import has_faster_kernels

if TYPE_CHECKING:
    from core.training.session import TrainingSession


def choices_of(session: "TrainingSession") -> list[str]:
    """Numbers, products, optimiser, micro-batches, compiling and processes, a line each."""
    device, precision = session.device.type, session.precision
    lines = [f"Computing in {precision.name}: {precision.reason}"]
    if device == "cpu" and precision.name == "float32" and has_faster_kernels():
        lines.append("Multiplying with oneDNN: this processor has AVX-512")
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
