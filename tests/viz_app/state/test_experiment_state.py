"""One experiment on the screen: what the user does to it, what is kept and dropped, undo and redo,
without a window."""

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.device import DeviceChoice
from augenmerk.core.errors import ExperimentError
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.maps.roles import Role, SampleRoles
from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Beam,
    CausalMaskLifted,
    Experiment,
    ForcedToken,
    GivenTarget,
    Greedy,
    HeadScaled,
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.result import ExperimentResult
from augenmerk.viz_app.state.experiment_editor import (
    GIVEN_DROPPED,
    ExperimentEditor,
    Step,
    edit_text,
    force,
    intervene,
    open_experiment,
    redo,
    remove,
    reset,
    set_output,
    show_experiment,
    toggle,
    undo,
    use_own_decoding,
)
from augenmerk.viz_app.state.experiment_state import (
    Current,
    Empty,
    ExperimentRequest,
    ExperimentState,
    Stale,
)
from augenmerk.viz_app.state.languages import languages_of
from augenmerk.viz_app.state.map_view import MapSelection, Pair
from augenmerk.viz_app.state.map_view_settings import MapViewSettings
from augenmerk.viz_app.state.model_info import ModelInfo
from tests.viz_app.builders import state_of
from tests.viz_app.synthetic import make_result, make_translation

HEAD = Head("cross", 1, 4)
OFF, FORCED = HeadScaled(HEAD), ForcedToken(2, "dog")
ROW = AttentionRow(Head("cross", 0, 0), 1, (0.5, 0.5))
MODEL = ModelInfo(
    "one", Path("one.safetensors"), preset("notebook"), DeviceChoice("cpu", "requested"), 1
)


class Asked:
    """Counts what a state asks for."""

    def __init__(self, state: ExperimentState) -> None:
        self.requests: list[ExperimentRequest] = []
        state.experiment_asked.connect(self.requests.append)

    @property
    def experiments(self) -> list[Experiment]:
        return [request.experiment for request in self.requests]


@pytest.fixture
def state() -> ExperimentState:
    return state_of("ein mann schläft .", "a man sleeps .", model=MODEL)


def test_every_change_asks_once_for_the_new_experiment(state: ExperimentState) -> None:
    asked = Asked(state)
    state.submit(toggle(HEAD))
    state.submit(force(2, "dog"))
    state.submit(intervene(SourceWordRemoved(1)))
    assert [len(experiment.interventions) for experiment in asked.experiments] == [1, 2, 3]
    assert asked.experiments[-1].interventions == (SourceWordRemoved(1), OFF, FORCED)


def test_what_changes_nothing_asks_for_nothing(state: ExperimentState) -> None:
    asked = Asked(state)
    state.submit(edit_text("ein mann schläft ."))
    state.submit(remove(OFF))
    state.submit(reset)
    assert asked.experiments == []
    assert not state.editor.can_undo


def test_an_intent_leaves_the_editor_that_it_began_with_unchanged() -> None:
    first = ExperimentEditor(Step(Experiment("ein mann", Greedy(), (OFF,))))
    second = edit_text("zwei hunde")(first).editor
    assert (first.experiment.source_text, first.can_undo) == ("ein mann", False)
    assert (second.experiment, second.previous) == (
        Experiment("zwei hunde", Greedy(), (OFF,)),
        first.experiment,
    )
    assert undo(second).editor.experiment == first.experiment
    assert undo(first).editor is first


def test_without_a_model_nothing_is_asked_until_it_is_there() -> None:
    state = ExperimentState()
    asked = Asked(state)
    state.submit(edit_text("ein mann"))
    assert (asked.requests, state.request.is_running) == ([], False)
    state.begin_model(MODEL)
    state.ask_again()
    assert asked.experiments == [Experiment("ein mann")]
    assert state.request.is_running


def test_a_result_is_empty_then_current_then_stale_until_the_next_model_answers() -> None:
    state = ExperimentState()
    shown: list[type] = []
    state.result_changed.connect(lambda now: shown.append(type(now)))
    state.begin_model(MODEL)
    assert (state.result, state.current) == (None, None)
    state.accept(make_result(make_translation()))
    assert state.current is state.result is not None
    state.begin_model(replace(MODEL, name="two"))
    assert isinstance(state.shown, Stale)
    assert state.current is None
    assert state.result is not None
    state.submit(edit_text("zwei hunde"))
    state.refuse("This model cannot translate.")
    assert shown == [Current, Empty], "nothing of the model that refuses can be shown"


def test_a_head_is_toggled_off_and_on(state: ExperimentState) -> None:
    state.submit(toggle(HEAD))
    assert HEAD in state.experiment.heads_off
    state.submit(toggle(HEAD))
    assert state.experiment.interventions == ()


