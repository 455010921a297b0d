"""Two sentences in one model, and one experiment in two checkpoints, on small real models."""

import gc
import re
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.core.checkpoint.file import save_checkpoint
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.maps.comparing import NothingInCommonError, difference
from augenmerk.core.maps.selection import Selection
from augenmerk.core.model.heads import Head
from augenmerk.core.quantities import number
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Experiment,
    ForcedToken,
    GivenTarget,
    HeadScaled,
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.result import ExperimentResult, TranslationStoppedError
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.tabs.compare.state import Comparison, SecondModel
from augenmerk.viz_app.extensions.tabs.compare.view import LEAST_MESSAGE_HEIGHT, CompareTab
from augenmerk.viz_app.extensions.widgets.labelled_matrix import MatrixCell
from augenmerk.viz_app.state.experiment_editor import (
    edit_text,
    intervene,
    remove,
    set_output,
    toggle,
)
from augenmerk.viz_app.state.map_view_settings import SHOWN_MAPS
from tests.builders import first_quick
from tests.core.translators import SHAPE, untrained
from tests.viz_app.builders import settle_layout, text_in
from tests.viz_app.extensions.tabs.conftest import MakeContext, ShowTab, load, settle

FIRST, SECOND = "Ein Mann steht auf einer Leiter .", "Ein Hund steht auf einer Leiter ."
GIVEN = "A man stands on a ladder ."
"""Untrained models do not come to an end of their own."""


@pytest.fixture
def tab(make_context: MakeContext, show_tab: ShowTab) -> CompareTab:
    """On a model of whole words, with nothing to compare with."""
    shown = show_tab(make_context("words", FIRST), CompareTab)
    assert isinstance(shown, CompareTab)
    return shown


@pytest.fixture
def translator(translators: dict[str, Translator]) -> Translator:
    return translators["words"]


def _compare(qtbot: QtBot, tab: CompareTab, text: str) -> None:
    tab.sentence.setText(text)
    tab.sentence.setModified(True)
    qtbot.mouseClick(tab.compare, Qt.MouseButton.LeftButton)
    settle(qtbot, tab)


def _compare_with(qtbot: QtBot, tab: CompareTab, path: Path) -> None:
    qtbot.mouseClick(tab.question_buttons["checkpoint"], Qt.MouseButton.LeftButton)
    tab.use_checkpoint(path)
    settle(qtbot, tab)


def _has_another(tab: CompareTab, old: Comparison | None) -> bool:
    return tab.comparing.comparison not in (None, old)


def _give(qtbot: QtBot, tab: CompareTab, target: str) -> None:
    tab.state.submit(set_output(GivenTarget(target)))
    settle(qtbot, tab)


def test_the_second_sentence_begins_as_the_first_and_nothing_is_asked_before_it_is_wanted(
    tab: CompareTab,
) -> None:
    assert tab.sentence.text() == FIRST
    assert not tab.request.is_running
    assert not tab.maps.isVisible()
    assert tab._hint.isVisible()
    assert "Change a word" in text_in(tab)


def test_a_second_sentence_has_the_notes_that_it_would_have_on_the_translate_page(
    tab: CompareTab, translator: Translator, qtbot: QtBot
) -> None:
    for text in (SECOND, "The man is on the ladder with a dog .", "Hallo ."):
        _compare(qtbot, tab, text)
        assert tab._notes.text() == " ".join(translator.translate(text).all_notes)
        assert tab._notes.isVisible() == bool(tab._notes.text())
    _compare(qtbot, tab, "The man is on the ladder with a dog .")
    assert "This looks like English." in tab._notes.text()


