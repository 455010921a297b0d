"""The export menu as a person uses it: entries, keys, dialogs, the clipboard, and what cannot be
written."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, Qt, QTimer
from PySide6.QtGui import QCursor, QEnterEvent, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.device import DeviceChoice
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import Coverage
from augenmerk.viz_app.extensions.pictures.menu import (
    EXPORT_GROUPS,
    EXPORTS,
    NOTHING,
    OF_RUNS,
    ExportMenu,
)
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_editor import edit_text
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.widgets.commands import CommandRegistry
from tests.viz_app.builders import settle_layout, shown
from tests.viz_app.extensions.pictures.conftest import SENTENCE, EmptyPage, MapsPage
from tests.viz_app.synthetic import make_result, make_translation

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
OF_MAPS = (
    *(name for group in EXPORT_GROUPS for name, export in group.items() if export.needs == "map"),
    "copy picture",
    "copy table",
)


@pytest.fixture
def told(menu: ExportMenu) -> list[str]:
    """What the menu said."""
    said: list[str] = []
    menu.done.connect(said.append)
    return said


def save_by_dialog(menu: ExportMenu, entry: str, target: Path) -> None:
    menu.entries[entry].trigger()
    assert menu.dialog is not None
    dialog = menu.dialog
    dialog.fileSelected.emit(str(target))
    dialog.reject()


def open_model(page: MapsPage, path: Path) -> None:
    run = load_checkpoint(path).run
    page.state.model = ModelInfo("mine", path, run, DeviceChoice("cpu", ""), 1)


def the_box(page: MapsPage) -> QMessageBox:
    (box,) = [box for box in page.window().findChildren(QMessageBox) if box.isVisible()]
    return box


@pytest.mark.slow
@pytest.mark.figures
@pytest.mark.parametrize(("entry", "name"), FILES)
def test_the_menu_saves_what_is_shown(
    menu: ExportMenu, told: list[str], tmp_path: Path, entry: str, name: str
) -> None:
    save_by_dialog(menu, entry, tmp_path / name)
    assert (tmp_path / name).stat().st_size > 50
    assert told == [f"saved {name}"]


@pytest.mark.slow
@pytest.mark.heavy
def test_a_picture_of_the_page_does_not_show_the_button_hovered_that_opened_the_menu(
    page: MapsPage, menu: ExportMenu, tmp_path: Path
) -> None:
    button = page.head.export_button
    button.setMenu(menu)
    settle_layout()  # the buttons above the thumbnails find their places
    menu.saving.save_page(tmp_path / "before.png")
    middle = button.rect().center()
    QCursor.setPos(button.mapToGlobal(middle))
    QApplication.sendEvent(
        button, QEnterEvent(QPointF(middle), QPointF(middle), QPointF(QCursor.pos()))
    )
    menu.saving.save_page(tmp_path / "hovered.png")
    assert QImage(str(tmp_path / "hovered.png")) != QImage(str(tmp_path / "before.png"))

    def choose() -> None:
        QCursor.setPos(page.mapToGlobal(page.rect().bottomRight()))  # away from every button
        menu.close()

    QTimer.singleShot(50, choose)
    button.showMenu()
    menu.saving.save_page(tmp_path / "after.png")
    assert QImage(str(tmp_path / "after.png")) == QImage(str(tmp_path / "before.png"))


def test_every_entry_says_what_it_does(menu: ExportMenu) -> None:
    assert menu.toolTipsVisible()
    assert all(action.toolTip() not in ("", action.text()) for action in menu.entries.values())
    texts = " ".join(action.text() for action in menu.entries.values())
    for name in ("PNG", "SVG", "PDF", "CSV", "JSON", "NPZ", "HTML", "Copy"):
        assert name in texts


def test_the_entry_says_whether_the_map_is_a_heatmap_or_lines(
    page: MapsPage, menu: ExportMenu
) -> None:
    menu.aboutToShow.emit()
    assert "heatmap" in menu.entries["map"].text()
    page.head.picture_menu.actions_by_name["lines"].trigger()
    menu.aboutToShow.emit()
    assert "lines" in menu.entries["map"].text()


def test_keys_export_too(page: MapsPage, menu: ExportMenu, qtbot: QtBot) -> None:
    CommandRegistry(page).add(menu, tuple(EXPORTS.values()))
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    control = Qt.KeyboardModifier.ControlModifier
    qtbot.keyClick(page.heads.grid, Qt.Key.Key_S, control)
    assert menu.dialog is not None
    assert menu.dialog.directory().dirName() != "map"
    menu.dialog.reject()
    QGuiApplication.clipboard().clear()
    qtbot.keyClick(page.heads.grid, Qt.Key.Key_C, control | Qt.KeyboardModifier.ShiftModifier)
    assert not QGuiApplication.clipboard().image().isNull()


def test_a_file_is_proposed_that_names_the_head(menu: ExportMenu) -> None:
    menu.entries["map"].trigger()
    assert menu.dialog is not None
    assert Path(menu.dialog.selectedFiles()[0]).name == "cross-attention-layer-2-head-5.png"
    menu.dialog.reject()


def test_picture_and_table_go_to_the_clipboard(
    page: MapsPage, menu: ExportMenu, told: list[str]
) -> None:
    menu.entries["copy table"].trigger()
    first = QGuiApplication.clipboard().text().splitlines()[0]
    assert first.split("\t") == ["query \\ key", "<sos>", *SENTENCE.lower().split(), "<eos>"]
    menu.entries["copy picture"].trigger()
    assert QGuiApplication.clipboard().image().size() == page.head.heatmap.grab().toImage().size()
    assert len(told) == 2
    assert all("copied" in message for message in told)


@pytest.mark.slow
@pytest.mark.figures
@pytest.mark.parametrize(("entry", "name"), FILES)
def test_a_folder_that_cannot_be_written_is_told_and_loses_nothing(
    page: MapsPage, menu: ExportMenu, tmp_path: Path, entry: str, name: str
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
@pytest.mark.slow
def test_a_disk_that_is_full_is_told_and_the_older_file_stays(
    page: MapsPage, menu: ExportMenu, tmp_path: Path, full_disk, entry: str, name: str
) -> None:
    save_by_dialog(menu, entry, tmp_path / name)  # with room, which also imports what it needs
    files = {path.name for path in tmp_path.iterdir()}
    assert name in files
    for path in tmp_path.glob(f"{name}*"):
        path.write_text("older")
    with full_disk(300):
        save_by_dialog(menu, entry, tmp_path / name)
    box = the_box(page)
    assert "Cannot write" in box.informativeText()
    box.accept()
    assert {path.read_text() for path in tmp_path.glob(f"{name}*")} == {"older"}
    assert {path.name for path in tmp_path.iterdir()} == files
    save_by_dialog(menu, entry, tmp_path / name)  # there is room again
    assert (tmp_path / name).stat().st_size > 50


@pytest.mark.parametrize(
    ("entry", "expected"), [("map", ".png, .svg or .pdf"), ("numbers", ".csv, .json or .npz")]
)
def test_another_ending_is_refused(
    page: MapsPage, menu: ExportMenu, tmp_path: Path, entry: str, expected: str
):
    save_by_dialog(menu, entry, tmp_path / "map.txt")
    box = the_box(page)
    assert expected in box.informativeText()
    box.accept()
    assert not (tmp_path / "map.txt").exists()


def test_a_name_without_an_ending_gets_that_of_the_chosen_format(
    menu: ExportMenu, tmp_path: Path
) -> None:
    menu.entries["numbers"].trigger()
    dialog = menu.dialog
    assert dialog is not None
    dialog.selectNameFilter("JSON (*.json)")
    dialog.filterSelected.emit("JSON (*.json)")
    dialog.fileSelected.emit(str(tmp_path / "Straße"))
    dialog.reject()
    assert (tmp_path / "Straße.json").read_text(encoding="utf-8").startswith("{")


def test_a_file_that_gets_its_ending_here_is_replaced_only_when_asked(
    page: MapsPage, menu: ExportMenu, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "map.csv").write_text("older")
    save_by_dialog(menu, "numbers", tmp_path / "map")
    assert (tmp_path / "map.csv").read_text() == "older"
    box = the_box(page)
    (replace,) = [button for button in box.buttons() if button.text() == "Replace"]
    qtbot.mouseClick(replace, Qt.MouseButton.LeftButton)
    assert "straße" in (tmp_path / "map.csv").read_text(encoding="utf-8")


@pytest.mark.heavy
def test_the_next_dialog_begins_where_the_last_file_went(menu: ExportMenu, tmp_path: Path) -> None:
    save_by_dialog(menu, "numbers", tmp_path / "map.csv")
    menu.entries["map"].trigger()
    assert menu.dialog is not None
    assert Path(menu.dialog.directory().absolutePath()) == tmp_path
    menu.dialog.reject()


@pytest.mark.heavy
def test_before_there_are_maps_only_the_page_is_exported(
    page: MapsPage, menu: ExportMenu, told: list[str], tmp_path: Path
) -> None:
    page.state.clear()
    for name in OF_MAPS:
        menu.entries[name].trigger()
        assert menu.dialog is None
        assert told.pop() == NOTHING
    saving = menu.saving
    for save in (saving.save_map, saving.save_heads, saving.save_table, saving.save_html):
        save(tmp_path / "map.png")
    assert list(tmp_path.glob("map.*")) == []
    save_by_dialog(menu, "page", tmp_path / "page.png")
    assert told == ["saved page.png"]


@pytest.mark.heavy
def test_the_page_in_sight_is_exported_not_one_that_is_hidden(
    page: MapsPage, menu: ExportMenu, told: list[str], tmp_path: Path, qtbot: QtBot
) -> None:
    other = shown(qtbot, EmptyPage(), (300, 200))
    save_by_dialog(menu, "page", tmp_path / "maps.png")
    page.in_sight = other
    save_by_dialog(menu, "page", tmp_path / "other.png")
    qtbot.waitUntil(lambda: menu.dialog is None)
    assert QImage(str(tmp_path / "maps.png")).width() > 2 * page.width()
    assert 2 * other.width() <= QImage(str(tmp_path / "other.png")).width() < 800
    told.clear()
    menu.entries["map"].trigger()
    assert menu.dialog is None
    assert told == [NOTHING]
    menu.aboutToShow.emit()
    hidden = [name for name, action in menu.entries.items() if not action.isVisible()]
    assert hidden == ["analysis", *OF_RUNS]
    disabled = [
        name
        for name, action in menu.entries.items()
        if action.isVisible() and not action.isEnabled()
    ]
    assert disabled == sorted([*OF_MAPS, "running page"], key=list(menu.entries).index)
    page.in_sight = page
    menu.aboutToShow.emit()
    disabled = [
        name
        for name, action in menu.entries.items()
        if action.isVisible() and not action.isEnabled()
    ]
    assert disabled == ["running page"]  # no model is open


@pytest.mark.figures
@pytest.mark.slow
def test_a_caption_can_be_left_out_and_this_is_remembered(
    page: MapsPage, menu: ExportMenu, preferences: Preferences, tmp_path: Path
) -> None:
    assert menu.entries["caption"].isChecked()
    for entry in ("map", "heads", "page"):
        save_by_dialog(menu, entry, tmp_path / f"{entry}-with.svg")
    menu.entries["caption"].trigger()
    assert not preferences.exports_captions
    for entry in ("map", "heads", "page"):
        save_by_dialog(menu, entry, tmp_path / f"{entry}-without.svg")
        texts = [
            (tmp_path / f"{entry}-{which}.svg").read_text(encoding="utf-8")
            for which in ("with", "without")
        ]
        assert "model: model" in texts[0], entry
        assert "model: model" not in texts[1], entry
    assert not ExportMenu(lambda: page, preferences, page).entries["caption"].isChecked()


def test_a_copied_picture_can_be_read_back(page: MapsPage, menu: ExportMenu) -> None:
    menu.copy_picture()
    image = QGuiApplication.clipboard().image().convertToFormat(QImage.Format.Format_RGB32)
    colors = {
        image.pixel(x, y) for x in range(0, image.width(), 7) for y in range(0, image.height(), 7)
    }
    assert len(colors) > 5


def test_the_page_that_runs_is_written_in_the_background_and_its_size_reported(
    page: MapsPage,
    menu: ExportMenu,
    told: list[str],
    tmp_path: Path,
    qtbot: QtBot,
    untrained_checkpoint: Path,
) -> None:
    open_model(page, untrained_checkpoint)
    page.state.intents.choose_head(Head("cross", 0, 1))
    target = tmp_path / "lab.html"
    save_by_dialog(menu, "running page", target)
    assert menu.writing_dialog is not None
    assert not target.exists()
    qtbot.waitUntil(lambda: menu.writing_dialog is None, timeout=30_000)
    assert len(told) == 1
    assert told[0].startswith(f"saved lab.html: {target.stat().st_size / 1e6:.1f} MB")
    (data,) = re.findall(
        r'<script type="application/json" id="data">(.*?)</script>',
        target.read_text(encoding="utf-8"),
    )
    opened = json.loads(data)
    assert opened["text"] == SENTENCE
    assert opened["head"] == {"kind": "cross", "layer": 0, "head": 1}


def test_a_page_that_cannot_be_written_is_reported(
    page: MapsPage,
    menu: ExportMenu,
    told: list[str],
    tmp_path: Path,
    qtbot: QtBot,
    untrained_checkpoint: Path,
) -> None:
    open_model(page, untrained_checkpoint)
    (tmp_path / "file").touch()
    save_by_dialog(menu, "running page", tmp_path / "file" / "lab.html")
    qtbot.waitUntil(lambda: menu.writing_dialog is None, timeout=30_000)
    assert the_box(page).text() == "The page was not saved"
    assert told == []


def test_maps_of_the_last_sentence_are_not_exported_while_a_translation_is_withheld(
    menu: ExportMenu, page: MapsPage, told: list[str]
) -> None:
    coverage = Coverage((), True, is_foreign=True)
    page.state.submit(edit_text("the man"), asks=False)
    page.state.accept(make_result(replace(make_translation(text="the man"), coverage=coverage)))
    assert page.state.result is not None, "the maps of the last sentence are still in sight"
    for name in OF_MAPS:
        assert not EXPORTS[name].is_offered(menu), name
        EXPORTS[name].on(menu).run()
    assert menu.dialog is None
    assert told == [NOTHING] * len(OF_MAPS)
