"""Everything that can be done by key or by name: the list, the palette that searches it, the sheet of all keys."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from augenmerk.viz_app.theme import scaled, scales
from augenmerk.viz_app.widgets.empty_state import EmptyState
from augenmerk.viz_app.widgets.parts import label
from augenmerk.viz_app.widgets.scroll_areas import VerticalScrollArea

PALETTE_SIZE = 520, 380
MAX_SHOWN = 40
"""Characters of what was typed that are repeated."""
MAX_COLUMNS, SCROLL_BAR_WIDTH = 3, 12
ARROWS = {"Left": "←", "Right": "→", "Up": "↑", "Down": "↓"}
KEY_NAMES = {"PgUp": "Page Up", "PgDown": "Page Down", "Return": "Enter"}
KeyLine = tuple[Sequence[int | str], str]
"""Keys, as codes or by Qt's names, and what they do."""


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
    name = action.text().removesuffix("…")
    return Command(f"{prefix}{name}", action.trigger, action.shortcut().toString(), "Files")


def shown_keys(keys: Iterable[int | str]) -> str:
    """Keys as they are named on the sheet: arrows side by side, others with commas."""
    names: list[str] = []
    for key in keys:
        before, _, name = QKeySequence(key).toString(QKeySequence.SequenceFormat.PortableText).rpartition("+")
        shown = ARROWS.get(name) or KEY_NAMES.get(name, name)
        names.append(f"{before}+{shown}" if before else shown)
    names = list(dict.fromkeys(names))
    text = names[0]
    for former, name in pairwise(names):
        text += f"{' ' if former in ARROWS.values() and name in ARROWS.values() else ', '}{name}"
    return text


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
        nothing: stands in their place where none does.
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
        self.nothing = EmptyState()
        self._below = QStackedWidget()
        self._below.addWidget(self.results)
        self._below.addWidget(self.nothing)
        column = QVBoxLayout(self)
        column.addWidget(self.field)
        column.addWidget(self._below)
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
        words = " ".join(typed.split())
        shown = words if len(words) <= MAX_SHOWN else words[: MAX_SHOWN - 1] + "…"
        self.nothing.show_text(f"No command matches “{shown}”.")
        self._below.setCurrentWidget(self.results if self._shown else self.nothing)

    def _run(self) -> None:
        row = self.results.currentRow()
        if 0 <= row < len(self._shown):
            chosen = self._shown[row]
            self.close()
            chosen.act()


class ShortcutSheet(QDialog):
    """All keys, by group, in as few columns as the height of its window allows; what does not fit scrolls up and down.

    Attributes:
        num_columns: how many there are.
    """

    def __init__(self, groups: Sequence[tuple[str, Sequence[tuple[str, str]]]], parent: QWidget | None = None) -> None:
        """`groups`: a name, and keys with what they do."""
        super().__init__(parent)
        self.setWindowTitle("Keyboard")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setSizeGripEnabled(False)
        room = (parent.window() if parent is not None else self).size()
        for self.num_columns in range(1, MAX_COLUMNS + 1):
            content = _in_columns(groups, self.num_columns)
            size = content.sizeHint()
            is_last = _in_columns(groups, self.num_columns + 1).sizeHint().width() > room.width()
            if size.height() <= room.height() or is_last:
                break
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(VerticalScrollArea(content, takes_keys=True))
        beside = scaled(SCROLL_BAR_WIDTH) if size.height() > room.height() else 0
        self.resize(min(size.width() + beside, room.width()), min(size.height(), room.height()))


def _in_columns(groups: Sequence[tuple[str, Sequence[tuple[str, str]]]], num_columns: int) -> QWidget:
    """Groups one after the other, in columns of about the same height."""
    content = QWidget()
    columns = QHBoxLayout(content)
    scales(columns.setContentsMargins, 22, 16, 22, 18)
    scales(columns.setSpacing, 36)
    grids = [QGridLayout() for _ in range(num_columns)]
    for grid in grids:
        columns.addLayout(grid)
        scales(grid.setHorizontalSpacing, 18)
        scales(grid.setVerticalSpacing, 2)
    num_lines = sum(len(keys) + 1 for _, keys in groups)
    num_placed = 0
    for name, keys in groups:
        middle = num_placed + (len(keys) + 1) / 2
        _add_group(grids[min(int(middle * num_columns / num_lines), num_columns - 1)], name, keys)
        num_placed += len(keys) + 1
    for grid in grids:
        grid.setRowStretch(grid.rowCount(), 1)
    return content


def _add_group(grid: QGridLayout, name: str, keys: Sequence[tuple[str, str]]) -> None:
    heading = label("heading")
    heading.setText(name)
    scales(heading.setContentsMargins, 0, 7, 0, 1)
    grid.addWidget(heading, grid.rowCount(), 0, 1, 2)
    for key, what in keys:
        row = grid.rowCount()
        for column, (role, text) in enumerate((("accent", key), ("number", what))):
            shown = label(role)
            shown.setText(text)
            grid.addWidget(shown, row, column)
