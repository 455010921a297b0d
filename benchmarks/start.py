"""Whole processes, and the window from its start to its first picture.

Most of it is the import of PyTorch, which is timed beside it. Wall seconds of an idle machine are
what is required of a translation: on a busy one the first ratio says little, and the others, in CPU
seconds, more.

A start shows the last result, and the very first one a shipped result, before PyTorch is imported.
"Computed" is the picture of a result of the model.

On a busy AMD EPYC, family 26 model 2 (AVX-512), medians of 7, CPU seconds: 0.62 at the very first
start, 0.60 with the last result and 1.67 to a computed one, where importing PyTorch took 0.96.
Before a result was shipped and PyTorch's objects were left out of garbage collection, the very
first picture took as long as a computed one, 2.1 (medians of 5, in turns with the new code).
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.ratio import Ratio

SENTENCE = "Zwei Hunde spielen im Schnee."
ALLOWED_SECONDS, ALLOWED_FIRST_SECONDS = 1.5, 1.0
TURNS = 7
REQUIRED_TRANSLATION, REQUIRED_COMPUTED, REQUIRED_STORED = 0.6, 0.53, 1.1
"""The least CPU seconds of importing PyTorch alone, per second of each process."""
SESSION = """
import sys, time
from PySide6.QtCore import QTimer
from augenmerk.viz_app import application, launch
from augenmerk.viz_app.state.experiment_state import Current

is_computed = sys.argv.pop() == "computed"

class Window(application.MainWindow):
    def paintEvent(self, event):
        is_shown = self.state.result is not None
        if isinstance(self.state.shown, Current) if is_computed else is_shown:
            QTimer.singleShot(0, self, self.close)
        super().paintEvent(event)

    def closeEvent(self, event):
        print(time.process_time())
        super().closeEvent(event)

application.MainWindow = Window
sys.exit(launch.main(["app"]))
"""
"""A session that ends with the first picture of a result, or of a computed one, and prints the CPU
seconds until then.
"""


@dataclass(frozen=True)
class _Taken:
    wall: float
    cpu: float


def run() -> list[Ratio]:
    """The ratios; Unix only, where the CPU seconds of other processes are told."""
    if sys.platform == "win32":
        return []
    repository = Path(__file__).parent.parent
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": str(repository), "QT_QPA_PLATFORM": "offscreen"}
        environment |= _own_files_in(folder)
        # as after an installation: nothing is compiled while it is timed
        environment["PYTHONPYCACHEPREFIX"] = folder
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        works = {
            "torch": ["-c", "import gc; gc.disable(); import torch; gc.freeze()"],
            "translate": ["-m", "augenmerk", "translate", SENTENCE],
            "computed": ["-c", SESSION, "computed"],
            "last": ["-c", SESSION, "shown"],
            "first": ["-c", SESSION, "shown"],
        }
        taken: dict[str, list[_Taken]] = {name: [] for name in works}
        for turn in range(TURNS + 1):
            for name, arguments in works.items():
                with tempfile.TemporaryDirectory() as empty:
                    own_files = _own_files_in(empty) if name == "first" else {}
                    one = _timed(arguments, environment | own_files)
                if turn:
                    taken[name].append(one)
    cpu = {
        name: statistics.median(duration.cpu for duration in durations)
        for name, durations in taken.items()
    }
    wall = statistics.median(duration.wall for duration in taken["translate"])
    return [
        Ratio(
            "augenmerk translate, whole process / 1.5 s",
            wall,
            ALLOWED_SECONDS,
            1.0,
            1.2,
            "wall seconds",
        ),
        Ratio(
            "augenmerk translate / import torch",
            cpu["translate"],
            cpu["torch"],
            REQUIRED_TRANSLATION,
            0.9,
            "CPU",
        ),
        Ratio(
            "window to a computed result / import torch",
            cpu["computed"],
            cpu["torch"],
            REQUIRED_COMPUTED,
            0.6,
            "CPU",
        ),
        Ratio(
            "window to the last result / import torch",
            cpu["last"],
            cpu["torch"],
            REQUIRED_STORED,
            1.5,
            "CPU",
        ),
        Ratio(
            "window to its first picture, very first start / 1.0 s",
            cpu["first"],
            ALLOWED_FIRST_SECONDS,
            1.0,
            1.3,
            "CPU",
        ),
    ]


def _own_files_in(folder: str) -> dict[str, str]:
    """The environment in which the app keeps its settings and sessions in a folder."""
    return dict.fromkeys(("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"), folder)


def _timed(arguments: Sequence[str], environment: dict[str, str]) -> _Taken:
    """What a process takes; the CPU seconds of a session are those to its picture."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    process = subprocess.run(
        [sys.executable, *arguments], env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return _Taken(wall, float(process.stdout) if SESSION in arguments else cpu)