@pytest.mark.heavy
def test_two_sentences_stand_beside_one_another_with_the_signed_difference(
    tab: CompareTab, translator: Translator, qtbot: QtBot
) -> None:
    _compare(qtbot, tab, SECOND)
    assert tab.problem.text() == ""
    first, second = translator.translate(FIRST), translator.translate(SECOND)
    head, settings = tab.state.selection.head, tab.state.settings
    own = [
        Selection(settings.label_mode, settings.merges_words).apply(
            translation.maps.of_kind(head.kind)[head.layer, head.head], translation, head.kind
        )
        for translation in (first, second)
    ]
    expected = difference(*own)
    (matrix,) = tab.maps.change.matrices
    np.testing.assert_allclose(matrix.values, expected.values, atol=1e-6)
    assert matrix.row_labels == expected.queries.labels
    assert tab.maps.change.top == pytest.approx(expected.largest, abs=1e-6)
    stated = f"Largest difference: {np.abs(expected.values).max():.2f}, where a whole row is 1."
    assert stated in tab.maps._change_name.text()
    for widget, labelled in zip((tab.maps.first, tab.maps.second), own, strict=True):
        np.testing.assert_allclose(widget.matrices[0].values, labelled.weights, atol=1e-6)
    assert "font-weight:bold" in tab.texts.text(), "the changed source word is marked"
    assert "Hund" in tab.texts.text()
    assert tab.comparing.change_of_log_probability == pytest.approx(
        sum(translator.score(first, Experiment(SECOND))) - first.log_probability, abs=1e-4
    )


def test_the_same_sentence_twice_shows_no_difference_and_a_range_that_is_not_blown_up(
    tab: CompareTab, qtbot: QtBot
) -> None:
    _compare(qtbot, tab, FIRST)
    assert not tab.maps.change.matrices[0].values.any()
    assert tab.maps.change.top == 0.01
    assert "Largest difference: 0.00" in text_in(tab.maps)
    assert tab.comparing.change_of_log_probability == pytest.approx(0, abs=1e-4)
    image = tab.maps.change.grab().toImage()
    places = [
        tab.maps.change.cell_rect(MatrixCell(0, row, 1)).center().toPoint() for row in range(3)
    ]
    assert len({image.pixelColor(point).name() for point in places}) == 1


def test_the_second_is_computed_under_the_interventions_of_the_first(
    tab: CompareTab, translator: Translator, qtbot: QtBot
) -> None:
    tab.state.submit(intervene(HeadScaled(Head("cross", 0, 0)), ForcedToken(0, "dog")))
    settle(qtbot, tab)
    _compare(qtbot, tab, SECOND)
    interventions = tab.state.experiment.interventions
    expected = translator.run(Experiment(SECOND, interventions=interventions))
    comparison = tab.comparing.comparison
    assert comparison is not None
    assert comparison.second.experiment.interventions == interventions
    assert comparison.second.changed.predicted_tokens == expected.predicted_tokens
    np.testing.assert_allclose(comparison.second.changed.maps.cross, expected.maps.cross, atol=1e-5)
    assert tab.comparing.dropped == ""
    assert tab.state.translation is not None
    scored = sum(
        translator.score(tab.state.translation, Experiment(SECOND, interventions=interventions))
    )
    assert comparison.log_probability == pytest.approx(scored, abs=1e-4)


def test_words_that_were_changed_in_the_first_sentence_are_none_of_the_second(
    tab: CompareTab, qtbot: QtBot
) -> None:
    tab.state.submit(intervene(HeadScaled(Head("cross", 0, 0)), SourceWordReplaced(1, "Katze")))
    settle(qtbot, tab)
    _compare(qtbot, tab, SECOND)
    assert tab.comparing.second.experiment == Experiment(
        SECOND, interventions=(HeadScaled(Head("cross", 0, 0)),)
    )
    assert "Left out of the second, which is read as typed: word 2 → Katze." in text_in(tab)
    shown = re.sub(r"<[^>]*>", "", tab.texts.text())
    assert SECOND in shown, "as it was typed, not with a word of the first in it"
    assert "Katze" in shown, "the first as it was read"


def test_interventions_that_do_not_fit_the_second_are_left_out_and_named(
    tab: CompareTab, qtbot: QtBot
) -> None:
    # as many keys as the first sentence has tokens
    row = AttentionRow(Head("cross", 0, 0), 1, (1,) * 9)
    tab.state.submit(intervene(row, SourceWordRemoved(5), HeadScaled(Head("cross", 1, 1))))
    settle(qtbot, tab)
    assert tab.state.result is not None, tab.state.request.problem
    tab.state.submit(remove(SourceWordRemoved(5)))
    tab.state.submit(intervene(row))
    settle(qtbot, tab)
    assert tab.state.request.problem == ""
    _compare(qtbot, tab, "Ein Hund .")
    assert tab.comparing.second.experiment.interventions == (HeadScaled(Head("cross", 1, 1)),)
    assert tab._notes.isVisible()
    told = "Left out of the second, because it does not fit: cross 1·1 row 2 set."
    assert tab._notes.text().startswith(told)
    assert tab.state.experiment.interventions == (HeadScaled(Head("cross", 1, 1)), row), (
        "the first keeps its own"
    )


