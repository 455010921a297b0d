"""The training loop: steps, validations and checkpoints of a run.

It prints nothing and knows no threads or windows.
"""

import contextlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from torch import Tensor

from ...checkpoint.file import Checkpoint
from ...checkpoint.history import EpochRecord
from ...config import RunConfig
from ...device import DeviceChoice, choose_device
from ...errors import CheckpointError, StorageError, TrainingError
from ...memory import is_out_of_memory
from ...run_files import BEST, LAST, RUN_SETTINGS
from ..run_settings.toml_file import read_toml
from . import events
from .checkpoint_manager import CheckpointManager, load_resumable
from .checks import check_address_space, check_corpus_fits, check_memory_for_training
from .corpora.augmentation import with_noisy_sources
from .corpora.batches import Batch, collate, training_batches
from .corpora.prepared import PreparedCorpus
from .device_choices import deterministic, random_state, random_state_restored
from .distributed import SINGLE_PROCESS, CommandKind, World
from .evaluation import CorpusLoss
from .film import read_film
from .folder import (
    discard_run,
    kept_checkpoints,
    locked,
    read_run_inputs,
    require_right_folder,
    was_interrupted_before_first_checkpoint,
)
from .history_file import num_stale_epochs
from .schedules import cooldown_factor, describe_schedule, fitted_cooldown_epochs
from .session import (
    TrainingSession,
    other_data,
    require_own_initial_model,
    require_same_run,
)
from .validation import ValidationStoppedError, Validator

_REASONS: Mapping[bool | events.StopRequest, events.EndReason] = {
    True: "stopped",
    "keep": "stopped",
    "pause": "paused",
    "discard": "discarded",
}


def train(  # noqa: PLR0913 — each is a decision of the caller
    run: RunConfig,
    corpus: PreparedCorpus,
    folder: Path,
    *,
    device: str = "auto",
    resume: bool = False,
    changes: Mapping[str, Any] | None = None,
    allow_changed_data: bool = False,
    initial: Checkpoint | None = None,
    teachers: Sequence[Checkpoint] = (),
    probe: str | None = None,
    on_event: events.OnEvent = lambda event: None,
    should_stop: events.ShouldStop = lambda: False,
    on_save_failed: events.OnSaveFailed = lambda failure: "stop",
    world: World = SINGLE_PROCESS,
) -> events.TrainingFinished:
    """Trains a Transformer; saves checkpoints, history and the film of a probe sentence in
    `folder`.

    Args:
        run: all settings.
        corpus: the training data; read with the codecs of the models, see `inputs.read_corpus`.
        folder: created if missing; must not contain another run unless `resume`.
        device: "auto", "cpu", "cuda", "cuda:N" or "mps".
        resume: continue from the folder's last checkpoint or, if that is damaged, from the next
            older one; a run that crashed before its first checkpoint starts again. Settings must be
            the same except for the length of the run, the number of kept files and the settings in
            `changes`.
        changes: settings of `TrainingConfig` to change from here on, for instance a lower rate.
        allow_changed_data: resume even if the corpus has other sentences than the run was saved
            with.
        initial: a model of the same architecture and vocabulary to begin with, instead of random
            weights; not needed again when the run is resumed from a checkpoint. See
            `core.extensions.run_settings.presets.further`.
        teachers: models whose mean distribution is learned, too (`TrainingConfig.distillation`);
            given again when the run is resumed.
        probe: the sentence of the film; None for the one the film already has, or one of the
            validation split.
        on_event: called with every step, epoch and checkpoint, in this thread.
        should_stop: called before every step, between the micro-batches of a step (which is then
            undone), and before each batch of a validation at an epoch's end (which then follows
            after resuming). True or "keep": the run is saved, validated if that takes only seconds,
            and ended; "pause": saved and ended; "discard": ended, its files deleted.
        on_save_failed: called when a file cannot be written: "retry", or "stop", which raises
            `StorageError`.
        world: the processes that train together, of which this is the main one; the others
            `run_worker`.

    Returns:
        The end of the run, which is also the last event.

    Raises:
        TrainingError: the folder contains another run, or another training is writing to it.
        InterruptedTrainingError: the loss is no longer finite, memory ran out, or the data of the
            run to resume has changed; carries a proposal.
        MisfitError: the data does not fit the model's positions or the batches; carries a proposal.
        ConfigError: a setting is invalid.
        TextError: the probe cannot be read.
        CheckpointError: the run to resume is missing, damaged or has other settings.
        DeviceError: the device is not available.
        StorageError: a file cannot be written; older files are intact.
    """
    folder = Path(folder)
    run = run.with_training(**(changes or {}))
    require_right_folder(folder, resume)
    problem = other_data(corpus.source, read_run_inputs(folder).data) if resume else ""
    check_corpus_fits(run, corpus, resume=resume, keeps_model=initial is not None, problem=problem)
    choice = choose_device(world.device(device))
    check_address_space()
    sizes = (len(codec.vocabulary) for codec in (corpus.codecs.source, corpus.codecs.target))
    check_memory_for_training(run.model, choice.name, *sizes)
    with (
        locked(folder) as lock,
        deterministic(run.training.deterministic, choice.name) as determinism,
        random_state_restored(choice.name),
    ):
        require_right_folder(folder, resume)
        on_event(events.PhaseStarted(f"Moving the model to {choice.name}"))
        if run.training.compile:
            on_event(events.PhaseStarted("Compiling the model, which takes minutes"))
        session = build_session(run, corpus, choice.name, world)
        session.learn_from(teachers)
        if not (
            resume
            and _resume(
                session, folder, frozenset(changes or {}), allow_changed_data, initial, on_event
            )
        ):
            session.begin_with(initial)
        if resume and probe is None and (frames := read_film(folder)):
            probe = frames[-1].translation.source_text
        validator = Validator(session, choice, probe)
        for note in validator.probe_notes:
            on_event(events.Noted(f"The sentence of the film: {note}"))
        choices = [*session.describe_device_choices(), *filter(None, [determinism])]
        for line in choices:
            on_event(events.PhaseStarted(line))
        checkpoints = CheckpointManager(session, lock, choice, choices, on_event, on_save_failed)
        loop = EpochLoop(session, checkpoints, validator, choice, on_event, should_stop)
        checkpoints.begin()
        try:
            finished = _run_to_end(loop)
        finally:
            checkpoints.close()
        if finished.reason == "discarded":
            discard_run(folder)
        else:
            checkpoints.end(finished.reason)
    if finished.reason == "discarded":
        with contextlib.suppress(OSError):  # it contains files of the user
            folder.rmdir()
    on_event(finished)
    return finished


