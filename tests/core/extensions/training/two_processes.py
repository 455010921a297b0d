"""What torchrun runs twice for `test_distributed.py`: four short runs, told as JSON by the main
process."""

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from augenmerk.core.config import RunConfig
from augenmerk.core.errors import TrainingError
from augenmerk.core.extensions.training.corpora.prepared import PreparedCorpus
from augenmerk.core.extensions.training.distributed import World, commanding_workers, process_group
from augenmerk.core.extensions.training.events import StepDone
from augenmerk.core.extensions.training.loop import run_worker, train
from augenmerk.core.extensions.training.session import TrainingSession
from tests.core.extensions.training.runs import (
    Recorder,
    copy_corpus,
    copy_run,
    text_corpus,
    text_run,
)


def without_dropout() -> RunConfig:
    """Token batches of unequal sentences, the last of an epoch may be a single pair; gradients of
    three are joined.
    """
    return text_run(
        {"dropout": 0.0},
        batch_unit="tokens",
        batch_size=30,
        num_accumulated=3,
        label_smoothing=0.1,
        max_steps=8,
    )


def corpus_for(run: RunConfig) -> PreparedCorpus:
    return copy_corpus(run) if run.is_copy_task else text_corpus(run, number=41)


def with_dropout() -> RunConfig:
    return copy_run(num_epochs=2)


def losses(
    run: RunConfig,
    folder: Path,
    world: World,
    *,
    resume: bool = False,
    stop_after: int | None = None,
) -> Any:
    said = Recorder(stop_after)
    with commanding_workers(world):
        train(
            run,
            corpus_for(run),
            folder,
            device="cpu",
            resume=resume,
            world=world,
            on_event=said,
            should_stop=said.should_stop,
        )
    return said.losses


def with_norms(run: RunConfig, folder: Path, world: World) -> Any:
    """Losses, and gradient norms too: of gradients all twice as long Adam notices nothing."""
    said = Recorder()
    with commanding_workers(world):
        train(run, corpus_for(run), folder, device="cpu", world=world, on_event=said)
    return {"losses": said.losses, "norms": [event.gradient_norm for event in said.of(StepDone)]}


def failure(run: RunConfig, folder: Path, world: World) -> str:
    """Of a run in which process 1 runs out of memory in its second micro-batch."""
    try:
        losses(run, folder, world)
    except TrainingError as error:
        return str(error)
    return ""


def run_all(folder: Path, world: World) -> dict[str, Any]:
    run = with_dropout()
    return {
        "plain": with_norms(without_dropout(), folder / "plain", world),
        "whole": losses(run, folder / "whole", world),
        "parts": [
            *losses(run, folder / "parts", world, stop_after=5),
            *losses(run, folder / "parts", world, resume=True),
        ],
        "failure": failure(dataclasses.replace(run, preset="fails"), folder / "failure", world),
    }


def break_down_in_the_second_part(session: TrainingSession) -> None:
    calls = 0
    original = session.gradients._backward

    def backward(batch: Any, weight: float) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise MemoryError("no memory left")
        return original(batch, weight)

    session.gradients._backward = backward  # type: ignore[method-assign]


def work_through_all(world: World) -> str:
    """The worker: takes part in four runs, and breaks down in the fifth."""
    for _ in range(4):
        run_worker(corpus_for, "cpu", world)
    original = TrainingSession.join

    def join(session: TrainingSession, random_state: Any) -> None:
        original(session, random_state)
        session.gradients.max_tokens = 10
        break_down_in_the_second_part(session)

    TrainingSession.join = join  # type: ignore[method-assign]
    try:
        run_worker(corpus_for, "cpu", world)
    except MemoryError as error:
        return str(error)
    return "nothing"


def main() -> None:
    folder = Path(sys.argv[1])
    with process_group("cpu") as world:
        if world.is_main:
            (folder / "main.json").write_text(json.dumps(run_all(folder, world)), encoding="utf-8")
        else:
            (folder / "worker.json").write_text(
                json.dumps(work_through_all(world)), encoding="utf-8"
            )


if __name__ == "__main__":
    main()
