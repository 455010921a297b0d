"""A model in training: optimizer steps, random numbers, saving, and the state for resuming."""

import json
import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ...checkpoint.file import Checkpoint, ModelOrigin, fill_parameters, model_digest
from ...checkpoint.history import EpochRecord
from ...config import DataConfig, DecodingConfig, RunConfig, TrainingConfig
from ...config.settings import Settings
from ...errors import CheckpointError, ConfigError
from ...inference.products import has_faster_kernels
from ...model.transformer import Transformer
from ...process import available_cores, spinning
from ...quantities import counted, percent
from ...strict_json import shown
from ...text.word_counts import WordCounts
from ..wording import Wording
from .corpora.augmentation import Resegmentation
from .corpora.batches import Batch
from .corpora.loading import USE_TEXT
from .corpora.parallel import DataSource, name_of_source
from .corpora.prepared import EncodedPairs, PreparedCorpus
from .corpora.word_counting import joined_counts
from .device_choices import (
    choose_compiled,
    choose_launches,
    choose_precision,
    random_state,
    random_states,
    restore_random_states,
    set_random_state,
)
from .distributed import SINGLE_PROCESS, CommandKind, World
from .events import ChangedDataError, DivergedError, Proposal
from .folder import RunInputs
from .loss import Gradients, LossSum
from .schedules import (
    cooldown_factor,
    fitted_cooldown_epochs,
    fitted_to,
    learning_rate,
)

LARGEST_WEIGHT = 1e4
"""Weights of models that learn are below 100; half-precision checkpoints end at 65,504."""
EXPLOSION = 10.0
"""A loss higher than this many times that of an untrained model does not recover."""
_ADAM_STATE = ("step", "exp_avg", "exp_avg_sq")
_FREE_TO_CHANGE = frozenset(
    (
        "num_epochs",
        "max_steps",
        "checkpoint_steps",
        "keep_best",
        "keep_last",
        "patience",
        "sample_size",
    )
)
"""Settings that may change on resuming: none of them changes a training step (but see
`_fit_progress`)."""
_WHICH_PAIRS = {"max_length", "copy_length", "copy_training_pairs", "copy_validation_pairs"}
"""Data settings that select pairs; the others determine how text becomes ids."""
_OF_BATCHES = ("batch_unit", "batch_size", "batching", "num_accumulated")
_LARGEST_COUNT = 2**53


