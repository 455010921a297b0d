"""A model in training: optimizer steps, random numbers, saving and restoring."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from augenmerk.core.checkpoint.file import Checkpoint, fill_parameters, model_digest
from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.core.config import RunConfig
from augenmerk.core.corpora.augmentation import Resegmentation, with_noisy_sources
from augenmerk.core.corpora.batches import Batch
from augenmerk.core.corpora.prepared import EncodedPairs, PreparedCorpus
from augenmerk.core.errors import CheckpointError, ConfigError
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.text.word_counts import WordCounts
from augenmerk.core.training.compiling import choose_compiled
from augenmerk.core.training.distributed import SINGLE_PROCESS, World, request_random_states, send_join, send_step
from augenmerk.core.training.failures import ChangedDataError, DivergedError, Proposal
from augenmerk.core.training.gradients import Gradients, LossSum
from augenmerk.core.training.precision import choose_precision
from augenmerk.core.training.randomness import random_state, random_states, restore_random_states, set_random_state
from augenmerk.core.training.resuming import (
    Progress,
    fit_to_changed_data,
    fit_to_changes,
    progress_of,
    require_same_reading,
    require_same_run,
)
from augenmerk.core.training.schedules import fitted_to, learning_rate

LARGEST_WEIGHT = 1e4
"""Weights of models that learn are below 100; half-precision checkpoints end at 65,504."""
EXPLOSION = 10.0
"""A loss so many times as high as that of a model that knows nothing is no longer one that learning brings back."""
_USE_TEXT = "Use text (a folder, or two files), which is read with the model's vocabulary, or data prepared with it"
_ADAM_STATE = ("step", "exp_avg", "exp_avg_sq")


@dataclass(frozen=True)
class StepResult:
    """Result of an optimizer step: loss per token (the one minimised), rate, gradient norm, target tokens."""

    loss: float
    learning_rate: float
    gradient_norm: float
    num_tokens: int


class TrainingSession:
    """Model, optimizer and progress of one run.

    Args:
        run: its settings.
        corpus: the training data.
        device: name of the device.
        world: the processes that train together.
    """

    def __init__(self, run: RunConfig, corpus: PreparedCorpus, device: str, world: World = SINGLE_PROCESS) -> None:
        self.run = run
        self.world = world
        self.corpus = corpus
        self.device = torch.device(device)
        self.padding_id = corpus.codecs.target.vocabulary.padding_id
        self._word_counts = corpus.word_counts
        torch.manual_seed(run.training.seed)
        num_source, num_target = len(corpus.codecs.source.vocabulary), len(corpus.codecs.target.vocabulary)
        self.model = Transformer(run.model, num_source, num_target, self.padding_id).to(self.device)
        self.model.train()
        self.precision = choose_precision(run.training.precision, self.device)
        self._resegmentation = (
            Resegmentation(corpus, run.training.subword_dropout) if run.training.subword_dropout else None
        )
        self.progress = Progress()
        self._teachers: list[Transformer] = []
        self.compiled = choose_compiled(run.training.compile, self.model, self.device, self.precision)
        self.gradients = self._new_gradients(SINGLE_PROCESS)
        self._has_joined = False
        self._random_states: Tensor | None = None
        self._last_loss = 0.0
        self.is_fused = self.device.type in ("cpu", "cuda")
        self.optimizer = torch.optim.Adam(
            self.model.parameters(),
            lr=run.training.learning_rate,
            betas=(float(run.training.adam_beta1), float(run.training.adam_beta2)),  # 0 for 0.0 is refused
            eps=run.training.adam_epsilon,
            fused=self.is_fused,
        )

    def training_pairs(self, epoch: int) -> EncodedPairs:
        """The pairs of an epoch, independent of interruptions of the run."""
        seed = self.run.training.seed
        if self._resegmentation is not None:
            return self._resegmentation.pairs(epoch, seed)
        return self.corpus.training_pairs(epoch, seed)

    def with_noise(self, pairs: EncodedPairs, batches: Sequence[Sequence[int]], epoch: int) -> EncodedPairs:
        """The pairs of an epoch with the sources of some of its batches distorted, if the settings ask for it."""
        training = self.run.training
        if not training.source_noise:
            return pairs
        seed = f"{training.seed}-{epoch}-noise"
        return with_noisy_sources(pairs, batches, training.source_noise, self.corpus.codecs.source, seed)

    def step(
        self,
        batches: Sequence[Batch],
        rate_factor: float = 1.0,
        should_stop: Callable[[], object] = lambda: False,
    ) -> StepResult | None:
        """One optimizer step on the gradients of all `batches` together; each token has the same weight.

        Args:
            batches: for all processes together.
            rate_factor: multiplies the rate of the schedule.
            should_stop: asked between micro-batches.

        Returns:
            None if `should_stop` interrupted the step: then it has had no effect.

        Raises:
            DivergedError: the loss or the gradient is not finite; the weights are unchanged.
        """
        training = fitted_to(self.run.training, self.progress.steps_per_epoch)
        rate = rate_factor * learning_rate(self.progress.step + 1, self.run.model, training)
        if self.world.is_main:
            self._have_workers_join()
            send_step(self.world, batches, rate)
        result = self.take_step(batches, rate, should_stop)
        if result is None:
            return None
        if self.progress.step == 0:
            self.progress.first_loss = result.loss
        self._last_loss = result.loss
        self.progress.step += 1
        self.progress.learning_rate = rate
        self.progress.group += 1
        self.progress.epoch_loss_sum += result.loss * result.num_tokens
        self.progress.epoch_tokens += result.num_tokens
        return result

    def take_step(self, batches: Sequence[Batch], rate: float, should_stop: Callable[[], object]) -> StepResult | None:
        """The part of `step` that each process does: gradients, clipping and Adam with this rate."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad(set_to_none=True)
        before = random_state(self.device)
        loss = self.gradients.fill(batches, should_stop)
        if loss is None:
            self.optimizer.zero_grad(set_to_none=True)
            set_random_state(self.device, before)
            return None
        clip_norm = self.run.training.clip_norm
        limit = math.inf if clip_norm is None else clip_norm
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), limit, foreach=True)
        result = StepResult(loss, rate, float(norm), sum(batch.num_target_tokens for batch in batches))
        if not (math.isfinite(result.loss) and math.isfinite(result.gradient_norm)):
            raise DivergedError(
                f"At step {self.progress.step + 1} the loss became {result.loss} (gradient norm "
                f"{result.gradient_norm}), which is not finite. The step was not applied; files saved earlier are "
                "intact."
            )
        self.optimizer.step()
        return result

    def join(self, random_state: Tensor | None) -> None:
        """Joins the world together with the main process, taking over its weights and its optimizer state.

        Args:
            random_state: to continue from; None for a new one of this process.
        """
        if random_state is not None:
            set_random_state(self.device, random_state)
        elif self.world.rank:
            torch.manual_seed(self.run.training.seed + self.world.rank)
        self.gradients = self._new_gradients(self.world)  # sends the main process's weights to all
        if self.world.is_main:
            self.world.broadcast(list(self._optimizer_state().values()))
        elif tensors := self.world.receive():
            names = [f"optimizer.{key}.{name}" for name, _ in self.model.named_parameters() for key in _ADAM_STATE]
            self._restore_optimizer(dict(zip(names, tensors, strict=True)))

    def _have_workers_join(self) -> None:
        """Before the first step."""
        if not self._has_joined:
            self._has_joined = True
            send_join(self.world, self.run, self._random_states)
            self.join(None)

    def _new_gradients(self, world: World) -> Gradients:
        training = self.run.training
        loss_sum = LossSum(
            self.model,
            self.compiled.hidden_states,
            training.label_smoothing,
            training.r_drop,
            self._teachers,
            training.distillation,
        )
        return Gradients(loss_sum, self.device, self.precision, world)

    def require_sound_weights(self) -> None:
        """Raises `DivergedError` if a weight is not finite or absurdly large, or if the last step's loss exploded."""
        step = self.progress.step
        for name, parameter in self.model.named_parameters():
            largest = float(parameter.detach().abs().max())
            if not math.isfinite(largest):
                raise DivergedError(
                    f"After step {step} the weights {name} contain values that are not finite. These weights were not "
                    "saved; files saved earlier are intact."
                )
            if largest > LARGEST_WEIGHT:
                raise DivergedError(
                    f"After step {step} the weights {name} contain values of {largest:.3g}, above the limit of "
                    f"{LARGEST_WEIGHT:g}. These weights were not saved; files saved earlier are intact."
                )
        if self._last_loss > self.largest_loss:
            raise DivergedError(
                f"At step {step} the loss was {self._last_loss:.4g}, above the limit of {self.largest_loss:.3g}, which "
                f"is {EXPLOSION:g} times the loss of an untrained model. These weights were not saved; files saved "
                "earlier are intact."
            )

    @property
    def largest_loss(self) -> float:
        """A higher loss per token than this has exploded; infinite if the loss of the first step is not known."""
        if not self.progress.first_loss:  # no step yet, or saved by an earlier version
            return math.inf
        return EXPLOSION * max(self.progress.first_loss, math.log(len(self.corpus.codecs.target.vocabulary)))

    def snapshot(self, history: Sequence[EpochRecord]) -> Checkpoint:
        """A checkpoint for translation: weights without the optimizer."""
        return Checkpoint(
            run=self.run,
            codecs=self.corpus.codecs,
            weights=dict(self.model.named_parameters()),
            corpus=self.corpus.name,
            corpus_digest=self.corpus.digest,
            history=tuple(history),
            word_counts=self._word_counts,
        )

    def resumable_snapshot(self) -> Checkpoint:
        """A checkpoint with everything needed to resume: optimizer, random numbers, position in the data."""
        plain = self.snapshot(self.progress.history)
        state = random_states(self.device)
        if self._has_joined:
            request_random_states(self.world)
            state["random.world"] = torch.stack(self.world.all_gather(random_state(self.device)))
        state |= self._optimizer_state()
        return replace(plain, state=state, progress=self.progress.to_dict())

    def _optimizer_state(self) -> dict[str, Tensor]:
        """Nothing before the first step."""
        if not self.optimizer.state:
            return {}
        return {
            f"optimizer.{key}.{name}": self.optimizer.state[parameter][key]
            for name, parameter in self.model.named_parameters()
            for key in _ADAM_STATE
        }

    def begin_with(self, initial: Checkpoint) -> None:
        """Begins with the weights of a model that was trained already.

        Raises:
            CheckpointError: it is another model than the settings name, of another architecture, or reads text in
                another way than the corpus was read.
        """
        digest, wanted = model_digest(initial), self.run.training.initial_model
        if wanted not in (None, digest):
            raise CheckpointError(
                f"This run begins with the model {wanted}; the one given is {digest}. Give that model, or leave "
                "initial_model out of the settings."
            )
        ours, theirs = self.run.model.to_dict(), initial.run.model.to_dict()
        if different := [
            f"{name} is {theirs[name]!r} there and {ours[name]!r} here"
            for name in ours
            if ours[name] != theirs[name] and name != "dropout"
        ]:
            raise CheckpointError(
                f"The initial model has another architecture: {'; '.join(different)}. Choose the settings of its run "
                "(run.toml; only dropout may differ), or another model."
            )
        require_same_reading(self.run.data, initial.run.data, "The model to begin with")
        if self.corpus.codecs.to_dict() != initial.codecs.to_dict():
            raise CheckpointError(
                f"The corpus gives another vocabulary than that of the initial model. {_USE_TEXT}, or train without an "
                "initial model."
            )
        fill_parameters(self.model, initial.weights)
        self._word_counts = self._counts_of_all(initial)
        self.run = self.run.with_training(initial_model=digest)

    def learn_from(self, teachers: Sequence[Checkpoint]) -> None:
        """Lets the model learn the mean distribution of these models, too (`TrainingConfig.distillation`).

        Raises:
            CheckpointError: they are others than the settings name, or read text in another way than the corpus was
                read.
            ConfigError: the settings give them no share of the loss, or give one and there are no teachers.
        """
        digests = " ".join(model_digest(teacher) for teacher in teachers) or None
        training = self.run.training
        if training.distillation and not teachers:
            raise ConfigError(
                f"training: distillation is {training.distillation}, but no teacher was given. Give the files of the "
                "models to learn from, --teacher FILE …, or set distillation to 0."
            )
        if teachers and not training.distillation:
            raise ConfigError(
                "training: distillation is 0, so that nothing would be learned from the teachers. Set it, 0.5 for "
                "instance (--set training.distillation=0.5), or leave out --teacher."
            )
        if training.teachers not in (None, digests):
            raise CheckpointError(
                f"This run learns from the models {training.teachers}; those given are {digests or 'none'}. Give the "
                "same models in the same order, or leave teachers out of the settings of a new run."
            )
        for number, teacher in enumerate(teachers, start=1):
            require_same_reading(self.run.data, teacher.run.data, f"Teacher {number}")
            if teacher.codecs.to_dict() != self.corpus.codecs.to_dict():
                raise CheckpointError(
                    f"Teacher {number} and the corpus have different vocabularies. {_USE_TEXT}, or leave this teacher "
                    "out."
                )
        self._teachers = [teacher.build_model().eval().to(self.device) for teacher in teachers]
        self.run = self.run.with_training(teachers=digests)
        self.gradients = self._new_gradients(SINGLE_PROCESS)

    def restore(
        self, checkpoint: Checkpoint, changed: frozenset[str] = frozenset(), *, allow_changed_data: bool = False
    ) -> list[str]:
        """Restores a `resumable_snapshot`.

        Args:
            checkpoint: the snapshot.
            changed: settings of `TrainingConfig` that may differ from it.
            allow_changed_data: the corpus may have other sentences of the same vocabulary; an epoch that was begun
                starts again.

        Returns:
            Notes for the user, one sentence each.

        Raises:
            CheckpointError: the checkpoint is for translation only, or of another architecture, data or recipe.
            ChangedDataError: the corpus has other sentences, which are not allowed.
        """
        if not checkpoint.progress or "random.cpu" not in checkpoint.state:
            raise CheckpointError(
                "This checkpoint is for translation only: it has no optimizer state. Resume from the file "
                "last.safetensors of a run, or start a new run."
            )
        # a run begun without it, by an earlier version for instance, goes on without it
        if "fit_schedule" not in changed:
            self.run = self.run.with_training(fit_schedule=checkpoint.run.training.fit_schedule)
        self.run = self.run.with_training(initial_model=checkpoint.run.training.initial_model)
        require_same_run(self.run, checkpoint.run, changed)
        if self.corpus.codecs.to_dict() != checkpoint.codecs.to_dict():
            raise CheckpointError(
                "The corpus gives another vocabulary than that of the run. Resume with the original data, or start a "
                "new run in another folder."
            )
        has_changed_data = checkpoint.corpus_digest not in ("", self.corpus.digest)  # earlier versions kept no digest
        if has_changed_data and not allow_changed_data:
            raise _changed_data(self.corpus.name)
        if checkpoint.word_counts is not None or self.run.training.initial_model is not None:
            self._word_counts = self._counts_of_all(checkpoint)  # else it was saved by an earlier version
        fill_parameters(self.model, checkpoint.weights)
        try:
            self.progress = progress_of(checkpoint.progress, checkpoint.history)
            if self.progress.step:
                self._restore_optimizer(checkpoint.state)
            states = checkpoint.state.get("random.world")
            self._random_states = states if states is not None and len(states) == self.world.size else None
            restore_random_states(self.device, checkpoint.state)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise CheckpointError(
                f"The resume state in this checkpoint is damaged ({error}). Use another copy of last.safetensors, or "
                "start a new run in another folder."
            ) from error
        notes = fit_to_changes(self.progress, self.run.training, checkpoint.run.training)
        return [*notes, *fit_to_changed_data(self.progress)] if has_changed_data else notes

    def _counts_of_all(self, earlier: Checkpoint) -> WordCounts | None:
        """The words of all data that the model learns from; None if what it learned from before is not known."""
        ours, theirs = self.corpus.word_counts, earlier.word_counts
        if ours is not None and theirs is not None:
            return theirs.joined(ours)
        if earlier.corpus_digest != self.corpus.digest:
            return None
        says_it = theirs is not None or earlier.run.training.initial_model is not None
        return theirs if says_it else ours  # written before checkpoints had counts

    def _restore_optimizer(self, state: Mapping[str, Tensor]) -> None:
        """Raises `KeyError` or `ValueError` if a tensor is missing or has another shape."""
        for name, parameter in self.model.named_parameters():
            entries = {key: state[f"optimizer.{key}.{name}"].clone() for key in _ADAM_STATE}
            for key, value in entries.items():
                shape = torch.Size() if key == "step" else parameter.shape
                if value.shape != shape or value.dtype != torch.float32:
                    raise ValueError(f"{key} of {name} is {value.dtype} {list(value.shape)}, not {list(shape)}")
                if key != "exp_avg" and bool((value < 0).any()):
                    raise ValueError(f"{key} of {name} is negative")
                if key != "step" or self.device.type != "cpu":
                    entries[key] = value.to(self.device)
            self.optimizer.state[parameter] = entries


def _changed_data(corpus: str) -> ChangedDataError:
    return ChangedDataError(
        f"The training data ({corpus}) has changed since this run was last saved: its vocabulary is the same, but its "
        "sentences differ. Resume with the original data, start a new run in another folder, or accept the new data "
        "with --resume --allow-changed-data",
        Proposal("the training data as it is now", allows_changed_data=True),
    )
