"""The legend of a chart: line, marker and name of each curve; a click on a compared run removes it."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QWidget

from augenmerk.viz_app.theme import Theme, current_theme, is_theme_change, scaled, scales
from augenmerk.viz_app.train.charts.colors import line_color, marker_of

_MAX_WIDTH_PX = 240


@dataclass(frozen=True)
class LegendEntry:
    """One line of the legend.

    Attributes:
        name: for display.
        color: as in `viz_app.train.charts.colors`.
        has_marks: whether the line has a marker at each point.
        run: key of the compared run that a click removes; empty if a click does nothing.
        tip: description.
    """

    name: str
    color: str
    has_marks: bool
    run: str = ""
    tip: str = ""


class Legend(QWidget):
    """Entries in a row.

    Signals:
        removed(str): a compared run was clicked: the `run` of its entry.
    """

    removed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[LegendEntry, ...] = ()
        self.buttons: list[QToolButton] = []
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        scales(self._row.setSpacing, 4)

    def show_entries(self, entries: Sequence[LegendEntry]) -> None:
        """Shows `entries`, if they differ from those shown."""
        if tuple(entries) != self._entries:
            self._entries = tuple(entries)
            self._rebuild()

    def changeEvent(self, event: QEvent) -> None:
        """Other colours."""
        super().changeEvent(event)
        if is_theme_change(event):
            self._show_icons()

    def _rebuild(self) -> None:
        for button in self.buttons:
            self._row.removeWidget(button)
            button.hide()
            button.deleteLater()
        self.buttons = [self._button(entry) for entry in self._entries]
        for button in self.buttons:
            self._row.addWidget(button)
        self._show_icons()

    def _show_icons(self) -> None:
        for button, entry in zip(self.buttons, self._entries, strict=True):
            button.setIcon(QIcon(line_pixmap(entry, current_theme(), self.devicePixelRatioF())))

    def _button(self, entry: LegendEntry) -> QToolButton:
        button = QToolButton(self)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setIconSize(_icon_size())
        button.setProperty("role", "legend-run" if entry.run else "legend")
        button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        max_text_px = scaled(_MAX_WIDTH_PX) - _icon_size().width() - scaled(24)
        name = button.fontMetrics().elidedText(entry.name, Qt.TextElideMode.ElideMiddle, max_text_px)
        button.setText(f" {name}  ✕" if entry.run else f" {name}")
        button.setToolTip(entry.tip)
        button.setAccessibleName(f"remove {entry.name}" if entry.run else entry.name)
        if entry.run:
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.clicked.connect(lambda _checked=False, run=entry.run: self.removed.emit(run))
        else:
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            button.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, not entry.tip)
        return button


def _icon_size() -> QSize:
    return QSize(scaled(22), scaled(12))


def line_pixmap(entry: LegendEntry, theme: Theme, pixel_ratio: float) -> QPixmap:
    """A short piece of the line, with its marker."""
    pixmap = QPixmap(_icon_size() * pixel_ratio)
    pixmap.setDevicePixelRatio(pixel_ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    color = QColor(line_color(entry.color, vars(theme.palette), is_dark=theme.is_dark))
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color, 2))
    middle = QPointF(_icon_size().width() / 2, _icon_size().height() / 2)
    painter.drawLine(QPointF(1, middle.y()), QPointF(_icon_size().width() - 1, middle.y()))
    if entry.has_marks:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        _draw_mark(painter, middle, marker_of(entry.color))
    painter.end()
    return pixmap


def _draw_mark(painter: QPainter, middle: QPointF, marker: str) -> None:
    radius = 4.0
    shapes: dict[str, list[tuple[float, float]]] = {
        "s": [(-1, -1), (1, -1), (1, 1), (-1, 1)],
        "^": [(0, -1.2), (1.1, 1), (-1.1, 1)],
        "v": [(0, 1.2), (1.1, -1), (-1.1, -1)],
        "D": [(0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)],
    }
    corners = shapes.get(marker)
    if corners is None:
        painter.drawEllipse(middle, radius, radius)
    else:
        painter.drawPolygon(QPolygonF([QPointF(middle.x() + radius * x, middle.y() + radius * y) for x, y in corners]))