@dataclass
class RunProgress:
    """The progress of a run.

    Attributes:
        epoch: the epoch being trained, from 1.
        group: optimizer steps done within it.
        step: optimizer steps done in total.
        learning_rate: of the last of them.
        epoch_loss_sum: sum of the losses of the steps done within the epoch.
        epoch_tokens: number of target tokens of these steps.
        epoch_seconds: spent within the epoch.
        steps_per_epoch: optimizer steps of the run's first epoch; 0 before it.
        first_loss: of the first step; 0 before it.
        best_epoch: the epoch of the best validation so far; 0 before the first.
        best_validation_loss: its loss; infinity before the first.
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
        self.epoch = epoch
        self.group = 0
        self.epoch_loss_sum = 0.0
        self.epoch_tokens = 0
        self.epoch_seconds = 0.0

    def to_dict(self) -> dict[str, Any]:
        """All but the history, as JSON-ready values."""
        values = {name: value for name, value in asdict(self).items() if name != "history"}
        if math.isinf(self.best_validation_loss):
            values["best_validation_loss"] = None
        return values


@dataclass(frozen=True)
class StepResult:
    """Result of an optimizer step: loss per token (the one minimised), rate, gradient norm, target
    tokens.
    """

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

    Attributes:
        inputs: the files that it was read from.
    """

    def __init__(
        self, run: RunConfig, corpus: PreparedCorpus, device: str, world: World = SINGLE_PROCESS
    ) -> None:
        self.run = run
        self.world = world
        self.corpus = corpus
        self.inputs = RunInputs(corpus.source)
        self.device = torch.device(device)
        self.padding_id = corpus.codecs.target.vocabulary.padding_id
        self._word_counts = corpus.word_counts
        self._decoding = DecodingConfig()
        self._origin: ModelOrigin | None = None
        torch.manual_seed(run.training.seed)
        num_source, num_target = (
            len(corpus.codecs.source.vocabulary),
            len(corpus.codecs.target.vocabulary),
        )
        self.model = Transformer(run.model, num_source, num_target, self.padding_id).to(self.device)
        self.model.train()
        self.precision = choose_precision(run.training.precision, self.device)
        self._resegmentation = (
            Resegmentation(corpus, run.training.subword_dropout)
            if run.training.subword_dropout
            else None
        )
        self.progress = RunProgress()
        self._teachers: list[Transformer] = []
        self.compiled = choose_compiled(
            run.training.compile, self.model, self.device, self.precision
        )
        self.launches = choose_launches(run.training, self.device)
        self.gradients = self._new_gradients(SINGLE_PROCESS)
        self._has_joined = False
        self._random_states: Tensor | None = None
        self._last_loss = 0.0
        self.is_fused = self.device.type in ("cpu", "cuda")
        self.optimizer = torch.optim.Adam(
            self.model.parameters(),
            lr=run.training.learning_rate,
            # 0 for 0.0 is refused
            betas=(float(run.training.adam_beta1), float(run.training.adam_beta2)),
            eps=run.training.adam_epsilon,
            fused=self.is_fused,
        )

    def training_pairs(self, epoch: int) -> EncodedPairs:
        """The pairs of an epoch, independent of interruptions of the run."""
        seed = self.run.training.seed
        if self._resegmentation is not None:
            return self._resegmentation.pairs(epoch, seed)
        return self.corpus.training_pairs(epoch, seed)

    def step(
        self,
        batches: Sequence[Batch],
        rate_factor: float = 1.0,
        should_stop: Callable[[], object] = lambda: False,
    ) -> StepResult | None:
        """One optimizer step on the gradients of all `batches` together; each token has the same
        weight.

        Args:
            batches: for all processes together.
            rate_factor: multiplies the rate of the schedule.
            should_stop: called between micro-batches.

        Returns:
            None if `should_stop` interrupted the step: then it has had no effect.

        Raises:
            DivergedError: the loss or the gradient is not finite; the weights are unchanged.
        """
        training = fitted_to(self.run.training, self.progress.steps_per_epoch)
        rate = rate_factor * learning_rate(self.progress.step + 1, self.run.model, training)
        if self.world.is_main:
            if not self._has_joined:
                self._has_joined = True
                settings = torch.frombuffer(
                    bytearray(json.dumps(self.run.to_dict()).encode()), dtype=torch.uint8
                )
                states = (
                    torch.empty(0, dtype=torch.uint8)
                    if self._random_states is None
                    else self._random_states
                )
                self.world.command(CommandKind.JOIN, [settings, states])
                self.join(None)
            ids = [ids for batch in batches for ids in (batch.source, batch.target)]
            self.world.command(CommandKind.STEP, ids, rate)
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

    def take_step(
        self, batches: Sequence[Batch], rate: float, should_stop: Callable[[], object]
    ) -> StepResult | None:
        """The part of `step` that each process does: gradients, clipping and Adam with this
        rate.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad(set_to_none=not self.gradients.keeps_tensors)
        before = random_state(self.device)
        loss = self.gradients.fill(batches, should_stop)
        if loss is None:
            self.optimizer.zero_grad(set_to_none=not self.gradients.keeps_tensors)
            set_random_state(self.device, before)
            return None
        clip_norm = self.run.training.clip_norm
        limit = math.inf if clip_norm is None else clip_norm
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), limit, foreach=True)
        result = StepResult(
            loss, rate, float(norm), sum(batch.num_target_tokens for batch in batches)
        )
        if not (math.isfinite(result.loss) and math.isfinite(result.gradient_norm)):
            raise DivergedError(
                f"At step {self.progress.step + 1} the loss became {result.loss} (gradient norm "
                f"{result.gradient_norm}), which is not finite. The step was not applied; files "
                "saved earlier are intact."
            )
        self.optimizer.step()
        return result

    def join(self, random_state: Tensor | None) -> None:
        """Joins the world together with the main process, taking over its weights and its optimizer
        state.

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
            names = [
                f"optimizer.{key}.{name}"
                for name, _ in self.model.named_parameters()
                for key in _ADAM_STATE
            ]
            self._restore_optimizer(dict(zip(names, tensors, strict=True)))

    def _new_gradients(self, world: World) -> Gradients:
        codecs = self.corpus.codecs
        loss_sum = LossSum(
            self.model,
            self.compiled.hidden_states,
            self.run.training,
            self._teachers,
            keeps_padding=self.launches.is_graph and world.size == 1,
            unknown_ids=(codecs.source.vocabulary.unknown_id, codecs.target.vocabulary.unknown_id),
        )
        return Gradients(loss_sum, self.device, self.precision, world)

    def describe_device_choices(self) -> list[str]:
        """Precision, kernels, threads, optimizer, micro-batches, compiling and processes, with
        reasons, by line.
        """
        device = self.device.type
        precision = self.precision
        lines = [f"Computing in {precision.name}: {precision.reason}"]
        if device == "cpu" and precision.name == "float32" and has_faster_kernels():
            lines.append("Multiplying with oneDNN: this processor has AVX-512")
        if device == "cpu":
            lines += [_threads(), spinning()]
        if self.is_fused:
            lines.append(f"Fused Adam, in one pass over all parameters: available for {device}")
        else:
            lines.append(
                f"Adam not fused: PyTorch has fused Adam for cpu and cuda, not for {device}"
            )
        if self.gradients.max_tokens is not None:
            lines.append(
                f"Micro-batches of similar lengths, at most {self.gradients.max_tokens:,} "
                "tokens: little padding, and a stop acts within seconds"
            )
        if self.launches.reason:
            lines.append(self.launches.reason)
        if self.compiled.reason:
            lines.append(f"Model {self.compiled.reason}")
        if self.world.size > 1:
            lines.append(f"{self.world.size} processes share each batch: started by torchrun")
        return lines

    def require_sound_weights(self) -> None:
        """Raises `DivergedError` if a weight is not finite or absurdly large, or if the last step's
        loss exploded.
        """
        step = self.progress.step
        for name, parameter in self.model.named_parameters():
            largest = float(parameter.detach().abs().max())
            if not math.isfinite(largest):
                raise DivergedError(
                    f"After step {step} the weights {name} contain values that are not finite. "
                    "These weights were not saved; files saved earlier are intact."
                )
            if largest > LARGEST_WEIGHT:
                raise DivergedError(
                    f"After step {step} the weights {name} contain values of {largest:.3g}, "
                    f"above the limit of {LARGEST_WEIGHT:g}. These weights were not saved; files "
                    "saved earlier are intact."
                )
        if self._last_loss > self.largest_loss:
            raise DivergedError(
                f"At step {step} the loss was {self._last_loss:.4g}, above the limit of "
                f"{self.largest_loss:.3g}, which is {EXPLOSION:g} times the loss of an untrained "
                "model. These weights were not saved; files saved earlier are intact."
            )

    @property
    def largest_loss(self) -> float:
        """The loss per token above which training has exploded; infinite before the first step."""
        if not self.progress.first_loss:
            return math.inf
        return EXPLOSION * max(
            self.progress.first_loss, math.log(len(self.corpus.codecs.target.vocabulary))
        )

    def snapshot(self, history: Sequence[EpochRecord]) -> Checkpoint:
        """A checkpoint for translation: weights without the optimizer."""
        return Checkpoint(
            run=self.run,
            codecs=self.corpus.codecs,
            weights=dict(self.model.named_parameters()),
            corpus=self.corpus.name,
            corpus_digest=self.corpus.digest,
            history=tuple(history),
            decoding=self._decoding,
            origin=self._origin,
            word_counts=self._word_counts,
        )

    def resumable_snapshot(self) -> Checkpoint:
        """A checkpoint with everything needed to resume: optimizer, random numbers, position in the
        data.
        """
        plain = self.snapshot(self.progress.history)
        state = random_states(self.device)
        if self._has_joined:
            self.world.command(CommandKind.SEND_RANDOM_STATE)
            state["random.world"] = torch.stack(self.world.all_gather(random_state(self.device)))
        state |= self._optimizer_state()
        return replace(plain, state=state, progress=self.progress.to_dict())

    def _optimizer_state(self) -> dict[str, Tensor]:
        """The tensors of the optimizer; none before the first step."""
        if not self.optimizer.state:
            return {}
        return {
            f"optimizer.{key}.{name}": self.optimizer.state[parameter][key]
            for name, parameter in self.model.named_parameters()
            for key in _ADAM_STATE
        }

    def begin_with(self, initial: Checkpoint | None) -> None:
        """Begins with the weights of a trained model; None for random ones.

        Raises:
            CheckpointError: the model is not the one in the settings, has another architecture, or
                reads text in another way than the corpus.
            ConfigError: the settings name a model, and none is given.
        """
        require_initial_model(self.run.training, initial is not None)
        if initial is None:
            return
        digest = model_digest(initial)
        required_digest = self.run.training.initial_model
        if required_digest not in (None, digest):
            raise CheckpointError(
                f"This run begins with the model {required_digest}; the one given is {digest}. "
                "Give that model, or leave initial_model out of the settings."
            )
        if different := _differences(initial.run.model, self.run.model, {"dropout"}):
            raise CheckpointError(
                f"The initial model has another architecture: {different}. Leave these settings "
                "out, as it brings its own (only dropout may differ), or choose another model."
            )
        require_same_reading(self.run.data, initial.run.data, "The model to begin with")
        if self.corpus.codecs.to_dict() != initial.codecs.to_dict():
            raise CheckpointError(
                "The corpus gives another vocabulary than that of the initial model. "
                f"{USE_TEXT}, or train without an initial model."
            )
        self._take_over(initial)
        self._word_counts = self._counts_of_all(initial)
        self.run = self.run.with_training(initial_model=digest)
        self.inputs = replace(self.inputs, initial_model=_absolute(initial))

    def learn_from(self, teachers: Sequence[Checkpoint]) -> None:
        """Lets the model learn the mean distribution of these models, too
        (`TrainingConfig.distillation`).

        Raises:
            CheckpointError: they are not those in the settings, or read text in another way than
                the corpus.
            ConfigError: the settings give them no share of the loss, or give one and there are no
                teachers, or several processes train together.
        """
        digests = digests_of(teachers)
        training = self.run.training
        if training.distillation and self.world.size > 1:
            raise ConfigError(
                "training: distillation is for one process; several were started. Train without "
                "torchrun, or set distillation to 0."
            )
        require_teachers(training, digests)
        for number, teacher in enumerate(teachers, start=1):
            require_same_reading(self.run.data, teacher.run.data, f"Teacher {number}")
            if teacher.codecs.to_dict() != self.corpus.codecs.to_dict():
                raise CheckpointError(
                    f"Teacher {number} and the corpus have different vocabularies. {USE_TEXT}, "
                    "or leave this teacher out."
                )
        self._teachers = [teacher.build_model().eval().to(self.device) for teacher in teachers]
        self.run = self.run.with_training(teachers=digests)
        self.inputs = replace(self.inputs, teachers=tuple(filter(None, map(_absolute, teachers))))
        self.gradients = self._new_gradients(SINGLE_PROCESS)

    def restore(
        self,
        checkpoint: Checkpoint,
        changed: frozenset[str] = frozenset(),
        *,
        allow_changed_data: bool = False,
        inputs: RunInputs = RunInputs(),  # noqa: B008 — it is frozen
    ) -> list[str]:
        """Restores a `resumable_snapshot`.

        Args:
            checkpoint: the snapshot.
            changed: settings of `TrainingConfig` that may differ from it.
            allow_changed_data: the corpus may have other sentences; an epoch that was begun starts
                again.
            inputs: those of the run, as far as they are known.

        Returns:
            Notes for the user, one sentence each.

        Raises:
            CheckpointError: the checkpoint is for translation only, or of another architecture,
                data or recipe.
            ChangedDataError: the corpus has other sentences of the same vocabulary, which are not
                allowed.
        """
        if not checkpoint.progress or "random.cpu" not in checkpoint.state:
            raise CheckpointError(
                "This checkpoint is for translation only: it has no optimizer state. Resume from "
                "the file last.safetensors of a run, or start a new run."
            )
        self.run = self.run.with_training(initial_model=checkpoint.run.training.initial_model)
        require_same_run(self.run, checkpoint.run, changed)
        has_changed_data = checkpoint.corpus_digest != self.corpus.digest
        self._require_usable_data(
            checkpoint, inputs, has_changed_data=has_changed_data and not allow_changed_data
        )
        self.inputs = RunInputs(
            self.inputs.data or inputs.data,
            inputs.initial_model,
            self.inputs.teachers or inputs.teachers,
        )
        self._word_counts = self._counts_of_all(checkpoint)
        self._take_over(checkpoint)
        self._restore_state(checkpoint)
        return _fit_progress(
            self.progress, self.run.training, checkpoint.run.training, has_changed_data
        )

    def _require_usable_data(
        self, checkpoint: Checkpoint, inputs: RunInputs, *, has_changed_data: bool
    ) -> None:
        """Raises `CheckpointError` for another vocabulary, `ChangedDataError` for changed data."""
        problem = other_data(self.corpus.source, inputs.data) or (
            changed_data(self.corpus.name)
            + ("" if self.corpus.source else ", or is not that of this run")
        )
        if self.corpus.codecs.to_dict() != checkpoint.codecs.to_dict():
            raise CheckpointError(f"{problem}: it even has another vocabulary. {ORIGINAL_DATA}")
        if has_changed_data:
            raise ChangedDataError(
                f"{problem}: its sentences differ. Resume with the original data, start a new "
                "run in another folder, or accept the new data: --resume --allow-changed-data",
                Proposal("the current training data", allows_changed_data=True),
            )

    def _restore_state(self, checkpoint: Checkpoint) -> None:
        """Restores progress, optimizer and random states. Raises `CheckpointError` if damaged."""
        try:
            self.progress = progress_of(checkpoint.progress, checkpoint.history)
            if self.progress.step:
                self._restore_optimizer(checkpoint.state)
            states = checkpoint.state.get("random.world")
            self._random_states = (
                states if states is not None and len(states) == self.world.size else None
            )
            restore_random_states(self.device, checkpoint.state)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise CheckpointError(
                f"The resume state in this checkpoint is damaged ({error}). Use another copy of "
                "last.safetensors, or start a new run in another folder."
            ) from error

    def _take_over(self, checkpoint: Checkpoint) -> None:
        """Fills in the weights of a model, and keeps its origin and decoding settings.

        Raises `CheckpointError`.
        """
        fill_parameters(self.model, checkpoint.weights)
        self._decoding, self._origin = checkpoint.decoding, checkpoint.origin

    def _counts_of_all(self, earlier: Checkpoint) -> WordCounts | None:
        """The words of all data that the model learns from; None if earlier data are unknown."""
        ours = self.corpus.word_counts
        theirs = earlier.word_counts
        if ours is not None and theirs is not None:
            return joined_counts(theirs, ours)
        return theirs if earlier.corpus_digest == self.corpus.digest else None

    def _restore_optimizer(self, state: Mapping[str, Tensor]) -> None:
        """Raises `KeyError` or `ValueError` if a tensor is missing or has another shape."""
        for name, parameter in self.model.named_parameters():
            entries = {key: state[f"optimizer.{key}.{name}"].clone() for key in _ADAM_STATE}
            for key, value in entries.items():
                shape = torch.Size() if key == "step" else parameter.shape
                if value.shape != shape or value.dtype != torch.float32:
                    raise ValueError(
                        f"{key} of {name} is {value.dtype} {list(value.shape)}, not {list(shape)}"
                    )
                if key != "exp_avg" and bool((value < 0).any()):
                    raise ValueError(f"{key} of {name} is negative")
                if key != "step" or self.device.type != "cpu":
                    entries[key] = value.to(self.device)
            self.optimizer.state[parameter] = entries


