"""The charts of the Train page: the main one, and below it a shorter one on the same step axis."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtWidgets import QFrame, QWidget

from augenmerk.viz_app.theme import PANEL_MARGIN, set_role
from augenmerk.viz_app.train.charts.comparison import Comparison
from augenmerk.viz_app.train.charts.legend import Legend
from augenmerk.viz_app.train.charts.live_chart import LiveChart
from augenmerk.viz_app.train.charts.panel import ChartPanel
from augenmerk.viz_app.train.charts.picture import ShownChart
from augenmerk.viz_app.train.charts.run_menu import CompareMenu
from augenmerk.viz_app.train.state import TrainState
from augenmerk.viz_app.widgets.buttons import MenuButton
from augenmerk.viz_app.widgets.layouts import column_of


class ChartPair(QFrame):
    """The live charts. Importing this module imports matplotlib.

    Attributes:
        main, second: the charts; at first of the loss and the learning rate. They always show the same steps.
        compare: the menu of runs to compare with.
        export_button: has the export menu.
    """

    def __init__(
        self,
        state: TrainState,
        comparison: Comparison,
        runs_folder: Callable[[], Path],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        set_role(self, "panel")
        self._state = state
        self._comparison = comparison
        legend = Legend()
        self.compare = CompareMenu(state, comparison, runs_folder)
        self.export_button = MenuButton("Export ▾", "The charts, every step's metrics, or the film, as files")
        self.main = ChartPanel("loss", has_step_axis=False, legend=legend, aside=(self.compare, self.export_button))
        self.second = ChartPanel("learning_rate", has_range_menu=False)
        legend.removed.connect(comparison.remove)
        margins = PANEL_MARGIN - 6, 8, PANEL_MARGIN - 6, 8
        column_of((self.main, 5), (self.second, 3), spacing=0, margins=margins, within=self)
        for panel, other in ((self.main, self.second), (self.second, self.main)):
            panel.chart.companion = other.chart
            panel.changed.connect(lambda panel=panel, other=other: self._on_changed(panel, other))
            panel.chart.moment_chosen.connect(state.playback.show_step)
        for signal in (state.run_changed, state.playback.changed, comparison.changed):
            signal.connect(self._draw, max_args=0)
        self._draw()

    @property
    def loss_chart(self) -> LiveChart:
        """The main chart."""
        return self.main.chart

    @property
    def shown(self) -> tuple[ShownChart, ...]:
        """The charts as they are now."""
        return tuple(
            ShownChart(replace(panel.choices, scales=dict(panel.choices.scales)), panel.chart.picture)
            for panel in (self.main, self.second)
            if panel.chart.picture is not None
        )

    def _draw(self) -> None:
        playback = self._state.playback
        moment = playback.shown_step if playback.frames else None
        for panel in (self.main, self.second):
            panel.show_run(self._state.run, self._comparison.runs, moment)

    def _on_changed(self, panel: ChartPanel, other: ChartPanel) -> None:
        other.show_steps_of(panel.choices)
        self._draw()
