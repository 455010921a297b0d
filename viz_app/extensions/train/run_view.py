"""The view of a run: charts at the top; below them the film of attention or the sample
translations, as tabs.
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

CHARTS_WIDTH, FILM_SIZE, SAMPLES_SIZE = 440, (440, 187), (380, 187)
"""Their least sizes at 100%."""
NARROW_FILM_SIZE = (440, 390)
NARROW_PX = 650
"""Below this width, the parts of the film do not fit next to each other."""
PRESENTED_CHARTS_WIDTH = 240
PRESENTED_FILM_SIZE = (400, 240)


class RunView(QWidget):
    """Charts, which take at least half of the page; below them film and translations, as tabs.

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
        self._page_height = 0
        self._is_presented = False
        self.charts = ChartPair(state, comparison, runs_folder)
        self.film = FilmPanel(state)
        self.samples = SamplesPanel(state)
        for panel in (self.film, self.samples):
            panel.tabs.chosen.connect(self.show_lower)
        scales(self.samples.setMinimumSize, *SAMPLES_SIZE)
        below = QWidget()
        row_of(self.film, self.samples, within=below)
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
            self.charts.setMinimumWidth, PRESENTED_CHARTS_WIDTH if is_presented else CHARTS_WIDTH
        )
        self._fit_film()
        self.charts.set_presented(is_presented)
        self._splitter.setOrientation(
            Qt.Orientation.Horizontal if is_presented else Qt.Orientation.Vertical
        )
        self._splitter.setSizes([1000, 1000])  # halves, independent of the hints
        for panel in (self.film, self.samples):
            panel.tabs.setVisible(not is_presented)
        self.set_page_height(self._page_height)
        self.show_lower(self._lower)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_film()

    def set_page_height(self, height: int) -> None:
        """Gives half of the height of the page to the curves, whatever is shown below them."""
        self._page_height = height
        self.charts.set_curve_height(0 if self._is_presented else -(-height // 2))

    def _fit_film(self) -> None:
        is_narrow = not self._is_presented and self.width() < scaled(NARROW_PX)
        beside = NARROW_FILM_SIZE if is_narrow else FILM_SIZE
        scales(self.film.setMinimumSize, *(PRESENTED_FILM_SIZE if self._is_presented else beside))
        self.film.arrange(is_presented=self._is_presented, is_narrow=is_narrow)

    def show_lower(self, lower: LowerPanel) -> None:
        """Shows film or translations."""
        self._lower = lower
        self.film.setVisible(lower == "film")
        self.samples.setVisible(lower == "samples")
