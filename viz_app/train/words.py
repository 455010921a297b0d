"""The state of a run in words and numbers for people. No Qt: what is said can be tested without a window."""

import math
from dataclasses import dataclass
from typing import Literal

from core.durations import duration
from viz_app.train.choices import with_tilde
from viz_app.train.state import Status, TrainState

_NOTHING = "–"


@dataclass(frozen=True)
class Notice:
    """What the strip above the charts says.

    Attributes:
        heading: a few words.
        text: one or two sentences; empty for none.
        tone: "plain", or "warm" for what deserves a second look.
        offers_model: whether “Try this model” stands beside it.
        offers_folder: whether “Open folder” stands beside it.
    """

    heading: str
    text: str = ""
    tone: Literal["plain", "warm"] = "plain"
    offers_model: bool = False
    offers_folder: bool = False


def number_rows(state: TrainState) -> list[tuple[str, str]]:
    """The figures of a run as (name, value), always the same names in the same order."""
    started, step = state.started, state.latest_step
    num_epochs = f" of {started.num_epochs}" if started else ""
    num_steps = f" of {started.num_steps:,}" if started else ""
    latest = state.validations[-1] if state.validations else None
    return [
        ("epoch", f"{step.epoch}{num_epochs}" if step else _NOTHING),
        ("step", f"{step.step:,}{num_steps}" if step else _NOTHING),
        ("tokens / s", f"{step.tokens_per_second:,.0f}" if step else _NOTHING),
        ("time left", time_left(state)),
        ("loss", f"{step.loss:.3f}" if step else _NOTHING),
        ("validation", f"{latest.loss:.3f}" if latest else _NOTHING),
        ("best", f"{state.best.loss:.3f} · epoch {state.best.epoch}" if state.best else _NOTHING),
        ("learning rate", f"{step.learning_rate:.2e}" if step else _NOTHING),
        ("gradient norm", f"{step.gradient_norm:.2f}" if step else _NOTHING),
    ]


def time_left(state: TrainState) -> str:
    """How long the run will still take, while it runs."""
    if state.latest_step is None or not state.status.is_running:
        return _NOTHING
    return duration(state.latest_step.seconds_left)


def activity(state: TrainState) -> str:
    """What is going on at this moment, in a few words; empty if nothing is."""
    if state.status is Status.STOPPING:
        return "Stopping…"
    if state.phase:
        return f"{state.phase.rstrip('.… ')}…"
    if state.status is Status.PREPARING:
        return "Preparing…"
    return "Training" if state.status is Status.TRAINING else ""


def run_line(state: TrainState) -> str:
    """What is being trained on what and where, beside the charts; empty before that is known."""
    started = state.started
    if started is None:
        return ""
    return (
        f"{started.preset} · {started.num_parameters:,} parameters · {started.num_training_pairs:,} pairs · "
        f"{started.device} ({started.device_reason})"
    )


def status_line(state: TrainState, preset: str) -> str:
    """What the window's head says about training; empty if there is nothing to say."""
    match state.status:
        case Status.PREPARING:
            return f"{preset}: {activity(state)}"
        case Status.STOPPING:
            return f"{preset}: stopping…"
        case Status.TRAINING if state.latest_step and state.started:
            return f"training {preset} · epoch {state.latest_step.epoch} of {state.started.num_epochs}"
        case Status.TRAINING:
            return f"training {preset}"
        case Status.FINISHED:
            return f"{preset}: training finished" if _is_complete(state) else f"{preset}: training stopped"
        case Status.FAILED:
            return f"{preset}: training ended with an error"
    return ""


def notice(state: TrainState) -> Notice | None:
    """What the strip above the charts says; None if it is not needed."""
    match state.status:
        case Status.IDLE:
            return _idle_notice(state)
        case Status.PREPARING:
            return Notice("Preparing", activity(state))
        case Status.STOPPING:
            kept = "What was learned is kept." if state.latest_step else "Nothing has been trained yet."
            return Notice("Stopping…", f"The work in hand is being finished. {kept}")
        case Status.TRAINING:
            return _training_notice(state)
        case Status.FINISHED:
            return _finished_notice(state)
        case Status.FAILED:
            return Notice("Training ended with an error", state.error, "warm", state.can_try_model, state.can_resume)
    return None


def _idle_notice(state: TrainState) -> Notice | None:
    if not state.can_resume or state.folder is None:
        return None
    text = f"{state.folder.name} has not come to its end. Resume goes on where it stands; nothing is lost."
    return Notice("An earlier run can go on", text, "plain", state.can_try_model, offers_folder=True)


def _training_notice(state: TrainState) -> Notice:
    if not state.validations:
        return Notice("Training", "After the first epoch the model can be tried on the Translate page.")
    latest = state.validations[-1]
    if latest == state.best:
        verdict = "the best so far."
    else:
        best_epoch = state.best.epoch if state.best else latest.epoch
        verdict = f"the best is still epoch {best_epoch}."
    text = f"Validation loss {latest.loss:.3f}, {verdict}"
    return Notice(f"Epoch {latest.epoch} done", text, "plain", state.can_try_model)


def _finished_notice(state: TrainState) -> Notice:
    finish = state.finish
    if finish is None:
        text = "It was stopped before its first step. What an earlier run kept is still there."
        return Notice("Stopped", text, "plain", state.can_try_model, offers_folder=True)
    heading = {"completed": "Finished", "max_steps": "Finished at the step limit", "stopped": "Stopped"}[finish.reason]
    text = f"Epoch {finish.epoch}, step {finish.step:,}, {duration(finish.seconds)}. "
    if math.isfinite(finish.best_validation_loss):
        text += f"Best validation loss {finish.best_validation_loss:.3f} in epoch {finish.best_epoch}. "
    text = f"{text.rstrip()}\nBest and last model: {with_tilde(finish.last_checkpoint.parent)}"
    return Notice(heading, text, "plain", state.can_try_model, offers_folder=True)


def _is_complete(state: TrainState) -> bool:
    return state.finish is not None and state.finish.reason != "stopped"
