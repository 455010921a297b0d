"""Explains the terms of the interface where they stand: in tool tips, and by “What is this?” (F1)."""

from collections.abc import Callable
from html import escape

from PySide6.QtCore import QEvent, QObject, QPoint
from PySide6.QtGui import QHelpEvent, QWhatsThisClickedEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QGroupBox, QLabel, QToolTip, QWhatsThis, QWidget

from viz_app.glossary import Entry, entries_in

MAX_ENTRIES, MAX_PARENTS = 3, 4
STATION = "station:"
_EXPLAINED = (QHelpEvent, QWhatsThisClickedEvent)


class TermExplainer(QObject):
    """Watches the whole application for as long as it lives.

    A widget's terms are those of its text, its name for screen readers, and its tool tip; a widget that paints its text
    itself names them in the dynamic property "terms". Where a widget has none, the widget that it lies in is asked.
    """

    def __init__(self, open_station: Callable[[str], object], parent: QObject) -> None:
        """`open_station`: shows a station of the Learn page, by its name."""
        super().__init__(parent)
        self._open_station = open_station
        QApplication.instance().installEventFilter(self)  # type: ignore[union-attr]

    def begin(self) -> None:
        """The next click explains instead of acting; Escape ends it."""
        QWhatsThis.enterWhatsThisMode()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Tool tips of labels without one, and “What is this?”."""
        # Every event of the application passes here, thousands while a window is made, so what most of them are is
        # told by the cheapest of questions. PySide knows the class of each kind but of QueryWhatsThis.
        if not (isinstance(event, _EXPLAINED) or QWhatsThis.inWhatsThisMode()) or not isinstance(watched, QWidget):
            return False
        kind = event.type()
        if kind == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            return self._show_tip(watched, event.globalPos())
        if kind == QEvent.Type.QueryWhatsThis and not watched.whatsThis():
            event.setAccepted(bool(entries_of(watched)))
            return event.isAccepted()
        if kind == QEvent.Type.WhatsThis and isinstance(event, QHelpEvent) and (entries := entries_of(watched)):
            QWhatsThis.showText(event.globalPos(), as_html(entries), watched)
            return True
        if kind == QEvent.Type.WhatsThisClicked and isinstance(event, QWhatsThisClickedEvent):
            return self._follow(event.href())
        return False

    def _show_tip(self, widget: QWidget, place: QPoint) -> bool:
        """Only where the label says so little that its terms are what a tip should tell."""
        if widget.toolTip() or not isinstance(widget, QLabel):
            return False
        entries = entries_in(own_text(widget))
        if not entries or len(widget.text()) > MAX_TIPPED:
            return False
        QToolTip.showText(place, "\n".join(f"{entry.title}: {entry.text}" for entry in entries), widget)
        return True

    def _follow(self, link: str) -> bool:
        if not link.startswith(STATION):
            return False
        QWhatsThis.hideText()
        self._open_station(link.removeprefix(STATION))
        return True


MAX_TIPPED = 40
"""Characters of a label; longer ones are sentences, which explain themselves."""


def own_text(widget: QWidget) -> str:
    """What a widget says of itself."""
    texts = [widget.property("terms") or ""]
    if isinstance(widget, QLabel | QAbstractButton):
        texts.append(widget.text())
    elif isinstance(widget, QGroupBox):
        texts.append(widget.title())
    return " ".join((*texts, widget.accessibleName(), widget.toolTip()))


def entries_of(widget: QWidget) -> list[Entry]:
    """The entries for a widget; for what it lies in, if it has none."""
    asked: QWidget | None = widget
    for _ in range(MAX_PARENTS):
        if asked is None or asked.isWindow():
            return []
        if entries := entries_in(own_text(asked)):
            return entries[:MAX_ENTRIES]
        asked = asked.parentWidget()
    return []


def as_html(entries: list[Entry]) -> str:
    """Entries as the text of “What is this?”."""
    parts = []
    for entry in entries:
        text = f"<p><b>{escape(entry.title)}</b><br>{escape(entry.text)}"
        if entry.formula:
            text += f"<br><i>{escape(entry.formula)}</i>"
        if entry.station:
            text += f'<br><a href="{STATION}{entry.station}">Learn more</a>'
        parts.append(f"{text}</p>")
    return "".join(parts)