def _resume(
    session: TrainingSession,
    folder: Path,
    changed: frozenset[str],
    allow_changed_data: bool,
    initial: Checkpoint | None,
    on_event: events.OnEvent,
) -> bool:
    """Restores `session` from the run in `folder` if that has a checkpoint.

    Returns whether it has one.

    Raises `CheckpointError`, `ConfigError` or `ChangedDataError`.
    """
    if was_interrupted_before_first_checkpoint(folder):
        require_same_run(session.run, read_toml(folder / RUN_SETTINGS), changed)
        on_event(
            events.Noted(
                f"The run in {folder} ended before its first checkpoint, so it starts again."
            )
        )
        return False
    on_event(events.PhaseStarted(f"Resuming from {folder / LAST}"))
    checkpoint, path, notes = load_resumable(folder)
    require_own_initial_model(initial, checkpoint.run.training)
    try:
        inputs = read_run_inputs(folder)
        notes += session.restore(
            checkpoint, changed, allow_changed_data=allow_changed_data, inputs=inputs
        )
    except events.ChangedDataError as error:
        error.resumable_checkpoint = path
        raise
    for note in notes:
        on_event(events.Noted(note))
    return True


def build_session(
    run: RunConfig, corpus: PreparedCorpus, device: str, world: World = SINGLE_PROCESS
) -> TrainingSession:
    """A new session. Raises `TrainingError` if the memory does not even suffice for the model."""
    try:
        return TrainingSession(run, corpus, device, world)
    except (MemoryError, RuntimeError) as error:
        reason = _lack_of_memory(error)
    raise TrainingError(
        f"There is not enough memory to build the model ({reason}). Choose a smaller model, or "
        "raise the limit of this process (ulimit -v), if there is one."
    )


def _run_to_end(loop: "EpochLoop") -> events.TrainingFinished:
    """Runs the loop.

    A loss that is not finite, or lack of memory, becomes an error with a proposal.

    The new error is raised after the original one is freed, together with the tensors in its
    frames.

    Raises:
        InterruptedTrainingError: instead of what the loop raised.
    """
    kind: type[events.InterruptedTrainingError]
    training = loop.run.training
    try:
        return loop.run_to_end()
    except events.DivergedError as error:
        message = str(error)
        kind = events.DivergedError
        proposal: events.Proposal | None = events.lower_rate(training)
    except (MemoryError, RuntimeError) as error:
        step = loop.progress.step + 1
        reason = _lack_of_memory(error)
        message = (
            f"At step {step} there was not enough memory ({reason}). Files saved earlier are "
            "intact."
        )
        kind = events.OutOfMemoryError
        proposal = events.smaller_batches(training)
    saved = next(iter(kept_checkpoints(loop.checkpoints.folder, "last")), None)
    if proposal is None:
        advice = (
            "The batches cannot be made smaller: choose a smaller model, or a device with more "
            "memory."
        )
    elif saved is None:
        advice = f"Start again with {proposal.text}."
    else:
        options = " ".join(f"--change {name}={value:g}" for name, value in proposal.changes.items())
        advice = (
            f"Resume from step {saved.step} ({saved.path.name}) with {proposal.text}: --resume "
            f"{options}."
        )
    raise kind(f"{message} {advice}", proposal, saved.path if saved else None)


