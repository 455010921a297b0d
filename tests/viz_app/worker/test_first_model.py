"""Opening the first model imports torch while the window is in use."""

import sys

import pytest

from tests.builders import run_process

FIRST_MODEL = """
import gc, sys
from augenmerk.viz_app.worker.inference import _load_translator

nums_searched = []

def note(phase, about):
    if phase == "start" and about["generation"] == 2:
        nums_searched.append(len(gc.get_objects()))

gc.callbacks.append(note)
_load_translator(None, "cpu")
assert "torch" in sys.modules
gc.collect()
assert max(nums_searched) < 100_000, nums_searched
"""


@pytest.mark.subprocess
@pytest.mark.slow
def test_the_objects_of_torch_are_never_searched_for_garbage() -> None:
    """A search of its 200,000 objects holds the interpreter for 0.2 s, and the window with it."""
    process = run_process([sys.executable, "-c", FIRST_MODEL])
    assert process.returncode == 0, process.stderr
