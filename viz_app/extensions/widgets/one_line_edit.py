"""A field for a sentence or a word."""

from PySide6.QtWidgets import QLineEdit

from ...state.sentence_text import MAX_CHARACTERS


def one_line_edit(name: str, tip: str, placeholder: str = "") -> QLineEdit:
    """A field in one line for a sentence or a word, no longer than `SentenceInput` takes.

    Args:
        name: for screen readers.
        tip: its tool tip.
        placeholder: shown while it is empty.
    """
    edit = QLineEdit()
    edit.setMaxLength(MAX_CHARACTERS)
    edit.setAccessibleName(name)
    edit.setToolTip(tip)
    edit.setPlaceholderText(placeholder)
    return edit
