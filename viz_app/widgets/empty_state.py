"""What stands where there is nothing to see yet: a line or two in the middle, perhaps with buttons."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from augenmerk.viz_app.theme import scales
from augenmerk.viz_app.widgets.layouts import add_parts, row_of

MAX_WIDTH_PX = 560
"""Of the message: lines of about 80 characters."""


class EmptyState(QFrame):
    """A message in the middle, and buttons below it.

    Attributes:
        label: the message.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = QLabel()
        self.label.setProperty("role", "muted")
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.label.setWordWrap(True)
        scales(self.label.setMaximumWidth, MAX_WIDTH_PX)
        self._buttons = QWidget()
        self._row = QHBoxLayout(self._buttons)
        row = row_of(1, (self.label, 1000), 1)  # up to its greatest width; the rest is split between both sides
        add_parts(QVBoxLayout(self), 2, row, (self._buttons, 0, Qt.AlignmentFlag.AlignHCenter), 3)
        self._buttons.hide()

    def add_button(self, text: str, *, is_primary: bool = False) -> QPushButton:
        """A button below the message, shown while `show_text` says so."""
        button = QPushButton(text)
        button.setProperty("role", "primary" if is_primary else "")
        self._row.addWidget(button)
        return button

    def show_text(self, text: str, *, shows_buttons: bool = False) -> None:
        """Shows another message, with the buttons or without."""
        self.label.setText(text)
        self._buttons.setVisible(shows_buttons)