def test_undo_and_redo_walk_through_experiments_text_included(state: ExperimentState) -> None:
    state.submit(toggle(HEAD))
    state.submit(edit_text("zwei hunde"))
    asked = Asked(state)
    state.submit(undo)
    assert state.experiment == Experiment("ein mann schläft .", Greedy(), (OFF,))
    state.submit(undo)
    assert state.experiment == Experiment("ein mann schläft .")
    assert not state.editor.can_undo
    state.submit(undo)
    state.submit(redo)
    state.submit(redo)
    assert state.experiment == Experiment("zwei hunde", Greedy(), (OFF,))
    assert not state.editor.can_redo
    assert len(asked.experiments) == 4


def test_a_new_change_forgets_what_was_undone(state: ExperimentState) -> None:
    state.submit(toggle(HEAD))
    state.submit(undo)
    state.submit(force(1, "dog"))
    assert not state.editor.can_redo


def test_another_sentence_keeps_heads_drops_the_rest_names_it_and_can_be_undone(
    state: ExperimentState,
) -> None:
    state.submit(intervene(OFF, FORCED, SourceWordReplaced(1, "Hund")))
    state.submit(edit_text("zwei hunde"))
    assert state.experiment == Experiment("zwei hunde", Greedy(), (OFF,))
    assert state.notice == (
        "Dropped with the sentence that they belong to: word 2 → Hund, step 3: dog. Undo "
        "restores them."
    )
    state.submit(undo)
    assert len(state.experiment.interventions) == 3
    assert state.notice == ""
    state.submit(remove(SourceWordReplaced(1, "Hund")))
    state.submit(edit_text("zwei hunde"))
    assert (
        state.notice
        == "Dropped with the sentence that it belongs to: step 3: dog. Undo restores it."
    )


def test_a_given_target_belongs_to_its_sentence(state: ExperimentState) -> None:
    state.submit(set_output(GivenTarget("a man rests")))
    state.submit(edit_text("zwei hunde"))
    assert state.experiment.output == Greedy()


def test_another_beam_stays_for_the_next_sentence(state: ExperimentState) -> None:
    state.submit(set_output(Beam(4)))
    state.submit(edit_text("zwei hunde"))
    assert state.experiment.output == Beam(4)


def test_a_beam_comes_back_when_the_given_target_goes(state: ExperimentState) -> None:
    state.submit(set_output(Beam(4)))
    state.submit(set_output(GivenTarget("a man rests")))
    state.submit(set_output(GivenTarget("a man sleeps")))
    state.submit(use_own_decoding)
    assert state.experiment.output == Beam(4)
    state.submit(set_output(GivenTarget("a man rests")))
    state.submit(edit_text("zwei hunde"))
    assert state.experiment.output == Beam(4)
    state.submit(set_output(GivenTarget("two dogs")))
    state.submit(force(0, "some"))
    assert state.experiment.output == Beam(4)
    state.submit(undo)
    state.submit(undo)
    assert state.editor.own_decoding == Beam(4)


def test_giving_a_target_drops_forced_tokens_and_says_so(state: ExperimentState) -> None:
    state.submit(intervene(OFF, FORCED))
    state.submit(set_output(GivenTarget("a man rests")))
    assert state.experiment.interventions == (OFF,)
    assert "step 3: dog" in state.notice
    state.submit(use_own_decoding)
    assert state.experiment.output == Greedy()


def test_forcing_a_token_while_a_target_is_given_lets_the_model_decode_again(
    state: ExperimentState,
) -> None:
    state.submit(set_output(GivenTarget("a man rests")))
    state.submit(force(1, "dog"))
    assert state.experiment == Experiment("ein mann schläft .", Greedy(), (ForcedToken(1, "dog"),))


def test_the_mask_is_lifted_only_while_a_target_is_given(state: ExperimentState) -> None:
    state.submit(set_output(GivenTarget("a man rests")))
    state.submit(intervene(CausalMaskLifted(), OFF))
    state.submit(use_own_decoding)
    assert state.experiment == Experiment("ein mann schläft .", Greedy(), (OFF,))
    assert "causal mask lifted" in state.notice
    state.submit(undo)
    state.submit(force(1, "dog"))
    assert state.experiment == Experiment(
        "ein mann schläft .", Greedy(), (OFF, ForcedToken(1, "dog"))
    )


def test_a_word_of_several_pieces_forces_several_steps(state: ExperimentState) -> None:
    state.submit(force(1, "sleep", "ing"))
    assert state.experiment.forced == (ForcedToken(1, "sleep"), ForcedToken(2, "ing"))