def _absolute(checkpoint: Checkpoint) -> Path | None:
    return checkpoint.path and checkpoint.path.absolute()


def _threads() -> str:
    """The number of threads, and the reason for it."""
    number = torch.get_num_threads()
    noun = "thread" if number == 1 else "threads"
    cores = available_cores()
    if os.environ.get("OMP_NUM_THREADS") == str(number):
        return f"Computing on {number} {noun}: set by OMP_NUM_THREADS"
    if number < cores:
        return (
            f"Computing on {number} {noun} of {cores} that this process may use: limited by its "
            "environment"
        )
    return f"Computing on {number} {noun}: the number of cores available to this process"


def progress_of(values: Mapping[str, Any], history: Sequence[EpochRecord]) -> RunProgress:
    """The inverse of `RunProgress.to_dict`.

    Raises `TypeError`, `ValueError` or `KeyError` if the values are damaged.
    """
    values = dict(values)
    if values["best_validation_loss"] is None:
        values["best_validation_loss"] = math.inf
    for name, value in values.items():
        is_count = isinstance(getattr(RunProgress, name, None), int)
        if isinstance(value, bool) or not isinstance(value, int if is_count else int | float):
            raise TypeError(
                f"{name} is {shown(value)}, which is not a {'whole ' if is_count else ''}number"
            )
        if (
            not (1 if name == "epoch" else 0) <= value <= _LARGEST_COUNT
            and name != "best_validation_loss"
        ):
            raise ValueError(f"{name} is {shown(value)}, which is out of range")
    return RunProgress(**values, history=list(history))


