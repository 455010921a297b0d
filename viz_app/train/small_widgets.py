"""The small parts of the Train page: a value that opens a menu, a thin progress bar."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup, QHideEvent, QKeyEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from viz_app.theme import Theme


class ChoiceButton(QToolButton):
    """One of several options, shown as a word that opens a menu; arrow keys walk through the options.

    Signals:
        chosen(str): the user took the option with this key.
    """

    chosen = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "value")
        self.setAccessibleName(name)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._menu = QMenu(self)
        self._menu.triggered.connect(self._on_triggered)
        self.setMenu(self._menu)
        self._group = QActionGroup(self)
        self._key = ""

    def key(self) -> str:
        """The key of the option shown."""
        return self._key

    def keys(self) -> list[str]:
        """The keys of all options, in order."""
        return [str(action.data()) for action in self._group.actions()]

    def set_options(self, options: Sequence[tuple[str, str]]) -> None:
        """Offers `options`, each a key and a label; the option shown stays if it is still there."""
        for old in self._group.actions():
            self._group.removeAction(old)
        self._menu.clear()
        for key, label in options:
            action = QAction(label, self._menu, checkable=True)
            action.setData(key)
            self._group.addAction(action)
            self._menu.addAction(action)
        if self._key in self.keys():
            self.set_key(self._key)

    def set_key(self, key: str) -> None:
        """Shows the option with this key; no signal. An unknown key is shown as it is."""
        self._key = key
        label = key
        for action in self._group.actions():
            if action.data() == key:
                action.setChecked(True)
                label = action.text()
        self.setText(f"{label} ▾")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and down take the neighbouring option; space and return open the menu."""
        offset = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()))
        keys = self.keys()
        if offset is not None and self._key in keys:
            self._take(keys[max(0, min(len(keys) - 1, keys.index(self._key) + offset))])
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.showMenu()
        else:
            super().keyPressEvent(event)

    def _on_triggered(self, action: QAction) -> None:
        self.set_key(str(action.data()))
        self.chosen.emit(self._key)  # also if it is the option shown already: "a folder…" asks anew

    def _take(self, key: str) -> None:
        if key != self._key:
            self.set_key(key)
            self.chosen.emit(key)


class ProgressLine(QWidget):
    """A thin bar: a fraction, or, when nobody knows how much there is, a piece that wanders."""

    HEIGHT_PX = 8
    FRAME_MS = 60

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._fraction: float | None = 0.0
        self._phase = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(self.FRAME_MS)
        self._timer.timeout.connect(self._wander)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """As wide as it is given, and thin."""
        return QSize(120, self.HEIGHT_PX)

    def set_fraction(self, fraction: float | None) -> None:
        """Shows a fraction from 0 to 1, or None for work of unknown length."""
        self._fraction = fraction
        self.setAccessibleName("progress" if fraction is None else f"progress {fraction:.0%}")
        self._run_timer_if_needed()
        self.update()

    def apply_theme(self, theme: Theme) -> None:
        """Takes the colours of `theme`."""
        self._theme = theme
        self.update()

    def showEvent(self, event: QShowEvent) -> None:
        """Moves only while it is seen."""
        super().showEvent(event)
        self._run_timer_if_needed()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stands still when nobody looks."""
        super().hideEvent(event)
        self._timer.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws the groove and the part that is done."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        radius = self.height() / 2
        painter.setBrush(self._theme.color("raised"))
        painter.drawRoundedRect(QRectF(self.rect()), radius, radius)
        start, share = (self._phase * 0.75, 0.25) if self._fraction is None else (0.0, self._fraction)
        if share > 0:
            width = max(self.width() * share, self.height())
            painter.setBrush(self._theme.color("accent"))
            painter.drawRoundedRect(QRectF(self.width() * start, 0, width, self.height()), radius, radius)

    def _run_timer_if_needed(self) -> None:
        if self._fraction is None and self.isVisible():
            self._timer.start()
        else:
            self._timer.stop()

    def _wander(self) -> None:
        self._phase = (self._phase + 0.02) % 1.0
        self.update()
