"""Heads switched off as a person does it: right click, the small switch, a key, the button."""

import threading
from collections.abc import Collection

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot
from viz_app.state.switchboard import MAPS_NOTE
from viz_app.state.translate_state import HeadChoice
from viz_app.views.switch_line import HINT

from core.errors import AnalysisError
from core.model.heads import Head
from core.translation.result import Translation
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.synthetic import FakeTranslator
from viz_app.theme import Theme
from viz_app.translate.page import TranslatePage
from viz_app.worker import InferenceWorker, SwitchOffJob

HEAD = HeadChoice("encoder", 1, 3)


def _center(page: TranslatePage, head: HeadChoice) -> QPoint:
    place = page.heads.grid.place_of(head)
    assert place is not None
    return place.center()


def _right_click(qtbot: QtBot, page: TranslatePage, head: HeadChoice) -> None:
    qtbot.mouseClick(page.heads.grid, Qt.MouseButton.RightButton, pos=_center(page, head))


def _wait_for_effect(qtbot: QtBot, page: TranslatePage) -> str:
    qtbot.waitUntil(lambda: page.state.switchboard.effect is not None)
    return page.sentence.switch_line.text()


def test_a_hint_says_how_before_anything_is_off(make_window: MakeWindow) -> None:
    panel = make_window().translate_page.sentence
    assert panel.switch_line.isVisible()
    assert panel.switch_line.text() == HINT
    assert not panel.reset_button.isVisible()


def test_a_right_click_shows_the_other_translation_and_what_the_old_one_lost(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    page = make_window(sentence="Ein Mann .").translate_page
    chosen = page.state.choice
    before = page.state.translation
    _right_click(qtbot, page, HEAD)
    text = _wait_for_effect(qtbot, page)
    assert text.startswith("with encoder layer 2 head 4 off:")
    assert "font-weight:bold'>Off1" in text
    assert "Δ log-probability −0.25" in text
    assert page.state.choice == chosen
    assert page.state.translation is before
    assert page.sentence.sentence.text == "Ein mann."


def test_the_small_switch_appears_under_the_mouse_and_switches(make_window: MakeWindow, qtbot: QtBot) -> None:
    page = make_window().translate_page
    grid = page.heads.grid
    switch = grid.switch_of(HEAD)
    assert switch is not None
    assert grid.place_of(HEAD).contains(switch)  # type: ignore[union-attr]
    unlit = grid.grab().toImage()
    qtbot.mouseMove(grid, _center(page, HEAD))
    assert grid.grab().toImage() != unlit
    qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, pos=switch.center())
    assert page.state.is_off(HEAD)
    assert page.state.choice != HEAD
    _wait_for_effect(qtbot, page)


def test_a_head_that_is_off_is_struck_through(make_window: MakeWindow, qtbot: QtBot) -> None:
    page = make_window().translate_page
    qtbot.wait(50)  # the layout settles after the first translation
    center = _center(page, HEAD)
    assert not _has_warm_pixel(page, center)
    _right_click(qtbot, page, HEAD)
    _wait_for_effect(qtbot, page)
    assert _center(page, HEAD) == center, "heads must not move from under the mouse"
    assert _has_warm_pixel(page, center)


def _has_warm_pixel(page: TranslatePage, center: QPoint) -> bool:
    picture, warm = page.heads.grid.grab().toImage(), Theme.light().color("warm")
    colors = [picture.pixelColor(center + QPoint(shift, 0)) for shift in range(-4, 5)]
    return any(
        max(abs(color.red() - warm.red()), abs(color.green() - warm.green()), abs(color.blue() - warm.blue())) < 12
        for color in colors
    )


@pytest.mark.parametrize("key", [Qt.Key.Key_O, Qt.Key.Key_Space])
def test_a_key_switches_the_chosen_head(make_window: MakeWindow, qtbot: QtBot, key: Qt.Key) -> None:
    page = make_window().translate_page
    page.choose(HEAD)
    qtbot.keyClick(page.heads.grid, key)
    _wait_for_effect(qtbot, page)
    assert page.state.switchboard.off == {HEAD}
    assert page.head.title.text().endswith("· switched off")
    qtbot.keyClick(page.heads.grid, key)
    assert not page.state.switchboard.off
    assert page.sentence.switch_line.text() == HINT


