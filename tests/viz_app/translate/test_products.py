"""The products of query and key behind the pinned cell, by a real model of a few dimensions."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from viz_app.state.marking import Cell
from viz_app.state.tracing import QueryKeyView, Tracing, query_key_view
from viz_app.state.translate_state import HeadChoice, TranslateState
from viz_app.worker.pair_jobs import TraceJob, read_trace

from core.translation.result import Translation
from core.translation.translator import Translator
from tests.checkpoints import write_untrained_checkpoint
from tests.viz_app.conftest import MakeWindow
from viz_app.translate.page import TranslatePage


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    return Translator.load(write_untrained_checkpoint(tmp_path_factory.mktemp("model") / "tiny.safetensors"), "cpu")


def _state(translator: Translator) -> tuple[TranslateState, Tracing]:
    state, tracing = TranslateState(), Tracing()
    translation = translator.translate_given("Ein Mann schläft.", "A man sleeps.")
    state.show(translation)
    trace = TraceJob(translation).run(translator, lambda _: None, lambda: False)
    tracing.await_trace(3)
    assert not tracing.accept(2, translation, trace)
    assert tracing.accept(3, translation, trace)
    return state, tracing


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_products_sum_to_the_logit_and_its_softmax_is_the_weight(translator: Translator, kind: str) -> None:
    state, tracing = _state(translator)
    state.choose(HeadChoice(kind, 1, 1))  # type: ignore[arg-type]
    state.pinned = Cell(3, 2)
    view = query_key_view(state, tracing)
    assert isinstance(view, QueryKeyView)
    assert view.running[-1] == pytest.approx(view.detail.logit, abs=1e-5)
    assert view.row_logits[2] == pytest.approx(view.detail.logit, abs=1e-5)
    weights = np.exp(view.row_logits - np.logaddexp.reduce(view.row_logits))
    assert state.translation is not None
    np.testing.assert_allclose(weights, state.translation.maps.of_kind(kind)[1, 1, 3], atol=1e-5)  # type: ignore[arg-type]
    assert f"{view.detail.weight:.3f}" in view.sentence
    assert "dimension 1:" in view.tip(0)


def test_a_masked_key_has_a_logit_and_no_weight(translator: Translator) -> None:
    state, tracing = _state(translator)
    state.choose(HeadChoice("decoder", 0, 0))
    state.pinned = Cell(1, 3)
    view = query_key_view(state, tracing)
    assert isinstance(view, QueryKeyView)
    assert view.detail.weight == 0
    assert "mask hides" in view.sentence


def test_what_is_missing_is_said(translator: Translator) -> None:
    state, tracing = _state(translator)
    assert "Pin a cell" in str(query_key_view(state, tracing))
    state.pinned = Cell(0, 0)
    state.scope = "layer"
    assert "one head alone" in str(query_key_view(state, tracing))
    state.scope = "head"
    assert "Reading queries" in str(query_key_view(state, Tracing()))


def test_the_card_opens_over_the_map_and_follows_the_pin(
    make_window: MakeWindow, qtbot: QtBot, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Translation] = []

    def trace(_: object, translation: Translation):  # type: ignore[no-untyped-def]
        asked.append(translation)
        return read_trace(translator, translation)

    monkeypatch.setattr("viz_app.worker.pair_jobs.read_trace", trace)
    page: TranslatePage = make_window().translate_page
    page.await_result(10_000)
    page.accept(10_000, translator.translate_given("Ein Mann schläft.", "A man sleeps."))
    page.choose(HeadChoice("cross", 0, 0))
    card = page.head.query_key
    page.head.pick_line.products_button.click()
    assert card.isVisible()
    qtbot.waitUntil(lambda: len(asked) == 1)
    page.marks._on_cell_clicked(Cell(2, 1))
    qtbot.waitUntil(card.bars.isVisible)
    first = card.title.text()
    assert "→" in first
    page.marks._on_cell_clicked(Cell(3, 2))
    assert card.title.text() != first
    assert page.head.map.geometry().contains(card.geometry())
    assert card.bars.grab().toImage().size() == card.bars.size()
    page.marks.forget()
    assert not card.isVisible(), "its cell was let go"
    assert not page.head.pick_line.products_button.isChecked()
    page.head.pick_line.products_button.click()
    assert "Pin a cell" in card.text.text()
    card.close_button.click()
    assert not card.isVisible()
    assert len(asked) == 1


def _escape(page: TranslatePage, qtbot: QtBot) -> None:
    page.heads.grid.setFocus()
    qtbot.keyClick(page.heads.grid, Qt.Key.Key_Escape)


def _click_it_again(page: TranslatePage, _: QtBot) -> None:
    page.marks._on_cell_clicked(Cell(2, 1))


def _clear(page: TranslatePage, qtbot: QtBot) -> None:
    qtbot.mouseClick(page.head.pick_line.clear_button, Qt.MouseButton.LeftButton)


def _look_at_another_kind(page: TranslatePage, _: QtBot) -> None:
    page.choose(HeadChoice("encoder", 0, 0))


@pytest.mark.parametrize("let_go", [_escape, _click_it_again, _clear, _look_at_another_kind])
def test_the_card_leaves_the_map_when_its_cell_is_let_go(
    make_window: MakeWindow, qtbot: QtBot, let_go: Callable[[TranslatePage, QtBot], None]
) -> None:
    page: TranslatePage = make_window().translate_page
    page.marks.trace_wanted.disconnect()  # what is in the card is no matter here
    page.choose(HeadChoice("cross", 0, 0))
    card, button = page.head.query_key, page.head.pick_line.products_button
    button.click()
    assert card.isVisible(), "it waits for a cell"
    page.marks._on_cell_clicked(Cell(2, 1))
    page.marks._on_cell_clicked(Cell(1, 1))
    page.marks._on_cell_clicked(Cell(2, 1))
    assert card.isVisible(), "it follows the pin"
    let_go(page, qtbot)
    assert not card.isVisible()
    assert not button.isChecked()
    page.marks._on_cell_clicked(Cell(1, 1))
    assert not card.isVisible(), "a new pin alone does not open it"
