"""One attention map as lines: queries at the left, keys at the right, the wider a line the larger its weight."""

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.translation.result import FloatArray
from viz_app.state.map_view import MapView
from viz_app.state.marking import Place
from viz_app.state.translate_state import TranslateState
from viz_app.theme import Theme, current_theme, is_theme_change
from viz_app.widgets.click_manner import manner_of
from viz_app.widgets.scroll_areas import VerticalScrollArea

HEADER = 24
MIN_LINE, MAX_LINE = 16.0, 34.0
MAX_LABEL = 150
MAX_SPAN = 460.0
GAP = 8
NUM_SHADES = 12
MIN_WIDTH, MAX_WIDTH = 0.7, 5.0
FAINT = 0.12
NATURAL_WIDTH, NATURAL_LINE = 640, 22
LEAST_HEIGHT = 120


@dataclass
class LinesPainter:
    """Paints a map as lines into a size.

    Attributes:
        state: threshold and marks.
        theme: colours and fonts.
        view: the map.
        size: of the picture; tokens stand closer where it is low.
    """

    state: TranslateState
    theme: Theme
    view: MapView
    size: QSize

    def __post_init__(self) -> None:
        metrics = QFontMetrics(self.theme.font("body"))
        self.label_width = min(
            max(map(metrics.horizontalAdvance, (*self.view.row_labels, *self.view.column_labels))) + 2, MAX_LABEL
        )
        self.top = self.state.top_weight(self.view.weights)
        number = metrics.horizontalAdvance("0.00") + GAP
        span = min(MAX_SPAN, self.size.width() - 2 * (self.label_width + GAP) - 2 * number)
        self.left = (self.size.width() - max(span, 40.0)) / 2
        self.right = self.size.width() - self.left

    @classmethod
    def of_natural_size(cls, state: TranslateState, theme: Theme, view: MapView) -> "LinesPainter":
        """As large as its tokens like it."""
        count = max(len(view.row_labels), len(view.column_labels))
        return cls(state, theme, view, QSize(NATURAL_WIDTH, int(HEADER + NATURAL_LINE * count)))

    def y_of(self, place: Place) -> float:
        """The middle of a token's line."""
        count = len(self.view.row_labels if place.is_row else self.view.column_labels)
        step = min((self.size.height() - HEADER) / count, MAX_LINE)
        return HEADER + (place.index + 0.5) * step

    def place_at(self, point: QPointF) -> Place | None:
        """The token whose label is under a point."""
        is_row = point.x() < self.left
        if not is_row and point.x() <= self.right:
            return None
        count = len(self.view.row_labels if is_row else self.view.column_labels)
        step = min((self.size.height() - HEADER) / count, MAX_LINE)
        index = int((point.y() - HEADER) // step)
        return Place(index, is_row=is_row) if 0 <= index < count else None

    def strength(self) -> FloatArray:
        """[rows, columns], from 0 to 1: how strong each line is; 0 where none is drawn."""
        share = np.clip(self.view.weights / self.top, 0, 1)
        strength = np.where(share >= self.state.line_threshold, share, 0).astype(np.float32)
        only = self._only()
        return np.where(only, strength, 0 if self.state.hovered_place is not None else strength * FAINT)

    def _only(self) -> np.ndarray:
        """Which lines stand out: those of the token under the mouse, else those of pinned and picked ones, else all."""
        only = np.zeros(self.view.weights.shape, dtype=bool)
        place, state = self.state.hovered_place, self.state
        if place is not None:
            only[(place.index, slice(None)) if place.is_row else (slice(None), place.index)] = True
            return only
        if not state.has_marks:
            return ~only
        kind = state.choice.kind
        for row in {self.view.row_of(each) for each in state.lit_rows(kind)} - {None}:
            only[row] = True
        if not only.any():
            for column in {self.view.column_of(each) for each in state.lit_columns(kind)} - {None}:
                only[:, column] = True
        return only

    def paint(self, painter: QPainter) -> None:
        """Lines, then labels."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        strength = self.strength()
        self._paint_lines(painter, strength)
        lit_rows, lit_columns = strength.max(axis=1) > FAINT, strength.max(axis=0) > FAINT
        if not self.state.has_marks and self.state.hovered_place is None:
            lit_rows[:] = lit_columns[:] = False
        sides = (True, self.view.row_labels, lit_rows), (False, self.view.column_labels, lit_columns)
        for is_row, labels, lit in sides:
            for index, text in enumerate(labels):
                self._paint_label(painter, Place(index, is_row=is_row), text, bool(lit[index]))
        self._paint_titles(painter)
        self._paint_values(painter)

    def _paint_lines(self, painter: QPainter, strength: FloatArray) -> None:
        """The faintest first, all of a shade at once."""
        rows = [self.y_of(Place(row, is_row=True)) for row in range(strength.shape[0])]
        columns = [self.y_of(Place(column, is_row=False)) for column in range(strength.shape[1])]
        shades = np.ceil(strength * NUM_SHADES).astype(int)
        for shade in range(1, NUM_SHADES + 1):
            share = shade / NUM_SHADES
            lines = [
                QLineF(self.left, rows[row], self.right, columns[column])
                for row, column in zip(*(each.tolist() for each in np.nonzero(shades == shade)), strict=True)
            ]
            if lines:
                pen = QPen(self.theme.color("accent", 0.12 + 0.8 * share), MIN_WIDTH + (MAX_WIDTH - MIN_WIDTH) * share)
                pen.setCapStyle(Qt.PenCapStyle.RoundCap)
                painter.setPen(pen)
                painter.drawLines(lines)

    def _paint_label(self, painter: QPainter, place: Place, text: str, is_lit: bool) -> None:
        font = self.theme.font("body")
        metrics = QFontMetrics(font)
        painter.setFont(font)
        is_special = text.startswith("<") and text.endswith(">")
        painter.setPen(self.theme.color("accent" if is_lit else "muted" if is_special else "text"))
        x = self.left - GAP - self.label_width if place.is_row else self.right + GAP
        side = Qt.AlignmentFlag.AlignRight if place.is_row else Qt.AlignmentFlag.AlignLeft
        box = QRectF(x, self.y_of(place) - 12, self.label_width, 24)
        elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, self.label_width)
        painter.drawText(box, side | Qt.AlignmentFlag.AlignVCenter, elided)

    def _paint_titles(self, painter: QPainter) -> None:
        painter.setFont(self.theme.font("small"))
        painter.setPen(self.theme.color("muted"))
        rows = "source token" if self.state.choice.kind == "encoder" else f"token {self.state.label_mode}"
        width = self.left - GAP
        flags = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(0, 0, width, HEADER - 6), flags | Qt.AlignmentFlag.AlignRight, rows)
        painter.drawText(QRectF(self.right + GAP, 0, width, HEADER - 6), flags | Qt.AlignmentFlag.AlignLeft, "looks at")

    def _paint_values(self, painter: QPainter) -> None:
        """The weights of the token under the mouse, beyond the labels of the other side."""
        place = self.state.hovered_place
        if place is None:
            return
        weights = self.view.weights[place.index] if place.is_row else self.view.weights[:, place.index]
        painter.setFont(self.theme.font("small"))
        painter.setPen(self.theme.color("muted"))
        for index, weight in enumerate(weights.tolist()):
            if weight < self.state.line_threshold * self.top or weight < 0.005:
                continue
            other = Place(index, is_row=not place.is_row)
            text = f"{weight:.2f}"
            width = QFontMetrics(painter.font()).horizontalAdvance(text)
            x = (
                self.left - GAP - self.label_width - width - 4
                if other.is_row
                else self.right + GAP + self.label_width + 4
            )
            painter.drawText(QRectF(x, self.y_of(other) - 12, width + 2, 24), Qt.AlignmentFlag.AlignVCenter, text)


class LinesView(QWidget):
    """Draws the chosen map of a `TranslateState` as lines.

    Signals:
        place_hovered(Place | None): the mouse came upon a token, or left it.
        rows_clicked(tuple[int, ...], str), columns_clicked(tuple[int, ...]): as of `Heatmap`.
    """

    place_hovered = Signal(object)
    rows_clicked = Signal(object, str)
    columns_clicked = Signal(object)

    def __init__(self, state: TranslateState, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._theme = theme
        self._view: MapView | None = None
        self._painter: LinesPainter | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Attention of the chosen head, as lines")
        self.setToolTip("Point at a token to see its lines alone. Click: pick it; with Ctrl or Shift, several.")

    def changeEvent(self, event: QEvent) -> None:
        """Other colours."""
        super().changeEvent(event)
        if is_theme_change(event) and self._theme != current_theme():
            self._theme = current_theme()
            self.rebuild()

    def rebuild(self) -> None:
        """Another map, or another size."""
        self._view = self._state.view()
        self._painter = None
        if self._view is not None:
            count = max(len(self._view.rows), len(self._view.columns))
            self.setMinimumHeight(int(HEADER + MIN_LINE * count))
            self._painter = LinesPainter(self._state, self._theme, self._view, self.size())
        self.update()

    @property
    def painter_now(self) -> LinesPainter | None:
        """What is painted; None while nothing is shown."""
        return self._painter

    def resizeEvent(self, event: QEvent) -> None:
        """Tokens spread over the height."""
        self.rebuild()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Only the lines of the token under the mouse."""
        place = self._painter.place_at(event.position()) if self._painter is not None else None
        if place != self._state.hovered_place:
            self.setCursor(Qt.CursorShape.PointingHandCursor if place else Qt.CursorShape.ArrowCursor)
            self.place_hovered.emit(place)

    def leaveEvent(self, event: QEvent) -> None:
        """All lines again."""
        if self._state.hovered_place is not None:
            self.place_hovered.emit(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click picks a token."""
        view = self._view
        place = self._painter.place_at(event.position()) if self._painter is not None else None
        if view is None or place is None or event.button() != Qt.MouseButton.LeftButton:
            return
        if place.is_row:
            self.rows_clicked.emit(view.row_positions[place.index], manner_of(event))
        else:
            self.columns_clicked.emit(view.column_positions[place.index])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys belong to the page."""
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Lines and labels."""
        if self._painter is not None:
            self._painter.paint(QPainter(self))


class LinesArea(VerticalScrollArea):
    """Scrolls the lines where there are more tokens than fit."""

    def minimumSizeHint(self) -> QSize:
        """Small enough for small screens."""
        return QSize(320, LEAST_HEIGHT)
