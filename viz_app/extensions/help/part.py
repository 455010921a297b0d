"""Help as a part of the window: the palette, the sheet of keys, “What is this?”, and what the
product is.
"""

from collections.abc import Sequence
from typing import Any

from PySide6.QtWidgets import QMessageBox

from augenmerk.core import __version__

from ...translate.page import CANCEL_OR_UNPIN
from ...views.sentence_input import INPUT_COMMANDS
from ...widgets.commands import BoundCommand, Command
from ...widgets.dialogs import open_box
from ...window_part import WindowPart
from ..widgets.labelled_matrix import MATRIX_COMMANDS
from .explain import TermExplainer
from .glossary import Entry, glossary
from .key_sheet import ShortcutSheet, key_lines
from .palette import CommandPalette


class HelpPart(WindowPart):
    """Finds every command and key of the window, and explains its terms.

    Attributes:
        explainer: explains the next widget clicked.
    """

    def __init__(self, window: Any) -> None:
        super().__init__(window)
        self.explainer = TermExplainer(window)

    def menu_entries(self) -> list[BoundCommand]:
        """See `WindowPart`. In the palette they follow all others but the last."""
        return self.window.commands.add(self, HELP_COMMANDS)

    def palette(self) -> list[BoundCommand]:
        """The terms of the glossary."""
        return [
            Command[Entry](
                f"Glossary: {entry.title}",
                self.explainer.explain,
                search_words=", ".join(entry.terms),
            ).on(entry)
            for entry in glossary()
        ]

    def show_palette(self) -> None:
        """Opens the palette: all commands, and those that parts list."""
        of_parts = (command for part in self.window.parts for command in part.palette())
        commands = [
            command for command in (*self.window.commands.commands, *of_parts) if command.is_offered
        ]
        CommandPalette(commands, self.window).open()

    def show_keys(self) -> None:
        """Opens the sheet of keys, including pages that were not opened yet."""
        of_window = (bound.command for bound in self.window.commands.commands)
        of_parts = (command for part in self.window.parts for command in part.sheet())
        local: Sequence[Command[Any]] = (
            *INPUT_COMMANDS,
            CANCEL_OR_UNPIN,
            *of_parts,
            *MATRIX_COMMANDS,
        )
        ShortcutSheet(key_lines((*of_window, *local)), self.window).open()

    def show_about(self) -> None:
        """Opens a dialog about the product without waiting for it."""
        icon = QMessageBox.Icon.NoIcon
        title = "About Augenmerk"
        open_box(
            QMessageBox(
                icon, title, f"Augenmerk {__version__}", QMessageBox.StandardButton.Ok, self.window
            ),
            "Type a sentence, read its translation, and see where every head of a Transformer "
            "looked.\n"
            "\n"
            "Attention weights show where the model looks, not why it chose a word.\n"
            "\n"
            "MIT licence.",
        )


HELP_COMMANDS = (
    Command[HelpPart](
        "What is this? Click on anything",
        lambda part: part.explainer.begin(),
        keys=("F1",),
        group="Help",
    ),
    Command[HelpPart]("Keyboard shortcuts", HelpPart.show_keys, keys=("?",), group="Help"),
    Command[HelpPart]("Commands", HelpPart.show_palette, keys=("Ctrl+K",), group="Help"),
    Command[HelpPart]("About Augenmerk", HelpPart.show_about, group="About"),
)
