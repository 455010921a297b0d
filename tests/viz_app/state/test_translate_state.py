import numpy as np
import pytest

from core.translation.result import MAP_KINDS
from tests.viz_app.synthetic import make_translation
from viz_app.state.marking import Cell
from viz_app.state.seeing import clearest_head
from viz_app.state.translate_state import HeadChoice, TranslateState


@pytest.fixture
def state() -> TranslateState:
    state = TranslateState()
    state.label_mode = "read"
    state.show(make_translation("ein mann schläft .", "a man is sleep|ing ."))
    return state


def test_a_stale_result_is_dropped() -> None:
    state, newer, older = TranslateState(), make_translation(), make_translation("zwei hunde", "two dogs")
    state.await_result(1)
    state.await_result(2)
    assert not state.accept(1, older)
    assert state.translation is None
    assert state.accept(2, newer)
    assert state.translation is newer
    assert not state.accept(2, older)


def test_an_answer_counts_once() -> None:
    state = TranslateState()
    state.await_result(3)
    assert state.settle(3)
    assert not state.settle(3)


def test_arrows_walk_through_every_layer_of_every_kind_and_stop_at_the_edges(state: TranslateState) -> None:
    state.choose(HeadChoice("encoder", 0, 0))
    assert not state.move("up")
    seen = [state.choice]
    while state.move("down"):
        seen.append(state.choice)
    assert seen == [HeadChoice(kind, layer, 0) for kind in MAP_KINDS for layer in range(3)]
    heads = 1
    while state.move("right"):
        heads += 1
    assert heads == 8
    assert state.move("first")
    assert not state.move("left")


def test_arrows_mean_nothing_before_there_are_maps() -> None:
    assert not TranslateState().move("down")


def test_decoder_rows_are_named_by_the_token_read_or_predicted_there(state: TranslateState) -> None:
    for kind in ("decoder", "cross"):
        state.choose(HeadChoice(kind, 0, 0))
        state.label_mode = "read"
        assert state.row_labels() == ("<sos>", "a", "man", "is", "sleep", "ing", ".")
        state.label_mode = "predicted"
        assert state.row_labels() == ("a", "man", "is", "sleep", "ing", ".", "<eos>")


def test_encoder_rows_are_source_tokens_in_either_mode(state: TranslateState) -> None:
    state.choose(HeadChoice("encoder", 0, 0))
    for state.label_mode in ("read", "predicted"):
        assert state.row_labels() == state.column_labels() == ("<sos>", "ein", "mann", "schläft", ".", "<eos>")


def test_decoder_columns_are_tokens_read_in_either_mode(state: TranslateState) -> None:
    state.choose(HeadChoice("decoder", 0, 0))
    for state.label_mode in ("read", "predicted"):
        assert state.column_labels()[0] == "<sos>"


def test_every_kind_and_mode_says_what_a_row_means(state: TranslateState) -> None:
    sentences = set()
    for kind in MAP_KINDS:
        for state.label_mode in ("read", "predicted"):
            state.choose(HeadChoice(kind, 0, 0))
            sentences.add(state.meaning_of_rows())
    assert len(sentences) == 5  # the encoder reads, whatever the mode
    assert all(sentence.startswith("Each row: where ") for sentence in sentences)


def test_a_word_is_found_in_the_rows_that_read_or_predict_its_tokens(state: TranslateState) -> None:
    assert state.translation is not None
    word = state.translation.target_words[3]
    assert word.text == "sleeping"
    state.choose(HeadChoice("cross", 0, 0))
    state.label_mode = "read"
    assert [state.row_labels()[row] for row in state.rows_of_word(word)] == ["sleep", "ing"]
    state.label_mode = "predicted"
    assert [state.row_labels()[row] for row in state.rows_of_word(word)] == ["sleep", "ing"]
    assert state.word_of_row(state.rows_of_word(word)[1]) == word
    state.choose(HeadChoice("encoder", 0, 0))
    assert state.rows_of_word(word) == ()


def test_what_stays_of_a_row_is_scaled_up_and_the_hidden_share_is_told(state: TranslateState) -> None:
    assert state.translation is not None
    state.choose(HeadChoice("cross", 1, 2))
    weights = state.translation.maps.cross[1, 2]
    state.hides_wrapping = True
    view = state.view()
    assert view is not None
    assert view.row_labels == ("a", "man", "is", "sleep", "ing", ".")
    assert view.column_labels == ("ein", "mann", "schläft", ".")
    kept = weights[1:, 1:-1]
    np.testing.assert_allclose(view.weights, kept / kept.sum(axis=1, keepdims=True), rtol=1e-5)
    assert view.hidden_share == pytest.approx(1 - kept.sum() / weights[1:].sum(), abs=1e-6)
    state.label_mode = "predicted"
    view = state.view()
    assert view is not None
    assert view.row_labels[-1] == "."


def test_a_cell_is_described_by_its_tokens_and_weight(state: TranslateState) -> None:
    assert state.translation is not None
    state.choose(HeadChoice("cross", 0, 0))
    weight = state.translation.maps.cross[0, 0, 2, 3]
    assert state.describe(Cell(2, 3)) == ("reading  man → schläft", f"weight {weight:.3f}")
    state.label_mode = "predicted"
    assert state.describe(Cell(2, 3)) == ("predicting  is → schläft", f"weight {weight:.3f}")
    assert state.describe(Cell(99, 0)) is None


def test_a_choice_is_kept_where_the_next_model_has_such_a_head(state: TranslateState) -> None:
    state.choose(HeadChoice("decoder", 2, 7))
    state.show(make_translation(num_layers=2, num_heads=4))
    assert state.choice == HeadChoice("decoder", 1, 3)


def test_a_head_is_picked_once_until_a_person_chooses() -> None:
    state = TranslateState()
    first = make_translation()
    first.maps.cross[:] = 1 / first.maps.cross.shape[-1]
    first.maps.cross[1, 5] = np.eye(*first.maps.cross.shape[-2:])
    state.show(first)
    assert state.choice == HeadChoice("cross", 1, 5)
    state.show(make_translation())
    assert state.choice == HeadChoice("cross", 1, 5)


def test_clearest_head_points_at_many_words_not_always_at_one() -> None:
    maps = np.zeros((1, 2, 4, 4), dtype=np.float32)
    maps[0, 0, :, 3] = 1.0
    maps[0, 1] = np.eye(4) * 0.8
    assert clearest_head(maps) == (0, 1)


def test_own_scale_reaches_to_the_maximum_of_a_map(state: TranslateState) -> None:
    weights = np.array([[0.1, 0.4]], dtype=np.float32)
    assert state.top_weight(weights) == 1.0
    state.scale = "own"
    assert state.top_weight(weights) == pytest.approx(0.4)
    assert state.top_weight(np.zeros((1, 2), dtype=np.float32)) == 1.0


def test_a_pinned_cell_stays_within_its_kind(state: TranslateState) -> None:
    state.choose(HeadChoice("cross", 0, 0))
    state.pinned = Cell(1, 1)
    state.choose(HeadChoice("cross", 1, 4))
    assert state.pinned == Cell(1, 1)
    state.choose(HeadChoice("encoder", 1, 4))
    assert state.pinned is None
