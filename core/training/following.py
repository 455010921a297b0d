"""The orders of the leading process, and the processes that follow them."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from core.config import RunConfig
from core.corpora.batches import Batch
from core.corpora.prepared import PreparedCorpus
from core.device import choose_device
from core.errors import TrainingError
from core.training.determinism import deterministic
from core.training.distributed import World
from core.training.randomness import random_state

if TYPE_CHECKING:
    from core.training.session import TrainingSession

_JOIN, _STEP, _TELL_RANDOM_STATE, _END, _FAIL = range(5)


def order_to_join(world: World, run: RunConfig, random_states: Tensor | None) -> None:
    """Has the others set up the run. `random_states` are theirs, [size, N], if a run is resumed."""
    settings = torch.frombuffer(bytearray(json.dumps(run.to_dict()).encode()), dtype=torch.uint8)
    states = torch.empty(0, dtype=torch.uint8) if random_states is None else random_states
    world.send([_order(_JOIN), settings, states])


def order_step(world: World, batches: Sequence[Batch], rate: float) -> None:
    """Has the others take part in an optimiser step."""
    world.send([_order(_STEP, rate), *(ids for batch in batches for ids in (batch.source, batch.target))])


def order_random_states(world: World) -> None:
    """Has the others tell their random states, with `World.gather`."""
    world.send([_order(_TELL_RANDOM_STATE)])


@contextmanager
def leading(world: World) -> Iterator[None]:
    """Within the block this process leads `world`; the others are sent home at its end, and told if it failed."""
    if not world.leads:
        yield
        return
    try:
        yield
    except Exception:
        world.send([_order(_FAIL)])
        raise
    world.send([_order(_END)])


def follow(read_corpus: Callable[[RunConfig], PreparedCorpus], device: str, world: World) -> None:
    """Does what the leader says, until that is done.

    Args:
        read_corpus: gives the corpus that the leader has; called when that has read it.
        device: as for `train`.
        world: this process in it.

    Raises:
        TrainingError: the leader or another process failed.
        DeviceError: there is no device for this process.
    """
    with ExitStack() as flags:
        _follow(read_corpus, device, world, flags)


def _follow(read_corpus: Callable[[RunConfig], PreparedCorpus], device: str, world: World, flags: ExitStack) -> None:
    """What `follow` does; `flags` keeps what holds as long as the run."""
    from core.training.session import TrainingSession

    session: TrainingSession | None = None
    failure: Exception | None = None
    while True:
        order, *tensors = world.receive()
        kind = int(order[0])
        if kind == _JOIN:
            settings, states = tensors
            run = RunConfig.from_dict(json.loads(bytes(settings.tolist())))
            name = choose_device(world.device(device)).name
            flags.enter_context(deterministic(run.training.deterministic, name))
            session = TrainingSession(run, read_corpus(run), name, world)
            session.join(states[world.rank] if len(states) else None)
        elif kind == _STEP and session is not None:
            try:
                _take_part(session, tensors, float(order[1]))
            except Exception as error:  # the leader heard of it in the step; it says what is to be done
                failure = error
        elif kind == _TELL_RANDOM_STATE and session is not None:
            world.gather(random_state(session.device))
        elif kind == _END:
            return
        else:
            raise failure or TrainingError(
                "The leading process (number 0) of this run failed, and says why itself. It was expected to lead to "
                "the end: mend that, then resume the run."
            )


def _take_part(session: "TrainingSession", ids: Sequence[Tensor], rate: float) -> None:
    batches = [
        Batch(source, target, int((target[:, 1:] != session.padding_id).sum()))
        for source, target in zip(ids[::2], ids[1::2], strict=True)
    ]
    session.take_step(batches, rate, lambda: False)


def _order(kind: int, value: float = 0.0) -> Tensor:
    return torch.tensor([kind, value], dtype=torch.float64)
