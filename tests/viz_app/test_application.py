"""The whole app with the real engine and a small untrained checkpoint."""

import json
import os
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QSettings, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.core.checkpoint.file import save_checkpoint
from augenmerk.core.errors import ModelImportError, StorageError, TextError
from augenmerk.core.resources import example_sentences
from augenmerk.viz_app.application import (
    MAX_SETTINGS_BYTES,
    fit_to_screen,
    own_settings,
    repair_settings,
    run_app,
    save_picture,
)
from augenmerk.viz_app.extensions.train.run.settings import (
    load_choices,
    load_source,
    load_unfinished,
)
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.map_view_settings import MapViewSettings
from augenmerk.viz_app.translate.page import DimmingOverlay
from tests.builders import first_quick, run_process
from tests.core.translation.random_models import make_translator
from tests.limits import files_limited
from tests.viz_app.conftest import MakeWindow

WATCH_THE_FIRST_PAINT = """
import sys
from pathlib import Path
from augenmerk.viz_app import main_window

HEAVY = {"torch", "spacy", "matplotlib", "torchtext"}
seen = []
paint = main_window.MainWindow.paintEvent


def watched(self, event):
    seen.append(sorted(HEAVY & set(sys.modules)))
    assert self.isVisible()
    paint(self, event)


main_window.MainWindow.paintEvent = watched
from augenmerk.viz_app.application import run_app

status = run_app(Path(sys.argv[1]), "Ein Mann", Path(sys.argv[2]))
print(seen[0], status, "torch" in sys.modules, "matplotlib" in sys.modules)
"""


@pytest.fixture
def checkpoint(untrained_checkpoint: Path) -> Path:
    return untrained_checkpoint


@pytest.fixture
def window(make_window: MakeWindow, checkpoint: Path) -> MainWindow:
    """The window with the real engine."""
    return make_window(checkpoint, sentence="Ein Mann steht", loader=None)


def _ask(qtbot: QtBot, window: MainWindow, text: str) -> None:
    with qtbot.waitSignal(window.translation_shown, timeout=20_000):
        window.translate_page.sentence.input.set_text(text)


@pytest.mark.subprocess
@pytest.mark.slow
def test_the_window_is_painted_before_torch_spacy_or_matplotlib_is_imported(
    checkpoint: Path, tmp_path: Path
) -> None:
    result = run_process(
        [sys.executable, "-c", WATCH_THE_FIRST_PAINT, str(checkpoint), str(tmp_path / "out.png")],
        env={
            **os.environ,
            "QT_QPA_PLATFORM": "offscreen",
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
        },
        timeout=120,
    )
    assert result.stdout.strip() == "[] 0 True False", result.stderr
    # a picture leaves the user's settings alone
    assert not list((tmp_path / "config").rglob("*.conf"))


