"""The estimate of the duration of a run, compared with real steps and real batches."""

import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch

from augenmerk.core.extensions.run_settings.presets import PRESETS, preset
from augenmerk.core.extensions.training.corpora.batches import collate, training_batches
from augenmerk.core.extensions.training.corpora.loading import load_corpus
from augenmerk.core.extensions.training.duration import (
    Speed,
    Work,
    fastest,
    measure_speed,
    steps_per_epoch,
    work_of,
)
from augenmerk.core.extensions.training.session import TrainingSession


def test_speed_of_two_steps_gives_their_durations_again() -> None:
    few, many = Work(4, 1e8), Work(6, 2e10)
    speed = Speed.of_steps((few, 0.05), (many, 0.4))
    assert speed.seconds(few) == pytest.approx(0.05)
    assert speed.seconds(many) == pytest.approx(0.4)


def test_no_part_of_a_speed_is_negative_when_the_measurement_was_disturbed() -> None:
    few, many = Work(4, 1e8), Work(6, 2e10)
    for short in (0.0001, 3.0):  # the small step was far too fast, or slower than the large one
        speed = Speed.of_steps((few, short), (many, 0.4))
        assert speed.seconds_per_layer_pass >= 0
        assert speed.seconds_per_flop >= 0
        assert speed.seconds(many) == pytest.approx(0.4)


def test_the_fastest_of_several_measurements_counts() -> None:
    idle, busy = Speed(0.002, 1e-11), Speed(0.005, 2.5e-11)
    assert fastest((busy, idle)) == fastest((idle, busy)) == idle
    assert fastest((busy,)) == busy


@pytest.mark.slow
@pytest.mark.training
def test_estimate_is_near_the_time_of_real_steps(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the processor's time of one thread: on a busy machine, waiting takes any time."""
    request.addfinalizer(partial(torch.set_num_threads, torch.get_num_threads()))
    torch.set_num_threads(1)
    monkeypatch.setattr(time, "perf_counter", time.process_time)
    run = preset("copy-task-small")
    session = TrainingSession(
        run, load_corpus("copy", run, lambda *_: None, lambda: False, None), "cpu"
    )
    pairs = session.training_pairs(1)
    indices = training_batches(pairs, run.training, 1)
    assert len(indices) == steps_per_epoch(run, "copy")
    batches = [collate(pairs, batch, session.padding_id) for batch in indices[:20]]
    session.step(batches[:1])
    work = work_of(run, "copy")
    assert work is not None
    durations, speeds = [], []
    for _ in range(3):  # in turn, and the shortest of each: other programs only lengthen them
        for batch in batches:
            began = time.perf_counter()
            session.step([batch])
            durations.append(time.perf_counter() - began)
        speed = measure_speed("cpu")
        assert speed is not None
        speeds.append(speed)
    seconds = min(durations) * len(indices) * run.training.num_epochs
    assert seconds / 3 < fastest(speeds).seconds(work) < seconds * 3


def test_work_grows_with_epochs_and_ends_at_the_step_limit() -> None:
    run = preset("multi30k")
    whole = work_of(run, "multi30k")
    doubled = work_of(run.with_training(num_epochs=2 * run.training.num_epochs), "multi30k")
    limited = work_of(run.with_training(max_steps=226), "multi30k")
    assert whole is not None
    assert doubled == whole.times(2)
    assert limited is not None
    assert limited.num_flops == pytest.approx(whole.num_flops / run.training.num_epochs)


def test_a_gpu_computes_the_padding_of_random_batches() -> None:
    for name, is_random in (("multi30k", False), ("annotated-2022", True)):
        on_cpu, on_gpu = (work_of(preset(name), "multi30k", device) for device in ("cpu", "cuda:0"))
        assert on_cpu is not None
        assert on_gpu is not None
        assert on_gpu.num_layer_passes == on_cpu.num_layer_passes
        assert (on_gpu.num_flops > 1.5 * on_cpu.num_flops) == is_random
        assert is_random or on_gpu == on_cpu


def test_every_preset_has_an_estimate_on_its_own_data_and_none_on_unread_data() -> None:
    for run in PRESETS.values():
        assert work_of(run, "copy" if run.is_copy_task else "multi30k") is not None
    assert work_of(preset("multi30k"), Path("my-corpus")) is None
    assert work_of(replace(preset("notebook"), preset="mine"), "multi30k") is None, (
        "its vocabulary is not known"
    )


def test_a_stopped_measurement_gives_no_speed() -> None:
    assert measure_speed("cpu", lambda: True) is None
