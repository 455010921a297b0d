"""Two sentences in one model, and one sentence in two checkpoints, on small real models."""

import gc
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot
from viz_app.state.translate_state import HeadChoice

from core.analysis.comparing import difference
from core.analysis.selection import Selection
from core.checkpoint.file import save_checkpoint
from core.config import preset
from core.translation.translator import Translator
from tests.core.translators import SHAPE, untrained
from tests.viz_app.analysis.conftest import MakeRealWindow, OpenTab
from viz_app.analysis.compare.second_model import SecondModel
from viz_app.analysis.compare.view import CompareTab
from viz_app.views.marked_text import number

FIRST, SECOND = "Ein Mann steht auf einer Leiter .", "Ein Hund steht auf einer Leiter ."


@pytest.fixture
def words_tab(
    make_real_window: MakeRealWindow, model_files: dict[str, Path], open_tab: OpenTab, qtbot: QtBot
) -> CompareTab:
    """On a model of whole words, with nothing to compare with."""
    tab = open_tab(make_real_window(model_files["words"], FIRST), "Compare")
    assert isinstance(tab, CompareTab)
    return tab


def _compare(qtbot: QtBot, tab: CompareTab, text: str) -> None:
    tab.sentence.setText(text)
    tab.sentence.setModified(True)
    qtbot.mouseClick(tab.compare, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not tab.awaited.is_awaiting, timeout=10_000)


def _compare_with(qtbot: QtBot, tab: CompareTab, path: Path) -> None:
    qtbot.mouseClick(tab.question_buttons["checkpoint"], Qt.MouseButton.LeftButton)
    tab.use_checkpoint(path)
    qtbot.waitUntil(lambda: not tab.awaited.is_awaiting, timeout=10_000)


def _give(qtbot: QtBot, tab: CompareTab, target: str) -> None:
    tab.window().translate_page.given_wanted.emit(FIRST, target)  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: tab.page.translation is not None and tab.page.translation.is_given, timeout=10_000)


def test_the_second_sentence_begins_as_the_first_and_nothing_is_asked_before_it_is_wanted(
    words_tab: CompareTab,
) -> None:
    assert words_tab.sentence.text() == FIRST
    assert not words_tab.awaited.is_awaiting
    assert not words_tab.maps.isVisible()
    assert words_tab._hint.isVisible()
    assert "Change a word" in words_tab._hint.text()


def test_two_sentences_stand_beside_one_another_with_the_signed_difference(
    words_tab: CompareTab, model_files: dict[str, Path], qtbot: QtBot
) -> None:
    tab = words_tab
    _compare(qtbot, tab, SECOND)
    assert tab.problem.text() == ""
    translator = Translator.load(model_files["words"], "cpu")
    first, second = translator.translate(FIRST), translator.translate(SECOND)
    choice = tab.page.choice
    own = [
        Selection(tab.page.label_mode, tab.page.merges_words).apply(
            each.maps.of_kind(choice.kind)[choice.layer, choice.head], each, choice.kind
        )
        for each in (first, second)
    ]
    expected = difference(*own)
    picture = tab.maps.change.picture
    assert picture is not None
    np.testing.assert_allclose(picture.values, expected.values, atol=1e-6)
    assert picture.rows.labels == expected.rows.labels
    assert picture.top == pytest.approx(expected.largest, abs=1e-6)
    for widget, labelled in zip((tab.maps.first, tab.maps.second), own, strict=True):
        assert widget.picture is not None
        np.testing.assert_allclose(widget.picture.values, labelled.weights, atol=1e-6)
    assert "font-weight:bold" in tab.texts.text(), "the changed source word is marked"
    assert "Hund" in tab.texts.text()
    assert tab.state.change_of_log_probability == pytest.approx(
        sum(translator.score(replace(first, source_ids=second.source_ids))) - first.log_probability, abs=1e-4
    )


def test_the_same_sentence_twice_shows_no_difference_and_a_range_that_is_not_blown_up(
    words_tab: CompareTab, qtbot: QtBot
) -> None:
    _compare(qtbot, words_tab, FIRST)
    picture = words_tab.maps.change.picture
    assert picture is not None
    assert not picture.values.any()
    assert picture.top == 0.01
    assert words_tab.state.change_of_log_probability == pytest.approx(0, abs=1e-4)
    image = words_tab.maps.change.grab().toImage()
    places = [words_tab.maps.change.cell_rect(row, 1).center().toPoint() for row in range(3)]
    assert len({image.pixelColor(place).name() for place in places}) == 1


def test_less_and_more_have_colours_of_their_own(words_tab: CompareTab, qtbot: QtBot) -> None:
    _compare(qtbot, words_tab, SECOND)
    change = words_tab.maps.change
    assert change.picture is not None
    values = change.picture.values
    image = change.grab().toImage()

    def color(flat: int) -> tuple[int, int, int]:
        cell = np.unravel_index(flat, values.shape)
        found = image.pixelColor(change.cell_rect(int(cell[0]), int(cell[1])).center().toPoint())
        return found.red(), found.green(), found.blue()

    most, least = color(int(values.argmax())), color(int(values.argmin()))
    assert most[0] > most[2], "more is warm"
    assert least[2] > least[0], "less is blue"


