"""Explains the terms of the interface, as in `glossary.py`: in tool tips, and by “What is this?”
(F1).
"""

import re
from collections.abc import Callable
from functools import cache
from html import escape

from PySide6.QtCore import QEvent, QObject, QPoint
from PySide6.QtGui import QCursor, QHelpEvent, Qt, QWhatsThisClickedEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QGroupBox,
    QLabel,
    QToolTip,
    QWhatsThis,
    QWidget,
)

from ...theme import current_theme
from .glossary import Entry, glossary

MAX_ENTRIES, MAX_PARENTS = 3, 4
CHAPTER = "chapter:"
_LINK = re.compile(f'<br><a href="{CHAPTER}[^"]*">[^<]*</a>')
_KEYBOARD_KEY = re.compile(r"\bkeys?:? [A-Z]\w*")
"""A key of the keyboard, "key O": none of attention."""


def entries_in(text: str) -> list[Entry]:
    """The entries of the terms in a text, in order, each once; of nested terms, the longer."""
    entries: list[Entry] = []
    for match in _pattern().finditer(text):
        entry = _by_term()[match[0].lower()]
        if entry not in entries:
            entries.append(entry)
    return entries


@cache
def _by_term() -> dict[str, Entry]:
    return {term.lower(): entry for entry in glossary() for term in entry.terms}


@cache
def _pattern() -> re.Pattern[str]:
    longest_first = sorted(_by_term(), key=len, reverse=True)
    return re.compile("|".join(_whole(term) for term in longest_first) or "(?!)", re.IGNORECASE)


def _whole(term: str) -> str:
    """The term as a word of its own."""
    before = r"(?<!\w)" if term[0].isalnum() else ""
    after = r"(?!\w)" if term[-1].isalnum() else ""
    return before + re.escape(term) + after


class TermExplainer(QObject):
    """Explains in every window of the application, for as long as it lives.

    A widget's terms are those of its text, its name for screen readers, and its tool tip. A widget
    that paints its text names them in the dynamic property "terms" or by a method
    `terms_at(point)`. If a widget has none, those of its parent count. “What is this?” begins with
    the purpose of the widget: its property "explanation", or its tool tip.

    Qt passes requests for tips that no widget answers to the window. So only windows are watched: a
    filter of the application would be called for each event of each widget, hundreds of times for
    each letter typed.
    """

    def __init__(self, parent: QWidget) -> None:
        """`parent`: the first window."""
        super().__init__(parent)
        self.open_chapter: Callable[[str], object] | None = None
        parent.installEventFilter(self)
        QApplication.instance().focusChanged.connect(self._watch_window)  # type: ignore[union-attr]

    def begin(self) -> None:
        """The next click explains instead of acting; Escape ends it."""
        QWhatsThis.enterWhatsThisMode()

    def explain(self, entry: Entry) -> None:
        """Shows a term in the middle of its window; a click or a key hides it."""
        window = self.parent()
        assert isinstance(window, QWidget)
        QWhatsThis.showText(
            window.mapToGlobal(window.rect().center()), self._as_shown(as_html([entry])), window
        )

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Tool tips of labels without one, and “What is this?”."""
        kind = event.type()
        if kind not in _ASKED or not isinstance(watched, QWidget):
            return False
        if kind == QEvent.Type.WhatsThisClicked and isinstance(event, QWhatsThisClickedEvent):
            return self._follow(event.href())
        # in PySide QueryWhatsThis has no place: use the mouse's
        position = event.globalPos() if isinstance(event, QHelpEvent) else QCursor.pos()
        widget = watched.childAt(watched.mapFromGlobal(position)) or watched
        if kind == QEvent.Type.ToolTip:
            return self._show_tip(widget, position)
        html = "" if widget.whatsThis() else explanation_of(widget, position)
        if kind == QEvent.Type.QueryWhatsThis:
            event.setAccepted(bool(html))
        elif html:
            QWhatsThis.showText(position, self._as_shown(html), watched)
        return bool(html)

    def _watch_window(self, _before: QWidget | None, now: QWidget | None) -> None:
        """Watches the window of the focused widget, dialogs too; installing a filter again changes
        nothing.
        """
        if now is not None:
            now.window().installEventFilter(self)

    def _show_tip(self, widget: QWidget, position: QPoint) -> bool:
        """Shows the terms of a short label without a tip as its tool tip; True if it does."""
        if widget.toolTip() or not isinstance(widget, QLabel):
            return False
        entries = entries_in(own_text(widget))
        if not entries or max(map(len, widget.text().splitlines()), default=0) > MAX_TIPPED:
            return False
        QToolTip.showText(
            position, "\n".join(f"{entry.title}: {entry.text}" for entry in entries), widget
        )
        return True

    def _as_shown(self, html: str) -> str:
        """The text in the size of the interface, without links to chapters if there are none."""
        return at_scale(html if self.open_chapter is not None else _LINK.sub("", html))

    def _follow(self, link: str) -> bool:
        if not link.startswith(CHAPTER):
            return False
        QWhatsThis.hideText()
        if self.open_chapter is not None:
            self.open_chapter(link.removeprefix(CHAPTER))
        return True


MAX_TIPPED = 40
"""Characters of a line of a label; longer ones are sentences, which explain themselves."""
_ASKED = (
    QEvent.Type.ToolTip,
    QEvent.Type.QueryWhatsThis,
    QEvent.Type.WhatsThis,
    QEvent.Type.WhatsThisClicked,
)


def own_text(widget: QWidget) -> str:
    """The text, name and tool tip of a widget."""
    texts = [widget.property("terms") or ""]
    if isinstance(widget, QLabel | QAbstractButton):
        texts.append(widget.text())
    elif isinstance(widget, QGroupBox):
        texts.append(widget.title())
    return _KEYBOARD_KEY.sub("", " ".join((*texts, widget.accessibleName(), widget.toolTip())))


def entries_of(widget: QWidget, position: QPoint | None = None) -> list[Entry]:
    """The entries for a widget, or else for its parent.

    `position` is one on the screen, for widgets that draw several things.
    """
    terms_at = getattr(widget, "terms_at", None)
    if position is not None and terms_at is not None:
        entries = entries_in(terms_at(widget.mapFromGlobal(position)))
        if entries:
            return entries[:MAX_ENTRIES]
    asked: QWidget | None = widget
    for _ in range(MAX_PARENTS):
        if asked is None or asked.isWindow():
            return []
        if entries := entries_in(own_text(asked)):
            return entries[:MAX_ENTRIES]
        asked = asked.parentWidget()
    return []


def explanation_of(widget: QWidget, position: QPoint) -> str:
    """The text of “What is this?”: the purpose of the widget, then its terms; or nothing."""
    purpose = widget.property("explanation") or widget.toolTip()
    if purpose and not Qt.mightBeRichText(purpose):
        purpose = f"<p>{escape(purpose)}</p>"
    return purpose + as_html(entries_of(widget, position))


def at_scale(html: str) -> str:
    """The text in the size of the interface's: Qt shows it in a window that takes no size from the
    style sheet.
    """
    return f'<div style="font-size: {current_theme().pixel_size("body")}px">{html}</div>'


def as_html(entries: list[Entry]) -> str:
    """Entries as the text of “What is this?”."""
    parts = []
    for entry in entries:
        text = f"<p><b>{escape(entry.title)}</b><br>{escape(entry.text)}"
        if entry.formula:
            text += f"<br><i>{escape(entry.formula)}</i>"
        if entry.chapter:
            text += f'<br><a href="{CHAPTER}{entry.chapter}">Learn more</a>'
        parts.append(f"{text}</p>")
    return "".join(parts)
