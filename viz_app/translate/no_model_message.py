"""What the Translate page shows in place of the maps, and how to get a model."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from augenmerk.viz_app.widgets.empty_state import EmptyState


class NoModelMessage(EmptyState):
    """A panel with a message, two buttons where no model is open, and one while a first translation is awaited.

    Attributes:
        open_button, train_button: open a checkpoint, go to the Train page.
        cancel_button: gives the translation up.

    Signals:
        open_requested(), train_requested(), cancel_requested(): a button was pressed.
    """

    open_requested = Signal()
    train_requested = Signal()
    cancel_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.open_button = self.add_button("Open model…", is_primary=True)
        self.open_button.clicked.connect(self.open_requested)
        self.train_button = self.add_button("Train a model")
        self.train_button.clicked.connect(self.train_requested)
        self.cancel_button = self.add_button("Cancel")
        self.cancel_button.clicked.connect(self.cancel_requested)

    def show_message(self, text: str, *, offers_models: bool = False, offers_cancel: bool = False) -> None:
        """Shows another message, with the buttons that are wanted."""
        for button in (self.open_button, self.train_button):
            button.setVisible(offers_models)
        self.cancel_button.setVisible(offers_cancel)
        self.show_text(text, shows_buttons=offers_models or offers_cancel)