def test_a_changed_source_drops_rows_over_it(state: ExperimentState) -> None:
    decoder_row = AttentionRow(Head("decoder", 0, 0), 1, (0.5, 0.5))
    state.submit(intervene(ROW, decoder_row))
    state.submit(intervene(SourceWordRemoved(0)))
    assert state.experiment.interventions == (SourceWordRemoved(0), decoder_row)
    assert "cross 1·1 row 2 set" in state.notice


def test_two_changes_of_the_same_thing_at_once_are_refused_and_nothing_changes(
    state: ExperimentState,
) -> None:
    before = state.experiment
    with pytest.raises(ExperimentError, match="change the same thing"):
        state.submit(intervene(SourceWordRemoved(0), SourceWordReplaced(0, "zwei")))
    assert state.experiment is before


def fitting(state: ExperimentState) -> ExperimentResult:
    """The answer of a model that has not the head that is off."""
    changed = make_translation(
        "ein mann schläft .", "a dog", experiment=state.experiment.without(OFF)
    )
    return replace(make_result(changed, make_translation()), dropped=(OFF,))


def test_what_does_not_fit_is_dropped_from_the_experiment_and_named(state: ExperimentState) -> None:
    asked = Asked(state)
    state.submit(open_experiment(Experiment("ein mann schläft .", Greedy(), (OFF, FORCED))))
    assert asked.requests[-1].drops_misfits
    state.accept(fitting(state))
    assert state.experiment.interventions == (FORCED,)
    assert state.notice == "Dropped because it does not fit this model or sentence: cross 2·5 off."


def test_what_another_model_cannot_use_comes_back_by_undo_with_the_former_one(
    state: ExperimentState,
) -> None:
    state.submit(intervene(OFF, FORCED))
    whole = state.experiment
    state.begin_model(replace(MODEL, name="two"))
    state.ask_again()
    state.accept(fitting(state))
    assert state.experiment.interventions == (FORCED,)
    assert "cross 2·5 off. With the previous model, undo restores it." in state.notice
    state.begin_model(MODEL)
    state.ask_again()
    state.accept(
        make_result(make_translation("ein mann schläft .", "a dog", experiment=state.experiment))
    )
    state.submit(undo)
    assert state.experiment == whole


def test_what_another_model_keeps_is_told_and_taken_back_by_undo(state: ExperimentState) -> None:
    def answer() -> None:
        state.accept(make_result(make_translation(experiment=state.experiment)))

    state.submit(intervene(OFF))
    answer()
    assert state.notice == ""
    state.begin_model(replace(MODEL, name="two"))
    state.ask_again()
    answer()
    assert state.notice == "Kept from the previous model: cross 2·5 off. Undo takes it back."
    state.submit(undo)
    assert state.notice == ""
    assert state.experiment.interventions == ()
    state.submit(redo)
    state.submit(intervene(FORCED))
    answer()
    state.begin_model(MODEL)
    state.ask_again()
    answer()
    assert state.notice.endswith("“Reset” takes them back."), (
        "undo takes back the last of them alone"
    )


def test_a_change_made_before_another_model_has_answered_drops_what_does_not_fit_too(
    state: ExperimentState,
) -> None:
    asked = Asked(state)
    state.submit(intervene(OFF))
    state.begin_model(replace(MODEL, name="two"))
    state.submit(force(2, "dog"))
    assert [request.drops_misfits for request in asked.requests] == [False, True]
    assert [request.known is None for request in asked.requests] == [False, True], (
        "nothing is known of the other model"
    )


def test_a_refused_change_is_taken_back_and_named_while_the_screen_stays(
    state: ExperimentState,
) -> None:
    state.submit(intervene(OFF))
    state.accept(make_result(make_translation(experiment=state.experiment)))
    shown, asked = state.result, Asked(state)
    state.submit(force(2, "unknown"))
    state.request.begin()
    state.refuse("There is no such token.")
    assert state.result is shown
    assert state.experiment == Experiment("ein mann schläft .", Greedy(), (OFF,))
    assert state.request.problem == (
        "There is no such token. Not applied: step 3: unknown.\nThere is no such token."
    )
    assert not state.editor.can_redo
    state.submit(undo)
    assert state.experiment == Experiment("ein mann schläft .")
    assert len(asked.experiments) == 2, "nobody computes again what is on the screen"


def test_the_same_change_can_be_tried_again_after_its_refusal(state: ExperimentState) -> None:
    asked = Asked(state)
    for _ in range(2):
        state.submit(force(2, "unknown"))
        state.request.begin()
        state.refuse("There is no such token.")
    assert len(asked.experiments) == 2


