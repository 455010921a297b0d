"""From a word of the translation, or from the palette, to the tab *Word*."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.analysis.word.view import WordTab
from augenmerk.viz_app.main_window import TRAIN, MainWindow
from augenmerk.viz_app.widgets.commands import CommandPalette
from tests.viz_app.conftest import MakeWindow


@pytest.fixture
def window(make_window: MakeWindow, untrained_checkpoint: Path) -> MainWindow:
    return make_window(untrained_checkpoint, sentence="ein mann steht .", loader=None)


def _tab_in_sight(window: MainWindow, qtbot: QtBot) -> WordTab:
    tab = window.analysis.tab
    assert isinstance(tab, WordTab)
    qtbot.waitUntil(lambda: tab.isVisible() and not tab.request.is_running)
    return tab


@pytest.mark.heavy
def test_the_pop_up_of_a_word_opens_its_explanation_against_the_clicked_rival(window: MainWindow, qtbot: QtBot) -> None:
    chips, translation = window.translate_page.sentence.chips, window.state.translation
    assert translation is not None
    word, place = chips._chips[1]
    qtbot.mouseMove(chips, place.center())
    assert "Why this word?" in chips.card.label.text()
    chips.card.label.linkActivated.emit(f"{word.start}::why")
    tab = _tab_in_sight(window, qtbot)
    assert (tab.word.step, tab.word.rival) == (word.start, "")
    assert tab.bars.lines
    rival = translation.alternatives[word.start][3]
    qtbot.mouseMove(chips, chips._chips[0][1].center())
    qtbot.mouseMove(chips, place.center())
    chips.card.label.linkActivated.emit(f"{word.start}:3:why")
    tab = _tab_in_sight(window, qtbot)
    assert (tab.word.step, tab.word.rival) == (word.start, rival.entry)
    assert rival.token in tab.lead.text()
    assert window.state.experiment.interventions == ()


@pytest.mark.heavy
@pytest.mark.parametrize("typed", ["why", "lens", "word", "feed"])
def test_the_palette_finds_the_tab_from_any_page(window: MainWindow, qtbot: QtBot, typed: str) -> None:
    window.pages.show(TRAIN)
    qtbot.keySequence(window, QKeySequence("Ctrl+K"))
    (palette,) = window.findChildren(CommandPalette)
    qtbot.keyClicks(palette.field, typed)
    titles = [palette.results.item(row).text() for row in range(palette.results.count())]
    row = next(row for row, title in enumerate(titles) if title.startswith("Word: Why this word?"))
    for _ in range(row):
        qtbot.keyClick(palette.field, Qt.Key.Key_Down)
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert _tab_in_sight(window, qtbot).bars.lines
    assert window.translate_page.isVisible()
