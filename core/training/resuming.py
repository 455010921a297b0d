"""The progress of a run, and whether it can be resumed with the given settings. No torch here."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.core.config import DataConfig, RunConfig, TrainingConfig
from augenmerk.core.errors import CheckpointError, ConfigError
from augenmerk.core.quantities import percent
from augenmerk.core.strict_json import shown
from augenmerk.core.training.schedules import cooldown_factor, fitted_cooldown_epochs

_FREE_TO_CHANGE = frozenset(
    ("num_epochs", "max_steps", "checkpoint_steps", "keep_best", "keep_last", "patience", "sample_size")
)
"""Settings that may change on resuming: none of them changes a training step (but see `_on_cooldown`)."""
_WHICH_PAIRS = ("max_length", "copy_length", "copy_training_pairs", "copy_validation_pairs")
"""Data settings that say which pairs there are, not how text becomes ids."""
_LARGEST_COUNT = 2**53
_OF_BATCHES = ("batch_unit", "batch_size", "batching", "num_accumulated")


@dataclass
class Progress:
    """The progress of a run.

    Attributes:
        epoch: the epoch being trained, from 1.
        group: optimizer steps done within it.
        step: optimizer steps done in total.
        learning_rate: of the last of them.
        epoch_loss_sum, epoch_tokens: of the steps done within the epoch.
        epoch_seconds: spent within the epoch.
        steps_per_epoch: optimizer steps of the run's first epoch; 0 before it, and in runs of earlier versions.
        first_loss: of the first step; 0 before it, and in runs of earlier versions.
        best_epoch, best_validation_loss: of the best validation so far; 0 and infinity before the first.
        history: the epochs that are complete.
    """

    epoch: int = 1
    group: int = 0
    step: int = 0
    learning_rate: float = 0.0
    epoch_loss_sum: float = 0.0
    epoch_tokens: int = 0
    epoch_seconds: float = 0.0
    steps_per_epoch: int = 0
    first_loss: float = 0.0
    best_epoch: int = 0
    best_validation_loss: float = math.inf
    history: list[EpochRecord] = field(default_factory=list)

    def begin_epoch(self, epoch: int) -> None:
        """Starts an epoch."""
        self.epoch, self.group = epoch, 0
        self.epoch_loss_sum, self.epoch_tokens, self.epoch_seconds = 0.0, 0, 0.0

    def to_dict(self) -> dict[str, Any]:
        """All but the history, as JSON-ready values."""
        values = {name: value for name, value in asdict(self).items() if name != "history"}
        if math.isinf(self.best_validation_loss):
            values["best_validation_loss"] = None
        return values


def progress_of(values: Mapping[str, Any], history: Sequence[EpochRecord]) -> Progress:
    """The inverse of `Progress.to_dict`. Raises `TypeError`, `ValueError` or `KeyError` if the values are damaged."""
    values = dict(values)
    if values["best_validation_loss"] is None:
        values["best_validation_loss"] = math.inf
    for name, value in values.items():
        is_count = isinstance(getattr(Progress, name, None), int)
        if isinstance(value, bool) or not isinstance(value, int if is_count else int | float):
            raise TypeError(f"{name} is {shown(value)}, which is no {'whole ' if is_count else ''}number")
        if not (1 if name == "epoch" else 0) <= value <= _LARGEST_COUNT and name != "best_validation_loss":
            raise ValueError(f"{name} is {shown(value)}, which is out of range")
    return Progress(**values, history=list(history))


def require_same_run(now: RunConfig, then: RunConfig, changed: frozenset[str] = frozenset()) -> None:
    """Raises `CheckpointError` if the two differ in more than the length, the number of kept files, and `changed`.

    Args:
        now, then: the given settings, and those in the checkpoint.
        changed: settings of `TrainingConfig` that may differ.
    """
    different, can_be_meant = [], []
    for part in ("model", "data", "training"):
        new, old = getattr(now, part).to_dict(), getattr(then, part).to_dict()
        free = _FREE_TO_CHANGE | changed if part == "training" else frozenset[str]()
        for name in new:
            if new[name] != old[name] and name not in free:
                different.append(f"{part}.{name} was {old[name]!r} and is now {new[name]!r}")
                if part == "training" and name != "seed":
                    can_be_meant.append(f"--change {name}={new[name]}")
    if different:
        meant = len(can_be_meant) == len(different)
        option = f", confirm the change ({' '.join(can_be_meant)})" if meant else ""
        raise CheckpointError(
            f"The run in this folder was started with other settings: {'; '.join(different)}. Resume with the same "
            f"settings{option}, or start a new run in another folder."
        )


def require_initial_model(training: TrainingConfig, is_given: bool) -> None:
    """Raises `ConfigError` if the settings name a model to begin with, and none is given."""
    if training.initial_model is not None and not is_given:
        raise ConfigError(
            f"training: initial_model is {training.initial_model}, but no model was given. Give its file, "
            "--initial-model FILE, or leave the setting out to begin with random weights."
        )


def require_same_reading(data: DataConfig, of_model: DataConfig, model: str) -> None:
    """Raises `CheckpointError` if text becomes other ids with `data` than with the settings of a model that is given.

    Args:
        data: of the run.
        of_model: of the model.
        model: what to call it, at the beginning of a sentence.
    """
    free = set(_WHICH_PAIRS)
    if data.num_subwords is not None and of_model.num_subwords is not None:
        free.add("min_frequency")  # of vocabularies of words
    if "symbols" not in (data.tokenization, of_model.tokenization):
        free.add("copy_symbols")
    ours, theirs = data.to_dict(), of_model.to_dict()
    different = [
        f"{name} is {theirs[name]!r} there and {ours[name]!r} here"
        for name in ours
        if ours[name] != theirs[name] and name not in free
    ]
    if different:
        raise CheckpointError(
            f"{model} reads text with other settings: {'; '.join(different)}. Its vocabulary only fits its own "
            "settings: choose those of its run (--config run.toml, or --set data.NAME=VALUE), or another model."
        )


def fit_to_changes(progress: Progress, now: TrainingConfig, then: TrainingConfig) -> list[str]:
    """Adapts `progress`, made with `then`, to `now`; returns notes for the user, one sentence each."""
    return [*_on_batches(progress, now, then), *_on_cooldown(progress, now, then)]


def fit_to_changed_data(progress: Progress) -> list[str]:
    """A position within an epoch has no meaning if the sentences differ. Returns notes for the user."""
    note = "The training data is not the same as when this run was saved."
    if progress.group == 0:
        return [note]
    progress.begin_epoch(progress.epoch)
    return [f"{note} Epoch {progress.epoch} starts again with it."]


def _on_batches(progress: Progress, now: TrainingConfig, then: TrainingConfig) -> list[str]:
    """A position within an epoch has no meaning if the batches differ."""
    if all(getattr(now, name) == getattr(then, name) for name in _OF_BATCHES):
        return []
    progress.steps_per_epoch = 0
    if progress.group == 0:
        return []
    progress.begin_epoch(progress.epoch)
    return [f"The batches are different now, so epoch {progress.epoch} starts again."]


def _on_cooldown(progress: Progress, now: TrainingConfig, then: TrainingConfig) -> list[str]:
    """A run made longer after its cooldown began returns to the higher rate."""
    done = progress.epoch - 1
    before, after = (cooldown_factor(done, each.num_epochs, fitted_cooldown_epochs(each)) for each in (then, now))
    if math.isclose(before, after):
        return []
    note = (
        f"When this run was saved, its rate had cooled down to {percent(before)} of the schedule's, because it was set "
        f"to {then.num_epochs} epochs. It is set to {now.num_epochs} now, so it continues at {percent(after)}: expect "
        "the loss to rise before it falls again."
    )
    return [note]
