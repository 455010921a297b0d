"""Starts, pauses, stops, discards and resumes the page's one training; passes its events to the
state.
"""

import os
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from PySide6.QtCore import QObject, QSettings, QTimer, Signal

from augenmerk.core.config import RunConfig
from augenmerk.core.counting import display_text
from augenmerk.core.errors import AugenmerkError
from augenmerk.core.extensions.run_settings.dotted import with_dotted
from augenmerk.core.extensions.training.events import (
    AfterFailedSave,
    CheckpointSaved,
    StepDone,
    StopRequest,
    TrainingEvent,
    TrainingFinished,
    TrainingRequest,
    pairs_note,
)
from augenmerk.core.extensions.training.film import read_film
from augenmerk.core.extensions.training.folder import (
    discard_run,
    read_starts,
    remember_run_folder,
    summarize,
    with_best,
)
from augenmerk.core.extensions.training.step_metrics import StepMetrics, read_step_metrics
from augenmerk.core.run_files import BEST, LAST
from augenmerk.core.storage import is_file

from ....worker.inference import ANSWER_SECONDS
from ..curves import RunCurves
from ..run_files import known_records, read_run
from ..state import Run, Status, TrainState
from ..worker import DRAIN_INTERVAL_MS, TrainingBody, TrainingFailure, TrainingRun
from . import settings as run_settings

SAVE_SECONDS = 60.0
"""Time limit for the current step or validation, and a checkpoint of the largest preset."""
DRAWING_SHARE = 0.04
"""Greatest share of the time for drawing: on a busy processor, training gets the rest."""
_RUNNING_ELSEWHERE = "Another process is training it. Open it again to see its progress."


