"""What `augenmerk train` shows in a terminal, and what it writes into a file."""

import io
import sys
from pathlib import Path

import pytest

from augenmerk.core.counting import CountedText, Index
from augenmerk.core.extensions.training.cli.train import SECONDS_BETWEEN_LINES, TerminalProgress
from augenmerk.core.extensions.training.events import (
    EpochDone,
    PhaseStarted,
    SampleTranslated,
    StepDone,
    TrainingFinished,
    TrainingStarted,
    TranslatedExample,
)

SECONDS_PER_STEP, STEPS_PER_EPOCH, NUM_EPOCHS = 1.5, 40, 2
NUM_STEPS = STEPS_PER_EPOCH * NUM_EPOCHS


class Terminal(io.StringIO):
    """Standard error that is one."""

    def isatty(self) -> bool:
        return True


def shown_on(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    """All that a training of two epochs, a step each 1.5 seconds, shows."""
    monkeypatch.setattr(sys, "stderr", stream)
    now = 0.0
    show = TerminalProgress(lambda: now)
    show(PhaseStarted("Reading the data"))
    show(
        TrainingStarted(
            "notebook",
            9,
            29_000,
            1_014,
            NUM_EPOCHS,
            NUM_STEPS,
            0,
            "cpu",
            "chosen",
            Path("runs/mine"),
        )
    )
    for step in range(1, NUM_STEPS + 1):
        now += SECONDS_PER_STEP
        epoch = 1 + (step - 1) // STEPS_PER_EPOCH
        show(
            StepDone(
                step, epoch, 4.25, 5e-4, 0.8, 1_500, 1_000.0, (NUM_STEPS - step) * SECONDS_PER_STEP
            )
        )
        if step % STEPS_PER_EPOCH == 0:
            show(PhaseStarted("Validating"))
            show(EpochDone(epoch, step, 4.2, 4.1, 4.15, 5e-4, 60.0, is_best=True))
    best = Path("runs/mine/best.safetensors")
    show(TrainingFinished("completed", 2, NUM_STEPS, 2, 4.1, best, best, 120.0))
    show.close()
    return stream.getvalue()


def test_a_file_gets_a_line_now_and_then_and_one_for_each_epoch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = shown_on(io.StringIO(), monkeypatch)
    assert "\r" not in text
    lines = text.splitlines()
    steps = [line for line in lines if line.startswith("step ")]
    every = int(SECONDS_BETWEEN_LINES / SECONDS_PER_STEP)
    assert [line.partition(",")[0] for line in steps] == [
        f"step {n} of {NUM_STEPS}" for n in range(1, NUM_STEPS + 1, every)
    ]
    assert steps[1].endswith("loss 4.250, rate 5.00e-04, 1,000 tokens/s, 1 min 28 s left")
    assert sum(line.startswith("epoch ") for line in lines) == NUM_EPOCHS
    assert "Validating" not in lines
    assert (lines[0], lines[-1].partition(" after")[0]) == (
        "Reading the data",
        "All epochs are done",
    )


def test_a_terminal_gets_a_bar_that_is_drawn_over(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown_on(Terminal(), monkeypatch)
    assert f"| {NUM_STEPS}/{NUM_STEPS}, Validating" in text
    assert "\r" in text
    assert not any(line.startswith("step ") for line in text.splitlines())


def test_a_note_on_the_sample_is_shown_until_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    show = TerminalProgress()
    last = CountedText("Number {index} is empty.", index=Index(1))
    for epoch, notes in enumerate(
        (("One is cut.", "9 are empty."), ("One is cut.", "2 are empty."), ("One is cut.", last))
    ):
        show(SampleTranslated(epoch, epoch, 1.0, 9, (TranslatedExample("a", "b", "c"),), notes))
    lines = stream.getvalue().splitlines()
    assert [line for line in lines if line.startswith("note: ")] == [
        "note: One is cut.",
        "note: 9 are empty.",
        "note: 2 are empty.",
        "note: Number 2 is empty.",
    ]
