"""The sheet of keys: all keys of the window, by group."""

from collections.abc import Iterable, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QWidget

from ...theme import scaled, scales
from ...widgets.commands import ARROWS, Command, Key, keys_text
from ...widgets.labels import label
from ...widgets.layouts import VerticalScrollArea, column_of

MAX_COLUMNS, SCROLL_BAR_WIDTH = 3, 12


def key_lines(commands: Iterable[Command[Any]]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The sheet of keys: keys and actions by group; commands with the same text share a line."""
    groups: dict[str, dict[str, list[Key]]] = {}
    for command in commands:
        if keys := (*command.keys, *command.local_keys):
            line = command.line or command.title.removesuffix("…").partition(" (")[0]
            groups.setdefault(command.group, {}).setdefault(line, []).extend(keys)
    return [
        (
            group,
            [
                (keys_text(sorted(dict.fromkeys(keys), key=_place_on_line)), line)
                for line, keys in lines.items()
            ],
        )
        for group, lines in groups.items()
    ]


def _place_on_line(key: Key) -> tuple[str, bool]:
    """The sort key that groups keys by modifiers, arrows last."""
    before, _, name = QKeySequence(key).toString().rpartition("+")
    return before, name in ARROWS


class ShortcutSheet(QDialog):
    """All keys by group, in the fewest columns that fit the window's height; it scrolls up and
    down.
    """

    def __init__(
        self, groups: Sequence[tuple[str, Sequence[tuple[str, str]]]], parent: QWidget | None = None
    ) -> None:
        """`groups`: a name, and keys with their actions."""
        super().__init__(parent)
        self.setWindowTitle("Keyboard")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setSizeGripEnabled(False)
        room = (parent.window() if parent is not None else self).size()
        contents = [_in_columns(groups, num_columns) for num_columns in range(1, MAX_COLUMNS + 1)]
        narrow = [
            content for content in contents if content.sizeHint().width() <= room.width()
        ] or contents[:1]
        content = next(
            (content for content in narrow if content.sizeHint().height() <= room.height()),
            narrow[-1],
        )
        size = content.sizeHint()
        column_of(VerticalScrollArea(content, takes_keys=True), within=self)
        beside = scaled(SCROLL_BAR_WIDTH) if size.height() > room.height() else 0
        self.resize(min(size.width() + beside, room.width()), min(size.height(), room.height()))


def _in_columns(
    groups: Sequence[tuple[str, Sequence[tuple[str, str]]]], num_columns: int
) -> QWidget:
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
