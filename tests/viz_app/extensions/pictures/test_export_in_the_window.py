"""The export menu of the window: of the page in sight, by button, menu and keys."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.extensions.pictures.menu import NOTHING
from augenmerk.viz_app.main_window import MainWindow
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.extensions.train.scripted import epoch_done, probe, request, started, step_done
from tests.viz_app.parts import TRAIN, TRANSLATE, exports_of, train_page_of


@pytest.fixture
def window(make_window: MakeWindow) -> MainWindow:
    return make_window(sentence="Ein Mann .")


def _save(window: MainWindow, entry: str, target: Path) -> None:
    exports_of(window).entries[entry].trigger()
    dialog = exports_of(window).dialog
    assert dialog is not None
    dialog.fileSelected.emit(str(target))
    dialog.reject()


def test_button_and_window_offer_the_same_menu(window: MainWindow) -> None:
    assert window.translate_page.head.export_button.menu() is exports_of(window)
    (entry,) = [
        action
        for action in window.top_bar.menu_button.menu().actions()
        if action.text() == "Export"
    ]
    assert entry.menu() is exports_of(window)


@pytest.mark.heavy
def test_what_was_saved_stands_in_the_top_bar(window: MainWindow, tmp_path: Path) -> None:
    _save(window, "numbers", tmp_path / "map.csv")
    assert window.top_bar.status.text() == "saved map.csv"
    assert (tmp_path / "map.csv").read_text(encoding="utf-8").startswith("query \\ key,")


@pytest.mark.slow
@pytest.mark.figures
def test_the_train_page_is_saved_while_it_is_in_sight(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    _save(window, "page", tmp_path / "translate.png")
    window.pages.show(TRAIN)
    assert train_page_of(window) is not None
    _save(window, "page", tmp_path / "train.png")
    first, second = (QImage(str(tmp_path / f"{name}.png")) for name in ("translate", "train"))
    assert not second.isNull()
    assert first != second
    exports_of(window).entries["map"].trigger()
    assert window.top_bar.status.text() == NOTHING, "the map of the Translate page is not in sight"
    qtbot.keyClick(train_page_of(window), Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert window.top_bar.status.text() == NOTHING
    window.pages.show(TRANSLATE)
    _save(window, "map", tmp_path / "map.svg")
    assert "mann" in (tmp_path / "map.svg").read_text(encoding="utf-8")


@pytest.mark.heavy
def test_the_film_is_exported_while_it_is_in_sight(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    window.pages.show(TRAIN)
    page = train_page_of(window)
    assert page is not None
    page.state.begin(request(tmp_path / "run"))
    for event in (started(tmp_path / "run"), step_done(1), epoch_done(1), probe(1, "zwei .")):
        page.state.apply(event)
    qtbot.waitUntil(lambda: page.export_source().has_maps)
    _save(window, "numbers", tmp_path / "film.csv")
    assert ",mann," in (tmp_path / "film.csv").read_text(encoding="utf-8")
    assert page.export_source().model == "run run · epoch 1 · step 5 · validation loss 5.000"
