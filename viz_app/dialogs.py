"""The dialogs that tell of a failure. They lose nothing: what was there before stays."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from viz_app.worker import Failure


def show_failure(parent: QWidget, title: str, failure: Failure) -> QMessageBox:
    """Opens a dialog without waiting for it; unexpected errors carry their traceback under Details."""
    icon = QMessageBox.Icon.Critical if failure.details else QMessageBox.Icon.Warning
    box = QMessageBox(icon, title, title, QMessageBox.StandardButton.Ok, parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setInformativeText(failure.message)
    if failure.details:
        box.setDetailedText(failure.details)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
    return box
