"""The state of a run as text for the user. No Qt."""

import math
from dataclasses import dataclass
from typing import Literal

from augenmerk.core.extensions.training.events import StopRequest
from augenmerk.core.quantities import counted, duration

from ..state import Run, Status

_NOTHING = "–"
_STOPPING: dict[StopRequest, str] = {
    "keep": "Stopping…",
    "pause": "Pausing…",
    "discard": "Discarding…",
}
_STOPPING_TEXT: dict[StopRequest, str] = {
    "keep": "Finishing the current batch. The model will be validated and saved.",
    "pause": "Finishing the current batch and saving. Continue will resume exactly from there.",
    "discard": "Finishing the current batch. Then the files of this run will be deleted.",
}


@dataclass(frozen=True)
class Action:
    """An action of the user on a notice.

    Attributes:
        key: "retry" the save, "end" the run without it, "change" settings as proposed and continue.
        text: on the button.
        tip: its effect.
    """

    key: Literal["retry", "end", "change"]
    text: str
    tip: str


@dataclass(frozen=True)
class Notice:
    """The contents of the bar above the charts.

    Attributes:
        heading: a few words.
        text: one or two sentences; empty for none.
        tone: "plain", or "warm" for warnings.
        offers_model: whether the button “Try this model” is shown.
        offers_folder: whether the button “Open folder” is shown.
        actions: other buttons, the recommended one first.
    """

    heading: str
    text: str = ""
    tone: Literal["plain", "warm"] = "plain"
    offers_model: bool = False
    offers_folder: bool = False
    actions: tuple[Action, ...] = ()


def metric_rows(run: Run) -> list[tuple[str, str]]:
    """The metrics of a run as (name, value), always the same names in the same order."""
    started, step = run.started, run.latest_step
    num_epochs = f" of {started.num_epochs}" if started else ""
    num_steps = f" of {started.num_steps:,}" if started else ""
    latest = run.curves.validations[-1] if run.curves.validations else None
    best = run.curves.best
    return [
        ("epoch", f"{step.epoch}{num_epochs}" if step else _NOTHING),
        ("step", f"{step.step:,}{num_steps}" if step else _NOTHING),
        ("tokens / s", f"{step.tokens_per_second:,.0f}" if step else _NOTHING),
        ("time left", time_left(run)),
        ("loss", f"{step.loss:.3f}" if step else _NOTHING),
        ("validation", f"{latest.validation_loss:.3f}" if latest else _NOTHING),
        ("perplexity", f"{math.exp(min(latest.validation_loss, 50)):.4g}" if latest else _NOTHING),
        ("BLEU", f"{run.curves.bleu[-1][1]:.1f}" if run.curves.bleu else _NOTHING),
        ("best", f"{best.validation_loss:.3f} · epoch {best.epoch}" if best else _NOTHING),
        ("learning rate", f"{step.learning_rate:.2e}" if step else _NOTHING),
        ("gradient norm", f"{step.gradient_norm:.2f}" if step else _NOTHING),
    ]


def time_left(run: Run) -> str:
    """The estimated time until the run ends, while it is running."""
    if run.latest_step is None or not run.status.is_running:
        return _NOTHING
    return duration(run.latest_step.seconds_left)


def activity(run: Run) -> str:
    """The current activity of the run; empty for none."""
    if run.status is Status.STOPPING:
        return _STOPPING[run.stop_request or "keep"]
    if run.status is Status.WAITING:
        return "Waiting for your decision"
    if run.phase:
        return f"{run.phase.rstrip('.… ')}…"
    if run.status is Status.PREPARING:
        return "Preparing…"
    return "Training" if run.status is Status.TRAINING else ""


def resume_label(run: Run) -> str:
    """The label of the button that resumes the run."""
    return "Continue" if run.is_paused else "Resume"


def patience_used(run: Run) -> tuple[str, float]:
    """The used part of the patience, as text and as a fraction; an empty text without patience."""
    patience = run.request.run.training.patience if run.request is not None else None
    if patience is None:
        return "", 0.0
    stale = min(run.curves.num_stale_validations, patience)
    return (
        f"patience: {stale} of {counted(patience, 'epoch')} without a better loss",
        stale / patience,
    )


def status_line(run: Run) -> str:
    """The training status for the window's top bar; empty if there is none."""
    preset = run.request.run.preset if run.request is not None else ""
    match run.status:
        case Status.PREPARING:
            return f"{preset}: {activity(run)}"
        case Status.STOPPING:
            return f"{preset}: {activity(run).lower()}"
        case Status.WAITING:
            return f"{preset}: saving failed"
        case Status.TRAINING if run.latest_step and run.started:
            return f"training {preset} · epoch {run.latest_step.epoch} of {run.started.num_epochs}"
        case Status.TRAINING:
            return f"training {preset}"
        case Status.FINISHED:
            if run.is_paused:
                return f"{preset}: training paused"
            return (
                f"{preset}: training finished"
                if _is_complete(run)
                else f"{preset}: training stopped"
            )
        case Status.FAILED:
            return f"{preset}: training failed"
    return ""


