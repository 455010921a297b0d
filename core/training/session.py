"""A model in training: optimiser step, random numbers, and the whole of it to and from a checkpoint."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor

from core.checkpoint.file import Checkpoint, fill_parameters
from core.checkpoint.history import EpochRecord
from core.config import RunConfig
from core.corpora.batches import Batch
from core.corpora.prepared import EncodedPairs, PreparedCorpus
from core.corpora.resegmentation import Resegmentation
from core.errors import CheckpointError, TrainingError
from core.model.transformer import Transformer
from core.training.loss import output_layer_loss
from core.training.precision import choose_precision
from core.training.schedules import learning_rate

_ADAM_STATE = ("step", "exp_avg", "exp_avg_sq")
_FREE_TO_CHANGE = frozenset(
    ("num_epochs", "max_steps", "checkpoint_steps", "keep_best", "keep_last", "patience", "sample_size")
)
"""Settings that a resumed run may have otherwise: none of them changes a single step."""


@dataclass
class Progress:
    """Where a run stands.

    Attributes:
        epoch: the epoch being trained, from 1.
        group: optimiser steps done within it.
        step: optimiser steps done in all.
        learning_rate: of the last of them.
        epoch_loss_sum, epoch_tokens: of the steps done within the epoch.
        epoch_seconds: spent within the epoch.
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
    best_epoch: int = 0
    best_validation_loss: float = math.inf
    history: list[EpochRecord] = field(default_factory=list)

    def begin_epoch(self, epoch: int) -> None:
        """Turns to the next epoch."""
        self.epoch, self.group = epoch, 0
        self.epoch_loss_sum, self.epoch_tokens, self.epoch_seconds = 0.0, 0, 0.0


@dataclass(frozen=True)
class StepResult:
    """What one optimiser step gave: loss per token (smoothed if the run is), rate, gradient norm, target tokens."""

    loss: float
    learning_rate: float
    gradient_norm: float
    num_tokens: int