def _lack_of_memory(error: Exception) -> str:
    """The first line of an error that means lack of memory; raises any other again."""
    if not is_out_of_memory(error):
        raise error
    return (str(error) or repr(error)).splitlines()[0]


def run_worker(
    read_corpus: Callable[[RunConfig], PreparedCorpus], device: str, world: World
) -> None:
    """Carries out the commands of the main process of a distributed run, until that finishes.

    Args:
        read_corpus: gives the corpus of the main process; called after that has read it.
        device: as for `train`.
        world: this process in it.

    Raises:
        TrainingError: the main process or another worker failed.
        DeviceError: there is no device for this process.
    """
    session: TrainingSession | None = None
    failure: Exception | None = None
    with ExitStack() as flags:
        while True:
            kind, rate, tensors = world.receive_command()
            if kind == CommandKind.FINISH:
                return
            if kind == CommandKind.JOIN:
                settings, states = tensors
                run = RunConfig.from_dict(json.loads(bytes(settings.tolist())))
                name = choose_device(world.device(device)).name
                flags.enter_context(deterministic(run.training.deterministic, name))
                session = TrainingSession(run, read_corpus(run), name, world)
                session.join(states[world.rank] if len(states) else None)
            elif kind == CommandKind.STEP and session is not None:
                try:
                    _take_step(session, tensors, rate)
                # the main process learns of it in the step, and decides how to continue
                except Exception as error:
                    failure = error
            elif kind == CommandKind.SEND_RANDOM_STATE and session is not None:
                world.all_gather(random_state(session.device))
            else:
                raise failure or TrainingError(
                    "The main process (number 0) of this run failed and reports why. Fix the "
                    "problem, then resume the run."
                )


def _take_step(session: TrainingSession, ids: Sequence[Tensor], rate: float) -> None:
    """One optimizer step on batches given as source and target ids in turn."""
    batches = [
        Batch(source, target, int((target[:, 1:] != session.padding_id).sum()))
        for source, target in zip(ids[::2], ids[1::2], strict=True)
    ]
    session.take_step(batches, rate, lambda: False)


