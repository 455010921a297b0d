"""What a CUDA device computes, against the CPU.

Skipped where there is none: see docs/training.md.
"""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from augenmerk import Translator
from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.extensions.training.corpora.batches import collate
from augenmerk.core.extensions.training.events import (
    OutOfMemoryError,
    PhaseStarted,
    TrainingStarted,
)
from augenmerk.core.extensions.training.session import TrainingSession
from augenmerk.core.run_files import LAST
from tests.core.extensions.training.runs import copy_run, record, text_corpus, text_run

DEVICE = "cuda"
SENTENCES = (
    "Zwei Hunde spielen im Schnee.",
    "Ein Mann mit einem roten Helm steht auf einer Leiter und lacht.",
    "Hund",
)

pytestmark = [
    pytest.mark.training,
    pytest.mark.heavy,
    pytest.mark.skipif(
        not torch.cuda.is_available(), reason="no CUDA device: nothing was checked on a GPU"
    ),
]


def test_a_gpu_translates_as_the_cpu_does() -> None:
    here, there = Translator.load(device=DEVICE), Translator.load(device="cpu")
    for text in SENTENCES:
        actual, expected = here.translate(text), there.translate(text)
        assert actual.text == expected.text
        for maps, expected_maps in (
            (actual.maps.encoder, expected.maps.encoder),
            (actual.maps.decoder, expected.maps.decoder),
            (actual.maps.cross, expected.maps.cross),
        ):
            assert np.allclose(maps, expected_maps, atol=1e-4)
        assert math.isclose(actual.log_probability, expected.log_probability, abs_tol=1e-3)


def test_the_first_steps_are_those_of_the_cpu(tmp_path: Path) -> None:
    """Without dropout, whose random numbers are those of the device, and in 32 bits."""
    run = text_run({"dropout": 0.0}, precision="float32", num_epochs=1)
    losses = record(run, tmp_path / "gpu", device=DEVICE)[1].losses
    expected = record(run, tmp_path / "cpu")[1].losses
    assert np.allclose(losses, expected, rtol=1e-3)


@pytest.mark.parametrize("has_dropout", [False, True])
def test_graphs_learn_what_single_kernels_learn(tmp_path: Path, has_dropout: bool) -> None:
    """Without dropout the same losses; with it, random numbers that differ from step to step: the
    loss falls as far.
    """
    run = text_run({"dropout": 0.1 if has_dropout else 0.0}, precision="float32", num_epochs=8)
    one_by_one = dataclasses.replace(run, training=run.training.replace(deterministic=True))
    finished, graphs = record(run, tmp_path / "graphs", device=DEVICE)
    assert any("CUDA graph" in event.text for event in graphs.of(PhaseStarted))
    expected = record(one_by_one, tmp_path / "kernels", device=DEVICE)[1].losses
    if has_dropout:
        assert graphs.losses[-1] == pytest.approx(expected[-1], rel=0.25)
    else:
        assert np.allclose(graphs.losses, expected, rtol=1e-3)
    assert finished.step == len(graphs.losses)


def test_graphs_draw_new_dropout_at_each_replay() -> None:
    run = text_run({"dropout": 0.5}, precision="float32", batch_size=64, learning_rate=1e-12)
    corpus = text_corpus(run)
    session = TrainingSession(run, corpus, DEVICE)
    batch = collate(corpus.train, range(64), session.padding_id)
    losses = [result.loss for _ in range(6) if (result := session.step([batch])) is not None]
    assert len({round(loss, 4) for loss in losses}) == 6


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_resumed_run_ends_with_the_same_bits(tmp_path: Path, precision: str) -> None:
    run = copy_run(deterministic=True, precision=precision, num_epochs=2)
    record(run, tmp_path / "whole", device=DEVICE)
    record(run, tmp_path / "parts", device=DEVICE, stop_after=3)
    record(run, tmp_path / "parts", device=DEVICE, resume=True)
    whole, parts = (
        load_checkpoint(tmp_path / name / LAST, with_state=True) for name in ("whole", "parts")
    )
    for name, weights in whole.weights.items():
        assert torch.equal(weights, parts.weights[name]), name
    for name, state in whole.state.items():
        assert torch.equal(state, parts.state[name]), name


@pytest.mark.allow_log_warnings  # of the compiler
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # in the compiler itself
def test_a_compiled_model_learns_the_same(tmp_path: Path) -> None:
    run = copy_run({"dropout": 0.0}, num_epochs=1, precision="float32")
    compiled = dataclasses.replace(run, training=run.training.replace(compile=True))
    finished, recorder = record(compiled, tmp_path / "compiled", device=DEVICE)
    notes = [event.text for event in recorder.of(PhaseStarted)]
    if any("not compiled" in note for note in notes):
        pytest.skip(next(note for note in notes if "not compiled" in note))
    assert np.allclose(
        recorder.losses, record(run, tmp_path / "eager", device=DEVICE)[1].losses, rtol=1e-3
    )
    assert finished.step == len(recorder.losses)


def test_the_device_is_told(tmp_path: Path) -> None:
    _, recorder = record(copy_run(num_epochs=1), tmp_path / "run", device="auto")
    (started,) = recorder.of(TrainingStarted)
    assert started.device.startswith(DEVICE)
    assert torch.cuda.get_device_name(0) in started.device_reason


def test_a_gpu_without_enough_memory_proposes_smaller_batches(tmp_path: Path) -> None:
    run = text_run(
        {"width": 512, "num_heads": 4, "feed_forward_width": 2048}, num_epochs=1, batch_size=64
    )
    torch.cuda.set_per_process_memory_fraction(
        200e6 / torch.cuda.get_device_properties(0).total_memory
    )
    try:
        with pytest.raises(OutOfMemoryError) as failure:
            record(run, tmp_path / "run", device=DEVICE)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert failure.value.proposal is not None
    assert "there was not enough memory" in str(failure.value)
