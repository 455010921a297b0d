"""The training loop: a plain function of its config. It never prints, sleeps or knows a window."""

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.config import RunConfig
from core.config.toml import read_toml
from core.corpora.prepared import PreparedCorpus
from core.device import choose_device
from core.training.checks import check_corpus_fits
from core.training.choices import choices_of
from core.training.determinism import deterministic
from core.training.distributed import SINGLE_PROCESS, World
from core.training.epochs import EpochLoop, OnEvent, ShouldStop
from core.training.events import Noted, PhaseStarted, TrainingFinished
from core.training.failures import explained
from core.training.film import read_film
from core.training.folder import BEST, ENVIRONMENT, HISTORY, LAST, RUN_SETTINGS, check_free, discard_run
from core.training.keeping import Keeper, OnSaveFailed, load_resumable
from core.training.lock import locked
from core.training.record import RunRecord, ended_before_first_checkpoint
from core.training.resuming import require_same_run
from core.training.session import TrainingSession
from core.training.validation import Validator

__all__ = ["BEST", "HISTORY", "LAST", "OnEvent", "OnSaveFailed", "ShouldStop", "train"]


def train(  # noqa: PLR0913 — each of them is one decision of the caller
    run: RunConfig,
    corpus: PreparedCorpus,
    folder: Path,
    *,
    device: str = "auto",
    resume: bool = False,
    changes: Mapping[str, Any] | None = None,
    probe: str | None = None,
    on_event: OnEvent = lambda event: None,
    should_stop: ShouldStop = lambda: False,
    on_save_failed: OnSaveFailed = lambda failure: "stop",
    world: World = SINGLE_PROCESS,
) -> TrainingFinished:
    """Trains a Transformer; checkpoints, history and the film of a probe sentence are kept in `folder`.

    Args:
        run: every setting.
        corpus: what to learn from.
        folder: made if missing; must not hold another run unless `resume`.
        device: "auto", "cpu", "cuda", "cuda:N" or "mps".
        resume: go on from the folder's last checkpoint, or if that is damaged, from the next older one; a run that a
            crash ended before its first one begins anew. Settings must be the same but for the length of the run, what
            it keeps and what `changes` names.
        changes: settings of `TrainingConfig` that the run is to have otherwise from here on, a lower rate for instance.
        probe: the sentence of the film; None for the one it has already, or one of the validation split.
        on_event: told of every step, epoch and checkpoint, in this thread.
        should_stop: asked before every step, and between the micro-batches of one, which is then left undone. True or
            "keep": the run is saved, validated if that takes seconds only, and ended; "pause": saved only; "discard":
            ended, its files removed.
        on_save_failed: asked when something cannot be written: "retry", or "stop", which raises `StorageError`.
        world: the processes that train together, of which this is the main one; the others `run_worker`.

    Returns:
        How it ended; the same is the last event.

    Raises:
        TrainingError: the folder holds another run, or another training is at work there.
        InterruptedTrainingError: the loss is no longer a number, or the memory is used up; it carries a proposal.
        ConfigError: a setting is refused, or the data does not fit the model's positions or the batches.
        TextError: the probe cannot be read.
        CheckpointError: the run to resume is missing, damaged or has other settings.
        DeviceError: the device is not here.
        StorageError: a file cannot be written; the older ones stand as they were.
    """
    folder = Path(folder)
    run = replace(run, training=run.training.replace(**(changes or {})))
    check_free(folder, resume)
    check_corpus_fits(run, corpus)
    choice = choose_device(world.device(device))
    with locked(folder), deterministic(run.training.deterministic, choice.name) as determinism:
        check_free(folder, resume)
        on_event(PhaseStarted(f"Moving the model to {choice.name}"))
        if run.training.compile:
            on_event(PhaseStarted("Compiling the model, which takes minutes"))
        session = TrainingSession(run, corpus, choice.name, world)
        if resume:
            _take_up(session, folder, frozenset(changes or {}), on_event)
            probe = probe or _earlier_probe(folder)
        validator = Validator(session, choice, probe)
        keeper = Keeper(session, folder, on_event, on_save_failed)
        choices = [*choices_of(session), *filter(None, [determinism])]
        for line in choices:
            on_event(PhaseStarted(line))
        record = RunRecord(folder, run, choice, session.precision.name, corpus.name, choices)
        loop = EpochLoop(session, keeper, validator, choice, on_event, should_stop)
        keeper.begin(record)
        finished = explained(loop.run_to_end, run.training, folder, session.progress)
        if finished.reason == "discarded":
            discard_run(folder)
        else:
            keeper.insist(folder / ENVIRONMENT, lambda: record.end(finished.reason, finished.step))
    if finished.reason == "discarded":
        with contextlib.suppress(OSError):  # something of the user's is in it
            folder.rmdir()
    on_event(finished)
    return finished


def _take_up(session: TrainingSession, folder: Path, changed: frozenset[str], on_event: OnEvent) -> None:
    """Brings `session` to where the run in `folder` stands. Raises `CheckpointError` or `ConfigError`."""
    if ended_before_first_checkpoint(folder):
        require_same_run(session.run, read_toml(folder / RUN_SETTINGS), changed)
        on_event(Noted(f"The run in {folder} was ended before its first checkpoint, so it begins anew."))
        return
    on_event(PhaseStarted(f"Resuming from {folder / LAST}"))
    checkpoint, _, notes = load_resumable(folder)
    notes += session.restore(checkpoint, changed)
    for note in notes:
        on_event(Noted(note))


def _earlier_probe(folder: Path) -> str | None:
    """The sentence of the film in `folder`."""
    frames = read_film(folder).frames
    return frames[-1].translation.source_text if frames else None
