"""Edits of an experiment, with undo and redo, and the notices about them.

No Qt, no signals, nothing mutable.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from augenmerk.core.counting import display_text
from augenmerk.core.model.heads import Head, Network
from augenmerk.core.text.phrases import counted_phrase, phrase
from augenmerk.core.translation.experiment import (
    AttentionRow,
    CausalMaskLifted,
    Experiment,
    ForcedToken,
    GivenTarget,
    Greedy,
    Intervention,
    Output,
    SoftmaxTemperature,
    scaling,
)

MAX_REMEMBERED = 200


@dataclass(frozen=True)
class Step:
    """One place in the history.

    Attributes:
        experiment: the requested one.
        whole: the same before it was fitted to the model in use; None if it was not.
        shows_foreign: whether the answer to a text that the model surely cannot read is shown: the
            user asked for it, or the text was not typed. Steps made from this one take it over.
    """

    experiment: Experiment
    whole: Experiment | None = None
    shows_foreign: bool = False

    def restored(self) -> "Step":
        """The step before it was fitted."""
        return self if self.whole is None else Step(self.whole, shows_foreign=self.shows_foreign)


@dataclass(frozen=True)
class ExperimentEditor:
    """The experiment in use, and those that undo and redo lead to.

    Attributes:
        step: the experiment in use.
        past: the experiments that undo leads to; the nearest is last.
        future: those that redo leads to; the nearest is last.
    """

    step: Step = Step(Experiment(""))
    past: tuple[Step, ...] = ()
    future: tuple[Step, ...] = ()

    @property
    def experiment(self) -> Experiment:
        """The experiment in use."""
        return self.step.experiment

    @property
    def can_undo(self) -> bool:
        """Whether there is an earlier one."""
        return bool(self.past)

    @property
    def can_redo(self) -> bool:
        """Whether something was undone."""
        return bool(self.future)

    @property
    def previous(self) -> Experiment | None:
        """The experiment that undo restores; None if there is none."""
        return self.past[-1].experiment if self.past else None

    @property
    def own_decoding(self) -> Output:
        """The way to decode; the latest one while a target is given."""
        outputs = (step.experiment.output for step in (self.step, *reversed(self.past)))
        return next((output for output in outputs if not isinstance(output, GivenTarget)), Greedy())

    def push(self, experiment: Experiment) -> "ExperimentEditor":
        """The editor with a new experiment in use, and nothing to redo."""
        if experiment == self.experiment:
            return self
        step = Step(experiment, shows_foreign=self.step.shows_foreign)
        return ExperimentEditor(step, (*self.past, self.step)[-MAX_REMEMBERED:])

    def replace(self, experiment: Experiment) -> "ExperimentEditor":
        """The editor with another experiment in place of the current, unusable one.

        Adds no undo step.
        """
        return replace(self, step=Step(experiment, shows_foreign=self.step.shows_foreign))

    def fit(self, experiment: Experiment) -> "ExperimentEditor":
        """The editor with the current experiment fitted to the model in use.

        Adds no undo step; see `restored`.
        """
        return replace(
            self, step=Step(experiment, self.step.whole or self.experiment, self.step.shows_foreign)
        )

    def showing_foreign(self, is_shown: bool) -> "ExperimentEditor":
        """The editor with the same experiment; see `Step.shows_foreign`."""
        return (
            self
            if is_shown == self.step.shows_foreign
            else replace(self, step=replace(self.step, shows_foreign=is_shown))
        )

    def restored(self) -> "ExperimentEditor":
        """The editor for another model: steps fitted to the previous model are whole again.

        Equal experiments that were not fitted stay unchanged.
        """
        past, future = (
            tuple(step.restored() for step in steps) for steps in (self.past, self.future)
        )
        return ExperimentEditor(self.step.restored(), past, future)

    def withdraw(self, shown: Experiment) -> "ExperimentEditor":
        """The editor without the refused experiment; the nearest step with `shown` replaces it.

        Steps between the two are kept: for redo, or for undo if undo led to the refused one.
        """
        if shown == self.experiment:
            return self
        back, forth = _nearest(self.past, shown), _nearest(self.future, shown)
        if forth is not None and (back is None or forth <= back):
            past, future, step = _moved(self.past, self.future, forth)
            return ExperimentEditor(step, past, future)
        if back is not None:
            future, past, step = _moved(self.future, self.past, back)
            return ExperimentEditor(step, past, future)
        return self.replace(shown)

    def undo(self) -> "ExperimentEditor":
        """One step back, if there is one."""
        return (
            ExperimentEditor(self.past[-1], self.past[:-1], (*self.future, self.step))
            if self.past
            else self
        )

    def redo(self) -> "ExperimentEditor":
        """One step forward, if there is one."""
        return (
            ExperimentEditor(self.future[-1], (*self.past, self.step), self.future[:-1])
            if self.future
            else self
        )


def _nearest(steps: tuple[Step, ...], shown: Experiment) -> int | None:
    """The number of steps above the uppermost with this experiment; None if there is none."""
    return next(
        (above for above, step in enumerate(reversed(steps)) if step.experiment == shown), None
    )


def _moved(
    onto: tuple[Step, ...], off: tuple[Step, ...], num_between: int
) -> tuple[tuple[Step, ...], tuple[Step, ...], Step]:
    """Both stacks after `num_between` steps moved from `off` onto `onto`, and the next step.

    That is removed from `off`.
    """
    rest, between = off[: len(off) - num_between - 1], off[len(off) - num_between :]
    return (*onto, *reversed(between)), rest, off[len(off) - num_between - 1]


# --- intents --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Edit:
    """The result of an intent.

    Attributes:
        editor: after it.
        notice: the dropped interventions, in a sentence; None keeps the current notice.
        drops_misfits: whether interventions that do not fit the model are left out rather than
            refused.
    """

    editor: ExperimentEditor
    notice: str | None = ""
    drops_misfits: bool = False


Intent: TypeAlias = Callable[[ExperimentEditor], Edit]
"""A change that the user requests, for `ExperimentState.submit`."""


def edit_text(text: str) -> Intent:
    """Another sentence.

    Head scalings are kept; changes to words of the old sentence are dropped and reported.
    """

    def edit(editor: ExperimentEditor) -> Edit:
        experiment = editor.experiment
        if text == experiment.source_text:
            return Edit(editor, None)
        edited = replace(experiment.edited(text), output=editor.own_decoding)
        dropped = [
            intervention
            for intervention in experiment.interventions
            if intervention not in edited.interventions
        ]
        return Edit(
            editor.push(edited),
            counted_phrase("dropped_sentence", len(dropped), changes=named(dropped)),
        )

    return edit


def begin_text(text: str) -> Intent:
    """A first sentence, with nothing to undo."""
    return lambda editor: Edit(ExperimentEditor(edit_text(text)(editor).editor.step))


def show_experiment(experiment: Experiment) -> Intent:
    """Another experiment, refused if it does not fit the model."""
    return lambda editor: Edit(editor.push(experiment).showing_foreign(True))


def open_experiment(
    experiment: Experiment, *, forgets_history: bool = False, shows_foreign: bool = True
) -> Intent:
    """A saved experiment. Parts that do not fit the model in use are dropped and reported.

    Args:
        experiment: the saved one.
        forgets_history: whether it is the first one, with nothing to undo.
        shows_foreign: see `Step`; without it, that of the experiment in use holds.
    """

    def edit(editor: ExperimentEditor) -> Edit:
        step = Step(experiment, shows_foreign=shows_foreign or editor.step.shows_foreign)
        opened = ExperimentEditor() if forgets_history else editor.push(experiment)
        # another editor: its view waits for a result to be shown
        return Edit(replace(opened, step=step), drops_misfits=True)

    return edit


def intervene(*interventions: Intervention) -> Intent:
    """Adds changes, which replace earlier changes of the same thing.

    A changed source has other tokens, so that rows of attention set over it are dropped.

    Raises:
        ExperimentError: when submitted, if two of them change the same thing, or a token is forced
            while the target is given.
    """
    return lambda editor: _source_checked(
        editor, editor.experiment.with_interventions(*interventions)
    )


def remove(*interventions: Intervention) -> Intent:
    """Removes interventions."""
    return lambda editor: _source_checked(editor, editor.experiment.without(*interventions))


def reset(editor: ExperimentEditor) -> Edit:
    """Removes all interventions, and a given translation."""
    return Edit(editor.push(replace(editor.experiment.baseline, output=editor.own_decoding)))


def switches_on(experiment: Experiment, *parts: Head | Network) -> bool:
    """Whether `toggle` restores these heads and networks, since all are off or scaled."""
    return {change.part for change in experiment.scalings}.issuperset(parts)


def switch_text(experiment: Experiment, *parts: Head | Network, name: str = "") -> str:
    """The text of a button or menu entry that calls `toggle`; `name`: of the parts."""
    if not switches_on(experiment, *parts):
        return f"Switch {name} off" if name else "Switch off"
    if all(change.factor for change in experiment.scalings if change.part in parts):
        return f"Restore {name}" if name else "Restore"
    return f"Switch {name} on" if name else "Switch on"


def toggle(*parts: Head | Network) -> Intent:
    """Switches heads and feed-forward networks off, or on again: see `switches_on`."""

    def edit(editor: ExperimentEditor) -> Edit:
        if switches_on(editor.experiment, *parts):
            return remove(
                *(change for change in editor.experiment.scalings if change.part in parts)
            )(editor)
        return intervene(*map(scaling, parts))(editor)

    return edit


def scale(part: Head | Network, factor: float) -> Intent:
    """Multiplies the output of a head or network; a factor of 1 removes the change."""
    if factor != 1:
        return intervene(scaling(part, factor))
    return lambda editor: remove(
        *(change for change in editor.experiment.scalings if change.part == part)
    )(editor)


def temper(head: Head, temperature: float) -> Intent:
    """Sets the softmax temperature of a head; 1 removes the change."""
    if temperature != 1:
        return intervene(SoftmaxTemperature(head, temperature))
    return lambda editor: remove(
        *(change for change in editor.experiment.temperatures if change.head == head)
    )(editor)


def force(step: int, *tokens: str) -> Intent:
    """Forces tokens from a step on. A given target is dropped: the model decodes again."""

    def edit(editor: ExperimentEditor) -> Edit:
        experiment = editor.experiment
        is_given = isinstance(experiment.output, GivenTarget)
        if is_given:
            interventions = experiment.without(CausalMaskLifted()).interventions
            experiment = Experiment(experiment.source_text, editor.own_decoding, interventions)
        forced = [ForcedToken(step + offset, token) for offset, token in enumerate(tokens)]
        return Edit(
            editor.push(experiment.with_interventions(*forced)), GIVEN_DROPPED if is_given else ""
        )

    return edit


def set_output(output: Output) -> Intent:
    """Finds the target in another way; a given target drops forced tokens."""

    def edit(editor: ExperimentEditor) -> Edit:
        experiment = editor.experiment
        is_given = isinstance(output, GivenTarget)
        misfit = ForcedToken if is_given else CausalMaskLifted
        interventions = experiment.interventions
        fitting = tuple(
            intervention for intervention in interventions if not isinstance(intervention, misfit)
        )
        dropped = [intervention for intervention in interventions if intervention not in fitting]
        edited = Experiment(experiment.source_text, output, fitting)
        why = "the whole translation is given" if is_given else "the model chooses its own tokens"
        return Edit(editor.push(edited), _dropped(f"because {why}", dropped))

    return edit


def use_own_decoding(editor: ExperimentEditor) -> Edit:
    """The model's own translation again, in place of a given one."""
    return set_output(editor.own_decoding)(editor)


