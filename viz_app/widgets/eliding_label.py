"""A single-line label that elides text that does not fit; the tool tip then has the whole text."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget


class ElidingLabel(QLabel):
    """A label that prefers the width of its whole text but can be narrower.

    Args:
        role: one of the roles of `viz_app.theme`.
        text: the text. Lines after the first are shorter forms of it, longest first: where the first does not fit, the
            longest that does is shown.
        elide: where it is elided; paths are best elided in the middle.
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
        """Shows a shorter form of a text; the tool tip has the whole text."""
        self._whole = whole
        self.setText(text)
        self.update()

    def minimumSizeHint(self) -> QSize:
        """No minimum width, and one line."""
        return QSize(0, self.sizeHint().height())

    def sizeHint(self) -> QSize:
        """The size of the longest form, in one line."""
        hint = super().sizeHint()
        lines = self.text().count("\n")
        return QSize(hint.width(), hint.height() - lines * self.fontMetrics().lineSpacing())

    def shown_text(self) -> str:
        """The text that fits the width."""
        forms, metrics, width = self.text().split("\n"), self.fontMetrics(), self.contentsRect().width()
        fitting = next((form for form in forms if metrics.horizontalAdvance(form) <= width), forms[-1])
        return metrics.elidedText(fitting, self._elide, width)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws the text that fits."""
        shown = self.shown_text()
        whole = self._whole or self.text().partition("\n")[0]
        tip = "" if shown == whole else whole
        if tip != self.toolTip():
            self.setToolTip(tip)
        painter = QPainter(self)
        painter.setPen(self.palette().windowText().color())
        painter.setFont(self.font())
        painter.drawText(self.contentsRect(), Qt.AlignmentFlag.AlignVCenter | self.alignment(), shown)
