"""Dialogs that report something."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from augenmerk.core import __version__
from augenmerk.viz_app.worker import Failure


def show_failure(parent: QWidget, title: str, failure: Failure) -> QMessageBox:
    """Opens a dialog without waiting for it; unexpected errors have their traceback under Details."""
    icon = QMessageBox.Icon.Critical if failure.details else QMessageBox.Icon.Warning
    box = QMessageBox(icon, title, title, QMessageBox.StandardButton.Ok, parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setInformativeText(failure.message)
    if failure.details:
        box.setDetailedText(failure.details)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
    return box


def show_about(parent: QWidget) -> None:
    """Opens a dialog about the product without waiting for it."""
    box = QMessageBox(parent)
    box.setWindowTitle("About Augenmerk")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(f"Augenmerk {__version__}")
    box.setInformativeText(
        "Type a sentence, read its translation, and see where every head of a Transformer looked.\n\n"
        "Attention weights show where the model looks, not why it chose a word.\n\nMIT licence."
    )
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
