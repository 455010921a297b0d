"""Shares of source and prefix, and source words left out or replaced by clicks on small real models."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.analysis.contributions import METHOD
from core.translation.translator import Translator
from tests.viz_app.analysis.conftest import MakeRealWindow, OpenTab
from viz_app.analysis.source.state import SourceFindings, SourceState
from viz_app.analysis.source.view import SourceTab
from viz_app.main_window import MainWindow

SENTENCE = "Ein Hund schläft im Gras ."


@pytest.fixture(params=["words", "pieces", "single"])
def tab(
    request: pytest.FixtureRequest,
    make_real_window: MakeRealWindow,
    model_files: dict[str, Path],
    open_tab: OpenTab,
    qtbot: QtBot,
) -> SourceTab:
    return _opened(make_real_window(model_files[request.param], SENTENCE), open_tab, qtbot)


def _opened(window: MainWindow, open_tab: OpenTab, qtbot: QtBot) -> SourceTab:
    tab = open_tab(window, "Source")
    assert isinstance(tab, SourceTab)
    qtbot.waitUntil(lambda: tab.state.findings is not None, timeout=10_000)
    return tab


def _click_word(qtbot: QtBot, tab: SourceTab, index: int) -> None:
    place = tab.words.label_place(index).center().toPoint()
    qtbot.mouseClick(tab.words, Qt.MouseButton.LeftButton, pos=place)


def test_every_output_word_has_its_share_and_the_method_its_name(tab: SourceTab) -> None:
    translation = tab.page.translation
    assert translation is not None
    assert METHOD in tab.explanation.text()
    shares = tab.state.shares()
    assert [each.word for each in shares][: len(translation.target_words)] == [
        word.text for word in translation.target_words
    ]
    assert all(0 <= each.source <= 1 for each in shares)
    assert [bar.value for bar in tab.shares.bars] == pytest.approx([each.source for each in shares])
    assert sum(share for _, share in shares[0].parts) <= shares[0].source + 1e-5


def test_a_warning_stands_where_the_source_collapses(tab: SourceTab) -> None:
    warned = [each for each in tab.state.shares() if each.warning is not None]
    assert tab.warnings.isVisible() == bool(warned)
    assert [bar.is_changed for bar in tab.shares.bars] == [each.warning is not None for each in tab.state.shares()]
    for each in warned[:3]:
        assert each.warning is not None
        assert each.warning.message in tab.warnings.text()


def test_a_click_leaves_a_word_out_and_another_puts_it_back(tab: SourceTab, qtbot: QtBot) -> None:
    translation = tab.page.translation
    assert translation is not None
    assert [bar.label for bar in tab.words.bars] == [word.text for word in translation.source_words]
    before = tab.words.label_place(1)
    _click_word(qtbot, tab, 1)
    probe = tab.state.probe
    assert probe is not None
    assert probe.place == 1
    assert f"without “{translation.source_words[1].text}”" in tab.outcome.text()
    assert "Δ log-probability" in tab.outcome.text()
    assert tab.words.bars[1].is_lit
    assert tab.words.label_place(1) == before
    _click_word(qtbot, tab, 1)
    assert tab.state.place is None
    assert "Click a source word" in tab.outcome.text()


def test_another_word_stands_in_its_place(
    make_real_window: MakeRealWindow, model_files: dict[str, Path], open_tab: OpenTab, qtbot: QtBot
) -> None:
    tab = _opened(make_real_window(model_files["words"], SENTENCE), open_tab, qtbot)
    _click_word(qtbot, tab, 1)
    qtbot.keyClicks(tab.replacement, "Mann")
    qtbot.mouseClick(tab.replace, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: tab.state.replaced is not None, timeout=10_000)
    assert tab.state.replaced is not None
    own = Translator.load(model_files["words"], "cpu").translate("Ein Mann schläft im Gras .")
    assert tab.state.replaced.text == own.text
    assert "“Mann” for “hund”" in tab.outcome.text()


def test_a_replacement_that_cannot_be_read_is_refused(
    make_real_window: MakeRealWindow, model_files: dict[str, Path], open_tab: OpenTab, qtbot: QtBot
) -> None:
    tab = _opened(make_real_window(model_files["words"], SENTENCE), open_tab, qtbot)
    _click_word(qtbot, tab, 1)
    qtbot.keyClicks(tab.replacement, "Hund " * 30)
    qtbot.keyClick(tab.replacement, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: tab.problem.isVisible(), timeout=10_000)
    assert "has room for" in tab.problem.text()
    assert tab.state.replacement == ""
    _click_word(qtbot, tab, 2)
    assert not tab.problem.isVisible()


def test_the_only_word_is_left_out_too(
    make_real_window: MakeRealWindow, model_files: dict[str, Path], open_tab: OpenTab, qtbot: QtBot
) -> None:
    tab = _opened(make_real_window(model_files["words"], "Hund"), open_tab, qtbot)
    _click_word(qtbot, tab, 0)
    assert "without “hund”" in tab.outcome.text()


def test_where_no_word_can_be_left_out_the_reason_is_told(tab: SourceTab) -> None:
    assert tab.state.findings is not None
    tab.take(SourceFindings(tab.state.findings.contributions, None, "Nothing is left to read."))
    tab.redraw()
    assert not tab.words.isVisible()
    assert tab._words_title.text() == "Nothing is left to read."
    assert tab.shares.isVisible()


@pytest.mark.parametrize(("loss", "length"), [(0.004, 0.008), (0.25, 0.5), (2.0, 1.0)])
def test_a_loss_that_rounds_to_nothing_has_no_bar_to_be_seen(tab: SourceTab, loss: float, length: float) -> None:
    findings = tab.state.findings
    assert findings is not None
    assert findings.probes is not None
    old = findings.probes.translation.log_probabilities
    probes = tuple(
        replace(probe, log_probabilities=(old[0] - loss, *old[1:])) if probe.place == 0 else probe
        for probe in (replace(each, log_probabilities=old) for each in findings.probes.probes)
    )
    tab.take(replace(findings, probes=replace(findings.probes, probes=probes)))
    tab.redraw()
    values = [bar.value for bar in tab.words.bars]
    assert values == pytest.approx([length] + [0.0] * (len(values) - 1), abs=1e-4)


def test_nothing_is_known_before_an_answer() -> None:
    state = SourceState()
    assert state.shares() == []
    assert state.mean_share() is None
    state.choose(0)
    assert state.probe is None
    assert not SourceState().replace("Mann"), "no word is chosen"
