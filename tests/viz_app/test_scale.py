"""The interface at other scales: everything grows, nothing is cut off, and it is remembered."""

from collections.abc import Iterator
from functools import partial

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import HeadScaled
from augenmerk.viz_app.extensions.learn.chapter_view import ChapterView
from augenmerk.viz_app.main_window import NARROW_CONTENT_SIZE, MainWindow
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_editor import intervene
from augenmerk.viz_app.theme import SCALES, Theme, current_theme, scales
from augenmerk.viz_app.widgets.layouts import PageStack, VerticalScrollArea, WindowScrollArea
from tests.conftest import open_once
from tests.viz_app.builders import cut_off, settle_layout
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import (
    LEARN,
    TRAIN,
    TRANSLATE,
    learn_page_of,
    open_chapter_in,
    train_page_of,
)

TIMEOUT_MS = 20_000


@pytest.fixture(autouse=True)
def _usual_scale(qapp: QApplication) -> Iterator[None]:
    yield
    Theme.light().apply(qapp)


def central_area(window: MainWindow) -> WindowScrollArea:
    """The pages, below the pages that are presented."""
    central = window.centralWidget()
    assert isinstance(central, PageStack)
    area = central.currentWidget()
    assert isinstance(area, WindowScrollArea)
    return area


def has_room(window: QWidget) -> None:
    assert not cut_off(window)


def test_lengths_follow_the_scale_and_come_back(
    qapp: QApplication, theme: Theme, qtbot: QtBot
) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    row = QHBoxLayout(widget)
    scales(row.setContentsMargins, 3, 5, 7, 9)
    inner = QHBoxLayout()
    scales(inner.setSpacing, 4)
    row.addLayout(inner)
    scales(widget.setMinimumWidth, 110)
    Theme.light(1.5).apply(qapp)
    margins = row.contentsMargins()
    assert (margins.left(), margins.top(), margins.right(), margins.bottom()) == (4, 8, 10, 14)
    assert (inner.spacing(), widget.minimumWidth()) == (6, 165)
    assert current_theme().pixel_size("large") == round(theme.base_px * 1.5) + 6
    for scale in SCALES:
        Theme.light(scale / 100).apply(qapp)
    Theme.light().apply(qapp)
    assert (row.contentsMargins().right(), inner.spacing(), widget.minimumWidth()) == (7, 4, 110)


def test_letters_in_the_style_sheet_are_scaled_once(qapp: QApplication) -> None:
    Theme.light(2.0).apply(qapp)
    sheet = qapp.styleSheet()
    assert f"font-size: {current_theme().base_px}px" in sheet
    assert "padding: 12px 28px" in sheet
    assert "border: 1px solid" in sheet


@pytest.mark.heavy
@pytest.mark.parametrize("scale", [80, 150, 200])
@pytest.mark.parametrize("is_changed_at_runtime", [False, True])
@pytest.mark.slow
def test_nothing_is_cut_off(
    make_window: MakeWindow,
    preferences: Preferences,
    qapp: QApplication,
    qtbot: QtBot,
    scale: int,
    is_changed_at_runtime: bool,
) -> None:
    preferences.is_analysis_open = True
    if not is_changed_at_runtime:
        preferences.scale = scale
        Theme.light(scale / 100).apply(qapp)
    window = make_window()
    pages = (TRANSLATE, LEARN, TRAIN)
    for page in reversed(pages):
        window.pages.show(page)
    window.resize(1440, 900)
    if is_changed_at_runtime:
        window.appearance.set_scale(scale)
        window.top_bar.show_notice("")
    QApplication.processEvents()
    for page in pages:  # the first stays in sight: what is shown again is laid out anew in any case
        window.pages.show(page)
        QApplication.processEvents()
        QApplication.processEvents()
        qtbot.waitUntil(partial(has_room, window))  # the devices may just have been found


@pytest.mark.heavy
def test_a_window_too_small_for_the_scale_scrolls(make_window: MakeWindow) -> None:
    window = make_window()
    window.resize(window.minimumSize())
    window.appearance.set_scale(200)
    QApplication.processEvents()
    area = central_area(window)
    content = area.widget()
    assert 2 * NARROW_CONTENT_SIZE[0] <= content.width() < window.width(), "beside the scroll bar"
    assert content.height() > 1.5 * window.height()
    assert area.horizontalScrollBar().maximum() == 0
    window.appearance.set_scale(100)
    QApplication.processEvents()
    assert content.width() == window.width()


def parts_of(view: ChapterView) -> list[VerticalScrollArea]:
    """Its text and its figures."""
    return [area for area in view.findChildren(VerticalScrollArea) if area.parent() is view]