def require_same_run(
    now: RunConfig,
    then: RunConfig,
    changed: frozenset[str] = frozenset(),
    problem: str = "The run in this folder was started with other settings",
) -> None:
    """Raises `CheckpointError` if the two differ in more than the length, the number of kept files,
    and `changed`.

    Args:
        now, then: the given settings, and those in the checkpoint.
        changed: settings of `TrainingConfig` that may differ.
        problem: the beginning of the message.
    """
    different = differing_settings(now, then, changed)
    if different:
        said = "; ".join(
            f"{name} was {old!r} and is now {new!r}" for name, (old, new) in different.items()
        )
        can_be_meant = [
            name for name in different if name.startswith("training.") and name != "training.seed"
        ]
        changes = " ".join(
            f"--change {name.removeprefix('training.')}={different[name][1]}"
            for name in can_be_meant
        )
        option = f", confirm the change ({changes})" if len(can_be_meant) == len(different) else ""
        raise CheckpointError(
            "{problem}: {said}. Resume with the same settings{option}, or start a new run in "
            "another folder.",
            problem=problem,
            said=said,
            option=Wording(option, ""),
        )


def differing_settings(
    now: RunConfig, then: RunConfig, changed: frozenset[str] = frozenset()
) -> dict[str, tuple[Any, Any]]:
    """The settings that must not differ, and do, by dotted name: then and now.

    Arguments as for `require_same_run`.
    """
    different: dict[str, tuple[Any, Any]] = {}
    for part in ("model", "data", "training"):
        new = getattr(now, part).to_dict()
        old = getattr(then, part).to_dict()
        free = _FREE_TO_CHANGE | changed if part == "training" else frozenset[str]()
        names = [name for name in new if new[name] != old[name] and name not in free]
        different |= {f"{part}.{name}": (old[name], new[name]) for name in names}
    return different


