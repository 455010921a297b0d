"""Every dialog has room for its texts, at the usual scale and at a larger one."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QDialog

from augenmerk.viz_app.extensions.help.part import HelpPart
from augenmerk.viz_app.extensions.lessons.lesson_bar import LessonTextDialog
from augenmerk.viz_app.extensions.lessons.lesson_documents import shipped_lessons
from augenmerk.viz_app.extensions.train.part import TrainPart
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.widgets.dialogs import show_failure
from augenmerk.viz_app.worker.inference import Failure
from tests.viz_app.builders import cut_off, settle_layout
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import (
    TRAIN,
    documents_of,
    exports_of,
    imports_of,
    lessons_of,
    part,
)

LONG_PATH = Path("/home/somebody") / ("a-long-name-of-a-folder-" * 3) / "model.safetensors"


@pytest.fixture(autouse=True)
def _usual_scale(qapp: QApplication) -> Iterator[None]:
    yield
    Theme.light().apply(qapp)


def _edit_lesson(window: MainWindow, folder: Path) -> None:
    documents_of(window).open(shipped_lessons()[0])
    lessons_of(window).bar.edit_button.setChecked(True)


def _rename_lesson(window: MainWindow, folder: Path) -> None:
    _edit_lesson(window, folder)
    lessons_of(window).editing.ask_for_title()


def _edit_scene(window: MainWindow, folder: Path) -> None:
    _edit_lesson(window, folder)
    lessons_of(window).editing.ask_for_texts()


def _close_changed_lesson(window: MainWindow, folder: Path) -> None:
    _edit_lesson(window, folder)
    lessons_of(window).lesson.rename("Another title of this lesson")
    lessons_of(window).close()


def _discard_texts(window: MainWindow, folder: Path) -> None:
    _edit_scene(window, folder)
    dialog = lessons_of(window).dialog
    assert isinstance(dialog, LessonTextDialog)
    dialog.title.setText("Another title of this scene")
    dialog.reject()


def _replace_file(window: MainWindow, folder: Path) -> None:
    (folder / "a-file-with-a-long-name.png").touch()
    exports = exports_of(window)
    exports.ask("map")
    assert exports.dialog is not None
    exports.dialog.fileSelected.emit(str(folder / "a-file-with-a-long-name"))
    exports.dialog.reject()


def _pause(window: MainWindow, folder: Path) -> None:
    window.pages.show(TRAIN)
    part(window, TrainPart).once_saved(lambda: None)


OPENERS: dict[str, Callable[[MainWindow, Path], object]] = {
    "about": lambda window, folder: part(window, HelpPart).show_about(),
    "keys": lambda window, folder: part(window, HelpPart).show_keys(),
    "failure": lambda window, folder: show_failure(
        window, "The model was not opened", Failure(f"{LONG_PATH} is no checkpoint.")
    ),
    "import": lambda window, folder: imports_of(window).choose_name(),
    "import folder": lambda window, folder: imports_of(window).offer(folder),
    "rename lesson": _rename_lesson,
    "edit scene": _edit_scene,
    "close lesson": _close_changed_lesson,
    "discard texts": _discard_texts,
    "replace file": _replace_file,
    "pause": _pause,
}


@pytest.mark.slow
@pytest.mark.parametrize("scale", [100, 150])
@pytest.mark.parametrize("name", OPENERS)
def test_no_text_of_a_dialog_is_cut(
    make_window: MakeWindow, tmp_path: Path, name: str, scale: int
) -> None:
    window = make_window()
    window.appearance.set_scale(scale)
    OPENERS[name](window, tmp_path)
    settle_layout()
    dialogs = [dialog for dialog in window.findChildren(QDialog) if dialog.isVisible()]
    texts = [text for dialog in dialogs for text in cut_off(dialog)]
    for dialog in reversed(dialogs):
        dialog.done(QDialog.DialogCode.Rejected)
    lessons_of(window).lesson.close()
    assert dialogs
    assert not texts
