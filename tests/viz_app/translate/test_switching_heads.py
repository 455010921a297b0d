"""Heads switched off as a person does it: right click, the small switch, a key, the button, the
menu of the map."""

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head, Network
from augenmerk.core.translation.experiment import Experiment, HeadScaled, SoftmaxTemperature
from augenmerk.core.translation.result import Translation
from augenmerk.viz_app.extensions.help.palette import CommandPalette
from augenmerk.viz_app.heatmap.head_grid import HEADER_HEIGHT
from augenmerk.viz_app.state.experiment_editor import reset, toggle
from augenmerk.viz_app.theme import Theme, scaled
from augenmerk.viz_app.translate.page import TranslatePage
from augenmerk.viz_app.views.cell_menu import PartEditor
from augenmerk.viz_app.views.chips import HINT
from tests.conftest import open_once
from tests.viz_app.builders import center_of, click, settle_layout
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.synthetic import FakeTranslator

HEAD = Head("encoder", 1, 3)
CHIP = "encoder 2·4 off  ×"


def _right_click(qtbot: QtBot, page: TranslatePage, head: Head) -> None:
    click(qtbot, page.heads.grid, head, Qt.MouseButton.RightButton)


def _wait_for_result(qtbot: QtBot, page: TranslatePage) -> None:
    """Until what is shown is the experiment that was asked for."""
    qtbot.waitUntil(
        lambda: (
            page.state.result is not None and page.state.result.experiment == page.state.experiment
        )
    )


def _chips(page: TranslatePage) -> list[str]:
    return [chip.text() for chip in page.sentence.interventions.chips]


@pytest.mark.heavy
def test_a_hint_says_how_before_anything_is_off(make_window: MakeWindow) -> None:
    interventions = make_window().translate_page.sentence.interventions
    assert interventions.hint.isVisible()
    assert interventions.hint.text() == HINT
    assert not interventions.reset_button.isEnabled()


