"""Event files that TensorBoard itself can read."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from augenmerk.core.errors import TrainingError
from augenmerk.core.extensions.training import tensorboard
from augenmerk.core.extensions.training.events import EpochDone, SampleTranslated, StepDone
from augenmerk.core.extensions.training.tensorboard import tensorboard_log
from augenmerk.core.run_files import TENSORBOARD
from tests.builders import run_process
from tests.core.extensions.training.runs import Recorder, copy_run, record

needs_tensorboard = pytest.mark.skipif(
    find_spec("tensorboard") is None,
    reason="needs the package tensorboard: pip install augenmerk[tensorboard]",
)
RUN = copy_run(num_epochs=2, checkpoint_steps=2, sample_size=5)


def train_with_log(folder: Path, **options: Any) -> Recorder:
    with tensorboard_log(folder) as log:
        _, said = record(RUN, folder, on_event=log, **options)
    return said


def read_back(folder: Path) -> Any:
    """What TensorBoard makes of the folder of a run."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    return EventAccumulator(
        str(folder / TENSORBOARD), size_guidance={"scalars": 0, "tensors": 0}
    ).Reload()


def curve(read: Any, name: str) -> list[tuple[int, float]]:
    return [(point.step, point.value) for point in read.Scalars(name)]


def near(points: list[tuple[int, float]]) -> list[tuple[int, Any]]:
    """The file holds single precision."""
    return [(step, pytest.approx(value, rel=1e-6)) for step, value in points]


@pytest.mark.slow
@pytest.mark.training
@needs_tensorboard
def test_every_curve_and_every_example_is_read_back_as_it_was(tmp_path: Path) -> None:
    said = train_with_log(tmp_path / "run")
    read = read_back(tmp_path / "run")
    steps, epochs, samples = said.of(StepDone), said.of(EpochDone), said.of(SampleTranslated)
    assert len(steps) == 14
    expected = {
        "loss/training": [(one.step, one.loss) for one in steps],
        "learning rate": [(one.step, one.learning_rate) for one in steps],
        "gradient norm": [(one.step, one.gradient_norm) for one in steps],
        "tokens per second": [(one.step, one.tokens_per_second) for one in steps],
        "loss/validation": [(one.step, one.validation_loss) for one in epochs],
        "perplexity": [(one.step, one.perplexity) for one in epochs],
        "BLEU": [(one.step, one.bleu) for one in samples],
    }
    assert set(read.Tags()["scalars"]) == set(expected)
    for name, points in expected.items():
        assert curve(read, name) == near(points), name
    texts = [
        point.tensor_proto.string_val[0].decode() for point in read.Tensors("examples/text_summary")
    ]
    assert len(texts) == len(samples) == 2
    for text, sample in zip(texts, samples, strict=True):
        for example in sample.examples:
            assert f"| {example.source} | {example.reference} | {example.hypothesis} |" in text


@pytest.mark.slow
@pytest.mark.training
@needs_tensorboard
# TensorBoard says that it leaves out what was written after the checkpoint
@pytest.mark.allow_log_warnings
def test_a_resumed_run_goes_on_with_the_same_curves(tmp_path: Path) -> None:
    """Steps that were done again after a crash are not shown twice."""
    whole = train_with_log(tmp_path / "whole")

    def crash(event: Any) -> None:
        if isinstance(event, StepDone) and event.step == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), tensorboard_log(tmp_path / "run") as log:
        record(RUN, tmp_path / "run", on_event=lambda event: (log(event), crash(event))[0])
    train_with_log(tmp_path / "run", resume=True)
    assert curve(read_back(tmp_path / "run"), "loss/training") == near(
        [(one.step, one.loss) for one in whole.of(StepDone)]
    )


@needs_tensorboard
def test_a_run_that_is_refused_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"last\.safetensors"):
        train_with_log(tmp_path / "run", resume=True)
    assert not (tmp_path / "run").exists()


def test_without_the_package_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensorboard, "find_spec", lambda name: None)
    with (
        pytest.raises(
            TrainingError, match=r"pip install augenmerk\[tensorboard\].*leave --tensorboard out"
        ),
        tensorboard_log(tmp_path / "run"),
    ):
        pytest.fail("it goes on")


@pytest.mark.subprocess
@needs_tensorboard
@pytest.mark.skipif(os.name != "posix", reason="RLIMIT_FSIZE is of POSIX systems")
@pytest.mark.slow
def test_event_files_that_cannot_be_written_are_said_once_and_end_nothing(tmp_path: Path) -> None:
    """In a process of its own, whose event file may not grow beyond 300 bytes."""
    script = """
import pathlib, sys
from augenmerk.core.extensions.training import tensorboard
from augenmerk.core.extensions.training.events import StepDone
from tests.limits import limit_files
from tests.core.extensions.training.test_tensorboard import RUN
from tests.core.extensions.training.runs import record

def on_event(event):
    if isinstance(event, StepDone):  # the writer has a thread of its own: wait for it
        limit_files(300)
        log(event)
        log._try(lambda: log._writer.flush())
        limit_files(None)
    else:
        log(event)

with tensorboard.tensorboard_log(pathlib.Path(sys.argv[1]), print) as log:
    finished, _ = record(RUN, pathlib.Path(sys.argv[1]), on_event=on_event)
print(finished.reason, finished.step)
"""
    command = [sys.executable, "-c", script, str(tmp_path / "run")]
    done = run_process(command, timeout=120)
    assert done.returncode == 0, done.stderr
    said, ending = done.stdout.splitlines()
    assert (
        f"event files for TensorBoard in {tmp_path / 'run' / TENSORBOARD} cannot be written "
        "(File too large)" in said
    )
    assert "Training continues without them" in said
    assert ending == "completed 14"
