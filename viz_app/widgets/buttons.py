"""Buttons that open a menu: of commands, or of entries to choose from."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QCursor, QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QMenu, QToolButton, QWidget

Choice = TypeVar("Choice")
ARROW_KEYS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class MenuButton(QToolButton):
    """Opens its menu at once when pressed, and does not look hovered after it closes."""

    def __init__(self, text: str, tip: str) -> None:
        super().__init__()
        self.setText(text)
        self.setToolTip(tip)
        self.setProperty("role", "flat")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)

    def setMenu(self, menu: QMenu) -> None:
        super().setMenu(menu)
        menu.aboutToHide.connect(self._on_menu_hidden)

    def _on_menu_hidden(self) -> None:
        """Qt sends no leave event to a button whose menu took the mouse."""
        if not self.rect().contains(self.mapFromGlobal(QCursor.pos())):
            self.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
            self.update()


class ChoiceMenu(MenuButton):
    """Shows the chosen entry; pressing it offers the others.

    Args:
        tip: the subject of the choice.
        entries: by name, the text on the button and the text in the menu.
        prefix: the text on the button before the entry.
        has_arrow_keys: whether up and down choose the neighbouring entry, and Return opens the
            menu. Else these keys are left to the page.
        has_fixed_width: whether it has room for its widest entry, so that no other button moves
            when another entry is shown.

    Attributes:
        choice: the name of the entry that is shown.

    Signals:
        chosen(str): the name of the entry that the user chose, also if it was shown already. Call
            `show_choice`.
    """

    chosen = Signal(str)

    def __init__(
        self,
        tip: str,
        entries: Mapping[str, tuple[str, str]],
        prefix: str = "",
        *,
        has_arrow_keys: bool = False,
        has_fixed_width: bool = False,
    ) -> None:
        super().__init__("", tip)
        self._prefix, self._has_arrow_keys = prefix, has_arrow_keys
        self._has_fixed_width = has_fixed_width
        self.choice = ""
        self._actions: dict[str, QAction] | None = None
        self._entries = dict(entries)
        self._full_width: int | None = None  # with the widest entry; None: to be measured
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        menu.aboutToShow.connect(lambda: self.actions_by_name)
        self._group = QActionGroup(menu)
        self.setMenu(menu)

    def set_entries(self, entries: Mapping[str, tuple[str, str]]) -> None:
        """Offers these entries, if they differ from the current ones.

        Call `show_choice` afterwards.
        """
        if list(entries.items()) != list(self._entries.items()):
            self._entries = dict(entries)
            self._actions = self._full_width = None

    @property
    def actions_by_name(self) -> dict[str, QAction]:
        """The entries. They are made when they are needed: a menu costs more than the maps."""
        if self._actions is None:
            menu = self.menu()
            self._actions = {}
            menu.clear()
            for name, (_, text) in self._entries.items():
                action = self._actions[name] = QAction(
                    text, menu, checkable=True, checked=name == self.choice
                )
                action.setToolTip("")
                action.triggered.connect(partial(self._choose, name))
                menu.addAction(self._group.addAction(action))
        return self._actions

    def sizeHint(self) -> QSize:
        size = super().sizeHint()
        if not self._has_fixed_width:
            return size
        if self._full_width is None:
            texts = [self.text(), *(self._text_of(text) for text, _ in self._entries.values())]
            text_size = partial(self.fontMetrics().size, Qt.TextFlag.TextShowMnemonic)
            width, *widths = (text_size(text).width() for text in texts)
            self._full_width = size.width() - width + max(widths)
        return size.expandedTo(QSize(self._full_width, 0))

    def changeEvent(self, event: QEvent) -> None:
        self._full_width = None
        super().changeEvent(event)

    def _text_of(self, entry: str) -> str:
        return f"{self._prefix}{entry} ▾"

    def show_choice(self, name: str) -> None:
        """Puts an entry, or a name that is not offered, on the button."""
        text, _ = self._entries.get(name, (name, ""))
        text = self._text_of(text)
        action = (self._actions or {}).get(name)
        if name == self.choice and text == self.text() and (action is None or action.isChecked()):
            return
        self.choice = name
        self.setText(text)
        if action is not None:
            action.setChecked(True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """See `has_arrow_keys`."""
        key = Qt.Key(event.key())
        names = list(self._entries)
        if self._has_arrow_keys and key in ARROW_KEYS and self.choice in names:
            neighbour = names[
                max(0, min(len(names) - 1, names.index(self.choice) + ARROW_KEYS[key]))
            ]
            if neighbour != self.choice:
                self.chosen.emit(neighbour)
        elif self._has_arrow_keys and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.showMenu()
        else:
            super().keyPressEvent(event)

    def _choose(self, name: str, _checked: bool = False) -> None:
        self.chosen.emit(name)


def flat_button(text: str, tip: str) -> QToolButton:
    """A button without a frame."""
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setProperty("role", "flat")
    return button


def tab_button(text: str, tip: str = "") -> QToolButton:
    """A button for one of several tabs inside a panel."""
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setCheckable(True)
    button.setProperty("role", "subtab")
    return button


def choice_buttons(
    parent: QWidget, choices: Mapping[Choice, tuple[str, str]], choose: Callable[[Choice], object]
) -> dict[Choice, QToolButton]:
    """A button for each choice, with its text and tool tip. One of them is checked."""
    group = QButtonGroup(parent)
    buttons = dict[Choice, QToolButton]()
    for choice, (text, tip) in choices.items():
        button = buttons[choice] = tab_button(text, tip)
        button.clicked.connect(lambda _=False, chosen=choice: choose(chosen))
        group.addButton(button)
    return buttons