class RunController(QObject):
    """At most one training at a time.

    Signals:
        ended(): no run is active any more.
    """

    ended = Signal()

    def __init__(
        self, state: TrainState, settings: QSettings, parent: QObject, body: TrainingBody | None
    ) -> None:
        super().__init__(parent)
        self._state = state
        self._settings = settings
        self._body = body
        self._training: TrainingRun | None = None
        self._discards = False
        self._next_drawing_s = 0.0
        self._pending: list[TrainingEvent] = []
        self._late = QTimer(self, singleShot=True, interval=DRAIN_INTERVAL_MS)
        self._late.timeout.connect(lambda: self._on_events([]))
        state.drawn.connect(self._leave_time_for_training)

    @property
    def is_running(self) -> bool:
        """Whether a training is running, or waiting for a decision."""
        return self._training is not None

    def begin(self, request: TrainingRequest) -> None:
        """Starts the requested run, unless one is running."""
        if self._training is not None:
            return
        self._discards = False
        self._state.begin(request)
        self._training = TrainingRun(request, self, body=self._body)
        self._training.events.connect(self._on_events)
        self._training.finished.connect(self._on_finished)
        remember_run_folder(request.folder.parent)
        self._training.start()

    def resume(self, device: str, source: str | Path) -> None:
        """Resumes the last run from its last checkpoint; with `source` if its own data have
        moved.
        """
        run = self._state.run
        if run.request is not None and run.can_resume:
            request = with_readable_source(run.request, source)
            self.begin(replace(request, device=device, resume=True, allow_changed_data=False))

    def extend(self, device: str, num_epochs: int, source: str | Path) -> None:
        """Continues a finished run to `num_epochs` in all; its patience, if that ended it, no
        longer counts.

        Args:
            device: to continue on.
            num_epochs: in all.
            source: the data if those of the run have moved.
        """
        run = self._state.run
        if run.request is None or not run.can_extend:
            return
        training = run.request.run.training.replace(num_epochs=num_epochs, max_steps=None)
        patience = training.patience
        if patience is not None and run.curves.num_stale_validations >= patience:
            training = training.replace(patience=None)
        config = replace(run.request.run, training=training)
        self.begin(
            replace(
                with_readable_source(run.request, source), run=config, device=device, resume=True
            )
        )

    def continue_with_proposal(self, device: str) -> None:
        """Resumes from the last good checkpoint with the proposed change; starts again if there is
        no checkpoint.
        """
        request, proposal = self._state.run.request, self._state.run.proposal
        if request is None or proposal is None or self._training is not None:
            return
        self.begin(
            replace(
                request,
                run=with_dotted(
                    request.run, [f"{name}={value}" for name, value in proposal.settings.items()]
                ),
                device=device,
                resume=self._state.run.resumable_checkpoint is not None,
                changes={**request.changes, **proposal.changes},
                allow_changed_data=proposal.allows_changed_data,
            )
        )

    def stop(self, how: StopRequest) -> None:
        """Stops the run after the current batch. Returns at once."""
        if self._training is not None:
            self._discards = how == "discard"
            self._training.stop(how)
            self._state.request_stop(how)

    def answer_failed_save(self, answer: AfterFailedSave) -> None:
        """Retries the failed save, or ends the run."""
        if self._training is not None and self._state.run.status is Status.WAITING:
            self._training.answer_failed_save(answer)
            self._state.answer_failed_save()

    def discard(self) -> None:
        """Deletes the files of the run, as soon as it has ended. Raises `StorageError`."""
        folder = self._state.run.folder
        if self._training is not None:
            self.stop("discard")
        elif folder is not None and self._state.run.can_discard:
            discard_run(folder)
            self._forget(folder)

    def open_run(self, folder: Path, source: str | Path = "multi30k") -> None:
        """Shows a run from the disk; an unfinished one can be resumed.

        Args:
            folder: of the run.
            source: the training data to resume with if the run's own is not known.

        Raises:
            TrainingError: there is no run in `folder`.
        """
        if self._training is not None:
            return
        run_on_disk = read_run(folder, with_steps=True)
        files = run_on_disk.files
        best = folder / BEST
        can_continue = files.run is not None and files.has_last and files.state != "running"
        run = Run(
            Status.VIEWING,
            self._resume_request(files.run, folder, source) if files.run is not None else None,
            folder,
            run_on_disk.curves,
            latest_step=_last_step(run_on_disk.metrics),
            best_checkpoint=best if is_file(best) else None,
            last_checkpoint=folder / LAST if can_continue else None,
            is_complete=files.state == "finished",
            note=_RUNNING_ELSEWHERE if files.state == "running" else _note_on_pairs(folder),
        )
        self._state.show_run(run, read_film(folder))

    def _resume_request(self, run: RunConfig, folder: Path, source: str | Path) -> TrainingRequest:
        """With the settings it was started with in this app, if they are known; else those in its
        own files.
        """
        earlier = run_settings.load_unfinished(self._settings)
        if earlier is not None and earlier.request.folder == folder:
            return TrainingRequest(
                run, earlier.request.source, folder, changes=earlier.request.changes
            )
        known = "copy" if run.is_copy_task else run_settings.load_source(self._settings, folder)
        return TrainingRequest(run, known or source, folder)

    def offer_unfinished_run(self) -> None:
        """Offers to resume the unfinished run of an earlier session."""
        earlier = run_settings.load_unfinished(self._settings)
        if earlier is None:
            return
        folder = earlier.request.folder
        files = summarize(folder)
        if files.state == "running":  # in another process
            return
        curves = RunCurves()
        metrics = read_step_metrics(folder)
        curves.add_run(with_best(known_records(folder), folder), metrics)
        run = Run(
            Status.IDLE,
            earlier.request,
            folder,
            curves,
            latest_step=_last_step(metrics),
            best_checkpoint=earlier.best_checkpoint,
            last_checkpoint=earlier.last_checkpoint,
            saved_step=files.step if files.has_last else 0,
            was_interrupted=files.state == "interrupted",
        )
        self._state.show_run(run, read_film(folder))

    @property
    def limit_to_end_s(self) -> float:
        """The time limit for a stopping training: longer if there is progress to save."""
        has_learned = self._state.run.latest_step is not None or bool(self._pending)
        return SAVE_SECONDS if has_learned else ANSWER_SECONDS

    def shutdown(self, limit_s: float) -> bool:
        """Pauses a running training, and returns when its thread has ended; False if that takes
        longer.
        """
        self._late.stop()
        if self._training is None:
            return True
        if not self._training.is_stopping:
            self.stop("pause")
        return self._training.wait(limit_s)

    def _on_events(self, events: list[TrainingEvent]) -> None:
        """Passes events to the state, and so to the screen; plain steps only as often as the
        drawing budget allows.
        """
        self._pending += events
        if not self._pending:
            return
        if perf_counter() < self._next_drawing_s and all(
            isinstance(event, StepDone) for event in self._pending
        ):
            if not self._late.isActive():
                self._late.start()
            return
        self._late.stop()
        pending = self._pending
        self._pending = []
        began = perf_counter()
        self._state.apply(*pending)
        self._next_drawing_s = perf_counter()
        self._leave_time_for_training(self._next_drawing_s - began)
        if any(isinstance(event, CheckpointSaved) and event.kind == "last" for event in pending):
            self._save_unfinished()

    def _leave_time_for_training(self, drawing_s: float) -> None:
        """Delays the next drawing after one that took so long."""
        self._next_drawing_s += drawing_s * (1 / DRAWING_SHARE - 1)

    def _on_finished(self, result: TrainingFinished | TrainingFailure | None) -> None:
        state = self._state
        pending = self._pending
        self._pending = []
        state.apply(*pending)
        if self._training is not None:
            self._training.deleteLater()
            self._training = None
        if isinstance(result, TrainingFailure):
            state.fail(result.message, result.proposal, result.resumable_checkpoint, result.details)
        elif result is None:
            state.stop_before_training()
        elif state.run.finish is None:
            state.apply(result)
        if self._discards:
            self._finish_discarding()
        elif state.run.finish is not None and not state.run.can_resume:
            run_settings.forget_unfinished(self._settings, state.run.folder)
        self.ended.emit()

    def _finish_discarding(self) -> None:
        """Deletes the run's files, even if it failed or was stopped before it began."""
        try:
            if self._state.run.folder is not None:
                discard_run(self._state.run.folder)
        except AugenmerkError as error:
            self._state.fail(display_text(error))
        else:
            self._forget(self._state.run.folder)

    def _forget(self, folder: Path | None) -> None:
        self._state.discard()
        run_settings.forget_unfinished(self._settings, folder)

    def _save_unfinished(self) -> None:
        """Lets a later session resume this run, even if this session crashes."""
        run = self._state.run
        if run.request is not None and run.last_checkpoint is not None:
            unfinished = run_settings.UnfinishedRun(
                run.request, run.last_checkpoint, run.best_checkpoint
            )
            run_settings.save_unfinished(self._settings, unfinished)


def with_readable_source(request: TrainingRequest, source: str | Path) -> TrainingRequest:
    """The request with the folder or file `source` if its own, or one of its own two files, does
    not exist.
    """
    own = request.source
    paths = own if isinstance(own, tuple) else (own,)
    has_moved = any(isinstance(path, Path) and not os.path.exists(path) for path in paths)  # noqa: PTH110 — no error
    return replace(request, source=source) if has_moved and isinstance(source, Path) else request


def _note_on_pairs(folder: Path) -> str:
    """The pairs that the run did not use, when it was last started; empty if it used all."""
    pairs = next((start.get("pairs") for start in reversed(read_starts(folder))), None)
    return pairs_note(pairs) if isinstance(pairs, str) else ""


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
