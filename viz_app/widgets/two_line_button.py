"""A button with a line of text and, below it, a smaller explanation that wraps."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from augenmerk.viz_app.theme import CHIP_RADIUS, current_theme, scaled

MARGIN = 8
WRAPPED = int(Qt.TextFlag.TextWordWrap)


class TwoLineButton(QAbstractButton):
    """Flat; raised under the mouse and with the keyboard's focus.

    Args:
        text: the first line.
        explanation: below it, in as many lines as it takes.
        is_warned: whether the explanation has the warning colour.
    """

    def __init__(self, text: str, explanation: str, *, is_warned: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setText(text)
        self._explanation, self._is_warned = explanation, is_warned
        self.setAccessibleDescription(explanation)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        """Narrower, it has more lines."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Both texts and margins."""
        first = QFontMetrics(current_theme().font("body")).height()
        return first + self._explained(width).height() + 2 * scaled(MARGIN)

    def sizeHint(self) -> QSize:
        """For a usual width."""
        return QSize(400, self.heightForWidth(400))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Ground, text, explanation."""
        theme, painter = current_theme(), QPainter(self)
        if self.underMouse() or self.hasFocus() or self.isDown():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("raised"))
            painter.drawRoundedRect(self.rect(), CHIP_RADIUS, CHIP_RADIUS)
        font = theme.font("body")
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        height = QFontMetrics(font).height()
        first = QRect(scaled(MARGIN), scaled(MARGIN), self.width() - 2 * scaled(MARGIN), height)
        painter.drawText(
            first, 0, QFontMetrics(font).elidedText(self.text(), Qt.TextElideMode.ElideRight, first.width())
        )
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("warm" if self._is_warned else "muted"))
        below = QRect(
            scaled(MARGIN),
            scaled(MARGIN) + height,
            self.width() - 2 * scaled(MARGIN),
            self.height() - height - scaled(MARGIN),
        )
        painter.drawText(below, WRAPPED, self._explanation)

    def _explained(self, width: int) -> QRect:
        metrics = QFontMetrics(current_theme().font("small"))
        return metrics.boundingRect(
            QRect(0, 0, max(width - 2 * scaled(MARGIN), 40), 10_000), WRAPPED, self._explanation
        )