def test_the_map_follows_the_chosen_head(words_tab: CompareTab, qtbot: QtBot) -> None:
    _compare(qtbot, words_tab, SECOND)
    cross = words_tab.maps.first.picture
    for kind in ("encoder", "decoder"):
        words_tab.page.choose(HeadChoice(kind, 1, 2))
        words_tab.refresh()
        assert words_tab.maps.first.picture is not cross
        assert words_tab.state.compared is not None
        rows = words_tab.state.compared.first.maps.of_kind(kind).shape[-2]
        assert words_tab.maps.first.picture is not None
        assert len(words_tab.maps.first.picture.rows) == rows


def test_hovering_one_map_reads_the_value_in_all_three(words_tab: CompareTab, qtbot: QtBot) -> None:
    _compare(qtbot, words_tab, SECOND)
    tab, maps = words_tab, words_tab.state.maps()
    assert maps is not None
    assert maps.second is not None
    assert maps.change is not None
    tab.maps.change.hovered.emit((1, 2))
    first = maps.first.weights[maps.change.row_pairs[1][0], maps.change.column_pairs[2][0]]
    second = maps.second.weights[maps.change.row_pairs[1][1], maps.change.column_pairs[2][1]]
    assert f"first {first:.2f}" in tab.maps.value.text()
    assert f"second {second:.2f}" in tab.maps.value.text()
    assert f"difference {number(float(second - first), signed=True)}" in tab.maps.value.text()
    lonely = maps.second.columns.labels.index("hund")
    point = tab.maps.second.cell_rect(0, lonely).center()
    assert tab.maps.second.cell_at(QPointF(point)) == (0, lonely)
    tab.maps.second.hovered.emit((0, lonely))
    assert "no partner" in tab.maps.value.text()
    tab.maps.second.hovered.emit(None)
    assert tab.maps.value.text().startswith("Hover")


def test_an_empty_second_sentence_is_told_in_the_tab_and_loses_nothing(words_tab: CompareTab, qtbot: QtBot) -> None:
    _compare(qtbot, words_tab, SECOND)
    words_tab.sentence.clear()
    QTest.keyClick(words_tab.sentence, Qt.Key.Key_Return)
    assert "empty" in words_tab.problem.text()
    assert words_tab.maps.isVisible()
    assert words_tab.state.compared is not None


def test_sentences_without_a_word_in_common_are_shown_without_a_difference(words_tab: CompareTab, qtbot: QtBot) -> None:
    words_tab.page.choose(HeadChoice("encoder", 0, 0))
    _compare(qtbot, words_tab, "Hund schläft")
    assert words_tab.maps.first.isVisible()
    assert words_tab.maps.second.isVisible()
    assert not words_tab.maps.change.isVisible()
    assert "no word in common" in words_tab.maps._problem.text()


def test_unknown_words_are_read_as_unknown(words_tab: CompareTab, qtbot: QtBot) -> None:
    _compare(qtbot, words_tab, "Ein Quastenflosser steht auf einer Leiter .")
    assert words_tab.problem.text() == ""
    assert words_tab.state.compared is not None
    assert words_tab.state.compared.second.unknown_source_positions
    assert words_tab.maps.change.isVisible()


def test_one_sentence_in_two_checkpoints_that_cut_words_differently(
    words_tab: CompareTab, model_files: dict[str, Path], qtbot: QtBot
) -> None:
    tab = words_tab
    tab.page.merges_words = False
    tab.page.choose(HeadChoice("cross", 0, 0))
    _give(qtbot, tab, "A man stands on a ladder .")  # untrained models do not come to an end of their own
    _compare_with(qtbot, tab, model_files["pieces"])
    assert tab.problem.text() == ""
    tab.reads_first.click()
    maps = tab.state.maps()
    assert maps is not None
    assert any("merged" in note for note in maps.notes)
    assert maps.second is not None
    assert maps.second.columns.labels == maps.first.columns.labels
    assert maps.change is not None
    assert maps.change.note == "", "the same words: no row or column is without a partner"
    assert tab.state.second is not None
    assert tab.state.second.is_given
    shown = tab.maps.change.picture
    assert shown is not None
    assert tab.state.compared is not None
    assert tab.state.compared.log_probability == pytest.approx(
        Translator.load(model_files["pieces"], "cpu")
        .translate_given(FIRST, tab.state.compared.first.text)
        .log_probability,
        abs=1e-3,
    )