@pytest.mark.slow
@pytest.mark.heavy
def test_a_chapter_higher_than_a_wide_window_makes_it_scroll(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    """Else its buttons would be drawn over its text."""
    window = make_window(None, sentence="Zwei Hunde spielen im Schnee.", loader=open_once)
    window.resize(1440, 900)
    window.appearance.set_scale(150)
    open_chapter_in(window, "overview")
    page, bar = learn_page_of(window), central_area(window).verticalScrollBar()
    assert page is not None
    qtbot.waitUntil(lambda: page.view is not None, timeout=TIMEOUT_MS)
    view = page.view
    assert view is not None
    text, _ = parts_of(view)
    settle_layout()
    qtbot.waitUntil(lambda: text.geometry().bottom() < view.next_button.mapTo(view, QPoint()).y())
    assert bar.maximum() > 0
    window.appearance.set_scale(100)


@pytest.mark.slow
@pytest.mark.heavy
def test_a_chapter_below_its_text_scrolls_with_the_window_alone(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    window.resize(1100, 700)
    window.appearance.set_scale(150)
    open_chapter_in(window, "words")
    page, area = learn_page_of(window), central_area(window)
    assert page is not None
    qtbot.waitUntil(lambda: page.view is not None, timeout=TIMEOUT_MS)
    view, bar = page.view, area.verticalScrollBar()
    assert view is not None
    parts = parts_of(view)
    assert len(parts) == 2

    def is_whole() -> bool:
        return (
            all(part.verticalScrollBar().maximum() == 0 for part in parts)
            and bar.maximum() > window.height()
        )

    def is_in_sight(widget: QWidget) -> bool:
        return widget.visibleRegion().boundingRect().height() == widget.height()

    qtbot.waitUntil(is_whole)
    assert view.next_button.mapTo(view, QPoint()).y() > parts[1].geometry().bottom(), (
        "it is the last thing"
    )
    prediction = view.text.predictions[0]
    prediction.choices["more"].click()
    prediction.look.click()
    qtbot.waitUntil(lambda: is_in_sight(prediction.verdict), timeout=TIMEOUT_MS)
    page.state.submit(intervene(HeadScaled(Head("cross", 0, 0))))
    qtbot.waitUntil(
        lambda: page.state.result is not None and page.state.result.is_changed, timeout=TIMEOUT_MS
    )
    QApplication.processEvents()
    qtbot.waitUntil(is_whole)
    parts[0].setFocus()
    bar.setValue(0)
    qtbot.keyClick(parts[0], Qt.Key.Key_PageDown)
    assert bar.value() > 0, "keys scroll what the mouse wheel scrolls"
    bar.setValue(bar.maximum())
    open_chapter_in(window, "kinds")
    following = page.view
    assert following is not None
    assert following is not view
    qtbot.waitUntil(lambda: is_in_sight(following.text.title), timeout=TIMEOUT_MS)
    window.appearance.set_scale(100)
    text, figures = parts_of(following)
    button = following.next_button
    qtbot.waitUntil(lambda: figures.x() > max(text.x(), button.geometry().right()))
    assert button.y() >= text.geometry().bottom(), "it is below the text, not below the figures"


@pytest.mark.heavy
@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "scale"),
    [((1440, 900), 200), ((1100, 700), 150), ((1100, 700), 200), ((960, 620), 200)],
)
def test_a_large_scale_stacks_the_parts_and_nothing_scrolls_sideways(
    make_window: MakeWindow, qtbot: QtBot, size: tuple[int, int], scale: int
) -> None:
    window = make_window()
    page = window.translate_page
    beside = page.heads.geometry()
    window.resize(*size)
    window.appearance.set_scale(scale)
    window.top_bar.show_notice("")
    area = central_area(window)
    for page_index in (TRANSLATE, LEARN, TRAIN):
        window.pages.show(page_index)
        # a result that comes is laid out with the next events
        qtbot.waitUntil(lambda: not cut_off(window))
        assert area.horizontalScrollBar().maximum() == 0, page_index  # type: ignore[attr-defined]
    window.pages.show(TRANSLATE)
    share = 0.15 * window.height()  # of the map, below the sentence
    qtbot.waitUntil(lambda: page.head.visibleRegion().boundingRect().height() > share)
    assert (
        page.heads.mapTo(page, page.heads.rect().topLeft()).y()
        > page.head.mapTo(page, page.head.rect().topLeft()).y()
    )
    window.appearance.set_scale(100)
    window.resize(1440, 900)
    QApplication.processEvents()
    assert area.verticalScrollBar().maximum() == 0, "what is hidden makes no page higher"  # type: ignore[attr-defined]
    assert page.heads.geometry().left() == beside.left()
    assert page.heads.x() < page.head.x()


