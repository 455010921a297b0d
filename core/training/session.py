"""A model in training: optimiser step, random numbers, and the whole of it to and from a checkpoint."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.checkpoint.file import Checkpoint, fill_parameters
from core.checkpoint.history import EpochRecord
from core.config import RunConfig
from core.corpora.batches import Batch
from core.corpora.prepared import EncodedPairs, PreparedCorpus
from core.corpora.resegmentation import Resegmentation
from core.errors import CheckpointError
from core.model.transformer import Transformer
from core.training.failures import DivergedError
from core.training.loss import output_layer_loss
from core.training.precision import choose_precision
from core.training.resuming import Progress, fit_to_changes, progress_of, require_same_run
from core.training.schedules import learning_rate

_ADAM_STATE = ("step", "exp_avg", "exp_avg_sq")


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
            DivergedError: the loss or the gradient is no longer a number; the weights are as before the step.
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
            raise DivergedError(
                f"At step {self.progress.step + 1} the loss became {result.loss} (gradient norm {result.gradient_norm}"
                "). Finite numbers were expected. Nothing was changed by this step; what was saved before is intact."
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
        if self.device.type == "mps":
            state["random.mps"] = torch.mps.get_rng_state()
        for name, parameter in self.model.named_parameters():
            for key, value in self.optimizer.state[parameter].items():
                state[f"optimizer.{key}.{name}"] = value
        return Checkpoint(
            plain.run, plain.codecs, plain.weights, plain.corpus, plain.history, state, self.progress.to_dict()
        )

    def restore(self, checkpoint: Checkpoint, changed: frozenset[str] = frozenset()) -> list[str]:
        """Takes up a run where `resumable_snapshot` left it.

        Args:
            checkpoint: what that gave.
            changed: settings of `TrainingConfig` that are meant to be others than then.

        Returns:
            What a person should know of it, a sentence each.

        Raises:
            CheckpointError: the checkpoint is for translation only, or of another architecture, data or recipe.
        """
        if not checkpoint.progress or "random.cpu" not in checkpoint.state:
            raise CheckpointError(
                "This checkpoint is for translating only: it holds no optimiser state. The file last.safetensors of a "
                "run was expected; resume from that, or start a new run."
            )
        require_same_run(self.run, checkpoint.run, changed)
        if self.corpus.codecs.to_dict() != checkpoint.codecs.to_dict():
            raise CheckpointError(
                "The corpus gives another vocabulary than the run was begun with. The same data was expected: resume "
                "with that, or start a new run in another folder."
            )
        fill_parameters(self.model, checkpoint.weights)
        try:
            self.progress = progress_of(checkpoint.progress, checkpoint.history)
            self._restore_optimizer(checkpoint.state)
            torch.set_rng_state(checkpoint.state["random.cpu"])
            if self.device.type == "cuda" and "random.cuda" in checkpoint.state:
                torch.cuda.set_rng_state(checkpoint.state["random.cuda"], self.device)
            if self.device.type == "mps" and "random.mps" in checkpoint.state:
                torch.mps.set_rng_state(checkpoint.state["random.mps"])
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise CheckpointError(
                f"What this checkpoint holds for resuming is damaged ({error}). The complete file last.safetensors "
                "of a run was expected; use another copy, or start a new run in another folder."
            ) from error
        return fit_to_changes(self.progress, self.run.training, checkpoint.run.training)

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
