"""The charts of the Train page: the main one, and next to it or below it a second one of the same
steps, with their menus.

Importing this module imports matplotlib.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.markers import MarkerStyle
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap, QPolygonF, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from ....theme import GAP, PANEL_MARGIN, Theme, current_theme, is_theme_change, scaled, set_role
from ....widgets.buttons import ChoiceMenu, MenuButton
from ....widgets.layouts import column_of, replace_widgets, row_of, wrapping_row
from ..curves import RunCurves
from ..run_files import ComparedRun, RunComparison
from ..state import Run, TrainState
from .live_chart import LiveChart, Turns
from .picture import (
    QUANTITY_NAMES,
    QUANTITY_TIPS,
    SMOOTHED,
    TRAINING_TIP,
    VALIDATED,
    VALIDATION_TIP,
    ChartPicture,
    ChartSettings,
    Quantity,
    line_color,
    marker_of,
    picture_of,
    validation_name,
)
from .run_menu import CompareMenu

SIDE_BY_SIDE_PX = 660
"""Above this width, the two charts are next to each other, if their buttons have room."""
MAX_ENTRY_PX = 240
LEAST_PX = 80
"""Height of a chart."""
MARK_PX = 8
SCALE_ENTRIES = {"linear": ("linear", "Linear"), "log": ("log", "Logarithmic")}
SMOOTHING_ENTRIES = {
    "none": ("none", "None: every single step"),
    "light": ("light", "Light: a running mean over 10 steps"),
    "medium": ("medium", "Medium: over 50 steps"),
    "strong": ("strong", "Strong: over 250 steps"),
}
SHOWN_ENTRIES = {
    "all": ("all steps", "All steps"),
    "epoch": ("this epoch", "This epoch"),
    "500": ("last 500", "The last 500 steps"),
    "5000": ("last 5,000", "The last 5,000 steps"),
}
ZOOM_ENTRY = {"zoom": ("zoomed", "The range chosen with the mouse")}
CHART_TIP = (
    "Drag to zoom in, double-click to show all steps. Click a step to see the film of attention "
    "there."
)


@dataclass(frozen=True)
class LegendEntry:
    """One line of the legend.

    Attributes:
        name: for display.
        color: see `line_color`.
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
    """Entries in lines that wrap.

    Signals:
        removed(str): a compared run was clicked: the `run` of its entry.
    """

    removed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[LegendEntry, ...] = ()
        self.buttons: list[QToolButton] = []
        wrapping_row((), spacing=4, within=self)

    def show_entries(self, entries: Sequence[LegendEntry]) -> None:
        """Shows `entries`, if they differ from those shown."""
        if tuple(entries) != self._entries:
            self._entries = tuple(entries)
            self._rebuild()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if is_theme_change(event):
            self._show_icons()

    def _rebuild(self) -> None:
        old = self.buttons
        self.buttons = [self._button(entry) for entry in self._entries]
        lines = self.layout()
        assert lines is not None
        replace_widgets(lines, old, self.buttons)
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
        max_text_px = scaled(MAX_ENTRY_PX) - _icon_size().width() - scaled(24)
        name = button.fontMetrics().elidedText(
            entry.name, Qt.TextElideMode.ElideMiddle, max_text_px
        )
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
        marker = MarkerStyle(marker_of(entry.color))
        corners: Any = marker.get_path().transformed(marker.get_transform()).to_polygons()[0]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.translate(middle)
        painter.drawPolygon(QPolygonF([QPointF(MARK_PX * x, -MARK_PX * y) for x, y in corners]))
    painter.end()
    return pixmap


