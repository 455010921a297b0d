"""An estimate of the duration of a run, from two short measurements of the device.

torch is imported only to measure.

A step costs time for each layer, however small it is, and time for each floating-point operation:
seconds = steps × layers × a + FLOPs × b. A small and a larger model give a and b.
"""

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from ...config import RunConfig
from ..info.size import preset_vocabulary_sizes, size_rows, total
from ..run_settings.presets import preset

MULTI30K_PAIRS = 29_000
TOKENS_PER_PAIR_OF_SUBWORDS, TOKENS_PER_PAIR_OF_WORDS = 19.5, 19.4
"""Of Multi30k, in a batch counted in tokens: `multi30k` has 226 steps an epoch, `annotated-2018`
47."""
LENGTH_OF_SUBWORDS, LENGTH_OF_WORDS = 17, 14
LENGTH_IN_RANDOM_BATCHES, LENGTH_IN_REGROUPED_BATCHES = 29, 17
"""Mean padded length of a sentence of Multi30k, in batches of similar lengths and random ones,
which a CPU regroups."""
MEASURED_PRESETS = {"copy-task-small": 12, "multi30k": 2}
"""The small and the larger model, with the number of steps to time; both have vocabularies of a
fixed size.
"""
_NUM_PAIRS, _LENGTH = 32, 16
_PASSES = 3
"""A backward pass costs about twice a forward pass (Kaplan et al. 2020, section 2.1)."""


@dataclass(frozen=True)
class Work:
    """The work of a run or of a step: passes of one layer over a batch, and floating-point
    operations.
    """

    num_layer_passes: float
    num_flops: float

    def times(self, factor: float) -> "Work":
        """The work of so many repetitions."""
        return Work(factor * self.num_layer_passes, factor * self.num_flops)


@dataclass(frozen=True)
class Speed:
    """The speed of a device in training."""

    seconds_per_layer_pass: float
    seconds_per_flop: float

    def seconds(self, work: Work) -> float:
        """The duration of the work."""
        return (
            work.num_layer_passes * self.seconds_per_layer_pass
            + work.num_flops * self.seconds_per_flop
        )

    @classmethod
    def of_steps(cls, small: tuple[Work, float], large: tuple[Work, float]) -> "Speed":
        """The speed at which two steps, given as work and seconds, take that long; neither part is
        negative.
        """
        (few, short), (many, long) = small, large
        determinant = few.num_layer_passes * many.num_flops - many.num_layer_passes * few.num_flops
        for_layers = (short * many.num_flops - long * few.num_flops) / determinant
        for_layers = min(max(0.0, for_layers), long / many.num_layer_passes)
        return cls(for_layers, (long - for_layers * many.num_layer_passes) / many.num_flops)


def steps_per_epoch(run: RunConfig, source: str | Path) -> int:
    """The approximate number of optimizer steps in an epoch; 0 if unknown before the data is
    read.
    """
    training = run.training
    if source == "multi30k":
        size = float(MULTI30K_PAIRS)
    elif run.is_copy_task:
        size = float(run.data.copy_training_pairs)
    else:
        return 0
    if training.batch_unit == "tokens":
        size *= TOKENS_PER_PAIR_OF_SUBWORDS if run.data.num_subwords else TOKENS_PER_PAIR_OF_WORDS
    return max(1, round(size / (training.batch_size * training.num_accumulated)))


def work_of(run: RunConfig, source: str | Path, device: str = "cpu") -> Work | None:
    """The work of all epochs on a device, by its name, without validations; None if unknown before
    the data is read.
    """
    sizes = preset_vocabulary_sizes(run)
    num_steps = steps_per_epoch(run, source)
    training = run.training
    if sizes is None or not num_steps:
        return None
    if run.is_copy_task:
        num_pairs, length = run.data.copy_training_pairs, run.data.copy_length
    else:
        num_pairs = MULTI30K_PAIRS
        length = LENGTH_OF_SUBWORDS if run.data.num_subwords else LENGTH_OF_WORDS
        if training.batching == "random":
            length = LENGTH_IN_REGROUPED_BATCHES if device == "cpu" else LENGTH_IN_RANDOM_BATCHES
    num_all = training.num_epochs * num_steps
    step = _step(run, sizes, num_pairs / num_steps, length, training.num_accumulated)
    return step.times(num_all if training.max_steps is None else min(num_all, training.max_steps))


