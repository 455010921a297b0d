"""Live charts of loss and learning rate. Importing this module imports matplotlib: do so when a chart is needed.

Axes, ticks and legend are drawn once and kept as a background; a new point only redraws the curves upon it (blitting).
Everything is drawn again only when limits, theme or size change. matplotlib is not thread-safe: GUI thread only.
"""

from typing import Any

from matplotlib.artist import Artist
from matplotlib.backends.backend_qtagg import FigureCanvasQTAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from matplotlib.ticker import FuncFormatter, MaxNLocator
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from viz_app.theme import Theme
from viz_app.train.state import TrainState

_POINTS_PER_PIXEL = 0.72  # at matplotlib's 100 dots per inch


class LiveChart(FigureCanvasQTAgg):
    """One pair of axes over training steps, whose curves grow without a full redraw.

    Attributes:
        num_full_draws, num_blits: how often everything, or only the curves, were drawn.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.num_full_draws = 0
        self.num_blits = 0
        self._background: Any = None
        self._theme = theme
        figure = Figure(dpi=100)
        super().__init__(figure)
        self.setParent(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(90)
        self.axes = figure.add_subplot()
        self.axes.set_xlim(0, 100)
        self.axes.set_ylim(0, 1)
        self.axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
        self.axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        for side in ("top", "right"):
            self.axes.spines[side].set_visible(False)
        self._curves: list[Artist] = []
        self.mpl_connect("draw_event", self._on_full_draw)

    def show_state(self, state: TrainState) -> None:
        """Draws the curves of `state`; call it at 5 Hz or less."""
        limits_before = (*self.axes.get_xlim(), *self.axes.get_ylim())
        self._set_data(state)
        self._fit_limits(state)
        if not self.isVisible():
            self._background = None  # drawn in full when it is shown again
        elif self._background is None or limits_before != (*self.axes.get_xlim(), *self.axes.get_ylim()):
            self.draw()
        else:
            self._blit()

    def apply_theme(self, theme: Theme) -> None:
        """Takes the colours of `theme` and draws everything again."""
        self._theme = theme
        colors = theme.palette
        self.figure.set_facecolor(colors.panel)
        self.axes.set_facecolor(colors.panel)
        self.axes.grid(True, color=colors.grid, linewidth=0.8)
        self.axes.set_axisbelow(True)
        self.axes.tick_params(
            colors=colors.muted, labelsize=theme.pixel_size("small") * _POINTS_PER_PIXEL, length=0, pad=6
        )
        for spine in self.axes.spines.values():
            spine.set_color(colors.border)
        self._color_curves(theme)
        self._background = None
        self.draw_idle()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keeps the margins the same in pixels, whatever the size."""
        self._background = None
        super().resizeEvent(event)
        width, height = max(self.width(), 140), max(self.height(), 60)
        self.figure.subplots_adjust(left=64 / width, right=1 - 14 / width, bottom=26 / height, top=1 - 10 / height)

    def _set_data(self, state: TrainState) -> None:
        raise NotImplementedError

    def _fit_limits(self, state: TrainState) -> None:
        raise NotImplementedError

    def _color_curves(self, theme: Theme) -> None:
        raise NotImplementedError

    def _add_line(self, **style: Any) -> Line2D:
        (line,) = self.axes.plot([], [], animated=True, **style)
        self._curves.append(line)
        return line

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


class LossChart(LiveChart):
    """Training loss (raw behind, smoothed in front) and validation loss with its best point marked."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName("Training and validation loss over steps")
        self._raw = self._add_line(linewidth=0.8, antialiased=False)
        self._smoothed = self._add_line(linewidth=1.8)
        self._validation = self._add_line(linewidth=1.4, marker="o", markersize=4.5, clip_on=False)
        self._best_ring = self._add_line(linestyle="none", marker="o", markersize=10, fillstyle="none", clip_on=False)
        self._best_label: Annotation = self.axes.annotate(
            "", (0, 0), xytext=(0, 11), textcoords="offset points", ha="right", va="bottom", animated=True
        )
        self._curves.append(self._best_label)
        self.axes.yaxis.set_major_locator(MaxNLocator(5))
        self.apply_theme(theme)

    def _set_data(self, state: TrainState) -> None:
        self._raw.set_data(*state.training_loss.xy())
        self._smoothed.set_data(*state.smoothed_loss.xy())
        points = state.validations
        self._validation.set_data([point.step for point in points], [point.loss for point in points])
        best = state.best
        self._best_ring.set_data([best.step] if best else [], [best.loss] if best else [])
        self._best_label.set_visible(best is not None)
        if best is not None:
            self._best_label.xy = (best.step, best.loss)
            self._best_label.set_text(f"best {best.loss:.3f}")
            self._best_label.set_horizontalalignment("right" if best.step > self.axes.get_xlim()[1] / 8 else "left")

    def _fit_limits(self, state: TrainState) -> None:
        self.axes.set_xlim(0, state.num_steps_shown)
        highest = state.highest_loss()
        top = self.axes.get_ylim()[1]
        if highest is None:
            self.axes.set_ylim(0, 10)
        elif highest > top or highest < 0.6 * top:  # from zero on: a falling loss needs no new axis
            self.axes.set_ylim(0, 1.06 * highest)

    def _color_curves(self, theme: Theme) -> None:
        colors = theme.palette
        self._raw.set_color(colors.faint_accent)
        self._smoothed.set_color(colors.accent)
        for line in (self._validation, self._best_ring):
            line.set_color(colors.warm)
        size = theme.pixel_size("small") * _POINTS_PER_PIXEL
        self._best_label.set_color(colors.text)
        self._best_label.set_bbox({"facecolor": colors.panel, "edgecolor": "none", "alpha": 0.8, "pad": 1.5})
        self._best_label.set_fontsize(size)
        self.axes.legend(
            handles=[Line2D([], [], color=colors.accent, linewidth=1.8), Line2D([], [], **self._validation_style())],
            labels=["training (smoothed)", "validation"],
            loc="upper right",
            frameon=False,
            fontsize=size,
            labelcolor=colors.text,
        )

    def _validation_style(self) -> dict[str, Any]:
        return {"color": self._validation.get_color(), "linewidth": 1.4, "marker": "o", "markersize": 4.5}


class RateChart(LiveChart):
    """The learning rate of each step."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName("Learning rate over steps")
        self._rate = self._add_line(linewidth=1.8)
        self.axes.yaxis.set_major_locator(MaxNLocator(3))
        self.axes.yaxis.set_major_formatter(FuncFormatter(_rate_label))
        self.axes.set_ylim(0, 1e-3)
        self.apply_theme(theme)

    def _set_data(self, state: TrainState) -> None:
        self._rate.set_data(*state.learning_rate.xy())

    def _fit_limits(self, state: TrainState) -> None:
        self.axes.set_xlim(0, state.num_steps_shown)
        rates = state.learning_rate.xy()[1]
        highest = float(rates.max()) if len(rates) else 0.0
        top = self.axes.get_ylim()[1]
        if highest > top or 0 < highest < 0.3 * top:
            self.axes.set_ylim(0, 1.4 * highest)

    def _color_curves(self, theme: Theme) -> None:
        self._rate.set_color(theme.palette.accent)


def _rate_label(rate: float, _position: int | None = None) -> str:
    return f"{rate:.3g}"
