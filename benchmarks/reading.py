"""Loading the bundled model from disk, against importing torch."""

import statistics
import subprocess
import sys

from benchmarks.ratio import Ratio

REPEATS = 7
# In an interpreter of its own: torch can be imported only once. What else is imported on the way is
# in neither figure.
PROGRAM = """
import time
began = time.process_time()
import torch
imported = time.process_time()
from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.resources import bundled_model_path
path = bundled_model_path()
reading = time.process_time()
load_checkpoint(path).build_model()
print(time.process_time() - reading, imported - began)
"""


def run() -> list[Ratio]:
    """The ratio in CPU seconds, with cached files."""
    seconds = [_once() for _ in range(REPEATS + 1)][1:]
    ours, other = (statistics.median(column) for column in zip(*seconds, strict=True))
    return [
        Ratio("bundled model read and built / import torch", ours, other, 10.0, 10.0, "CPU seconds")
    ]


def _once() -> tuple[float, float]:
    output = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True
    ).stdout
    ours, other = map(float, output.split())
    return ours, other
