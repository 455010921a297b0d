"""Undo and redo: a list of experiments and a place in it. No Qt."""

from dataclasses import dataclass

from augenmerk.core.translation.experiment import Experiment, GivenTarget, Output

MAX_REMEMBERED = 200


@dataclass(frozen=True)
class _Step:
    """One place in the history.

    Attributes:
        experiment: what was asked for.
        whole: the same before it was fitted to the model in use; None if it was not.
    """

    experiment: Experiment
    whole: Experiment | None = None

    def restored(self) -> "_Step":
        return self if self.whole is None else _Step(self.whole)


class ExperimentHistory:
    """All experiments of this window, the one in use among them."""

    def __init__(self, current: Experiment) -> None:
        self._past: list[_Step] = []
        self._future: list[_Step] = []
        self._step = _Step(current)

    @property
    def current(self) -> Experiment:
        """The experiment in use."""
        return self._step.experiment

    @property
    def can_undo(self) -> bool:
        """Whether there is an earlier one."""
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        """Whether something was undone."""
        return bool(self._future)

    @property
    def previous(self) -> Experiment | None:
        """The one that undo goes back to; None if there is none."""
        return self._past[-1].experiment if self._past else None

    @property
    def newest_own_output(self) -> Output | None:
        """The newest way to find the target, up to the current experiment, that is not a given target; None if none."""
        outputs = (each.experiment.output for each in (self._step, *reversed(self._past)))
        return next((each for each in outputs if not isinstance(each, GivenTarget)), None)

    def push(self, experiment: Experiment) -> None:
        """A new experiment takes over; what was undone before is gone."""
        if experiment == self.current:
            return
        self._past = [*self._past, self._step][-MAX_REMEMBERED:]
        self._future.clear()
        self._step = _Step(experiment)

    def replace(self, experiment: Experiment) -> None:
        """The current one becomes another without a step to be undone: it could not be used as it was."""
        self._step = _Step(experiment)

    def fit(self, experiment: Experiment) -> None:
        """The current one as far as the model in use takes it, without a step to be undone; see `restore`."""
        self._step = _Step(experiment, self._step.whole or self.current)

    def restore(self) -> None:
        """Another model is in use: what was fitted to the former is whole again.

        That holds for these steps alone: the same experiment, if the user came to it in another way, stays what it is.
        """
        self._past = [each.restored() for each in self._past]
        self._future = [each.restored() for each in self._future]
        self._step = self._step.restored()

    def withdraw(self, shown: Experiment) -> None:
        """Forgets the current one, which was refused; `shown`, the nearest of that kind, takes its place.

        What lies between the two is kept: it is reached by redo, or by undo if the refused one was itself undone to.
        """
        back = _nearest(self._past, shown)
        forth = _nearest(self._future, shown)
        if forth is not None and (back is None or forth <= back):
            self._past, self._future, self._step = _moved(self._past, self._future, forth)
        elif back is not None:
            self._future, self._past, self._step = _moved(self._future, self._past, back)
        else:
            self._step = _Step(shown)

    def undo(self) -> bool:
        """Goes back by one; False if there is none."""
        if not self._past:
            return False
        self._future.append(self._step)
        self._step = self._past.pop()
        return True

    def redo(self) -> bool:
        """Goes forward by one; False if there is none."""
        if not self._future:
            return False
        self._past.append(self._step)
        self._step = self._future.pop()
        return True


def _nearest(steps: list[_Step], shown: Experiment) -> int | None:
    """How many steps lie above the uppermost with this experiment; None if there is none."""
    return next((above for above, each in enumerate(reversed(steps)) if each.experiment == shown), None)


def _moved(onto: list[_Step], off: list[_Step], num_between: int) -> tuple[list[_Step], list[_Step], _Step]:
    """Two stacks after so many were taken off one and laid onto the other, and the next one, taken off for good."""
    rest, between = off[: len(off) - num_between - 1], off[len(off) - num_between :]
    return [*onto, *reversed(between)], rest, off[len(off) - num_between - 1]
