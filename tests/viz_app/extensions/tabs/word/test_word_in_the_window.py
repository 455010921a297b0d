"""From a word of the translation, or from the palette, to the tab *Word*."""

import csv
import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from pytestqt.qtbot import QtBot

from augenmerk.core.counting import display_text
from augenmerk.core.errors import StorageError
from augenmerk.core.model.heads import Network
from augenmerk.viz_app.extensions.help.palette import CommandPalette
from augenmerk.viz_app.extensions.tabs.word.meanings import WordView
from augenmerk.viz_app.extensions.tabs.word.view import WordTab
from augenmerk.viz_app.main_window import MainWindow
from tests.builders import first_quick
from tests.conftest import open_once
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import TRAIN, exports_of


@pytest.fixture
def window(make_window: MakeWindow, untrained_checkpoint: Path) -> MainWindow:
    return make_window(untrained_checkpoint, sentence="ein mann steht .", loader=open_once)


def _tab_in_sight(window: MainWindow, qtbot: QtBot) -> WordTab:
    tab = window.analysis.tab
    assert isinstance(tab, WordTab)
    qtbot.waitUntil(lambda: tab.isVisible() and not tab.request.is_running)
    return tab


@pytest.mark.heavy
def test_the_pop_up_of_a_word_opens_its_explanation_against_the_clicked_foil(
    window: MainWindow, qtbot: QtBot
) -> None:
    chips, translation = window.translate_page.sentence.chips, window.state.translation
    assert translation is not None
    word, box = chips.boxes[1]
    qtbot.mouseMove(chips, box.center())
    assert "Why this word?" in chips.card.label.text()
    chips.card.label.linkActivated.emit(f"{word.start}::why")
    tab = _tab_in_sight(window, qtbot)
    assert (tab.word.step, tab.word.foil) == (word.start, "")
    assert tab.bars.lines
    foil = translation.alternatives[word.start][3]
    qtbot.mouseMove(chips, chips.boxes[0][1].center())
    qtbot.mouseMove(chips, box.center())
    chips.card.label.linkActivated.emit(f"{word.start}:3:why")
    tab = _tab_in_sight(window, qtbot)
    assert (tab.word.step, tab.word.foil) == (word.start, foil.entry)
    assert foil.token in tab.lead.text()
    assert window.state.experiment.interventions == ()


@pytest.mark.heavy
@pytest.mark.parametrize(
    "typed", first_quick(["why", "lens", "word", "feed", "attribution", "encoder layers"])
)
def test_the_palette_finds_the_tab_from_any_page(
    window: MainWindow, qtbot: QtBot, typed: str
) -> None:
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


@pytest.mark.heavy
@pytest.mark.parametrize("view", ["parts", "lens", "layers"])
def test_the_numbers_in_sight_are_exported_as_csv_and_json(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, view: WordView
) -> None:
    entry = exports_of(window).entries["analysis"]
    exports_of(window).aboutToShow.emit()
    assert not entry.isVisible(), "the tab is not open"
    window.analysis.open_tab("word")
    tab = _tab_in_sight(window, qtbot)
    tab.show_view(view)
    qtbot.waitUntil(lambda: tab.numbers() is not None)
    exports_of(window).aboutToShow.emit()
    assert entry.isVisible()
    assert entry.isEnabled()
    for suffix in ("csv", "json"):
        exports_of(window).saving.save_analysis(tmp_path / f"numbers.{suffix}")
    described = json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8"))
    with (tmp_path / "numbers.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert described["sentence"] == "ein mann steht ."
    assert [len(row) for row in described["rows"]] == [len(row) for row in rows]
    translation = window.state.translation
    assert translation is not None
    if view == "parts":
        assert sum(row["part"] for row in described["rows"]) == pytest.approx(
            described["difference"], abs=1e-9
        )
        for row in described["rows"]:
            of_positions = [value for name, value in row.items() if name.startswith("position_")]
            assert (
                len(of_positions)
                == len(described["positions"].split())
                == len(translation.source_tokens)
            )
            is_split = row["component"].startswith("cross")
            assert sum(value or 0 for value in of_positions) == pytest.approx(
                row["part"] if is_split else 0, abs=1e-6
            )
        assert {"token", "position", "bias", display_text(Network("decoder", 0))} <= {
            row["component"] for row in rows
        }
        assert str(Network("decoder", 0)) in {row["component"] for row in described["rows"]}, (
            "JSON counts from 0"
        )
        assert (list(rows[0])[3], list(described["rows"][0])[3]) == ("position_1", "position_0")
    elif view == "lens":
        last = [row for row in described["rows"] if row["depth"] == described["rows"][-1]["depth"]]
        assert [row["token"] for row in last] == list(translation.predicted_tokens)
        assert [row["log_probability"] for row in last] == pytest.approx(
            translation.log_probabilities, abs=1e-4
        )
    else:
        assert described["rows"][-1]["translation"] == translation.text
    with pytest.raises(StorageError, match=r"ends in \.csv or \.json"):
        exports_of(window).saving.save_analysis(tmp_path / "numbers.xlsx")
