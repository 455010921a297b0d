"""The view of a run: charts at the top; below them the film of attention and the sample
translations.
"""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

from ...theme import GAP, scaled, scales
from ...widgets.layouts import VerticalScrollArea, column_of, row_of
from .charts.panel import ChartPair
from .film import FilmPanel, LowerPanel, SamplesPanel
from .run_files import RunComparison
from .state import TrainState

WIDE_PX = 1180
"""From this width on, film and translations are shown side by side."""
CHARTS_SIZE, FILM_SIZE, SAMPLES_SIZE = (560, 286), (560, 245), (380, 250)
"""Their least sizes at 100%."""
PRESENTED_CHARTS_SIZE = (240, 240)
PRESENTED_FILM_SIZE = (400, 240)


class RunView(QWidget):
    """Charts, film and translations.

    In a narrow window film and translations share one area, with tabs.

    If their smallest heights do not fit, they scroll.

    Attributes:
        charts: the charts of the run.
        film: its film.
        samples: its sample translations.
        parts: the area in which they scroll.
    """

    def __init__(
        self,
        state: TrainState,
        comparison: RunComparison,
        runs_folder: Callable[[], Path],
        parent: QWidget | None = None,
    ) -> None:
        """`runs_folder`: returns the folder whose runs can be compared."""
        super().__init__(parent)
        self._lower: LowerPanel = "film"
        self.charts = ChartPair(state, comparison, runs_folder)
        self.film = FilmPanel(state)
        self.samples = SamplesPanel(state)
        for panel in (self.film, self.samples):
            panel.tabs.chosen.connect(self.show_lower)
        scales(self.samples.setMinimumSize, *SAMPLES_SIZE)
        below = QWidget()
        row_of((self.film, 5), (self.samples, 3), spacing=GAP, within=below)
        self._splitter = QSplitter()
        self._splitter.setHandleWidth(GAP)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self.charts)
        self._splitter.addWidget(below)
        self.parts = VerticalScrollArea(self._splitter, self)
        column_of(self.parts, within=self)
        self.set_presented(False)

    def set_presented(self, is_presented: bool) -> None:
        """Shows film or translations next to the charts and without options, or below them."""
        self._is_presented = is_presented
        # size hints are too large before the style is known
        scales(
            self.charts.setMinimumSize, *(PRESENTED_CHARTS_SIZE if is_presented else CHARTS_SIZE)
        )
        scales(self.film.setMinimumSize, *(PRESENTED_FILM_SIZE if is_presented else FILM_SIZE))
        self.charts.set_presented(is_presented)
        self.film.set_presented(is_presented)
        self._splitter.setOrientation(
            Qt.Orientation.Horizontal if is_presented else Qt.Orientation.Vertical
        )
        self._splitter.setSizes([1000, 1000])  # halves, independent of the hints
        self._fit()

    def show_lower(self, lower: LowerPanel) -> None:
        """Shows film or translations, where there is no room for both."""
        self._lower = lower
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Side by side, or with tabs."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        is_wide = self.width() >= scaled(WIDE_PX) and not self._is_presented
        self.film.setVisible(is_wide or self._lower == "film")
        self.samples.setVisible(is_wide or self._lower == "samples")
        for panel in (self.film, self.samples):
            panel.tabs.show_tabs(not is_wide)
            panel.tabs.setVisible(not self._is_presented)