class ChartPanel(QWidget):
    """A chart of one quantity at a time.

    Attributes:
        choices: the settings of the chart.
        chart: the chart.
        legend: of the chart; `ChartPair` shows that of the main one.
        quantity_menu: the menu of the quantity.
        scale_menu: the menu of the scale.
        smoothing_menu: the menu of the smoothing.
        shown_menu: the menu of the steps shown.
        options: all menus but that of the quantity.

    Signals:
        changed(): a setting changed: draw again.
    """

    changed = Signal()

    def __init__(
        self, quantity: Quantity, turns: Turns | None = None, *, is_main: bool = True
    ) -> None:
        """Creates the panel.

        Args:
            quantity: the quantity shown first.
            turns: see `LiveChart`.
            is_main: whether it has the menu for the range of steps.
        """
        super().__init__()
        self.choices = ChartSettings(quantity)
        self.chart = LiveChart(turns)
        self.legend = Legend(self)
        self._curves: RunCurves | None = None
        quantities = {str(name): (text, text) for name, text in QUANTITY_NAMES.items()}
        self.quantity_menu = ChoiceMenu("Quantity of this chart", quantities)
        self.scale_menu = ChoiceMenu("Scale of the value axis", SCALE_ENTRIES)
        self.smoothing_menu = ChoiceMenu(
            "Window of the running mean", SMOOTHING_ENTRIES, "smoothing: "
        )
        self.shown_menu = ChoiceMenu("Range of steps", SHOWN_ENTRIES)
        self.options = QWidget()
        self._lay_out(is_main)
        self.quantity_menu.chosen.connect(lambda name: self.choose(quantity=name))
        self.scale_menu.chosen.connect(lambda scale: self.choose(scale=scale))
        self.smoothing_menu.chosen.connect(lambda smoothing: self.choose(smoothing=smoothing))
        self.shown_menu.chosen.connect(lambda name: self.choose(shown=name))
        self.chart.range_chosen.connect(
            lambda first, last: self.choose(shown="zoom", zoom=(first, last))
        )
        self.chart.range_reset.connect(lambda: self.choose(shown="all"))
        self._show_choices()

    def show_run(self, run: Run, compared: Sequence[ComparedRun], shown_step: float | None) -> None:
        """Draws the curves; `shown_step` is the step shown in the film."""
        if self._curves is not run.curves:
            self._curves = run.curves
            if self.choices.shown == "zoom":  # the range was chosen for another run
                self.choices.shown = "all"
                self._show_choices()
        before = self.chart.picture
        picture = picture_of(
            run.curves,
            self.choices,
            run.num_steps_shown,
            compared,
            y_before=before.y_limits
            if before is not None and before.settings == self.choices
            else None,
            shown_step=shown_step,
            is_live=run.status.is_running,
        )
        self.chart.show_picture(picture)
        self.legend.show_entries(legend_entries(self.choices.quantity, run.curves, compared))

    def choose(self, **changes: object) -> None:
        """Changes attributes of `choices`."""
        for name, value in changes.items():
            setattr(self.choices, name, value)
        self._show_choices()
        self.changed.emit()

    def show_steps_of(self, choices: ChartSettings) -> None:
        """Shows the same steps as another chart."""
        self.choices.shown, self.choices.zoom = choices.shown, choices.zoom
        self._show_choices()

    def _show_choices(self) -> None:
        choices = self.choices
        self.quantity_menu.show_choice(choices.quantity)
        self.quantity_menu.setToolTip(f"{QUANTITY_TIPS[choices.quantity]}\n{CHART_TIP}")
        self.scale_menu.show_choice(choices.scale)
        self.smoothing_menu.show_choice(choices.smoothing)
        self.smoothing_menu.setVisible(choices.quantity in SMOOTHED)
        self.shown_menu.set_entries(SHOWN_ENTRIES | (ZOOM_ENTRY if choices.shown == "zoom" else {}))
        self.shown_menu.show_choice(choices.shown)
        self.chart.setAccessibleName(f"{QUANTITY_NAMES[choices.quantity]} over optimizer steps")

    def _lay_out(self, is_main: bool) -> None:
        self.quantity_menu.setProperty("role", "value-heading")
        row_of(
            self.smoothing_menu, self.scale_menu, self.shown_menu, spacing=2, within=self.options
        )
        menus = row_of(self.quantity_menu, 1, self.options, spacing=2)
        column_of(menus, (self.chart, 1), spacing=2, within=self)
        # before it is inside, it would be a window of its own for a moment
        self.shown_menu.setVisible(is_main)
        self.legend.setVisible(is_main)


