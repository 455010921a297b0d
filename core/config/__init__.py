"""Frozen settings of a run, and the presets by name."""

from core.config.data_config import DataConfig
from core.config.decoding_config import DecodingConfig
from core.config.model_config import Activation, ModelConfig
from core.config.presets import DEFAULT_PRESET, PRESETS, RunConfig, preset
from core.config.training_config import TrainingConfig

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