@pytest.mark.heavy
def test_a_right_click_shows_the_changed_translation_beside_the_original_and_what_that_lost(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    page = make_window(sentence="Ein Mann .").translate_page
    chosen, original = page.state.selection.head, page.state.translation
    assert original is not None
    _right_click(qtbot, page, HEAD)
    assert _chips(page) == [CHIP], "at once, before the answer"
    _wait_for_result(qtbot, page)
    panel = page.sentence
    assert panel.sentence.text == "Off1 mann."
    assert panel.original_line.whole.startswith("Original: Ein mann. · now less probable")
    assert [selection.cursor.selectedText() for selection in panel.sentence.extraSelections()] == [
        "Off1"
    ]
    before = original.log_probability
    assert panel.facts.text().endswith(
        f"of the original: {before:.2f} → {before - 0.25:.2f}".replace("-", "−")
    )
    assert page.state.selection.head == chosen
    assert page.state.original is original


@pytest.mark.heavy
def test_the_small_switch_appears_under_the_mouse_and_switches(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    page = make_window().translate_page
    grid, chosen = page.heads.grid, page.state.selection.head
    switch, box = grid.switch_of(HEAD), grid.place_of(HEAD)
    assert switch is not None
    assert box is not None
    assert box.contains(switch)
    unlit = grid.grab().toImage()
    qtbot.mouseMove(grid, box.center())
    assert grid.grab().toImage() != unlit
    qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, pos=switch.center())
    assert HEAD in page.state.experiment.heads_off
    assert page.state.selection.head == chosen != HEAD
    _wait_for_result(qtbot, page)


@pytest.mark.heavy
def test_a_head_that_is_off_is_struck_through(make_window: MakeWindow, qtbot: QtBot) -> None:
    page = make_window().translate_page
    settle_layout()
    center, position = center_of(page.heads.grid, HEAD), _place_in_window(page)
    assert not _has_warm_pixel(page, center)
    _right_click(qtbot, page, HEAD)
    _wait_for_result(qtbot, page)
    settle_layout()
    assert _place_in_window(page) == position, "heads must not move from under the mouse"
    assert _has_warm_pixel(page, center)


def _place_in_window(page: TranslatePage) -> QPoint:
    return page.heads.grid.mapTo(page.window(), center_of(page.heads.grid, HEAD))


def _has_warm_pixel(page: TranslatePage, center: QPoint) -> bool:
    picture, warm = page.heads.grid.grab().toImage(), Theme.light().color("warm")
    colors = [picture.pixelColor(center + QPoint(shift, 0)) for shift in range(-4, 5)]
    return any(
        max(
            abs(color.red() - warm.red()),
            abs(color.green() - warm.green()),
            abs(color.blue() - warm.blue()),
        )
        < 12
        for color in colors
    )


@pytest.mark.heavy
@pytest.mark.parametrize("key", [Qt.Key.Key_O, Qt.Key.Key_Space])
def test_a_key_switches_the_chosen_head(make_window: MakeWindow, qtbot: QtBot, key: Qt.Key) -> None:
    page = make_window().translate_page
    page.state.intents.choose_head(HEAD)
    qtbot.keyClick(page.heads.grid, key)
    _wait_for_result(qtbot, page)
    assert page.state.experiment.heads_off == {HEAD}
    assert page.head.title.whole.endswith("· off")
    assert page.head.switch_button.text() == "Switch on"
    qtbot.keyClick(page.heads.grid, key)
    assert not page.state.experiment.heads_off
    assert not page.head.title.whole.endswith("off")
    qtbot.waitUntil(page.sentence.interventions.hint.isVisible)
    _wait_for_result(qtbot, page)
    assert page.sentence.sentence.text == "Ein mann."


@pytest.mark.heavy
def test_the_menu_of_the_map_switches_the_head_that_is_shown(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    page = make_window().translate_page
    page.state.intents.choose_head(HEAD)
    heatmap = page.head.heatmap
    for text in ("Switch this head off", "Switch this head on"):
        heatmap.customContextMenuRequested.emit(heatmap.rect().center())
        menu = page.head.cell_menu
        assert menu is not None
        next(action for action in menu.actions() if action.text() == text).trigger()
        menu.close()
        _wait_for_result(qtbot, page)
    assert page.state.experiment == Experiment("Ein Mann .")


@pytest.mark.heavy
def test_several_heads_are_reset_at_once(make_window: MakeWindow, qtbot: QtBot) -> None:
    page = make_window().translate_page
    page.state.intents.choose_head(Head("cross", 1, 0))
    for head in range(3):
        _right_click(qtbot, page, Head("cross", 0, head))
    qtbot.mouseClick(page.head.switch_button, Qt.MouseButton.LeftButton)
    _wait_for_result(qtbot, page)
    assert page.sentence.sentence.text == "Off4 mann."
    assert _chips(page) == [*(f"cross 1·{head} off  ×" for head in (1, 2, 3)), "cross 2·1 off  ×"]
    qtbot.mouseClick(page.sentence.interventions.reset_button, Qt.MouseButton.LeftButton)
    _wait_for_result(qtbot, page)
    assert page.sentence.sentence.text == "Ein mann."
    assert not page.sentence.interventions.reset_button.isEnabled()
    qtbot.waitUntil(page.sentence.interventions.hint.isVisible)


@pytest.mark.heavy
def test_the_next_sentence_is_tried_with_the_same_heads_off(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    page = window.translate_page
    _right_click(qtbot, page, HEAD)
    _wait_for_result(qtbot, page)
    with qtbot.waitSignal(window.translation_shown):
        page.sentence.input.set_text("Zwei Hunde .")
    assert page.sentence.sentence.text == "Off1 hunde."
    assert page.sentence.original_line.whole.startswith("Original: Zwei hunde. · now less probable")
    assert _chips(page) == [CHIP]
    assert not page.sentence.note.isVisible(), "nothing was dropped"


class SlowTranslator(FakeTranslator):
    """Waits at a gate before it computes anything with heads off."""

    gate, is_waiting = threading.Event(), threading.Event()

    def run(self, experiment: Experiment, *, should_stop=lambda: False) -> Translation:
        if experiment.heads_off:
            self.is_waiting.set()
            assert self.gate.wait(10)
        return super().run(experiment, should_stop=should_stop)


@pytest.mark.heavy
def test_of_many_switches_only_the_last_is_shown(make_window: MakeWindow, qtbot: QtBot) -> None:
    SlowTranslator.gate.clear()
    SlowTranslator.is_waiting.clear()
    window = make_window(loader=SlowTranslator)
    page, shown = window.translate_page, []
    window.translation_shown.connect(lambda translation: shown.append(translation.text))
    for head in range(5):
        _right_click(qtbot, page, Head("cross", 0, head))
        if head == 0:
            qtbot.waitUntil(SlowTranslator.is_waiting.is_set)  # when the others come
    assert page.sentence.sentence.text == "Ein mann.", (
        "what is shown stays until there is an answer"
    )
    SlowTranslator.gate.set()
    _wait_for_result(qtbot, page)
    assert shown == ["Off5 mann."]


@pytest.mark.heavy
def test_a_refused_experiment_says_why_and_the_next_is_computed(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    page = window.translate_page
    with qtbot.waitSignal(window.failed):
        page.state.submit(toggle(Head("cross", 7, 0)))
    assert "This model has no" in page.sentence.note.text()
    assert "Not applied: cross 8·1 off." in page.sentence.note.text()
    assert page.sentence.sentence.text == "Ein mann."
    assert page.sentence.interventions.chips == []
    assert not page.heads.grid.state.experiment.heads_off
    _right_click(qtbot, page, HEAD)
    _wait_for_result(qtbot, page)
    assert page.sentence.sentence.text == "Off1 mann."


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)])
@pytest.mark.heavy
def test_title_and_explanation_say_whose_maps_these_are_while_anything_is_changed(
    make_window: MakeWindow, qtbot: QtBot, size: tuple[int, int]
) -> None:
    window = make_window()
    window.resize(*size)
    page = window.translate_page
    settle_layout()
    page.head.explain_button.setChecked(True)
    assert "Changed:" not in page.head.explanation_text.text()
    _right_click(qtbot, page, HEAD)
    _wait_for_result(qtbot, page)
    assert (
        "encoder 2·4 off. These are the maps under this change."
        in page.head.explanation_text.text()
    )
    page.state.intents.choose_head(Head("cross", 0, 0))
    qtbot.mouseClick(page.sentence.shown_switch.buttons["original"], Qt.MouseButton.LeftButton)
    assert "original" in page.head.title.whole
    assert "without changes" in page.head.explanation_text.text()
    page.state.submit(reset)
    _wait_for_result(qtbot, page)
    assert "Changed:" not in page.head.explanation_text.text()
    assert "original" not in page.head.title.whole


def _click(qtbot: QtBot, page: TranslatePage, point: QPoint, text: str) -> None:
    """Opens the menu of the grid at a point, and chooses one of its entries."""
    qtbot.mouseClick(page.heads.grid, Qt.MouseButton.RightButton, pos=point)
    menu = page.heads.menu
    assert menu is not None
    texts = {action.text(): action for action in menu.actions()}
    assert text in texts, texts
    texts[text].trigger()
    menu.close()
    _wait_for_result(qtbot, page)


def _layer_name(page: TranslatePage, head: Head) -> QPoint:
    return QPoint(10, center_of(page.heads.grid, head).y())


@pytest.mark.heavy
def test_the_menu_of_a_layer_switches_its_heads_and_its_network(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    page = make_window().translate_page
    name = _layer_name(page, Head("cross", 1, 0))
    _click(qtbot, page, name, "Switch all heads of cross-attention layer 2 off")
    assert _chips(page) == ["cross layer 2 off  ×"]
    _click(qtbot, page, name, "Switch the feed-forward network of decoder layer 2 off")
    assert _chips(page) == ["cross layer 2 off  ×", "feed-forward decoder 2 off  ×"]
    assert page.state.experiment.networks_off == {Network("decoder", 1)}
    _click(qtbot, page, name, "Switch all heads of cross-attention layer 2 on")
    _click(qtbot, page, name, "Switch the feed-forward network of decoder layer 2 on")
    assert not page.state.experiment.interventions


@pytest.mark.heavy
def test_a_layer_whose_network_is_off_is_marked(make_window: MakeWindow, qtbot: QtBot) -> None:
    page = make_window().translate_page
    settle_layout()
    before = page.heads.grid.grab().toImage()
    page.state.submit(toggle(Network("encoder", 1)))
    _wait_for_result(qtbot, page)
    after, name = page.heads.grid.grab().toImage(), _layer_name(page, HEAD)
    line = [QPoint(x, name.y() + dy) for x in range(0, 60) for dy in range(2, 20)]
    assert any(before.pixelColor(point) != after.pixelColor(point) for point in line)


@pytest.mark.heavy
def test_the_menus_of_a_title_and_of_a_column_switch_their_heads(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    page = make_window().translate_page
    grid = page.heads.grid
    box = grid.place_of(Head("decoder", 0, 0))
    assert box is not None
    title = QPoint(10, box.top() - scaled(HEADER_HEIGHT) // 2)
    assert grid.header_at(title) == "decoder"
    _click(qtbot, page, title, "Switch all heads of decoder self-attention off")
    assert _chips(page) == ["all decoder self-attention off  ×"]
    page.state.submit(reset)
    _wait_for_result(qtbot, page)
    number = QPoint(center_of(page.heads.grid, Head("cross", 0, 1)).x(), 5)
    _click(qtbot, page, number, "Switch head 2 of cross-attention in all layers off")
    assert _chips(page) == ["cross head 2 in all layers off  ×"]


@pytest.mark.heavy
def test_sliders_and_typed_numbers_scale_a_head_and_set_its_temperature(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    page = make_window().translate_page
    page.state.intents.choose_head(HEAD)
    page.head.scale_head()
    editor = next(editor for editor in page.head.findChildren(PartEditor) if editor.isVisible())
    assert editor.temperature is not None
    qtbot.keyClick(editor.factor.slider, Qt.Key.Key_Left)
    assert page.state.experiment.scalings == (HeadScaled(HEAD, 0.95),)
    editor.factor.field.selectAll()
    qtbot.keyClicks(editor.factor.field, "-7.125")
    qtbot.keyClick(editor.factor.field, Qt.Key.Key_Return)
    assert page.state.experiment.scalings == (HeadScaled(HEAD, -7.125),), "beyond the slider"
    assert editor.factor.slider.value() == editor.factor.slider.minimum()
    editor.temperature.slider.setValue(editor.temperature.slider.maximum())
    assert page.state.experiment.temperatures == (SoftmaxTemperature(HEAD, 10),)
    editor.temperature.slider.setValue(0)
    editor.factor.field.setValue(1)
    assert not page.state.experiment.interventions, "1 is the model's own"
    editor.close()


@pytest.mark.heavy
def test_the_palette_switches_groups_and_networks(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    page = window.translate_page
    page.state.intents.choose_head(HEAD)
    for title, chip in (
        ("Switch all heads of the chosen layer off or on", "encoder layer 2 off  ×"),
        ("Switch the chosen head off or on in all layers", "encoder head 4 in all layers off  ×"),
        ("Switch all heads of the chosen kind off or on", "all encoder self-attention off  ×"),
        (
            "Switch the feed-forward network of the chosen layer off or on",
            "feed-forward encoder 2 off  ×",
        ),
    ):
        command = next(command for command in window.commands.commands if command.title == title)
        assert command.is_offered
        command.run()
        assert _chips(page) == [chip]
        command.run()
        assert _chips(page) == []
        _wait_for_result(qtbot, page)


@pytest.mark.heavy
def test_a_switch_off_is_followed_by_the_parts_that_increased(
    make_window: MakeWindow, untrained_checkpoint: Path, qtbot: QtBot
) -> None:
    page = make_window(
        untrained_checkpoint, sentence="ein mann steht .", loader=open_once
    ).translate_page
    line = page.sentence.original_line
    page.state.submit(toggle(*(head for head in page.state.maps.all_heads if head.kind == "cross")))
    qtbot.waitUntil(lambda: "parts that increased for “" in line.whole)
    assert "cross" not in line.whole.partition("parts that increased")[2], "not those that are off"
    page.state.submit(reset)
    _wait_for_result(qtbot, page)
    assert not line.isVisible()


@pytest.mark.heavy
def test_the_palette_finds_networks_by_feed_and_heads_by_scale(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    for typed, title in (
        ("feed", "Switch the feed-forward network of the chosen layer off or on"),
        ("scale the", "Scale the chosen head or change its temperature…"),
    ):
        qtbot.keySequence(window, QKeySequence("Ctrl+K"))
        palette = window.findChildren(CommandPalette)[-1]
        qtbot.keyClicks(palette.field, typed)
        assert title in [palette.results.item(row).text() for row in range(palette.results.count())]
        palette.close()
