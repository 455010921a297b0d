"""Commands: declared once with title, keys and action; the palette, the sheet of keys, menus and shortcuts follow."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QVBoxLayout,
    QWidget,
)

from ..state.sentence_text import elided
from ..theme import scaled, scales
from .labels import label
from .layouts import VerticalScrollArea, column_of

PALETTE_SIZE = 520, 380
MAX_SHOWN = 40
"""Characters of the typed text that the message repeats."""
MAX_COLUMNS, SCROLL_BAR_WIDTH = 3, 12
ARROWS = {"Left": "←", "Right": "→", "Up": "↑", "Down": "↓"}
KEY_NAMES = {"PgUp": "Page Up", "PgDown": "Page Down", "Return": "Enter"}
PartT_contra = TypeVar("PartT_contra", contravariant=True)
PartT = TypeVar("PartT")
Key = str | QKeySequence.StandardKey


@dataclass(frozen=True)
class Command(Generic[PartT_contra]):
    """An action on a part of the window, by name or by key.

    Attributes:
        title: its name in menus and the palette.
        act: performs it. False: there is nothing to do, and a local key tries the next command.
        keys: work wherever the keyboard focus is, while the part is on the screen. Other ways to type the first key
            follow it.
        local_keys: work while the part has the keyboard focus.
        group: heading on the sheet of keys.
        line: text on the sheet, for commands that share a line; empty for the title.
        tip: more about it, for menus.
        search_words: further words by which the palette finds it.
        is_offered: whether the palette lists it now.
    """

    title: str
    act: Callable[[PartT_contra], object]
    _: KW_ONLY
    keys: tuple[Key, ...] = ()
    local_keys: tuple[str, ...] = ()
    group: str = "Window"
    line: str = ""
    tip: str = ""
    search_words: str = ""
    is_offered: Callable[[PartT_contra], bool] = lambda _part: True

    @property
    def shown_keys(self) -> str:
        """The first key, and the local ones, as this system names them; empty if there is none."""
        return shown_keys((*self.keys[:1], *self.local_keys))

    def tip_with_keys(self, text: str = "") -> str:
        """A tool tip: this text, or the title, and the keys."""
        return f"{text or self.title.removesuffix('…')} ({self.shown_keys})"

    def on(self, part: PartT_contra) -> "BoundCommand":
        """The command of this part."""
        return BoundCommand(self, part)


@dataclass(frozen=True)
class BoundCommand:
    """A command and the part that it acts on."""

    command: Command[Any]
    part: Any
    place: QWidget | None = None
    """The widget that shows the part; None for the whole window."""

    @property
    def title(self) -> str:
        """The title of the command."""
        return self.command.title

    @property
    def is_offered(self) -> bool:
        """Whether the command can do something now."""
        return (self.place is None or self.place.isVisible()) and bool(self.command.is_offered(self.part))

    def run(self) -> bool:
        """Runs it. Returns whether there was something to do."""
        return self.command.act(self.part) is not False

    def add_to(self, menu: QMenu, text: str = "") -> QAction:
        """A menu entry that runs it, with its title or a text of its own. Its keys work without the menu."""
        action = menu.addAction(with_keys(text or self.title, self.command))
        action.setToolTip(self.command.tip or self.title)
        action.triggered.connect(lambda _=False: self.run())
        return action


class CommandRegistry:
    """The commands of a window.

    Args:
        window: the window of their keys and their palette.

    Attributes:
        commands: those of all parts that were added.
    """

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self.commands: list[BoundCommand] = []

    def add(self, part: PartT, commands: Iterable[Command[PartT]], place: QWidget | None = None) -> list[BoundCommand]:
        """Registers the commands of a part. Their keys work while `place`, if given, is on the screen."""
        bound = [BoundCommand(command, part, place) for command in commands]
        self.commands += bound
        for each in bound:
            if each.command.keys:
                add_shortcut(place or self._window, each, each.command.keys)
        return bound

    def run(self, title: str) -> None:
        """Runs the first command with this title."""
        next(each for each in self.commands if each.title == title).run()

    def show_palette(self, more: Iterable[BoundCommand] = ()) -> None:
        """Opens the palette, with further commands at its end."""
        CommandPalette([each for each in (*self.commands, *more) if each.is_offered], self._window).open()

    def show_sheet(self, more: Iterable[Command[Any]] = ()) -> None:
        """Opens the sheet of all keys, with those of further commands at its end."""
        ShortcutSheet(key_lines((*(each.command for each in self.commands), *more)), self._window).open()


def add_shortcut(
    widget: QWidget,
    command: BoundCommand,
    keys: Iterable[Key],
    context: Qt.ShortcutContext = Qt.ShortcutContext.WindowShortcut,
) -> QShortcut:
    """Binds keys to a command."""
    shortcut = QShortcut(widget)
    shortcut.setContext(context)
    shortcut.setKeys(list(dict.fromkeys(sequence for key in keys for sequence in _sequences(key))))
    shortcut.activated.connect(lambda: command.run())  # Qt keeps no reference to the object of a method
    return shortcut


def run_by_key(event: QKeyEvent, commands: Iterable[BoundCommand]) -> bool:
    """Runs the first command with the pressed key as a local key and something to do; False if there is none.

    A key that writes nothing, such as an arrow, counts without the modifiers that are held, unless a command names
    them.
    """
    commands = tuple(commands)
    combination = event.keyCombination()
    held = combination.keyboardModifiers() & ~Qt.KeyboardModifier.KeypadModifier
    pressed = [QKeySequence(held | combination.key())]
    if combination.key() >= Qt.Key.Key_Escape and held:
        pressed.append(QKeySequence(combination.key()))
    return any(
        each.run() for keys in pressed for each in commands if keys in map(QKeySequence, each.command.local_keys)
    )


def key_lines(commands: Iterable[Command[Any]]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The sheet of keys: keys and actions by group; commands with the same text share a line."""
    groups: dict[str, dict[str, list[Key]]] = {}
    for command in commands:
        if keys := (*command.keys[:1], *command.local_keys):
            line = command.line or command.title.removesuffix("…").partition(" (")[0]
            groups.setdefault(command.group, {}).setdefault(line, []).extend(keys)
    return [
        (group, [(shown_keys(sorted(dict.fromkeys(keys), key=_place_on_line)), line) for line, keys in lines.items()])
        for group, lines in groups.items()
    ]


