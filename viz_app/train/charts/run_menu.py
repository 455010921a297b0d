"""A menu of runs: those in the folder for runs, the published curve, and any other folder by dialog."""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from augenmerk.viz_app.train.run_files import RunOnDisk
from augenmerk.viz_app.widgets.menu_button import MenuButton

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

    def __init__(self, text: str, tip: str, parent: QWidget | None = None) -> None:
        super().__init__(text, tip, parent)
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
            parent_folder: where “Other folder…” begins.
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