@pytest.mark.heavy
def test_a_screenshot_shows_the_translated_window(
    qapp: QApplication, checkpoint: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "deep" / "window.png"
    assert run_app(checkpoint, "Ein Mann steht", picture) == 0
    image = QImage(str(picture))
    assert (image.width(), image.height()) == (1440, 900)
    colors = {image.pixel(x, y) for x in range(0, 1280, 7) for y in range(300, 780, 7)}
    assert len(colors) > 40  # heatmaps, not an empty window


@pytest.mark.heavy
@pytest.mark.parametrize(
    "sentence", ["Ein Mann wartet.", example_sentences()[0]], ids=["own", "example"]
)
def test_a_screenshot_of_a_sentence_that_the_named_model_cannot_read_says_so(
    qapp: QApplication, tmp_path: Path, capsys: pytest.CaptureFixture[str], sentence: str
) -> None:
    path = tmp_path / "copy.safetensors"
    save_checkpoint(make_translator("copy task").checkpoint, path)
    assert run_app(path, sentence, tmp_path / "out.png") == 2
    assert "can be read by this model" in capsys.readouterr().err
    assert not (tmp_path / "out.png").exists()


@pytest.mark.heavy
def test_a_screenshot_of_a_missing_checkpoint_says_so(
    qapp: QApplication, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(tmp_path / "none.safetensors", "Ein Mann", tmp_path / "out.png") == 2
    assert "There is no file" in capsys.readouterr().err
    assert not (tmp_path / "out.png").exists()


def test_a_screenshot_of_a_model_that_must_be_imported_says_what_it_is(
    qapp: QApplication, tmp_path: Path
) -> None:
    with pytest.raises(ModelImportError, match=r"is not a model\. Choose the folder of a Marian"):
        run_app(tmp_path, "Ein Mann", tmp_path / "out.png")
    (tmp_path / "model.npz").write_bytes(b"PK\x03\x04")
    with pytest.raises(
        ModelImportError, match=r"is a model of Marian in its own format\. Convert it"
    ):
        run_app(tmp_path, "Ein Mann", tmp_path / "out.png")


def test_a_screenshot_of_nothing_is_refused(
    qapp: QApplication, checkpoint: Path, tmp_path: Path
) -> None:
    with pytest.raises(TextError, match="nothing to translate"):
        run_app(checkpoint, " ", tmp_path / "out.png")


@pytest.mark.heavy
def test_a_screenshot_that_cannot_be_written_says_so(
    qapp: QApplication, checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    assert run_app(checkpoint, "Ein Mann", tmp_path / "file" / "out.png") == 2
    assert "Cannot write" in capsys.readouterr().err


@pytest.mark.heavy
def test_difficult_text_is_translated_with_notes_and_marks(
    qtbot: QtBot, window: MainWindow
) -> None:
    panel = window.translate_page.sentence
    assert not panel.note.isVisible()

    _ask(qtbot, window, "🙂 ein Xylofon\n漢字 mann")
    assert "Unknown" in panel.note.text()
    assert "Line breaks" in panel.note.text()
    assert [mark.cursor.selectedText() for mark in panel.input.extraSelections()] == [
        "🙂",
        "Xylofon",
        "漢字",
    ]
    assert panel.input.text == "🙂 ein Xylofon\n漢字 mann"

    _ask(qtbot, window, "ein mann " * 120)
    (ignored,) = panel.input.extraSelections()
    assert ignored.format.fontStrikeOut()
    assert ignored.cursor.selectedText().split() == ["ein", "mann"] * (240 // 2 - 98 // 2)
    assert panel.input.text == "ein mann " * 120
    assert window.translate_page.head.heatmap.isVisible()


def test_far_too_much_text_is_refused_and_stays(qtbot: QtBot, window: MainWindow) -> None:
    text = "w " * 2_000
    with qtbot.waitSignal(window.failed, timeout=20_000):
        window.translate_page.sentence.input.set_text(text)
    assert window.findChildren(QMessageBox) == []
    assert "more than 1,000 words" in window.translate_page.sentence.note.text()
    assert window.translate_page.sentence.input.text == text


def test_the_maps_are_dimmed_until_a_refused_text_gives_way(
    qtbot: QtBot, window: MainWindow
) -> None:
    page = window.translate_page

    def is_dimmed(part: QWidget) -> bool:
        directly = Qt.FindChildOption.FindDirectChildrenOnly
        (overlay,) = part.findChildren(DimmingOverlay, options=directly)
        return overlay.isVisible()

    parts = page.heads, page.head, page.sentence.chips_area
    assert not any(map(is_dimmed, parts))
    with qtbot.waitSignal(window.failed, timeout=20_000):
        page.sentence.input.set_text("w " * 2_000)
    assert all(map(is_dimmed, parts))
    page.sentence.undo()
    qtbot.waitUntil(lambda: not window.state.request.is_running)
    assert not any(map(is_dimmed, parts))


@pytest.mark.heavy
@pytest.mark.parametrize("damage", ["missing", "empty", "truncated", "foreign"])
def test_a_damaged_checkpoint_leaves_the_one_loaded_before(
    qtbot: QtBot, window: MainWindow, checkpoint: Path, tmp_path: Path, damage: str
) -> None:
    path = tmp_path / "damaged.safetensors"
    content = {
        "empty": b"",
        "truncated": checkpoint.read_bytes()[:5000],
        "foreign": b"PNG or something else",
    }
    if damage in content:
        path.write_bytes(content[damage])
    with qtbot.waitSignal(window.failed, timeout=20_000):
        window.open_model(path)
    (dialog,) = window.findChildren(QMessageBox)
    assert str(path) in dialog.informativeText()
    assert dialog.detailedText() == ""  # an error the user can mend
    dialog.accept()
    assert window.loader.model is not None
    assert window.loader.model.name == checkpoint.stem
    _ask(qtbot, window, "ein mann auf einer leiter")


@pytest.mark.heavy
def test_closing_during_the_opening_of_a_model_ends_the_thread(
    qtbot: QtBot, make_window: MakeWindow, checkpoint: Path
) -> None:
    window = make_window(checkpoint, loader=None, wait=False)
    qtbot.waitUntil(lambda: window.worker._thread.ident is not None)
    window.close()
    window.worker._thread.join(30)  # on a busy machine the window has left it behind
    assert not window.worker._thread.is_alive()


def test_a_picture_is_saved_whole_or_not_at_all(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    save_picture(window, tmp_path / "one.png")
    assert [path.name for path in tmp_path.iterdir() if path.suffix in (".png", ".part")] == [
        "one.png"
    ]
    with (
        files_limited(1000),
        pytest.raises(StorageError, match=r"File too large.*allow larger files"),
    ):
        save_picture(window, tmp_path / "two.png")
    assert not (tmp_path / "two.png").exists()
    qtbot.keyClick(window.translate_page.heads.grid, Qt.Key.Key_Up)


def test_a_window_larger_than_the_screen_is_made_to_fit(qapp: QApplication, qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    room = window.screen().availableGeometry()
    window.setGeometry(room.x() + 20, room.y() + 10, room.width() + 200, room.height() + 100)
    fit_to_screen(window)
    assert room.contains(window.geometry())
    window.setGeometry(room.x() + 20, room.y() + 10, room.width() - 50, room.height() - 50)
    before = window.geometry()
    fit_to_screen(window)
    assert window.geometry() == before
    window.setMinimumSize(room.width() + 10, 50)
    fit_to_screen(window)
    assert room.contains(window.geometry()), "whatever its smallest size"


SHOWS_THE_MENU = """
import json, sys
from PySide6.QtCore import QRect, QSettings
from PySide6.QtWidgets import QApplication
from augenmerk.viz_app.application import MAX_SETTINGS_BYTES, fit_to_screen
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.map_view_settings import MapViewSettings
from augenmerk.viz_app.extensions.train.run.settings import load_choices, load_source, load_unfinished
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.theme import Theme

app = QApplication([])
preferences = Preferences(QSettings(sys.argv[1], QSettings.Format.IniFormat))
Theme.light().apply(app)
window = MainWindow(preferences)
window.opening.open_first_model = lambda: None
fit_to_screen(window)
window.show()
app.processEvents()
screen, button = window.screen().geometry(), window.top_bar.menu_button
place = QRect(button.mapToGlobal(button.rect().topLeft()), button.size())
print(screen.width(), screen.height(), screen.contains(window.frameGeometry()), screen.contains(place))
window.shutdown.end()
"""


@pytest.mark.slow
@pytest.mark.subprocess
@pytest.mark.parametrize(("width", "height"), [(800, 600), (1366, 768)])
def test_the_window_and_its_menu_fit_a_small_screen(
    tmp_path: Path, width: int, height: int
) -> None:
    screen = {
        "name": "small",
        "x": 0,
        "y": 0,
        "width": width,
        "height": height,
        "logicalDpi": 96,
        "dpr": 1,
    }
    (tmp_path / "screens.json").write_text(json.dumps({"screens": [screen]}))
    environment = os.environ | {
        "QT_QPA_PLATFORM": f"offscreen:configfile={tmp_path / 'screens.json'}"
    }
    result = run_process(
        [sys.executable, "-c", SHOWS_THE_MENU, str(tmp_path / "settings.ini")], env=environment
    )
    assert result.stdout == f"{width} {height} True True\n", result.stderr


KEYS = (
    *(
        "recent",
        "recent_experiments",
        "imports",
        "theme",
        "scale",
        "translate/model",
        "translate/head",
        "translate/lab",
    ),
    *(
        "analysis/open",
        "analysis/tab",
        "quick_tour/taken",
        "translate/lab_tab",
        "translate/first_steps",
    ),
    *("translate/rows", "translate/hide_wrapping", "lesson/file"),
    *(
        "lesson/place",
        "learn/language",
        "export/caption",
        "geometry/window",
        "geometry/lab_splitter",
        "train/preset",
    ),
    *(
        "train/data_kind",
        "train/num_epochs",
        "train/parent_folder",
        "train/unfinished",
        "train/sources",
    ),
)
WRONG_VALUES = {
    "text": "nonsense/1/x",
    "number": "-1",
    "list": "a, b, c",
    "nothing": "@Invalid()",
    "bytes": r"@ByteArray(\x1\xd9\xd0\xcb\0\x3\0\0)",
    "rectangle": "@Rect(1 2 3 4)",
    "unknown type": r"@Variant(\0\0\0\x7f\0\0\0\x4xyz\0)",
    "invalid type": r"@Variant(\0\0\xff\xff\0)",
    "pointer": r"@Variant(\0\0\0\x1f\0)",
    "type without a converter": r"@Variant(\0\0\0\x38\0)",
    "list with a pointer": r"x, @Variant(\0\0\0\x1f\0)",
    "time": r"@DateTime(\0\0\0\x10\0)",
}


@pytest.mark.parametrize("key", first_quick(KEYS))
def test_a_damaged_setting_is_read_without_a_message_and_the_others_are_kept(
    tmp_path: Path, key: str
) -> None:
    for kind, value in WRONG_VALUES.items():
        check_settings_with(key, value, tmp_path / f"{kind}.conf")


def check_settings_with(key: str, value: str, path: Path) -> None:
    section, _, name = key.rpartition("/")
    own_section = "[kept]\ntext=Ein Hund\nlist=a, b\nat=@@Variant(x\nbytes=@ByteArray(\\0)\n"
    path.write_text(f"[{section or 'General'}]\n{name}={value}\n{own_section}")
    repair_settings(path)
    settings = QSettings(str(path), QSettings.Format.IniFormat)
    preferences = Preferences(settings)
    for attribute, described in vars(Preferences).items():
        if isinstance(described, property):
            getattr(preferences, attribute)
    assert preferences.restored(MapViewSettings()) == MapViewSettings()
    assert load_choices(settings).preset
    assert load_unfinished(settings) is None
    assert load_source(settings, path.parent) is None
    preferences.bytes("window")
    preferences.recent_models.remember(path.parent)
    assert preferences.recent_models.paths[0] == path.parent
    settings.sync()
    values = [settings.value(f"kept/{key}") for key in ("text", "list", "at", "bytes")]
    assert values == ["Ein Hund", ["a", "b"], "@Variant(x", QByteArray(b"\0")]


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="elsewhere settings are no such file"
)
@pytest.mark.parametrize("kind", ["a pipe", "a link to a device"])
def test_settings_that_qt_would_read_for_ever_are_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "augenmerk" / "augenmerk.conf"
    path.parent.mkdir()
    if kind == "a pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    own_settings()
    assert not path.exists()
    path.symlink_to("/dev/zero")

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(StorageError, match="Remove this file, and start again"):
        own_settings()


def test_settings_of_absurd_size_are_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "augenmerk.conf"
    with path.open("wb") as file:
        file.truncate(MAX_SETTINGS_BYTES + 1)
    repair_settings(path)
    assert not path.exists()
    assert path.with_name("augenmerk.conf.unreadable").stat().st_size == MAX_SETTINGS_BYTES + 1
