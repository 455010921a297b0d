"""The time that drawing may take."""

from augenmerk.viz_app.train.run.controller import DrawBudget


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_drawing_of_ten_milliseconds_waits_for_its_share() -> None:
    clock = Clock()
    budget = DrawBudget(0.1, clock)
    assert budget.allows
    with budget.spend():
        clock.now += 0.010
    assert not budget.allows
    clock.now += 0.089
    assert not budget.allows
    clock.now += 0.002
    assert budget.allows


def test_a_drawing_that_costs_nothing_never_waits() -> None:
    budget = DrawBudget(0.1, Clock())
    with budget.spend():
        pass
    assert budget.allows
