"""The window during a training, used by clicks: on a GPU, if there is one; rehearsed on a CPU."""

import sys
from pathlib import Path

import pytest

from tests.builders import run_process
from tests.core.extensions.training.runs import sentences

pytestmark = [pytest.mark.subprocess, pytest.mark.training, pytest.mark.slow]

SCRIPT = (sys.executable, "-m", "tests.viz_app.training_window")


def test_everything_is_done_by_clicks_in_a_rehearsal(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name, number in (("train", 400), ("val", 40)):
        pairs = sentences(number, seed=number)
        (corpus / f"{name}.de").write_text("\n".join(pairs.source) + "\n")
        (corpus / f"{name}.en").write_text("\n".join(pairs.target) + "\n")
    process = run_process([*SCRIPT, tmp_path / "out", corpus, "--rehearse", "--limit", "280"])
    assert process.returncode == 0, process.stdout + process.stderr


def test_the_window_trains_on_a_gpu(tmp_path: Path, multi30k_folder: Path) -> None:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    process = run_process([*SCRIPT, tmp_path / "out", multi30k_folder])
    assert process.returncode == 0, process.stdout + process.stderr