class TrainingSession:
    """Model, optimiser and progress of one run.

    Args:
        run: its settings.
        corpus: what it learns from.
        device: where.
    """

    def __init__(self, run: RunConfig, corpus: PreparedCorpus, device: str) -> None:
        self.run = run
        self.corpus = corpus
        self.device = torch.device(device)
        self.padding_id = corpus.codecs.target.vocabulary.padding_id
        torch.manual_seed(run.training.seed)
        num_source, num_target = len(corpus.codecs.source.vocabulary), len(corpus.codecs.target.vocabulary)
        self.model = Transformer(run.model, num_source, num_target, self.padding_id).to(self.device)
        self.model.train()
        self.precision = choose_precision(run.training.precision, self.device)
        self._resegmentation = (
            Resegmentation(corpus, run.training.subword_dropout) if run.training.subword_dropout else None
        )
        self.progress = Progress()
        self.optimizer = torch.optim.Adam(
            self.model.parameters(),
            lr=run.training.learning_rate,
            betas=(run.training.adam_beta1, run.training.adam_beta2),
            eps=run.training.adam_epsilon,
            fused=self.device.type in ("cpu", "cuda"),
        )

    def training_pairs(self, epoch: int) -> EncodedPairs:
        """The pairs of an epoch: the same for the same epoch, whether the run was interrupted or not."""
        seed = self.run.training.seed
        if self._resegmentation is not None:
            return self._resegmentation.pairs(epoch, seed)
        return self.corpus.training_pairs(epoch, seed)

    def step(self, batches: Sequence[Batch], rate_factor: float = 1.0) -> StepResult:
        """One optimiser step on the gradients of all `batches` together, each token weighing the same.

        The schedule's rate is multiplied with `rate_factor`.

        Raises:
            TrainingError: the loss or the gradient is no longer a number; the weights are as before the step.
        """
        training = self.run.training
        num_tokens = sum(batch.num_target_tokens for batch in batches)
        rate = rate_factor * learning_rate(self.progress.step + 1, self.run.model, training)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad(set_to_none=True)
        total = torch.zeros((), device=self.device)
        for batch in batches:
            loss = self._loss_sum(batch) / num_tokens
            loss.backward()
            total += loss.detach()
        limit = math.inf if training.clip_norm is None else training.clip_norm
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), limit, foreach=True)
        result = StepResult(float(total), rate, float(norm), num_tokens)
        if not (math.isfinite(result.loss) and math.isfinite(result.gradient_norm)):
            raise TrainingError(
                f"At step {self.progress.step + 1} the loss became {result.loss} (gradient norm {result.gradient_norm}"
                "). Finite numbers were expected. Nothing was changed by this step; what was saved before is intact. "
                "Start a run in another folder with a lower learning rate, a longer warm-up, or gradient clipping."
            )
        self.optimizer.step()
        self.progress.step += 1
        self.progress.learning_rate = rate
        self.progress.group += 1
        self.progress.epoch_loss_sum += result.loss * num_tokens
        self.progress.epoch_tokens += num_tokens
        return result

    def _loss_sum(self, batch: Batch) -> Tensor:
        """The loss summed over the batch's target tokens; the output layer sees no padding."""
        batch = batch.to(self.device)
        with self.precision.computing(self.device):
            return self._loss_sum_of(batch)

    def _loss_sum_of(self, batch: Batch) -> Tensor:
        hidden = self.model.hidden_states(batch.source, batch.target[:, :-1])
        targets = batch.target[:, 1:]
        real = targets != self.padding_id
        layer = self.model.output
        smoothing = self.run.training.label_smoothing
        return output_layer_loss(hidden[real], layer.weight, layer.bias, targets[real], smoothing, self.padding_id)

    def snapshot(self, history: Sequence[EpochRecord]) -> Checkpoint:
        """A checkpoint for translation: weights without the optimiser."""
        return Checkpoint(
            run=self.run,
            codecs=self.corpus.codecs,
            weights=dict(self.model.named_parameters()),
            corpus=self.corpus.name,
            history=tuple(history),
        )

    def resumable_snapshot(self) -> Checkpoint:
        """A checkpoint with everything that continuing needs: optimiser, random numbers, position in the data."""
        plain = self.snapshot(self.progress.history)
        state = {"random.cpu": torch.get_rng_state()}
        if self.device.type == "cuda":
            state["random.cuda"] = torch.cuda.get_rng_state(self.device)
        for name, parameter in self.model.named_parameters():
            for key, value in self.optimizer.state[parameter].items():
                state[f"optimizer.{key}.{name}"] = value
        progress = {name: value for name, value in asdict(self.progress).items() if name != "history"}
        if math.isinf(progress["best_validation_loss"]):
            progress["best_validation_loss"] = None
        return Checkpoint(plain.run, plain.codecs, plain.weights, plain.corpus, plain.history, state, progress)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Takes up a run where `resumable_snapshot` left it.

        Raises:
            CheckpointError: the checkpoint is for translation only, or of another architecture, data or recipe.
        """
        if not checkpoint.progress or "random.cpu" not in checkpoint.state:
            raise CheckpointError(
                "This checkpoint is for translating only: it holds no optimiser state. The file last.safetensors of a "
                "run was expected; resume from that, or start a new run."
            )
        _require_same_run(self.run, checkpoint.run)
        if self.corpus.codecs.to_dict() != checkpoint.codecs.to_dict():
            raise CheckpointError(
                "The corpus gives another vocabulary than the run was begun with. The same data was expected: resume "
                "with that, or start a new run in another folder."
            )
        fill_parameters(self.model, checkpoint.weights)
        try:
            self.progress = _progress_of(checkpoint)
            self._restore_optimizer(checkpoint.state)
            torch.set_rng_state(checkpoint.state["random.cpu"])
            if self.device.type == "cuda" and "random.cuda" in checkpoint.state:
                torch.cuda.set_rng_state(checkpoint.state["random.cuda"], self.device)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise CheckpointError(
                f"What this checkpoint holds for resuming is damaged ({error}). The complete file last.safetensors "
                "of a run was expected; use another copy, or start a new run in another folder."
            ) from error

    def _restore_optimizer(self, state: Mapping[str, Tensor]) -> None:
        """Raises `KeyError` or `ValueError` if something is missing or of another shape."""
        if self.progress.step == 0:
            return
        for name, parameter in self.model.named_parameters():
            entries = {key: state[f"optimizer.{key}.{name}"].clone() for key in _ADAM_STATE}
            for key, value in entries.items():
                if key != "step" and value.shape != parameter.shape:
                    raise ValueError(f"{key} of {name} is {list(value.shape)}, not {list(parameter.shape)}")
                if key != "step" or self.device.type != "cpu":
                    entries[key] = value.to(self.device)
            self.optimizer.state[parameter] = entries


def _progress_of(checkpoint: Checkpoint) -> Progress:
    """Where the run stood. Raises `TypeError` or `KeyError` if that is damaged."""
    values: dict[str, Any] = dict(checkpoint.progress)
    if values["best_validation_loss"] is None:
        values["best_validation_loss"] = math.inf
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"{name} is {value!r}, which is no number")
    return Progress(**values, history=list(checkpoint.history))


def _require_same_run(now: RunConfig, then: RunConfig) -> None:
    """Raises `CheckpointError` unless the two runs differ in nothing but how long they last and what they keep."""
    different = []
    for part in ("model", "data", "training"):
        new, old = getattr(now, part).to_dict(), getattr(then, part).to_dict()
        different += [
            f"{part}.{name} was {old[name]!r} and is now {new[name]!r}"
            for name in new
            if new[name] != old[name] and name not in _FREE_TO_CHANGE
        ]
    if different:
        raise CheckpointError(
            f"The run in this folder was begun with other settings: {'; '.join(different)}. The same settings were "
            "expected: resume with those, or start a new run in another folder."
        )
