"""Everything that can be done by key or by name: the list, the palette that searches it, the sheet of all keys."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from viz_app.theme import scaled, scales
from viz_app.widgets.parts import label

PALETTE_SIZE = 520, 380


@dataclass(frozen=True)
class Command:
    """Something to be done.

    Attributes:
        name: what it does, as a menu would say.
        act: does it.
        keys: its shortcut, as `QKeySequence` reads it; empty if it has none.
        group: what it belongs to, for the sheet.
    """

    name: str
    act: Callable[[], object]
    keys: str = ""
    group: str = "Window"

    @property
    def keys_shown(self) -> str:
        """The shortcut as this system writes it."""
        return QKeySequence(self.keys).toString(QKeySequence.SequenceFormat.NativeText) if self.keys else ""


def command_of(action: QAction, prefix: str = "") -> Command:
    """The entry of a menu of files, named for where no menu says what it belongs to."""
    name = action.text().removesuffix(" …")
    return Command(f"{prefix}{name}", action.trigger, action.shortcut().toString(), "Files")


def matching(commands: Sequence[Command], typed: str) -> list[Command]:
    """Commands whose names hold every word that was typed; those that begin with the first of them come first."""
    words = typed.lower().split()
    found = [command for command in commands if all(word in command.name.lower() for word in words)]
    return sorted(found, key=lambda command: bool(words) and not command.name.lower().startswith(words[0]))


class CommandPalette(QDialog):
    """A field and a list: type some of a name, Enter does the first.

    Attributes:
        field: what is typed.
        results: the commands that match.
    """

    def __init__(self, commands: Sequence[Command], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._commands = commands
        self._shown: list[Command] = []
        self.setWindowTitle("Commands")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(*map(scaled, PALETTE_SIZE))
        self.field = QLineEdit()
        self.field.setPlaceholderText("Type what you want to do")
        self.field.setAccessibleName("Search commands")
        self.field.textChanged.connect(self._search)
        self.field.installEventFilter(self)
        self.results = QListWidget()
        self.results.setAccessibleName("Commands")
        self.results.itemActivated.connect(lambda _item: self._run())
        self.results.itemClicked.connect(lambda _item: self._run())
        column = QVBoxLayout(self)
        column.addWidget(self.field)
        column.addWidget(self.results)
        self._search("")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrows walk through the list while one types; Enter does what is chosen."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
                step = 1 if event.key() == Qt.Key.Key_Down else -1
                self.results.setCurrentRow(min(max(self.results.currentRow() + step, 0), self.results.count() - 1))
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._run()
                return True
        return super().eventFilter(watched, event)

    def _search(self, typed: str) -> None:
        self._shown = matching(self._commands, typed)
        self.results.clear()
        for command in self._shown:
            keys = f"    {command.keys_shown}" if command.keys else ""
            self.results.addItem(QListWidgetItem(f"{command.name}{keys}"))
        self.results.setCurrentRow(0)

    def _run(self) -> None:
        row = self.results.currentRow()
        if 0 <= row < len(self._shown):
            chosen = self._shown[row]
            self.close()
            chosen.act()


class ShortcutSheet(QDialog):
    """All keys, by group, in two columns of about the same height: no window is as high as one of them."""

    def __init__(self, groups: Sequence[tuple[str, Sequence[tuple[str, str]]]], parent: QWidget | None = None) -> None:
        """`groups`: a name, and keys with what they do."""
        super().__init__(parent)
        self.setWindowTitle("Keyboard")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        columns = QHBoxLayout(self)
        scales(columns.setContentsMargins, 22, 16, 22, 18)
        scales(columns.setSpacing, 36)
        num_lines = sum(len(keys) + 1 for _, keys in groups)
        left, right = QGridLayout(), QGridLayout()
        for grid in (left, right):
            columns.addLayout(grid)
            scales(grid.setHorizontalSpacing, 18)
            scales(grid.setVerticalSpacing, 4)
        num_placed = 0
        for name, keys in groups:
            size = len(keys) + 1
            _add_group(left if 2 * num_placed + size <= num_lines else right, name, keys)
            num_placed += size
        for grid in (left, right):
            grid.setRowStretch(grid.rowCount(), 1)
        self.setSizeGripEnabled(False)


def _add_group(grid: QGridLayout, name: str, keys: Sequence[tuple[str, str]]) -> None:
    heading = label("heading")
    heading.setText(name)
    scales(heading.setContentsMargins, 0, 8, 0, 2)
    grid.addWidget(heading, grid.rowCount(), 0, 1, 2)
    for key, what in keys:
        row = grid.rowCount()
        for column, (role, text) in enumerate((("accent", key), ("number", what))):
            shown = label(role)
            shown.setText(text)
            grid.addWidget(shown, row, column)
