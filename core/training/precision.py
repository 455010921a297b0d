"""The number format of the matrix products in training, and the reason for it."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal

import torch

from augenmerk.core.config.training_config import Precision

_BFLOAT16_INSTRUCTIONS = ("avx512_bf16", "amx_bf16", "arm_bf16", "bf16")


@dataclass(frozen=True)
class PrecisionChoice:
    """The chosen number format.

    Attributes:
        name: "float32" or "bfloat16".
        reason: why, for the user.
    """

    name: Literal["float32", "bfloat16"]
    reason: str

    def computing(self, device: torch.device) -> AbstractContextManager[None]:
        """Within this context matrix products use the chosen format; sums and norms stay 32-bit."""
        is_mixed = self.name == "bfloat16"
        context: AbstractContextManager[None] = torch.autocast(device.type, dtype=torch.bfloat16, enabled=is_mixed)
        return context


def choose_precision(requested: Precision, device: torch.device) -> PrecisionChoice:
    """The number format for a device.

    "auto" selects bfloat16 only where the device has instructions for it: elsewhere it is emulated, many times slower.
    The choice depends only on the device, never on a measurement, so that a resumed run computes as before.
    """
    if requested == "float32":
        return PrecisionChoice("float32", "the settings ask for it")
    if requested == "bfloat16":
        return PrecisionChoice("bfloat16", "the settings ask for it")
    if device.type == "cuda":
        if torch.cuda.is_bf16_supported(including_emulation=False):
            return PrecisionChoice("bfloat16", "this GPU computes in it")
        return PrecisionChoice("float32", "this GPU would have to emulate bfloat16")
    if device.type == "cpu":
        if _has_bfloat16_instructions():
            return PrecisionChoice("bfloat16", "this processor has instructions for it")
        return PrecisionChoice("float32", "this processor has no instructions for bfloat16")
    return PrecisionChoice("float32", f"bfloat16 was not tried on {device.type}")


def _has_bfloat16_instructions() -> bool:
    """Whether the processor multiplies bfloat16 (AVX512-BF16 or AMX on x86, BF16 on Arm)."""
    capabilities = torch.cpu.get_capabilities()
    return any(bool(capabilities.get(name)) for name in _BFLOAT16_INSTRUCTIONS)
