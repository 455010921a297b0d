"""Measures beside the weight: chosen from the menu, computed in the thread, shown in grid and map,
by a real model."""

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from augenmerk.core.maps.measure import Measure
from augenmerk.core.maps.measures import MEASURES
from augenmerk.core.maps.model_pass import Pass
from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.translation.result import FloatArray
from augenmerk.viz_app.state.experiment_editor import toggle
from augenmerk.viz_app.state.map_text import describe
from augenmerk.viz_app.state.map_view import MapView, Pair, Place
from augenmerk.viz_app.translate.page import TranslatePage
from tests.conftest import open_once
from tests.viz_app.conftest import MakeWindow


@pytest.fixture
def page(make_window: MakeWindow, untrained_checkpoint: Path) -> TranslatePage:
    page = make_window(
        untrained_checkpoint, sentence="ein mann steht .", loader=open_once
    ).translate_page
    page.state.intents.choose_head(Head("cross", 0, 1))
    return page


def _choose(qtbot: QtBot, page: TranslatePage, measure: str) -> None:
    page.head.measure_menu.actions_by_name[measure].trigger()
    qtbot.waitUntil(lambda: page.state.maps.lacking_measure() is None)


def _view(page: TranslatePage) -> MapView:
    view = page.state.maps.view()
    assert view is not None
    return view


@pytest.mark.heavy
def test_a_measure_replaces_the_weight_in_map_and_grid_and_says_what_it_is(
    page: TranslatePage, qtbot: QtBot
) -> None:
    grid, heatmap = page.heads.grid.grab().toImage(), page.head.heatmap.grab().toImage()
    weights = _view(page).values
    _choose(qtbot, page, "rollout")
    (measured,) = page.state.maps.measured.values()
    assert measured.translation is page.state.translation
    page.state.settings.merges_words = False
    np.testing.assert_array_equal(_view(page).values, measured.maps["cross"][0, 1])
    assert not np.allclose(_view(page).values, weights)
    assert page.heads.grid.grab().toImage() != grid
    assert page.head.heatmap.grab().toImage() != heatmap
    assert "Abnar & Zuidema" in page.head.meaning.text()
    assert describe(page.state, Pair(1, 1))[1].startswith("rollout ")  # type: ignore[index]
    _choose(qtbot, page, "weight")
    assert "Abnar" not in page.head.meaning.text()
    assert page.heads.grid.grab().toImage() == grid


@pytest.mark.heavy
def test_only_the_chosen_measure_is_computed_and_only_once(
    page: TranslatePage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed = []
    for name, declaration in tuple(MEASURES.items()):

        def compute(
            *arguments: Any, name: str = name, declaration: Measure = declaration
        ) -> FloatArray:
            computed.append((name, arguments[1]))
            return declaration.compute(*arguments)

        monkeypatch.setitem(MEASURES, name, replace(declaration, compute=compute))
    for measure in ("norm", "rollout", "norm", "weight", "rollout"):
        _choose(qtbot, page, measure)
    assert computed == [("norm", kind) for kind in ATTENTION_KINDS] + [
        ("rollout", "encoder"),
        ("rollout", "cross"),
    ]


@pytest.mark.heavy
def test_a_measure_of_a_wrong_shape_is_told_and_the_weights_stay(
    page: TranslatePage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    norm = MEASURES["norm"]
    broken = replace(norm, compute=lambda *arguments: norm.compute(*arguments)[:, :, 1:])
    monkeypatch.setitem(MEASURES, "norm", broken)
    page.head.measure_menu.actions_by_name["norm"].trigger()
    qtbot.waitUntil(
        lambda: "could not be computed; the weights are shown." in page.head.meaning.text()
    )
    assert page.state.maps.shown_measure("cross") == "weight"


@pytest.mark.heavy
def test_a_kind_without_the_measure_shows_weights_and_says_so(
    page: TranslatePage, qtbot: QtBot
) -> None:
    _choose(qtbot, page, "rollout")
    page.state.intents.choose_head(Head("decoder", 0, 1))
    assert page.state.maps.shown_measure("decoder") == "weight"
    assert "There is no rollout for these maps" in page.head.meaning.text()
    page.state.intents.choose_head(Head("encoder", 0, 1))
    assert "One map per layer" in page.head.meaning.text()


@pytest.mark.heavy
def test_the_next_experiment_is_measured_too(page: TranslatePage, qtbot: QtBot) -> None:
    _choose(qtbot, page, "norm")
    acts = (
        lambda: page.sentence.input.set_text("ein mann ."),
        lambda: page.state.submit(toggle(Head("cross", 1, 1))),
    )
    for act in acts:
        before = page.state.result
        act()
        qtbot.waitUntil(lambda before=before: page.state.result is not before)
        qtbot.waitUntil(lambda: page.state.maps.shown_measure("cross") == "norm")
    assert "Kobayashi" in page.head.meaning.text()


@pytest.mark.heavy
def test_a_difference_waits_until_both_translations_are_measured(
    page: TranslatePage, qtbot: QtBot
) -> None:
    page.state.submit(toggle(Head("cross", 0, 0)))
    qtbot.waitUntil(lambda: page.state.result is not None and page.state.result.is_changed)
    page.state.settings.shown = "difference"
    _choose(qtbot, page, "norm")
    assert len(page.state.maps.measured) == 2
    assert page.state.maps.is_signed("cross")
    row, column = np.argwhere(np.isfinite(_view(page).values))[0]
    pair = _view(page).pair_at(Place(int(row), int(column)))
    assert describe(page.state, pair)[1].startswith("change of norm ‖α·f(x)‖ ")  # type: ignore[index]


@pytest.mark.heavy
@pytest.mark.parametrize("way", ["link", "key"])
def test_a_measure_that_takes_long_is_cancelled(
    page: TranslatePage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """The weights stay; the worker goes on with what comes next, and the measure can be chosen
    again.
    """
    gate, of = threading.Event(), Pass.of

    def trace_late(*arguments: Any) -> Pass:
        assert gate.wait(10)
        return of(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr("augenmerk.core.maps.model_pass.Pass.of", trace_late)
        page.head.measure_menu.actions_by_name["norm"].trigger()
        assert "Computing: norm" in page.head.meaning.text()
        assert 'href="cancel"' in page.head.meaning.text()
        if way == "link":
            page.head.meaning.linkActivated.emit("cancel")
        else:
            QTest.keyClick(page.head.map.currentWidget(), Qt.Key.Key_Escape)
        assert page.state.settings.measure == "weight"
        assert page.head.measure_menu.text().startswith("weight")
        assert "cancel" not in page.head.meaning.text()
        assert not page.state.measuring.cancel()
        gate.set()
    _choose(qtbot, page, "norm")
    assert len(page.state.maps.measured) == 1
    assert "Kobayashi" in page.head.meaning.text()