def test_what_was_asked_before_a_refused_change_and_not_answered_is_reached_by_redo(
    state: ExperimentState,
) -> None:
    state.submit(intervene(OFF))
    state.submit(force(2, "unknown"))
    state.refuse("There is no such token.")
    assert state.experiment.interventions == ()
    state.submit(redo)
    assert state.experiment.interventions == (OFF,)
    assert not state.editor.can_redo


def test_one_that_undo_came_to_and_that_is_refused_does_not_stand_in_the_way(
    state: ExperimentState,
) -> None:
    sentence = state.experiment.source_text
    state.submit(set_output(GivenTarget("someone sleeps")))
    state.submit(edit_text("zwei hunde"))
    state.accept(make_result(make_translation("zwei hunde")))
    state.submit(undo)
    state.refuse("The given translation is too long.")
    assert state.experiment == Experiment("zwei hunde")
    state.submit(undo)
    assert state.experiment == Experiment(sentence)
    state.submit(redo)
    assert state.experiment == Experiment("zwei hunde")


def test_between_equal_experiments_a_refusal_leads_back_to_where_it_came_from(
    state: ExperimentState,
) -> None:
    state.submit(intervene(OFF))
    state.accept(make_result(make_translation(experiment=state.experiment)))
    state.submit(remove(OFF))
    state.accept(make_result(make_translation(experiment=state.experiment)))
    state.submit(undo)
    state.refuse("Not any more.")
    assert state.experiment.interventions == ()
    assert state.editor.can_undo
    assert not state.editor.can_redo


def test_where_nothing_is_shown_yet_a_refusal_leaves_the_plain_sentence(
    state: ExperimentState,
) -> None:
    state = ExperimentState()
    state.begin_model(MODEL)
    asked = Asked(state)
    state.submit(
        open_experiment(
            Experiment("ein mann", GivenTarget("x " * 900), (OFF,)), forgets_history=True
        )
    )
    state.refuse("The given translation is too long.")
    assert asked.experiments[-1] == state.experiment == Experiment("ein mann")
    assert (
        "Not applied: cross 2·5 off, the given translation. The given translation" in state.notice
    )
    assert not state.editor.can_undo
    state.refuse("The sentence is too long.")
    assert len(asked.experiments) == 2, "there is nothing plainer to ask for"


def test_a_refusal_by_one_model_is_not_shown_beside_the_result_of_the_next(
    state: ExperimentState,
) -> None:
    state.submit(intervene(OFF))
    state.accept(make_result(make_translation(experiment=state.experiment)))
    state.begin_model(replace(MODEL, name="broken"))
    state.ask_again()
    for _ in range(2):  # the experiment, then the plain sentence
        state.request.begin()
        state.refuse("This model cannot translate.")
    assert "cannot translate" in state.notice
    state.begin_model(MODEL)
    state.ask_again()
    state.request.begin()
    state.accept(make_result(make_translation(experiment=state.experiment)))
    assert not state.notice
    assert not state.request.problem


def test_a_notice_from_before_the_first_model_is_kept(state: ExperimentState) -> None:
    state = ExperimentState()
    state.submit(
        open_experiment(Experiment("ein mann", Greedy(), (FORCED,)), forgets_history=True),
        asks=False,
    )
    state.prepare_text("zwei hunde")
    state.begin_model(MODEL)
    assert "step 3: dog" in state.notice


def test_another_model_that_refuses_a_given_target_is_asked_for_its_own(
    state: ExperimentState,
) -> None:
    state.submit(set_output(GivenTarget("a person")))
    state.accept(make_result(make_translation(experiment=state.experiment)))
    state.begin_model(replace(MODEL, name="two"))
    state.ask_again()
    state.refuse("The given translation is too long.")
    assert state.experiment == Experiment("ein mann schläft .")
    state.accept(make_result(make_translation(experiment=state.experiment)))
    state.submit(undo)
    assert state.experiment.output == GivenTarget("a person"), (
        "of use once the previous model is open again"
    )


def test_what_is_shown_is_outdated_from_the_next_model_to_its_first_answer(
    state: ExperimentState,
) -> None:
    state.begin_model(replace(MODEL, name="two"))
    assert isinstance(state.shown, Stale)
    state.accept(make_result(make_translation()))
    assert not isinstance(state.shown, Stale)
    assert not isinstance(ExperimentState().shown, Stale)


def in_use(state: ExperimentState) -> tuple[str, str]:
    """The languages of the model in use."""
    assert state.model is not None
    return languages_of(state.model, state.experiment.source_text)


def in_languages(name: str, source: str, target: str) -> ModelInfo:
    run = MODEL.run
    return replace(
        MODEL,
        name=name,
        run=replace(run, data=replace(run.data, source_language=source, target_language=target)),
    )


