"""The palette: the user finds a command by typing part of its name."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from ...state.sentence_text import elided
from ...theme import scaled
from ...widgets.commands import BoundCommand

PALETTE_SIZE = 520, 380
MAX_SHOWN = 40
"""Characters of the typed text that the message repeats."""


def matching(commands: Sequence[BoundCommand], typed: str) -> list[BoundCommand]:
    """Commands whose titles or search words contain every typed word.

    Those that begin with the first word come first, those found by search words last.
    """
    words = typed.lower().split()

    def rank(command: BoundCommand) -> int | None:
        title = command.title.lower()
        if all(word in title for word in words):
            return int(bool(words) and not title.startswith(words[0]))
        searched = f"{title} {command.command.search_words.lower()}"
        return 2 if all(word in searched for word in words) else None

    ranked: list[tuple[int, BoundCommand]] = []
    for command in commands:
        command_rank = rank(command)
        if command_rank is not None:
            ranked.append((command_rank, command))
    return [command for _, command in sorted(ranked, key=lambda pair: pair[0])]


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
                self.results.setCurrentRow(
                    min(max(self.results.currentRow() + step, 0), self.results.count() - 1)
                )
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
