"""Taking along what the page shows: by menu and dialog, as pictures, numbers, and on the clipboard."""

import csv
import json
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


def _save_by_dialog(menu: ExportMenu, entry: int, target: Path) -> None:
    menu.actions()[entry].trigger()
    assert menu.dialog is not None
    dialog = menu.dialog
    dialog.fileSelected.emit(str(target))
    dialog.reject()


@pytest.mark.parametrize(("entry", "name"), [(0, "map.svg"), (0, "map.png"), (1, "heads.pdf"), (2, "map.csv")])
def test_the_menu_saves_what_is_shown(page: TranslatePage, tmp_path: Path, entry: int, name: str) -> None:
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
    menu.actions()[4].trigger()
    first = QGuiApplication.clipboard().text().splitlines()[0]
    assert first.split("\t") == ["", "<sos>", "ein", "mann", ".", "<eos>"]
    menu.actions()[3].trigger()
    assert QGuiApplication.clipboard().image().size() == page.head.heatmap.grab().toImage().size()


def test_a_place_that_cannot_be_written_is_told_and_loses_nothing(
    page: TranslatePage, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "file").write_text("not a folder")
    _save_by_dialog(page.head.export_menu, 2, tmp_path / "file" / "map.csv")
    (box,) = [box for box in page.window().findChildren(QMessageBox) if box.isVisible()]
    assert "file" in box.informativeText()
    box.accept()
    _save_by_dialog(page.head.export_menu, 2, tmp_path / "map.txt")
    (box,) = [box for box in page.window().findChildren(QMessageBox) if box.isVisible()]
    assert ".csv, .json, .npz" in box.informativeText()
    box.accept()
    assert page.head.heatmap.isVisible()


def test_before_there_are_maps_nothing_is_taken_along(page: TranslatePage, tmp_path: Path) -> None:
    page.show_hint()
    for save in (page.head.export_menu.save_map, page.head.export_menu.save_table):
        save(tmp_path / "map.png")
    assert list(tmp_path.glob("map.*")) == []
