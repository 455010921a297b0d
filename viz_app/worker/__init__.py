"""The one bridge between threads and the windows.

Nothing here imports torch until a thread has begun. A thread puts plain objects on a queue; the GUI thread takes them
off and emits the signals, so every slot runs in the GUI thread and no widget is touched from elsewhere.

- `InferenceWorker`: one thread that opens models, translates, and does jobs. A newer request supersedes an older one.
- `JobDesk`: remembers who asked which job.
- `TrainingRun`: one thread that trains once; its events reach the window in handfuls, at most five times a second.
"""

from viz_app.state.progress import Progress
from viz_app.worker.desk import Asker, Callbacks, JobDesk
from viz_app.worker.failure import Failure
from viz_app.worker.inference import InferenceWorker
from viz_app.worker.jobs import Job, JobInterrupted, JobScope, SwitchOffJob, TranslatorLike
from viz_app.worker.training import (
    DRAIN_INTERVAL_MS,
    TrainingBody,
    TrainingFailure,
    TrainingRequest,
    TrainingRun,
    _read_and_train,
    leave_a_core_to_the_window,
)

__all__ = [
    "DRAIN_INTERVAL_MS",
    "Asker",
    "Callbacks",
    "Failure",
    "InferenceWorker",
    "Job",
    "JobDesk",
    "JobInterrupted",
    "JobScope",
    "Progress",
    "SwitchOffJob",
    "TrainingBody",
    "TrainingFailure",
    "TrainingRequest",
    "TrainingRun",
    "TranslatorLike",
    "_read_and_train",
    "leave_a_core_to_the_window",
]
