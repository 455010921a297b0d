"""The training loop: a function of its settings. It prints nothing and knows neither threads nor windows."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from augenmerk.core.checkpoint.file import Checkpoint
from augenmerk.core.config import RunConfig
from augenmerk.core.config.toml import read_toml
from augenmerk.core.corpora.prepared import PreparedCorpus
from augenmerk.core.device import choose_device
from augenmerk.core.errors import ConfigError
from augenmerk.core.text.codec import CodecPair
from augenmerk.core.training.checkpoint_manager import CheckpointManager, OnSaveFailed, load_resumable
from augenmerk.core.training.checks import check_address_space, check_corpus_fits, check_memory_for_training
from augenmerk.core.training.device_report import describe_device_choices
from augenmerk.core.training.distributed import SINGLE_PROCESS, World
from augenmerk.core.training.epochs import EpochLoop, OnEvent, ShouldStop
from augenmerk.core.training.events import Noted, PhaseStarted, TrainingFinished
from augenmerk.core.training.failures import ChangedDataError, with_explained_failures, with_explained_lack_of_memory
from augenmerk.core.training.film import read_film
from augenmerk.core.training.folder import (
    BEST,
    ENVIRONMENT,
    HISTORY,
    LAST,
    RUN_SETTINGS,
    discard_run,
    require_no_other_run,
)
from augenmerk.core.training.lock import locked
from augenmerk.core.training.randomness import deterministic, random_state_restored
from augenmerk.core.training.record import RunRecord, was_interrupted_before_first_checkpoint
from augenmerk.core.training.resuming import require_initial_model, require_same_reading, require_same_run
from augenmerk.core.training.session import TrainingSession
from augenmerk.core.training.validation import Validator

__all__ = ["BEST", "HISTORY", "LAST", "OnEvent", "OnSaveFailed", "ShouldStop", "train"]


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
    on_event: OnEvent = lambda event: None,
    should_stop: ShouldStop = lambda: False,
    on_save_failed: OnSaveFailed = lambda failure: "stop",
    world: World = SINGLE_PROCESS,
) -> TrainingFinished:
    """Trains a Transformer; saves checkpoints, history and the film of a probe sentence in `folder`.

    Args:
        run: all settings.
        corpus: the training data; read with the codecs of `initial`, or of `teachers`, see `codecs_to_keep`.
        folder: created if missing; must not contain another run unless `resume`.
        device: "auto", "cpu", "cuda", "cuda:N" or "mps".
        resume: continue from the folder's last checkpoint or, if that is damaged, from the next older one; a run that
            crashed before its first checkpoint starts again. Settings must be the same except for the length of the
            run, the number of kept files and the settings in `changes`.
        changes: settings of `TrainingConfig` to change from here on, for instance a lower rate.
        allow_changed_data: resume even if the corpus has other sentences than the run was saved with.
        initial: a model of the same architecture and vocabulary to begin with, instead of random weights; not asked for
            again when the run is resumed from a checkpoint.
        teachers: models whose mean distribution is learned, too (`TrainingConfig.distillation`); given again when the
            run is resumed.
        probe: the sentence of the film; None for the one the film already has, or one of the validation split.
        on_event: called with every step, epoch and checkpoint, in this thread.
        should_stop: asked before every step, between the micro-batches of a step, which is then undone, and before each
            batch of a validation at an epoch's end, which is then made after resuming. True or "keep": the run is
            saved, validated if that takes only seconds, and ended; "pause": saved and ended; "discard": ended, its
            files deleted.
        on_save_failed: asked when a file cannot be written: "retry", or "stop", which raises `StorageError`.
        world: the processes that train together, of which this is the main one; the others `run_worker`.

    Returns:
        How the run ended; this is also the last event.

    Raises:
        TrainingError: the folder contains another run, or another training is writing to it.
        InterruptedTrainingError: the loss is no longer finite, memory ran out, or the data of the run to resume has
            changed; carries a proposal.
        ConfigError: a setting is invalid, or the data does not fit the model's positions or the batches.
        TextError: the probe cannot be read.
        CheckpointError: the run to resume is missing, damaged or has other settings.
        DeviceError: the device is not available.
        StorageError: a file cannot be written; older files are intact.
    """
    folder = Path(folder)
    run = replace(run, training=run.training.replace(**(changes or {})))
    require_no_other_run(folder, resume)
    check_corpus_fits(run, corpus)
    choice = choose_device(world.device(device))
    check_address_space()
    sizes = (len(codec.vocabulary) for codec in (corpus.codecs.source, corpus.codecs.target))
    check_memory_for_training(run.model, choice.name, *sizes)
    with (
        locked(folder) as lock,
        deterministic(run.training.deterministic, choice.name) as determinism,
        random_state_restored(choice.name),
    ):
        require_no_other_run(folder, resume)
        on_event(PhaseStarted(f"Moving the model to {choice.name}"))
        if run.training.compile:
            on_event(PhaseStarted("Compiling the model, which takes minutes"))
        session = with_explained_lack_of_memory(lambda: TrainingSession(run, corpus, choice.name, world))
        _teach(session, teachers)
        is_restored = resume and _resume(session, folder, frozenset(changes or {}), allow_changed_data, on_event)
        if not is_restored:
            _begin(session, initial)
        if resume:
            probe = probe or _probe_of_film(folder)
        validator = Validator(session, choice, probe)
        choices = [*describe_device_choices(session), *filter(None, [determinism])]
        for line in choices:
            on_event(PhaseStarted(line))
        record = RunRecord(folder, session.run, choice, session.precision.name, corpus.name, choices)
        checkpoints = CheckpointManager(session, lock, record, on_event, on_save_failed)
        loop = EpochLoop(session, checkpoints, validator, choice, on_event, should_stop)
        checkpoints.begin()
        try:
            finished = with_explained_failures(loop.run_to_end, run.training, folder, session.progress)
        finally:
            checkpoints.close()
        if finished.reason == "discarded":
            discard_run(folder)
        else:
            checkpoints.write_or_ask(folder / ENVIRONMENT, lambda: record.end(finished.reason, finished.step))
    if finished.reason == "discarded":
        with contextlib.suppress(OSError):  # it contains files of the user
            folder.rmdir()
    on_event(finished)
    return finished


def _resume(
    session: TrainingSession, folder: Path, changed: frozenset[str], allow_changed_data: bool, on_event: OnEvent
) -> bool:
    """Restores `session` from the run in `folder`, unless that has no checkpoint yet; whether it did.

    Raises `CheckpointError`, `ConfigError` or `ChangedDataError`.
    """
    if was_interrupted_before_first_checkpoint(folder):
        require_same_run(session.run, read_toml(folder / RUN_SETTINGS), changed)
        on_event(Noted(f"The run in {folder} ended before its first checkpoint, so it starts again."))
        return False
    on_event(PhaseStarted(f"Resuming from {folder / LAST}"))
    checkpoint, path, notes = load_resumable(folder)
    try:
        notes += session.restore(checkpoint, changed, allow_changed_data=allow_changed_data)
    except ChangedDataError as error:
        error.resumable_checkpoint = path
        raise
    for note in notes:
        on_event(Noted(note))
    return True


def _teach(session: TrainingSession, teachers: Sequence[Checkpoint]) -> None:
    """Raises `CheckpointError` or `ConfigError`."""
    if session.run.training.distillation and session.world.size > 1:
        raise ConfigError(
            "training: distillation is for one process; several were started. Train without torchrun, or set "
            "distillation to 0."
        )
    session.learn_from(teachers)


def _begin(session: TrainingSession, initial: Checkpoint | None) -> None:
    """The weights of the first step: random ones, or those of `initial`. Raises `CheckpointError` or `ConfigError`."""
    require_initial_model(session.run.training, initial is not None)
    if initial is not None:
        session.begin_with(initial)


def _probe_of_film(folder: Path) -> str | None:
    """The sentence of the film in `folder`."""
    frames = read_film(folder).frames
    return frames[-1].translation.source_text if frames else None


def codecs_to_keep(
    run: RunConfig,
    folder: Path,
    *,
    resume: bool = False,
    initial: Checkpoint | None = None,
    teachers: Sequence[Checkpoint] = (),
) -> CodecPair | None:
    """The codecs for `core.corpora.loading.load_corpus`; None if they are to be learned from the data.

    A model that is trained further has its vocabularies already, and a student those of its teachers, whatever data the
    run has. A run that began so and is resumed has them in its checkpoints. The same holds for runs of earlier versions
    whose source vocabulary has start and end tokens that no source sentence has: today these would be left out.

    Args:
        run: all settings.
        folder: of the run.
        resume: whether the run in it goes on.
        initial: the model to begin with.
        teachers: the models to learn from.

    Raises:
        CheckpointError: the model to begin with, or the first teacher, reads text with other settings than `run` has;
            or there is no checkpoint to resume from.
        ConfigError: the settings name a model to begin with, and none is given.
    """
    if resume and not was_interrupted_before_first_checkpoint(folder):
        checkpoint, _, _ = load_resumable(folder, with_state=False)
        begun = checkpoint.run.training
        is_learned = begun.initial_model is None and begun.teachers is None and not _has_unused_marks(checkpoint)
        return None if is_learned else checkpoint.codecs
    require_initial_model(run.training, initial is not None)
    if initial is not None:
        require_same_reading(run.data, initial.run.data, "The model to begin with")
        return initial.codecs
    if teachers:
        require_same_reading(run.data, teachers[0].run.data, "Teacher 1")
        return teachers[0].codecs
    return None


def _has_unused_marks(checkpoint: Checkpoint) -> bool:
    data, source = checkpoint.run.data, checkpoint.codecs.source
    return not data.wrap_source and source.subwords is None and source.vocabulary.end_id is not None
