"""The card over the map that explains the pinned weight, by real clicks and a real model of a few
dimensions."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QToolTip
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.viz_app.extensions.weights.card import HEIGHT
from augenmerk.viz_app.extensions.widgets.labelled_matrix import MatrixCell
from augenmerk.viz_app.state.experiment_editor import edit_text, toggle, undo
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.translate.page import TranslatePage
from tests.conftest import open_once
from tests.viz_app.builders import click
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import weight_card_of


@pytest.fixture
def page(make_window: MakeWindow, untrained_checkpoint: Path) -> TranslatePage:
    page = make_window(
        untrained_checkpoint, sentence="ein mann steht .", loader=open_once
    ).translate_page
    page.state.intents.choose_head(Head("encoder", 0, 0))
    return page


def _cell(page: TranslatePage, pair: Pair) -> QPoint:
    box = page.head.heatmap.cell_rect(pair)
    assert box is not None
    return box.center().toPoint()


def _click(qtbot: QtBot, page: TranslatePage, pair: Pair) -> None:
    qtbot.mouseClick(page.head.heatmap, Qt.MouseButton.LeftButton, pos=_cell(page, pair))


def test_the_card_opens_over_the_map_and_follows_the_pin(page: TranslatePage, qtbot: QtBot) -> None:
    card = weight_card_of(page.head)
    button = card.open_button
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert card.isVisible()
    assert "Pin a cell" in card.text.text()
    page.state.selection.pin(Pair(2, 1))
    qtbot.waitUntil(card.bars.isVisible)
    first = card.title.text()
    assert "mann → ein" in first
    assert first.endswith("encoder 1·1")
    assert card.height() == HEIGHT, "the products have come, and have their room"
    page.state.selection.pin(Pair(3, 2))
    assert card.title.text() != first
    assert page.head.map.geometry().contains(card.geometry())
    assert not card.geometry().contains(
        page.head.map.geometry().topLeft() + _cell(page, Pair(3, 2))
    )
    assert card.bars.grab().toImage().size() == card.bars.size()
    page.state.selection.clear_marks()
    assert not card.isVisible(), "its cell was let go"
    assert not button.isChecked()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(card.close_button, Qt.MouseButton.LeftButton)
    assert not card.isVisible()
    assert not button.isChecked()


@pytest.mark.heavy
def test_the_card_explains_the_next_experiment_too(page: TranslatePage, qtbot: QtBot) -> None:
    card = weight_card_of(page.head)
    qtbot.mouseClick(weight_card_of(page.head).open_button, Qt.MouseButton.LeftButton)
    page.state.selection.pin(Pair(2, 1))
    qtbot.waitUntil(card.bars.isVisible)
    page.state.submit(toggle(Head("encoder", 0, 1)))
    qtbot.waitUntil(lambda: page.state.result is not None and page.state.result.is_changed)
    assert page.state.selection.pinned == Pair(2, 1), "the source has the same tokens"
    assert card.isVisible()
    qtbot.waitUntil(lambda: card.explanation.trace_of(page.state.translation) is not None)
    assert card.bars.isVisible()
    assert card.height() == HEIGHT
    page.state.settings.shown = "difference"
    qtbot.waitUntil(lambda: page.head.map.geometry().contains(card.geometry()), timeout=2000)
    page.state.submit(undo)
    qtbot.waitUntil(lambda: page.state.result is not None and not page.state.result.is_changed)
    assert page.state.selection.pinned == Pair(2, 1)
    assert card.isVisible()
    page.state.submit(edit_text("sie"))
    qtbot.waitUntil(
        lambda: page.state.translation is not None and page.state.translation.source_text == "sie"
    )
    assert page.state.selection.pinned is None, "the new sentence does not have these tokens"
    assert not card.isVisible()


def _escape(page: TranslatePage, qtbot: QtBot) -> None:
    page.heads.grid.setFocus()
    qtbot.keyClick(page.heads.grid, Qt.Key.Key_Escape)


def _click_it_again(page: TranslatePage, qtbot: QtBot) -> None:
    _click(qtbot, page, Pair(1, 1))


def _clear(page: TranslatePage, qtbot: QtBot) -> None:
    qtbot.mouseClick(page.head.pick_line.clear_button, Qt.MouseButton.LeftButton)


def _look_at_another_kind(page: TranslatePage, qtbot: QtBot) -> None:
    click(qtbot, page.heads.grid, Head("cross", 0, 0))


@pytest.mark.heavy
def test_the_card_leaves_the_map_when_its_cell_is_let_go(page: TranslatePage, qtbot: QtBot) -> None:
    card = weight_card_of(page.head)
    button = card.open_button
    ways: tuple[Callable[[TranslatePage, QtBot], None], ...] = (
        _escape,
        _click_it_again,
        _clear,
        _look_at_another_kind,
    )
    for let_go in ways:
        button.click()
        assert card.isVisible(), "it waits for a cell"
        page.state.selection.pin(Pair(0, 0))
        _click(qtbot, page, Pair(1, 1))
        assert card.isVisible(), "it follows the pin"
        let_go(page, qtbot)
        assert page.state.selection.pinned is None
        assert not card.isVisible()
        assert not button.isChecked()
        page.state.selection.pin(Pair(0, 0))
        assert not card.isVisible(), "a new pin alone does not open it"
        page.state.selection.clear_marks()


@pytest.mark.heavy
def test_the_card_shows_components_and_opens_their_groups(
    page: TranslatePage, qtbot: QtBot
) -> None:
    page.state.intents.choose_head(Head("cross", 1, 1))
    card = weight_card_of(page.head)
    qtbot.mouseClick(weight_card_of(page.head).open_button, Qt.MouseButton.LeftButton)
    page.state.selection.pin(Pair(2, 1))
    qtbot.waitUntil(card.bars.isVisible)
    qtbot.mouseClick(card.view_buttons["components"], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(card.table.isVisible)
    assert not card.bars.isVisible()
    (matrix,) = card.table.matrices
    assert matrix.row_labels == (
        "token",
        "position",
        "heads 1",
        "feed-forward 1",
        "heads 2",
        "biases",
    )
    assert matrix.column_labels == (
        "token",
        "position",
        "heads 1",
        "feed-forward 1",
        "heads 2",
        "feed-forward 2",
        "biases",
    )
    assert page.head.map.geometry().contains(card.geometry())

    def sums() -> float:
        return float(card.table.matrices[0].values.sum())

    lead = float(re.search(r"([\d.]+) (?:above|below) the mean", card.text.text())[1])  # type: ignore[index]
    assert abs(sums()) == pytest.approx(lead, abs=0.006)
    whole = sums()
    row = card.table.cell_rect(MatrixCell(0, 2, 0))
    qtbot.mouseClick(
        card.table,
        Qt.MouseButton.LeftButton,
        pos=QPoint(int(row.left()) - 10, int(row.center().y())),
    )
    opened = card.table.matrices[0].row_labels
    assert (opened[0], opened[-1]) == ("decoder 1·1", "others")
    assert card.table.matrices[0].column_labels == matrix.column_labels
    assert sums() == pytest.approx(whole, abs=1e-5)
    cell = card.table.cell_rect(MatrixCell(0, 0, 2)).center().toPoint()
    qtbot.mouseClick(card.table, Qt.MouseButton.LeftButton, pos=cell)
    assert card.table.matrices[0].row_labels == matrix.row_labels, "closed again"
    assert card.table.matrices[0].column_labels[0] == "encoder 1·1"
    card.baseline_menu.actions_by_name["none"].trigger()
    assert card.baseline_menu.choice == "none"
    assert sums() != pytest.approx(whole, abs=1e-3)
    page.state.selection.pin(Pair(1, 0))
    qtbot.waitUntil(lambda: card.table.isVisible())
    known = card.explanation.row_of(page.state.translation, Head("cross", 1, 1), 1)  # type: ignore[arg-type]
    assert known is not None
    assert sums() == pytest.approx(known.scores[0], abs=1e-3)

    def entries(pair: Pair) -> dict[str, QAction]:
        page.head.heatmap.customContextMenuRequested.emit(
            page.head.heatmap.cell_rect(pair).center().toPoint()
        )
        menu = page.head.cell_menu
        assert menu is not None
        menu.close()
        return {action.text(): action for action in menu.actions()}

    name = "Subtract this score from the pinned one"
    assert name not in entries(Pair(2, 2)), "another row"
    assert name not in entries(Pair(1, 0)), "itself"
    entries(Pair(1, 2))[name].trigger()
    assert sums() == pytest.approx(known.scores[0] - known.scores[2], abs=1e-3)
    qtbot.mouseClick(card.view_buttons["dimensions"], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(card.bars.isVisible)
    assert not card.table.isVisible()


@pytest.mark.heavy
def test_components_follow_the_experiment_and_the_translation_that_is_shown(
    page: TranslatePage, qtbot: QtBot
) -> None:
    page.state.intents.choose_head(Head("encoder", 1, 0))
    card = weight_card_of(page.head)
    qtbot.mouseClick(weight_card_of(page.head).open_button, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(card.view_buttons["components"], Qt.MouseButton.LeftButton)
    page.state.selection.pin(Pair(2, 1))
    qtbot.waitUntil(card.table.isVisible)
    before = card.table.matrices[0].values.copy()
    page.state.submit(toggle(Head("encoder", 0, 1)))
    qtbot.waitUntil(lambda: page.state.result is not None and page.state.result.is_changed)
    qtbot.waitUntil(
        lambda: card.table.isVisible() and not np.array_equal(card.table.matrices[0].values, before)
    )
    page.state.settings.shown = "original"
    qtbot.waitUntil(
        lambda: card.table.isVisible() and "of the original translation" in card.text.text()
    )
    np.testing.assert_allclose(card.table.matrices[0].values, before, atol=1e-5)


def test_the_palette_asks_why_a_head_looks_there(
    make_window: MakeWindow, untrained_checkpoint: Path
) -> None:
    window = make_window(untrained_checkpoint, sentence="ein mann steht .", loader=open_once)
    (command,) = [
        command
        for command in window.commands.commands
        if "Why does this head look there?" in command.title
    ]
    head = window.translate_page.head
    window.state.settings.picture = "lines"
    command.run()
    assert weight_card_of(head).isVisible()
    assert head.map.currentIndex() == 0, "the heatmap has cells to pin"
    assert weight_card_of(head).view_buttons["components"].isChecked()
    assert "Pin a cell" in weight_card_of(head).text.text()


def test_bars_and_baseline_are_reached_by_keys(page: TranslatePage, qtbot: QtBot) -> None:
    card = weight_card_of(page.head)
    qtbot.mouseClick(weight_card_of(page.head).open_button, Qt.MouseButton.LeftButton)
    page.state.selection.pin(Pair(2, 1))
    qtbot.waitUntil(card.bars.isVisible)
    card.bars.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left):
        qtbot.keyClick(card.bars, key)
    assert card.bars.reached == 1
    assert QToolTip.text().startswith("dimension 2:")
    card.view_buttons["components"].setFocus()
    assert card.bars.reached is None
    QToolTip.hideText()
    qtbot.mouseClick(card.view_buttons["components"], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(card.table.isVisible)
    assert card.baseline_menu.text() == "minus: mean ▾"
    card.baseline_menu.setFocus()
    qtbot.keyClick(card.baseline_menu, Qt.Key.Key_Down)
    assert card.explanation.baseline == "none"
    qtbot.keyClick(card.baseline_menu, Qt.Key.Key_Down)
    assert card.explanation.baseline == 0, "the first key"
    assert card.baseline_menu.text().startswith("minus: “")
