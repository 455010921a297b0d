"""Small things the panels are made of."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QWidget


def labelled_row(name: QWidget, content: QWidget, button: QWidget) -> QHBoxLayout:
    """What it is, the thing itself, and what can be done with it."""
    row = QHBoxLayout()
    row.setSpacing(12)
    top = Qt.AlignmentFlag.AlignTop
    row.addWidget(name, 0, top)
    row.addWidget(content, 1)
    row.addWidget(button, 0, top | Qt.AlignmentFlag.AlignRight)
    return row


def flat_button(text: str, tip: str) -> QToolButton:
    """A word that can be pressed."""
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setProperty("role", "flat")
    return button


def label(role: str, *, wraps: bool = False) -> QLabel:
    """A label of plain text; `role` is one of those of `viz_app.theme`."""
    made = QLabel()
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setProperty("role", role)
    made.setWordWrap(wraps)
    return made