def test_several_heads_are_reset_at_once(make_window: MakeWindow, qtbot: QtBot) -> None:
    page = make_window().translate_page
    for head in range(3):
        _right_click(qtbot, page, HeadChoice("cross", 0, head))
    qtbot.mouseClick(page.head.switch_button, Qt.MouseButton.LeftButton)
    text = _wait_for_effect(qtbot, page)
    assert text.startswith(f"with {len(page.state.switchboard.off)} heads off:") or "and" in text
    assert "cross layer 1 head 3" in page.sentence.switch_line.toolTip()
    qtbot.mouseClick(page.sentence.reset_button, Qt.MouseButton.LeftButton)
    assert not page.state.switchboard.off
    assert not page.sentence.reset_button.isVisible()
    assert page.sentence.switch_line.text() == HINT


def test_the_next_sentence_is_tried_with_the_same_heads_off(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    page = window.translate_page
    _right_click(qtbot, page, HEAD)
    _wait_for_effect(qtbot, page)
    with qtbot.waitSignal(window.translation_shown):
        page.sentence.input.set_text("Zwei Hunde .")
    assert "hunde" in _wait_for_effect(qtbot, page)


class SlowTranslator(FakeTranslator):
    """Waits at a gate with heads off; refuses a head of layer 3."""

    gate = threading.Event()

    def translate(self, text: str, *, off: Collection[Head] = (), should_stop=lambda: False) -> Translation:
        assert not off or self.gate.wait(10)
        if any(head.layer == 2 for head in off):
            raise AnalysisError("No such head. Another was expected.")
        return super().translate(text, off=off)


def test_of_many_switches_only_the_last_is_shown(qtbot: QtBot) -> None:
    SlowTranslator.gate.clear()
    worker = InferenceWorker(SlowTranslator)
    answers: list[int] = []
    worker.answered.connect(lambda request_id, _: answers.append(request_id))
    worker.load(None)
    with qtbot.waitSignal(worker.translated) as translated:
        worker.translate("Ein Mann .")
    assert translated.args is not None
    translation = translated.args[1]
    ids = [worker.ask(SwitchOffJob(translation, frozenset({Head("cross", 0, head)}))) for head in range(5)]
    SlowTranslator.gate.set()
    qtbot.waitUntil(lambda: ids[-1] in answers)
    worker.close()
    assert set(answers) <= {ids[0], ids[-1]}


def test_a_refused_switch_says_why_and_the_thread_lives_on(qtbot: QtBot) -> None:
    SlowTranslator.gate.set()
    worker = InferenceWorker(SlowTranslator)
    worker.load(None)
    with qtbot.waitSignal(worker.translated) as translated:
        worker.translate("Ein Mann .")
    assert translated.args is not None
    translation = translated.args[1]
    with qtbot.waitSignal(worker.failed) as refused:
        worker.ask(SwitchOffJob(translation, frozenset({Head("cross", 2, 0)})))
    assert refused.args is not None
    assert "No such head" in refused.args[1].message
    with qtbot.waitSignal(worker.answered):
        worker.ask(SwitchOffJob(translation, frozenset({Head("cross", 1, 0)})))
    worker.close()


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)])
def test_the_head_panel_says_whose_maps_these_are_while_any_head_is_off(
    make_window: MakeWindow, qtbot: QtBot, size: tuple[int, int]
) -> None:
    window = make_window()
    window.resize(*size)
    page = window.translate_page
    qtbot.wait(50)
    page.head.explain_button.setChecked(True)
    usual = page.head.meaning.text()
    assert MAPS_NOTE not in usual + page.head.explanation.text()
    _right_click(qtbot, page, HEAD)
    assert page.head.meaning.text().startswith(MAPS_NOTE)
    assert page.head.meaning.isVisible()
    assert MAPS_NOTE in page.head.explanation.text()
    page.choose(HeadChoice("cross", 0, 0))
    assert page.head.meaning.text().startswith(MAPS_NOTE), "another head is looked at"
    page.reset_switches()
    assert MAPS_NOTE not in page.head.meaning.text() + page.head.explanation.text()
