"""A button that opens a menu."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QMenu, QToolButton, QWidget


class MenuButton(QToolButton):
    """Opens its menu at once when it is pressed, and does not look hovered any more when the menu has closed."""

    def __init__(self, text: str, tip: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setText(text)
        self.setToolTip(tip)
        self.setProperty("role", "flat")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)

    def setMenu(self, menu: QMenu) -> None:
        """Takes this menu."""
        super().setMenu(menu)
        menu.aboutToHide.connect(self._on_menu_hidden)

    def _on_menu_hidden(self) -> None:
        """Qt sends no leave event to a button whose menu took the mouse."""
        if not self.rect().contains(self.mapFromGlobal(QCursor.pos())):
            self.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
            self.update()
