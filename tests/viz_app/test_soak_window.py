"""The tool that uses a window for an hour works, and tells growth from noise."""

import mmap
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.builders import run_process
from tests.viz_app.soak_window import Counts, num_mapped, resident_mb, slope_per_hour, verdict


def measured(memory_mb: np.ndarray, threads: int = 5) -> list[Counts]:
    """One measurement every 20 seconds."""
    return [
        Counts(20.0 * n, float(value), threads, 11, 800, 0, 400_000)
        for n, value in enumerate(memory_mb)
    ]


def noise() -> np.ndarray:
    return 500 + np.random.default_rng(0).normal(0, 0.5, 180)


@pytest.mark.heavy
def test_noise_and_a_warm_up_are_no_growth(capsys: pytest.CaptureFixture[str]) -> None:
    memory = noise()
    memory[:80] -= np.linspace(80, 0, 80)
    memory[120] += 300
    assert verdict(measured(memory)) == []


@pytest.mark.heavy
def test_growth_in_noise_is_found() -> None:
    (problem,) = verdict(measured(noise() + np.linspace(0, 2, 180)))
    assert problem.startswith("memory_mb rises by")


@pytest.mark.heavy
def test_a_thread_that_is_left_in_each_round_is_found() -> None:
    counts = measured(noise())
    problems = verdict(
        [Counts(count.seconds, 500, n, n // 2, 800, 0, 0) for n, count in enumerate(counts)]
    )
    assert [problem.split()[0] for problem in problems] == ["threads", "handles"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it counts as Linux does")
def test_memory_is_what_was_written_to_and_not_what_is_read_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "read"
    path.write_bytes(bytes(32 << 20))
    mapped, before = num_mapped(), resident_mb()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        assert content.find(b"x") < 0  # every page of it has been read
        assert resident_mb() - before < 4
        assert num_mapped() == mapped + 1
        before = resident_mb()
        # not from a free heap
        with mmap.mmap(-1, 32 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as written:
            written.write(b"x" * (32 << 20))
            assert resident_mb() - before > 28


def test_the_slope_is_that_of_a_line() -> None:
    seconds = np.arange(10.0) * 60
    assert slope_per_hour(seconds, 3 + seconds / 3600 * 7) == pytest.approx(7)


@pytest.mark.slow
@pytest.mark.subprocess
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it counts as Linux does")
def test_a_window_is_used_for_two_rounds() -> None:
    result = run_process(
        [sys.executable, "-m", "tests.viz_app.soak_window", "--rounds", "2"],
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        timeout=600,
    )
    assert "round    2" in result.stdout, result.stderr
    assert "memory_mb" in result.stdout