def legend_entries(
    quantity: Quantity, curves: RunCurves, compared: Sequence[ComparedRun]
) -> list[LegendEntry]:
    """The legend of a chart of this quantity."""
    if quantity in VALIDATED:
        name = validation_name(as_batch_means=any(run.is_batch_mean for run in compared))
        entries = [
            LegendEntry("training", "accent", False, tip=TRAINING_TIP),
            LegendEntry(name, "warm", True, tip=VALIDATION_TIP),
        ]
    elif quantity == "bleu":
        entries = [LegendEntry("this run", "warm", True)]
    else:
        entries = [LegendEntry("this run", "accent", False)]
    return entries + [
        LegendEntry(
            run.name, f"run {run.slot}", True, run.key, f"{run.name}\n{run.tip}\nClick to remove."
        )
        for run in compared
    ]


class ChartPair(QFrame):
    """The live charts.

    Attributes:
        main: the chart that first shows the loss.
        second: the chart that first shows the learning rate, always of the same steps.
        compare: the menu of runs to compare with.
        export_button: has the export menu.
    """

    def __init__(
        self, state: TrainState, comparison: RunComparison, runs_folder: Callable[[], Path]
    ) -> None:
        super().__init__()
        set_role(self, "panel")
        self._state = state
        self._curve_height = 0
        self._comparison = comparison
        self.compare = CompareMenu(state, comparison, runs_folder)
        self.export_button = MenuButton(
            "Export ▾", "The charts, every step's metrics, or the film, as files"
        )
        turns = Turns(self)
        turns.drawn.connect(state.drawn.emit)
        self.main = ChartPanel("loss", turns)
        self.second = ChartPanel("learning_rate", turns, is_main=False)
        self.main.legend.removed.connect(comparison.remove)
        self._actions = QWidget()
        row_of(self.compare, self.export_button, spacing=4, within=self._actions)
        self._row = row_of((self.main, 5), (self.second, 4), spacing=GAP)
        column_of(
            row_of((self.main.legend, 1), self._actions, spacing=4),
            (self._row, 1),
            spacing=0,
            margins=(PANEL_MARGIN - 6, 4, PANEL_MARGIN - 6, 4),
            within=self,
        )
        for panel, other in ((self.main, self.second), (self.second, self.main)):
            panel.chart.companion = other.chart
            panel.changed.connect(lambda panel=panel, other=other: self._on_changed(panel, other))
            panel.chart.step_chosen.connect(state.playback.show_step)
        for signal in (state.run_changed, state.playback.changed, comparison.changed):
            signal.connect(self._draw, max_args=0)
        self._draw()

    def set_presented(self, is_presented: bool) -> None:
        """Leaves the room of the options to the curves."""
        for options in (self.main.options, self.second.options, self._actions):
            options.setVisible(not is_presented)

    def set_curve_height(self, height: int) -> None:
        """Sets the least height of the charts, of both together where one is below the other."""
        self._curve_height = height
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """The charts next to each other, or one below the other where that is too narrow."""
        needed = sum(panel.minimumSizeHint().width() for panel in (self.main, self.second))
        is_row = self.width() > max(scaled(SIDE_BY_SIDE_PX), needed + 2 * PANEL_MARGIN)
        directions = QBoxLayout.Direction
        self._row.setDirection(directions.LeftToRight if is_row else directions.TopToBottom)
        self.main.chart.set_step_labels(is_row)
        for panel, share in ((self.main, 5 / 8), (self.second, 3 / 8)):
            height = math.ceil(self._curve_height * (1 if is_row else share))
            panel.chart.setMinimumHeight(max(height, scaled(LEAST_PX)))

    @property
    def pictures(self) -> list[ChartPicture]:
        """The current charts."""
        return [
            panel.chart.picture
            for panel in (self.main, self.second)
            if panel.chart.picture is not None
        ]

    def _draw(self) -> None:
        playback = self._state.playback
        shown_step = playback.shown_step if playback.frames else None
        for panel in (self.main, self.second):
            panel.show_run(self._state.run, self._comparison.runs, shown_step)

    def _on_changed(self, panel: ChartPanel, other: ChartPanel) -> None:
        other.show_steps_of(panel.choices)
        self._draw()
