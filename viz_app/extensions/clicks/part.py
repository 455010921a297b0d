"""Double clicks end where they began."""

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent, QWindow
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from ...window_part import WindowPart


class ClicksPart(WindowPart):
    """Keeps the second click of a double click from what the first one has brought to its place."""

    def __init__(self, window: Any) -> None:
        super().__init__(window)
        self._filter = DoubleClickFilter(window)

    def shown(self) -> None:
        """See `WindowPart`."""
        self._filter.watch(self.window.windowHandle())


@dataclass(frozen=True)
class Click:
    """What was pressed, how it looked, when in milliseconds, and where on the screen."""

    target: QWidget
    look: tuple[str, bool]
    timestamp: int
    pointer: QPointF

    def makes_meaningless(self, other: "Click") -> bool:
        """Whether another one completes a double click on what is not there any more."""
        has_changed = other.target is not self.target or other.look != self.look
        return has_changed and self._is_followed_by(other)

    def _is_followed_by(self, other: "Click") -> bool:
        way = (other.pointer - self.pointer).manhattanLength()
        return (
            other.timestamp - self.timestamp < QApplication.doubleClickInterval()
            and way < QApplication.startDragDistance()
        )


class DoubleClickFilter(QObject):
    """An event filter of windows: the second click of a double click only gets to the same widget.

    The first one may show another page, close a dialog or a menu, or remove a button. The second
    one would press what lies below, as Qt sends it to whatever it finds there. It would also undo
    the first one at once where this turned a button into its opposite: Edit into Done.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._last: Click | None = None
        self._is_dropping = False
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.focusWindowChanged.connect(self.watch)

    def watch(self, window: QWindow | None) -> None:
        """Filters the events of a window, such as a dialog that opens."""
        if window is not None:
            window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt sends the second press with a flag, and again as a double click: this one counts."""
        kind = event.type()
        if kind == QEvent.Type.MouseButtonRelease and self._is_dropping:
            self._is_dropping = False
            return True
        if (
            kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick)
            and isinstance(event, QMouseEvent)
            and not event.flags() & Qt.MouseEventFlag.MouseEventCreatedDoubleClick
        ):
            self._is_dropping = self._is_meaningless(watched, event)
            return self._is_dropping
        return super().eventFilter(watched, event)

    def _is_meaningless(self, window: QObject, event: QMouseEvent) -> bool:
        target = _widget_at(window, event)
        if target is None:
            return False
        click = Click(target, _look_of(target), event.timestamp(), event.globalPosition())
        if self._last is not None and self._last.makes_meaningless(click):
            return True
        self._last = click
        return False


def _look_of(widget: QWidget) -> tuple[str, bool]:
    """The text of a button, and whether it is checked."""
    if isinstance(widget, QAbstractButton):
        return widget.text(), widget.isChecked()
    return "", False


def _widget_at(window: QObject, event: QMouseEvent) -> QWidget | None:
    """The innermost widget at the place of a press in a window; None if it has no widgets."""
    for widget in QApplication.topLevelWidgets():
        if widget.windowHandle() is window:
            return widget.childAt(event.position().toPoint()) or widget
    return None
