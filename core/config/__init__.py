"""Frozen settings of a run, and the presets by name."""

from augenmerk.core.config.data_config import DataConfig
from augenmerk.core.config.decoding_config import DecodingConfig
from augenmerk.core.config.model_config import Activation, ModelConfig
from augenmerk.core.config.presets import DEFAULT_PRESET, PRESETS, RunConfig, preset
from augenmerk.core.config.training_config import TrainingConfig

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