def test_the_maps_follow_the_switch(tab: CompareTab, qtbot: QtBot) -> None:
    tab.state.submit(toggle(Head("cross", 0, 0)))
    settle(qtbot, tab)
    tab.state.intents.choose_head(Head("cross", 2, 0))
    _compare(qtbot, tab, SECOND)
    result = tab.state.result
    assert result is not None
    shown = {}
    for switch in SHOWN_MAPS:
        tab.state.settings.shown = switch
        shown[switch] = (tab.maps.first.matrices[0].values, tab.maps.second.matrices[0].values)
    for index, results in enumerate((result, tab.comparing.second.result)):
        assert results is not None
        np.testing.assert_allclose(
            shown["original"][index], results.original.maps.cross[2, 0], atol=1e-6
        )
        np.testing.assert_allclose(
            shown["changed"][index], results.changed.maps.cross[2, 0], atol=1e-6
        )
        np.testing.assert_array_equal(shown["changed"][index], shown["difference"][index])
    assert "This compares the changed maps" in text_in(tab.maps)


def test_less_and_more_have_colours_of_their_own(tab: CompareTab, qtbot: QtBot) -> None:
    _compare(qtbot, tab, SECOND)
    change = tab.maps.change
    values = change.matrices[0].values
    image = change.grab().toImage()

    def color(flat: int) -> tuple[int, int, int]:
        row, column = np.unravel_index(flat, values.shape)
        center = change.cell_rect(MatrixCell(0, int(row), int(column))).center().toPoint()
        pixel_color = image.pixelColor(center)
        return pixel_color.red(), pixel_color.green(), pixel_color.blue()

    most, least = color(int(values.argmax())), color(int(values.argmin()))
    assert most[0] > most[2], "more is warm"
    assert least[2] > least[0], "less is blue"


def test_the_map_follows_the_chosen_head(tab: CompareTab, qtbot: QtBot) -> None:
    _compare(qtbot, tab, SECOND)
    cross = tab.maps.first.matrices[0]
    for kind in ("encoder", "decoder"):
        tab.state.intents.choose_head(Head(kind, 1, 2))
        assert tab.maps.first.matrices[0] is not cross
        assert tab.state.translation is not None
        num_queries = tab.state.translation.maps.of_kind(kind).shape[-2]
        assert len(tab.maps.first.matrices[0].row_labels) == num_queries


def test_hovering_one_map_reads_the_value_in_all_three(tab: CompareTab, qtbot: QtBot) -> None:
    _compare(qtbot, tab, SECOND)
    maps = tab.comparing.maps()
    assert maps is not None
    assert maps.second is not None
    assert maps.change is not None
    settle_layout()  # the maps find their places
    qtbot.mouseMove(
        tab.maps.change, tab.maps.change.cell_rect(MatrixCell(0, 1, 2)).center().toPoint()
    )
    first = maps.first.weights[maps.change.query_pairs[1][0], maps.change.key_pairs[2][0]]
    second = maps.second.weights[maps.change.query_pairs[1][1], maps.change.key_pairs[2][1]]
    assert f"first {first:.2f}" in tab.maps.value.text()
    assert f"second {second:.2f}" in tab.maps.value.text()
    assert f"difference {number(float(second - first), signed=True)}" in tab.maps.value.text()
    lonely = maps.second.keys.labels.index("hund")
    point = tab.maps.second.cell_rect(MatrixCell(0, 0, lonely)).center()
    assert tab.maps.second.cell_at(point) == MatrixCell(0, 0, lonely)
    tab.maps.second.hovered.emit(MatrixCell(0, 0, lonely))
    assert "no partner" in tab.maps.value.text()
    tab.maps.second.hovered.emit(None)
    assert tab.maps.value.text().startswith("Point at a cell")


