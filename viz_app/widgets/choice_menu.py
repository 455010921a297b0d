"""A word that opens a menu of which one entry is chosen."""

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton, QWidget


class ChoiceMenu(QToolButton):
    """Shows the chosen entry; pressing it offers the others.

    Attributes:
        actions_by_name: the entries.

    Signals:
        chosen(str): the name of the entry that a person chose.
    """

    chosen = Signal(str)

    def __init__(
        self, tip: str, entries: Mapping[str, tuple[str, str]], prefix: str = "", parent: QWidget | None = None
    ) -> None:
        """`entries`: by name, what stands on the button when it is chosen, and what stands in the menu."""
        super().__init__(parent)
        self._prefix = prefix
        self.setProperty("role", "flat")
        self.setToolTip(tip)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.actions_by_name: dict[str, QAction] = {}
        self._entries: dict[str, tuple[str, str]] = {}
        self.set_entries(entries)

    def set_entries(self, entries: Mapping[str, tuple[str, str]]) -> None:
        """Offers other entries, if they are others."""
        if list(entries.items()) == list(self._entries.items()):  # a menu costs more than the maps
            return
        self._entries = dict(entries)
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        group = QActionGroup(menu)
        self.actions_by_name = {}
        for name, (_, text) in entries.items():
            action = QAction(text, group, checkable=True)
            action.setToolTip("")
            action.triggered.connect(partial(self._choose, name))
            menu.addAction(action)
            self.actions_by_name[name] = action
        old = self.menu()
        self.setMenu(menu)
        if old is not None:
            old.deleteLater()

    def show_choice(self, name: str) -> None:
        """Puts an entry on the button."""
        if name in self._entries:
            self.setText(f"{self._prefix}{self._entries[name][0]} ▾")
            self.actions_by_name[name].setChecked(True)

    def _choose(self, name: str, _checked: bool = False) -> None:
        self.chosen.emit(name)