def _step(
    run: RunConfig, sizes: tuple[int, int], num_pairs: float, length: int, num_batches: int = 1
) -> Work:
    """The work of one optimizer step on so many pairs in batches."""
    num_flops = total(size_rows(run.model, *sizes, length, length)).num_flops
    repeated = 2 if run.training.r_drop else 1
    num_layers = run.model.num_encoder_layers + run.model.num_decoder_layers
    return Work(num_layers * num_batches, _PASSES * repeated * num_pairs * num_flops)


def fastest(speeds: Iterable[Speed]) -> Speed:
    """The best of several measurements of one device, which other programs can only slow down."""
    steps = [
        _step(preset(name), sizes, _NUM_PAIRS, _LENGTH) for name, sizes in _measured_sizes().items()
    ]
    return min(speeds, key=lambda speed: math.prod(map(speed.seconds, steps)))


def _measured_sizes() -> dict[str, tuple[int, int]]:
    sizes_by_preset = {name: preset_vocabulary_sizes(preset(name)) for name in MEASURED_PRESETS}
    return {name: sizes for name, sizes in sizes_by_preset.items() if sizes is not None}


def measure_speed(device: str, should_stop: Callable[[], bool] = lambda: False) -> Speed | None:
    """The speed of a device, by its name; takes some seconds on a CPU.

    None if stopped. Imports torch.
    """
    steps = []
    for name, sizes in _measured_sizes().items():
        run = preset(name)
        seconds = _time_steps(run, sizes, MEASURED_PRESETS[name], device, should_stop)
        if not seconds:
            return None
        steps.append((_step(run, sizes, _NUM_PAIRS, _LENGTH), median(seconds)))
    return Speed.of_steps(*steps)


def _time_steps(
    run: RunConfig,
    sizes: tuple[int, int],
    num_steps: int,
    device: str,
    should_stop: Callable[[], bool],
) -> list[float]:
    """The durations of optimizer steps on random sentences, after set-up; empty if stopped."""
    import torch

    from ...model.transformer import Transformer
    from .corpora.batches import Batch
    from .device_choices import (
        choose_launches,
        choose_precision,
        random_state_restored,
    )
    from .distributed import SINGLE_PROCESS
    from .loss import Gradients, LossSum

    torch_device = torch.device(device)
    with random_state_restored(device):
        model = Transformer(run.model, *sizes, padding_id=1).to(torch_device).train()
        source, target = (torch.randint(2, size, (_NUM_PAIRS, _LENGTH + 1)) for size in sizes)
        batch = Batch(source[:, 1:], target, _NUM_PAIRS * _LENGTH)
        precision = choose_precision(run.training.precision, torch_device)
        is_graph = choose_launches(run.training, torch_device).is_graph
        loss_sum = LossSum(model, model.hidden_states, run.training, keeps_padding=is_graph)
        gradients = Gradients(loss_sum, torch_device, precision, SINGLE_PROCESS)
        optimizer = torch.optim.Adam(
            model.parameters(), lr=1e-4, fused=torch_device.type in ("cpu", "cuda")
        )
        durations = []
        num_first = 2 if is_graph else 1  # a graph is recorded in the second step
        for _ in range(num_first + num_steps):
            if should_stop():
                return []
            began = time.perf_counter()
            optimizer.zero_grad(set_to_none=not gradients.keeps_tensors)
            gradients.fill([batch], lambda: False)
            optimizer.step()
            next(model.parameters()).flatten()[0].item()  # waits for a GPU
            durations.append(time.perf_counter() - began)
    return durations[num_first:]
