"""What a person does again and again in one window leaves it with as many widgets and menu entries
as it had."""

import gc
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtWidgets import QDialog, QLayout, QLayoutItem, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.widgets.dialogs import show_failure
from augenmerk.viz_app.worker.inference import Failure
from tests.viz_app.builders import settle_layout
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import LEARN, TRAIN, TRANSLATE, exports_of

NUM_WARM_UPS, NUM_TIMES = 2, 3


def _open_models(window: MainWindow, qtbot: QtBot) -> None:
    for name in ("first", "second"):
        with qtbot.waitSignal(window.translation_shown):
            window.open_model(Path(f"{name}.safetensors"))


def _translate(window: MainWindow, qtbot: QtBot) -> None:
    for text in ("Zwei Hunde spielen .", "Ein Mann ."):
        with qtbot.waitSignal(window.translation_shown):
            window.translate_page.sentence.input.set_text(text)


def _change_the_theme(window: MainWindow, qtbot: QtBot) -> None:
    window.appearance.set_theme("dark")
    window.appearance.set_theme("light")


def _dismiss_dialogs(window: MainWindow, qtbot: QtBot) -> None:
    show_failure(window, "It failed", Failure("Something was wrong.", "a traceback"))
    window.commands.run("About Augenmerk")
    window.commands.run("Open a model…")
    exports_of(window).entries["map"].trigger()
    dialogs = [dialog for dialog in window.findChildren(QDialog) if dialog.isVisible()]
    assert len(dialogs) == 4
    for dialog in dialogs:
        dialog.close()


def _change_the_picture(window: MainWindow, qtbot: QtBot) -> None:
    head = window.translate_page.head
    for name in ("lines", "heatmap"):
        head.picture_menu.actions_by_name[name].trigger()
    head.explain_button.click()
    head.explain_button.click()


def _change_the_page(window: MainWindow, qtbot: QtBot) -> None:
    window.pages.show(TRAIN)
    window.pages.show(TRANSLATE)
    window.translate_page.arrangement.toggle_analysis()
    window.translate_page.arrangement.toggle_analysis()


@pytest.mark.heavy
@pytest.mark.parametrize(
    "act",
    [
        _open_models,
        _translate,
        _change_the_theme,
        _dismiss_dialogs,
        _change_the_picture,
        _change_the_page,
    ],
    ids=lambda act: act.__name__.strip("_"),
)
@pytest.mark.slow
def test_doing_it_again_leaves_as_many_objects_as_there_were(
    make_window: MakeWindow, qtbot: QtBot, act: Callable[[MainWindow, QtBot], None]
) -> None:
    window = make_window()
    window.analysis.open_tab("alignment")  # one that asks the worker for nothing

    def objects_after(times: int) -> list[str]:
        for _ in range(times):
            act(window, qtbot)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        return sorted(type(child).__name__ for child in window.findChildren(QObject))

    before = objects_after(NUM_WARM_UPS)
    assert objects_after(NUM_TIMES) == before


def stale_items() -> list[QLayoutItem]:
    """Python's wrappers of layout items that no layout has: each stands for whatever Qt creates at
    its address."""
    wrappers = [
        wrapper
        for wrapper in shiboken6.getAllValidWrappers()
        if isinstance(wrapper, QLayoutItem | QLayout)
    ]
    layouts = [wrapper for wrapper in wrappers if isinstance(wrapper, QLayout)]
    items = {
        shiboken6.getCppPointer(wrapper)[0]: wrapper
        for wrapper in wrappers
        if not isinstance(wrapper, QLayout)
    }
    held = [layout.itemAt(index) for layout in layouts for index in range(layout.count())]
    living = {shiboken6.getCppPointer(item)[0] for item in held if item is not None}
    return [item for address, item in items.items() if address not in living]


@pytest.mark.heavy
def test_no_wrapper_of_a_layout_item_outlives_the_item(make_window: MakeWindow) -> None:
    window = make_window(None)
    for page in (LEARN, TRAIN, TRANSLATE):
        window.pages.show(page)
        for width, height in ((1600, 1000), (960, 600), (1100, 700)):  # folded, stacked, and back
            window.resize(width, height)
            settle_layout()
    assert not stale_items()


def test_a_widget_of_a_test_stays_until_it_is_closed(qtbot: QtBot) -> None:
    """Otherwise one in a cycle of references may be collected while it paints, which crashes."""
    widget = QWidget()
    qtbot.addWidget(widget)
    reference = weakref.ref(widget)
    del widget
    gc.collect()
    assert reference() is not None
