"""The charts of the Train page: one with tabs, and in a wide window a second one beside it."""

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from viz_app.theme import GAP, scaled, scales
from viz_app.train.chart_panel import ChartPanel
from viz_app.train.charts import LiveChart
from viz_app.train.comparison import Comparison
from viz_app.train.legend import Legend
from viz_app.train.run_export import ShownChart
from viz_app.train.run_menu import RunMenu
from viz_app.train.state import TrainState
from viz_app.widgets.menu_button import MenuButton

WIDE_PX = 1180
"""From this width on there are two charts."""


class ChartRow(QWidget):
    """The live charts. Importing this module imports matplotlib.

    Attributes:
        main, side: the chart with tabs, and the one beside it, at first of the learning rate.
        compare: the menu of runs to compare with.
        export_button: has the export menu.

    Signals:
        changed(): a setting changed: draw again.
        removed(str): remove the compared run with this key.
        moment_chosen(float): a step was clicked.
    """

    changed = Signal()
    removed = Signal(str)
    moment_chosen = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        legend = Legend()
        tip = "Shows the curves of other runs in the same charts; click a run's name to remove it."
        self.compare = RunMenu("Compare with… ▾", tip)
        self.export_button = MenuButton("Export ▾", "The charts, every step's metrics, or the film, as files")
        self.main = ChartPanel("loss", has_tabs=True, legend=legend, aside=(self.compare, self.export_button))
        self.side = ChartPanel("learning_rate", has_tabs=False)
        legend.removed.connect(self.removed)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        scales(row.setSpacing, GAP)
        row.addWidget(self.main, 5)
        row.addWidget(self.side, 3)
        for panel in (self.main, self.side):
            panel.changed.connect(self.changed)
            panel.moment_chosen.connect(self.moment_chosen)
        self.side.hide()

    @property
    def loss_chart(self) -> LiveChart:
        """The chart with tabs."""
        return self.main.chart

    @property
    def shown(self) -> tuple[ShownChart, ...]:
        """The charts in sight, as they are now."""
        panels = (self.main, self.side) if self.side.isVisibleTo(self) else (self.main,)
        return tuple(
            ShownChart(replace(panel.choices, scales=dict(panel.choices.scales)), panel.chart.picture)
            for panel in panels
            if panel.chart.picture is not None
        )

    def show_state(self, state: TrainState, comparison: Comparison, moment: float | None = None) -> None:
        """Updates the curves if they changed."""
        self.main.show_state(state, comparison, moment)
        is_wide = self.width() >= scaled(WIDE_PX)
        self.side.setVisible(is_wide)
        if is_wide:
            self.side.show_state(state, comparison, moment)
