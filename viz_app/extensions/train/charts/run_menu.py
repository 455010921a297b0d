"""Menus of runs: those in the folder for runs, the published curve, and any other folder by
dialog.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QMenu

from augenmerk.core.errors import AugenmerkError
from augenmerk.core.storage import is_folder, is_forbidden

from ....widgets.buttons import MenuButton
from ....widgets.dialogs import show_failure
from ....worker.inference import Failure
from ..run_files import (
    PUBLISHED,
    PUBLISHED_STEPS_PER_EPOCH,
    RunComparison,
    RunOnDisk,
    runs_in,
)
from ..state import TrainState

PUBLISHED_ENTRY = "Published curve of notebook"
NO_RUNS, NO_OTHER_RUNS = "no runs in this folder yet", "no other runs in this folder"
NO_PERMISSION = "the folder of runs cannot be read: no permission"


class RunMenu(MenuButton):
    """Its menu is filled each time it is opened: connect its `aboutToShow` to a function that calls
    `offer`.

    Signals:
        folder_chosen(Path): the run in this folder.
    """

    folder_chosen = Signal(object)

    def __init__(self, text: str, tip: str) -> None:
        super().__init__(text, tip)
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        self.setMenu(menu)

    def offer(
        self,
        runs: Sequence[RunOnDisk],
        parent_folder: Path,
        *,
        shown: Path | None = None,
        more: Mapping[str, Callable[[], object]] = {},
    ) -> None:
        """Fills the menu.

        Args:
            runs: to choose from.
            parent_folder: the folder in which “Other folder…” begins.
            shown: the run on the page, which is listed, but cannot be chosen.
            more: other entries, and what they do.
        """
        menu = self.menu()
        menu.clear()
        for run in runs:
            is_shown = run.folder == shown
            action = menu.addAction(f"{run.name}  (shown)" if is_shown else run.name)
            action.setToolTip(run.summary)
            action.setEnabled(not is_shown)
            action.triggered.connect(
                lambda _checked=False, folder=run.folder: self.folder_chosen.emit(folder)
            )
        if not runs:
            reason = NO_RUNS if shown is None else NO_OTHER_RUNS
            if is_forbidden(parent_folder):
                reason = NO_PERMISSION
            menu.addAction(reason).setEnabled(False)
        menu.addSeparator()
        for text, act in {**more, "Other folder…": partial(self._ask, parent_folder)}.items():
            menu.addAction(text).triggered.connect(lambda _checked=False, act=act: act())

    def _ask(self, parent_folder: Path) -> None:
        start = parent_folder if is_folder(parent_folder) else Path.home()
        path = QFileDialog.getExistingDirectory(
            self, "Folder of a run, with history.csv", str(start)
        )
        if path:
            self.folder_chosen.emit(Path(path))


class CompareMenu(RunMenu):
    """Adds runs to a `RunComparison`: runs next to the one on the page, and the published curve for
    its preset.
    """

    def __init__(
        self, state: TrainState, comparison: RunComparison, runs_folder: Callable[[], Path]
    ) -> None:
        super().__init__(
            "Compare with… ▾",
            "Shows the curves of other runs in the same charts; click a run's name to remove it.",
        )
        self._state = state
        self._comparison = comparison
        self._runs_folder = runs_folder
        self.menu().aboutToShow.connect(self._fill)
        self.folder_chosen.connect(lambda folder: self._try(lambda: comparison.add_folder(folder)))

    def _fill(self) -> None:
        run = self._state.run
        parent = self._runs_folder()
        others = (
            other
            for other in runs_in(parent)
            if other.folder != run.folder and other.curves.validations
        )
        runs = [other for other in others if not self._comparison.contains(other.folder)]
        preset = run.request.run.preset if run.request is not None else ""
        is_notebook = preset == "notebook" or (
            run.folder is not None and run.folder.name.startswith("notebook")
        )
        has_published = is_notebook and not self._comparison.contains(PUBLISHED)
        shown = run.folder if not runs else None  # the run on the page is not one to compare with
        more = {PUBLISHED_ENTRY: partial(self._try, self._add_published)} if has_published else {}
        self.offer(runs, parent, shown=shown, more=more)

    def _add_published(self) -> None:
        started = self._state.run.started
        num_steps = PUBLISHED_STEPS_PER_EPOCH
        if started is not None:
            num_steps = max(1, started.num_steps // max(1, started.num_epochs))
        self._comparison.add_published(num_steps)

    def _try(self, add: Callable[[], None]) -> None:
        try:
            add()
        except AugenmerkError as error:
            show_failure(self.window(), "The run cannot be compared", Failure.of(error))
