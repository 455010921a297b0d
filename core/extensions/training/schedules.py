"""Learning rates by step, with warm-up and cool-down shortened in runs that are too short for
them.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...checkpoint.history import EpochRecord
from ...config import ModelConfig, TrainingConfig
from ...quantities import counted, percent

MAX_WARMUP_SHARE = 1 / 4
"""Maximum share of the warm-up in the steps of a run that fits its schedule."""
MAX_COOLDOWN_SHARE = 1 / 2
"""Maximum share of the cool-down in the epochs of a run that fits its schedule."""


def noam_rate(step: int, width: int, factor: float, warmup_steps: int) -> float:
    """factor · width^−0.5 · min(step^−0.5, step · warmup^−1.5), for steps from 1 (Vaswani et al.
    2017, section 5.3).
    """
    step = max(step, 1)
    return float(factor * width**-0.5 * min(step**-0.5, step * warmup_steps**-1.5))


def cooldown_factor(epochs_done: float, num_epochs: int, cooldown_epochs: float) -> float:
    """The factor of the learning rate: 1, falling linearly to 0 over the last `cooldown_epochs` of
    `num_epochs`.
    """
    if cooldown_epochs == 0:
        return 1.0
    return min(1.0, max(0.0, num_epochs - epochs_done) / cooldown_epochs)


def learning_rate(step: int, model: ModelConfig, training: TrainingConfig) -> float:
    """The rate of optimizer step number `step`, from 1."""
    if training.schedule == "noam":
        return noam_rate(
            schedule_step(step, training), model.width, training.noam_factor, training.warmup_steps
        )
    return training.learning_rate


def rates_of_run(
    history: Sequence[EpochRecord], model: ModelConfig, training: TrainingConfig
) -> NDArray[np.float64]:
    """The rate at each optimizer step of a run so far, cool-down included: [N], from step 1; empty
    without a history.

    Args:
        history: contains the number of steps of each epoch.
        model: its width.
        training: the settings of the run.
    """
    if not history:
        return np.zeros(0)
    fitted = fitted_to(training, history[0].step // max(history[0].epoch, 1))
    cooldown = fitted_cooldown_epochs(training)
    steps = np.arange(1, history[-1].step + 1)
    ends = [(0, 0), *((record.step, record.epoch) for record in history)]
    epochs_done = np.interp(steps - 1, [step for step, _ in ends], [epoch for _, epoch in ends])
    return np.array(
        [
            cooldown_factor(float(done), training.num_epochs, cooldown)
            * learning_rate(int(step), model, fitted)
            for step, done in zip(steps, epochs_done, strict=True)
        ]
    )


def schedule_step(step: int, training: TrainingConfig) -> int:
    """The step of the schedule at optimizer step number `step`, from 1.

    With micro-batches as its unit it is `num_accumulated` times as high; that the last optimizer
    step of an epoch may have fewer of them is ignored.
    """
    return step * (training.num_accumulated if training.schedule_unit == "micro-batches" else 1)


def warmup_optimizer_steps(training: TrainingConfig) -> int:
    """Optimizer steps until the rate is highest; 0 if the schedule has no warm-up."""
    if training.schedule != "noam":
        return 0
    return -(-training.warmup_steps // schedule_step(1, training))


def fitted_cooldown_epochs(training: TrainingConfig) -> float:
    """The last epochs, over which the rate falls to zero: as set, or fewer in a short run that fits
    its schedule.
    """
    if not training.fit_schedule:
        return training.cooldown_epochs
    return min(training.cooldown_epochs, MAX_COOLDOWN_SHARE * training.num_epochs)


def fitted_to(training: TrainingConfig, steps_per_epoch: int) -> TrainingConfig:
    """The settings with the warm-up that a run has: as set, or shorter in a short run that fits its
    schedule.

    The highest rate stays that of the settings, so that a shorter warm-up does not mean a higher
    rate.

    Args:
        training: the settings.
        steps_per_epoch: optimizer steps; 0 if unknown, in which case the settings stay unchanged.
    """
    num_steps = _num_steps(training, steps_per_epoch)
    if not (training.fit_schedule and training.schedule == "noam" and num_steps):
        return training
    longest = max(1, int(MAX_WARMUP_SHARE * schedule_step(num_steps, training)))
    if training.warmup_steps <= longest:
        return training
    factor = training.noam_factor * (longest / training.warmup_steps) ** 0.5
    return training.replace(warmup_steps=longest, noam_factor=factor)


def describe_schedule(training: TrainingConfig, steps_per_epoch: int = 0) -> str | None:
    """A warning about the schedule of a short run, before it starts; None if there is none.

    Args:
        training: the settings.
        steps_per_epoch: optimizer steps; 0 if they are not known yet, as in a form.
    """
    notes = _notes_on(training, steps_per_epoch)
    return " ".join(note for note, _ in notes) or None


def schedule_in_short(training: TrainingConfig, steps_per_epoch: int = 0) -> str:
    """What `describe_schedule` warns of, in about five words; empty if there is no warning."""
    return next((summary for _, summary in reversed(_notes_on(training, steps_per_epoch))), "")


def _notes_on(training: TrainingConfig, steps_per_epoch: int) -> list[tuple[str, str]]:
    """Warnings, each with a summary."""
    notes = (_note_on_cooldown(training), _note_on_warmup(training, steps_per_epoch))
    return [note for note in notes if note is not None]


def _note_on_cooldown(training: TrainingConfig) -> tuple[str, str] | None:
    requested = training.cooldown_epochs
    fitted = fitted_cooldown_epochs(training)
    length = _epochs(training.num_epochs)
    if fitted < requested:
        note = (
            f"A run of {length} is short for a cool-down of {_epochs(requested)}: the rate falls "
            f"to zero over the last {_epochs(fitted)} instead."
        )
        return note, "The cool-down is shortened."
    if requested > training.num_epochs:
        share = percent(cooldown_factor(0, training.num_epochs, requested))
        note = (
            f"A run of {length} is shorter than its cool-down of {_epochs(requested)}: the rate "
            f"begins at {share} and only falls. Raise num_epochs, lower cooldown_epochs, or set "
            "fit_schedule."
        )
        return note, f"The rate begins at {share} and only falls."
    return None


def _note_on_warmup(training: TrainingConfig, steps_per_epoch: int) -> tuple[str, str] | None:
    requested = warmup_optimizer_steps(training)
    num_steps = _num_steps(training, steps_per_epoch)
    if not requested or not num_steps:
        return None
    fitted = warmup_optimizer_steps(fitted_to(training, steps_per_epoch))
    if fitted < requested:
        note = (
            f"It has {counted(num_steps, 'step')}, which is short for a warm-up of "
            f"{requested:,}: the rate rises over the first {fitted:,} instead, to the same "
            "height."
        )
        return note, "The warm-up is shortened."
    if requested > num_steps:
        share = percent(num_steps / requested)
        note = (
            f"The learning rate rises for {counted(requested, 'step')} (warm-up), but this run has "
            f"{num_steps:,}: it ends at {share} of the highest rate. "
            "Raise num_epochs, lower warmup_steps, or set fit_schedule."
        )
        return note, f"The rate ends at {share} of the highest."
    return None


def _num_steps(training: TrainingConfig, steps_per_epoch: int) -> int:
    """Optimizer steps of the run; 0 if they are not known."""
    num_steps = training.num_epochs * steps_per_epoch
    return num_steps if training.max_steps is None else min(num_steps, training.max_steps)


def _epochs(number: float) -> str:
    return (
        f"{number:.2g} epoch{'' if number == 1 else 's'}" if number < 10 else f"{number:.0f} epochs"
    )
