"""The first model and the first training import torch and more while the window is in use."""

import sys

import pytest

from tests.builders import run_process

NOTE_SEARCHES = """
import gc, sys

nums_searched = []

def note(phase, about):
    if phase == "start" and about["generation"] == 2:
        nums_searched.append(len(gc.get_objects()))

gc.callbacks.append(note)
"""
FIRST_MODEL = """
from augenmerk.viz_app.worker.inference import _load_translator

_load_translator(None, "cpu")
assert "torch" in sys.modules
"""
FIRST_SPEEDS = """
from augenmerk.viz_app.extensions.train.machine import SpeedsJob

steps = iter((False, False))
SpeedsJob(lambda: next(steps, True)).work(print, lambda: False)
assert "sympy" in sys.modules
"""
FIRST_TRAINING = """
from pathlib import Path
from tempfile import TemporaryDirectory
from augenmerk.core.extensions.training.corpora.loading import COPY
from augenmerk.core.extensions.training.events import TrainingRequest
from augenmerk.viz_app.extensions.train.worker import _read_and_train
from tests.core.extensions.training.runs import copy_run

with TemporaryDirectory() as folder:
    request = TrainingRequest(copy_run(num_epochs=1), COPY, Path(folder) / "run", "cpu")
    _read_and_train(request, lambda event: None, lambda: False, lambda failure: "stop")
assert "sympy" in sys.modules
"""
LAST_SEARCH = """
gc.collect()
assert max(nums_searched) < 100_000, nums_searched
"""


@pytest.mark.subprocess
@pytest.mark.training
@pytest.mark.slow
@pytest.mark.parametrize(
    "code", [FIRST_MODEL, FIRST_MODEL + FIRST_SPEEDS, FIRST_MODEL + FIRST_TRAINING]
)
def test_the_objects_of_torch_are_never_searched_for_garbage(code: str) -> None:
    """A search of its 200,000 objects holds the interpreter for 0.2 s, and the window with it; so
    does one of those that the first training adds, or measuring the speed of the machine."""
    process = run_process([sys.executable, "-c", NOTE_SEARCHES + code + LAST_SEARCH])
    assert process.returncode == 0, process.stderr
