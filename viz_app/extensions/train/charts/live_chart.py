"""A live chart over training steps.

Importing this module imports matplotlib: import it when a chart is needed.

Axes and ticks are drawn once and kept as a background; a new point redraws only the curves on it
(blitting). Everything is redrawn only when limits, theme or size change, and in an event of its
own: next to a training that keeps the interpreter busy, it takes up to 80 ms. matplotlib is not
thread-safe: GUI thread only.
"""

from time import perf_counter
from typing import Any

from matplotlib.backends.backend_qtagg import FigureCanvasQTAgg
from matplotlib.figure import Figure
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QRubberBand, QSizePolicy, QToolTip

from ....theme import current_theme, is_theme_change, scaled
from ...pictures.figures import own_style
from .axes import ChartAxes
from .picture import ChartLine, ChartPicture, line_color

_DPI = 100
_LEFT_PX, _RIGHT_PX, _BOTTOM_PX, _TOP_PX = 64, 14, 26, 8
_TICK_PX = 20
"""Height that a label of the value axis needs, with the space to the next one."""
_TICK_PAD_POINTS = 6
_STEP_PX = 80
"""Width that a label of the step axis needs."""
_DRAG_PX = 6


class Turns(QObject):
    """Redraws charts in full, one in each turn of the event loop: the window reacts in between.

    Signals:
        drawn(float): a redraw took so many seconds.
    """

    drawn = Signal(float)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._charts: list[LiveChart] = []
        self._timer = QTimer(self, singleShot=True, interval=0)
        self._timer.timeout.connect(self._draw_next)

    def add(self, chart: "LiveChart") -> None:
        """Redraws a chart after those that wait already."""
        if chart not in self._charts:
            self._charts.append(chart)
            self._timer.start()

    def _draw_next(self) -> None:
        chart = self._charts.pop(0)
        if self._charts:
            self._timer.start()
        began = perf_counter()
        chart.draw()
        self.drawn.emit(perf_counter() - began)


