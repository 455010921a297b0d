"""A thin progress bar."""

from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from viz_app.theme import Theme


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
