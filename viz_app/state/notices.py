"""Sentences about what happened to an experiment: what was dropped, kept, refused or cancelled. No Qt."""

from collections.abc import Sequence

from augenmerk.core.translation.experiment import Experiment, GivenTarget, Intervention, Output

GIVEN_DROPPED = "Dropped: the given translation, as the model chooses the other words itself. Undo brings it back."


def dropped_with_sentence(dropped: Sequence[Intervention]) -> str:
    """What another sentence left out; empty if nothing."""
    return _dropped(f"with the sentence that {'it belongs' if len(dropped) == 1 else 'they belong'} to", dropped)


def dropped_with_source(dropped: Sequence[Intervention]) -> str:
    """What other source tokens left out; empty if nothing."""
    return _dropped("because the source has other tokens now", dropped)


def dropped_for_output(output: Output, dropped: Sequence[Intervention]) -> str:
    """What another way to find the target left out; empty if nothing."""
    is_given = isinstance(output, GivenTarget)
    why = "the whole translation is given" if is_given else "the model chooses its own tokens"
    return _dropped(f"because {why}", dropped)


def dropped_by_model(dropped: Sequence[Intervention], *, is_of_former: bool) -> str:
    """What the model left out; empty if nothing. `is_of_former`: whether a former model had taken it."""
    undo = "With the former model, undo brings" if is_of_former else ""
    why = f"because {'it does' if len(dropped) == 1 else 'they do'} not fit this model or sentence"
    return _dropped(why, dropped, undo)


def kept(experiment: Experiment, previous: Experiment | None) -> str:
    """What another model takes over from the one before, in a sentence; empty if there is nothing.

    Args:
        experiment: what is asked of the model that is in use now.
        previous: what undo goes back to. It takes the changes back if they were the last step.
    """
    if not experiment.interventions:
        return ""
    it = "it" if len(experiment.interventions) == 1 else "them"
    by = "Undo" if previous == experiment.baseline else "“reset”"
    return f"Kept from the model before: {', '.join(map(str, experiment.interventions))}. {by} takes {it} back."


def refused(experiment: Experiment, now: Experiment) -> str:
    """What was refused and is not in use; `now` is."""
    if experiment.source_text != now.source_text:
        return "The sentence before it is still shown."
    return f"Refused, and taken back: {_taken_back(experiment, now)}."


def cancelled(experiment: Experiment, now: Experiment) -> str:
    """What was cancelled; `now` is in use."""
    if experiment == now:
        return "Translating was cancelled. Press Enter in the sentence to translate it after all, or type another one."
    if experiment.source_text != now.source_text:
        return (
            "Translating was cancelled; the sentence before it is still shown. Press Enter to translate it after all."
        )
    return f"Translating was cancelled; taken back: {_taken_back(experiment, now)}."


def _dropped(why: str, interventions: Sequence[Intervention], undo: str = "Undo brings") -> str:
    """What was left out, in a sentence; empty if nothing was. `undo` begins the one on how it comes back."""
    if not interventions:
        return ""
    it = "it" if len(interventions) == 1 else "them"
    return f"Dropped {why}: {', '.join(map(str, interventions))}." + (f" {undo} {it} back." if undo else "")


def _taken_back(experiment: Experiment, now: Experiment) -> str:
    names = [str(each) for each in experiment.interventions if each not in now.interventions]
    if isinstance(experiment.output, GivenTarget) and experiment.output != now.output:
        names.append("the given translation")
    return ", ".join(names) or "the last change"
