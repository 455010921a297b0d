"""The right side of the Train page while there is a run: a panel for the loss and one for the learning rate."""

from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from viz_app.theme import GAP, PANEL_MARGIN, Theme, set_role
from viz_app.train.charts import LiveChart, LossChart, RateChart
from viz_app.train.state import TrainState
from viz_app.train.words import run_line
from viz_app.widgets.eliding_label import ElidingLabel


class ChartPanels(QWidget):
    """Both live charts. Importing this module imports matplotlib.

    Attributes:
        loss_chart, rate_chart: the charts.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.loss_chart = LossChart(theme)
        self.rate_chart = RateChart(theme)
        self._run_line = ElidingLabel("small")
        self._revision_drawn = -1
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addWidget(_panel("Loss", self.loss_chart, self._run_line), 5)
        axis_line = ElidingLabel("small")
        axis_line.setText("both charts over optimiser steps")
        column.addWidget(_panel("Learning rate", self.rate_chart, axis_line), 3)

    def show_state(self, state: TrainState) -> None:
        """Draws the curves if they changed."""
        self._run_line.setText(run_line(state))
        if state.revision != self._revision_drawn:
            self._revision_drawn = state.revision
            self.loss_chart.show_state(state)
            self.rate_chart.show_state(state)

    def apply_theme(self, theme: Theme) -> None:
        """Takes the colours of `theme`."""
        self.loss_chart.apply_theme(theme)
        self.rate_chart.apply_theme(theme)


def _panel(title: str, chart: LiveChart, aside: ElidingLabel) -> QFrame:
    frame = QFrame()
    set_role(frame, "panel")
    heading = QLabel(title)
    set_role(heading, "heading")
    head = QHBoxLayout()
    head.setSpacing(PANEL_MARGIN)
    head.addWidget(heading)
    head.addWidget(aside, 1)
    column = QVBoxLayout(frame)
    column.setContentsMargins(PANEL_MARGIN, 10, PANEL_MARGIN, 10)
    column.setSpacing(6)
    column.addLayout(head)
    column.addWidget(chart, 1)
    return frame