ORIGINAL_DATA = "Resume with the original data, or start a new run in another folder."


def changed_data(corpus: str) -> str:
    """The beginning of a message about the data of a run, which differ now."""
    return f"The training data ({corpus}) has changed since this run was last saved"


def other_data(source: DataSource | None, original: DataSource | None) -> str:
    """The beginning of a message about data that are not those of a run; empty if their places do
    not say so.
    """
    if source is None or original is None or source == original:
        return ""
    return (
        f"{name_of_source(source)} is not the data of this run, which is {name_of_source(original)}"
    )


def require_initial_model(training: TrainingConfig, is_given: bool) -> None:
    """Raises `ConfigError` if the settings name a model to begin with, and none is given."""
    if training.initial_model is not None and not is_given:
        raise ConfigError(
            "training: initial_model is {model}, but no model was given. {advice} to begin with "
            "random weights.",
            model=training.initial_model,
            advice=Wording(
                "Give its file (augenmerk train --initial-model FILE), or leave the setting out",
                "Restore this setting under “All settings…”",
            ),
        )


def require_teachers(training: TrainingConfig, digests: str | None) -> None:
    """Check the models to learn from against the settings.

    Args:
        training: the settings.
        digests: see `digests_of`.

    Raises:
        CheckpointError: they are not those in the settings.
        ConfigError: the settings give them no share of the loss, or give one and there are no
            teachers.
    """
    if training.distillation and digests is None:
        raise ConfigError(
            "training: distillation is {share}, but no teacher was given. {advice}.",
            share=training.distillation,
            advice=Wording(
                "Give the files of the models to learn from, --teacher FILE …, or set distillation "
                "to 0",
                "Set it to 0 under “All settings…”",
            ),
        )
    if digests is not None and not training.distillation:
        raise ConfigError(
            "training: distillation is 0, so that nothing would be learned from the teachers. "
            "Set it, 0.5 for instance (--set training.distillation=0.5), or leave out --teacher."
        )
    if training.teachers not in (None, digests):
        raise CheckpointError(
            f"This run learns from the models {training.teachers}; those given are "
            f"{digests or 'none'}. Give the same models in the same order, or leave teachers out "
            "of the settings of a new run."
        )


