"""A value that opens a menu of options."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget


class ChoiceButton(QToolButton):
    """One of several options, shown as a word that opens a menu; arrow keys walk through the options.

    Signals:
        chosen(str): the user took the option with this key.
    """

    chosen = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "value")
        self.setAccessibleName(name)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._menu = QMenu(self)
        self._menu.triggered.connect(self._on_triggered)
        self.setMenu(self._menu)
        self._group = QActionGroup(self)
        self._key = ""

    def key(self) -> str:
        """The key of the option shown."""
        return self._key

    def keys(self) -> list[str]:
        """The keys of all options, in order."""
        return [str(action.data()) for action in self._group.actions()]

    def set_options(self, options: Sequence[tuple[str, str]]) -> None:
        """Offers `options`, each a key and a label; the option shown stays if it is still there."""
        for old in self._group.actions():
            self._group.removeAction(old)
        self._menu.clear()
        for key, label in options:
            action = QAction(label, self._menu, checkable=True)
            action.setData(key)
            self._group.addAction(action)
            self._menu.addAction(action)
        if self._key in self.keys():
            self.set_key(self._key)

    def set_key(self, key: str) -> None:
        """Shows the option with this key; no signal. An unknown key is shown as it is."""
        self._key = key
        label = key
        for action in self._group.actions():
            if action.data() == key:
                action.setChecked(True)
                label = action.text()
        self.setText(f"{label} ▾")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and down take the neighbouring option; space and return open the menu."""
        offset = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()))
        keys = self.keys()
        if offset is not None and self._key in keys:
            self._take(keys[max(0, min(len(keys) - 1, keys.index(self._key) + offset))])
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.showMenu()
        else:
            super().keyPressEvent(event)

    def _on_triggered(self, action: QAction) -> None:
        self.set_key(str(action.data()))
        self.chosen.emit(self._key)  # also if it is the option shown already: "a folder…" asks anew

    def _take(self, key: str) -> None:
        if key != self._key:
            self.set_key(key)
            self.chosen.emit(key)
