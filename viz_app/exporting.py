"""The export menu of the Translate page: pictures, numbers, clipboard."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QGuiApplication, QPainter, QRegion
from PySide6.QtWidgets import QFileDialog, QMenu, QToolButton, QWidget

from core.errors import AugenmerkError
from core.translation.result import MAP_KINDS
from viz_app.dialogs import show_failure
from viz_app.painted import save_painted
from viz_app.state.snapshot import as_table, save_numbers, take_snapshot
from viz_app.state.translate_state import KIND_NAMES, HeadChoice, TranslateState
from viz_app.theme import Theme
from viz_app.widgets.lines_view import LinesPainter
from viz_app.worker import Failure

PICTURES = "Pictures (*.png *.svg *.pdf)"
NUMBERS = "Numbers (*.csv *.json *.npz)"
MIDDLE_GREY = 128
Save = Callable[[Path], None]


class ExportMenu(QMenu):
    """Takes along what the page shows.

    Attributes:
        model: the model's name, for captions.
        page: what "the whole page" is; None until there is one.
        entries: the menu's entries by name: "map", "heads", "page", "numbers", "copy picture", "copy table".
        dialog: the file dialog that is open, or None.
    """

    def __init__(self, button: QToolButton, state: TranslateState, large_map: QWidget) -> None:
        super().__init__(button)
        self._state = state
        self._map = large_map
        self.model = ""
        self.page: QWidget | None = None
        self.dialog: QFileDialog | None = None
        self.entries: dict[str, QAction] = {}
        self._add("map", "The map as a picture (PNG, SVG, PDF) …", self._asking(self.save_map, PICTURES, "map.png"))
        self._add("heads", "All heads as a picture …", self._asking(self.save_grid, PICTURES, "heads.png"))
        self._add("page", "The whole page as a picture …", self._asking(self.save_page, PICTURES, "page.png"))
        self.addSeparator()
        self._add("numbers", "The numbers (CSV, JSON, NPZ) …", self._asking(self.save_table, NUMBERS, "map.csv"))
        self.addSeparator()
        self._add("copy picture", "Copy the map as a picture", self.copy_picture)
        self._add("copy table", "Copy the numbers as a table", self.copy_table)
        button.setMenu(self)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)

    def save_map(self, target: Path) -> None:
        """The large map as a picture: as a heatmap, or as lines. Raises `StorageError`."""
        snapshot = take_snapshot(self._state, self.model)
        if snapshot is None:
            return
        if self._state.picture == "lines":
            theme = Theme.light()
            lines = LinesPainter.of_natural_size(self._state, theme, snapshot.view)
            caption = f"{snapshot.title}\n{snapshot.caption}"
            save_painted(lines.paint, lines.size, caption, theme, target)
            return
        from viz_app.train.plotting import import_matplotlib

        import_matplotlib()
        from viz_app.figures import MapPicture, map_figure, save_figure

        view, top = snapshot.view, self._state.top_weight(snapshot.view.weights)
        picture = MapPicture(view.weights, view.row_labels, view.column_labels, snapshot.title, snapshot.caption, top)
        save_figure(map_figure(picture), target)

    def save_page(self, target: Path) -> None:
        """The page as it stands in the window, with a caption. Raises `StorageError`."""
        page, snapshot = self.page, take_snapshot(self._state, self.model)
        if page is None or snapshot is None:
            return

        def paint(painter: QPainter) -> None:
            page.render(painter, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)

        theme = Theme.dark() if page.palette().window().color().lightness() < MIDDLE_GREY else Theme.light()
        save_painted(paint, page.size(), snapshot.caption, theme, target)

    def save_grid(self, target: Path) -> None:
        """All heads as a picture. Raises `StorageError`."""
        from viz_app.train.plotting import import_matplotlib

        import_matplotlib()
        from viz_app.figures import KindPicture, grid_figure, save_figure

        snapshot, translation = take_snapshot(self._state, self.model), self._state.translation
        if snapshot is None or translation is None:
            return
        kinds = []
        for kind in MAP_KINDS:
            maps = self._state.thumbnails(translation, kind)
            tops = [
                [
                    self._state.top_weight(maps[layer, head], HeadChoice(kind, layer, head))
                    for head in range(maps.shape[1])
                ]
                for layer in range(maps.shape[0])
            ]
            kinds.append(KindPicture(KIND_NAMES[kind], maps, tops))
        facts = {name: value for name, value in snapshot.facts.items() if name not in ("map", "hidden", "rows")}
        save_figure(grid_figure(kinds, " · ".join(f"{name}: {value}" for name, value in facts.items())), target)

    def save_table(self, target: Path) -> None:
        """The large map as numbers. Raises `StorageError`."""
        snapshot = take_snapshot(self._state, self.model)
        if snapshot is not None:
            save_numbers(snapshot, self._state, target)

    def copy_picture(self) -> None:
        """The map, as it stands in the window, to the clipboard."""
        QGuiApplication.clipboard().setPixmap(self._map.grab())

    def copy_table(self) -> None:
        """The numbers to the clipboard, with tabs, as spreadsheets read them."""
        view = self._state.view()
        if view is not None:
            QGuiApplication.clipboard().setText(as_table(view, "\t"))

    def _add(self, name: str, text: str, act: Callable[[], None]) -> None:
        action = self.addAction(text)
        action.triggered.connect(lambda _=False: act())
        self.entries[name] = action

    def _asking(self, save: Save, name_filter: str, name: str) -> Callable[[], None]:
        return partial(self._ask, save, name_filter, name)

    def _ask(self, save: Save, name_filter: str, name: str) -> None:
        dialog = QFileDialog(self._map.window(), "Save", name, name_filter)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(name.rpartition(".")[2])
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda chosen: self.try_to(save, Path(chosen)))
        dialog.destroyed.connect(self._forget_dialog)
        self.dialog = dialog
        dialog.open()

    def try_to(self, save: Save, target: Path) -> None:
        """Saves, or says in a dialog why not."""
        try:
            save(target)
        except AugenmerkError as error:
            show_failure(self._map.window(), "It was not saved", Failure.of(error))

    def _forget_dialog(self) -> None:
        self.dialog = None