@pytest.mark.heavy
def test_an_empty_second_sentence_is_told_in_the_tab_and_the_outdated_result_is_gone(
    tab: CompareTab, qtbot: QtBot
) -> None:
    _compare(qtbot, tab, SECOND)
    tab.sentence.clear()
    QTest.keyClick(tab.sentence, Qt.Key.Key_Return)
    assert "empty" in tab.problem.text()
    assert not tab.maps.isVisible()
    assert tab.comparing.comparison is None


@pytest.mark.heavy
def test_an_emptied_second_sentence_begins_again_as_the_first_when_the_tab_is_opened(
    tab: CompareTab, qtbot: QtBot
) -> None:
    def empty() -> None:
        tab.sentence.selectAll()
        QTest.keyClick(tab.sentence, Qt.Key.Key_Backspace)
        assert tab.sentence.text() == ""

    def open_again() -> None:
        tab.hide()
        tab.show()

    empty()
    open_again()
    assert tab.sentence.text() == FIRST
    _compare(qtbot, tab, SECOND)
    empty()
    open_again()
    assert tab.sentence.text() == SECOND, "it is compared below"
    empty()
    QTest.keyClick(tab.sentence, Qt.Key.Key_Return)
    open_again()
    assert tab.sentence.text() == FIRST
    assert tab.problem.text() == ""
    assert tab._hint.isVisible()


@pytest.mark.heavy
def test_messages_below_the_second_sentence_move_nothing(
    tab: CompareTab, model_files: dict[str, Path], tmp_path: Path, qtbot: QtBot
) -> None:
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(model_files["pieces"].read_bytes()[:1000])

    def tops() -> dict[QWidget, int]:
        settle_layout()
        parts = (*tab.question_buttons.values(), tab.compare, tab.checkpoint_button, tab._area)
        return {part: part.y() for part in parts if part.isVisible()}

    before = tops()
    _compare(qtbot, tab, "")
    assert tab.problem.isVisible()
    assert before.items() >= tops().items()
    _compare(qtbot, tab, SECOND)
    assert before.items() <= tops().items()
    _compare_with(qtbot, tab, model_files["pieces"])
    before = tops()
    assert tab._area in before
    _compare_with(qtbot, tab, broken)
    assert tab.problem.isVisible()
    for part, top in tops().items():
        room = tab.problem.height() if part is tab._area else 0
        assert abs(top - before[part]) <= max(0, room - LEAST_MESSAGE_HEIGHT)


def test_sentences_without_a_word_in_common_are_shown_without_a_difference(
    tab: CompareTab, qtbot: QtBot
) -> None:
    tab.state.intents.choose_head(Head("encoder", 0, 0))
    _compare(qtbot, tab, "Hund schläft")
    assert tab.maps.first.isVisible()
    assert tab.maps.second.isVisible()
    assert not tab.maps.change.isVisible()
    assert "no word in common" in text_in(tab.maps)


def test_unknown_words_are_read_as_unknown(tab: CompareTab, qtbot: QtBot) -> None:
    _compare(qtbot, tab, "Ein Quastenflosser steht auf einer Leiter .")
    assert tab.problem.text() == ""
    second = tab.comparing.second.translation
    assert second is not None
    assert second.unknown_source_positions
    assert tab.maps.change.isVisible()


@pytest.mark.heavy
def test_the_second_sentence_reads_the_first_translation(
    tab: CompareTab, translator: Translator, qtbot: QtBot
) -> None:
    tab.state.submit(toggle(Head("cross", 0, 0)))
    _give(qtbot, tab, GIVEN)
    _compare(qtbot, tab, SECOND)
    own = tab.comparing.second.translation
    assert own is not None
    assert not own.is_given, "a translation that is given belongs to its sentence"
    tab.reads_first.click()
    second = tab.comparing.second.translation
    assert second is not None
    assert second.experiment == Experiment(
        SECOND, GivenTarget(GIVEN), tab.state.experiment.interventions
    )
    assert second.log_probability == pytest.approx(
        sum(translator.run(second.experiment).log_probabilities), abs=1e-4
    )
    assert "reads the first" in tab.texts.text()
    assert tab.maps.first.matrices[0].row_labels == tab.maps.second.matrices[0].row_labels
    tab.reads_first.click()
    assert tab.comparing.second.translation is own


