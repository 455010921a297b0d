"""Commands, declared once: menus, shortcuts, the palette and the sheet of keys follow."""

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import Any, Generic, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QMenu, QWidget

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
        keys: work wherever the keyboard focus is, while the part is on the screen.
        unlisted_keys: other ways to type them.
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
    unlisted_keys: tuple[Key, ...] = ()
    local_keys: tuple[str, ...] = ()
    group: str = "Window"
    line: str = ""
    tip: str = ""
    search_words: str = ""
    is_offered: Callable[[PartT_contra], bool] = lambda _part: True

    @property
    def shown_keys(self) -> str:
        """The keys, named as in `keys_text`; empty if there is none."""
        return keys_text((*self.keys, *self.local_keys))

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
    widget: QWidget | None = None
    """The widget that shows the part; None for the whole window."""

    @property
    def title(self) -> str:
        """The title of the command."""
        return self.command.title

    @property
    def is_offered(self) -> bool:
        """Whether the command can do something now."""
        return (self.widget is None or self.widget.isVisible()) and bool(
            self.command.is_offered(self.part)
        )

    def run(self) -> bool:
        """Runs it. Returns whether there was something to do."""
        return self.command.act(self.part) is not False

    def add_to(self, menu: QMenu, text: str = "") -> QAction:
        """A menu entry that runs it, with its title or a text of its own.

        Its keys work without the menu.
        """
        action = menu.addAction(with_keys(text or self.title, self.command))
        action.setToolTip(self.command.tip or self.title)
        action.triggered.connect(lambda _=False: self.run())
        return action


class CommandRegistry:
    """The commands of a window.

    Args:
        window: the window of their keys.

    Attributes:
        commands: those of all parts that were added.
    """

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self.commands: list[BoundCommand] = []

    def add(
        self,
        part: PartT,
        commands: Iterable[Command[PartT]],
        widget: QWidget | None = None,
        *,
        after: Command[Any] | None = None,
    ) -> list[BoundCommand]:
        """Registers the commands of a part, whose keys work while `widget` is on the screen.

        They are listed at the end, or after another command.
        """
        bound = [BoundCommand(command, part, widget) for command in commands]
        listed = [known.command for known in self.commands]
        index = listed.index(after) + 1 if after in listed else len(listed)
        self.commands[index:index] = bound
        for bound_command in bound:
            command = bound_command.command
            if keys := (*command.keys, *command.unlisted_keys):
                add_shortcut(widget or self._window, bound_command, keys)
        return bound

    def run(self, title: str) -> None:
        """Runs the first command with this title."""
        next(command for command in self.commands if command.title == title).run()


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
    # Qt keeps no reference to the object of a method
    shortcut.activated.connect(lambda: command.run())
    return shortcut


def run_by_key(event: QKeyEvent, commands: Iterable[BoundCommand]) -> bool:
    """Runs the first command for the pressed local key that has something to do; False without one.

    A key that writes nothing, such as an arrow, counts without the modifiers that are held, unless
    a command names them.
    """
    commands = tuple(commands)
    combination = event.keyCombination()
    held = combination.keyboardModifiers() & ~Qt.KeyboardModifier.KeypadModifier
    pressed = [QKeySequence(held | combination.key())]
    if combination.key() >= Qt.Key.Key_Escape and held:
        pressed.append(QKeySequence(combination.key()))
    return any(
        command.run()
        for keys in pressed
        for command in commands
        if keys in map(QKeySequence, command.command.local_keys)
    )


def keys_text(keys: Iterable[Key]) -> str:
    """Names of keys for tooltips, the palette and the sheet: “← →, Enter”.

    They are the same on all systems. A space between arrows with the same modifiers, else a comma.
    """
    names: list[str] = []
    for key in keys:
        modifiers, plus, name = (
            QKeySequence(key).toString(QKeySequence.SequenceFormat.PortableText).rpartition("+")
        )
        if not name:  # the key + itself, or a standard key that this system lacks
            modifiers = modifiers.removesuffix("+")
            name = plus
        shown = ARROWS.get(name) or KEY_NAMES.get(name, name)
        names.append(f"{modifiers}+{shown}" if modifiers else shown)
    names = list(dict.fromkeys(names))
    text = "".join(names[:1])
    for previous, name in pairwise(names):
        are_arrows = previous[:-1] == name[:-1] and {previous[-1], name[-1]} <= set(ARROWS.values())
        text += f"{' ' if are_arrows else ', '}{name}"
    return text


def with_keys(text: str, command: Command[Any]) -> str:
    """The text of a menu entry, followed by the first key of a command."""
    return f"{text}\t{_native(command.keys[0])}" if command.keys else text


def _sequences(key: Key) -> list[QKeySequence]:
    """All keys of the system for a standard key; else the key itself."""
    return [QKeySequence(key)] if isinstance(key, str) else QKeySequence.keyBindings(key)


def _native(key: Key) -> str:
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
