"""Sentences and models at the edge, in every tab of the laboratory and in the large map."""

from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.text.vocabulary import END
from core.translation.result import MAP_KINDS
from core.translation.translator import Translator
from tests.viz_app.analysis.conftest import MakeRealWindow, OpenTab
from viz_app.analysis.compare.view import CompareTab
from viz_app.analysis.source.view import SourceTab
from viz_app.analysis.steps.view import StepsTab
from viz_app.analysis.tab import LabTab
from viz_app.main_window import MainWindow
from viz_app.state.translate_state import HeadChoice

TABS = ("Steps", "Alignment", "Heads", "Source", "Compare")
SENTENCES = {
    "one word": "Hund",
    "a full stop": ".",
    "unknown words": "Quastenflosser xylophonieren Ω .",
    "one letter": "x",
}


def _settled(qtbot: QtBot, window: MainWindow, open_tab: OpenTab, name: str) -> LabTab:
    tab = open_tab(window, name)
    qtbot.waitUntil(lambda: not tab.awaited.is_awaiting, timeout=10_000)
    return tab


def _check_row_sums(window: MainWindow) -> None:
    """Every map that is shown is made of finite weights whose rows sum to 1."""
    page = window.translate_page
    translation = page.state.translation
    assert translation is not None
    for kind in MAP_KINDS:
        maps = translation.maps.of_kind(kind)
        np.testing.assert_allclose(maps.sum(axis=-1), 1, atol=1e-4)
        page.choose(HeadChoice(kind, maps.shape[0] - 1, maps.shape[1] - 1))
        assert not page.head.heatmap.grab().isNull()
        assert page.head.heatmap.layout_now is not None


def _compare(qtbot: QtBot, tab: CompareTab, text: str) -> None:
    tab.sentence.setText(text)
    tab.compare.click()
    qtbot.waitUntil(lambda: not tab.awaited.is_awaiting, timeout=10_000)


@pytest.mark.parametrize("sentence", SENTENCES.values(), ids=SENTENCES.keys())
@pytest.mark.parametrize("model", ["words", "pieces", "single"])
def test_every_tab_takes_short_and_unknown_sentences(
    make_real_window: MakeRealWindow,
    model_files: dict[str, Path],
    open_tab: OpenTab,
    qtbot: QtBot,
    model: str,
    sentence: str,
) -> None:
    window = make_real_window(model_files[model], sentence)
    _check_row_sums(window)
    for name in TABS:
        tab = _settled(qtbot, window, open_tab, name)
        if isinstance(tab, CompareTab):
            _compare(qtbot, tab, "Ein Quastenflosser steht .")
            assert tab.state.compared is not None
        if isinstance(tab, SourceTab):
            assert tab.state.findings is not None
        if isinstance(tab, StepsTab):
            assert tab.state.path is not None
        assert tab.problem.text() == "", name
        assert not tab.grab().isNull()


@pytest.mark.parametrize("kind", MAP_KINDS)
@pytest.mark.parametrize("model", ["words", "pieces", "single"])
def test_all_heads_of_a_layer_off(
    make_real_window: MakeRealWindow,
    model_files: dict[str, Path],
    open_tab: OpenTab,
    qtbot: QtBot,
    model: str,
    kind: str,
) -> None:
    window = make_real_window(model_files[model], "Ein Hund schläft im Gras .")
    page = window.translate_page
    heads = list(page.state.lines_of_heads(kind)[0])  # type: ignore[arg-type]
    for head in heads:
        page.switch(head)
    qtbot.waitUntil(lambda: page.state.switchboard.effect is not None, timeout=10_000)
    effect = page.state.switchboard.effect
    assert effect is not None
    expected = Translator.load(model_files[model], "cpu").translate("Ein Hund schläft im Gras .", off=heads)
    assert effect.after.predicted_ids == expected.predicted_ids
    assert np.isfinite(effect.difference)
    for name in TABS:
        tab = _settled(qtbot, window, open_tab, name)
        assert tab.problem.text() == "", name
        assert tab.circumstances.isVisible(), name


@pytest.mark.parametrize("model", ["words", "pieces", "single"])
def test_a_forced_token_that_ends_the_sentence_at_once(
    make_real_window: MakeRealWindow, model_files: dict[str, Path], open_tab: OpenTab, qtbot: QtBot, model: str
) -> None:
    window = make_real_window(model_files[model], "Ein Hund schläft im Gras .")
    tab = _settled(qtbot, window, open_tab, "Steps")
    assert isinstance(tab, StepsTab)
    end = Translator.load(model_files[model], "cpu").rules.end_id
    assert end is not None
    assert tab.state.force(end)
    tab._ask()
    qtbot.waitUntil(lambda: not tab.awaited.is_awaiting, timeout=10_000)
    assert tab.problem.text() == ""
    assert [chip.text for chip in tab.tokens.chips] == [END]
    assert "nothing: it ends at once" in tab.outcome.text()
    assert not tab.forward.isEnabled()
    tab.undo.click()
    qtbot.waitUntil(lambda: not tab.awaited.is_awaiting, timeout=10_000)
    assert len(tab.tokens.chips) > 1


def test_a_second_sentence_that_is_far_too_long_is_told_in_the_tab(
    make_real_window: MakeRealWindow, model_files: dict[str, Path], open_tab: OpenTab, qtbot: QtBot
) -> None:
    window = make_real_window(model_files["words"], "Hund")
    tab = _settled(qtbot, window, open_tab, "Compare")
    assert isinstance(tab, CompareTab)
    _compare(qtbot, tab, "Mann")
    before = tab.state.compared
    assert before is not None
    _compare(qtbot, tab, "Ein Hund schläft im Gras . " * 2000)
    assert tab.problem.text() or tab.state.compared is not before
    assert tab.state.compared is not None
