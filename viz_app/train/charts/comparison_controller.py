"""Adds runs to the charts and removes them, as chosen in the menu “Compare with…”."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

from augenmerk.core.errors import AugenmerkError
from augenmerk.viz_app.train.charts.comparison import PUBLISHED, PUBLISHED_STEPS_PER_EPOCH, Comparison, runs_to_offer
from augenmerk.viz_app.train.run_files import runs_in
from augenmerk.viz_app.train.state import TrainState

if TYPE_CHECKING:
    from augenmerk.viz_app.train.charts.pair import ChartPair


class ComparisonController(QObject):
    """Changes a `Comparison` on request of the charts.

    Signals:
        menu_opening(): the menu is about to open: call `offer`.
        changed(): runs were added or removed: draw.
    """

    menu_opening = Signal()
    changed = Signal()

    def __init__(self, comparison: Comparison, parent: QWidget) -> None:
        super().__init__(parent)
        self._comparison = comparison
        self._page = parent
        self._charts: ChartPair | None = None
        self._steps_per_epoch = PUBLISHED_STEPS_PER_EPOCH

    def connect_to(self, charts: "ChartPair") -> None:
        """Handles the requests of these charts."""
        self._charts = charts
        charts.removed.connect(self._remove)
        charts.compare.about_to_show.connect(self.menu_opening)
        charts.compare.folder_chosen.connect(lambda folder: self._try(lambda: self._comparison.add_folder(folder)))
        charts.compare.published_chosen.connect(
            lambda: self._try(lambda: self._comparison.add_published(self._steps_per_epoch))
        )

    def offer(self, parent_folder: Path, state: TrainState, *, is_notebook: bool) -> None:
        """Fills the menu with the runs in `parent_folder`, and the published curve for the preset that has one."""
        if self._charts is None:
            return
        started = state.started
        if started is not None:
            self._steps_per_epoch = max(1, started.num_steps // max(1, started.num_epochs))
        validated = [run for run in runs_in(parent_folder) if run.curves.validations]
        runs = runs_to_offer(validated, state.folder, self._comparison)
        has_published = is_notebook and not self._comparison.contains(PUBLISHED)
        shown = state.folder if not runs else None  # the run on the page is no run to compare with
        self._charts.compare.offer(runs, parent_folder, shown=shown, has_published=has_published)

    def _try(self, add: Callable[[], None]) -> None:
        try:
            add()
        except AugenmerkError as error:
            heading = "The run cannot be compared"
            box = QMessageBox(QMessageBox.Icon.Information, heading, str(error), parent=self._page)
            box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            box.open()
        self.changed.emit()

    def _remove(self, key: str) -> None:
        self._comparison.remove(key)
        self.changed.emit()
