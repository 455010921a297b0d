"""What the Translate page shows in place of the maps, and how to get a model."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from viz_app.widgets.empty_state import EmptyState


class NoModelMessage(EmptyState):
    """A panel with a message, and two buttons where no model is open.

    Attributes:
        open_button, train_button: open a checkpoint, go to the Train page.

    Signals:
        open_requested(), train_requested(): a button was pressed.
    """

    open_requested = Signal()
    train_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.open_button = self.add_button("Open model …", is_primary=True)
        self.open_button.clicked.connect(self.open_requested)
        self.train_button = self.add_button("Train a model")
        self.train_button.clicked.connect(self.train_requested)
