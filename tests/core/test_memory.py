"""What is free in the heap is given back to the system, now and then."""

import sys
from collections.abc import Callable

import pytest
import torch

from core.corpora.batches import collate
from core.corpora.prepared import prepare_copy_task
from core.memory import HeapTrimmer, resident_memory
from core.training.session import TrainingSession
from tests.core.training.runs import copy_run

BLOCK, KEPT = 100_000, 1_000
"""Bytes: blocks that go, and those between them that stay, so that glibc cannot give the former back by itself."""
needs_glibc = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere nothing is given back")


def looks(resident: list[int], trimmed: Callable[[], object]) -> HeapTrimmer:
    """A trimmer for which the process has these sizes, one after the other, and the last from then on."""
    return HeapTrimmer(trimmed, lambda: resident.pop(0) if len(resident) > 1 else resident[0])


def after_steps(trimmer: HeapTrimmer, num_steps: int) -> None:
    for _ in range(num_steps):
        trimmer.after_step()


def test_it_looks_every_so_many_steps_and_leaves_a_heap_alone_that_has_not_grown() -> None:
    calls: list[int] = []
    growth, steps = HeapTrimmer.MAX_GROWTH, HeapTrimmer.NUM_STEPS
    least = 5
    trimmer = looks(
        [least, least + growth, least + growth + 1, 2 * least, 2 * least + growth, 2 * least + growth + 1, least],
        lambda: calls.append(1),
    )
    after_steps(trimmer, steps)
    assert not calls, "it has grown by no more than is allowed"
    after_steps(trimmer, steps - 1)
    assert not calls, "nobody has looked"
    after_steps(trimmer, 1)
    assert len(calls) == 1
    after_steps(trimmer, steps)
    assert len(calls) == 1, "what was left is what it grows from"
    after_steps(trimmer, steps)
    assert len(calls) == 2


@needs_glibc
def test_large_blocks_between_small_ones_that_stay_are_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    before = resident_memory()
    assert before is not None
    monkeypatch.setattr(HeapTrimmer, "MAX_GROWTH", 100_000_000)
    trimmer = HeapTrimmer()
    blocks, kept = [], []
    for _ in range(3_000):
        blocks.append(torch.ones(BLOCK, dtype=torch.uint8))
        kept.append(torch.ones(KEPT, dtype=torch.uint8))
    del blocks
    grown = resident_memory() or 0
    assert grown > before + 250_000_000, "else this shows nothing"
    after_steps(trimmer, HeapTrimmer.NUM_STEPS)
    assert (resident_memory() or 0) < before + 60_000_000
    assert all(int(each.sum()) == KEPT for each in kept)


@pytest.mark.training
def test_every_step_of_a_training_counts() -> None:
    run = copy_run(num_epochs=2)
    session = TrainingSession(run, prepare_copy_task(run.data, 1), "cpu")
    session.progress.steps_per_epoch = 7
    calls: list[int] = []
    session.heap = looks([0, HeapTrimmer.MAX_GROWTH + 1], lambda: calls.append(1))
    batch = collate(session.corpus.train, range(2), session.padding_id)
    for _ in range(HeapTrimmer.NUM_STEPS):
        session.step([batch])
    assert calls == [1]