def shown_keys(keys: Iterable[Key]) -> str:
    """Keys as named on the sheet: arrows side by side, others with commas."""
    names: list[str] = []
    for key in keys:
        before, plus, name = QKeySequence(key).toString(QKeySequence.SequenceFormat.PortableText).rpartition("+")
        if not name:  # the key + itself
            before, name = before.removesuffix("+"), plus
        shown = ARROWS.get(name) or KEY_NAMES.get(name, name)
        names.append(f"{before}+{shown}" if before else shown)
    names = list(dict.fromkeys(names))
    text = "".join(names[:1])
    for former, name in pairwise(names):
        are_arrows = former[:-1] == name[:-1] and {former[-1], name[-1]} <= set(ARROWS.values())
        text += f"{' ' if are_arrows else ', '}{name}"
    return text


def with_keys(text: str, command: Command[Any]) -> str:
    """The text of a menu entry, followed by the first key of a command."""
    return f"{text}\t{_native(command.keys[0])}" if command.keys else text


def _sequences(key: Key) -> list[QKeySequence]:
    """All keys of the system for a standard key; else the key itself."""
    return [QKeySequence(key)] if isinstance(key, str) else QKeySequence.keyBindings(key)


def _place_on_line(key: Key) -> tuple[str, bool]:
    """The sort key that groups keys by modifiers, arrows last."""
    before, _, name = QKeySequence(key).toString().rpartition("+")
    return before, name in ARROWS


def _native(key: Key) -> str:
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)


def matching(commands: Sequence[BoundCommand], typed: str) -> list[BoundCommand]:
    """Commands whose titles or search words contain every typed word.

    Those that begin with the first word come first, those found by search words last.
    """
    words = typed.lower().split()

    def place(command: BoundCommand) -> int | None:
        title = command.title.lower()
        if all(word in title for word in words):
            return int(bool(words) and not title.startswith(words[0]))
        searched = f"{title} {command.command.search_words.lower()}"
        return 2 if all(word in searched for word in words) else None

    found = [(at, command) for command in commands if (at := place(command)) is not None]
    return [command for _, command in sorted(found, key=lambda each: each[0])]


class CommandPalette(QDialog):
    """A field and a list: the user types part of a name, and Enter runs the first command.

    Attributes:
        field: the typed text.
        results: the matching commands, or a line if there are none.
    """

    def __init__(self, commands: Sequence[BoundCommand], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._commands = commands
        self._shown: list[BoundCommand] = []
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
        """Arrows walk through the list while the user types; Enter runs the chosen command."""
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
            keys = command.command.shown_keys
            self.results.addItem(QListWidgetItem(f"{command.title}{keys and f'    {keys}'}"))
        self.results.setCurrentRow(0)
        if not self._shown:
            words = elided(" ".join(typed.split()), MAX_SHOWN)
            nothing = QListWidgetItem(f"No command matches “{words}”.", self.results)
            nothing.setFlags(Qt.ItemFlag.NoItemFlags)

    def _run(self) -> None:
        row = self.results.currentRow()
        if 0 <= row < len(self._shown):
            chosen = self._shown[row]
            self.close()
            chosen.run()


class ShortcutSheet(QDialog):
    """All keys by group, in the fewest columns that fit the window's height; it scrolls up and down."""

    def __init__(self, groups: Sequence[tuple[str, Sequence[tuple[str, str]]]], parent: QWidget | None = None) -> None:
        """`groups`: a name, and keys with their actions."""
        super().__init__(parent)
        self.setWindowTitle("Keyboard")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setSizeGripEnabled(False)
        room = (parent.window() if parent is not None else self).size()
        contents = [_in_columns(groups, num_columns) for num_columns in range(1, MAX_COLUMNS + 1)]
        narrow = [each for each in contents if each.sizeHint().width() <= room.width()] or contents[:1]
        content = next((each for each in narrow if each.sizeHint().height() <= room.height()), narrow[-1])
        size = content.sizeHint()
        column_of(VerticalScrollArea(content, takes_keys=True), within=self)
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
    heading = label("heading", name)
    scales(heading.setContentsMargins, 0, 7, 0, 1)
    grid.addWidget(heading, grid.rowCount(), 0, 1, 2)
    for key, what in keys:
        row = grid.rowCount()
        grid.addWidget(label("accent", key), row, 0)
        grid.addWidget(label("number", what), row, 1)