class LiveChart(FigureCanvasQTAgg):
    """One pair of axes over training steps, whose curves grow without a full redraw.

    Attributes:
        num_full_draws: number of full redraws.
        num_blits: number of redraws of the curves alone.
        picture: the current picture; None before the first.
        companion: a chart on the same step axis, whose values are shown under the mouse, too; else
            None.

    Signals:
        range_chosen(float, float): the mouse was dragged over these steps: show only them.
        range_reset(): double click: show all steps.
        step_chosen(float): a step was clicked.
    """

    range_chosen = Signal(float, float)
    range_reset = Signal()
    step_chosen = Signal(float)

    @own_style()
    def __init__(self, turns: Turns | None = None) -> None:
        """`turns`: shared with other charts that are redrawn at the same time."""
        self._image = QImage()
        self._theme = current_theme()
        self.num_full_draws = 0
        self.num_blits = 0
        self.picture: ChartPicture | None = None
        self.companion: LiveChart | None = None
        self._bottom_px = _BOTTOM_PX
        self._background: Any = None
        self._pressed: QPoint | None = None
        figure = Figure(dpi=_DPI)
        super().__init__(figure)
        self._turns = turns or Turns(self)
        # the hint is the figure's size
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.setMouseTracking(True)
        self.axes = figure.add_subplot()
        self.axes.set(xlim=(0, 100), ylim=(0, 1))
        self.axes.tick_params(pad=_TICK_PAD_POINTS)
        # in the corner below the values, as a line of its own would take height from the curves
        self._step_name = self.axes.annotate(
            "step", (0, 0), (0, 0), "axes fraction", "offset points", ha="right", va="top"
        )
        self._chart = ChartAxes(self.axes, is_animated=True)
        self._band = QRubberBand(QRubberBand.Shape.Rectangle, self)
        self.mpl_connect("draw_event", self._on_full_draw)
        self._show_colors()

    @own_style()
    def draw(self) -> None:
        if self.width() > 0 and self.height() > 0:
            super().draw()

    def draw_idle(self) -> None:
        self._background = None
        self._turns.add(self)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the last drawing: a new one may have to wait for its turn."""
        QPainter(self).drawImage(0, 0, self._image)

    @own_style()
    def show_picture(self, picture: ChartPicture) -> None:
        """Draws `picture`; call it at 5 Hz or less."""
        self.picture = picture
        axes_changed = self._chart.show_picture(picture)
        if not self.isVisible():
            self._background = None  # redrawn in full when the chart is shown again
        elif self._background is None or axes_changed:
            self.draw_idle()
        else:
            self.num_blits += 1
            self.restore_region(self._background)
            self._draw_curves()
            self.update()

    def changeEvent(self, event: QEvent) -> None:
        """Redraws everything in the colours of another theme."""
        super().changeEvent(event)
        if is_theme_change(event) and self._theme != current_theme():
            self._show_colors()

    @own_style()
    def _show_colors(self) -> None:
        self._theme = theme = current_theme()
        palette = vars(theme.palette)
        label_points = theme.pixel_size("small") * 72 / _DPI
        self.figure.set_facecolor(theme.palette.panel)
        self._chart.set_style(
            lambda name: line_color(name, palette, is_dark=theme.is_dark),
            theme.palette.panel,
            label_points,
        )
        self._step_name.set(color=theme.palette.muted, fontsize=label_points)
        self._step_name.set_position((-2 * label_points, -_TICK_PAD_POINTS))
        self.draw_idle()

    def showEvent(self, event: QShowEvent) -> None:
        """Draws changes made while the chart was hidden."""
        super().showEvent(event)
        if self._background is None:
            self.draw_idle()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keeps the margins constant in pixels."""
        super().resizeEvent(event)
        self._fit()

    def set_step_labels(self, are_shown: bool) -> None:
        """Labels the steps; else the chart below has the labels."""
        bottom_px = _BOTTOM_PX if are_shown else _TOP_PX
        if bottom_px != self._bottom_px:
            self._bottom_px = bottom_px
            self.axes.tick_params(axis="x", labelbottom=are_shown)
            self._step_name.set_visible(are_shown)
            self._fit()
            self.draw_idle()

    def _fit(self) -> None:
        self._background = None
        width, height = max(self.width(), 140), max(self.height(), 60)
        self.figure.subplots_adjust(
            left=scaled(_LEFT_PX) / width,
            right=1 - scaled(_RIGHT_PX) / width,
            bottom=scaled(self._bottom_px) / height,
            top=1 - scaled(_TOP_PX) / height,
        )
        area = self.axes.get_window_extent()
        self._chart.set_num_labels(area.width / scaled(_STEP_PX), area.height / scaled(_TICK_PX))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed = event.position().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Extends the selected range; without a button, shows the values under the mouse."""
        here = event.position().toPoint()
        if self._pressed is None:
            self._tell_values(event.position(), event.globalPosition().toPoint())
        elif abs(here.x() - self._pressed.x()) >= _DRAG_PX:
            left, right = sorted((self._pressed.x(), here.x()))
            top = QPoint(max(left, scaled(_LEFT_PX)), scaled(_TOP_PX))
            size = QSize(
                min(right, self.width() - scaled(_RIGHT_PX)) - top.x(),
                self.height() - scaled(_TOP_PX) - scaled(self._bottom_px),
            )
            self._band.setGeometry(QRect(top, size))
            self._band.show()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed = self._pressed
        self._pressed = None
        self._band.hide()
        if pressed is None:
            return
        here = event.position().toPoint()
        first, last = sorted((self.step_at(pressed.x()), self.step_at(here.x())))
        if abs(here.x() - pressed.x()) < _DRAG_PX:
            self.step_chosen.emit(self.step_at(here.x()))
        elif last - first >= 2:
            self.range_chosen.emit(first, last)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Shows all steps."""
        self._pressed = None
        self.range_reset.emit()

    def step_at(self, x_px: float) -> float:
        """The step at a distance in pixels from the left, limited to the axis."""
        share = (x_px - scaled(_LEFT_PX)) / max(
            1, self.width() - scaled(_LEFT_PX) - scaled(_RIGHT_PX)
        )
        left, right = self.axes.get_xlim()
        return float(left + min(1.0, max(0.0, share)) * (right - left))

    def values_at(self, step: float) -> list[tuple[ChartLine, float, float]]:
        """The nearest point of each line, as (line, step, value)."""
        points = []
        for line in self.picture.lines if self.picture else ():
            if len(line.xs) and line.look != "raw":
                nearest = int(abs(line.xs - step).argmin())
                points.append((line, float(line.xs[nearest]), float(line.ys[nearest])))
        return points

    def _tell_values(self, position: QPointF, on_screen: QPoint) -> None:
        step = self.step_at(position.x())
        values = self.values_at(step)
        if self.companion is not None:
            values = self.companion.values_at(step) + values  # the last row appears first
        if not values or not scaled(_LEFT_PX) <= position.x() <= self.width() - scaled(_RIGHT_PX):
            QToolTip.hideText()
            return
        rows = [
            f"{line.name}  {value:.4g}  (step {step:,.0f})"
            for line, step, value in reversed(values)
        ]
        QToolTip.showText(on_screen, "\n".join(rows), self)

    def _on_full_draw(self, _event: object) -> None:
        self.num_full_draws += 1
        self._background = self.copy_from_bbox(self.figure.bbox)
        self._draw_curves()

    def _draw_curves(self) -> None:
        for artist in self._chart.curves:
            self.axes.draw_artist(artist)
        pixels = self.buffer_rgba()
        height, width, _ = pixels.shape
        image = QImage(pixels, width, height, QImage.Format.Format_RGBA8888)
        image.setDevicePixelRatio(self.device_pixel_ratio)
        self._image = image.copy()  # the pixels are drawn over later
