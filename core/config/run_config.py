"""All settings of a run, which its checkpoints store."""

from dataclasses import dataclass, replace
from typing import Any

from ..errors import ConfigError
from ..strict_json import shown
from .groups import DataConfig, ModelConfig, TrainingConfig
from .settings import Settings, require_mapping

PARTS: dict[str, type[Settings]] = {
    group.owner: group for group in (ModelConfig, DataConfig, TrainingConfig)
}
"""The groups of settings of a run, by name."""


@dataclass(frozen=True)
class RunConfig:
    """All settings of a training run.

    Attributes:
        preset: the name it started from.
        description: one line for display.
        model: settings of the architecture.
        data: settings of the data and their tokens.
        training: settings of the training.
    """

    preset: str
    description: str
    model: ModelConfig
    data: DataConfig
    training: TrainingConfig

    def __post_init__(self) -> None:
        if self.training.subword_dropout and self.data.num_subwords is None:
            raise ConfigError(
                f"training: subword_dropout is {self.training.subword_dropout}, but data: "
                "num_subwords is None: there are no subwords to cut in another way. Set "
                "num_subwords, or subword_dropout to 0."
            )
        if self.training.r_drop and not self.model.dropout:
            raise ConfigError(
                f"training: r_drop is {self.training.r_drop}, but model: dropout is "
                f"{self.model.dropout}: two passes over a batch would not differ. Raise dropout, "
                "or set r_drop to 0."
            )
        if self.training.source_noise and self.is_copy_task:
            raise ConfigError(
                f"training: source_noise is {self.training.source_noise}, but the data are "
                "symbols, not sentences. Set source_noise to 0, or choose another preset."
            )
        is_joint = self.data.num_subwords is not None or self.data.tokenization != "spacy"
        if self.model.tied_embeddings == "all" and not is_joint:
            raise ConfigError(
                "model: tied_embeddings is 'all', but data: num_subwords is None: source and "
                "target have separate vocabularies. Set num_subwords, or tie the output only."
            )

    @property
    def is_copy_task(self) -> bool:
        """Whether the run generates its own data: random sequences of symbols."""
        return self.data.tokenization == "symbols"

    def with_training(self, **settings: Any) -> "RunConfig":
        """The run with other training settings.

        Raises `ConfigError` if one is unknown or refused.
        """
        return replace(self, training=self.training.replace(**settings))

    def to_dict(self) -> dict[str, Any]:
        """The run as JSON-ready values."""
        parts = {part: getattr(self, part).to_dict() for part in PARTS}
        return {"preset": self.preset, "description": self.description, **parts}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "RunConfig":
        """The run that `values` describes. Raises `ConfigError` for unknown or refused settings."""
        require_mapping("A run", values)
        known = ("preset", "description", *PARTS)
        unknown = sorted(repr(name) for name in values if name not in known)
        if unknown:
            raise ConfigError(
                f"A run has no part {', '.join(unknown)}. Use preset, description, model, data "
                "and training."
            )
        for name in ("preset", "description"):
            if not isinstance(values.get(name, ""), str):
                raise ConfigError(
                    f"A run's {name} is {shown(values[name])}. Use a text, between quotation marks."
                )
        parts: dict[str, Any] = {
            part: group.from_dict(values.get(part, {})) for part, group in PARTS.items()
        }
        return cls(values.get("preset", "custom"), values.get("description", ""), **parts)
