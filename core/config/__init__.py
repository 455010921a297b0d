"""Frozen settings of a run."""

from .groups import Activation, DataConfig, DecodingConfig, ModelConfig, TrainingConfig
from .run_config import RunConfig

__all__ = [
    "Activation",
    "DataConfig",
    "DecodingConfig",
    "ModelConfig",
    "RunConfig",
    "TrainingConfig",
]