@pytest.mark.heavy
def test_start_of_a_training_is_above_the_fold_at_a_large_scale(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    window.resize(1280, 800)
    window.appearance.set_scale(150)
    window.pages.show(TRAIN)
    page = train_page_of(window)
    assert page is not None
    button = page.panel.start_button
    qtbot.waitUntil(
        lambda: (
            button.visibleRegion().boundingRect().size() == button.size() and button.width() > 100
        )
    )
    assert central_area(window).verticalScrollBar().maximum() == 0


def press(qtbot: QtBot, window: MainWindow, key: Qt.Key) -> int:
    """Presses a key with Ctrl, and waits for the scale that it chooses."""
    qtbot.keyClick(window, key, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: round(100 * current_theme().scale) == window.preferences.scale)
    return round(100 * current_theme().scale)


@pytest.mark.heavy
def test_the_sentence_returns_to_its_place_with_the_scale(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    field = window.translate_page.sentence.input
    before = field.mapTo(window, QPoint(0, 0)).x()
    window.appearance.set_scale(150)
    qtbot.waitUntil(lambda: field.mapTo(window, QPoint(0, 0)).x() > before)
    window.appearance.set_scale(100)
    qtbot.waitUntil(lambda: field.mapTo(window, QPoint(0, 0)).x() == before)


@pytest.mark.slow
def test_keys_change_the_scale_and_it_is_remembered(
    make_window: MakeWindow, qtbot: QtBot, preferences: Preferences
) -> None:
    window = make_window()
    assert press(qtbot, window, Qt.Key.Key_Plus) == 110
    assert press(qtbot, window, Qt.Key.Key_Equal) == 125
    assert press(qtbot, window, Qt.Key.Key_Minus) == 110
    assert Preferences(preferences.settings).scale == 110
    preferences.scale = SCALES[-2]
    assert [press(qtbot, window, Qt.Key.Key_Plus) for _ in range(2)] == [200, 200]
    preferences.scale = SCALES[1]
    assert [press(qtbot, window, Qt.Key.Key_Minus) for _ in range(2)] == [80, 80]
    assert press(qtbot, window, Qt.Key.Key_0) == 100
    window.commands.run("Zoom in (window)")
    assert preferences.scale == 110
    qtbot.waitUntil(lambda: current_theme().scale == 1.1)
    window.appearance.set_theme("dark")
    assert current_theme().is_dark
    assert current_theme().scale == 1.1


@pytest.mark.heavy
def test_quick_steps_restyle_all_widgets_once(
    make_window: MakeWindow, qtbot: QtBot, preferences: Preferences
) -> None:
    window = make_window()
    styled = Counting(window)
    styled.show()
    settle_layout()
    styled.num_styles = 0
    window.appearance.set_scale(SCALES[0])
    num_of_one = styled.num_styles
    assert num_of_one > 0
    styled.num_styles = 0
    for _ in range(5):
        qtbot.keyClick(window, Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
    assert preferences.scale == SCALES[5]
    qtbot.waitUntil(lambda: current_theme().scale == SCALES[5] / 100)
    assert styled.num_styles <= 2 * num_of_one
    styled.num_styles = 0
    window.appearance.set_scale(SCALES[5])
    assert styled.num_styles == 0, "nothing has changed"


def test_a_scale_that_makes_no_sense_is_the_usual_one(preferences: Preferences) -> None:
    for stored in ("-3", "1e9", "", "large"):
        preferences.settings.setValue("scale", stored)
        assert preferences.scale == 100


class Counting(QWidget):
    """Counts how often its style changes, and how often it is resized."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.num_styles = self.num_sizes = 0

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        self.num_styles += event.type() == QEvent.Type.StyleChange

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self.num_sizes += 1


def test_a_widget_is_restyled_a_few_times_however_deep_it_is(
    qapp: QApplication, qtbot: QtBot
) -> None:
    """A style sheet that replaced another came to each widget once for every widget that it is
    in."""
    Theme.light().apply(qapp)
    outermost = widget = Counting()
    qtbot.addWidget(outermost)
    for _ in range(12):
        widget = Counting(widget)
    outermost.show()
    QApplication.processEvents()
    widget.num_styles = 0
    Theme.light(1.1).apply(qapp)
    assert 1 <= widget.num_styles <= 3


def test_what_is_hidden_is_laid_out_when_it_is_shown(qapp: QApplication, qtbot: QtBot) -> None:
    outer = Counting()
    qtbot.addWidget(outer)
    inner = Counting(outer)
    outer.show()
    QApplication.processEvents()
    inner.hide()
    outer.num_sizes = inner.num_sizes = 0
    Theme.light(1.5).apply(qapp)
    assert (outer.num_sizes, inner.num_sizes) == (1, 0)
    inner.show()
    assert inner.num_sizes == 1
