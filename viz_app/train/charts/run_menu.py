"""Menus of runs: those in the folder for runs, the published curve, and any other folder by dialog."""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QMenu

from augenmerk.core.errors import AugenmerkError
from augenmerk.viz_app.train.run_files import PUBLISHED, PUBLISHED_STEPS_PER_EPOCH, Comparison, RunOnDisk, runs_in
from augenmerk.viz_app.train.state import TrainState
from augenmerk.viz_app.widgets.buttons import MenuButton
from augenmerk.viz_app.widgets.dialogs import show_failure
from augenmerk.viz_app.worker.inference import Failure

NO_RUNS, NO_OTHER_RUNS = "no runs in this folder yet", "no other runs in this folder"


class RunMenu(MenuButton):
    """Its menu is filled each time it is opened.

    Signals:
        about_to_show(): fill the menu now, with `offer`.
        folder_chosen(Path): the run in this folder.
        published_chosen(): the published curve.
    """

    about_to_show = Signal()
    folder_chosen = Signal(object)
    published_chosen = Signal()

    def __init__(self, text: str, tip: str) -> None:
        super().__init__(text, tip)
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._menu.aboutToShow.connect(self.about_to_show)
        self.setMenu(self._menu)
        self._start: Callable[[], Path] = Path.home

    def offer(
        self,
        runs: Sequence[RunOnDisk],
        parent_folder: Path,
        *,
        shown: Path | None = None,
        has_published: bool = False,
    ) -> None:
        """Fills the menu.

        Args:
            runs: to choose from.
            parent_folder: the folder in which “Other folder…” begins.
            shown: the run on the page, which is listed, but cannot be chosen.
            has_published: whether the published curve is offered.
        """
        self._start = lambda: parent_folder if parent_folder.is_dir() else Path.home()
        self._menu.clear()
        for run in runs:
            is_shown = run.folder == shown
            action = self._menu.addAction(f"{run.name}  (shown)" if is_shown else run.name)
            action.setToolTip(run.summary)
            action.setEnabled(not is_shown)
            action.triggered.connect(lambda _checked=False, folder=run.folder: self.folder_chosen.emit(folder))
        if not runs:
            self._menu.addAction(NO_RUNS if shown is None else NO_OTHER_RUNS).setEnabled(False)
        self._menu.addSeparator()
        if has_published:
            action = self._menu.addAction("Published curve of notebook")
            action.triggered.connect(lambda _checked=False: self.published_chosen.emit())
        self._menu.addAction("Other folder…").triggered.connect(lambda _checked=False: self._ask())

    def _ask(self) -> None:
        path = QFileDialog.getExistingDirectory(self, "Folder of a run, with history.csv", str(self._start()))
        if path:
            self.folder_chosen.emit(Path(path))


class CompareMenu(RunMenu):
    """Adds runs to a `Comparison`: runs next to the one on the page, and the published curve for its preset."""

    def __init__(self, state: TrainState, comparison: Comparison, runs_folder: Callable[[], Path]) -> None:
        super().__init__(
            "Compare with… ▾", "Shows the curves of other runs in the same charts; click a run's name to remove it."
        )
        self._state = state
        self._comparison = comparison
        self._runs_folder = runs_folder
        self.about_to_show.connect(self._fill)
        self.folder_chosen.connect(lambda folder: self._try(lambda: comparison.add_folder(folder)))
        self.published_chosen.connect(lambda: self._try(lambda: comparison.add_published(self._steps_per_epoch())))

    def _fill(self) -> None:
        run, parent = self._state.run, self._runs_folder()
        others = (each for each in runs_in(parent) if each.folder != run.folder and each.curves.validations)
        runs = [each for each in others if not self._comparison.contains(each.folder)]
        preset = run.request.run.preset if run.request is not None else ""
        is_notebook = preset == "notebook" or (run.folder is not None and run.folder.name.startswith("notebook"))
        has_published = is_notebook and not self._comparison.contains(PUBLISHED)
        shown = run.folder if not runs else None  # the run on the page is not one to compare with
        self.offer(runs, parent, shown=shown, has_published=has_published)

    def _steps_per_epoch(self) -> int:
        started = self._state.run.started
        if started is None:
            return PUBLISHED_STEPS_PER_EPOCH
        return max(1, started.num_steps // max(1, started.num_epochs))

    def _try(self, add: Callable[[], None]) -> None:
        try:
            add()
        except AugenmerkError as error:
            show_failure(self.window(), "The run cannot be compared", Failure.of(error))
