"""The palette: the user finds a command by typing part of its name."""

from collections.abc import Sequence

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
)
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from ...state.sentence_text import elided
from ...theme import current_theme, scaled
from ...widgets.commands import BoundCommand

PALETTE_SIZE = 640, 420
MAX_SHOWN = 40
"""Characters of the typed text that the message repeats."""
KEYS = Qt.ItemDataRole.UserRole
COLUMN_GAP = 16


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


class _TwoColumns(QStyledItemDelegate):
    """Draws the title of a command, and its keys in a column at the right."""

    def __init__(self, keys: Sequence[str], parent: QListWidget) -> None:
        super().__init__(parent)
        self._keys, self._list = keys, parent

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        room = option.rect.width() - self._keys_width() - scaled(COLUMN_GAP)
        option.text = option.fontMetrics.elidedText(
            index.data(Qt.ItemDataRole.DisplayRole), Qt.TextElideMode.ElideRight, room
        )

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """As wide as the list."""
        return QSize(0, super().sizeHint(option, index).height() + scaled(6))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        super().paint(painter, option, index)
        box = QRect(option.rect)
        box.setLeft(box.right() - self._keys_width())
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.setPen(current_theme().color("on_accent" if is_selected else "muted"))
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, index.data(KEYS) or "")

    def _keys_width(self) -> int:
        metrics = self._list.fontMetrics()
        return max(map(metrics.horizontalAdvance, self._keys), default=0) + scaled(8)


class CommandPalette(QDialog):
    """A field and a list: the user types part of a name, and Enter runs the first command.

    Until something is typed, the commands are in groups.

    Attributes:
        field: the typed text.
        results: the matching commands, or a line if there are none.
    """

    def __init__(self, commands: Sequence[BoundCommand], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._commands = commands
        self._shown: list[BoundCommand | None] = []  # None: the heading of a group
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
        self.results.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        keys = [command.command.shown_keys for command in commands]
        self.results.setItemDelegate(_TwoColumns(keys, self.results))
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
                row = self.results.currentRow() + step
                while 0 <= row < len(self._shown) and self._shown[row] is None:
                    row += step
                if 0 <= row < len(self._shown):
                    self.results.setCurrentRow(row)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._run()
                return True
        return super().eventFilter(watched, event)

    def _search(self, typed: str) -> None:
        commands = matching(self._commands, typed)
        self._shown = []
        self.results.clear()
        groups: dict[str, list[BoundCommand]] = {}
        for command in commands:
            groups.setdefault("" if typed.strip() else command.command.group, []).append(command)
        for group, members in groups.items():
            if group:
                self._add_heading(group)
            for command in members:
                self._add_command(command)
        self.results.setCurrentRow(1 if "" not in groups and groups else 0)
        if not self._shown:
            words = elided(" ".join(typed.split()), MAX_SHOWN)
            nothing = QListWidgetItem(f"No command matches “{words}”.", self.results)
            nothing.setFlags(Qt.ItemFlag.NoItemFlags)

    def _add_heading(self, group: str) -> None:
        heading = QListWidgetItem(group, self.results)
        heading.setFlags(Qt.ItemFlag.NoItemFlags)
        font = self.results.font()
        font.setBold(True)
        heading.setFont(font)
        self._shown.append(None)

    def _add_command(self, command: BoundCommand) -> None:
        keys = command.command.shown_keys
        item = QListWidgetItem(command.title, self.results)
        item.setToolTip(command.title)
        item.setData(KEYS, keys)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{command.title} {keys}".rstrip())
        self._shown.append(command)

    def _run(self) -> None:
        row = self.results.currentRow()
        chosen = self._shown[row] if 0 <= row < len(self._shown) else None
        if chosen is not None:
            self.close()
            chosen.run()