@pytest.mark.heavy
def test_two_checkpoints_whose_translations_share_no_word_say_what_helps(
    tab: CompareTab, model_files: dict[str, Path], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is one sentence: to choose another is no advice."""
    _give(qtbot, tab, GIVEN)
    _compare_with(qtbot, tab, model_files["pieces"])

    def none_in_common(*_maps: object) -> None:
        raise NothingInCommonError("The queries of the two maps have no word in common.")

    monkeypatch.setattr(
        "augenmerk.viz_app.extensions.tabs.compare.state.difference", none_in_common
    )
    tab.state.intents.choose_head(Head("cross", 0, 0))
    advice = (
        f"Tick “{tab.reads_first.text()}”, or choose a head of the encoder: both then have the "
        "same words."
    )
    assert (
        tab.maps._problem.text() == f"The queries of the two maps have no word in common. {advice}"
    )
    tab.reads_first.click()
    assert tab.maps._problem.text().endswith(
        "in common. Choose a head of the encoder: both then have the same words."
    )
    tab.state.intents.choose_head(Head("encoder", 0, 0))
    assert "The queries of the two maps have no word in common." in text_in(tab.maps)


@pytest.mark.heavy
def test_one_experiment_in_two_checkpoints_that_cut_words_differently(
    tab: CompareTab, translators: dict[str, Translator], model_files: dict[str, Path], qtbot: QtBot
) -> None:
    tab.state.settings.merges_words = False
    tab.state.intents.choose_head(Head("cross", 0, 0))
    tab.state.submit(toggle(Head("cross", 1, 0)))
    _give(qtbot, tab, GIVEN)
    _compare_with(qtbot, tab, model_files["pieces"])
    assert tab.problem.text() == ""
    maps = tab.comparing.maps()
    assert maps is not None
    assert any("merged" in note for note in maps.notes)
    assert maps.second is not None
    assert maps.second.keys.labels == maps.first.keys.labels
    assert maps.change is not None
    assert maps.change.note == "", "the same words: no query or key is without a partner"
    second = tab.comparing.second.translation
    assert second is not None
    assert second.experiment == tab.state.experiment
    assert tab.comparing.comparison is not None
    assert tab.comparing.comparison.log_probability == pytest.approx(
        translators["pieces"].run(tab.state.experiment).log_probability, abs=1e-3
    )


def test_a_checkpoint_without_a_head_leaves_out_what_concerns_it_and_says_so(
    tab: CompareTab, model_files: dict[str, Path], qtbot: QtBot
) -> None:
    tab.state.submit(toggle(Head("cross", 2, 3)))
    tab.state.intents.choose_head(Head("cross", 2, 3))
    settle(qtbot, tab)
    _compare_with(qtbot, tab, model_files["single"])
    assert "has no cross layer 3 head 4" in text_in(tab.maps)
    assert "cross 3·4 off" in text_in(tab)
    assert tab.maps.first.isVisible()
    assert not tab.maps.second.isVisible()
    tab.state.intents.choose_head(Head("encoder", 0, 0))
    assert tab.maps.second.isVisible()
    assert tab.maps.change.isVisible()


def test_a_file_that_is_no_checkpoint_is_told_and_the_one_before_stays(
    tab: CompareTab, model_files: dict[str, Path], tmp_path: Path, qtbot: QtBot
) -> None:
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(model_files["pieces"].read_bytes()[:1000])
    tab.preferences.recent_models.remember(broken)
    _compare_with(qtbot, tab, model_files["pieces"])
    before = tab.comparing.comparison
    _compare_with(qtbot, tab, broken)
    assert "broken" in tab.problem.text()
    assert tab.problem.isVisible()
    assert tab.comparing.comparison is before is not None
    assert tab.comparing.model is not None
    assert tab.comparing.model.path == model_files["pieces"]
    assert broken not in tab.preferences.recent_models.paths
    assert model_files["pieces"] in tab.preferences.recent_models.paths


def test_a_checkpoint_of_other_languages_is_refused(
    tab: CompareTab, tmp_path: Path, qtbot: QtBot
) -> None:
    base = preset("notebook")
    other = replace(
        base, model=base.model.replace(**SHAPE), data=base.data.replace(source_language="fr")
    )
    path = tmp_path / "french.safetensors"
    save_checkpoint(untrained(other).checkpoint, path)
    _compare_with(qtbot, tab, path)
    assert "French to English" in tab.problem.text()
    assert "same languages" in tab.problem.text()


@pytest.mark.heavy
def test_the_second_checkpoint_is_freed_when_it_is_closed_and_focus_stays(
    tab: CompareTab, model_files: dict[str, Path], qtbot: QtBot
) -> None:
    _compare_with(qtbot, tab, model_files["pieces"])
    assert tab.comparing.model is not None
    translator = tab.comparing.model._translator
    assert translator is not None
    model = weakref.ref(translator.model)
    del translator
    tab.close_button.setFocus()
    tab.close_button.click()
    assert tab.window().focusWidget() is tab.checkpoint_button
    gc.collect()
    assert model() is None
    assert not tab.maps.isVisible()
    assert tab.comparing.model is None


def test_a_model_that_is_closed_while_it_opens_is_not_kept(model_files: dict[str, Path]) -> None:
    second = SecondModel(model_files["words"])
    second.close()
    assert second.translator("cpu").num_parameters > 0
    assert not second.is_open


@pytest.mark.heavy
def test_every_experiment_is_compared_with_the_same_checkpoint(
    tab: CompareTab, model_files: dict[str, Path], qtbot: QtBot
) -> None:
    _compare_with(qtbot, tab, model_files["pieces"])
    for change in ("text", "heads"):
        old = tab.comparing.comparison
        if change == "text":
            tab.state.submit(edit_text(SECOND))
        else:
            tab.state.submit(toggle(Head("cross", 0, 1)))
        qtbot.waitUntil(partial(_has_another, tab, old), timeout=10_000)
        assert tab.comparing.comparison is not None
        assert tab.comparing.comparison.first is tab.state.result
        assert tab.comparing.second.experiment == tab.state.experiment


@pytest.mark.heavy
def test_focus_stays_in_the_tab_when_what_had_it_disappears(tab: CompareTab, qtbot: QtBot) -> None:
    _give(qtbot, tab, GIVEN)
    _compare(qtbot, tab, SECOND)
    tab.reads_first.setFocus()
    tab.state.submit(toggle(Head("cross", 0, 1)))
    settle(qtbot, tab)
    assert tab.window().focusWidget() in (tab.compare, tab.reads_first)
    tab.sentence.setFocus()
    tab.question_buttons["checkpoint"].click()
    assert tab.window().focusWidget() is tab.question_buttons["checkpoint"]


@pytest.mark.heavy
def test_another_model_is_compared_with_the_same_sentence(
    tab: CompareTab, model_files: dict[str, Path], qtbot: QtBot
) -> None:
    _compare(qtbot, tab, SECOND)
    old = tab.comparing.comparison
    load(tab.context, model_files["pieces"])
    qtbot.waitUntil(partial(_has_another, tab, old), timeout=10_000)
    assert tab.comparing.comparison is not None
    assert tab.comparing.comparison.first is tab.state.result
    assert tab.comparing.second.experiment.source_text == SECOND


def test_the_menu_offers_a_file_and_what_was_opened_before(
    tab: CompareTab, model_files: dict[str, Path], qtbot: QtBot
) -> None:
    tab.preferences.recent_models.remember(model_files["pieces"])
    tab.checkpoint_menu.aboutToShow.emit()
    texts = [action.text() for action in tab.checkpoint_menu.actions()]
    assert texts[:2] == ["Open a checkpoint…", "Bundled model"]
    assert any(text.startswith("pieces") for text in texts)
    tab.checkpoint_menu.actions()[0].trigger()
    dialog = tab.findChild(QFileDialog)
    assert dialog is not None
    tab.comparing.ask_question("checkpoint")
    dialog.fileSelected.emit(str(model_files["pieces"]))
    dialog.close()
    qtbot.waitUntil(lambda: tab.comparing.comparison is not None, timeout=10_000)


def test_a_model_of_one_layer_and_one_head_and_a_sentence_of_one_word(
    make_context: MakeContext, show_tab: ShowTab, qtbot: QtBot
) -> None:
    tab = show_tab(make_context("single", "Hund"), CompareTab)
    assert isinstance(tab, CompareTab)
    _compare(qtbot, tab, "Hund .")
    assert tab.problem.text() == ""
    assert tab.maps.first.isVisible()
    tab.state.intents.choose_head(Head("encoder", 0, 0))
    assert tab.maps.change.isVisible()


@pytest.mark.heavy
@pytest.mark.parametrize(
    "text",
    first_quick(
        [
            ".",
            "x",
            "Quastenflosser xylophonieren Ω .",
            "Hund \ud83d .",
            "Ein Hund schläft im Gras . " * 40,
        ]
    ),
    ids=["a full stop", "one letter", "unknown words", "a lone surrogate", "far too long"],
)
@pytest.mark.parametrize("model", ["words", "pieces", "single"])
def test_a_second_sentence_may_be_anything(
    make_context: MakeContext, show_tab: ShowTab, qtbot: QtBot, model: str, text: str
) -> None:
    tab = show_tab(make_context(model, FIRST), CompareTab)
    assert isinstance(tab, CompareTab)
    _compare(qtbot, tab, text)
    assert tab.problem.text() == ""
    assert tab.comparing.comparison is not None
    assert not tab.grab().isNull()


def test_a_second_sentence_of_many_thousand_words_is_told_in_the_tab(
    tab: CompareTab, qtbot: QtBot
) -> None:
    _compare(qtbot, tab, SECOND)
    before = tab.comparing.comparison
    _compare(qtbot, tab, "Ein Hund schläft im Gras . " * 2000)
    assert tab.comparing.comparison is not before, "it would be outdated"
    assert bool(tab.problem.text()) == (tab.comparing.comparison is None)


def test_an_experiment_that_was_refused_is_not_the_one_that_is_compared(
    tab: CompareTab, qtbot: QtBot
) -> None:
    tab.state.submit(toggle(Head("cross", 0, 0)))
    settle(qtbot, tab)
    tab.state.submit(intervene(HeadScaled(Head("cross", 77, 0))))
    settle(qtbot, tab)
    assert tab.state.request.problem
    _compare(qtbot, tab, SECOND)
    assert tab.comparing.second.experiment.heads_off == {Head("cross", 0, 0)}
    assert tab.comparing.dropped == ""


def test_means_of_all_heads_of_a_layer_are_compared_however_many_these_are(
    tab: CompareTab, model_files: dict[str, Path], qtbot: QtBot
) -> None:
    tab.state.intents.choose_head(Head("cross", 0, 3))
    tab.state.settings.scope = "layer"
    _compare_with(qtbot, tab, model_files["single"])
    result, second = tab.state.result, tab.comparing.second.result
    assert result is not None
    assert second is not None
    for matrices, expected in (
        (tab.maps.first.matrices, result.changed.maps.cross[0].mean(axis=0)),
        (tab.maps.second.matrices, second.changed.maps.cross[0, 0]),
    ):
        np.testing.assert_allclose(matrices[0].values, expected, atol=1e-6)
    tab.state.intents.choose_head(Head("cross", 1, 0))
    tab.state.settings.scope = "layer"
    assert not tab.maps.second.isVisible(), "there is one layer only"
    tab.state.settings.scope = "all"
    assert tab.maps.second.isVisible()


@pytest.mark.heavy
def test_a_word_without_end_makes_no_tab_wider_than_it_is(
    make_context: MakeContext, show_tab: ShowTab, qtbot: QtBot
) -> None:
    tab = show_tab(make_context("words", FIRST), CompareTab, width=340)
    assert isinstance(tab, CompareTab)
    _compare(qtbot, tab, f"Ein {'fune' * 60} schläft im Gras .")
    assert "funefune" in tab.texts.text()
    settle_layout()
    content = tab._area.widget()
    assert content.minimumSizeHint().width() <= tab._area.viewport().width() + 1
    for part in (tab.texts, tab.maps):
        assert part.geometry().right() <= content.width()
    assert content.width() <= tab._area.viewport().width()


@pytest.mark.parametrize("question", ["sentence", "checkpoint"])
def test_what_it_asked_ends_when_it_is_left_and_is_asked_again_when_it_is_back(
    tab: CompareTab, model_files: dict[str, Path], qtbot: QtBot, question: str
) -> None:
    if question == "sentence":
        tab.sentence.setText(SECOND)
        tab.sentence.setModified(True)
        qtbot.mouseClick(tab.compare, Qt.MouseButton.LeftButton)
    else:
        qtbot.mouseClick(tab.question_buttons["checkpoint"], Qt.MouseButton.LeftButton)
        tab.use_checkpoint(model_files["single"])
    asked = tab._asked
    assert asked is not None
    tab.hide()
    assert asked.is_over
    assert not tab.request.is_running
    tab.show()
    settle(qtbot, tab)
    assert tab.comparing.comparison is not None
    assert tab.problem.text() == ""


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """Sentences that the models translate for as long as nobody stops them."""
    sentences: set[str] = set()
    compare = Translator.compare

    def patient(
        self: Translator,
        experiment: Experiment,
        *,
        should_stop: Callable[[], bool] = lambda: False,
        **others: Any,
    ) -> ExperimentResult:
        while experiment.source_text in sentences:
            if should_stop():
                raise TranslationStoppedError
            time.sleep(0.002)
        return compare(self, experiment, should_stop=should_stop, **others)

    monkeypatch.setattr(Translator, "compare", patient)
    yield sentences
    sentences.clear()


@pytest.mark.parametrize("by_key", [False, True], ids=["button", "Esc"])
def test_a_long_comparison_can_be_cancelled_and_asked_for_again(
    qtbot: QtBot, tab: CompareTab, endless: set[str], by_key: bool
) -> None:
    bar = tab.job_bar
    assert bar is not None
    assert not bar.isVisible()
    endless.add(SECOND)
    tab.sentence.setText(SECOND)
    tab.sentence.setModified(True)
    qtbot.mouseClick(tab.compare, Qt.MouseButton.LeftButton)
    assert tab.request.is_running
    assert not bar.isVisible(), "not before it takes long"
    qtbot.waitUntil(bar.stop.isVisible)
    assert bar.text.text() == "translating…"
    if by_key:
        qtbot.keyClick(tab.sentence, Qt.Key.Key_Escape)
    else:
        qtbot.mouseClick(bar.stop, Qt.MouseButton.LeftButton)
    assert not tab.request.is_running
    assert tab.problem.text() == "Comparing was cancelled."
    assert not bar.stop.isVisible()
    qtbot.keyClick(tab.sentence, Qt.Key.Key_Escape)  # there is nothing to be cancelled any more
    assert tab.problem.text() == "Comparing was cancelled."
    endless.clear()
    tab.refresh()
    assert not tab.request.is_running, "nothing is asked for by itself"
    assert not bar.start.isVisible(), "the button Compare is there"
    qtbot.mouseClick(tab.compare, Qt.MouseButton.LeftButton)
    settle(qtbot, tab)
    assert tab.comparing.comparison is not None
    assert not tab.problem.isVisible()
    assert not bar.isVisible()


def test_a_second_checkpoint_that_takes_long_is_kept_when_the_comparison_is_cancelled(
    qtbot: QtBot, tab: CompareTab, endless: set[str], model_files: dict[str, Path]
) -> None:
    path = model_files["single"]
    endless.add(FIRST)
    qtbot.mouseClick(tab.question_buttons["checkpoint"], Qt.MouseButton.LeftButton)
    tab.use_checkpoint(path)
    bar, candidate = tab.job_bar, tab.comparing.candidate
    assert bar is not None
    assert candidate is not None
    qtbot.waitUntil(lambda: candidate.is_open and bar.stop.isVisible(), timeout=10_000)
    tab.preferences.recent_models.remember(path)
    qtbot.mouseClick(bar.stop, Qt.MouseButton.LeftButton)
    assert tab.comparing.model is candidate
    assert path in tab.preferences.recent_models.paths, "it is not to blame"
    endless.clear()
    qtbot.mouseClick(bar.start, Qt.MouseButton.LeftButton)
    settle(qtbot, tab)
    assert tab.comparing.comparison is not None