class EpochLoop:
    """Steps, validations and checkpoints of one session, until it ends.

    Args:
        session: the session to train.
        checkpoints: saves it.
        validator: validates it.
        device: the device and the reason for it.
        on_event: called with all events.
        should_stop: called before every step, and between its micro-batches.

    Raises:
        CheckpointError: the session was started with another corpus.
    """

    def __init__(
        self,
        session: TrainingSession,
        checkpoints: CheckpointManager,
        validator: Validator,
        device: DeviceChoice,
        on_event: events.OnEvent,
        should_stop: events.ShouldStop,
    ) -> None:
        self.session = session
        self.run = session.run
        self.progress = session.progress
        self.checkpoints = checkpoints
        self.validator = validator
        self.device = device
        self.on_event = on_event
        self.should_stop = should_stop
        # running averages
        self.num_timed = 0
        self.seconds_per_step = 0.0
        self.tokens_per_second = 0.0
        self.started = time.perf_counter()
        self.seconds_before = (
            sum(record.seconds for record in self.progress.history) + self.progress.epoch_seconds
        )
        self.groups = self._epoch_groups()
        if not self.progress.steps_per_epoch:
            self.progress.steps_per_epoch = len(self.groups)
        if self.progress.group > len(self.groups):
            raise CheckpointError(
                f"The run has done {self.progress.group} steps of its epoch, but with this "
                f"corpus an epoch has {len(self.groups)}. Resume with the original corpus, or "
                "start a new run in another folder."
            )

    def run_to_end(self) -> events.TrainingFinished:
        """Trains until the run is complete, reaches its step limit, or is stopped."""
        self._announce()
        if self.progress.step == 0:
            with contextlib.suppress(ValidationStoppedError):
                self._add_to_film(None, self.should_stop)
        while True:
            if self._is_at_epoch_end:  # also that of a run that was stopped while it was validated
                with contextlib.suppress(ValidationStoppedError):
                    self._end_epoch()
                    self.groups = self._epoch_groups()
            if (reason := self._reason_to_end()) is not None:
                return self._finish(reason)
            if self._is_at_epoch_end:
                continue
            done = self.progress.group
            padding = self.session.padding_id, self.run.training.pad_to
            batches = [
                collate(self._epoch_pairs, indices, *padding) for indices in self.groups[done]
            ]
            if not self._run_step(
                batches, epochs_done=self.progress.epoch - 1 + done / len(self.groups)
            ):
                continue
            if (
                not self._is_at_epoch_end
                and self.progress.step % self.run.training.checkpoint_steps == 0
            ):
                self.checkpoints.save_last()

    @property
    def _is_at_epoch_end(self) -> bool:
        """Whether all steps of the epoch are done, and its validation is not."""
        return self.progress.group == len(self.groups)

    def _epoch_groups(self) -> list[list[list[int]]]:
        """The micro-batches of each optimizer step of this epoch, each as indices of pairs."""
        pairs = self.session.training_pairs(self.progress.epoch)
        batches = training_batches(pairs, self.run.training, self.progress.epoch)
        training = self.run.training
        codec = self.session.corpus.codecs.source
        if training.source_noise:
            seed = f"{training.seed}-{self.progress.epoch}-noise"
            pairs = with_noisy_sources(pairs, batches, training.source_noise, codec, seed)
        self._epoch_pairs = pairs
        size = training.num_accumulated
        return [batches[first : first + size] for first in range(0, len(batches), size)]

    def _announce(self) -> None:
        corpus = self.session.corpus
        training = self.run.training
        self.num_steps = training.num_epochs * len(self.groups)
        if training.max_steps is not None:
            self.num_steps = min(self.num_steps, training.max_steps)
        self.on_event(
            events.TrainingStarted(
                preset=self.run.preset,
                num_parameters=self.session.model.num_parameters,
                num_training_pairs=len(corpus.train),
                num_validation_pairs=len(corpus.validation),
                num_epochs=training.num_epochs,
                num_steps=self.num_steps,
                first_step=self.progress.step,
                device=self.device.name,
                device_reason=self.device.reason,
                folder=self.checkpoints.folder,
            )
        )
        if corpus.left_out_note:
            self.on_event(events.Noted(events.pairs_note(corpus.left_out_note)))
        note = describe_schedule(training, self.progress.steps_per_epoch)
        if note is not None and not self.run.is_copy_task:  # which was published that short
            self.on_event(events.Noted(note))

    def _reason_to_end(self) -> events.EndReason | None:
        training = self.run.training
        progress = self.progress
        if progress.epoch > training.num_epochs:
            return "completed"
        if training.max_steps is not None and progress.step >= training.max_steps:
            return "max_steps"
        if (
            training.patience is not None
            and num_stale_epochs(progress.history) >= training.patience
        ):
            return "patience"
        return _REASONS.get(self.should_stop())

    def _run_step(self, batches: list[Batch], epochs_done: float) -> bool:
        """Runs a step. False if `should_stop` interrupted it; the step then has no effect."""
        began = time.perf_counter()
        training = self.run.training
        factor = cooldown_factor(epochs_done, training.num_epochs, fitted_cooldown_epochs(training))
        result = self.session.step(batches, factor, self.should_stop)
        if result is None:
            return False
        seconds = time.perf_counter() - began
        self.num_timed += 1
        weight = max(0.05, 1 / self.num_timed)
        self.seconds_per_step += weight * (seconds - self.seconds_per_step)
        self.tokens_per_second += weight * (
            result.num_tokens / max(seconds, 1e-9) - self.tokens_per_second
        )
        self.progress.epoch_seconds += seconds
        event = events.StepDone(
            **vars(result),
            step=self.progress.step,
            epoch=self.progress.epoch,
            tokens_per_second=self.tokens_per_second,
            seconds_left=max(0, self.num_steps - self.progress.step) * self.seconds_per_step,
        )
        self.checkpoints.steps.append(event)
        self.on_event(event)
        return True

    def _end_epoch(self) -> None:
        """Validates and saves.

        Raises `ValidationStoppedError` if stopped; the run then remains at its last step.
        """
        # before they are validated, and perhaps saved as the best
        self.session.require_sound_weights()
        progress = self.progress
        before = list(progress.history), progress.best_epoch, progress.best_validation_loss
        try:
            record = self._validate(with_sample=True, should_stop=self.should_stop)
            progress.history.append(record)
            self.checkpoints.save_history()
            self._keep(record, progress.history)
        # not of the checkpoint to resume from: its steps are kept, and validated again
        except StorageError:
            progress.history[:], progress.best_epoch, progress.best_validation_loss = before
            self.checkpoints.save_last_if_possible()
            raise
        progress.begin_epoch(progress.epoch + 1)
        self.checkpoints.save_last()

    def _validate(
        self, *, with_sample: bool, should_stop: events.ShouldStop = lambda: False
    ) -> EpochRecord:
        """Validates.

        Raises `ValidationStoppedError` if `should_stop` returns true meanwhile.
        """
        self.on_event(events.PhaseStarted("Validating"))
        bleu = None
        loss = self.validator.loss(should_stop)
        if with_sample and self.validator.sources:
            self.on_event(events.PhaseStarted("Translating a sample"))
            sample = self.validator.translate_sample(should_stop)
            self.on_event(sample)
            bleu = sample.bleu
        self._add_to_film(loss.token_weighted, should_stop)
        return self._record(loss, bleu)

    def _record(self, loss: CorpusLoss, bleu: float | None) -> EpochRecord:
        progress = self.progress
        return EpochRecord(
            epoch=progress.epoch,
            step=progress.step,
            training_loss=progress.epoch_loss_sum / max(1, progress.epoch_tokens),
            validation_loss=loss.token_weighted,
            validation_loss_batch_mean=loss.batch_mean,
            learning_rate=progress.learning_rate,
            seconds=progress.epoch_seconds,
            bleu=bleu,
        )

    def _validate_after_stop(self) -> None:
        """Validates only some pairs, or none, after a stop if a full validation is slow or was just
        stopped.

        The checkpoint to resume from was written earlier and is not affected: the next full
        validation decides.
        """
        progress = self.progress
        if self._is_at_epoch_end:
            stopped = (
                f"Stopped while epoch {progress.epoch} was validated: {LAST} holds its last "
                f"step, {progress.step:,}, and a resumed run validates it first."
            )
            unjudged = ""
        else:
            stopped = f"Stopped within epoch {progress.epoch}: {LAST} holds step {progress.step:,}."
            unjudged = " It was not validated, which takes long;"
        if progress.best_epoch:
            self.on_event(
                events.Noted(
                    f"{stopped}{unjudged} {BEST} is still that of epoch {progress.best_epoch}."
                )
            )
            return
        self.on_event(events.PhaseStarted("Validating on some pairs"))
        loss, num_pairs = self.validator.loss_on_subset()
        whole = len(self.session.corpus.validation)
        if num_pairs < whole:
            stopped += (
                f" It was validated on only {num_pairs:,} of {whole:,} pairs, because all of "
                "them would take long."
            )
        self.on_event(events.Noted(stopped))
        record = self._record(loss, None)
        self._keep(record, [*progress.history, record])

    def _add_to_film(self, validation_loss: float | None, should_stop: events.ShouldStop) -> None:
        frame = self.validator.translate_probe(validation_loss, should_stop)
        if frame is not None:
            self.checkpoints.save_frame(frame)
            self.on_event(frame)

    def _keep(self, record: EpochRecord, history: list[EpochRecord]) -> None:
        is_best = self.checkpoints.save_if_best(record, history)
        self.on_event(events.EpochDone(**vars(record), is_best=is_best))

    def _finish(self, reason: events.EndReason) -> events.TrainingFinished:
        """Saves, validates and reports the model, unless the run is paused or discarded."""
        progress = self.progress
        # that of the last step
        last_epoch = progress.epoch if progress.group else max(1, progress.epoch - 1)
        if reason != "discarded":
            self.checkpoints.save_last()
        if reason not in ("paused", "discarded"):
            if not (progress.group and progress.epoch_tokens):
                # stopped before the first step: both files are still written
                if not progress.best_epoch:
                    self.checkpoints.save_best(progress.history)
            elif reason == "stopped" and (self._is_at_epoch_end or not self.validator.is_fast):
                self._validate_after_stop()
            else:
                # a user who stops does not want to wait
                record = self._validate(with_sample=reason != "stopped")
                self._keep(record, [*progress.history, record])
                self.checkpoints.save_last()
        return events.TrainingFinished(
            reason=reason,
            epoch=min(last_epoch, self.run.training.num_epochs),
            step=progress.step,
            best_epoch=progress.best_epoch,
            best_validation_loss=progress.best_validation_loss,
            best_checkpoint=self.checkpoints.folder / BEST,
            last_checkpoint=self.checkpoints.folder / LAST,
            seconds=self.seconds_before + time.perf_counter() - self.started,
        )
