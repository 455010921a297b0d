"""Taking along what the page shows: by menu and dialog, as pictures, numbers, and on the clipboard."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from tests.viz_app.conftest import MakeWindow
from viz_app.exporting import ExportMenu
from viz_app.state.snapshot import take_snapshot
from viz_app.state.translate_state import HeadChoice
from viz_app.translate_page import TranslatePage


@pytest.fixture
def page(make_window: MakeWindow) -> TranslatePage:
    page = make_window(sentence="Ein Mann .").translate_page
    page.choose(HeadChoice("cross", 1, 4))
    return page


def _weights(page: TranslatePage) -> np.ndarray:
    view = page.state.view()
    assert view is not None
    return view.weights


def _save_by_dialog(menu: ExportMenu, entry: str, target: Path) -> None:
    menu.entries[entry].trigger()
    assert menu.dialog is not None
    dialog = menu.dialog
    dialog.fileSelected.emit(str(target))
    dialog.reject()


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ("map", "map.svg"),
        ("map", "map.png"),
        ("heads", "heads.pdf"),
        ("page", "page.svg"),
        ("page", "page.pdf"),
        ("page", "page.png"),
        ("numbers", "map.csv"),
    ],
)
def test_the_menu_saves_what_is_shown(page: TranslatePage, tmp_path: Path, entry: str, name: str) -> None:
    assert page.head.export_button.isVisible()
    _save_by_dialog(page.head.export_menu, entry, tmp_path / name)
    assert (tmp_path / name).stat().st_size > 50


def test_a_picture_says_model_sentence_head_measure_and_label_mode(page: TranslatePage) -> None:
    snapshot = take_snapshot(page.state, "model")
    assert snapshot is not None
    for words in ("model: model", "Ein Mann .", "layer 2 · head 5", "weight α", "token read"):
        assert words in snapshot.caption
    page.state.hides_wrapping = True
    page.state.choose(HeadChoice("encoder", 0, 0))
    snapshot = take_snapshot(page.state, "model")
    assert snapshot is not None
    assert "source token" in snapshot.caption
    assert "hidden: " in snapshot.caption


def test_numbers_come_back_as_they_were(page: TranslatePage, tmp_path: Path) -> None:
    menu = page.head.export_menu
    for name in ("map.csv", "map.json", "map.npz"):
        menu.save_table(tmp_path / name)
    with (tmp_path / "map.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    assert header == ["", "<sos>", "ein", "mann", ".", "<eos>"]
    assert [row[0] for row in rows] == ["<sos>", "ein", "mann", "."]
    np.testing.assert_allclose(np.array([row[1:] for row in rows], dtype=float), _weights(page), rtol=1e-6)
    content = json.loads((tmp_path / "map.json").read_text(encoding="utf-8"))
    np.testing.assert_allclose(content["weights"], _weights(page), rtol=1e-6)
    assert content["map"] == "Cross-attention · layer 2 · head 5"
    with np.load(tmp_path / "map.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["map"], _weights(page))
        assert arrays["cross"].shape[:2] == (3, 8)


def test_picture_and_table_go_to_the_clipboard(page: TranslatePage) -> None:
    menu = page.head.export_menu
    menu.entries["copy table"].trigger()
    first = QGuiApplication.clipboard().text().splitlines()[0]
    assert first.split("\t") == ["", "<sos>", "ein", "mann", ".", "<eos>"]
    menu.entries["copy picture"].trigger()
    assert QGuiApplication.clipboard().image().size() == page.head.heatmap.grab().toImage().size()


def test_a_place_that_cannot_be_written_is_told_and_loses_nothing(
    page: TranslatePage, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "file").write_text("not a folder")
    _save_by_dialog(page.head.export_menu, "numbers", tmp_path / "file" / "map.csv")
    (box,) = [box for box in page.window().findChildren(QMessageBox) if box.isVisible()]
    assert "file" in box.informativeText()
    box.accept()
    for entry in ("map", "heads", "page"):
        _save_by_dialog(page.head.export_menu, entry, tmp_path / "file" / "picture.png")
        (box,) = [box for box in page.window().findChildren(QMessageBox) if box.isVisible()]
        assert "picture.png" in box.informativeText()
        box.accept()
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("file", "settings.ini")] == []
    _save_by_dialog(page.head.export_menu, "numbers", tmp_path / "map.txt")
    (box,) = [box for box in page.window().findChildren(QMessageBox) if box.isVisible()]
    assert ".csv, .json, .npz" in box.informativeText()
    box.accept()
    assert page.head.heatmap.isVisible()


def test_before_there_are_maps_nothing_is_taken_along(page: TranslatePage, tmp_path: Path) -> None:
    page.show_hint()
    for save in (page.head.export_menu.save_map, page.head.export_menu.save_table):
        save(tmp_path / "map.png")
    assert list(tmp_path.glob("map.*")) == []


@pytest.mark.parametrize("name", ["lines.svg", "lines.pdf", "lines.png"])
def test_lines_are_taken_along_as_lines_with_words_and_caption(page: TranslatePage, tmp_path: Path, name: str) -> None:
    page.head.picture_menu.actions_by_name["lines"].trigger()
    target = tmp_path / name
    page.head.export_menu.save_map(target)
    content = target.read_bytes()
    if name.endswith(".svg"):
        text = content.decode()
        for words in ("looks at", "layer 2 · head 5", "token read", "mann"):
            assert words in text
        assert text.count("<polyline") + text.count("<path") + text.count("<line") > 4
    else:
        assert content.startswith(b"%PDF" if name.endswith(".pdf") else b"\x89PNG")


def test_the_page_is_taken_along_with_its_words_and_a_caption(page: TranslatePage, tmp_path: Path) -> None:
    page.head.export_menu.save_page(tmp_path / "page.svg")
    text = (tmp_path / "page.svg").read_text(encoding="utf-8")
    for words in ("All heads", "Encoder", "Cross-attention", "rows: token read"):
        assert words in text


def test_a_caption_says_what_was_picked_and_that_a_translation_was_given(page: TranslatePage) -> None:
    page.state.pick_rows((1,))
    snapshot = take_snapshot(page.state, "model")
    assert snapshot is not None
    assert "picked: Row ein → " in snapshot.caption
    translation = page.state.translation
    assert translation is not None
    page.state.show(replace(translation, is_given=True))
    snapshot = take_snapshot(page.state, "model")
    assert snapshot is not None
    assert "given translation: " in snapshot.caption
