"""The export menu as a person uses it: entries, keys, dialogs, the clipboard, and what cannot be written."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from tests.viz_app.conftest import MakeWindow
from viz_app.export.menu import ExportMenu
from viz_app.state.translate_state import HeadChoice
from viz_app.translate.page import TranslatePage

FILES = [
    ("map", "map.svg"),
    ("map", "map.png"),
    ("heads", "heads.svg"),
    ("page", "page.svg"),
    ("page", "page.pdf"),
    ("page", "page.png"),
    ("numbers", "map.csv"),
    ("html", "maps.html"),
]


@pytest.fixture
def page(make_window: MakeWindow) -> TranslatePage:
    page = make_window(sentence="Ein Mann .").translate_page
    page.choose(HeadChoice("cross", 1, 4))
    return page


@pytest.fixture
def menu(page: TranslatePage) -> ExportMenu:
    return page.head.export_menu


def save_by_dialog(menu: ExportMenu, entry: str, target: Path) -> None:
    menu.entries[entry].trigger()
    assert menu.dialog is not None
    dialog = menu.dialog
    dialog.fileSelected.emit(str(target))
    dialog.reject()


def the_box(page: TranslatePage) -> QMessageBox:
    (box,) = [box for box in page.window().findChildren(QMessageBox) if box.isVisible()]
    return box


@pytest.mark.figures
@pytest.mark.parametrize(("entry", "name"), FILES)
def test_the_menu_saves_what_is_shown(page: TranslatePage, menu: ExportMenu, tmp_path: Path, entry: str, name: str):
    assert page.head.export_button.isVisible()
    save_by_dialog(menu, entry, tmp_path / name)
    assert (tmp_path / name).stat().st_size > 50
    assert page.window().top_bar.status.text() == f"saved {name}"


def test_every_entry_says_what_it_does(menu: ExportMenu) -> None:
    assert menu.toolTipsVisible()
    assert all(action.toolTip() not in ("", action.text()) for action in menu.entries.values())
    texts = " ".join(action.text() for action in menu.entries.values())
    for name in ("PNG", "SVG", "PDF", "CSV", "JSON", "NPZ", "HTML", "Copy"):
        assert name in texts


def test_the_windows_menu_offers_the_export_too(page: TranslatePage, menu: ExportMenu) -> None:
    actions = page.window().top_bar.menu_button.menu().actions()
    assert actions[0].menu() is menu
    assert actions[0].text() == "Export"


def test_the_entry_says_whether_the_map_is_a_heatmap_or_lines(page: TranslatePage, menu: ExportMenu) -> None:
    assert "heatmap" in menu.entries["map"].text()
    page.head.picture_menu.actions_by_name["lines"].trigger()
    menu.aboutToShow.emit()
    assert "lines" in menu.entries["map"].text()


def test_keys_export_too(page: TranslatePage, menu: ExportMenu, qtbot: QtBot) -> None:
    page.window().activateWindow()
    qtbot.waitUntil(page.window().isActiveWindow)
    control = Qt.KeyboardModifier.ControlModifier
    qtbot.keyClick(page.heads.grid, Qt.Key.Key_S, control)
    assert menu.dialog is not None
    assert "map" not in menu.dialog.directory().dirName()
    menu.dialog.reject()
    QGuiApplication.clipboard().clear()
    qtbot.keyClick(page.heads.grid, Qt.Key.Key_C, control | Qt.KeyboardModifier.ShiftModifier)
    assert not QGuiApplication.clipboard().image().isNull()


def test_a_file_is_proposed_that_names_the_head(menu: ExportMenu) -> None:
    menu.entries["map"].trigger()
    assert menu.dialog is not None
    assert Path(menu.dialog.selectedFiles()[0]).name == "cross-attention-layer-2-head-5.png"
    menu.dialog.reject()


def test_picture_and_table_go_to_the_clipboard(page: TranslatePage, menu: ExportMenu) -> None:
    menu.entries["copy table"].trigger()
    first = QGuiApplication.clipboard().text().splitlines()[0]
    assert first.split("\t") == ["", "<sos>", "ein", "mann", ".", "<eos>"]
    menu.entries["copy picture"].trigger()
    assert QGuiApplication.clipboard().image().size() == page.head.heatmap.grab().toImage().size()
    assert "copied" in page.window().top_bar.status.text()


@pytest.mark.figures
@pytest.mark.parametrize(("entry", "name"), FILES)
def test_a_folder_that_cannot_be_written_is_told_and_loses_nothing(
    page: TranslatePage, menu: ExportMenu, tmp_path: Path, entry: str, name: str
) -> None:
    (tmp_path / "file").write_text("not a folder")
    save_by_dialog(menu, entry, tmp_path / "file" / name)
    box = the_box(page)
    assert name in box.informativeText()
    assert "Cannot write" in box.informativeText()
    box.accept()
    assert {path.name for path in tmp_path.iterdir()} <= {"file", "settings.ini"}
    assert page.head.heatmap.isVisible()


@pytest.mark.figures
@pytest.mark.parametrize(("entry", "name"), FILES)
def test_a_disk_that_is_full_is_told_and_the_older_file_stays(
    page: TranslatePage, menu: ExportMenu, tmp_path: Path, full_disk, entry: str, name: str
) -> None:
    (tmp_path / name).write_text("older")
    with full_disk(300):
        save_by_dialog(menu, entry, tmp_path / name)
    box = the_box(page)
    assert "Cannot write" in box.informativeText()
    box.accept()
    assert (tmp_path / name).read_text() == "older"
    assert {path.name for path in tmp_path.iterdir()} <= {name, "settings.ini"}
    save_by_dialog(menu, entry, tmp_path / name)  # there is room again
    assert (tmp_path / name).stat().st_size > 50


@pytest.mark.parametrize(("entry", "expected"), [("map", ".png, .svg, .pdf"), ("numbers", ".csv, .json, .npz")])
def test_another_ending_is_refused(page: TranslatePage, menu: ExportMenu, tmp_path: Path, entry: str, expected: str):
    save_by_dialog(menu, entry, tmp_path / "map.txt")
    box = the_box(page)
    assert expected in box.informativeText()
    box.accept()
    assert not (tmp_path / "map.txt").exists()


def test_a_name_without_an_ending_gets_that_of_the_chosen_format(menu: ExportMenu, tmp_path: Path) -> None:
    menu.entries["numbers"].trigger()
    dialog = menu.dialog
    assert dialog is not None
    dialog.selectNameFilter("JSON (*.json)")
    dialog.filterSelected.emit("JSON (*.json)")
    dialog.fileSelected.emit(str(tmp_path / "Straße"))
    dialog.reject()
    assert (tmp_path / "Straße.json").read_text(encoding="utf-8").startswith("{")


def test_a_file_that_gets_its_ending_here_is_replaced_only_when_asked(
    page: TranslatePage, menu: ExportMenu, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "map.csv").write_text("older")
    save_by_dialog(menu, "numbers", tmp_path / "map")
    assert (tmp_path / "map.csv").read_text() == "older"
    box = the_box(page)
    (replace,) = [button for button in box.buttons() if button.text() == "Replace"]
    qtbot.mouseClick(replace, Qt.MouseButton.LeftButton)
    assert "mann" in (tmp_path / "map.csv").read_text(encoding="utf-8")


def test_the_next_dialog_begins_where_the_last_file_went(menu: ExportMenu, tmp_path: Path) -> None:
    save_by_dialog(menu, "numbers", tmp_path / "map.csv")
    menu.entries["map"].trigger()
    assert menu.dialog is not None
    assert Path(menu.dialog.directory().absolutePath()) == tmp_path
    menu.dialog.reject()


def test_before_there_are_maps_nothing_is_taken_along(page: TranslatePage, menu: ExportMenu, tmp_path: Path) -> None:
    page.show_hint()
    for action in menu.entries.values():
        action.trigger()
        assert menu.dialog is None
        assert "translate a sentence first" in page.window().top_bar.status.text()
    saving = menu.saving
    for save in (saving.save_map, saving.save_heads, saving.save_page, saving.save_table, saving.save_html):
        save(tmp_path / "map.png")
    assert list(tmp_path.glob("map.*")) == []


def test_a_copied_picture_can_be_read_back(page: TranslatePage, menu: ExportMenu) -> None:
    menu.copy_picture()
    image = QGuiApplication.clipboard().image().convertToFormat(QImage.Format.Format_RGB32)
    colors = {image.pixel(x, y) for x in range(0, image.width(), 7) for y in range(0, image.height(), 7)}
    assert len(colors) > 5
