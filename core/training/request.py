"""What one training is started with, besides what follows it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from augenmerk.core.config import RunConfig


@dataclass(frozen=True)
class TrainingRequest:
    """All that one press of Start asks for.

    Attributes:
        run: the configuration.
        source: a folder, a prepared file, "multi30k" or "copy" (see `core.corpora.load_corpus`).
        folder: for checkpoints and history.
        device: "auto", "cpu", "cuda:0" …
        resume: continue from the folder's last checkpoint.
        changes: settings of `TrainingConfig` that differ from here on.
        probe: the sentence of the film; None for its present one, or one of the validation split.
        allow_changed_data: resume even if the training data has changed since the run was saved.
    """

    run: RunConfig
    source: str | Path
    folder: Path
    device: str = "auto"
    resume: bool = False
    changes: Mapping[str, float | int] = field(default_factory=dict)
    probe: str | None = None
    allow_changed_data: bool = False
