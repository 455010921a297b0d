"""What stands where there is nothing to see yet: a line or two in the middle, perhaps with a way out."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget


class CalmMessage(QFrame):
    """A panel with a message, and two buttons where no model is at hand.

    Signals:
        open_wanted(), train_wanted(): a button was pressed.
    """

    open_wanted = Signal()
    train_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.label = QLabel()
        self.label.setProperty("role", "muted")
        self.label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.label.setWordWrap(True)
        self.open_button = QPushButton("Open a checkpoint …")
        self.open_button.setProperty("role", "primary")
        self.open_button.clicked.connect(self.open_wanted)
        self.train_button = QPushButton("Train a model")
        self.train_button.clicked.connect(self.train_wanted)
        self._buttons = QWidget()
        row = QHBoxLayout(self._buttons)
        for button in (self.open_button, self.train_button):
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.addStretch(2)
        column.addWidget(self.label)
        column.addWidget(self._buttons, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)

    def show_text(self, text: str, *, offers_models: bool) -> None:
        """Changes the message, and whether a model can be opened or trained from here."""
        self.label.setText(text)
        self._buttons.setVisible(offers_models)
