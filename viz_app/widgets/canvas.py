"""The base class of widgets that draw themselves."""

from PySide6.QtCore import QEvent, QPointF
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QToolTip, QWidget

from ..theme import current_theme, is_theme_change


class Canvas(QWidget):
    """A widget that draws itself.

    It follows mouse and theme, and its places have tool tips of their own.

    Attributes:
        theme: the colours and fonts that it was last rebuilt for.
    """

    def __init__(self) -> None:
        super().__init__()
        self.theme = current_theme()
        self.setMouseTracking(True)

    def rebuild(self) -> None:
        """Draws again; subclasses first update the parts that depend on the theme."""
        self.update()

    def tip_at(self, position: QPointF) -> str | None:
        """The tool tip of a place; empty for none there, None for the widget's own."""
        return None

    def event(self, event: QEvent) -> bool:
        """Shows the tool tip of a place."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            tip = self.tip_at(QPointF(event.pos()))
            if tip is not None:
                QToolTip.showText(event.globalPos(), tip, self)
                return True
        return super().event(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if is_theme_change(event) and self.theme != current_theme():
            self.theme = current_theme()
            self.rebuild()
