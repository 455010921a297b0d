"""One attention map, large: labels, colour bar, cross-hair and the value under the mouse, drawn natively."""

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QScrollBar, QSizePolicy, QToolTip, QWidget

from viz_app.heatmap.heatmap_layout import COLUMN_COSINE, COLUMN_SINE, SCROLL_BAR, HeatmapLayout, lay_out
from viz_app.heatmap.heatmap_paint import HeatmapPainter
from viz_app.heatmap.map_image import map_image, ramp_of
from viz_app.state.map_view import MapView
from viz_app.state.marking import Cell
from viz_app.state.translate_state import TranslateState
from viz_app.theme import Theme
from viz_app.widgets.click_manner import manner_of

WHEEL_STEP = 120
ROW_TIP = "Click: pick this row. With Ctrl: one more row. With Shift: up to here. Picked rows are summed."
COLUMN_TIP = "Click: mark this column here and in all heads."


class Heatmap(QWidget):
    """Draws the chosen map of a `TranslateState`; scrolls where it is larger than the widget, its labels stay.

    Signals:
        cell_hovered(Cell | None): the mouse came upon a cell, or left the map.
        cell_clicked(Cell)
        rows_clicked(tuple[int, ...], str): the label of these rows, or a cell with Ctrl or Shift; see `Manner`.
        columns_clicked(tuple[int, ...]): the label of these columns.
        sum_hovered(int | None): a column of the sum of rows.
        zoom_wanted(float): larger by so many steps, smaller if negative.
    """

    cell_hovered = Signal(object)
    cell_clicked = Signal(object)
    rows_clicked = Signal(object, str)
    columns_clicked = Signal(object)
    sum_hovered = Signal(object)
    zoom_wanted = Signal(float)

    def __init__(self, state: TranslateState, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._theme = theme
        self._view: MapView | None = None
        self._image = QImage()
        self._was_plain = False
        self._painter: HeatmapPainter | None = None
        self._layout_key: tuple[object, ...] = ()
        self.across, self.down = QScrollBar(Qt.Orientation.Horizontal, self), QScrollBar(Qt.Orientation.Vertical, self)
        for bar in (self.across, self.down):
            bar.hide()
            bar.valueChanged.connect(self._on_scrolled)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # or every change paints the page below it again
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Attention of the chosen head")

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        self._theme = theme
        self.rebuild()

    def rebuild(self) -> None:
        """Makes the picture anew: the head, the labels, the scale, the theme or the size changed."""
        self._view = self._state.view()
        if self._view is not None:
            top = self._state.top_weight(self._view.weights)
            self._image = map_image(self._view.weights, ramp_of(self._theme), top)
            self.setAccessibleDescription(f"{self._state.title()}. {self._state.meaning_of_rows()}")
        self.lay_out()

    def lay_out(self) -> None:
        """Rows were picked, or the zoom changed: parts stand elsewhere."""
        old, self._painter = self._painter, None
        if self._view is not None:
            total = self._state.row_sum()
            layout = self._layout_of(self._view, old, has_strip=total is not None)
            self._painter = HeatmapPainter(self._state, self._theme, self._view, layout, self._image, total)
        self._fit_scroll_bars()
        if (
            old is None
            or self._painter is None
            or not (self._was_plain and self._is_plain and self._painter.frames(old))
        ):
            self.update()
        else:
            self.update(self._painter.cells_and_bar)

    def _layout_of(self, view: MapView, old: HeatmapPainter | None, *, has_strip: bool) -> HeatmapLayout:
        """The layout there is, as long as all that it follows from stays: other weights move nothing."""
        scroll, zoom = QPointF(self.across.value(), self.down.value()), self._state.zoom
        labels = view.row_labels, view.column_labels
        key = *labels, self.size().toTuple(), self._theme, zoom, scroll.toTuple(), has_strip
        if old is not None and key == self._layout_key:
            return old.layout
        self._layout_key = key
        return lay_out(view, self.size(), self._theme, zoom, scroll, has_strip=has_strip)

    @property
    def _is_plain(self) -> bool:
        """Whether the labels are all painted alike."""
        state = self._state
        return state.hovered is None and state.highlighted_word is None and not state.has_marks

    @property
    def layout_now(self) -> HeatmapLayout | None:
        """Where the parts stand; None while nothing is shown."""
        return self._painter.layout if self._painter is not None else None

    def minimumSizeHint(self) -> QSize:
        """Small enough for small screens."""
        return QSize(320, 150)

    def cell_rect(self, cell: Cell) -> QRectF | None:
        """Where a cell of the whole map is drawn; None if it is hidden."""
        return self._painter.cell_rect(cell) if self._painter is not None else None

    def cell_at(self, point: QPointF) -> Cell | None:
        """The cell of the whole map under a point."""
        view, layout = self._view, self.layout_now
        if view is None or layout is None or not layout.window.contains(point):
            return None
        column = int((point.x() - layout.map.left()) / layout.cell.x())
        row = int((point.y() - layout.map.top()) / layout.cell.y())
        if row >= len(view.rows) or column >= len(view.columns):
            return None
        return Cell(view.rows[row], view.columns[column])

    def row_label_at(self, point: QPointF) -> int | None:
        """The row, as shown, whose label is under a point."""
        layout = self.layout_now
        if layout is None or not 0 <= point.x() < layout.window.left():
            return None
        if not layout.window.top() <= point.y() < layout.window.bottom():
            return None
        return int((point.y() - layout.map.top()) / layout.cell.y())

    def column_label_at(self, point: QPointF) -> int | None:
        """The column, as shown, whose slanted label is under a point."""
        layout = self.layout_now
        if layout is None or not 0 <= point.y() < layout.window.top():
            return None
        x = point.x() - (layout.window.top() - point.y()) * COLUMN_COSINE / COLUMN_SINE
        if not layout.window.left() <= x < layout.window.right():
            return None
        return int((x - layout.map.left()) / layout.cell.x())

    def sum_at(self, point: QPointF) -> int | None:
        """The column, as shown, of the sum of rows under a point."""
        layout = self.layout_now
        if layout is None or layout.strip is None or not layout.strip.contains(point):
            return None
        is_in_sight = layout.window.left() <= point.x() < layout.window.right()
        return int((point.x() - layout.strip.left()) / layout.cell.x()) if is_in_sight else None

    def resizeEvent(self, event: QEvent) -> None:
        """Cells follow the size."""
        self.lay_out()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The cross-hair follows the mouse."""
        point = event.position()
        cell = self.cell_at(point)
        is_on_label = self.row_label_at(point) is not None or self.column_label_at(point) is not None
        shapes = Qt.CursorShape
        self.setCursor(shapes.CrossCursor if cell else shapes.PointingHandCursor if is_on_label else shapes.ArrowCursor)
        if (column := self.sum_at(point)) != self._state.hovered_sum:
            self.sum_hovered.emit(column)
        if cell != self._state.hovered:
            self.cell_hovered.emit(cell)

    def leaveEvent(self, event: QEvent) -> None:
        """No cross-hair once the mouse is gone; a pinned cell stays."""
        if self._state.hovered is not None:
            self.cell_hovered.emit(None)
        if self._state.hovered_sum is not None:
            self.sum_hovered.emit(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click pins a cell or picks a row or column; with Ctrl or Shift the cell's row joins those picked."""
        view, point = self._view, event.position()
        if view is None or event.button() != Qt.MouseButton.LeftButton:
            return
        cell, manner = self.cell_at(point), manner_of(event)
        if cell is not None and manner == "alone":
            self.cell_clicked.emit(cell)
        elif cell is not None and (index := view.row_of(cell.row)) is not None:
            self.rows_clicked.emit(view.row_positions[index], manner)
        elif (row := self.row_label_at(point)) is not None:
            self.rows_clicked.emit(view.row_positions[row], manner)
        elif (column := self.column_label_at(point)) is not None:
            self.columns_clicked.emit(view.column_positions[column])

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scrolls; with Shift sideways; with Ctrl it zooms, and the cell under the mouse stays there."""
        delta = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom_about(event.position(), delta.y() / WHEEL_STEP)
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier or delta.x():
            self.across.setValue(self.across.value() - (delta.x() or delta.y()) // 2)
        else:
            self.down.setValue(self.down.value() - delta.y() // 2)
        event.accept()

    def zoom_about(self, point: QPointF, num_steps: float) -> None:
        """Zooms so that what is under a point stays there."""
        before = self.layout_now
        if before is None:
            return
        x, y = (point.x() - before.map.left()) / before.cell.x(), (point.y() - before.map.top()) / before.cell.y()
        self.zoom_wanted.emit(num_steps)
        after = self.layout_now
        if after is not None:
            self.across.setValue(round(x * after.cell.x() - (point.x() - after.window.left())))
            self.down.setValue(round(y * after.cell.y() - (point.y() - after.window.top())))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys belong to the page."""
        event.ignore()

    def event(self, event: QEvent) -> bool:
        """Labels say what a click on them does, and show what did not fit."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self._view is not None:
            point = QPointF(event.pos())
            if (row := self.row_label_at(point)) is not None:
                QToolTip.showText(event.globalPos(), f"{self._view.row_labels[row]}\n{ROW_TIP}", self)
            elif (column := self.column_label_at(point)) is not None:
                QToolTip.showText(event.globalPos(), f"{self._view.column_labels[column]}\n{COLUMN_TIP}", self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Cells, labels, bar, cross-hair, value."""
        painter = QPainter(self)
        painter.fillRect(event.rect(), self._theme.color("panel"))
        self._was_plain = self._is_plain
        if self._painter is not None:
            self._painter.paint(painter, self.size(), event.rect())

    def _on_scrolled(self) -> None:
        self.lay_out()

    def _fit_scroll_bars(self) -> None:
        layout = self.layout_now
        if layout is None:
            self.across.hide()
            self.down.hide()
            return
        window, bars = layout.window.toRect(), (self.across, self.down)
        self.across.setGeometry(window.left(), window.bottom() + 3, window.width(), SCROLL_BAR)
        self.down.setGeometry(window.right() + 3, window.top(), SCROLL_BAR, window.height())
        sizes = (layout.hidden.width(), window.width()), (layout.hidden.height(), window.height())
        for bar, (hidden, page) in zip(bars, sizes, strict=True):
            bar.blockSignals(True)
            bar.setRange(0, round(hidden))
            bar.setPageStep(page)
            bar.setSingleStep(20)
            bar.blockSignals(False)
            bar.setVisible(hidden > 0)
