"""Models of other projects, opened in the window: folders, files, names; what is not whole; the
target language.
"""

import json
import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot
from safetensors.torch import save_file

from tests.viz_app.builders import settle_layout

os.environ.setdefault("HF_HUB_OFFLINE", "1")

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.config import RunConfig
from augenmerk.core.errors import AnalysisError
from augenmerk.core.extensions.readers.model import HALF_ABOVE_BYTES, ImportSummary
from augenmerk.core.extensions.readers.pickled import how_to_convert, is_pytorch_file
from augenmerk.core.resources import bundled_model_path
from augenmerk.viz_app.application import run_app
from augenmerk.viz_app.extensions.imports.import_dialog import (
    HubDialog,
    ImportDialog,
    describe,
    precision_entries,
)
from augenmerk.viz_app.extensions.tabs.heads.state import SampleChoice, read_sample
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.models.loader import source_to_import
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_state import Stale
from augenmerk.viz_app.state.languages import languages_of
from tests.core.extensions.readers import joeynmt_models
from tests.core.extensions.readers.marian_models import make_folder
from tests.core.extensions.readers.pickles import pickles_read_here
from tests.core.extensions.readers.published import NotebookSeq2Seq, save_whole
from tests.core.extensions.readers.test_hub import NAME, Hub
from tests.core.extensions.readers.test_importing import change
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import imports_of, target_menu_of
from tests.viz_app.synthetic import FakeTranslator

LIMIT_MS = 60_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_folder(
        tmp_path_factory.mktemp("marian") / "opus-mt-de-fr", tokenizer={"target_lang": "fr"}
    )


def dialog_of(window: MainWindow) -> ImportDialog:
    dialog = imports_of(window).dialog
    assert dialog is not None
    return dialog


