"""The answer to a text that the model surely cannot read is withheld until the user asks for it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.result import Coverage, ExperimentResult
from augenmerk.viz_app.state.experiment_editor import (
    Edit,
    Intent,
    edit_text,
    open_experiment,
    show_experiment,
    toggle,
    undo,
)
from augenmerk.viz_app.state.experiment_state import Current, Empty, ExperimentState, Stale
from augenmerk.viz_app.state.marks import experiment_of_marks
from augenmerk.viz_app.views.commands import NEXT_MAPS, PART_COMMANDS, SWITCH_HEAD
from augenmerk.viz_app.worker.jobs import describe
from tests.viz_app.synthetic import FakeTranslator, make_result, make_translation

GERMAN, ENGLISH, HEADLINE = "ein mann", "the man is here", "Bundestag tagt"
MODEL = describe(FakeTranslator(None, "cpu"))  # type: ignore[arg-type]
FOREIGN, UNUSUAL = Coverage((), True, is_foreign=True), Coverage((), True)


def answer(text: str, coverage: Coverage | None = None) -> ExperimentResult:
    return make_result(replace(make_translation(text=text), coverage=coverage))


@pytest.fixture
def state() -> ExperimentState:
    """It shows a German sentence."""
    state = ExperimentState()
    state.begin_model(MODEL)
    type_text(state, GERMAN, Coverage((), False))
    return state


def type_text(state: ExperimentState, text: str, coverage: Coverage | None) -> None:
    state.submit(edit_text(text))
    state.accept(answer(text, coverage))


def test_a_foreign_text_leaves_the_last_result_outdated(state: ExperimentState) -> None:
    type_text(state, ENGLISH, FOREIGN)
    assert isinstance(state.shown, Stale)
    assert state.shown.is_outdated
    assert state.translation is not None
    assert state.translation.source_text == GERMAN
    assert state.latest is state.withheld is not None
    assert state.withheld.experiment.source_text == ENGLISH
    assert state.experiment.source_text == ENGLISH


def test_a_foreign_first_text_shows_nothing() -> None:
    state = ExperimentState()
    state.begin_model(MODEL)
    type_text(state, ENGLISH, FOREIGN)
    assert isinstance(state.shown, Empty)
    assert state.withheld is not None


def test_the_user_can_ask_for_it_and_for_edits_of_it_but_not_for_good(
    state: ExperimentState,
) -> None:
    type_text(state, ENGLISH, FOREIGN)
    state.show_withheld()
    assert (state.withheld, state.translation.source_text) == (None, ENGLISH)  # type: ignore[union-attr]
    assert isinstance(state.shown, Current)
    type_text(state, f"{ENGLISH} too", FOREIGN)
    type_text(state, HEADLINE, UNUSUAL)
    type_text(state, ENGLISH, FOREIGN)
    assert state.withheld is None
    type_text(state, GERMAN, Coverage((), False))
    type_text(state, ENGLISH, FOREIGN)
    assert state.withheld is not None


def test_a_cleared_field_ends_the_permission(state: ExperimentState) -> None:
    type_text(state, ENGLISH, FOREIGN)
    state.show_withheld()
    state.clear()
    type_text(state, ENGLISH, FOREIGN)
    assert state.withheld is not None


@pytest.mark.parametrize("coverage", [None, UNUSUAL, Coverage((), False)])
def test_other_texts_are_shown(state: ExperimentState, coverage: Coverage | None) -> None:
    type_text(state, HEADLINE, coverage)
    assert isinstance(state.shown, Current)
    assert state.withheld is None


@pytest.mark.parametrize("meant", [open_experiment, show_experiment])
def test_texts_of_files_lessons_and_the_gallery_are_shown(
    state: ExperimentState, meant: Callable[[Experiment], Intent]
) -> None:
    state.submit(meant(Experiment(ENGLISH)))
    state.accept(answer(ENGLISH, FOREIGN))
    assert isinstance(state.shown, Current)


def test_undo_returns_to_the_result_that_stayed(state: ExperimentState) -> None:
    type_text(state, ENGLISH, FOREIGN)
    state.submit(undo)
    state.accept(answer(GERMAN, Coverage((), False)))
    assert isinstance(state.shown, Current)
    assert (state.withheld, state.experiment.source_text) == (None, GERMAN)


def test_undo_shows_again_what_the_user_asked_for_and_nothing_else(state: ExperimentState) -> None:
    type_text(state, HEADLINE, FOREIGN)
    type_text(state, ENGLISH, FOREIGN)
    state.show_withheld()
    type_text(state, GERMAN, Coverage((), False))
    state.submit(undo)
    state.accept(answer(ENGLISH, FOREIGN))
    assert isinstance(state.shown, Current)
    state.submit(undo)
    state.accept(answer(HEADLINE, FOREIGN))
    assert state.withheld is not None, "the user did not ask for this one"


@pytest.mark.parametrize("is_asked", [False, True])
def test_an_earlier_screen_comes_back_withheld_or_shown_as_it_was(
    state: ExperimentState, is_asked: bool
) -> None:
    type_text(state, ENGLISH, FOREIGN)
    if is_asked:
        state.show_withheld()
    earlier = state.editor
    state.submit(open_experiment(Experiment(HEADLINE), forgets_history=True))
    state.accept(answer(HEADLINE, UNUSUAL))
    state.submit(lambda _editor: Edit(earlier), asks=False)
    state.intents.view_next = lambda: setattr(state.settings, "shown", "original")
    state.submit(open_experiment(Experiment(ENGLISH), shows_foreign=False))
    experiments: list[Experiment] = []
    state.experiment_changed.connect(experiments.append)
    state.accept(answer(ENGLISH, FOREIGN))
    assert (state.withheld is None) is is_asked
    assert state.intents.view_next is None
    assert (state.settings.shown, experiments) == ("original", [Experiment(ENGLISH)])
    type_text(state, f"{ENGLISH} too", FOREIGN)
    assert (state.withheld is None) is is_asked


def test_another_model_answers_for_itself(state: ExperimentState) -> None:
    type_text(state, ENGLISH, FOREIGN)
    state.begin_model(replace(MODEL, digest="f" * 64))
    assert state.withheld is None
    state.ask_again()
    state.accept(answer(ENGLISH))
    assert isinstance(state.shown, Current)


def test_maps_of_the_last_sentence_are_not_marked_with_changes_of_the_withheld_one(
    state: ExperimentState,
) -> None:
    type_text(state, ENGLISH, FOREIGN)
    state.submit(toggle(state.selection.head))
    assert state.experiment.heads_off
    assert not experiment_of_marks(state).heads_off
    state.show_withheld()
    assert experiment_of_marks(state) is state.experiment


def test_commands_do_not_act_while_the_answer_is_withheld(state: ExperimentState) -> None:
    off = toggle(state.selection.head)
    state.submit(off)
    changed = replace(make_translation(text=GERMAN), experiment=state.experiment)
    state.accept(make_result(changed, make_translation(text=GERMAN)))
    assert all(command.is_offered(state) for command in (SWITCH_HEAD, NEXT_MAPS, *PART_COMMANDS))
    type_text(state, ENGLISH, FOREIGN)
    experiment, shown = state.experiment, state.settings.shown
    for command in (SWITCH_HEAD, NEXT_MAPS, *PART_COMMANDS):
        assert not command.is_offered(state), command.title
    for command in (SWITCH_HEAD, NEXT_MAPS):
        assert not command.on(state).run()
    assert (state.experiment, state.settings.shown) == (experiment, shown)
