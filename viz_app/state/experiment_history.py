"""Undo and redo: a list of experiments and a place in it. No Qt."""

from core.translation.experiment import Experiment, GivenTarget, Output

MAX_REMEMBERED = 200


class ExperimentHistory:
    """All experiments of this window, the one in use among them.

    Attributes:
        current: the one in use.
    """

    def __init__(self, current: Experiment) -> None:
        self._past: list[Experiment] = []
        self._future: list[Experiment] = []
        self._whole: dict[Experiment, Experiment] = {}
        self.current = current

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
        return self._past[-1] if self._past else None

    @property
    def newest_own_output(self) -> Output | None:
        """The newest way to find the target, up to the current experiment, that is not a given target; None if none."""
        outputs = (each.output for each in (self.current, *reversed(self._past)))
        return next((each for each in outputs if not isinstance(each, GivenTarget)), None)

    def push(self, experiment: Experiment) -> None:
        """A new experiment takes over; what was undone before is gone."""
        if experiment == self.current:
            return
        self._past = [*self._past, self.current][-MAX_REMEMBERED:]
        self._future.clear()
        self.current = experiment

    def replace(self, experiment: Experiment) -> None:
        """The current one becomes another without a step to be undone: it could not be used as it was."""
        self.current = experiment

    def fit(self, experiment: Experiment) -> None:
        """The current one as far as the model in use takes it, without a step to be undone; see `restore`."""
        self._whole[experiment] = self._whole.get(self.current, self.current)
        self.current = experiment

    def restore(self) -> None:
        """Another model is in use: what was fitted to the former is whole again."""
        self._past = [self._whole.get(each, each) for each in self._past]
        self._future = [self._whole.get(each, each) for each in self._future]
        self.current = self._whole.get(self.current, self.current)
        self._whole.clear()

    def withdraw(self, shown: Experiment) -> None:
        """Forgets the current one, which was refused; `shown`, the nearest of that kind, takes its place.

        What lies between the two is kept: it is reached by redo, or by undo if the refused one was itself undone to.
        """
        back = next((steps for steps, each in enumerate(reversed(self._past)) if each == shown), None)
        forth = next((steps for steps, each in enumerate(reversed(self._future)) if each == shown), None)
        if forth is not None and (back is None or forth <= back):
            self._past, self._future = _moved(self._past, self._future, forth)
        elif back is not None:
            self._future, self._past = _moved(self._future, self._past, back)
        self.current = shown

    def undo(self) -> bool:
        """Goes back by one; False if there is none."""
        if not self._past:
            return False
        self._future.append(self.current)
        self.current = self._past.pop()
        return True

    def redo(self) -> bool:
        """Goes forward by one; False if there is none."""
        if not self._future:
            return False
        self._past.append(self.current)
        self.current = self._future.pop()
        return True


def _moved(
    onto: list[Experiment], off: list[Experiment], num_between: int
) -> tuple[list[Experiment], list[Experiment]]:
    """Two stacks after so many were taken off one and laid onto the other; the next one is taken off for good."""
    between = off[len(off) - num_between :]
    return [*onto, *reversed(between)], off[: len(off) - num_between - 1]
