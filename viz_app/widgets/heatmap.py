"""One attention map, large: labels, colour bar, cross-hair and the value under the mouse, drawn natively."""

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QImage,
    QKeyEvent,
    QLinearGradient,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from viz_app.colormap import NUM_COLORS, color_table
from viz_app.state.map_view import MapView
from viz_app.state.translate_state import Cell, TranslateState
from viz_app.theme import Theme
from viz_app.widgets.heatmap_layout import BAR_GAP, BAR_WIDTH, COLUMN_ANGLE, LABEL_GAP, HeatmapLayout, lay_out, thinned
from viz_app.widgets.map_image import draw_map, map_image, ramp_of


class Heatmap(QWidget):
    """Draws the chosen map of a `TranslateState`.

    Signals:
        cell_hovered(Cell | None): the mouse came upon a cell, or left the map.
        cell_clicked(Cell)
    """

    cell_hovered = Signal(object)
    cell_clicked = Signal(object)

    def __init__(self, state: TranslateState, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._theme = theme
        self._view: MapView | None = None
        self._image = QImage()
        self._layout: HeatmapLayout | None = None
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
        self._layout = None
        if self._view is not None:
            top = self._state.top_weight(self._view.weights)
            self._image = map_image(self._view.weights, ramp_of(self._theme), top)
            self._layout = lay_out(self._view, self.size(), self._theme)
            self.setAccessibleDescription(f"{self._state.title()}. {self._state.meaning_of_rows()}")
        self.update()

    def minimumSizeHint(self) -> QSize:
        """Small enough for small screens."""
        return QSize(320, 260)

    def cell_rect(self, cell: Cell) -> QRectF | None:
        """Where a cell of the whole map is drawn; None if it is hidden."""
        view, layout = self._view, self._layout
        if view is None or layout is None:
            return None
        row, column = view.row_of(cell.row), view.column_of(cell.column)
        if row is None or column is None:
            return None
        x = layout.map.left() + column * layout.cell.x()
        y = layout.map.top() + row * layout.cell.y()
        return QRectF(x, y, layout.cell.x(), layout.cell.y())

    def cell_at(self, point: QPointF) -> Cell | None:
        """The cell of the whole map under a point."""
        view, layout = self._view, self._layout
        if view is None or layout is None or not layout.map.contains(point):
            return None
        column = int((point.x() - layout.map.left()) / layout.cell.x())
        row = int((point.y() - layout.map.top()) / layout.cell.y())
        if row >= len(view.rows) or column >= len(view.columns):
            return None
        return Cell(view.rows[row], view.columns[column])

    def resizeEvent(self, event: QEvent) -> None:
        """Cells follow the size."""
        self.rebuild()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The cross-hair follows the mouse."""
        cell = self.cell_at(event.position())
        if cell != self._state.hovered:
            self.setCursor(Qt.CursorShape.CrossCursor if cell else Qt.CursorShape.ArrowCursor)
            self.cell_hovered.emit(cell)

    def leaveEvent(self, event: QEvent) -> None:
        """No cross-hair once the mouse is gone; a pinned cell stays."""
        if self._state.hovered is not None:
            self.cell_hovered.emit(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click pins a cell."""
        cell = self.cell_at(event.position())
        if cell is not None and event.button() == Qt.MouseButton.LeftButton:
            self.cell_clicked.emit(cell)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys belong to the page."""
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Cells, labels, bar, cross-hair, value."""
        view, layout = self._view, self._layout
        if view is None or layout is None:
            return
        painter = QPainter(self)
        draw_map(painter, layout.map, self._image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color("border"), 1))
        painter.drawRect(layout.map)
        shown = self._state.hovered or self._state.pinned
        self._paint_labels(painter, view, layout, shown)
        self._paint_bar(painter, view, layout)
        self._paint_highlighted_rows(painter)
        if self._state.pinned is not None and self._state.pinned != shown:
            self._paint_cell_frame(painter, self._state.pinned)
        if shown is not None and self.cell_rect(shown) is not None:
            self._paint_cross_hair(painter, layout, shown)
            self._paint_value(painter, layout, shown)

    def _paint_labels(self, painter: QPainter, view: MapView, layout: HeatmapLayout, shown: Cell | None) -> None:
        lit_rows = {shown.row} if shown else set()
        if self._state.highlighted_word is not None:
            lit_rows.update(self._state.rows_of_word(self._state.highlighted_word))
        lit_columns = {shown.column} if shown else set()
        rows = sorted({index for row in lit_rows if (index := view.row_of(row)) is not None})
        columns = sorted({index for column in lit_columns if (index := view.column_of(column)) is not None})
        painter.setFont(layout.font)
        for index in thinned(len(view.rows), layout.row_step, rows):
            self._paint_row_label(painter, layout, index, view.row_labels[index], index in rows)
        for index in thinned(len(view.columns), layout.column_step, columns):
            self._paint_column_label(painter, layout, index, view.column_labels[index], index in columns)

    def _paint_row_label(self, painter: QPainter, layout: HeatmapLayout, index: int, label: str, is_lit: bool) -> None:
        metrics = QFontMetrics(layout.font)
        center = layout.map.top() + (index + 0.5) * layout.cell.y()
        right = layout.map.left() - LABEL_GAP
        text = metrics.elidedText(label, Qt.TextElideMode.ElideRight, layout.row_label_width)
        painter.setPen(self._label_color(label, is_lit))
        place = QRectF(right - layout.row_label_width - 4, center - 12, layout.row_label_width + 4, 24)
        painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_column_label(
        self, painter: QPainter, layout: HeatmapLayout, index: int, label: str, is_lit: bool
    ) -> None:
        metrics = QFontMetrics(layout.font)
        text = metrics.elidedText(label, Qt.TextElideMode.ElideRight, layout.column_label_length)
        painter.save()
        painter.translate(layout.map.left() + (index + 0.5) * layout.cell.x(), layout.map.top() - LABEL_GAP)
        painter.rotate(COLUMN_ANGLE)
        painter.setPen(self._label_color(label, is_lit))
        painter.drawText(QPointF(0, metrics.ascent() * 0.38), text)
        painter.restore()

    def _label_color(self, label: str, is_lit: bool) -> QColor:
        is_special = label.startswith("<") and label.endswith(">")
        return self._theme.color("accent" if is_lit else "muted" if is_special else "text")

    def _paint_bar(self, painter: QPainter, view: MapView, layout: HeatmapLayout) -> None:
        bar = QRectF(layout.map.right() + BAR_GAP, layout.map.top(), BAR_WIDTH, layout.map.height())
        gradient = QLinearGradient(bar.bottomLeft(), bar.topLeft())
        colors = color_table(ramp_of(self._theme))
        for index in range(0, NUM_COLORS, 15):
            gradient.setColorAt(index / (NUM_COLORS - 1), colors[index])
        painter.fillRect(bar, gradient)
        painter.setPen(QPen(self._theme.color("border"), 1))
        painter.drawRect(bar)
        painter.setPen(self._theme.color("muted"))
        painter.setFont(self._theme.font("small"))
        ascent = QFontMetrics(painter.font()).ascent()
        top = self._state.top_weight(view.weights)
        painter.drawText(QPointF(bar.right() + 5, bar.top() + ascent - 2), "1" if top == 1 else f"{top:.2f}")
        painter.drawText(QPointF(bar.right() + 5, bar.bottom()), "0")

    def _paint_highlighted_rows(self, painter: QPainter) -> None:
        word, view, layout = self._state.highlighted_word, self._view, self._layout
        if word is None or view is None or layout is None:
            return
        painter.setPen(QPen(self._theme.color("accent"), 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for row in {view.row_of(row) for row in self._state.rows_of_word(word)} - {None}:
            assert row is not None
            y = layout.map.top() + row * layout.cell.y()
            painter.drawRect(QRectF(layout.map.left(), y, layout.map.width(), layout.cell.y()))

    def _paint_cell_frame(self, painter: QPainter, cell: Cell) -> None:
        place = self.cell_rect(cell)
        if place is not None:
            painter.setPen(QPen(self._theme.color("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(place)

    def _paint_cross_hair(self, painter: QPainter, layout: HeatmapLayout, cell: Cell) -> None:
        place = self.cell_rect(cell)
        assert place is not None
        painter.setPen(QPen(self._theme.color("accent"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(layout.map.left(), place.top(), layout.map.width(), place.height()))
        painter.drawRect(QRectF(place.left(), layout.map.top(), place.width(), layout.map.height()))
        self._paint_cell_frame(painter, cell)

    def _paint_value(self, painter: QPainter, layout: HeatmapLayout, cell: Cell) -> None:
        """A box beside the cell: below and to the left if there is room, so that the row's end stays in sight."""
        lines, place = self._state.describe(cell), self.cell_rect(cell)
        if lines is None or place is None:
            return
        theme, metrics = self._theme, QFontMetrics(self._theme.font("body"))
        tokens = metrics.elidedText(lines[0], Qt.TextElideMode.ElideMiddle, max(self.width() - 40, 60))
        width = max(metrics.horizontalAdvance(tokens), metrics.horizontalAdvance(lines[1])) + 22
        height = 2 * metrics.height() + 14
        x = min(max(place.center().x() - width / 2, 2), self.width() - width - 2)
        below = place.bottom() + 8
        y = below if below + height < self.height() - 2 else place.top() - height - 8
        box = QRectF(x, y, width, height)
        painter.setPen(QPen(theme.color("border"), 1))
        painter.setBrush(theme.color("panel"))
        painter.drawRoundedRect(box, 6, 6)
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("text"))
        painter.drawText(QPointF(x + 11, y + 7 + metrics.ascent()), tokens)
        painter.setPen(theme.color("muted"))
        painter.drawText(QPointF(x + 11, y + 7 + metrics.height() + metrics.ascent()), lines[1])
