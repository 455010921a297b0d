"""A label of one line that ends in an ellipsis where there is no room; the whole text is its tool tip then."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget


class ElidingLabel(QLabel):
    """Wants room for its whole text, and makes do with less.

    Args:
        role: one of the roles of `viz_app.theme`.
        text: what it says.
        elide: where it is cut; paths are best cut in the middle.
    """

    def __init__(
        self,
        role: str,
        text: str = "",
        parent: QWidget | None = None,
        *,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        super().__init__(text, parent)
        self._elide, self._whole = elide, ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)

    def show_short(self, text: str, whole: str) -> None:
        """Says something in a shorter form; the tool tip tells the whole."""
        self._whole = whole
        self.setText(text)
        self.update()

    def minimumSizeHint(self) -> QSize:
        """No room is enough."""
        return QSize(0, super().minimumSizeHint().height())

    def shown_text(self) -> str:
        """What fits into the width."""
        return self.fontMetrics().elidedText(self.text(), self._elide, self.width())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws what fits."""
        shown = self.shown_text()
        whole = self._whole or self.text()
        tip = "" if shown == whole else whole
        if tip != self.toolTip():
            self.setToolTip(tip)
        painter = QPainter(self)
        painter.setPen(self.palette().windowText().color())
        painter.setFont(self.font())
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter | self.alignment(), shown)
