"""Word links from maps that were made up so that the answer is known."""

import numpy as np
import pytest

from augenmerk.core.errors import AnalysisError
from augenmerk.core.extensions.analyses.alignment_ranking import word_links, word_maps
from augenmerk.core.maps.selection import Selection
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.result import AttentionMaps, Translation, Word

SOURCE = (Word("Ein", 1, 2), Word("Hund", 2, 4))  # <sos> Ein Hu nd <eos>
TARGET = (Word("A", 0, 1), Word("dog", 1, 3))  # A do g <eos>


def made_up(cross: np.ndarray) -> Translation:
    """`cross` is [T = 4, S = 5]."""
    empty = np.zeros((1, 1, 1, 1), dtype=np.float32)
    return Translation(
        experiment=Experiment("Ein Hund"),
        text="A dog",
        source_tokens=("<sos>", "Ein", "Hu", "nd", "<eos>"),
        read_tokens=("<sos>", "A", "do", "g"),
        predicted_tokens=("A", "do", "g", "<eos>"),
        log_probabilities=(0.0,) * 4,
        alternatives=((),) * 4,
        source_words=SOURCE,
        target_words=TARGET,
        unknown_source_positions=(),
        ignored_text="",
        notes=(),
        attention=AttentionMaps(empty, empty, cross[None, None]),
        seconds=0.0,
    )


CROSS = np.array(
    [
        # reads <sos>, predicts A: to Ein by one piece, but to Hund by both together
        [0.1, 0.4, 0.2, 0.2, 0.1],
        [0.0, 0.1, 0.0, 0.1, 0.8],  # reads A, predicts do
        [0.0, 0.6, 0.1, 0.1, 0.2],  # reads do, predicts g
        [0.5, 0.1, 0.3, 0.1, 0.0],  # reads g, predicts <eos>
    ],
    dtype=np.float32,
)


def test_rows_speak_for_the_token_predicted_or_for_the_one_read() -> None:
    predicted = word_maps(CROSS, SOURCE, TARGET, "predicted")
    np.testing.assert_allclose(predicted, [[0.4, 0.4], [0.35, 0.15]], atol=1e-6)
    read = word_maps(CROSS, SOURCE, TARGET, "read")
    np.testing.assert_allclose(read, [[0.1, 0.1], [0.35, 0.3]], atol=1e-6)


@pytest.mark.parametrize("mode", ["read", "predicted"])
def test_word_maps_are_those_that_the_window_shows_with_marks_hidden(mode) -> None:
    shown = Selection(mode, True, frozenset({"start", "end"})).apply(CROSS, made_up(CROSS), "cross")
    words = word_maps(CROSS, SOURCE, TARGET, mode)
    np.testing.assert_allclose(words / words.sum(-1, keepdims=True), shown.weights, atol=1e-6)
    links = word_links(CROSS, made_up(CROSS), mode)
    assert [link.share for link in links] == pytest.approx(shown.weights.max(-1).tolist(), abs=1e-6)


def test_one_link_for_each_target_word_and_none_to_marks() -> None:
    links = word_links(CROSS, made_up(CROSS), "predicted")
    # the end token's 0.8 is left out
    assert [(link.source, link.target) for link in links] == [(0, 0), (0, 1)]
    assert links[1].share == pytest.approx(0.35 / 0.5)


def test_many_maps_go_at_once() -> None:
    maps = np.stack([CROSS, CROSS[::-1]])
    both = word_maps(maps, SOURCE, TARGET, "read")
    assert both.shape == (2, 2, 2)
    np.testing.assert_allclose(both[1], word_maps(CROSS[::-1], SOURCE, TARGET, "read"))


def test_a_row_with_nothing_on_words_has_no_link() -> None:
    cross = CROSS.copy()
    cross[0] = [0.5, 0, 0, 0, 0.5]
    assert [link.target for link in word_links(cross, made_up(cross), "predicted")] == [1]


def test_a_word_that_was_never_read_has_no_link() -> None:
    words = word_maps(
        CROSS[:3], SOURCE, (Word("A", 0, 1), Word("do", 1, 2), Word("g", 2, 3)), "read"
    )
    assert (words[2] == 0).all()


def test_a_map_of_another_sentence_is_refused() -> None:
    translation = made_up(CROSS)
    with pytest.raises(AnalysisError, match=r"\[3, 5\].*\[4, 5\]"):
        word_links(CROSS[:3], translation, "read")
