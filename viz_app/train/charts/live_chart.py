"""A live chart over training steps. Importing this module imports matplotlib: import it when a chart is needed.

Axes and ticks are drawn once and kept as a background; a new point redraws only the curves on it (blitting).
Everything is redrawn only when limits, theme or size change. matplotlib is not thread-safe: GUI thread only.
"""

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_qtagg import FigureCanvasQTAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QRubberBand, QSizePolicy, QToolTip, QWidget

from augenmerk.viz_app.theme import current_theme, is_theme_change, scaled, scales
from augenmerk.viz_app.train.charts.label_position import best_label_position
from augenmerk.viz_app.train.charts.line_colors import line_color
from augenmerk.viz_app.train.charts.paper_colors import marker_of
from augenmerk.viz_app.train.charts.picture import ChartLine, ChartPicture
from augenmerk.viz_app.train.charts.value_ticks import ValueFormatter

_POINTS_PER_PIXEL = 0.72  # at matplotlib's 100 dots per inch
_LEFT_PX, _RIGHT_PX, _BOTTOM_PX, _TOP_PX = 64, 14, 26, 8
_TICK_PX = 20
"""Height that a label of the value axis needs, with the space to the next one."""
_DRAG_PX = 6


class LiveChart(FigureCanvasQTAgg):
    """One pair of axes over training steps, whose curves grow without a full redraw.

    Attributes:
        num_full_draws, num_blits: how often everything, or only the curves, were drawn.
        picture: the current picture; None before the first.
        companion: a chart on the same step axis, whose values are shown under the mouse, too; else None.

    Signals:
        range_chosen(float, float): the mouse was dragged over these steps: show only them.
        range_reset(): double click: show all steps.
        moment_chosen(float): a step was clicked.
    """

    range_chosen = Signal(float, float)
    range_reset = Signal()
    moment_chosen = Signal(float)

    def __init__(self, parent: QWidget | None = None, *, has_step_labels: bool = True) -> None:
        """`has_step_labels`: whether the steps are labelled; else the chart below has the labels."""
        self._theme = current_theme()
        self.num_full_draws = 0
        self.num_blits = 0
        self.picture: ChartPicture | None = None
        self.companion: LiveChart | None = None
        self._bottom_px = _BOTTOM_PX if has_step_labels else _TOP_PX
        self._background: Any = None
        self._pressed: QPoint | None = None
        figure = Figure(dpi=100)
        super().__init__(figure)
        self.setParent(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)  # the hint is the figure's size
        scales(self.setMinimumHeight, 80)
        self.setMouseTracking(True)
        self.axes = figure.add_subplot()
        self.axes.set_xlim(0, 100)
        self.axes.set_ylim(0, 1)
        self.axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
        self.axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        self.axes.tick_params(axis="x", labelbottom=has_step_labels)
        for side in ("top", "right"):
            self.axes.spines[side].set_visible(False)
        self._lines: dict[str, Line2D] = {}
        self._curves: list[Artist] = []
        self._moment = self.axes.axvline(0, animated=True, linestyle=(0, (2, 2)), linewidth=1.2, visible=False)
        (self._best_ring,) = self.axes.plot(
            [], [], animated=True, linestyle="none", marker="o", markersize=10, fillstyle="none", clip_on=False
        )
        self._best_label: Annotation = self.axes.annotate(
            "", (0, 0), xytext=(0, 10), textcoords="offset points", ha="right", va="bottom", animated=True
        )
        self._message = self.axes.text(0.5, 0.5, "", transform=self.axes.transAxes, ha="center", animated=True)
        self._band = QRubberBand(QRubberBand.Shape.Rectangle, self)
        self._set_value_ticks(False)
        self.mpl_connect("draw_event", self._on_full_draw)
        self._show_colors()

    def show_picture(self, picture: ChartPicture) -> None:
        """Draws `picture`; call it at 5 Hz or less."""
        before = (*self.axes.get_xlim(), *self.axes.get_ylim(), self.axes.get_yscale())
        self.picture = picture
        if (self.axes.get_yscale() == "log") != picture.is_log:
            self._set_value_ticks(picture.is_log)
        self.axes.set_xlim(*picture.x_limits)
        self.axes.set_ylim(*picture.y_limits)
        self._curves = [self._line(line) for line in picture.lines]
        self._place_best(picture)
        self._place_moment(picture)
        self._message.set_text(picture.message)
        self._curves.append(self._message)
        if not self.isVisible():
            self._background = None  # redrawn in full when the chart is shown again
        elif self._background is None or before != (
            *self.axes.get_xlim(),
            *self.axes.get_ylim(),
            self.axes.get_yscale(),
        ):
            self.draw()
        else:
            self._blit()

    def changeEvent(self, event: QEvent) -> None:
        """Redraws everything in the colours of another theme."""
        super().changeEvent(event)
        if is_theme_change(event) and self._theme != current_theme():
            self._show_colors()

    def _show_colors(self) -> None:
        theme = self._theme = current_theme()
        colors = theme.palette
        self.figure.set_facecolor(colors.panel)
        self.axes.set_facecolor(colors.panel)
        self.axes.grid(True, color=colors.grid, linewidth=0.8)
        self.axes.set_axisbelow(True)
        size = theme.pixel_size("small") * _POINTS_PER_PIXEL
        self.axes.tick_params(which="both", colors=colors.muted, labelsize=size, length=0, pad=6)
        for spine in self.axes.spines.values():
            spine.set_color(colors.border)
        for line in self.picture.lines if self.picture else ():
            self._line(line)
        self._best_ring.set_color(colors.warm)
        self._best_label.set_color(colors.text)
        self._best_label.set_bbox({"facecolor": colors.panel, "edgecolor": "none", "alpha": 0.8, "pad": 1.5})
        self._best_label.set_fontsize(size)
        self._moment.set_color(colors.text)
        self._message.set_color(colors.muted)
        self._message.set_fontsize(size)
        self._background = None
        self.draw_idle()

    @property
    def is_drawn(self) -> bool:
        """Whether the picture is on the screen, or will be without a further call."""
        return self._background is not None

    def showEvent(self, event: QShowEvent) -> None:
        """Draws what changed while the chart was hidden."""
        super().showEvent(event)
        if self._background is None:
            self.draw_idle()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keeps the margins constant in pixels."""
        self._background = None
        super().resizeEvent(event)
        width, height = max(self.width(), 140), max(self.height(), 60)
        self.figure.subplots_adjust(
            left=scaled(_LEFT_PX) / width,
            right=1 - scaled(_RIGHT_PX) / width,
            bottom=scaled(self._bottom_px) / height,
            top=1 - scaled(_TOP_PX) / height,
        )
        self._set_value_locator()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Starts a drag or a click."""
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
        """Ends a drag or a click."""
        pressed, self._pressed = self._pressed, None
        self._band.hide()
        if pressed is None:
            return
        here = event.position().toPoint()
        first, last = sorted((self.step_at(pressed.x()), self.step_at(here.x())))
        if abs(here.x() - pressed.x()) < _DRAG_PX:
            self.moment_chosen.emit(self.step_at(here.x()))
        elif last - first >= 2:
            self.range_chosen.emit(first, last)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Shows all steps."""
        self._pressed = None
        self.range_reset.emit()

    def step_at(self, x_px: float) -> float:
        """The step at a distance in pixels from the left, limited to the axis."""
        share = (x_px - scaled(_LEFT_PX)) / max(1, self.width() - scaled(_LEFT_PX) - scaled(_RIGHT_PX))
        left, right = self.axes.get_xlim()
        return float(left + min(1.0, max(0.0, share)) * (right - left))

    def values_at(self, step: float) -> list[tuple[ChartLine, float, float]]:
        """The nearest point of each line, as (line, step, value)."""
        found = []
        for line in self.picture.lines if self.picture else ():
            if len(line.xs) and line.look != "raw":
                nearest = int(abs(line.xs - step).argmin())
                found.append((line, float(line.xs[nearest]), float(line.ys[nearest])))
        return found

    def _tell_values(self, place: QPointF, on_screen: QPoint) -> None:
        step = self.step_at(place.x())
        values = self.values_at(step)
        if self.companion is not None:
            values = self.companion.values_at(step) + values  # the last row is the first one shown
        if not values or not scaled(_LEFT_PX) <= place.x() <= self.width() - scaled(_RIGHT_PX):
            QToolTip.hideText()
            return
        rows = [f"{line.name}  {value:.4g}  (step {step:,.0f})" for line, step, value in reversed(values)]
        QToolTip.showText(on_screen, "\n".join(rows), self)

    def _line(self, line: ChartLine) -> Line2D:
        """The artist of a line, created at its first use."""
        artist = self._lines.get(line.key)
        if artist is None:
            (artist,) = self.axes.plot([], [], animated=True)
            self._lines[line.key] = artist
        artist.set_data(line.xs, line.ys)
        artist.set_color(line_color(line.color, self._theme))
        is_points = line.look == "points"
        artist.set_linewidth({"raw": 0.8, "curve": 1.8, "points": 1.4, "reference": 1.1}[line.look])
        artist.set_antialiased(line.look != "raw")
        artist.set_marker(marker_of(line.color) if is_points else "")
        artist.set_markersize(4.5)
        artist.set_clip_on(not is_points or self._is_clipped())
        return artist

    def _is_clipped(self) -> bool:
        """Whether there are points outside the limits, which must not be drawn over the margins."""
        picture = self.picture
        if picture is None:
            return True
        (left, right), (low, high) = picture.x_limits, picture.y_limits
        return any(
            bool(((line.xs < left) | (line.xs > right) | (line.ys < low) | (line.ys > high)).any())
            for line in picture.lines
            if line.look == "points"
        )

    def _place_best(self, picture: ChartPicture) -> None:
        best = picture.best
        if best is not None and not picture.x_limits[0] <= best[0] <= picture.x_limits[1]:
            best = None
        self._best_ring.set_data([best[0]] if best else [], [best[1]] if best else [])
        self._best_label.set_visible(best is not None)
        if best is not None:
            self._best_label.xy = best[:2]
            self._best_label.set_text(best[2])
            self._put_best_label(picture, best[:2], len(best[2]))
        self._curves += [self._best_ring, self._best_label]

    def _put_best_label(self, picture: ChartPicture, best: tuple[float, float], num_letters: int) -> None:
        """Places the label beside its point, where it hides least."""
        corner = self.axes.transAxes.transform((0, 0))
        curves = [
            tuple((self.axes.transData.transform(np.column_stack((line.xs, line.ys))) - corner).T)
            for line in picture.lines
            if len(line.xs)
        ]
        x, y = self.axes.transData.transform(best) - corner
        dots = self.figure.dpi / 72
        letter = float(self._best_label.get_fontsize()) * dots
        size = (0.62 * num_letters + 1) * letter, 1.5 * letter
        area = self.axes.transAxes.transform((1, 1)) - corner
        place = best_label_position((x, y), size, (area[0], area[1]), curves)
        self._best_label.set_position((place.dx_px / dots, place.dy_px / dots))
        self._best_label.set_horizontalalignment(place.horizontal)
        self._best_label.set_verticalalignment(place.vertical)

    def _place_moment(self, picture: ChartPicture) -> None:
        self._moment.set_visible(picture.moment is not None)
        if picture.moment is not None:
            self._moment.set_xdata([picture.moment, picture.moment])
            self._curves.insert(0, self._moment)

    def _set_value_ticks(self, is_log: bool) -> None:
        self.axes.set_yscale("log" if is_log else "linear")
        self._set_value_locator()
        self.axes.yaxis.set_major_formatter(ValueFormatter())
        self.axes.yaxis.set_minor_formatter(NullFormatter())

    def _set_value_locator(self) -> None:
        """As many value labels as fit."""
        num = max(2, min(6, self.axes.get_window_extent().height / scaled(_TICK_PX)))
        self.axes.yaxis.set_major_locator(
            LogLocator(subs=(1.0, 2.0, 5.0), numticks=round(num) + 1)
            if self.axes.get_yscale() == "log"
            else MaxNLocator(round(num), steps=[1, 2, 2.5, 5, 10], min_n_ticks=min(3, round(num)))
        )

    def _on_full_draw(self, _event: object) -> None:
        self.num_full_draws += 1
        self._background = self.copy_from_bbox(self.figure.bbox)
        self._draw_curves()

    def _blit(self) -> None:
        self.num_blits += 1
        self.restore_region(self._background)
        self._draw_curves()
        self.update()

    def _draw_curves(self) -> None:
        for artist in self._curves:
            self.axes.draw_artist(artist)