def test_a_checkpoint_without_the_chosen_head_says_so(
    words_tab: CompareTab, model_files: dict[str, Path], qtbot: QtBot
) -> None:
    words_tab.page.choose(HeadChoice("cross", 2, 3))
    _compare_with(qtbot, words_tab, model_files["single"])
    assert "has no cross layer 3 head 4" in words_tab.maps._problem.text()
    assert words_tab.maps.first.isVisible()
    assert not words_tab.maps.second.isVisible()
    words_tab.page.choose(HeadChoice("encoder", 0, 0))
    words_tab.refresh()
    assert words_tab.maps.second.isVisible()
    assert words_tab.maps.change.isVisible()


def test_a_file_that_is_no_checkpoint_is_told_and_the_one_before_stays(
    words_tab: CompareTab, model_files: dict[str, Path], tmp_path: Path, qtbot: QtBot
) -> None:
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(model_files["pieces"].read_bytes()[:1000])
    words_tab._preferences.remember(broken)
    _compare_with(qtbot, words_tab, model_files["pieces"])
    before = words_tab.state.compared
    _compare_with(qtbot, words_tab, broken)
    assert "broken" in words_tab.problem.text()
    assert words_tab.problem.isVisible()
    assert words_tab.state.compared is before
    assert words_tab.state.model is not None
    assert words_tab.state.model.path == model_files["pieces"]
    assert broken not in words_tab._preferences.recent
    assert model_files["pieces"] in words_tab._preferences.recent


def test_a_checkpoint_of_other_languages_is_refused(words_tab: CompareTab, tmp_path: Path, qtbot: QtBot) -> None:
    base = preset("notebook")
    other = replace(base, model=base.model.replace(**SHAPE), data=base.data.replace(source_language="fr"))
    path = tmp_path / "french.safetensors"
    save_checkpoint(untrained(other).checkpoint, path)
    _compare_with(qtbot, words_tab, path)
    assert "fr to en" in words_tab.problem.text()
    assert "same languages" in words_tab.problem.text()


def test_the_second_checkpoint_is_freed_when_it_is_closed(
    words_tab: CompareTab, model_files: dict[str, Path], qtbot: QtBot
) -> None:
    _compare_with(qtbot, words_tab, model_files["pieces"])
    assert words_tab.state.model is not None
    translator = words_tab.state.model._translator
    assert translator is not None
    model = weakref.ref(translator.model)
    del translator
    qtbot.mouseClick(words_tab.close_button, Qt.MouseButton.LeftButton)
    gc.collect()
    assert model() is None
    assert not words_tab.maps.isVisible()
    assert words_tab.state.model is None


def test_a_model_that_is_closed_while_it_opens_is_not_kept(model_files: dict[str, Path]) -> None:
    second = SecondModel(model_files["words"])
    second.close()
    assert second.translator("cpu").num_parameters > 0
    assert not second.is_open


def test_another_first_sentence_is_compared_with_the_same_checkpoint(
    words_tab: CompareTab, model_files: dict[str, Path], qtbot: QtBot
) -> None:
    _compare_with(qtbot, words_tab, model_files["pieces"])
    window = words_tab.window()
    field = window.translate_page.sentence.input  # type: ignore[attr-defined]
    field.setPlainText(SECOND)
    field.settle(is_asked=True)
    qtbot.waitUntil(
        lambda: words_tab.state.compared is not None and words_tab.state.compared.first.source_text == SECOND,
        timeout=10_000,
    )
    assert words_tab.state.compared is not None
    assert words_tab.state.compared.second.source_text == SECOND


def test_the_menu_offers_a_file_and_what_was_opened_before(
    words_tab: CompareTab, model_files: dict[str, Path], qtbot: QtBot
) -> None:
    words_tab._preferences.remember(model_files["pieces"])
    words_tab._fill_menu()
    texts = [action.text() for action in words_tab.checkpoint_menu.actions()]
    assert texts[:2] == ["Open a checkpoint …", "Bundled model"]
    assert any(text.startswith("pieces") for text in texts)
    words_tab.checkpoint_menu.actions()[0].trigger()
    dialog = words_tab.findChild(QFileDialog)
    assert dialog is not None
    words_tab.state.ask_question("checkpoint")
    dialog.fileSelected.emit(str(model_files["pieces"]))
    dialog.close()
    qtbot.waitUntil(lambda: words_tab.state.compared is not None, timeout=10_000)


def test_a_model_of_one_layer_and_one_head_and_a_sentence_of_one_word(
    make_real_window: MakeRealWindow, model_files: dict[str, Path], open_tab: OpenTab, qtbot: QtBot
) -> None:
    tab = open_tab(make_real_window(model_files["single"], "Hund"), "Compare")
    assert isinstance(tab, CompareTab)
    _compare(qtbot, tab, "Hund .")
    assert tab.problem.text() == ""
    assert tab.maps.first.isVisible()
    tab.page.choose(HeadChoice("encoder", 0, 0))
    tab.refresh()
    assert tab.maps.change.isVisible()
