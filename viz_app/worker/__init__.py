"""The one bridge between threads and the windows.

Nothing here imports torch until a thread has begun. A thread puts plain objects on a queue; the GUI thread takes them
off and emits the signals, so every slot runs in the GUI thread and no widget is touched from elsewhere.

- `InferenceWorker`: one thread that opens models and answers requests. A newer request supersedes an older one.
- `ExperimentController`: computes what an `ExperimentState` asks for, and asks questions about its result.
- `TrainingRun`: one thread that trains once; its events reach the window in handfuls, at most five times a second.
"""

from augenmerk.viz_app.state.request_state import Progress
from augenmerk.viz_app.worker.experiment_controller import ExperimentController
from augenmerk.viz_app.worker.failure import Failure
from augenmerk.viz_app.worker.inference import ANSWER_SECONDS, THREAD_PREFIX, InferenceWorker, Request
from augenmerk.viz_app.worker.jobs import (
    ABOUT_A_RESULT,
    ExperimentJob,
    Job,
    JobInterrupted,
    JobScope,
    LoadJob,
    MeasureJob,
    ModelFreeJob,
    OpenTranslator,
    ShouldStop,
    Tell,
    TraceJob,
)
from augenmerk.viz_app.worker.training import (
    DRAIN_INTERVAL_MS,
    TrainingBody,
    TrainingFailure,
    TrainingRun,
    leave_a_core_to_the_window,
)

__all__ = [
    "ABOUT_A_RESULT",
    "ANSWER_SECONDS",
    "DRAIN_INTERVAL_MS",
    "THREAD_PREFIX",
    "ExperimentController",
    "ExperimentJob",
    "Failure",
    "InferenceWorker",
    "Job",
    "JobInterrupted",
    "JobScope",
    "LoadJob",
    "MeasureJob",
    "ModelFreeJob",
    "OpenTranslator",
    "Progress",
    "Request",
    "ShouldStop",
    "Tell",
    "TraceJob",
    "TrainingBody",
    "TrainingFailure",
    "TrainingRun",
    "leave_a_core_to_the_window",
]