def test_what_is_shown_is_told_of_in_the_languages_of_the_model_that_made_it(
    state: ExperimentState,
) -> None:
    assert state.languages == ("German", "English")
    state.begin_model(in_languages("two", "fr", "nl"))
    assert state.languages == ("German", "English"), (
        "the first answer of the next model is still to come"
    )
    assert in_use(state) == ("French", "Dutch")
    assert state.shown.model == MODEL
    state.accept(make_result(make_translation()))
    assert state.languages == in_use(state) == ("French", "Dutch")
    assert state.shown.model == state.model
    state.begin_model(MODEL)
    state.clear()
    assert state.languages == ("German", "English"), "nothing is shown: those of the model in use"
    assert state.shown.model is None


def test_the_target_language_of_what_is_shown_is_that_of_its_own_sentence(
    state: ExperimentState,
) -> None:
    """Of a model of several languages; another sentence, with another code, is being translated."""
    state.begin_model(replace(MODEL, name="many", target_codes=(">>fra<<", ">>nld<<")))
    for code, name, shown in ((">>fra<<", "French", "English"), (">>nld<<", "Dutch", "French")):
        state.submit(edit_text(f"{code} ein mann"))
        assert in_use(state) == ("German", name)
        assert state.languages == ("German", shown)
        state.accept(make_result(make_translation(experiment=state.experiment)))
        assert state.languages == ("German", name)


def test_another_model_brings_its_own_roles_with_its_first_answer(state: ExperimentState) -> None:
    def all_of(role: Role) -> SampleRoles:
        return SampleRoles(dict.fromkeys(ATTENTION_KINDS, ((role,) * 8,) * 3), "9 pairs")

    head = state.selection.head
    state.take_roles(all_of("previous"))
    state.begin_model(replace(MODEL, name="two"))
    assert state.roles.of(head) == "previous", "what is shown is still of the earlier model"
    state.accept(make_result(make_translation()))
    assert state.roles.sample is None
    state.begin_model(replace(MODEL, name="three", roles=all_of("self")))
    state.accept(make_result(make_translation()))
    assert state.roles.count() == {"self": 72}


def test_a_head_is_kept_where_the_next_model_has_it_else_the_nearest(
    state: ExperimentState,
) -> None:
    state.intents.choose_head(Head("decoder", 2, 7))
    state.accept(make_result(make_translation(num_layers=2, num_heads=4)))
    assert state.selection.head == Head("decoder", 1, 3)


def test_the_clearest_head_is_picked_once_until_somebody_chooses() -> None:
    state, first = ExperimentState(), make_translation()
    maps = np.full_like(first.maps.cross, 1 / first.maps.cross.shape[-1])
    maps[1, 5] = np.eye(*maps.shape[-2:])
    first = replace(first, attention=replace(first.maps, cross=maps))
    state.accept(ExperimentResult.of(first))
    assert state.selection.head == Head("cross", 1, 5)
    state.accept(ExperimentResult.of(make_translation()))
    assert state.selection.head == Head("cross", 1, 5)


def test_marks_go_with_the_translation_and_stay_with_another_head(state: ExperimentState) -> None:
    state.selection.pin(Pair(1, 1))
    state.intents.choose_head(Head(state.selection.head.kind, 2, 2))
    assert state.selection.pinned == Pair(1, 1)
    state.intents.choose_head(Head("encoder", 0, 0))
    assert state.selection.pinned is None
    state.selection.pin(Pair(1, 1))
    state.accept(make_result(make_translation("zwei", "two")))
    assert state.selection.pinned is None


def test_a_pin_stays_where_the_next_maps_have_the_same_two_tokens(state: ExperimentState) -> None:
    sentence = "ein mann steht ."
    state.show_translation(make_translation(sentence, "a man is standing ."))
    state.intents.choose_head(Head("cross", 1, 2))
    seen: list[Pair | None] = []
    state.selection.events.pinned.connect(lambda now, before: seen.append(now))
    state.selection.pin(Pair(3, 3))  # standing → steht
    state.accept(
        make_result(make_translation(sentence, "one man is standing ."), state.translation)
    )
    assert seen == [Pair(3, 3)], "it was not let go in between"
    state.accept(
        make_result(make_translation(sentence, "one young man is standing ."), state.original)
    )
    assert state.selection.pinned == Pair(4, 3), "its word stands one step later"
    state.accept(
        make_result(make_translation("ein steht .", "one man is standing ."), state.original)
    )
    assert state.selection.pinned == Pair(3, 2)
    state.accept(make_result(make_translation("ein steht .", "one man rests ."), state.original))
    assert state.selection.pinned is None


