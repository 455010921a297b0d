"""The presentation: one view of the window on the whole screen, driven by keys."""

import threading
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextDocument, QTextLayout
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel
from pytestqt.qtbot import QtBot

from augenmerk.core.counting import display_text
from augenmerk.core.extensions.lessons.lesson_file import Scene, write_lesson_file
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Experiment, HeadScaled
from augenmerk.core.translation.result import Translation
from augenmerk.viz_app.extensions.help.palette import CommandPalette
from augenmerk.viz_app.extensions.presentation.presentation import (
    LINES_PER_SCREEN,
    Presentation,
    scale_for,
)
from augenmerk.viz_app.extensions.presentation.texts import scene_text, sentence_pair
from augenmerk.viz_app.extensions.tabs.compare.view import CompareTab
from augenmerk.viz_app.extensions.tabs.heads.state import SampleChoice, read_sample
from augenmerk.viz_app.extensions.tabs.heads.view import HeadsTab
from augenmerk.viz_app.extensions.widgets.labelled_matrix import MatrixCell
from augenmerk.viz_app.heatmap.head_grid import HeadGrid
from augenmerk.viz_app.heatmap.heatmap import Heatmap, row_height
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.state import map_text
from augenmerk.viz_app.state.experiment_editor import edit_text, intervene
from augenmerk.viz_app.state.map_view import Pair, Pointer, PointerStyle
from augenmerk.viz_app.state.marks import marks_of_heads
from augenmerk.viz_app.state.sentence_text import is_right_to_left
from augenmerk.viz_app.theme import Theme, current_theme
from augenmerk.viz_app.views.sentence import BUSY
from augenmerk.viz_app.widgets.layouts import ContentHeightScrollArea, VerticalScrollArea
from tests.builders import first_quick
from tests.conftest import open_once
from tests.viz_app.builders import settle_layout
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.extensions.lessons.test_lessons_in_the_window import lesson_for
from tests.viz_app.extensions.train.scripted import epoch_done, probe, request, started, step_done
from tests.viz_app.parts import (
    documents_of,
    learn_page_of,
    lessons_of,
    lines_of,
    open_chapter_in,
    present_in,
    presentation_of,
    train_page_of,
    views_of,
)
from tests.viz_app.synthetic import FakeTranslator
from tests.viz_app.translate.test_maps_fit import sentence_of


def presented(window: MainWindow, qtbot: QtBot) -> Presentation:
    qtbot.keyClick(window, Qt.Key.Key_F5)
    assert presentation_of(window).view is not None
    return presentation_of(window)