def undo(editor: ExperimentEditor) -> Edit:
    """The previous experiment."""
    return Edit(editor.undo(), drops_misfits=True)


def redo(editor: ExperimentEditor) -> Edit:
    """The experiment that was undone."""
    return Edit(editor.redo(), drops_misfits=True)


def _source_checked(editor: ExperimentEditor, experiment: Experiment) -> Edit:
    dropped: list[Intervention] = []
    if experiment.source_edits != editor.experiment.source_edits:
        dropped = [row for row in experiment.attention_rows if row.head.kind != "decoder"]
        experiment = experiment.without(*dropped)
    return Edit(
        editor.push(experiment),
        counted_phrase("dropped_source", len(dropped), changes=named(dropped)),
    )


# --- notices --------------------------------------------------------------------------------------

GIVEN_DROPPED = (
    "Dropped: your translation, because the model chooses the other words. Undo restores it."
)


def dropped_notice(dropped: Sequence[Intervention], *, is_of_former: bool) -> str:
    """A notice of the interventions that the model left out; empty if there are none.

    `is_of_former`: whether the previous model accepted them.
    """
    undo = "With the previous model, undo restores" if is_of_former else ""
    why = f"because {'it does' if len(dropped) == 1 else 'they do'} not fit this model or sentence"
    return _dropped(why, dropped, undo)


