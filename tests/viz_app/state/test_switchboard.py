import pytest

from core.model.heads import Head
from core.translation.result import Translation
from tests.viz_app.synthetic import make_translation
from viz_app.state.switchboard import Switchboard, SwitchedOff, changed_pieces, name_heads
from viz_app.state.translate_state import HeadChoice, TranslateState

HEAD, OTHER = HeadChoice("encoder", 1, 3), HeadChoice("cross", 0, 0)


def _effect(before: Translation, after: Translation, log_probability: float = -9.0) -> SwitchedOff:
    return SwitchedOff(frozenset({HEAD}), before, before, after, log_probability)


def _marks(before: str, after: str) -> list[tuple[str, str]]:
    pieces = changed_pieces(make_translation("x", before), make_translation("x", after))
    return [(piece.text.strip(), piece.mark) for piece in pieces if piece.text.strip()]


def test_several_heads_can_be_off_and_a_second_press_switches_one_on() -> None:
    board = Switchboard()
    board.toggle(HEAD)
    board.toggle(OTHER)
    assert board.off == {HEAD, OTHER}
    board.toggle(HEAD)
    assert board.off == {OTHER}
    board.reset()
    assert not board.off


def test_a_stale_answer_about_heads_is_dropped() -> None:
    board, translation = Switchboard(), make_translation()
    board.toggle(HEAD)
    board.await_effect(1)
    board.toggle(OTHER)
    board.await_effect(2)
    assert not board.accept(1, _effect(translation, translation))
    assert not board.refuse(1, "too late")
    assert board.effect is None
    assert board.accept(2, _effect(translation, translation))
    board.toggle(OTHER)
    assert board.effect is None
    assert not board.accept(2, _effect(translation, translation))


def test_heads_stay_off_for_the_next_sentence_and_come_back_with_the_next_model() -> None:
    state = TranslateState()
    state.show(make_translation())
    state.switchboard.toggle(HEAD)
    state.switchboard.await_effect(1)
    state.show(make_translation("zwei hunde", "two dogs"))
    assert state.is_off(HEAD)
    assert state.switchboard.awaited_id is None
    state.begin_model("German", "English")
    assert not state.is_off(HEAD)


def test_the_difference_is_that_of_the_old_translation() -> None:
    before = make_translation()
    effect = _effect(before, make_translation("x", "y"), before.log_probability - 0.31)
    assert effect.difference == pytest.approx(-0.31)


def test_words_that_were_replaced_are_new_and_the_rest_is_the_same() -> None:
    marks = _marks("a man is cleaning a window .", "a man is washing a window .")
    assert marks == [
        ("A", "same"),
        ("man", "same"),
        ("is", "same"),
        ("washing", "new"),
        ("a", "same"),
        ("window", "same"),
        (".", "same"),
    ]


def test_words_that_only_went_missing_are_put_back_as_gone() -> None:
    assert _marks("a very old man", "a man") == [("A", "same"), ("very old", "gone"), ("man", "same")]
    assert _marks("a man .", "a man . today") == [("A", "same"), ("man", "same"), (".", "same"), ("today", "new")]


def test_the_pieces_that_are_there_spell_the_sentence() -> None:
    before, after = make_translation("x", "a dog runs ."), make_translation("x", "two dogs run , too .")
    pieces = changed_pieces(before, after)
    assert "".join(piece.text for piece in pieces if piece.mark != "gone") == after.text


def test_an_empty_translation_has_only_words_that_are_gone() -> None:
    assert _marks("a man", "") == [("a man", "gone")]


def test_two_heads_are_named_and_more_are_counted() -> None:
    heads = [Head("cross", 0, 0), Head("encoder", 1, 3)]
    assert name_heads(heads) == "encoder layer 2 head 4 and cross layer 1 head 1"
    assert name_heads([*heads, Head("decoder", 0, 0)]) == "3 heads"


def test_while_a_head_is_off_the_maps_are_said_to_be_of_the_whole_model() -> None:
    board = Switchboard()
    assert board.maps_note == board.maps_fact == ""
    board.toggle(OTHER)
    board.toggle(HEAD)
    assert "whole model, every head on" in board.maps_note
    assert board.maps_fact.startswith("every head on, in maps and translation")
    assert board.maps_fact.endswith("alone: encoder layer 2 head 4, cross layer 1 head 1")
    board.reset()
    assert board.maps_note == board.maps_fact == ""
