"""The state of a run in words and numbers for people. No Qt: what is said can be tested without a window."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.config import RunConfig
from core.durations import duration
from core.training.events import StopRequest
from viz_app.train.choices import data_name, with_tilde
from viz_app.train.state import Status, TrainState

_NOTHING = "–"
_STOPPING: dict[StopRequest, str] = {"keep": "Stopping…", "pause": "Pausing…", "discard": "Discarding…"}
_STOPPING_TEXT: dict[StopRequest, str] = {
    "keep": "The work in hand is being finished. What was learned is kept.",
    "pause": "The work in hand is being finished and saved. Continue goes on from there, to the last bit.",
    "discard": "The work in hand is being finished; then the files of this run are removed.",
}


@dataclass(frozen=True)
class Action:
    """Something that can be done about what the strip says.

    Attributes:
        key: "retry" the save, "end" the run without it, "change" settings as proposed and go on.
        text: on the button.
        tip: what it does.
    """

    key: Literal["retry", "end", "change"]
    text: str
    tip: str


@dataclass(frozen=True)
class Notice:
    """What the strip above the charts says.

    Attributes:
        heading: a few words.
        text: one or two sentences; empty for none.
        tone: "plain", or "warm" for what deserves a second look.
        offers_model: whether “Try this model” stands beside it.
        offers_folder: whether “Open folder” stands beside it.
        actions: what else can be done, the best first.
    """

    heading: str
    text: str = ""
    tone: Literal["plain", "warm"] = "plain"
    offers_model: bool = False
    offers_folder: bool = False
    actions: tuple[Action, ...] = ()


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
        ("perplexity", f"{math.exp(min(latest.loss, 50)):.4g}" if latest else _NOTHING),
        ("BLEU", f"{state.curves.bleu[-1][1]:.1f}" if state.curves.bleu else _NOTHING),
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
        return _STOPPING[state.stop_request or "keep"]
    if state.status is Status.WAITING:
        return "Waiting for your answer"
    if state.phase:
        return f"{state.phase.rstrip('.… ')}…"
    if state.status is Status.PREPARING:
        return "Preparing…"
    return "Training" if state.status is Status.TRAINING else ""


def resume_word(state: TrainState) -> str:
    """What the button says that goes on with the run."""
    return "Continue" if state.is_paused else "Resume"


def what_resuming_does(state: TrainState, run: RunConfig, source: str | Path) -> str:
    """What the run on the page goes on with, whatever the form says; empty if it cannot go on."""
    if not state.can_resume or state.folder is None:
        return ""
    number = run.training.num_epochs
    return (
        f"{resume_word(state)} goes on with {state.folder.name} as it was begun: {run.preset}, {data_name(source)}, "
        f"{number:,} epoch{'' if number == 1 else 's'}. "
        "Only the device is taken from the form; the rest is for a new run."
    )


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
            return f"{preset}: {activity(state).lower()}"
        case Status.WAITING:
            return f"{preset}: a save has failed"
        case Status.TRAINING if state.latest_step and state.started:
            return f"training {preset} · epoch {state.latest_step.epoch} of {state.started.num_epochs}"
        case Status.TRAINING:
            return f"training {preset}"
        case Status.FINISHED:
            if state.is_paused:
                return f"{preset}: training paused"
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
            how = state.stop_request or "keep"
            nothing = "The work in hand is being finished. Nothing has been trained yet."
            return Notice(_STOPPING[how], _STOPPING_TEXT[how] if state.latest_step else nothing)
        case Status.WAITING:
            return _waiting_notice(state)
        case Status.TRAINING:
            return _training_notice(state)
        case Status.FINISHED:
            return _finished_notice(state)
        case Status.FAILED:
            return _failed_notice(state)
        case Status.LOOKING:
            return _looking_notice(state)
    return None


def _idle_notice(state: TrainState) -> Notice | None:
    if state.note:
        return Notice("Discarded", state.note)
    if not state.can_resume or state.folder is None:
        return None
    text = f"{state.folder.name} has not come to its end. Resume goes on where it stands; nothing is lost."
    return Notice("An earlier run can go on", text, "plain", state.can_try_model, offers_folder=True)


def _looking_notice(state: TrainState) -> Notice:
    best = state.best
    number = len(state.validations)
    text = f"Validated {number} times" if number > 1 else "Validated once" if number else "Not validated yet"
    if best is not None:
        text += f", best validation loss {best.loss:.3f} in epoch {best.epoch}"
    if state.can_resume:
        text += ". It has not come to its end: Resume goes on from its last checkpoint"
    name = state.folder.name if state.folder else "a run"
    return Notice(f"An earlier run: {name}", f"{text}.", "plain", state.can_try_model, offers_folder=True)


def _waiting_notice(state: TrainState) -> Notice:
    failure = state.save_failure
    text = failure.message if failure else ""
    return Notice(
        "Training waits: something could not be written",
        text,
        "warm",
        state.can_try_model,
        offers_folder=True,
        actions=(
            Action("retry", "Try again", "Writes the file again, after you have made room; nothing has been lost."),
            Action("end", "Stop", "Ends the run. What was saved before stays as it is."),
        ),
    )


def _failed_notice(state: TrainState) -> Notice:
    proposal = state.proposal
    if proposal is None:
        return Notice("Training ended with an error", state.error, "warm", state.can_try_model, state.can_resume)
    text = f"{state.error.partition(': --resume')[0].rstrip('. ')}."  # what comes then is for the command line
    goes_on = state.can_go_on_from is not None
    tip = f"{'Goes on from the last good checkpoint' if goes_on else 'Starts again'} with {proposal.text}."
    action = Action("change", "Go on with this change" if goes_on else "Start again with this change", tip)
    return Notice("Training met trouble", text, "warm", state.can_try_model, state.can_resume, (action,))


def _training_notice(state: TrainState) -> Notice:
    if state.note:
        return Notice("Training", state.note, "plain", state.can_try_model)
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
    heading = {
        "completed": "Finished",
        "max_steps": "Finished at the step limit",
        "patience": "Finished early: the validation loss improves no more",
        "stopped": "Stopped",
        "paused": "Paused",
        "discarded": "Discarded",
    }[finish.reason]
    text = f"Epoch {finish.epoch}, step {finish.step:,}, {duration(finish.seconds)}. "
    if math.isfinite(finish.best_validation_loss):
        text += f"Best validation loss {finish.best_validation_loss:.3f} in epoch {finish.best_epoch}. "
    text = f"{text.rstrip()}\nBest and last model: {with_tilde(finish.last_checkpoint.parent)}"
    return Notice(heading, text, "plain", state.can_try_model, offers_folder=True)


def _is_complete(state: TrainState) -> bool:
    return state.finish is not None and state.finish.reason in ("completed", "max_steps", "patience")