def drop(window: MainWindow, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dropEvent(event)


def test_a_model_of_ours_is_none_of_another_project_however_long_its_header_is(
    tmp_path: Path,
) -> None:
    """The length of the header stands first, and may begin like a pickle."""
    original, path = bundled_model_path().read_bytes(), tmp_path / "model.safetensors"
    length = int.from_bytes(original[:8], "little")
    longer = next(size for size in range(length, length + 257) if size % 256 == 0x80)
    header = original[8 : 8 + length] + b" " * (longer - length)
    path.write_bytes(longer.to_bytes(8, "little") + header + original[8 + length :])
    assert path.read_bytes().startswith(b"\x80")
    assert source_to_import(path) is None
    assert not is_pytorch_file(path)
    assert load_checkpoint(path).run.preset == "multi30k"


@pytest.mark.slow
@pytest.mark.heavy
def test_what_is_a_model_of_another_project_is_seen_in_the_file(
    folder: Path, tmp_path: Path
) -> None:
    assert source_to_import(folder) == folder
    for name in ("config.json", "model.safetensors"):
        assert source_to_import(folder / name) == folder
    alone = tmp_path / "model.safetensors"
    shutil.copy(folder / "model.safetensors", alone)
    assert source_to_import(alone) is None, (
        "the reader of checkpoints says that its folder is needed"
    )
    archive = tmp_path / "named-like-nothing"
    archive.write_bytes(b"PK\x03\x04 and more")
    assert source_to_import(archive) == archive
    text = tmp_path / "notes.txt"
    text.write_text("a text", encoding="utf-8")
    damaged = tmp_path / "damaged.safetensors"
    damaged.write_bytes((10**9).to_bytes(8, "little") + b"{")
    for path in (text, damaged, tmp_path / "missing"):
        assert source_to_import(path) is None


@pytest.mark.parametrize("name", ["config.yaml", "best.ckpt"])
def test_a_file_of_a_joeynmt_model_stands_for_its_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "config.yaml").write_text("model: {}", encoding="utf-8")
    (tmp_path / "best.ckpt").write_bytes(b"PK\x03\x04 and more")
    assert source_to_import(tmp_path / name) == tmp_path


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.subprocess
def test_a_dropped_folder_of_joeynmt_is_imported_and_opened(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window = make_window(None, loader=None)
    joey = joeynmt_models.make_folder(tmp_path / "reader-de-en").folder
    drop(window, joey / "best.ckpt")
    dialog = dialog_of(window)
    qtbot.waitUntil(lambda: "JoeyNMT 2 · German to English" in dialog.about.text())
    with qtbot.waitSignal(window.model_opened, timeout=LIMIT_MS):
        dialog.import_button.click()
    assert window.state.languages == ("German", "English")


@pytest.mark.slow
@pytest.mark.heavy
def test_a_dropped_folder_is_imported_once_and_then_opened(
    make_window: MakeWindow, qtbot: QtBot, folder: Path
) -> None:
    window = make_window(None, loader=None)
    bundled = window.loader.model
    drop(window, folder)
    dialog = dialog_of(window)
    assert not dialog.import_button.isEnabled(), "not before it is known what it takes"
    assert "Looking at the files…" in dialog.about.text()
    settle_layout()
    buttons = dialog.cancel_button, dialog.import_button, dialog.target.edit
    before = [(button.mapTo(dialog, QPoint()), button.size()) for button in buttons]
    qtbot.waitUntil(
        lambda: "Marian, by Hugging Face transformers · German to French" in dialog.about.text()
    )
    settle_layout()
    after = [(button.mapTo(dialog, QPoint()), button.size()) for button in buttons]
    assert after == before, "nothing moves under the pointer"
    assert dialog.import_button.isEnabled()
    assert dialog.focusWidget() is dialog.import_button, "Enter imports"
    assert [
        edit.placeholderText() for edit in (dialog.source_edit, dialog.target_language_edit)
    ] == [
        "German",
        "French",
    ]
    assert "GB of memory" in dialog.about.text()
    assert dialog.precision.text() == "Automatic: 32 bits, 1 MB ▾"
    dialog.precision.actions_by_name["half"].trigger()
    assert "on the disk in 16 bits (1 MB in 32)" in dialog.about.text()
    assert window.loader.model is bundled
    with qtbot.waitSignal(window.model_opened, timeout=LIMIT_MS) as opened:
        dialog.import_button.click()
        assert dialog.progress.isVisible()
    saved = window.preferences.models_folder / "opus-mt-de-fr.safetensors"
    assert opened.args[0].path == saved
    assert source_to_import(saved) is None
    assert load_checkpoint(saved).weights["output.bias"].dtype == torch.float16
    size = f"{saved.stat().st_size / 1e6:.1f} MB"
    assert window.top_bar.status.text() == f"Imported opus-mt-de-fr: {size}, weights in 16 bits"
    assert languages_of(window.state.model, window.state.experiment.source_text) == (
        "German",
        "French",
    )
    assert imports_of(window).dialog is None
    qtbot.waitUntil(lambda: not isinstance(window.state.shown, Stale), timeout=LIMIT_MS)
    assert "French" in window.translate_page.sentence.rows._target_name.text()
    with qtbot.waitSignal(window.model_opened, timeout=LIMIT_MS):
        window.open_model(folder / "config.json")  # imported before: nothing is asked
    assert imports_of(window).dialog is None


def test_the_choice_of_bits_tells_both_sizes_and_what_is_done_by_itself() -> None:
    summary = ImportSummary("m", "Marian", ("de", "en"), (), 74_000_000, 1, 1, False, False, False)
    small, halves = (
        replace(summary, num_parameters=9_000_000),
        replace(summary, has_half_precision=True),
    )
    pickled = replace(small, has_half_precision=None)
    shown = {
        name: list(precision_entries(known.stored_as(None)).values())
        for name, known in (
            ("large", summary),
            ("small", small),
            ("halves", halves),
            ("pickled", pickled),
        )
    }
    assert [texts[0][1] for texts in shown.values()] == [
        "Automatic: 16 bits, 148 MB, as 32 take over 100 MB",
        "Automatic: 32 bits, 36 MB, exact to the last digit",
        "Automatic: 16 bits, 148 MB, as in the original",
        "Automatic: as in the file, 18 MB in 16 bits or 36 MB in 32",
    ]
    assert [text for _, text in shown["small"][1:]] == [
        "16 bits, 18 MB: three digits of each weight are kept",
        "32 bits, 36 MB",
    ]
    assert shown["halves"][1][1] == "16 bits, 148 MB"
    assert (
        precision_entries(None)["auto"][0]
        == f"Automatic: as in the file, or 16 bits if 32 take over {HALF_ABOVE_BYTES / 1e6:.0f} MB"
    )
    assert "36 MB on the disk, or 18 MB if the weights in the file have 16 bits" in describe(
        pickled, "auto"
    )
    assert "36 MB on the disk in 32 bits (18 MB in 16)" in describe(small, "auto")


@pytest.mark.heavy
def test_a_folder_as_argument_is_offered_and_cancelling_opens_the_bundled_model(
    make_window: MakeWindow, qtbot: QtBot, folder: Path
) -> None:
    window = make_window(folder, wait=False)
    qtbot.waitUntil(lambda: imports_of(window).dialog is not None)
    assert "imported before it can be opened" in window.translate_page.message.label.text()
    with qtbot.waitSignal(window.translation_shown, timeout=LIMIT_MS):
        dialog_of(window).cancel_button.click()
    assert window.loader.model is not None
    assert window.loader.model.path is None
    assert not window.preferences.models_folder.exists()


@pytest.mark.heavy
@pytest.mark.parametrize("is_a_model", [True, False], ids=["of a model", "empty"])
def test_a_folder_in_place_of_the_last_model_is_reported_and_the_bundled_model_opens(
    make_window: MakeWindow,
    preferences: Preferences,
    folder: Path,
    tmp_path: Path,
    is_a_model: bool,
) -> None:
    preferences.model = folder if is_a_model else tmp_path
    window = make_window(None, loader=None)
    assert imports_of(window).dialog is None
    assert window.loader.model is not None
    assert window.loader.model.path == bundled_model_path()
    assert preferences.model is None
    (box,) = window.findChildren(QMessageBox)
    reason = "is a model of Marian (OPUS-MT). Import it first" if is_a_model else "it is a folder"
    assert reason in box.informativeText()
    box.accept()


@pytest.mark.heavy
def test_languages_that_a_folder_does_not_say_are_asked_for(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    folder = make_folder(tmp_path / "mine", tokenizer={"source_lang": None, "target_lang": None})
    window = make_window()
    window.open_model(folder)
    dialog = dialog_of(window)
    qtbot.waitUntil(dialog.source_edit.isEnabled, timeout=LIMIT_MS)
    assert "an unknown language" in dialog.about.text()
    assert "GB of memory" in dialog.about.text()
    assert "MB on the disk" in dialog.about.text()
    assert "takes about" in dialog.about.text()
    assert not dialog.heads_edit.isVisible()
    assert dialog.focusWidget() is dialog.source_edit
    dialog.source_edit.setText("de")
    dialog.target_language_edit.setText("f r")
    dialog.import_button.click()
    assert "'f r' is not a language" in dialog.problem.text()
    assert not dialog.progress.isVisible()
    dialog.target_language_edit.setText("fr")
    with qtbot.waitSignal(dialog.imported, timeout=LIMIT_MS) as imported:
        dialog.import_button.click()
    data = load_checkpoint(imported.args[0]).run.data
    assert (data.source_language, data.target_language) == ("de", "fr")


@pytest.mark.heavy
def test_the_line_that_converts_a_whole_model_can_be_copied(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    file = tmp_path / "iwslt.pt"
    save_whole(NotebookSeq2Seq(6, 6, width=32, layers=1, heads=2, inner=48), file)
    window = make_window()
    window.open_model(file)
    dialog = dialog_of(window)
    with pickles_read_here():
        dialog.import_button.click()
        qtbot.waitUntil(dialog.problem.isVisible, timeout=LIMIT_MS)
    assert "Do this only if you trust the file" in dialog.problem.text()
    assert how_to_convert(file) in dialog.problem.text()
    assert dialog.problem.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse


@pytest.mark.heavy
def test_the_heads_that_a_file_does_not_say_can_be_typed(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    file, text = tmp_path / "tut6-model.pt", tmp_path / "text"
    save_file(NotebookSeq2Seq(6, 6, width=32, layers=1, heads=2, inner=48).state_dict(), file)
    text.mkdir()
    # two words, and four special tokens
    for language, line in (("de", "ein hund"), ("en", "a dog")):
        (text / f"train.{language}").write_text(f"{line}\n{line}\n", encoding="utf-8")
    window = make_window()
    window.open_model(file)
    dialog = dialog_of(window)
    assert dialog.heads_edit.isVisible()
    assert not dialog.source_edit.isVisible()
    dialog.import_button.click()
    qtbot.waitUntil(dialog.problem.isVisible, timeout=LIMIT_MS)
    for edit in (dialog.data.edit, dialog.heads_edit):
        assert f"under “{edit.accessibleName()}” in the dialog" in dialog.problem.text()
    dialog.heads_edit.setText("2")
    dialog.data.edit.setText(str(text))
    with qtbot.waitSignal(dialog.imported, timeout=LIMIT_MS) as imported:
        dialog.import_button.click()
    assert load_checkpoint(imported.args[0]).run.model.num_heads == 2


@pytest.mark.heavy
def test_cancel_keeps_its_place_when_an_import_begins(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is where one looks for it, whether or not a problem of before disappears."""
    goes_on = threading.Event()

    def wait_and_fail(*_arguments: object) -> None:
        goes_on.wait(LIMIT_MS / 1000)
        raise AnalysisError("It cannot be read.")

    monkeypatch.setattr(
        "augenmerk.viz_app.extensions.imports.import_dialog.ImportJob.work", wait_and_fail
    )
    file = tmp_path / "tut6-model.pt"
    save_file(NotebookSeq2Seq(6, 6, width=32, layers=1, heads=2, inner=48).state_dict(), file)
    window = make_window()
    window.open_model(file)
    dialog = dialog_of(window)
    for tells_problem in (False, True):
        assert dialog.problem.isVisible() == tells_problem
        position = dialog.cancel_button.mapToGlobal(QPoint())
        goes_on.clear()
        dialog.import_button.click()
        assert dialog.progress.isVisible()
        settle_layout()
        assert dialog.cancel_button.mapToGlobal(QPoint()) == position
        goes_on.set()
        qtbot.waitUntil(lambda: not dialog.progress.isVisible(), timeout=LIMIT_MS)
    dialog.reject()


@pytest.mark.heavy
def test_a_stopped_import_leaves_nothing_and_the_model_stays(
    make_window: MakeWindow, qtbot: QtBot, folder: Path
) -> None:
    window = make_window()
    before = window.loader.model
    window.open_model(folder)
    dialog = dialog_of(window)
    qtbot.waitUntil(dialog.import_button.isEnabled, timeout=LIMIT_MS)
    dialog.import_button.click()
    dialog.cancel_button.click()
    importer = imports_of(window)._worker
    assert importer is not None
    assert importer.close(LIMIT_MS / 1000)
    saved = window.preferences.models_folder
    assert not saved.exists() or not list(saved.iterdir())
    assert window.loader.model is before


@pytest.mark.heavy
@pytest.mark.parametrize("missing", ["vocab.json", "source.spm", "model.safetensors"])
def test_half_a_folder_is_refused_by_the_name_of_what_is_missing(
    make_window: MakeWindow, qtbot: QtBot, folder: Path, tmp_path: Path, missing: str
) -> None:
    half = tmp_path / "half"
    shutil.copytree(folder, half)
    (half / missing).unlink()
    window = make_window()
    before = window.loader.model
    window.open_model(half)
    dialog = dialog_of(window)
    qtbot.waitUntil(lambda: missing in dialog.problem.text(), timeout=LIMIT_MS)
    assert not dialog.import_button.isEnabled(), "it would fail again"
    assert "Looking at" not in dialog.about.text()
    dialog.cancel_button.click()
    assert window.loader.model is before
    assert not list(window.preferences.models_folder.glob("*"))


SPOILED = {
    "a link out of the folder": (
        lambda folder: (
            (folder / "vocab.json").unlink(),
            (folder / "vocab.json").symlink_to("/etc/hostname"),
        ),
        ("vocab.json", "lies outside the folder", "Copy the file into the folder"),
    ),
    "another architecture": (
        lambda folder: change(
            folder / "config.json", model_type="bart", architectures=["BartModel"]
        ),
        ("the architecture BartModel", "Choose a Marian model (MarianMTModel)"),
    ),
    "shapes that do not fit": (
        lambda folder: change(folder / "config.json", d_model=64),
        ("model.safetensors", "has the shape [32, 32], not [64, 64]"),
    ),
    "cut off": (
        lambda folder: os.truncate(folder / "model.safetensors", 20_000),
        ("model.safetensors", "may be cut off", "use another copy"),
    ),
    "a vocabulary with a missing id": (
        lambda folder: change(folder / "vocab.json", **{token_with(folder, 17): None}),
        ("vocab.json", "has no token with the id 17", "Use files that belong together"),
    ),
    "too little memory": (
        lambda folder: None,
        ("GB of memory", "are free", "Close other programs"),
    ),
}


def token_with(folder: Path, token_id: int) -> str:
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    return next(token for token, other_id in vocabulary.items() if other_id == token_id)


@pytest.mark.heavy
def test_what_cannot_be_imported_is_told_and_the_open_model_stays_and_goes_on(
    make_window: MakeWindow,
    qtbot: QtBot,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    window = make_window()
    before = window.loader.model
    for name, (spoil, words) in SPOILED.items():
        copy = tmp_path / name.replace(" ", "-")
        shutil.copytree(folder, copy)
        spoil(copy)
        if name == "too little memory":
            monkeypatch.setattr(
                "augenmerk.core.extensions.readers.weights.available_memory", lambda: 1000
            )
        window.open_model(copy)
        dialog = dialog_of(window)
        qtbot.waitUntil(
            lambda dialog=dialog: "Looking at" not in dialog.about.text(), timeout=LIMIT_MS
        )
        if dialog.problem.isHidden():
            dialog.import_button.click()
        else:
            assert not dialog.import_button.isEnabled(), "it would fail again"
        qtbot.waitUntil(
            lambda dialog=dialog: not dialog.progress.isVisible() and dialog.problem.isVisible(),
            timeout=LIMIT_MS,
        )
        for word in words:
            assert word in dialog.problem.text(), name
        assert dialog.height() >= dialog.layout().totalHeightForWidth(dialog.width()), (
            "all of it can be read"
        )
        dialog.cancel_button.click()
        assert window.loader.model is before
        assert not list(window.preferences.models_folder.glob("*")), "nothing is half written"
        qtbot.waitUntil(lambda: imports_of(window).dialog is None)
    with qtbot.waitSignal(window.translation_shown, timeout=LIMIT_MS):
        window.translate_page.sentence.input.set_text("Zwei Hunde .")


@pytest.mark.heavy
def test_a_file_that_cannot_be_imported_is_explained_instead_of_being_offered_for_import(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window = make_window(None, loader=None)
    for name, start, words in (
        ("model.bin", b"GGUF", "is a model of llama.cpp (GGUF), which cannot be imported. Choose"),
        ("model.onnx", b"\x08\x07", "is a model of ONNX. Import the model that it was made from"),
    ):
        (tmp_path / name).write_bytes(start + bytes(100))
        with qtbot.waitSignal(window.loader.failed, timeout=LIMIT_MS) as failed:
            drop(window, tmp_path / name)
        assert imports_of(window).dialog is None
        assert failed.args[0].message.startswith(f"{tmp_path / name} {words}")
        for box in window.findChildren(QMessageBox):
            box.accept()


@pytest.mark.heavy
def test_settings_without_weights_say_how_to_import_the_folder_in_the_window(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window = make_window(None, loader=None)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "marian"}))
    drop(window, tmp_path / "config.json")
    dialog = dialog_of(window)
    qtbot.waitUntil(lambda: bool(dialog.problem.text()), timeout=LIMIT_MS)
    command = "Open a model folder…"
    assert f"import the whole folder: in the window by “{command}”" in dialog.problem.text()
    assert any(bound.title == command for bound in window.commands.commands)


@pytest.mark.heavy
def test_without_a_connection_the_dialog_says_what_to_do(
    make_window: MakeWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    window = make_window()
    window.commands.run("Open a model from Hugging Face…")
    dialog = dialog_of(window)
    assert isinstance(dialog, HubDialog)
    assert dialog.source == "Helsinki-NLP/opus-mt-de-en"
    assert dialog.focusWidget() is dialog.name_edit
    assert dialog.name_edit.selectedText() == dialog.source
    made = Path(dialog.target.edit.text()).parent
    assert not made.exists()
    dialog.pairs.setCurrentRow(2)
    assert dialog.source == "Helsinki-NLP/opus-mt-de-fr"
    assert dialog.target.edit.text().endswith("opus-mt-de-fr.safetensors")
    dialog.import_button.click()
    qtbot.waitUntil(lambda: "cannot be fetched" in dialog.problem.text(), timeout=LIMIT_MS)
    assert "import the folder" in dialog.problem.text()
    assert not made.exists(), "nothing was saved there"
    assert dialog.import_button.isEnabled()


@pytest.mark.heavy
def test_without_the_package_the_dialog_says_how_to_install_it(
    make_window: MakeWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    window = make_window()
    imports_of(window).choose_name()
    dialog = dialog_of(window)
    dialog.import_button.click()
    qtbot.waitUntil(
        lambda: "pip install 'augenmerk[hub]'" in dialog.problem.text(), timeout=LIMIT_MS
    )


@pytest.mark.heavy
def test_a_name_is_typed_or_nothing_is_imported(make_window: MakeWindow) -> None:
    window = make_window()
    imports_of(window).choose_name()
    dialog = dialog_of(window)
    assert isinstance(dialog, HubDialog)
    dialog.name_edit.setText("no name")
    assert dialog.source is None
    assert not dialog.import_button.isEnabled()
    dialog.name_edit.setText("owner/my-model")
    assert dialog.import_button.isEnabled()
    assert dialog.target.edit.text().endswith("my-model.safetensors")


@pytest.mark.heavy
def test_a_name_imported_before_is_opened_at_once(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window = make_window()
    saved = tmp_path / "before.safetensors"
    saved.write_bytes(b"what the translator of thin air does not read")
    window.preferences.imports.remember("Helsinki-NLP/opus-mt-de-en", saved)
    imports_of(window).choose_name()
    dialog = dialog_of(window)
    assert dialog.import_button.text() == "Open"
    with qtbot.waitSignal(window.model_opened) as opened:
        dialog.import_button.click()
    assert opened.args[0].path == saved


@pytest.mark.heavy
def test_a_picture_of_a_foreign_model_is_refused_with_the_command_that_imports_it(
    folder: Path, tmp_path: Path, qapp: object
) -> None:
    from augenmerk.core.errors import ModelImportError

    with pytest.raises(ModelImportError, match="augenmerk import"):
        run_app(folder, "Ein Mann.", tmp_path / "picture.png")


class _ManyTargets(FakeTranslator):
    def __init__(self, path: Path | None, device: str) -> None:
        super().__init__(path, device)
        self.target_codes = (">>fra<<", ">>nld<<", ">>qqq<<")


@pytest.mark.heavy
def test_the_target_language_is_chosen_and_stands_in_the_sentence(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window(loader=_ManyTargets)
    panel, state = window.translate_page.sentence, window.state
    assert target_menu_of(panel).isVisible()
    assert target_menu_of(panel).text() == "into: choose ▾"
    assert state.languages == ("German", "target")
    for code, name in ((">>fra<<", "French"), (">>nld<<", "Dutch"), (">>qqq<<", "qqq")):
        with qtbot.waitSignal(window.translation_shown):
            target_menu_of(panel).actions_by_name[code].trigger()
        assert state.experiment.source_text == f"{code} Ein Mann ."
        assert target_menu_of(panel).text() == f"into: {name} ▾"
        assert state.languages == ("German", name)
        assert panel.rows._target_name.text() == name.capitalize()
    with qtbot.waitSignal(window.translation_shown):
        panel.undo()
    assert state.languages == ("German", "Dutch")


@pytest.mark.heavy
def test_a_model_of_one_pair_offers_no_target_language(make_window: MakeWindow) -> None:
    assert not target_menu_of(make_window().translate_page.sentence).isVisible()


def test_each_sentence_of_a_sample_says_into_which_language() -> None:
    sample = read_sample(SampleChoice("gold"), 3, ">>eng<<")
    plain = read_sample(SampleChoice("gold"), 3)
    assert sample.sources == tuple(f">>eng<< {source}" for source in plain.sources)
    assert sample.targets == plain.targets


def with_target(run: RunConfig, language: str) -> RunConfig:
    return replace(run, data=replace(run.data, target_language=language))


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize(
    ("typed", "code", "name"),
    [
        ("Portuguese", "pt", "Portuguese"),
        ("zho_Hans", "zho_Hans", "Chinese"),
        ("kmr", "kmr", "kmr"),
    ],
)
def test_languages_are_typed_by_code_or_english_name(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path, typed: str, code: str, name: str
) -> None:
    folder = make_folder(tmp_path / "mine", tokenizer={"source_lang": None, "target_lang": None})
    window = make_window(None, loader=None)
    window.open_model(folder)
    dialog = dialog_of(window)
    qtbot.waitUntil(dialog.source_edit.isEnabled, timeout=LIMIT_MS)
    dialog.source_edit.setText("german")
    dialog.target_language_edit.setText("Português")
    dialog.import_button.click()
    assert "'Português' is not a language" in dialog.problem.text()
    assert "English name" in dialog.problem.text()
    dialog.target_language_edit.setText(typed)
    with qtbot.waitSignal(window.model_opened, timeout=LIMIT_MS) as opened:
        dialog.import_button.click()
    data = opened.args[0].run.data
    assert (data.source_language, data.target_language) == ("de", code)
    assert languages_of(window.state.model, window.state.experiment.source_text) == ("German", name)


@pytest.fixture
def hub(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A server with one repository, whose files are from German to French."""
    server = Hub(folder)
    monkeypatch.setenv("HF_ENDPOINT", server.address)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    yield server
    server.close()


@pytest.mark.heavy
def test_languages_that_a_name_at_hugging_face_does_not_tell_can_be_typed(
    make_window: MakeWindow, qtbot: QtBot, hub: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    window = make_window()
    imports_of(window).choose_name()
    dialog = dialog_of(window)
    assert isinstance(dialog, HubDialog)
    for name, tells in (
        ("Helsinki-NLP/opus-mt-de-en", True),
        ("x/opus-mt-tc-big-de-zle", True),
        ("me/mine", False),
    ):
        dialog.name_edit.setText(name)
        for edit in (dialog.source_edit, dialog.target_language_edit):
            assert edit.isVisible(), "nothing moves"
            assert edit.isEnabled() == (not tells)
        assert dialog.height() >= dialog.layout().totalHeightForWidth(dialog.width())
    dialog.source_edit.setText("Deutsch")
    dialog.import_button.click()
    assert "'Deutsch' is not a language" in dialog.problem.text()
    assert not hub.requests, "nothing is asked for before"
    dialog.source_edit.setText("Luxembourgish")
    dialog.target_language_edit.setText("fra")
    dialog.name_edit.setText(NAME)  # its name tells them: what was typed for another is not taken
    with qtbot.waitSignal(dialog.imported, timeout=LIMIT_MS) as imported:
        dialog.import_button.click()
    data = load_checkpoint(imported.args[0]).run.data
    assert (data.source_language, data.target_language) == ("de", "fr"), "as its files say"
