"""The title of a panel, or tabs where several panels share one area."""

from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QToolButton, QWidget

from augenmerk.viz_app.widgets.buttons import tab_button
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.widgets.layouts import row_of

LowerPanel = Literal["film", "samples"]
LOWER_NAMES: dict[LowerPanel, str] = {"film": "Film of attention", "samples": "Sample translations"}


class PanelTabs(QWidget):
    """The header of the panel `own`.

    Signals:
        chosen(str): show this panel.
    """

    chosen = Signal(str)

    def __init__(self, own: LowerPanel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._own = own
        self.title = label("heading", LOWER_NAMES[own])
        self.tabs: dict[LowerPanel, QToolButton] = {}
        for lower, name in LOWER_NAMES.items():
            tab = tab_button(name)
            tab.clicked.connect(lambda _checked=False, lower=lower: self._choose(lower))
            self.tabs[lower] = tab
        row_of(self.title, *self.tabs.values(), 1, spacing=2, within=self)
        self.show_tabs(False)

    def show_tabs(self, are_shown: bool) -> None:
        """Tabs, or the title alone."""
        self.title.setVisible(not are_shown)
        for lower, tab in self.tabs.items():
            tab.setVisible(are_shown)
            tab.setChecked(lower == self._own)

    def _choose(self, lower: LowerPanel) -> None:
        self.tabs[lower].setChecked(lower == self._own)  # the other panel has its own tabs
        if lower != self._own:
            self.chosen.emit(lower)