def kept_notice(experiment: Experiment, previous: Experiment | None) -> str:
    """A sentence on the interventions kept from the previous model; empty if there are none.

    Args:
        experiment: the one requested from the model in use.
        previous: the one that undo restores. Undo removes the changes if they were the last step.
    """
    if not experiment.interventions:
        return ""
    it = "it" if len(experiment.interventions) == 1 else "them"
    by = "Undo" if previous == experiment.baseline else "“Reset”"
    return f"Kept from the previous model: {named(experiment.interventions)}. {by} takes {it} back."


def moved_notice(
    moved: Sequence[tuple[AttentionRow, AttentionRow]], dropped: Sequence[AttentionRow]
) -> str:
    """A notice of rows of attention that moved with their tokens, and of those without a token."""
    names = [
        phrase("moved_row", part=display_text(row.head.short_name), row=row.row + 1, now=at.row + 1)
        for row, at in moved
    ]
    notices = (
        counted_phrase("moved_tokens", len(moved), changes=", ".join(names)),
        counted_phrase("dropped_tokens", len(dropped), changes=named(dropped)),
    )
    return " ".join(filter(None, notices))


def refused_notice(experiment: Experiment, now: Experiment) -> str:
    """A notice of a refused experiment; `now` is in use."""
    if experiment.source_text != now.source_text:
        return phrase("still_shown")
    return phrase("taken_back", changes=_taken_back(experiment, now))