def digests_of(teachers: Sequence[Checkpoint]) -> str | None:
    """The digests of several models, as the settings name them; None without models."""
    return " ".join(map(model_digest, teachers)) or None


def require_own_initial_model(initial: Checkpoint | None, training: TrainingConfig) -> None:
    """Raises `CheckpointError` unless the run to resume, of these settings, began with this model;
    None is any.
    """
    if initial is not None and model_digest(initial) != training.initial_model:
        raise CheckpointError(
            "The run did not begin with this model. Leave --initial-model out, as a resumed run "
            "has its own weights, or start a new run in another folder."
        )


def require_same_reading(data: DataConfig, of_model: DataConfig, model: str) -> None:
    """Raises `CheckpointError` if `data` turns text into other ids than the settings of a given
    model do.

    Args:
        data: of the run.
        of_model: of the model.
        model: its name at the beginning of a sentence.
    """
    free = set(_WHICH_PAIRS)
    if data.num_subwords is not None and of_model.num_subwords is not None:
        free.add("min_frequency")  # of vocabularies of words
    if "symbols" not in (data.tokenization, of_model.tokenization):
        free.add("copy_symbols")
    if data.is_imported:  # its tokenizer does not depend on them
        free |= {"source_language", "target_language", "target_code"}
    if different := _differences(of_model, data, free):
        raise CheckpointError(
            f"{model} reads text with other settings: {different}. Its vocabulary only fits its "
            "own settings: leave these out, as it brings them along, or choose another model."
        )


