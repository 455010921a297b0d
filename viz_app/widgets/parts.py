"""Functions that make small widgets and rows, and that move or hide widgets."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLayout, QToolButton, QWidget

from augenmerk.viz_app.theme import scales


def labelled_row(name: QWidget, content: QWidget, button: QWidget) -> QHBoxLayout:
    """A row of a name, its content, and a button."""
    row = QHBoxLayout()
    scales(row.setSpacing, 12)
    top = Qt.AlignmentFlag.AlignTop
    row.addWidget(name, 0, top)
    row.addWidget(content, 1)
    row.addWidget(button, 0, top | Qt.AlignmentFlag.AlignRight)
    return row


def take_out(widget: QWidget) -> None:
    """Takes a widget out of the layout it is in, before it is put into another one.

    Qt would do that itself, but Python's wrapper of the layout's item would stay, and later stand for a widget that Qt
    creates at the same address.
    """
    parent = widget.parentWidget()
    if parent is not None and (outer := parent.layout()) is not None:
        for layout in (outer, *outer.findChildren(QLayout)):
            if layout.indexOf(widget) >= 0:
                layout.removeWidget(widget)


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


def label(role: str, text: str = "", *, wraps: bool = False) -> QLabel:
    """A label of plain text; `role` is one of those of `viz_app.theme`."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setProperty("role", role)
    made.setWordWrap(wraps)
    return made


def set_visible(widget: QWidget, is_visible: bool, focus_to: QWidget) -> None:
    """Shows or hides a widget. Focus that was in it goes to another one: else Qt chooses the next of the window."""
    focused = widget.window().focusWidget()  # also of a window that is not active now
    if not is_visible and focused is not None and (focused is widget or widget.isAncestorOf(focused)):
        focus_to.setFocus()
    widget.setVisible(is_visible)