def test_a_pin_in_a_head_that_a_smaller_model_lacks_is_let_go_before_its_maps_are_shown(
    state: ExperimentState,
) -> None:
    sentence, target = "ein mann steht .", "a man is standing ."
    state.show_translation(make_translation(sentence, target))
    state.intents.choose_head(Head("cross", 1, 3))
    state.selection.pin(Pair(3, 3))
    for changed in ("pinned", "head"):
        getattr(state.selection.events, changed).connect(lambda now, before: state.maps.view())
    state.accept(
        ExperimentResult.of(make_translation(sentence, f"one {target}", num_layers=1, num_heads=2))
    )
    assert state.selection.head == Head("cross", 0, 1)
    assert state.selection.pinned is None


def test_a_pin_stands_for_the_same_tokens_in_the_original_and_in_the_changed_maps(
    state: ExperimentState,
) -> None:
    original = make_translation("ein mann steht .", "a man is standing .")
    removed = SourceWordRemoved(0)
    changed = make_translation("mann steht .", "man is standing .", interventions=(removed,))
    state.accept(make_result(changed, original))
    state.intents.choose_head(Head("cross", 1, 2))
    state.selection.pin(Pair(2, 2))  # standing → steht
    state.settings.shown = "original"
    assert state.selection.pinned == Pair(3, 3)
    state.settings.shown = "changed"
    assert state.selection.pinned == Pair(2, 2)
    state.settings.shown = "difference"
    assert state.selection.pinned == Pair(2, 2), "it has the words of the changed maps"
    state.settings.shown = "original"
    assert state.selection.pinned == Pair(3, 3)
    state.selection.pinned = Pair(0, 1)  # a → ein
    state.settings.shown = "changed"
    assert state.selection.pinned is None


def test_a_pin_is_kept_by_the_name_that_its_row_has(state: ExperimentState) -> None:
    sentence = "ein mann steht ."
    state.show_translation(make_translation(sentence, "a man is standing ."))
    state.intents.choose_head(Head("decoder", 1, 2))
    state.settings.label_mode = "read"
    state.selection.pin(Pair(2, 1))  # reading man → a
    state.accept(make_result(make_translation(sentence, "a man stands ."), state.translation))
    assert state.selection.pinned == Pair(2, 1)
    state.accept(make_result(make_translation(sentence, "one a man stands ."), state.original))
    assert state.selection.pinned == Pair(3, 2)
    state.settings.label_mode = "predicted"  # the same row predicts stands
    state.accept(make_result(make_translation(sentence, "one a man is ."), state.original))
    assert state.selection.pinned is None


def test_a_head_of_a_larger_model_is_chosen_with_its_result(state: ExperimentState) -> None:
    """As when an experiment is opened while another model's maps are still shown."""
    seen: list[Head] = []
    state.selection.events.head.connect(lambda head, before: seen.append(head))
    state.accept(make_result(make_translation(num_layers=2, num_heads=4)))
    state.intents.choose_head(Head("cross", 1, 3))
    for head, expected in (
        (Head("decoder", 2, 6), Head("decoder", 2, 6)),
        (Head("cross", 3, 9), Head("cross", 2, 7)),
    ):
        state.intents.choose_head(head)
        assert state.selection.head == Head("cross", 1, 3)
        state.accept(make_result(make_translation()))
        assert state.selection.head == expected, "as near as there is"
        state.accept(make_result(make_translation(num_layers=2, num_heads=4)))
        state.intents.choose_head(Head("cross", 1, 3))
    state.intents.choose_head(Head("decoder", 2, 6))
    state.intents.choose_head(Head("cross", 0, 0))
    state.accept(make_result(make_translation()))
    assert state.selection.head == Head("cross", 0, 0), "chosen since"
    assert head not in seen


def test_a_cell_is_pinned_with_the_next_result_that_has_it(state: ExperimentState) -> None:
    state.intents.pin_with_next_result(Pair(1, 2))
    state.accept(make_result(make_translation()))
    assert state.selection.pinned == Pair(1, 2)
    state.intents.pin_with_next_result(Pair(50, 2))
    state.accept(make_result(make_translation("zwei", "two")))
    assert state.selection.pinned is None


def test_arrows_walk_through_every_layer_of_every_kind_and_stop_at_the_edges(
    state: ExperimentState,
) -> None:
    state.intents.choose_head(Head("encoder", 0, 0))
    assert state.roles.neighbour("up") is None
    seen = [state.selection.head]
    while (head := state.roles.neighbour("down")) is not None:
        state.intents.choose_head(head)
        seen.append(head)
    assert seen == [Head(kind, layer, 0) for kind in ATTENTION_KINDS for layer in range(3)]
    heads = 1
    while (head := state.roles.neighbour("right")) is not None:
        state.intents.choose_head(head)
        heads += 1
    assert heads == 8
    assert state.roles.neighbour("first") == Head("cross", 2, 0)
    assert ExperimentState().roles.neighbour("down") is None


