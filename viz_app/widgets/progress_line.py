"""A thin progress bar."""

from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from augenmerk.core.quantities import percent
from augenmerk.viz_app.theme import current_theme


class ProgressLine(QWidget):
    """A thin bar: shows a fraction, or a moving segment if the amount of work is unknown."""

    HEIGHT_PX = 8
    FRAME_MS = 60

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._fraction: float | None = 0.0
        self._phase = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(self.FRAME_MS)
        self._timer.timeout.connect(self._advance)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Any width, fixed height."""
        return QSize(120, self.HEIGHT_PX)

    def set_fraction(self, fraction: float | None) -> None:
        """Shows a fraction from 0 to 1, or None for work of unknown length."""
        self._fraction = fraction
        self.setAccessibleName("progress" if fraction is None else f"progress {percent(fraction)}")
        self._run_timer_if_needed()
        self.update()

    def showEvent(self, event: QShowEvent) -> None:
        """Animates only while visible."""
        super().showEvent(event)
        self._run_timer_if_needed()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stops the animation."""
        super().hideEvent(event)
        self._timer.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws the background and the completed part."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        radius = self.height() / 2
        painter.setBrush(current_theme().color("raised"))
        painter.drawRoundedRect(QRectF(self.rect()), radius, radius)
        start, share = (self._phase * 0.75, 0.25) if self._fraction is None else (0.0, self._fraction)
        if share > 0:
            width = max(self.width() * share, self.height())
            painter.setBrush(current_theme().color("accent"))
            painter.drawRoundedRect(QRectF(self.width() * start, 0, width, self.height()), radius, radius)

    def _run_timer_if_needed(self) -> None:
        if self._fraction is None and self.isVisible():
            self._timer.start()
        else:
            self._timer.stop()

    def _advance(self) -> None:
        self._phase = (self._phase + 0.02) % 1.0
        self.update()