@pytest.mark.heavy
def test_the_map_fills_the_screen_without_controls(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    shown, head = presented(window, qtbot), window.translate_page.head
    assert shown.isVisible()
    assert window.isFullScreen()
    assert shown.isAncestorOf(head.map)
    assert not window.translate_page.isVisible()
    assert not shown.findChildren(QAbstractButton)
    assert shown.source.text() == "Ein Mann ."
    assert shown.target.text() == "Ein mann."
    title, meaning = shown.caption.text().split("\n")
    assert title.startswith(display_text(window.state.selection.head.title))
    assert meaning == map_text.meaning_of_query(window.state)
    window.state.settings.picture = "lines"
    assert shown.caption.text().split("\n")[1].startswith("The lines of each token: ")
    assert lines_of(head).isVisible()
    window.state.settings.picture = "heatmap"
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert not shown.isVisible()
    assert head.isAncestorOf(head.map)
    assert head.map.isVisible()
    assert not window.isFullScreen()
    qtbot.keyClick(window, Qt.Key.Key_F5)
    assert shown.isVisible()
    qtbot.keyClick(window, Qt.Key.Key_F5)
    assert not shown.isVisible()


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize("is_open", [False, True])
def test_views_are_given_back_unchanged(
    make_window: MakeWindow, qtbot: QtBot, is_open: bool
) -> None:
    window = make_window()
    page = window.translate_page
    page.arrangement.show_analysis(is_open)
    page.sentence.input.setFocus()
    settle_layout()
    parts = page.head.map, window.analysis, page.heads, page.head, page.head.controls
    before = [(part.geometry(), part.isVisible()) for part in parts]
    size, scale = window.size(), current_theme().scale
    for name in ("map", "word", "map", "steps"):
        present_in(window, name)
        settle_layout()
    presentation_of(window).end()
    window.resize(size)
    qtbot.waitUntil(
        lambda: [(part.geometry(), part.isVisible()) for part in parts] == before, timeout=3000
    )
    assert current_theme().scale == scale
    assert page.sentence.input.hasFocus()


@pytest.mark.slow
@pytest.mark.heavy
def test_every_view_can_be_presented_by_name_and_from_the_palette(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    views = views_of(window).presentables()
    assert len({view.name for view in views}) == len(views)
    assert {"map", "word", "alignment", "compare", "training", "chapter weight"} <= {
        view.name for view in views
    }
    window.commands.run("Commands")
    palette = window.findChild(CommandPalette)
    assert palette is not None
    palette.field.setText("Present: Word tab")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert presentation_of(window).view is not None
    assert presentation_of(window).view.name == "word"
    chapters = [view for view in views if view.name.startswith("chapter ")]
    for view in (*(view for view in views if view not in chapters), *chapters[:2]):
        present_in(window, view.name)
        settle_layout()
        shown = presentation_of(window).view
        assert shown is not None
        assert shown.name == view.name
        content = view.open()
        assert content.isVisible()
        assert presentation_of(window).isAncestorOf(content)
        assert presentation_of(window).source.isVisible() == view.is_about_sentence
        assert presentation_of(window).target.isVisible() == (
            view.state is not None and view.name != "compare"
        )
    presentation_of(window).end()


@pytest.mark.slow
@pytest.mark.heavy
def test_f5_presents_the_page_in_sight(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    page = window.translate_page
    page.arrangement.show_analysis(True)
    window.analysis.show_tab(1)
    seen = []
    for act in (
        page.head.heatmap.setFocus,
        window.analysis.buttons[1].setFocus,
        lambda: open_chapter_in(window, "weight"),
        lambda: window.pages.show("train"),
    ):
        act()
        settle_layout()
        view = presented(window, qtbot).view
        assert view is not None
        seen.append(view.name)
        qtbot.keyClick(presentation_of(window), Qt.Key.Key_Escape)
    assert seen == ["map", "word", "chapter weight", "training"]


def test_f5_presents_the_tab_that_was_clicked(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    page, analysis = window.translate_page, window.analysis
    page.arrangement.show_analysis(True)
    seen = []
    for click in (
        lambda: qtbot.mouseClick(analysis.buttons[1], Qt.MouseButton.LeftButton),
        lambda: qtbot.mouseClick(page.sentence.input.viewport(), Qt.MouseButton.LeftButton),
        lambda: qtbot.mouseClick(
            analysis, Qt.MouseButton.LeftButton, pos=analysis.rect().bottomLeft() + QPoint(2, -2)
        ),
    ):
        click()
        seen.append(views_of(window).presentable)
    assert seen == ["word", "map", "word"]


@pytest.mark.slow
@pytest.mark.heavy
def test_the_presentation_ends_on_the_page_where_it_began(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    for name in ("chapter weight", "training"):
        present_in(window, name)
        qtbot.keyClick(presentation_of(window), Qt.Key.Key_Escape)
        assert window.pages.in_sight is window.translate_page
        assert window.translate_page.isVisible()
    open_chapter_in(window, "heads")
    present_in(window, "chapter weight")
    qtbot.keyClick(presentation_of(window), Qt.Key.Key_Escape)
    assert window.pages.in_sight is learn_page_of(window)


@pytest.mark.slow
@pytest.mark.heavy
def test_pages_tabs_and_chapters_opened_meanwhile_are_presented(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    presentation = presented(window, qtbot)
    seen = []
    for act in (
        lambda: qtbot.keyClick(presentation, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier),
        lambda: open_chapter_in(window, "weight"),
        lambda: window.analysis.open_tab("steps"),
        lambda: present_in(window, "map"),
    ):
        act()
        settle_layout()
        assert presentation.isVisible()
        assert presentation.view is not None
        seen.append(presentation.view.name)
    assert seen == ["training", "chapter weight", "steps", "map"]
    assert not window.preferences.is_analysis_open, "the tabs beside the maps are as they were"
    qtbot.keyClick(presentation, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    assert not presentation.isVisible(), "to type a sentence, the window is needed"
    assert window.translate_page.sentence.input.hasFocus()


@pytest.mark.heavy
def test_closing_a_presented_window_keeps_the_size_of_the_window(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    presented(window, qtbot)
    window.shutdown.save()
    assert presentation_of(window).view is None
    assert not window.isFullScreen()


@pytest.mark.heavy
@pytest.mark.parametrize(
    "size",
    first_quick(
        [(1024, 768), (1280, 720), (1280, 800), (1366, 768), (1920, 1080)], is_one_argument=True
    ),
)
def test_letters_and_map_grow_with_the_screen(
    make_window: MakeWindow, qtbot: QtBot, size: tuple[int, int]
) -> None:
    window = make_window(sentence=sentence_of(20))
    shown = presented(window, qtbot)
    window.showNormal()
    window.resize(*size)
    qtbot.waitUntil(lambda: current_theme().scale == scale_for(size), timeout=3000)
    heatmap = window.translate_page.head.heatmap
    qtbot.waitUntil(
        lambda: heatmap.layout_now is not None and heatmap.layout_now.row_step == 1, timeout=3000
    )
    layout = heatmap.layout_now
    assert layout is not None
    assert layout.hidden.isNull()
    assert layout.column_step == (1 if size[0] > 1.4 * size[1] else 2), (
        "columns thin out on a 4:3 screen"
    )
    assert layout.window.height() > min(0.6 * size[1], 0.36 * size[0])
    for words in (shown.scene, shown.source, shown.target, shown.value, shown.caption):
        assert words.fontInfo().pixelSize() >= size[1] / LINES_PER_SCREEN
    assert layout.font.pixelSize() >= size[1] / LINES_PER_SCREEN
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert current_theme().scale == 1.0


@pytest.mark.slow
@pytest.mark.heavy
def test_a_presentation_is_made_larger_and_smaller_by_keys_until_it_ends(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    shown = presented(window, qtbot)

    def wait_for(share: float) -> None:
        """Waits for this share of the scale that the present size has; it may still change."""
        qtbot.waitUntil(
            lambda: (
                current_theme().scale == pytest.approx(share * scale_for(shown.size().toTuple()))
            ),
            timeout=3000,
        )

    wait_for(1)
    ctrl = Qt.KeyboardModifier.ControlModifier
    qtbot.keyClick(shown, Qt.Key.Key_Plus, ctrl)
    wait_for(1.1)
    assert shown.target.fontInfo().pixelSize() >= current_theme().base_px
    qtbot.keyClick(shown, Qt.Key.Key_Minus, ctrl)
    qtbot.keyClick(shown, Qt.Key.Key_Minus, ctrl)
    wait_for(0.9)
    qtbot.keyClick(shown, Qt.Key.Key_0, ctrl)
    wait_for(1)
    qtbot.keyClick(shown, Qt.Key.Key_Plus, ctrl)
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert current_theme().scale == 1.0
    assert window.preferences.scale == 100


@pytest.mark.slow
@pytest.mark.heavy
def test_letters_of_a_chapter_are_as_large_as_those_of_a_map(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window(sentence=sentence_of(20))
    present_in(window, "chapter weight")
    window.showNormal()
    window.resize(1280, 800)
    qtbot.waitUntil(lambda: current_theme().scale == scale_for((1280, 800)), timeout=3000)
    learn = learn_page_of(window)
    assert learn is not None
    qtbot.waitUntil(
        lambda: (
            learn.view is not None and learn.view.large_map is not None and bool(learn.state.result)
        )
    )
    assert learn.view is not None
    shown = learn.view.large_map
    assert isinstance(shown, Heatmap)
    qtbot.waitUntil(lambda: shown.layout_now is not None and shown.layout_now.row_step == 1)
    assert shown.layout_now is not None
    assert shown.layout_now.font.pixelSize() >= 800 / LINES_PER_SCREEN
    presentation_of(window).end()


@pytest.mark.heavy
@pytest.mark.parametrize(
    "size", first_quick([(1024, 768), (1280, 800), (1366, 768), (1920, 1080)], is_one_argument=True)
)
def test_charts_and_film_of_a_run_fit_the_screen_in_letters_for_the_back_row(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path, size: tuple[int, int]
) -> None:
    window = make_window()
    present_in(window, "training")
    page, shown = train_page_of(window), presentation_of(window)
    assert page is not None
    page.state.begin(request(tmp_path / "run"))  # after F5
    for event in (
        started(tmp_path / "run"),
        step_done(1),
        epoch_done(1),
        *(probe(number) for number in range(20)),
    ):
        page.state.apply(event)
    view = page.run_view
    assert view is not None
    window.showNormal()
    window.resize(*size)
    qtbot.waitUntil(lambda: current_theme().scale == scale_for(size), timeout=3000)
    qtbot.waitUntil(lambda: view.film.heatmap.layout_now is not None, timeout=3000)
    settle_layout()
    assert view.parts.verticalScrollBar().maximum() == 0
    assert view.film.height() > 0.6 * size[1]
    texts = [label for label in shown.findChildren(QLabel) if label.isVisible() and label.text()]
    assert view.film.meaning in texts
    for words in (*texts, view.film.kind_menu, view.charts.main.quantity_menu):
        assert words.fontInfo().pixelSize() >= size[1] / LINES_PER_SCREEN
    presentation_of(window).end()
    assert view.film.parentWidget().isAncestorOf(view.samples), "below the charts, as before"
    assert view.charts.compare.isVisibleTo(page)


@pytest.mark.slow
@pytest.mark.heavy
def test_learns_list_is_as_high_as_its_buttons_after_a_presentation(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    open_chapter_in(window, "weight")
    assert learn_page_of(window) is not None
    lessons, area = learn_page_of(window).list.lesson_buttons, learn_page_of(window).list._area
    present_in(window, "chapter weight")
    window.showNormal()
    window.resize(1280, 800)
    qtbot.waitUntil(lambda: current_theme().scale == scale_for((1280, 800)), timeout=3000)
    settle_layout()
    presentation_of(window).end()
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() == 0)
    assert lessons
    assert all(not button.visibleRegion().isEmpty() for button in lessons)


@pytest.mark.slow
@pytest.mark.heavy
def test_a_presented_chapter_shows_its_sentence_its_translation_and_changes(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window(None, loader=open_once, sentence="Ein Hund schläft.")
    present_in(window, "chapter kinds")
    shown, learn = presentation_of(window), learn_page_of(window)
    assert learn is not None
    qtbot.waitUntil(
        lambda: learn.view is not None and "Ein Hund schläft.\u2069 → " in shown.target.text()
    )
    before = shown.target.text()
    assert not shown.changes.isVisible()
    assert learn.view is not None
    learn.view.text.tries[0].click()
    qtbot.waitUntil(lambda: shown.changes.isVisible())
    qtbot.waitUntil(lambda: shown.target.text() != before)
    assert shown.changes.texts == ["all cross-attention off"]
    assert shown.rect().contains(shown.target.geometry())
    present_in(window, "map")
    assert not shown.changes.texts, "those of the Translate page"
    assert shown.source.text() == "Ein Hund schläft."
    present_in(window, "training")
    assert not shown.target.isVisible()
    presentation_of(window).end()


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)])
def test_a_presented_chapter_shows_the_heads_of_all_layers(
    make_window: MakeWindow, qtbot: QtBot, size: tuple[int, int]
) -> None:
    window = make_window(None, loader=open_once, sentence="Ein Hund schläft.")
    present_in(window, "chapter heads")
    window.showNormal()
    window.resize(*size)
    qtbot.waitUntil(lambda: current_theme().scale == scale_for(size), timeout=3000)
    learn = learn_page_of(window)
    assert learn is not None
    qtbot.waitUntil(lambda: learn.view is not None and learn.state.result is not None)
    assert learn.view is not None
    (grid,) = learn.view.findChildren(HeadGrid)
    qtbot.waitUntil(
        lambda: grid.height() > size[1] // 2 and grid.visibleRegion().boundingRect() == grid.rect()
    )
    least = grid.least_height()
    grid.state.settings.toggle_fold("encoder")
    assert grid.least_height() < least
    qtbot.waitUntil(lambda: grid.visibleRegion().boundingRect() == grid.rect())
    presentation_of(window).end()


@pytest.mark.slow
@pytest.mark.heavy
def test_a_presented_chapter_shows_all_tokens_of_a_long_sentence_beside_its_text(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window(None, loader=open_once, sentence=sentence_of(20))
    present_in(window, "chapter words")
    window.showNormal()
    learn = learn_page_of(window)
    assert learn is not None
    qtbot.waitUntil(lambda: learn.view is not None and learn.state.result is not None)
    view = learn.view
    assert view is not None
    text, figures = (
        area for area in view.findChildren(VerticalScrollArea) if area.parent() is view
    )
    for size in ((1280, 800), (1366, 768), (1440, 900), (1920, 1080)):
        window.resize(700, 700)
        qtbot.waitUntil(lambda: text.y() < figures.y())
        window.resize(*size)
        qtbot.waitUntil(lambda size=size: current_theme().scale == scale_for(size), timeout=3000)
        qtbot.waitUntil(lambda: text.x() < figures.x() and text.y() == figures.y(), timeout=3000)
        if size in ((1366, 768), (1920, 1080)):
            qtbot.waitUntil(lambda: figures.verticalScrollBar().maximum() == 0, timeout=3000)
    presentation_of(window).end()


class WaitingTranslator(FakeTranslator):
    """Translates other sentences than the first when it is allowed to."""

    allowed = threading.Event()

    def run(self, experiment, *, should_stop=lambda: False) -> Translation:
        while (
            "Hund" in experiment.source_text and not self.allowed.wait(0.01) and not should_stop()
        ):
            pass
        return super().run(experiment, should_stop=should_stop)


@pytest.mark.heavy
def test_the_old_sentence_and_map_stay_until_the_new_ones_are_computed(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    WaitingTranslator.allowed.clear()
    window = make_window(loader=WaitingTranslator)
    shown = presented(window, qtbot)
    window.state.submit(edit_text("Ein Hund ."))
    window.state.submit(intervene(HeadScaled(Head("cross", 0, 0))))
    qtbot.waitUntil(lambda: BUSY in shown.target.text())
    assert not shown.changes.texts
    assert shown.source.text() == "Ein Mann ."
    assert shown.target.text().startswith("Ein mann.")
    view = window.state.maps.view()
    assert view is not None
    assert "mann" in view.column_labels
    WaitingTranslator.allowed.set()
    qtbot.waitUntil(lambda: shown.source.text() == "Ein Hund .")
    assert BUSY not in shown.target.text()
    assert len(shown.changes.texts) == 1


@pytest.mark.heavy
def test_values_stand_outside_the_presented_map(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    shown, heatmap = presented(window, qtbot), window.translate_page.head.heatmap
    seen = []

    def rests() -> bool:
        seen.append(shown.value.geometry())
        return len(seen) > 20 and all(geometry == seen[-1] for geometry in seen[-20:])

    qtbot.waitUntil(rests)
    pair = Pair(1, 1)
    geometry = shown.value.geometry()
    window.state.selection.pin(pair)
    assert shown.value.text() == "\n".join(map_text.describe(window.state, pair) or ())
    settle_layout()
    assert shown.value.geometry() == geometry
    assert heatmap._painter is not None
    assert not heatmap._painter.shows_value
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert heatmap._painter.shows_value


@pytest.mark.heavy
def test_panels_leave_no_marks_in_the_presentation(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    window.analysis.open_tab("steps")
    settle_layout()
    assert window.state.selection.step == 0
    presented(window, qtbot)
    assert window.state.selection.step is None
    qtbot.keyClick(presentation_of(window), Qt.Key.Key_Escape)
    assert window.state.selection.step == 0


@pytest.mark.heavy
def test_keys_walk_switch_and_compare(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    state, shown = window.state, presented(window, qtbot)
    assert not shown.hint.isHidden()
    head = state.selection.head
    qtbot.keyClick(shown, Qt.Key.Key_Left if head.head else Qt.Key.Key_Right)
    assert state.selection.head != head
    assert shown.caption.text().startswith(display_text(state.selection.head.title))
    assert shown.hint.isHidden()
    qtbot.keyClick(shown, Qt.Key.Key_D)
    assert state.maps.shown == "changed"
    assert "changed" not in shown.caption.text()
    qtbot.keyClick(shown, Qt.Key.Key_O)
    qtbot.waitUntil(lambda: state.result is not None and state.result.is_changed)
    assert state.selection.head in state.experiment.heads_off
    assert " · off" in shown.caption.text()
    assert "its output is dropped" in shown.caption.text()
    panel = window.translate_page.head
    assert "its output is dropped" in panel.meaning.text()
    seen = []
    for _ in range(3):
        qtbot.keyClick(shown, Qt.Key.Key_D)
        seen.append(state.maps.shown)
        assert state.maps.shown in shown.caption.text().split("\n")[0]
    assert sorted(seen) == ["changed", "difference", "original"]
    qtbot.keyClick(shown, Qt.Key.Key_O)
    qtbot.waitUntil(lambda: state.result is not None and not state.result.is_changed)
    assert not state.experiment.interventions


@pytest.mark.heavy
def test_it_shows_lines_where_the_page_does(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    presented(window, qtbot)
    head = window.translate_page.head
    assert head.heatmap.isVisible()
    window.state.settings.picture = "lines"
    assert lines_of(head).isVisible()
    assert lines_of(head)._painter is not None


@pytest.mark.heavy
def test_without_a_translation_it_says_so(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window(None, wait=False, sentence="")
    present_in(window)
    shown = presentation_of(window)
    assert shown.target.text() == "There is no translation yet."
    qtbot.keyClick(shown, Qt.Key.Key_O)
    qtbot.keyClick(shown, Qt.Key.Key_Right)
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert not shown.isVisible()


@pytest.mark.heavy
def test_a_presenters_remote_steps_through_the_heads_without_a_lesson(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    state, shown = window.state, presented(window, qtbot)
    assert shown.scene.isHidden()
    num_layers, num_heads = state.maps.shape("cross")
    state.intents.choose_head(Head("cross", 0, num_heads - 1))
    qtbot.keyClick(shown, Qt.Key.Key_PageDown)
    assert state.selection.head == Head("cross", 1, 0), (
        "after the last head of a layer comes the next layer"
    )
    assert shown.caption.text().startswith(display_text(state.selection.head.title))
    qtbot.keyClick(shown, Qt.Key.Key_PageUp)
    assert state.selection.head == Head("cross", 0, num_heads - 1)
    state.intents.choose_head(Head("cross", num_layers - 1, num_heads - 1))
    qtbot.keyClick(shown, Qt.Key.Key_PageDown)
    assert state.selection.head == Head("cross", num_layers - 1, num_heads - 1), (
        "there is none after it"
    )
    assert shown.isVisible()


@pytest.mark.slow
@pytest.mark.heavy
def test_a_presenters_remote_steps_through_the_scenes_of_a_lesson(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window = make_window()
    write_lesson_file(lesson_for(window), tmp_path / "lesson.augenmerk")
    documents_of(window).open(tmp_path / "lesson.augenmerk")
    shown = presented(window, qtbot)
    assert shown.scene.isVisible()
    assert "scenes" in shown.hint.text()
    places = [shown.scene.text().split(" · ")[0]]
    for key in (Qt.Key.Key_PageDown, Qt.Key.Key_Right, Qt.Key.Key_PageDown, Qt.Key.Key_Left):
        qtbot.keyClick(shown, key)
        qtbot.waitUntil(lambda: not window.state.request.is_running)
        places.append(shown.scene.text().split(" · ")[0])
    assert places == ["1 of 3", "2 of 3", "3 of 3", "3 of 3", "2 of 3"]
    scene = lessons_of(window).lesson.scene
    assert scene is not None
    assert scene.text in shown.scene.text()
    assert shown.source.text() == "Zwei Hunde ."
    assert window.state.selection.head == Head("decoder", 1, 2)
    qtbot.keyClick(shown, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert window.state.selection.head == Head("decoder", 1, 1)
    lessons_of(window).close()
    assert shown.scene.isHidden()


@pytest.mark.heavy
@pytest.mark.parametrize("size", [(1100, 700), (1280, 800)])
@pytest.mark.parametrize("num_characters", [290, 900])
@pytest.mark.parametrize("page", ["", "chapter mask"])
def test_long_texts_of_a_scene_are_shown_or_scroll(
    make_window: MakeWindow,
    qtbot: QtBot,
    tmp_path: Path,
    size: tuple[int, int],
    num_characters: int,
    page: str,
) -> None:
    window = make_window(sentence=sentence_of(20))
    lesson, path = lesson_for(window), tmp_path / "lesson.augenmerk"
    of_lengths = (
        ("A head and a word. ", num_characters),
        ("At which word? ", 105),
        ("At this one. ", 125),
    )
    text, question, answer = ((words * 50)[:length].strip() for words, length in of_lengths)
    saved = replace(lesson.scenes[0].saved, experiment=Experiment(sentence_of(20)))
    scene = Scene("Long", text, saved, question=question, answer=answer, page=page)
    write_lesson_file(
        replace(lesson, scenes=(scene, replace(scene, title="Unanswered", answer=""), scene)), path
    )
    documents_of(window).open(path)
    qtbot.waitUntil(
        lambda: lessons_of(window).lesson.scene is not None and not window.state.request.is_running
    )
    present_in(window, page or "map")
    shown = presentation_of(window)
    window.showNormal()
    window.resize(*size)
    qtbot.waitUntil(lambda: current_theme().scale == scale_for(size), timeout=3000)
    settle_layout()
    while (
        unseen := shown.scene.height() - shown.scene.visibleRegion().boundingRect().bottom() - 1
    ) > 0:
        qtbot.keyClick(shown, Qt.Key.Key_PageDown)
        assert (
            shown.scene.height() - shown.scene.visibleRegion().boundingRect().bottom() - 1 < unseen
        )
        assert answer not in shown.scene.text(), "first, the rest of text and question"
    qtbot.keyClick(shown, Qt.Key.Key_PageDown)
    settle_layout()
    assert shown.scene.height() >= shown.scene.heightForWidth(shown.scene.width())
    seen = shown.scene.visibleRegion().boundingRect()
    assert seen.bottom() == shown.scene.rect().bottom(), "the end of the answer is in sight"
    (area,) = (
        area
        for area in shown.findChildren(ContentHeightScrollArea)
        if area.isAncestorOf(shown.scene)
    )
    last = shown.target if page else shown.caption
    is_all_seen = last.visibleRegion().boundingRect() == last.rect()
    assert area.verticalScrollBar().isVisible() != is_all_seen
    assert seen == shown.scene.rect() or num_characters == 900
    assert is_all_seen or not page, "above a chapter there is room"
    while shown.scene.height() > area.height() and area.verticalScrollBar().value() > 0:
        qtbot.keyClick(shown, Qt.Key.Key_PageUp)
        assert answer in shown.scene.text(), "first, the beginning of the text"
    for position in ("1 of 3", "2 of 3"):
        while lessons_of(window).lesson.place_text == position:
            is_all_seen = last.visibleRegion().boundingRect().bottom() == last.rect().bottom()
            qtbot.keyClick(shown, Qt.Key.Key_PageDown)
        assert is_all_seen, "before the next scene, the translation and its caption"
        settle_layout()


@pytest.mark.heavy
@pytest.mark.parametrize("style", ["ring", "arrow", "dim"])
def test_a_pointer_at_a_head_marks_its_name(
    make_window: MakeWindow, qtbot: QtBot, style: PointerStyle
) -> None:
    window = make_window(sentence=sentence_of(9))
    present_in(window, "map")
    caption, head = presentation_of(window).caption, window.state.selection.head
    assert current_theme().palette.pointer not in caption.text()
    window.state.selection.pointer = Pointer("head", style)
    assert f'{current_theme().palette.panel};">{display_text(head.title)}' in caption.text()
    assert current_theme().palette.pointer in caption.text()
    assert "<br>Each row" in caption.text()
    window.state.selection.pointer = None
    assert caption.text().startswith(display_text(head.title))
    presentation_of(window).end()


@pytest.mark.heavy
def test_small_maps_keep_their_marks_until_the_scene_is_there(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    WaitingTranslator.allowed.set()
    window = make_window(loader=WaitingTranslator)
    write_lesson_file(lesson_for(window), tmp_path / "lesson.augenmerk")
    documents_of(window).open(tmp_path / "lesson.augenmerk")
    qtbot.waitUntil(lambda: not window.state.request.is_running)
    WaitingTranslator.allowed.clear()
    lessons_of(window).lesson.step(1)
    qtbot.waitUntil(lambda: window.state.request.is_running)
    (off,) = window.state.experiment.heads_off
    assert marks_of_heads(window.state, off.kind) == {}
    WaitingTranslator.allowed.set()
    qtbot.waitUntil(lambda: not window.state.request.is_running)
    assert marks_of_heads(window.state, off.kind)[off.layer, off.head].is_off


@pytest.mark.slow
@pytest.mark.heavy
def test_presented_heads_are_measured_without_a_button(
    make_window: MakeWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = read_sample(SampleChoice("gold"), 4)
    monkeypatch.setattr(
        "augenmerk.viz_app.extensions.tabs.heads.view.read_sample", lambda *choice: few
    )
    monkeypatch.setattr("augenmerk.core.extensions.analyses.importance.BATCH_SIZE", 1)
    window = make_window(None, loader=open_once)
    window.analysis.open_tab("heads")
    tab = window.analysis.tab
    assert isinstance(tab, HeadsTab)
    settle_layout()
    assert not tab.request.is_running, "in the window, the user starts a long computation"
    present_in(window, "heads")
    assert tab.request.is_running
    qtbot.waitUntil(lambda: tab.heads.importance is not None)
    present_in(window, "map")
    present_in(window, "heads")
    tab.stop()
    assert not tab.request.is_running
    present_in(window, "map")
    present_in(window, "heads")
    assert not tab.request.is_running, "partial results stay"
    presentation_of(window).end()


def widest_gap(label: QLabel) -> int:
    """The widest range of columns without ink near the middle of a label."""
    image, middle = label.grab().toImage(), label.width() // 2
    ground = image.pixelColor(0, 0)
    is_free = [
        all(image.pixelColor(x, y) == ground for y in range(image.height()))
        for x in range(middle - middle // 4, middle + middle // 4)
    ]
    return max((len(list(columns)) for free, columns in groupby(is_free) if free), default=0)


@pytest.mark.slow
@pytest.mark.heavy
def test_a_presented_comparison_shows_all_maps_and_no_controls(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window(sentence=sentence_of(20))
    window.analysis.open_tab("compare")
    tab = window.analysis.tab
    assert isinstance(tab, CompareTab)
    present_in(window, "compare")
    assert tab.sentence.isVisible(), "there is nothing to show yet"
    tab.sentence.setText(sentence_of(19))
    qtbot.mouseClick(tab.compare, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: tab.maps.isVisible())
    window.showNormal()
    for size in ((1280, 800), (1366, 768), (1920, 1080)):
        window.resize(*size)
        qtbot.waitUntil(lambda size=size: current_theme().scale == scale_for(size), timeout=3000)
        qtbot.waitUntil(lambda: tab._area.verticalScrollBar().maximum() == 0, timeout=3000)
        assert tab.maps.first.x() < tab.maps.second.x() < tab.maps.change.x()
        for panel in (tab.maps.first, tab.maps.second, tab.maps.change):
            assert len(panel.matrices[0].row_labels) <= 20
            needed = row_height(current_theme().font("body"))
            assert panel.cell_rect(MatrixCell(0, 0, 0)).height() >= needed, (
                "every row has its label"
            )
        for width in (
            range(tab.texts.width() - 200, tab.texts.width(), 40) if size == (1280, 800) else ()
        ):
            texts = QLabel(tab.texts.text(), wordWrap=True)
            texts.setFont(tab.texts.font())
            texts.resize(width, texts.heightForWidth(width))
            assert widest_gap(texts) >= current_theme().base_px, "the sentences do not touch"
        assert "head" in tab.maps.value.text()
    controls = (
        tab.sentence,
        tab.compare,
        tab.reads_first,
        tab.explanation,
        *tab.question_buttons.values(),
    )
    assert not any(part.isVisible() for part in controls)
    window.analysis.open_tab("steps")
    assert presentation_of(window).view is not None
    assert presentation_of(window).view.name == "steps"
    assert not tab.is_presented
    presentation_of(window).end()
    window.analysis.open_tab("compare")
    assert [part for part in controls if not part.isVisible()] == []


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["source", "steps"])
def test_twenty_rows_are_all_in_sight_in_presented_tabs(
    make_window: MakeWindow, qtbot: QtBot, name: str
) -> None:
    window = make_window(sentence=sentence_of(20))
    present_in(window, name)
    tab = window.analysis.tab
    window.showNormal()
    window.resize(1280, 800)
    qtbot.waitUntil(lambda: current_theme().scale == scale_for((1280, 800)), timeout=3000)
    areas = [area for area in tab.findChildren(VerticalScrollArea) if area.isVisible()]
    assert areas
    settle_layout()
    left = min(area.mapTo(window, QPoint()).x() for area in areas)
    words = presentation_of(window).target
    assert left - words.mapTo(window, words.rect().topRight()).x() > current_theme().base_px, (
        "the words do not touch it"
    )
    qtbot.waitUntil(lambda: all(area.verticalScrollBar().maximum() == 0 for area in areas))
    assert not tab.explanation.isVisible()
    presentation_of(window).end()


@pytest.mark.parametrize(
    ("source", "target"),
    [("אדם עומד", "a man stands"), ("ein mann steht", "رجل يقف"), ("אדם עומד", "رجل يقف")],
)
def test_a_sentence_is_left_of_its_translation_whatever_their_directions(
    theme: Theme, source: str, target: str
) -> None:
    document = QTextDocument()
    document.setHtml(sentence_pair(source, target))
    text = document.toPlainText()
    layout = QTextLayout(text)
    layout.beginLayout()
    line = layout.createLine()
    layout.endLayout()

    def places(part: str) -> list[float]:
        start = text.index(part)
        return [float(line.cursorToX(start + index)[0]) for index in range(1, len(part))]  # type: ignore[index]

    arrow = float(line.cursorToX(text.index("→"))[0])  # type: ignore[index]
    assert max(places(source)) <= arrow <= min(places(target))
    for part in (source, target):
        is_falling = places(part) == sorted(places(part), reverse=True)
        assert is_falling == is_right_to_left(part)


def test_the_choices_of_a_computed_question_stand_below_it(theme: Theme) -> None:
    shown = scene_text("1 of 2", "", "What happens? It rises · It falls", "")
    question, choices = shown.split("<br>")[1:]
    assert "<b" in question
    assert "What happens?" in question
    assert "<b" not in choices
    assert "It rises · It falls" in choices
    assert "Which? One" in scene_text("1 of 2", "", "Which? One", "")


@pytest.mark.heavy
def test_keys_of_heads_are_named_where_a_head_is_shown(make_window: MakeWindow) -> None:
    window = make_window()
    heads = window.state.selection.head
    for name, names_heads in (
        ("map", True),
        ("steps", True),
        ("word", True),
        ("source", False),
        ("training", False),
    ):
        present_in(window, name)
        assert ("heads" in presentation_of(window).hint.text()) == names_heads
    present_in(window, "source")
    QTest.keyClick(presentation_of(window), Qt.Key.Key_O)
    assert window.state.selection.head == heads
    assert not window.state.experiment.interventions
    presentation_of(window).end()


@pytest.mark.heavy
def test_the_keys_are_named_in_body_text(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    shown = presented(window, qtbot)
    settle_layout()
    assert shown.hint.fontInfo().pixelSize() >= current_theme().base_px


def test_panels_stacked_for_large_letters_are_side_by_side_again_afterwards(
    make_window: MakeWindow,
) -> None:
    """A splitter's restored state contains its direction, but not the order of its parts."""
    parts = make_window().translate_page.arrangement
    splitters = parts, parts.maps
    states = [splitter.saveState() for splitter in splitters]
    before = [parts.maps.widget(index) for index in range(2)]
    parts._stack(True)
    assert [parts.maps.widget(index) for index in range(2)] == before[::-1]
    for splitter, state in zip(splitters, states, strict=True):
        splitter.restoreState(state)
    parts._stack(False)
    assert [parts.maps.widget(index) for index in range(2)] == before
    assert [splitter.orientation() for splitter in splitters] == [Qt.Orientation.Horizontal] * 2
