"""Deterministic mode: switched on for a GPU while a run goes on, said with its reason, and gone
afterwards."""

import os
from pathlib import Path

import pytest
import torch

from augenmerk.core.extensions.run_settings.toml_file import read_toml
from augenmerk.core.extensions.training.device_choices import (
    WORKSPACE,
    WORKSPACE_SIZE,
    deterministic,
)
from augenmerk.core.extensions.training.events import PhaseStarted
from augenmerk.core.extensions.training.folder import read_starts
from tests.core.extensions.training.runs import copy_run, record

Flags = tuple[bool, bool, bool, str | None]


def flags() -> Flags:
    return (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        torch.backends.cudnn.benchmark,
        os.environ.get(WORKSPACE),
    )


@pytest.fixture(autouse=True)
def benchmarking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process in which all is the other way round."""
    monkeypatch.delenv(WORKSPACE, raising=False)
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", True)


@pytest.mark.heavy
def test_a_gpu_is_switched_and_everything_is_as_before_even_after_an_error() -> None:
    before = flags()
    assert before == (False, False, True, None)
    with pytest.raises(KeyError), deterministic(True, "cuda:1") as reason:
        assert flags() == (True, True, False, WORKSPACE_SIZE)
        assert reason == "Deterministic on the GPU, at some cost in speed, as requested"
        raise KeyError
    assert flags() == before


def test_a_workspace_that_somebody_chose_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORKSPACE, ":16:8")
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    with deterministic(True, "cuda") as reason:
        assert os.environ[WORKSPACE] == ":16:8"
        assert "cuBLAS" not in reason
    assert os.environ[WORKSPACE] == ":16:8"


def test_cuda_that_was_started_before_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    with deterministic(True, "cuda:0") as reason:
        assert "CUDA was initialized before" in reason


@pytest.mark.parametrize(
    ("wish", "device", "said"),
    [(True, "cpu", "on a CPU always"), (True, "mps", "not for mps"), (False, "cuda:0", "")],
)
def test_elsewhere_and_unasked_nothing_is_switched(wish: bool, device: str, said: str) -> None:
    before = flags()
    with deterministic(wish, device) as reason:
        assert flags() == before
        assert said in reason
        assert bool(reason) == wish


@pytest.mark.training
def test_a_run_says_and_records_it(tmp_path: Path) -> None:
    _, events = record(copy_run(max_steps=1, deterministic=True), tmp_path / "run")
    line = "Deterministic, as requested: on a CPU always, for the same number of threads"
    assert line in [event.text for event in events.of(PhaseStarted)]
    assert line in read_starts(tmp_path / "run")[0]["choices"]
    assert read_toml(tmp_path / "run" / "run.toml").training.deterministic
    _, events = record(copy_run(max_steps=1), tmp_path / "plain")
    assert not any("eterministic" in event.text for event in events.of(PhaseStarted))


@pytest.mark.training
def test_the_flags_hold_while_a_run_on_a_gpu_is_set_up_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Flags] = []
    monkeypatch.setattr(
        "augenmerk.core.extensions.training.loop.deterministic",
        lambda wish, device: deterministic(wish, "cuda:0"),
    )
    record(
        copy_run(max_steps=1, deterministic=True),
        tmp_path / "run",
        on_event=lambda event: seen.append(flags()),
    )
    during = [entry for entry in seen if entry == (True, True, False, WORKSPACE_SIZE)]
    assert len(during) >= len(seen) - 2, "all but the first phase and the end"
    assert read_starts(tmp_path / "run")[0]["deterministic"] is True
    assert flags() == (False, False, True, None)
