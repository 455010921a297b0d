"""Learning rates by step."""

from core.config import ModelConfig, TrainingConfig


def noam_rate(step: int, width: int, factor: float, warmup_steps: int) -> float:
    """factor · width^−0.5 · min(step^−0.5, step · warmup^−1.5), for steps from 1 (Vaswani et al. 2017, section 5.3)."""
    step = max(step, 1)
    return float(factor * width**-0.5 * min(step**-0.5, step * warmup_steps**-1.5))


def cooldown_factor(epochs_done: float, num_epochs: int, cooldown_epochs: int) -> float:
    """The factor of the learning rate: 1, falling linearly to 0 over the last `cooldown_epochs` of `num_epochs`."""
    if cooldown_epochs == 0:
        return 1.0
    return min(1.0, max(0.0, num_epochs - epochs_done) / cooldown_epochs)


def learning_rate(step: int, model: ModelConfig, training: TrainingConfig) -> float:
    """The rate of optimiser step number `step`, from 1."""
    if training.schedule == "noam":
        return noam_rate(schedule_step(step, training), model.width, training.noam_factor, training.warmup_steps)
    return training.learning_rate


def schedule_step(step: int, training: TrainingConfig) -> int:
    """The step of the schedule at optimiser step number `step`, from 1.

    With micro-batches as its unit it is `num_accumulated` times as high; that the last optimiser step of an epoch may
    have fewer of them is ignored.
    """
    return step * (training.num_accumulated if training.schedule_unit == "micro-batches" else 1)


def warmup_optimizer_steps(training: TrainingConfig) -> int:
    """Optimiser steps until the rate is highest; 0 if the schedule has no warm-up."""
    if training.schedule != "noam":
        return 0
    return -(-training.warmup_steps // schedule_step(1, training))