def _differences(theirs: Settings, ours: Settings, free: Collection[str]) -> str:
    """The settings other than `free` in which a model differs from a run, for a message; empty if
    there are none.
    """
    there = theirs.to_dict()
    here = ours.to_dict()
    return "; ".join(
        f"{name} is {there[name]!r} there and {here[name]!r} here"
        for name in here
        if there[name] != here[name] and name not in free
    )


def _fit_progress(
    progress: RunProgress, now: TrainingConfig, then: TrainingConfig, has_changed_data: bool
) -> list[str]:
    """Adapts `progress`, made with settings `then`, to those of `now`; returns notes.

    A position within an epoch has no meaning if batches or sentences differ. A run made longer
    after its cool-down began returns to the higher rate.
    """
    notes = []
    if any(getattr(now, name) != getattr(then, name) for name in _OF_BATCHES):
        progress.steps_per_epoch = 0
        if progress.group:
            progress.begin_epoch(progress.epoch)
            notes.append(f"The batches are different now, so epoch {progress.epoch} starts again.")
    done = progress.epoch - 1
    before = cooldown_factor(done, then.num_epochs, fitted_cooldown_epochs(then))
    after = cooldown_factor(done, now.num_epochs, fitted_cooldown_epochs(now))
    if not math.isclose(before, after):
        notes.append(
            f"When this run was saved, its rate had cooled down to {percent(before)} of the "
            f"schedule's, because it was set to {counted(then.num_epochs, 'epoch')}. It is set "
            f"to {now.num_epochs} now, so it continues at {percent(after)}: expect the loss to "
            "rise before it falls again."
        )
    if has_changed_data:
        notes.append("The training data is not the same as when this run was saved.")
        if progress.group:
            progress.begin_epoch(progress.epoch)
            notes[-1] += f" Epoch {progress.epoch} starts again with it."
    return notes