def cancelled_notice(experiment: Experiment, now: Experiment) -> str:
    """A notice of a cancelled experiment; `now` is in use."""
    if experiment == now:
        return (
            "Translating was cancelled. Press Enter in the sentence to translate it, or type "
            "another one."
        )
    if experiment.source_text != now.source_text:
        return (
            "Translating was cancelled; the previous sentence is still shown. Press Enter to "
            "translate the new one."
        )
    return f"Translating was cancelled; taken back: {_taken_back(experiment, now)}."


def _dropped(why: str, interventions: Sequence[Intervention], undo: str = "Undo restores") -> str:
    """A sentence on dropped interventions; empty if there are none.

    `undo` begins the sentence on restoring them.
    """
    if not interventions:
        return ""
    it = "it" if len(interventions) == 1 else "them"
    return f"Dropped {why}: {named(interventions)}." + (f" {undo} {it}." if undo else "")


def _taken_back(experiment: Experiment, now: Experiment) -> str:
    taken_back: list[Intervention | str] = [
        intervention
        for intervention in experiment.interventions
        if intervention not in now.interventions
    ]
    if isinstance(experiment.output, GivenTarget) and experiment.output != now.output:
        taken_back.append("the given translation")
    return named(taken_back) or phrase("last_change")


MAX_NAMED = 8


def named(changes: Sequence[Intervention | str], max_named: int = MAX_NAMED) -> str:
    """The first changes, and the number of the others: "cross 2·5 off, step 3: dog and 2 more"."""
    names = ", ".join(map(display_text, changes[:max_named]))
    num_more = len(changes) - max_named
    return phrase("more", words=names, count=num_more) if num_more > 0 else names
