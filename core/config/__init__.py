"""Frozen settings of a run, and the presets by name."""

from .groups import Activation, DataConfig, DecodingConfig, ModelConfig, TrainingConfig
from .run_config import DEFAULT_PRESET, PRESETS, RunConfig, preset

__all__ = [
    "DEFAULT_PRESET",
    "PRESETS",
    "Activation",
    "DataConfig",
    "DecodingConfig",
    "ModelConfig",
    "RunConfig",
    "TrainingConfig",
    "preset",
]