def test_arrows_follow_the_order_in_which_heads_stand(state: ExperimentState) -> None:
    state.settings.order = "clarity"
    first, second = state.roles.in_order("cross")[:2]
    state.intents.choose_head(first)
    assert state.roles.neighbour("right") == second


@pytest.mark.parametrize("kind", [MapViewSettings, MapSelection])
def test_every_field_announces_its_change(kind: type) -> None:
    """A mistyped name in a subscription would pass mypy: here each field is subscribed to and
    changed."""
    values = {
        "label_mode": "read",
        "scale": "own",
        "measure": "norm",
        "scope": "layer",
        "combination": "max",
        "several": frozenset({HEAD}),
        "shown": "difference",
        "picture": "lines",
        "zoom": 2.0,
        "line_threshold": 0.5,
        "order": "role",
        "shown_role": "self",
        "head": HEAD,
        "hovered_sum": 3,
        "step": 1,
    }
    changed = kind()
    for name in [field.name for field in fields(changed)]:
        before = getattr(changed, name)
        told: list[object] = []

        def note(new: object, told: list[object] = told) -> None:
            told.append(new)

        getattr(changed.events, name).connect(note, max_args=1)
        new = values.get(name, not before if isinstance(before, bool) else "another")
        setattr(changed, name, new)
        assert told == [new], name


def test_undo_under_a_model_that_it_does_not_fit_loses_nothing_for_the_former_model() -> None:
    state, first, second = (
        ExperimentState(),
        HeadScaled(Head("cross", 0, 1)),
        HeadScaled(Head("cross", 2, 7)),
    )
    whole = Experiment("ein mann .", interventions=(first, second))
    state.submit(open_experiment(whole), asks=False)
    state.submit(show_experiment(Experiment("zwei hunde .")))
    state.begin_model(MODEL)
    state.submit(undo)
    result = make_result(
        make_translation("ein mann .", interventions=(first,)), make_translation("ein mann .")
    )
    state.accept(replace(result, dropped=(second,)))
    assert state.experiment.interventions == (first,)
    state.begin_model(MODEL)
    assert state.experiment == whole


def test_what_the_user_came_to_in_another_way_is_not_taken_for_what_was_fitted(
    state: ExperimentState,
) -> None:
    sentence = state.experiment.source_text
    state.submit(open_experiment(Experiment(sentence, Greedy(), (OFF, FORCED))))
    state.accept(fitting(state))
    for change in (undo, redo, remove(FORCED), intervene(FORCED)):
        state.submit(change)
        state.accept(make_result(make_translation(sentence, "a dog", experiment=state.experiment)))
    state.begin_model(replace(MODEL, name="two"))
    assert state.experiment.interventions == (FORCED,), "the head was switched off two steps before"
    state.submit(undo)
    state.submit(undo)
    assert state.experiment.interventions == (OFF, FORCED), (
        "whole again, for the model that may take it"
    )


def test_text_typed_before_a_model_is_open_ends_a_restored_experiment_as_an_edit_does() -> None:
    state = ExperimentState()
    off, forced = HeadScaled(Head("cross", 1, 2)), ForcedToken(1, "dog")
    state.submit(
        open_experiment(
            Experiment("ein hund .", interventions=(off, forced)), forgets_history=True
        ),
        asks=False,
    )
    state.prepare_text("ein hund .")
    assert state.experiment.interventions == (off, forced)
    state.prepare_text("ein mann .")
    assert state.experiment == Experiment("ein mann .", interventions=(off,))
    assert "step 2: dog" in state.notice
    state.submit(undo)
    assert state.experiment.interventions == (off, forced)


def test_a_word_forced_in_a_given_translation_says_that_this_is_dropped() -> None:
    state = ExperimentState()
    state.submit(open_experiment(Experiment("ein hund .", GivenTarget("a dog ."))), asks=False)
    state.submit(force(0, "the"))
    assert state.notice == GIVEN_DROPPED
    state.submit(force(1, "dog"))
    assert state.notice == ""


def test_an_example_that_gives_way_before_any_answer_is_nothing_to_go_back_to() -> None:
    state = ExperimentState()
    state.prepare_text("Ein Hund.")
    state.prepare_text("1 2 3")
    assert state.experiment == Experiment("1 2 3")
    assert not state.editor.can_undo, "the model that is open cannot read it"
    state.accept(ExperimentResult.of(make_translation("1 2 3", "1 2 3")))
    state.prepare_text("Ein Hund.")
    assert state.editor.can_undo


