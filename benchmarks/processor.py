"""A one-line description of the processor: ratios differ between processors."""

import os
import platform
from collections.abc import Mapping
from pathlib import Path

import torch

_INSTRUCTION_SETS = {
    "avx2": "AVX2",
    "avx512_f": "AVX-512",
    "avx512_vnni": "AVX512-VNNI",
    "avx512_bf16": "AVX512-BF16",
    "amx_int8": "AMX",
    "asimd": "NEON",
    "neon": "NEON",
    "sve": "SVE",
    "bf16": "BF16",
}
"""Relevant instruction sets, by their names in `torch.cpu.get_capabilities`, with their usual
names."""
_LIMITS = ("ATEN_CPU_CAPABILITY", "FBGEMM_ENABLE_INSTRUCTIONS", "ONEDNN_MAX_CPU_ISA")
_CPU_INFO = Path("/proc/cpuinfo")


def describe_processor() -> str:
    """Name, family, instruction sets, and environment variables that keep libraries from using
    them.
    """
    try:
        cpu_info = _CPU_INFO.read_text(encoding="utf-8", errors="replace")
    except OSError:  # not Linux
        cpu_info = ""
    return describe(cpu_info, torch.cpu.get_capabilities(), os.environ)


def describe(
    cpu_info: str, capabilities: Mapping[str, object], environment: Mapping[str, str]
) -> str:
    """The description from /proc/cpuinfo, PyTorch's capabilities and the environment."""
    fields: dict[str, str] = {}
    for line in cpu_info.splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    parts = [
        str(
            capabilities.get("cpu_name")
            or fields.get("model name")
            or platform.processor()
            or platform.machine()
        )
    ]
    if "cpu family" in fields:
        parts.append(f"family {fields['cpu family']} model {fields.get('model', '?')}")
    instruction_sets = dict.fromkeys(
        name for key, name in _INSTRUCTION_SETS.items() if capabilities.get(key)
    )
    parts.append(" ".join(instruction_sets) or "no instruction sets known")
    if "AVX2" in instruction_sets and "AVX-512" not in instruction_sets:
        parts.append("no AVX-512")
    parts += [f"limited by {name}={environment[name]}" for name in _LIMITS if environment.get(name)]
    return "Processor: " + ", ".join(parts)