def notice(run: Run) -> Notice | None:
    """The contents of the bar above the charts; None if it is hidden."""
    match run.status:
        case Status.IDLE:
            return _idle_notice(run)
        case Status.PREPARING:
            return Notice("Preparing", activity(run))
        case Status.STOPPING:
            how = run.stop_request or "keep"
            nothing = "Finishing the current step. Nothing has been trained yet."
            return Notice(_STOPPING[how], _STOPPING_TEXT[how] if run.latest_step else nothing)
        case Status.WAITING:
            return _waiting_notice(run)
        case Status.TRAINING:
            return _training_notice(run)
        case Status.FINISHED:
            return _finished_notice(run)
        case Status.FAILED:
            return _failed_notice(run)
        case Status.VIEWING:
            return _viewing_notice(run)
    return None


def _idle_notice(run: Run) -> Notice | None:
    if run.note:
        return Notice("Discarded", run.note)
    if not run.can_resume or run.folder is None:
        return None
    name = run.folder.name
    step = run.saved_step
    num_lost = run.curves.last_step - step if step else 0
    if not run.was_interrupted:
        saved = f"at step {step:,}" if step else "when it ended"
        text = f"{name} was saved {saved}; Resume continues exactly from there."
    elif num_lost == 1:
        text = (
            f"{name} ended without saving. Resume continues from step {step:,}; the next step "
            "will be repeated."
        )
    elif num_lost > 1:
        text = (
            f"{name} ended without saving. Resume continues from step {step:,}; {num_lost:,} "
            "steps will be repeated."
        )
    else:
        text = f"{name} ended without saving. Resume continues from its last checkpoint."
    return Notice("Resume unfinished run", text, "plain", run.can_try_model, offers_folder=True)


def _viewing_notice(run: Run) -> Notice:
    best = run.curves.best
    number = len(run.curves.validations)
    few = {0: "Not validated yet.", 1: "Validated once."}
    sentences = [few.get(number, f"Validated {number} times.")]
    if best is not None:
        sentences.append(f"Best validation loss {best.validation_loss:.3f} in epoch {best.epoch}.")
    if run.can_resume:
        sentences.append("Unfinished: Resume continues from its last checkpoint.")
    text = " ".join([*sentences, run.note]).rstrip()
    name = run.folder.name if run.folder else "a run"
    return Notice(f"Run: {name}", text, "plain", run.can_try_model, offers_folder=True)


def _waiting_notice(run: Run) -> Notice:
    failure = run.save_failure
    text, remedy = (failure.message, failure.remedy) if failure else ("", "")
    return Notice(
        "Saving failed: training is paused",
        text,
        "warm",
        run.can_try_model,
        offers_folder=True,
        actions=(
            Action("retry", "Try again", f"Saves again; {remedy} first. Nothing has been lost."),
            Action("end", "Stop", "Ends the run. Files saved earlier are kept."),
        ),
    )


def _failed_notice(run: Run) -> Notice:
    proposal = run.proposal
    if proposal is None:
        return Notice("Training failed", run.error, "warm", run.can_try_model, run.can_resume)
    text = f"{run.error.partition(': --')[0].rstrip('. ')}."  # the rest is for the command line
    resumes = run.resumable_checkpoint is not None
    tip = (
        f"{'Resumes from the last good checkpoint' if resumes else 'Starts again'} with "
        f"{proposal.text}."
    )
    if proposal.settings:
        action = Action("change", "Start with these settings", tip)
        return Notice("The data do not fit the settings", text, "warm", actions=(action,))
    if proposal.allows_changed_data:
        action = Action("change", "Resume with the changed data", tip)
        return Notice(
            "The training data has changed", text, "warm", run.can_try_model, True, (action,)
        )
    action = Action(
        "change", "Resume with this change" if resumes else "Start again with this change", tip
    )
    return Notice("Training failed", text, "warm", run.can_try_model, run.can_resume, (action,))


def _training_notice(run: Run) -> Notice:
    if not run.curves.validations:
        text = "You can try the model on the Translate page after the first epoch."
        return Notice("Training", f"{run.note} {text}".lstrip(), "plain", run.can_try_model)
    latest = run.curves.validations[-1]
    if latest == run.curves.best:
        text = f"Validation loss {latest.validation_loss:.3f}, the best so far."
    else:
        best_epoch = run.curves.best.epoch if run.curves.best else latest.epoch
        text = (
            f"Validation loss {latest.validation_loss:.3f}. The best is still epoch {best_epoch}."
        )
    return Notice(
        f"Epoch {latest.epoch} done", f"{text} {run.note}".rstrip(), "plain", run.can_try_model
    )


def _finished_notice(run: Run) -> Notice:
    finish = run.finish
    if finish is None:
        text = "Stopped before the first step. Files saved earlier are kept."
        return Notice("Stopped", text, "plain", run.can_try_model, offers_folder=True)
    heading = {
        "completed": "Finished",
        "max_steps": "Finished at the step limit",
        "patience": "Stopped early: the validation loss no longer improves",
        "stopped": "Stopped",
        "paused": "Paused",
        "discarded": "Discarded",
    }[finish.reason]
    text = f"Epoch {finish.epoch}, step {finish.step:,}, {duration(finish.seconds)}. "
    if math.isfinite(finish.best_validation_loss):
        text += (
            f"Best validation loss {finish.best_validation_loss:.3f} in epoch {finish.best_epoch}. "
        )
    text = f"{text}{run.note}".rstrip()  # for instance about a curve that could not be written
    return Notice(heading, text, "plain", run.can_try_model, offers_folder=True)


def _is_complete(run: Run) -> bool:
    return run.finish is not None and run.finish.reason in ("completed", "max_steps", "patience")
