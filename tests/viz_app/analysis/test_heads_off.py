"""What the tabs make of switched-off heads and of a given translation."""

from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.analysis.alti import contributions_of
from core.model.gates import all_heads, heads_off
from core.translation.translator import Translator
from tests.viz_app.analysis.conftest import MakeRealWindow, OpenTab
from viz_app.analysis.source.view import SourceTab
from viz_app.analysis.steps.view import StepsTab
from viz_app.analysis.tab import LabTab
from viz_app.main_window import MainWindow
from viz_app.state.translate_state import HeadChoice
from viz_app.worker import SwitchOffJob

SENTENCE = "Ein Hund schläft im Gras ."
OFF = [HeadChoice("cross", layer, head) for layer in range(3) for head in range(3)]


@pytest.fixture
def window(make_real_window: MakeRealWindow, model_files: dict[str, Path]) -> MainWindow:
    return make_real_window(model_files["words"], SENTENCE)


@pytest.fixture(scope="module")
def translator(model_files: dict[str, Path]) -> Translator:
    return Translator.load(model_files["words"], "cpu")


def _opened(window: MainWindow, open_tab: OpenTab, qtbot: QtBot, name: str) -> LabTab:
    tab = open_tab(window, name)
    _settle(qtbot, tab)
    return tab


def _settle(qtbot: QtBot, tab: LabTab) -> None:
    qtbot.waitUntil(lambda: not tab.awaited.is_awaiting, timeout=10_000)


def _switch_off(window: MainWindow) -> None:
    for head in OFF:
        window.translate_page.switch(head)


def _give(window: MainWindow, qtbot: QtBot, target: str) -> None:
    window.translate_page.given_wanted.emit(SENTENCE, target)
    state = window.translate_page.state
    qtbot.waitUntil(lambda: state.translation is not None and state.translation.is_given, timeout=10_000)


def test_the_steps_are_those_of_the_model_without_the_heads(
    window: MainWindow, open_tab: OpenTab, qtbot: QtBot, translator: Translator
) -> None:
    tab = _opened(window, open_tab, qtbot, "Steps")
    assert isinstance(tab, StepsTab)
    assert not tab.circumstances.isVisible()
    whole = tab.state.path
    _switch_off(window)
    _settle(qtbot, tab)
    expected = translator.translate(SENTENCE, off=OFF)
    assert tab.state.path is not None
    assert tab.state.path is not whole
    assert tab.state.path.translation.predicted_ids == expected.predicted_ids
    assert tab.state.path.translation.log_probability == pytest.approx(expected.log_probability, abs=1e-3)
    assert tab.circumstances.text() == "With 9 heads off."
    assert tab.page.step_row is None, "the large map is of every head on"
    tab.state.force(tab.state.path.steps[0].candidates[1].token_id)
    tab._ask()
    _settle(qtbot, tab)
    assert tab.problem.text() == ""
    assert tab.state.path.steps[0].is_forced
    window.translate_page.reset_switches()
    _settle(qtbot, tab)
    assert tab.state.path.translation.predicted_ids == translator.translate(SENTENCE).predicted_ids
    assert not tab.circumstances.isVisible()


def test_steps_say_that_they_are_not_those_of_a_given_translation(
    window: MainWindow, open_tab: OpenTab, qtbot: QtBot
) -> None:
    _give(window, qtbot, "A dog sleeps .")
    tab = _opened(window, open_tab, qtbot, "Steps")
    assert "not of the given one" in tab.circumstances.text()
    assert tab.circumstances.isVisible()


@pytest.mark.parametrize("target", [None, "A dog sleeps in the grass ."])
def test_shares_and_probes_are_those_of_the_model_without_the_heads(
    window: MainWindow, open_tab: OpenTab, qtbot: QtBot, translator: Translator, target: str | None
) -> None:
    if target is not None:
        _give(window, qtbot, target)
    tab = _opened(window, open_tab, qtbot, "Source")
    assert isinstance(tab, SourceTab)
    _switch_off(window)
    _settle(qtbot, tab)
    if target is None:
        pair = translator.translate(SENTENCE, off=OFF)
    else:
        pair = translator.translate_given(SENTENCE, target, off=OFF)
    with heads_off(translator.model, OFF):
        expected = contributions_of(translator, pair)
    assert tab.state.findings is not None
    np.testing.assert_allclose(tab.state.findings.contributions.source, expected.source, atol=1e-5)
    assert tab.state.findings.contributions.translation.log_probability == pytest.approx(pair.log_probability, abs=1e-3)
    what = "the given translation" if target else "the translation as it then is"
    assert tab.circumstances.text() == f"Measured with 9 heads off, on {what}."
    tab.state.choose(1)
    tab.replacement.setText("Mann")
    tab._on_replace()
    _settle(qtbot, tab)
    without = translator.translate("Ein Mann schläft im Gras .", off=OFF)
    assert tab.state.replaced is not None
    assert tab.state.replaced.text == without.text


@pytest.mark.parametrize("name", ["Alignment", "Heads", "Compare"])
def test_the_other_tabs_say_that_every_head_is_on(
    window: MainWindow, open_tab: OpenTab, qtbot: QtBot, name: str
) -> None:
    tab = _opened(window, open_tab, qtbot, name)
    assert not tab.circumstances.isVisible()
    _switch_off(window)
    assert tab.circumstances.isVisible()
    assert tab.circumstances.text() == "9 heads switched off above, but every head is on here."


def test_the_old_translation_is_scored_without_the_head_whether_it_changes_or_not(translator: Translator) -> None:
    before = translator.translate(SENTENCE)
    kept = set()
    for head in all_heads(translator.model):
        effect = SwitchOffJob(before, frozenset({head})).run(translator, lambda _: None, lambda: False)
        kept.add(effect.after.predicted_ids == before.predicted_ids)
        assert effect.log_probability == pytest.approx(sum(translator.score(before, off=[head])), abs=1e-3)
        assert effect.log_probability != pytest.approx(before.log_probability, abs=1e-9)
    assert kept == {True, False}, "both happen"
