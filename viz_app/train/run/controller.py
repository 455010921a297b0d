"""Starts, pauses, stops, discards and resumes the page's one training; passes its events to the state."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, QSettings, Signal

from augenmerk.core.config import RunConfig
from augenmerk.core.errors import AugenmerkError
from augenmerk.core.training.events import (
    AfterFailedSave,
    CheckpointSaved,
    StepDone,
    StopRequest,
    TrainingEvent,
    TrainingFinished,
)
from augenmerk.core.training.film import read_film
from augenmerk.core.training.folder import BEST, LAST, discard_run
from augenmerk.core.training.overview import remember_run_folder, summarize, with_best
from augenmerk.core.training.step_metrics import StepMetrics, read_step_metrics
from augenmerk.viz_app.state.languages import language_names
from augenmerk.viz_app.train.run import settings as run_settings
from augenmerk.viz_app.train.run_files import known_records, read_run
from augenmerk.viz_app.train.state import Status, TrainState
from augenmerk.viz_app.worker import (
    ANSWER_SECONDS,
    Failure,
    TrainingBody,
    TrainingFailure,
    TrainingRequest,
    TrainingRun,
)

SAVE_SECONDS = 60.0
"""For the step in hand, or the validation, and a checkpoint of the largest preset; then nothing more is waited for."""
_RUNNING_ELSEWHERE = "Another process is training it: open it again to see how far that has come."


class RunController(QObject):
    """At most one training at a time.

    Attributes:
        request: the latest request; None before the first run.
        failure: why the last run failed; None if it did not.

    Signals:
        stepped(): only training steps happened; drawing is not urgent.
        changed(): something else happened: draw.
        ended(): no run is active any more.
    """

    stepped = Signal()
    changed = Signal()
    ended = Signal()

    def __init__(self, state: TrainState, settings: QSettings, parent: QObject, body: TrainingBody | None) -> None:
        super().__init__(parent)
        self._state = state
        self._settings = settings
        self._body = body
        self._run: TrainingRun | None = None
        self._discards = False
        self.request: TrainingRequest | None = None
        self.failure: Failure | None = None

    @property
    def is_running(self) -> bool:
        """Whether a training is running, or waiting for a decision."""
        return self._run is not None

    def begin(self, request: TrainingRequest) -> None:
        """Starts the requested run, unless one is running."""
        if self._run is not None:
            return
        self.request, self.failure, self._discards = request, None, False
        self._state.begin(request.folder, resume=request.resume)
        self._state.playback.maps.languages = language_names(request.run)
        self._run = TrainingRun(request, self, body=self._body)
        self._run.events.connect(self._on_events)
        self._run.finished.connect(self._on_finished)
        remember_run_folder(request.folder.parent)
        self._run.start()
        self.changed.emit()

    def resume(self, device: str) -> None:
        """Resumes the last run from its last checkpoint."""
        if self.request is not None and self._state.can_resume:
            self.begin(replace(self.request, device=device, resume=True, allow_changed_data=False))

    def extend(self, device: str, num_epochs: int) -> None:
        """Continues a finished run to `num_epochs` in all; its patience, if that ended it, no longer counts."""
        if self.request is None or not self._state.can_extend:
            return
        training = self.request.run.training.replace(num_epochs=num_epochs, max_steps=None)
        patience = training.patience
        if patience is not None and self._state.num_stale_validations >= patience:
            training = training.replace(patience=None)
        run = replace(self.request.run, training=training)
        self.begin(replace(self.request, run=run, device=device, resume=True))

    def continue_with_proposal(self, device: str) -> None:
        """Resumes from the last good checkpoint with the proposed change; starts again if there is no checkpoint."""
        proposal = self._state.proposal
        if self.request is None or proposal is None or self._run is not None:
            return
        changes = {**self.request.changes, **proposal.changes}
        resumes = self._state.resumable_checkpoint is not None
        self.begin(
            replace(
                self.request,
                device=device,
                resume=resumes,
                changes=changes,
                allow_changed_data=proposal.allows_changed_data,
            )
        )

    def stop(self, how: StopRequest) -> None:
        """Stops the run after the current batch. Returns at once."""
        if self._run is not None:
            self._discards = how == "discard"
            self._run.stop(how)
            self._state.request_stop(how)
            self.changed.emit()

    def answer_failed_save(self, answer: AfterFailedSave) -> None:
        """Retries the failed save, or ends the run."""
        if self._run is not None and self._state.status is Status.WAITING:
            self._run.answer_failed_save(answer)
            self._state.answer_failed_save()
            self.changed.emit()

    def discard(self) -> None:
        """Deletes the files of the run, as soon as it has ended. Raises `StorageError`."""
        if self._run is not None:
            self.stop("discard")
        elif self._state.folder is not None and self._state.can_discard:
            discard_run(self._state.folder)
            self._forget(self._state.folder)
            self.changed.emit()

    def open_run(self, folder: Path, source: str | Path = "multi30k") -> None:
        """Shows a run from the disk; an unfinished one can be resumed.

        Args:
            folder: of the run.
            source: the training data to resume with if the run's own is not known.

        Raises:
            TrainingError: there is no run in `folder`.
        """
        if self._run is not None:
            return
        run = read_run(folder, with_steps=True)
        self._state.playback.maps.languages = language_names(run.files.run)
        best, last = folder / BEST, folder / LAST
        files = run.files
        self.request = self._resume_request(files.run, folder, source) if files.run is not None else None
        is_complete = files.state == "finished"
        can_go_on = files.run is not None and files.has_last and files.state != "running"
        self._state.open_run(
            folder,
            run.curves,
            read_film(folder).frames,
            best if best.is_file() else None,
            last if can_go_on else None,
            is_complete=is_complete,
            latest_step=_last_step(run.metrics),
            note=_RUNNING_ELSEWHERE if files.state == "running" else "",
        )
        self.failure = None
        self.changed.emit()

    def _resume_request(self, run: RunConfig, folder: Path, source: str | Path) -> TrainingRequest:
        """With the settings it was started with in this app, if they are known; else those in its own files."""
        earlier = run_settings.load_unfinished(self._settings)
        if earlier is not None and earlier.folder == folder:
            return TrainingRequest(run, earlier.source, folder, changes=dict(earlier.changes))
        known = "copy" if run.is_copy_task else run_settings.load_source(self._settings, folder)
        return TrainingRequest(run, known or source, folder)

    def offer_unfinished_run(self) -> None:
        """Offers to resume the unfinished run of an earlier session."""
        earlier = run_settings.load_unfinished(self._settings)
        if earlier is None:
            return
        files = summarize(earlier.folder)
        if files.state == "running":  # in another process
            return
        self.request = TrainingRequest(
            earlier.run, earlier.source, earlier.folder, earlier.device, changes=dict(earlier.changes)
        )
        self._state.playback.maps.languages = language_names(earlier.run)
        history = with_best(known_records(earlier.folder), earlier.folder)
        metrics = read_step_metrics(earlier.folder)
        self._state.offer_resume(
            earlier.folder,
            earlier.last_checkpoint,
            earlier.best_checkpoint,
            history,
            metrics,
            latest_step=_last_step(metrics),
            saved_step=files.step if files.has_last else 0,
            was_interrupted=files.state == "interrupted",
        )
        self._state.playback.set_film(read_film(earlier.folder).frames)

    @property
    def limit_to_end_s(self) -> float:
        """How long to wait for a training that was told to end: longer once it has learned something to be saved."""
        return SAVE_SECONDS if self._state.latest_step is not None else ANSWER_SECONDS

    def shutdown(self, limit_s: float) -> bool:
        """Pauses a running training, and returns when its thread has ended; False if that takes longer."""
        if self._run is None:
            return True
        if not self._run.is_stopping:
            self.stop("pause")
        return self._run.wait(limit_s)

    def _on_events(self, events: list[TrainingEvent]) -> None:
        for event in events:
            self._state.apply(event)
            if isinstance(event, CheckpointSaved) and event.kind == "last":
                self._save_unfinished()
        if all(isinstance(event, StepDone) for event in events):
            self.stepped.emit()
        else:
            self.changed.emit()

    def _on_finished(self, result: TrainingFinished | TrainingFailure | None) -> None:
        state = self._state
        if isinstance(result, TrainingFailure):
            self.failure = result
            state.fail(result.message, result.proposal, result.resumable_checkpoint)
        elif result is None:
            state.stop_before_training()
        elif state.finish is None:
            state.apply(result)
        if self._run is not None:
            self._run.deleteLater()
            self._run = None
        if self._discards:
            self._finish_discarding()
        elif state.finish is not None and not state.can_resume:
            run_settings.forget_unfinished(self._settings, state.folder)
        self.ended.emit()
        self.changed.emit()

    def _finish_discarding(self) -> None:
        """Deletes the run's files, even if it failed or was stopped before it began."""
        try:
            if self._state.folder is not None:
                discard_run(self._state.folder)
        except AugenmerkError as error:
            self._state.fail(str(error))
        else:
            self._forget(self._state.folder)

    def _forget(self, folder: Path | None) -> None:
        self.failure = None
        self._state.discard()
        run_settings.forget_unfinished(self._settings, folder)

    def _save_unfinished(self) -> None:
        """Lets a later session resume this run, even if this session crashes."""
        request, last = self.request, self._state.last_checkpoint
        if request is not None and last is not None:
            best = self._state.best_checkpoint
            changes: Mapping[str, float | int] = request.changes
            unfinished = run_settings.UnfinishedRun(
                request.run, request.source, request.folder, request.device, last, best, dict(changes)
            )
            run_settings.save_unfinished(self._settings, unfinished)
            run_settings.save_source(self._settings, request.folder, request.source)


def _last_step(metrics: StepMetrics | None) -> StepDone | None:
    """The last step of a run read from the disk; None if it is not known."""
    if metrics is None or not len(metrics):
        return None
    return StepDone(
        step=int(metrics.step[-1]),
        epoch=int(metrics.epoch[-1]),
        loss=float(metrics.loss[-1]),
        learning_rate=float(metrics.learning_rate[-1]),
        gradient_norm=float(metrics.gradient_norm[-1]),
        num_tokens=int(metrics.num_tokens[-1]),
        tokens_per_second=float(metrics.tokens_per_second[-1]),
        seconds_left=0.0,
    )
