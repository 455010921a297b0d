"""Dialogs that report something, or ask for a file. They open without waiting for the answer."""

from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLabel, QMenu, QMessageBox, QWidget

from ..worker.inference import Failure


def show_failure(parent: QWidget, title: str, failure: Failure) -> QMessageBox:
    """Opens a dialog without waiting for it; Details has the traceback of unexpected errors."""
    icon = QMessageBox.Icon.Critical if failure.details else QMessageBox.Icon.Warning
    return open_box(
        QMessageBox(icon, title, title, QMessageBox.StandardButton.Ok, parent),
        failure.message,
        failure.details,
    )


def open_box(box: QMessageBox, text: str, details: str = "") -> QMessageBox:
    """Opens a message box with a plain text without waiting for it.

    It is as wide as the longest word, such as a path, which would be cut, and a line of text.
    """
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setInformativeText(text)
    for label in filter(QLabel.text, box.findChildren(QLabel)):
        label.ensurePolished()
        width_of = label.fontMetrics().horizontalAdvance
        # Qt wraps a title only in a box that is wider than 500 pixels
        needed = max(*map(width_of, label.text().split()), min(width_of(label.text()), 500))
        label.setMinimumWidth(min(needed + 2, box.screen().size().width() - 200))
    box.setDetailedText(details)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
    return box


def add_files(menu: QMenu, files: Mapping[Path, str], act: Callable[[Path], object]) -> None:
    """Adds files to a menu, by their names; `act` gets the chosen one."""
    for path, name in files.items():
        action = menu.addAction(name)
        action.setToolTip(str(path))
        action.triggered.connect(lambda _=False, path=path: act(path))


def ask_what_to_open(
    parent: QWidget,
    title: str,
    folder: Path | None,
    act: Callable[[Path], object],
    filters: str = "",
    mode: QFileDialog.FileMode = QFileDialog.FileMode.ExistingFile,
) -> QFileDialog:
    """Opens a dialog that asks for a file or folder; `act` gets it."""
    dialog = QFileDialog(parent, title, str(folder or ""), filters)
    dialog.setFileMode(mode)
    return _opened(dialog, act)


def ask_where_to_save(
    parent: QWidget,
    title: str,
    proposed: Path,
    act: Callable[[Path], object],
    formats: Mapping[str, str],
) -> QFileDialog:
    """Opens a dialog that asks for the path of a new file; `act` gets the path.

    Args:
        parent: the parent of the dialog.
        title: of the dialog.
        proposed: a folder, or a file without its suffix.
        act: saves.
        formats: their names by suffix; a name without a suffix gets that of the chosen format.
    """
    dialog = QFileDialog(parent, title, str(proposed), ";;".join(formats.values()))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    first = next(iter(formats))
    suffixes = {name: suffix for suffix, name in formats.items()}
    dialog.setDefaultSuffix(first)
    dialog.filterSelected.connect(lambda name: dialog.setDefaultSuffix(suffixes.get(name) or first))
    return _opened(dialog, act)


def _opened(dialog: QFileDialog, act: Callable[[Path], object]) -> QFileDialog:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(lambda name: act(Path(name)))
    dialog.open()
    return dialog
