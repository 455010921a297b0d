"""One chart with its menus: quantity, scale, smoothing and range of steps."""

from collections.abc import Sequence
from typing import cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from augenmerk.viz_app.train.charts.comparison import ComparedRun
from augenmerk.viz_app.train.charts.legend import Legend, LegendEntry
from augenmerk.viz_app.train.charts.live_chart import LiveChart
from augenmerk.viz_app.train.charts.picture import picture_of, validation_name
from augenmerk.viz_app.train.charts.settings import (
    QUANTITY_NAMES,
    QUANTITY_TIPS,
    SMOOTHED,
    ChartSettings,
    Quantity,
    Scale,
    Shown,
    Smoothing,
)
from augenmerk.viz_app.train.curves import RunCurves
from augenmerk.viz_app.train.state import Run
from augenmerk.viz_app.widgets.buttons import ChoiceMenu
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.widgets.layouts import Part, column_of, row_of

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
CHART_TIP = "Drag to zoom in, double-click to show all steps. Click a step to see the film of attention there."


class ChartPanel(QWidget):
    """A chart of one quantity at a time.

    Attributes:
        choices: what is shown and how.
        chart: the chart.
        quantity_menu, scale_menu, smoothing_menu, shown_menu: the menus.

    Signals:
        changed(): a setting changed: draw again.
    """

    changed = Signal()

    def __init__(
        self,
        quantity: Quantity,
        *,
        has_step_axis: bool = True,
        has_range_menu: bool = True,
        legend: Legend | None = None,
        aside: Sequence[QWidget] = (),
    ) -> None:
        """Creates the panel.

        Args:
            quantity: what it shows at first.
            has_step_axis: whether the steps are labelled; else a chart on the same axis stands below.
            has_range_menu: whether the steps are chosen here; else by the chart above, and by the mouse.
            legend: of this chart.
            aside: widgets next to the legend.
        """
        super().__init__()
        self.choices = ChartSettings(quantity)
        self.chart = LiveChart(has_step_labels=has_step_axis)
        self.legend = legend
        self._aside = aside
        self._kind: tuple[object, ...] = ()
        self._curves: RunCurves | None = None
        self.quantity_menu = ChoiceMenu(
            "Quantity of this chart", {name: (text, text) for name, text in QUANTITY_NAMES.items()}
        )
        self.scale_menu = ChoiceMenu("Scale of the value axis", SCALE_ENTRIES)
        self.smoothing_menu = ChoiceMenu("Window of the running mean", SMOOTHING_ENTRIES, "smoothing: ")
        self.shown_menu = ChoiceMenu("Range of steps", SHOWN_ENTRIES)
        self._has_range_menu = has_range_menu
        self._lay_out(has_step_axis)
        self._connect()
        self._show_choices()

    def show_run(self, run: Run, compared: Sequence[ComparedRun], moment: float | None) -> None:
        """Draws the curves; `moment` is the step shown in the film."""
        if self._curves is not run.curves:
            self._forget_zoom()
            self._curves = run.curves
        choices = self.choices
        kind = (choices.quantity, choices.scale, choices.shown, choices.zoom)
        before = self.chart.picture
        picture = picture_of(
            run.curves,
            choices,
            run.num_steps_shown,
            compared,
            y_before=before.y_limits if before is not None and self._kind == kind else None,
            moment=moment,
            is_live=run.status.is_running,
        )
        self._kind = kind
        self.chart.show_picture(picture)
        if self.legend is not None:
            self.legend.show_entries(legend_entries(choices.quantity, run.curves, compared))

    def choose_quantity(self, quantity: Quantity) -> None:
        """Shows another quantity."""
        self.choices.quantity = quantity
        self._on_choice()

    def choose_shown(self, shown: Shown) -> None:
        """Shows other steps."""
        self.choices.shown = shown
        self._on_choice()

    def show_steps_of(self, choices: ChartSettings) -> None:
        """Shows the same steps as another chart."""
        self.choices.shown, self.choices.zoom = choices.shown, choices.zoom
        self._show_choices()

    def _forget_zoom(self) -> None:
        """The range was chosen for another run."""
        if self.choices.shown == "zoom":
            self.choices.shown = "all"
            self._show_choices()

    def _on_zoom(self, first: float, last: float) -> None:
        self.choices.zoom_to(first, last)
        self._on_choice()

    def _on_scale(self, scale: str) -> None:
        self.choices.scale = cast(Scale, scale)
        self._on_choice()

    def _on_smoothing(self, smoothing: str) -> None:
        self.choices.smoothing = cast(Smoothing, smoothing)
        self._on_choice()

    def _on_choice(self) -> None:
        self._show_choices()
        self.changed.emit()

    def _show_choices(self) -> None:
        choices = self.choices
        self.quantity_menu.show_choice(choices.quantity)
        self.quantity_menu.setToolTip(QUANTITY_TIPS[choices.quantity])
        self.scale_menu.show_choice(choices.scale)
        self.smoothing_menu.show_choice(choices.smoothing)
        self.smoothing_menu.setVisible(choices.quantity in SMOOTHED)
        is_zoomed = choices.shown == "zoom"
        if is_zoomed != ("zoom" in self.shown_menu.actions_by_name):
            self.shown_menu.set_entries({**SHOWN_ENTRIES, **(ZOOM_ENTRY if is_zoomed else {})})
        self.shown_menu.show_choice(choices.shown)
        self.chart.setAccessibleName(f"{QUANTITY_NAMES[choices.quantity]} over optimizer steps")

    def _connect(self) -> None:
        self.quantity_menu.chosen.connect(lambda name: self.choose_quantity(cast(Quantity, name)))
        self.scale_menu.chosen.connect(self._on_scale)
        self.smoothing_menu.chosen.connect(self._on_smoothing)
        self.shown_menu.chosen.connect(lambda name: self.choose_shown(cast(Shown, name)))
        self.chart.range_chosen.connect(self._on_zoom)
        self.chart.range_reset.connect(lambda: self.choose_shown("all"))

    def _lay_out(self, has_step_axis: bool) -> None:
        self.quantity_menu.setProperty("role", "value-heading")
        self.shown_menu.setVisible(self._has_range_menu)
        parts: list[Part] = [
            row_of(self.quantity_menu, 1, self.smoothing_menu, self.scale_menu, self.shown_menu, spacing=2)
        ]
        if self.legend is not None:
            parts.append(row_of(self.legend, 1, *self._aside, spacing=4))
        parts.append((self.chart, 1))
        if has_step_axis:
            steps = label("small", "optimizer steps")
            steps.setToolTip(CHART_TIP)
            steps.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            parts.append(steps)
        column_of(*parts, spacing=2, within=self)


def legend_entries(quantity: Quantity, curves: RunCurves, compared: Sequence[ComparedRun]) -> list[LegendEntry]:
    """The legend of a chart of this quantity."""
    if quantity in ("loss", "perplexity"):
        name = validation_name(curves, any(run.is_batch_mean for run in compared))
        entries = [LegendEntry("training", "accent", False), LegendEntry(name, "warm", True)]
    elif quantity == "bleu":
        entries = [LegendEntry("this run", "warm", True)]
    else:
        entries = [LegendEntry("this run", "accent", False)]
    return entries + [
        LegendEntry(run.name, f"run {run.slot}", True, run.key, f"{run.name}\n{run.tip}\nClick to remove.")
        for run in compared
    ]
