"""Learning rates by step."""

import pytest

from augenmerk.core.config import ModelConfig, TrainingConfig
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.schedules import (
    cooldown_factor,
    describe_schedule,
    fitted_cooldown_epochs,
    fitted_to,
    learning_rate,
    noam_rate,
    schedule_in_short,
    warmup_optimizer_steps,
)


@pytest.mark.parametrize(("width", "warmup_steps"), [(512, 4000), (512, 8000), (256, 4000)])
def test_noam_rises_in_a_line_and_falls_with_the_root_of_the_step(
    width: int, warmup_steps: int
) -> None:
    peak = (width * warmup_steps) ** -0.5
    assert noam_rate(warmup_steps, width, 1.0, warmup_steps) == pytest.approx(peak)
    for step in (1, 2, 100, warmup_steps // 2):
        assert noam_rate(step, width, 1.0, warmup_steps) == pytest.approx(
            peak * step / warmup_steps
        )
    for step in (warmup_steps + 1, 2 * warmup_steps, 20_000):
        assert noam_rate(step, width, 1.0, warmup_steps) == pytest.approx(
            peak * (warmup_steps / step) ** 0.5
        )


@pytest.mark.parametrize(
    ("width", "warmup_steps", "step", "rate"),
    [
        (512, 4000, 1, 1.746928107421711e-07),
        (512, 4000, 4000, 6.987712429686843e-04),
        (512, 4000, 20_000, 3.125e-04),
        (512, 8000, 8000, 4.941058844013093e-04),
        (256, 4000, 4000, 9.882117688026186e-04),
    ],
)
def test_noam_at_single_steps(width: int, warmup_steps: int, step: int, rate: float) -> None:
    assert noam_rate(step, width, 1.0, warmup_steps) == pytest.approx(rate, rel=1e-12)


def test_the_factor_scales_the_whole_curve() -> None:
    assert noam_rate(77, 512, 0.5, 4000) == pytest.approx(0.5 * noam_rate(77, 512, 1.0, 4000))


def test_before_the_first_step_the_rate_is_that_of_the_first() -> None:
    assert noam_rate(0, 512, 1.0, 4000) == noam_rate(1, 512, 1.0, 4000)


def test_the_settings_choose_the_schedule() -> None:
    notebook, annotated = preset("notebook"), preset("annotated-2018")
    assert {learning_rate(step, notebook.model, notebook.training) for step in (1, 10, 10_000)} == {
        5e-4
    }
    assert learning_rate(2000, annotated.model, annotated.training) == pytest.approx(
        (512 * 2000) ** -0.5
    )
    narrow = TrainingConfig(schedule="noam", noam_factor=2.0, warmup_steps=100)
    assert learning_rate(100, ModelConfig(width=64), narrow) == pytest.approx(
        2 * (64 * 100) ** -0.5
    )


def test_the_schedule_of_2022_steps_with_every_micro_batch() -> None:
    """Its 3,000 steps of warm-up are 300 optimizer steps of ten batches each, and its highest rate
    is 8.1e-4."""
    run = preset("annotated-2022")
    rates = [learning_rate(step, run.model, run.training) for step in range(1, 729)]
    assert warmup_optimizer_steps(run.training) == 1 + max(range(728), key=rates.__getitem__) == 300
    assert max(rates) == pytest.approx(8.07e-4, rel=1e-3)
    assert rates == [noam_rate(10 * step, 512, 1.0, 3000) for step in range(1, 729)]


def test_counted_in_optimizer_steps_the_schedule_knows_nothing_of_micro_batches() -> None:
    run = preset("annotated-2022")
    training = run.training.replace(schedule_unit="optimizer-steps")
    assert warmup_optimizer_steps(training) == 3000
    assert learning_rate(300, run.model, training) == noam_rate(300, 512, 1.0, 3000)
    assert warmup_optimizer_steps(preset("notebook").training) == 0, (
        "a constant rate has no warm-up"
    )


def test_a_warm_up_that_is_no_multiple_ends_with_the_step_that_reaches_it() -> None:
    training = TrainingConfig(
        schedule="noam", warmup_steps=25, num_accumulated=10, schedule_unit="micro-batches"
    )
    assert warmup_optimizer_steps(training) == 3


def test_the_cooldown_falls_to_zero_over_its_epochs_and_leaves_the_rest_alone() -> None:
    assert [cooldown_factor(done, 10, 4) for done in (0, 5.9, 6, 7, 8.5, 10, 11)] == [
        1,
        1,
        1,
        0.75,
        0.375,
        0,
        0,
    ]
    assert cooldown_factor(9.9, 10, 0) == 1


def test_a_cool_down_falls_in_a_line_to_zero_at_the_end_of_the_run() -> None:
    factors = [
        cooldown_factor(epochs_done, 10, 4) for epochs_done in (0, 5.9, 6, 7, 8.5, 9.99, 10, 11)
    ]
    assert factors == pytest.approx([1, 1, 1, 0.75, 0.375, 0.0025, 0, 0])
    assert {cooldown_factor(epochs_done, 10, 0) for epochs_done in (0, 5, 10, 11)} == {1.0}


class TestShortRuns:
    ours = preset("multi30k").training

    def test_the_preset_as_it_is_keeps_its_schedule(self) -> None:
        assert fitted_to(self.ours, 170) is self.ours
        assert fitted_cooldown_epochs(self.ours) == 10
        assert describe_schedule(self.ours, 170) is None

    @pytest.mark.parametrize(
        ("num_epochs", "cooldown"), [(30, 10), (20, 10), (19, 9.5), (3, 1.5), (1, 0.5)]
    )
    def test_the_cool_down_is_at_most_half_of_the_run(
        self, num_epochs: int, cooldown: float
    ) -> None:
        training = self.ours.replace(num_epochs=num_epochs)
        assert fitted_cooldown_epochs(training) == cooldown
        assert fitted_cooldown_epochs(training.replace(fit_schedule=False)) == 10
        assert (describe_schedule(training) is None) == (cooldown == 10)

    @pytest.mark.parametrize("steps_per_epoch", [1, 6, 18, 170, 532, 534])
    def test_the_warm_up_is_at_most_a_quarter_and_rises_to_the_same_height(
        self, steps_per_epoch: int
    ) -> None:
        run, training = preset("multi30k"), self.ours.replace(num_epochs=3)
        fitted, total = fitted_to(training, steps_per_epoch), 3 * steps_per_epoch
        assert fitted.warmup_steps == max(1, min(400, total // 4))
        rates = [learning_rate(step, run.model, fitted) for step in range(1, total + 1)]
        assert rates.index(max(rates)) + 1 == fitted.warmup_steps
        assert max(rates) == pytest.approx(learning_rate(400, run.model, training))
        assert fitted_to(training.replace(fit_schedule=False), steps_per_epoch).warmup_steps == 400

    def test_a_step_limit_makes_a_run_short_too(self) -> None:
        assert fitted_to(self.ours.replace(max_steps=100), 170).warmup_steps == 25

    def test_micro_batches_are_the_unit_of_the_warm_up_where_they_are_that_of_the_schedule(
        self,
    ) -> None:
        training = preset("annotated-2022").training.replace(fit_schedule=True, num_epochs=1)
        assert fitted_to(training, 80).warmup_steps == 200
        assert warmup_optimizer_steps(fitted_to(training, 80)) == 20

    def test_published_presets_are_left_as_published(self) -> None:
        for name in (
            "annotated-2018",
            "annotated-2022",
            "notebook",
            "copy-task",
            "copy-task-small",
        ):
            training = preset(name).training
            assert fitted_to(training, 2) is training

    def test_it_is_said_in_words(self) -> None:
        assert describe_schedule(self.ours.replace(num_epochs=1)) == (
            "A run of 1 epoch is short for a cool-down of 10 epochs: the rate falls to zero over "
            "the last 0.5 epochs instead."
        )
        unfitted = self.ours.replace(num_epochs=3, fit_schedule=False)
        assert describe_schedule(unfitted, 6) == (
            "A run of 3 epochs is shorter than its cool-down of 10 epochs: the rate begins at "
            "30% and only falls. Raise num_epochs, lower cooldown_epochs, or set fit_schedule. "
            "The learning rate rises for 400 steps (warm-up), but this run has 18: it ends at 4% "
            "of the highest rate. Raise num_epochs, lower warmup_steps, or set fit_schedule."
        )

    def test_it_is_said_in_short(self) -> None:
        unfitted = self.ours.replace(num_epochs=3, fit_schedule=False)
        assert schedule_in_short(self.ours, 170) == ""
        assert schedule_in_short(self.ours.replace(num_epochs=1)) == "The cool-down is shortened."
        assert schedule_in_short(self.ours.replace(num_epochs=1), 6) == "The warm-up is shortened."
        assert schedule_in_short(unfitted) == "The rate begins at 30% and only falls."
        assert schedule_in_short(unfitted, 6) == "The rate ends at 4% of the highest."
