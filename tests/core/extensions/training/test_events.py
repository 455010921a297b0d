"""Events can be read without torch, and say what they hold in the field's figures."""

import math
import os
import subprocess
import sys

import pytest

from augenmerk.core.extensions.training.events import EpochDone


def epoch_done(validation_loss: float) -> EpochDone:
    return EpochDone(1, 7, 2.0, validation_loss, 2.0, 1e-3, 1.0, True)


@pytest.mark.parametrize(
    ("loss", "perplexity"),
    [(0.0, 1.0), (1.671, 5.317), (709.0, math.exp(709)), (800.0, math.inf), (math.inf, math.inf)],
)
def test_perplexity_is_the_exponential_of_the_loss_and_infinite_beyond_all_numbers(
    loss: float, perplexity: float
) -> None:
    assert epoch_done(loss).perplexity == pytest.approx(perplexity, rel=1e-3)


@pytest.mark.subprocess
@pytest.mark.parametrize("module", ["events", "film", "folder"])
def test_a_window_can_read_them_before_torch_is_imported(module: str) -> None:
    code = (
        f"import sys, augenmerk.core.extensions.training.{module}; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], env=os.environ, check=False).returncode == 0
