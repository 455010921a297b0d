"""One attention map, large: labels, colour bar, cross-hair and the value under the mouse, drawn natively."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QImage, QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QScrollBar, QToolTip, QWidget

from augenmerk.viz_app.heatmap.drawing import Drawing, large_map
from augenmerk.viz_app.heatmap.heatmap_paint import SCROLL_BAR, HeatmapLayout, HeatmapPainter, lay_out
from augenmerk.viz_app.heatmap.large_map import LargeMap, selection_mode_of
from augenmerk.viz_app.heatmap.map_image import map_image, ramp_of, signed_ramp_of
from augenmerk.viz_app.state import map_text
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_selection import MARKS, token_shift_of_queries
from augenmerk.viz_app.state.map_view import Band, MapView, Pair
from augenmerk.viz_app.state.map_view_settings import zoomed
from augenmerk.viz_app.theme import Theme

WHEEL_STEP = 120


class MapScrollBars:
    """The scroll bars of a map that is larger than its widget.

    Attributes:
        across, down: the bars, hidden where all of it fits.
    """

    def __init__(self, widget: QWidget, on_scrolled: Callable[[], None]) -> None:
        self.across, self.down = (
            QScrollBar(Qt.Orientation.Horizontal, widget),
            QScrollBar(Qt.Orientation.Vertical, widget),
        )
        for bar in (self.across, self.down):
            bar.hide()
            bar.valueChanged.connect(lambda _: on_scrolled())

    @property
    def offset(self) -> QPointF:
        """How far the map is scrolled."""
        return QPointF(self.across.value(), self.down.value())

    def fit(self, layout: HeatmapLayout | None) -> None:
        """Stands next to the window of a layout, as long as the map goes on; hidden without one."""
        if layout is None:
            self.across.hide()
            self.down.hide()
            return
        window = layout.window.toRect()
        self.across.setGeometry(window.left(), window.bottom() + 3, window.width(), SCROLL_BAR)
        self.down.setGeometry(window.right() + 3, window.top(), SCROLL_BAR, window.height())
        sizes = (layout.hidden.width(), window.width()), (layout.hidden.height(), window.height())
        for bar, (hidden, page) in zip((self.across, self.down), sizes, strict=True):
            bar.blockSignals(True)
            bar.setRange(0, round(hidden))
            bar.setPageStep(page)
            bar.setSingleStep(20)
            bar.blockSignals(False)
            bar.setVisible(hidden > 0)

    def show_cell(self, cell: QRectF, window: QRectF) -> None:
        """Brings a cell to the middle of the window if it is out of sight."""
        if cell.top() < window.top() or cell.bottom() > window.bottom():
            self.down.setValue(round(self.down.value() + cell.center().y() - window.center().y()))
        if cell.left() < window.left() or cell.right() > window.right():
            self.across.setValue(round(self.across.value() + cell.center().x() - window.center().x()))

    def turn_wheel(self, event: QWheelEvent) -> None:
        """Scrolls; with Shift sideways."""
        delta = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or delta.x():
            self.across.setValue(self.across.value() - (delta.x() or delta.y()) // 2)
        else:
            self.down.setValue(self.down.value() - delta.y() // 2)


class Heatmap(LargeMap):
    """Draws the large map of an `ExperimentState`; scrolls where it is larger than the widget, its labels stay.

    The mouse hovers, pins and picks what the state's selection holds. Where the map is shown as lines, this draws
    nothing.
    """

    def __init__(self, state: ExperimentState, parent: QWidget | None = None) -> None:
        super().__init__(state, parent)
        self._was_plain = False
        self._painter: HeatmapPainter | None = None
        self._layout_key: tuple[object, ...] = ()
        self._scroll_bars = MapScrollBars(self, self.lay_out)
        self.across, self.down = self._scroll_bars.across, self._scroll_bars.down
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # or every change paints the page below it again
        self.setAccessibleName("Attention of the chosen head")
        state.settings.events.zoom.connect(self.lay_out, max_args=0)
        for mark in MARKS:
            redraw = self.lay_out if mark == "picked" else self.show_marks
            getattr(state.selection.events, mark).connect(redraw, max_args=0)
        state.experiment_changed.connect(self.show_marks)
        state.selection.events.pinned.connect(self._show_pinned, max_args=0)
        self.rebuild()

    def rebuild(self) -> None:
        """Makes the picture anew: the maps, the head, the theme or the size changed."""
        is_drawn = self._state.settings.picture == "heatmap"
        old = self._view
        self._view = self._state.maps.view() if is_drawn else None
        if self._view is not None:
            self.setAccessibleDescription(f"{map_text.title(self._state)}. {map_text.meaning_of_query(self._state)}")
        if is_drawn:
            self.lay_out()
        if self._view is not None and (old is None or old.values.shape != self._view.values.shape):
            self._show_pinned()

    def lay_out(self) -> None:
        """Another map, other queries picked, or another zoom."""
        old, self._painter = self._painter, None
        drawing = large_map(self._state) if self._view is not None else None
        if drawing is not None and self._view is not None:
            layout = self._layout_of(self._view, old, drawing)
            image = _image_of(drawing, self._theme, old)
            self._painter = HeatmapPainter(self._state, self._theme, self._view, drawing, layout, image)
        self._scroll_bars.fit(self.layout_now)
        is_plain = self._was_plain and self._state.selection.is_plain
        if old is None or self._painter is None or not (is_plain and self._painter.frames(old)):
            self.update()
        else:
            self.update(self._painter.cells if self._painter.has_same_bar(old.drawing) else self._painter.cells_and_bar)

    def show_marks(self) -> None:
        """Something was hovered, pinned or picked, or let go."""
        self.update()

    def _layout_of(self, view: MapView, old: HeatmapPainter | None, drawing: Drawing) -> HeatmapLayout:
        """The layout there is, as long as all that it follows from stays: other weights move nothing."""
        scroll, zoom = self._scroll_bars.offset, self._state.settings.zoom
        labels = view.row_labels, view.column_labels
        has_strip, is_signed = drawing.strip is not None, drawing.is_signed
        key = *labels, self.size().toTuple(), self._theme, zoom, scroll.toTuple(), has_strip, is_signed
        if old is not None and key == self._layout_key:
            return old.layout
        self._layout_key = key
        return lay_out(view, self.size(), self._theme, zoom, scroll, has_strip=has_strip, is_signed=is_signed)

    @property
    def layout_now(self) -> HeatmapLayout | None:
        """Where the parts stand; None while nothing is shown."""
        return self._painter.layout if self._painter is not None else None

    def minimumSizeHint(self) -> QSize:
        """Small enough for small screens."""
        return QSize(320, 150)

    def cell_rect(self, pair: Pair) -> QRectF | None:
        """Where a query and a key are drawn; None if one of them is hidden."""
        return self._painter.cell_rect(pair) if self._painter is not None else None

    def pair_at(self, point: QPointF) -> Pair | None:
        """The query and the key of the cell under a point."""
        place = self.layout_now.place_at(point) if self.layout_now is not None else None
        return self._view.pair_at(place) if self._view is not None and place is not None else None

    def queries_at(self, point: QPointF) -> tuple[int, ...]:
        """The queries whose label or one of whose cells is under a point; empty if there is none."""
        view, band, layout = self._view, self._label_at(point), self.layout_now
        place = layout.place_at(point) if layout is not None else None
        if view is not None and place is not None:
            band = view.query_band_at(place)
        return view.queries_of(band) if view is not None and band is not None else ()

    def _label_at(self, point: QPointF) -> Band | None:
        layout = self.layout_now
        return layout.label_at(point) if layout is not None else None

    def resizeEvent(self, event: QEvent) -> None:
        """Cells follow the size."""
        self.lay_out()
        self._show_pinned()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The cross-hair follows the mouse."""
        point, selection = event.position(), self._state.selection
        pair = self.pair_at(point)
        is_on_label = self._label_at(point) is not None
        shapes = Qt.CursorShape
        self.setCursor(shapes.CrossCursor if pair else shapes.PointingHandCursor if is_on_label else shapes.ArrowCursor)
        selection.hovered_sum = self.layout_now.sum_at(point) if self.layout_now is not None else None
        if pair is not None:
            selection.hovered_word = None
        selection.hovered = pair

    def leaveEvent(self, event: QEvent) -> None:
        """No cross-hair once the mouse is gone; a pinned cell stays."""
        self._state.selection.hovered = None
        self._state.selection.hovered_sum = None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click pins a cell or picks a row or column; with Ctrl or Shift the cell's query joins those picked."""
        view, point, selection = self._view, event.position(), self._state.selection
        if view is None or event.button() != Qt.MouseButton.LeftButton:
            return
        pair, mode = self.pair_at(point), selection_mode_of(event)
        if pair is not None and mode == "alone":
            selection.pin(pair)
        elif queries := self.queries_at(point):
            selection.pick_queries(
                queries, token_shift_of_queries(selection.head.kind, self._state.settings.label_mode), mode
            )
        elif (band := self._label_at(point)) is not None:
            selection.pick_keys(view.keys_of(band))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scrolls; with Shift sideways; with Ctrl it zooms, and the cell under the mouse stays there."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom_about(event.position(), event.angleDelta().y() / WHEEL_STEP)
        else:
            self._scroll_bars.turn_wheel(event)
        event.accept()

    def zoom_about(self, point: QPointF, num_steps: float) -> None:
        """Zooms by so many steps, so that what is under a point stays there; out if negative."""
        before = self.layout_now
        if before is None:
            return
        x, y = (point.x() - before.map.left()) / before.cell.x(), (point.y() - before.map.top()) / before.cell.y()
        self._state.settings.zoom = zoomed(before.cell.y(), num_steps)
        after = self.layout_now
        if after is not None:
            self.across.setValue(round(x * after.cell.x() - (point.x() - after.window.left())))
            self.down.setValue(round(y * after.cell.y() - (point.y() - after.window.top())))

    def event(self, event: QEvent) -> bool:
        """Labels say what a click on them does, and show what did not fit."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self._view is not None:
            band = self._label_at(QPointF(event.pos()))
            if band is None:
                QToolTip.hideText()
            else:
                QToolTip.showText(event.globalPos(), map_text.label_tip(self._view, band), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Cells, labels, bar, cross-hair, value."""
        painter = QPainter(self)
        painter.fillRect(event.rect(), self._theme.color("panel"))
        self._was_plain = self._state.selection.is_plain
        if self._painter is not None:
            self._painter.paint(painter, self.size(), event.rect())

    def _show_pinned(self) -> None:
        """Scrolls to the pinned cell where it is out of sight: an example, a lesson or a step may speak of it."""
        pinned, layout = self._state.selection.pinned, self.layout_now
        cell = self.cell_rect(pinned) if pinned is not None else None
        if cell is None or layout is None:
            return
        self._scroll_bars.show_cell(cell, layout.window)


def _image_of(drawing: Drawing, theme: Theme, old: HeatmapPainter | None) -> QImage:
    """The image that a painter has, as long as cells and colours stay; else another one."""
    if old is not None and old.drawing.values is drawing.values and old.theme is theme and old.has_same_bar(drawing):
        return old.image
    ramp = signed_ramp_of(theme) if drawing.is_signed else ramp_of(theme)
    return map_image(drawing.values, ramp, drawing.top)