def _answered(state: ExperimentState, target: str) -> None:
    state.accept(
        make_result(
            make_translation("ein mann schläft .", target, experiment=state.experiment),
            state.original,
        )
    )


def test_a_row_moves_with_its_token_when_tokens_are_inserted_before_it(
    state: ExperimentState,
) -> None:
    cross = AttentionRow(Head("cross", 0, 0), 2, (0.5, 0.5))
    decoder = AttentionRow(Head("decoder", 0, 0), 2, (0.0, 0.25, 0.75))
    first = AttentionRow(Head("cross", 0, 0), 0, (0.5, 0.5))
    encoder = AttentionRow(Head("encoder", 0, 0), 2, (1.0,))
    state.submit(intervene(cross, decoder, first, encoder))
    _answered(state, "a man sleeps .")
    shown, asked = state.translation, Asked(state)
    state.submit(force(0, "a", "big"))
    _answered(state, "a big man sleeps .")
    assert state.translation is shown, "the row would be at another token"
    moved = {
        AttentionRow(cross.head, 3, (0.5, 0.5)),
        AttentionRow(decoder.head, 3, (0.0, 0.25, 0.0, 0.75)),
        first,
        encoder,
    }
    assert set(asked.experiments[-1].attention_rows) == moved
    assert state.experiment.forced == (ForcedToken(0, "a"), ForcedToken(1, "big"))
    assert state.notice == (
        "Moved with their tokens: decoder 1·1 row 3 is now row 4, cross 1·1 row 3 is now row 4."
    )
    _answered(state, "a big man dreams .")
    assert len(asked.experiments) == 2, "once is enough"
    assert state.translation is not shown
    state.submit(undo)
    assert set(state.experiment.attention_rows) == {cross, decoder, first, encoder}
    _answered(state, "a man sleeps .")
    assert len(asked.experiments) == 3, "undo restores the rows and moves none"


def test_a_row_whose_token_is_gone_is_dropped_and_undo_restores_it(state: ExperimentState) -> None:
    row = AttentionRow(Head("cross", 0, 0), 2, (0.5, 0.5))
    state.submit(intervene(row))
    _answered(state, "a man sleeps .")
    state.submit(force(1, "dog"))
    _answered(state, "a dog sleeps .")
    assert state.experiment.interventions == (ForcedToken(1, "dog"),)
    assert (
        state.notice == "Dropped because its token is gone: cross 1·1 row 3 set. Undo restores it."
    )
    _answered(state, "a dog sleeps .")
    state.submit(undo)
    assert state.experiment.interventions == (row,)


def test_a_decoder_row_that_looked_at_lost_tokens_alone_is_dropped(state: ExperimentState) -> None:
    row = AttentionRow(Head("decoder", 0, 0), 3, (0.0, 0.0, 1.0, 0.0))
    state.submit(intervene(row))
    _answered(state, "a man sleeps .")
    state.submit(force(1, "dog"))
    _answered(state, "a dog sleeps .")
    assert not state.experiment.attention_rows


def test_a_new_row_that_changes_the_words_stays_where_it_was_set(state: ExperimentState) -> None:
    row = AttentionRow(Head("cross", 0, 0), 1, (0.5, 0.5))
    state.submit(intervene(row))
    _answered(state, "a child is sleeping .")
    assert state.experiment.attention_rows == (row,)
    assert state.translation is not None
    assert state.translation.predicted_tokens[1] == "child"


def test_rows_of_an_opened_experiment_stay_where_they_are(state: ExperimentState) -> None:
    row = AttentionRow(Head("cross", 0, 0), 2, (0.5, 0.5))
    state.submit(intervene(row))
    _answered(state, "a man sleeps .")
    opened = state.experiment.with_interventions(ForcedToken(0, "a"), ForcedToken(1, "big"))
    state.submit(open_experiment(opened))
    _answered(state, "a big man sleeps .")
    assert state.experiment == opened
    assert state.translation is not None
    assert state.translation.experiment == opened


def test_a_notice_names_a_few_changes_and_counts_the_others(state: ExperimentState) -> None:
    state.submit(intervene(*(HeadScaled(Head("cross", 0, head)) for head in range(12))))
    state.cancel()
    listed = ", ".join(f"cross 1·{head} off" for head in range(1, 9))
    assert state.request.problem == f"Translating was cancelled; taken back: {listed} and 4 more."


def test_what_waits_for_the_next_model_is_shown_once_it_is_in_use(state: ExperimentState) -> None:
    shown_with: list[ModelInfo | None] = []
    state.with_next_model = lambda: shown_with.append(state.model)
    for name in ("two", "three"):
        state.begin_model(replace(MODEL, name=name))
    assert [model.name for model in shown_with if model is not None] == ["two"]
