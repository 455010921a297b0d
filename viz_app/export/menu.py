"""The export menu: pictures, numbers, a page for the browser, the clipboard."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMenu, QMessageBox, QWidget

from augenmerk.core.errors import AugenmerkError
from augenmerk.core.model.heads import KIND_TITLES
from augenmerk.viz_app.export.exportable import Exportable
from augenmerk.viz_app.export.film import NO_FFMPEG, FilmHeads, formats
from augenmerk.viz_app.export.film_dialog import FilmDialog
from augenmerk.viz_app.export.saving import Saving
from augenmerk.viz_app.export.snapshot import as_table
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.widgets.commands import Command, with_keys
from augenmerk.viz_app.widgets.dialogs import ask_where_to_save, show_failure
from augenmerk.viz_app.worker.inference import Failure

PICTURES = {"png": "PNG picture (*.png)", "svg": "SVG, shapes and text (*.svg)", "pdf": "PDF, shapes and text (*.pdf)"}
NUMBERS = {"csv": "CSV table (*.csv)", "json": "JSON (*.json)", "npz": "NPZ, for NumPy (*.npz)"}
PAGES = {"html": "Page for the browser (*.html)"}
TABLES = {"csv": "CSV table (*.csv)"}
FILMS = {"gif": "GIF, for any browser (*.gif)", "mp4": "MP4 video (*.mp4)"}
CAPTIONED = "Captions state what pictures show: model, sentence, changes, layer, head, measure, labels"
LARGE_MAP = "The current map with its labels and colour scale"
PREFIX = "Export: "
"""Of titles, where no menu says what they belong to."""
NOTHING = "Nothing to export yet: no map is shown"
OF_MAPS = ("map", "heads", "numbers", "html", "copy picture", "copy table")
"""Entries that need a map; the others concern the whole page."""
NO_FILM = "Nothing to export yet: the Train page shows no film"
OF_FILMS: dict[str, FilmHeads] = {"film": "head", "film of layer": "layer", "film of kind": "kind"}
"""Entries that write a film, and whose heads it shows."""
OF_RUNS = {
    "charts": "Nothing to export yet: the Train page shows no charts",
    "metrics": "Nothing to export yet: the Train page shows no run",
    "film": NO_FILM,
    "film of layer": NO_FILM,
    "film of kind": NO_FILM,
}
"""Entries that need a training run, and what is said without."""
SaveTo = Callable[[Saving, Path], None]


class ExportMenu(QMenu):
    """Exports the contents of the current page.

    Args:
        page_in_sight: the page that the user looks at; asked anew for each export.
        preferences: remembers whether pictures have captions.

    Attributes:
        entries: the menu's entries by name: "map", "heads", "page", "numbers", "html", "copy picture", "copy table",
            and "caption", which is checked while pictures have one; where a run is shown also "charts", "metrics",
            "film", "film of layer" and "film of kind".
        dialog: the file dialog that is open, or None.
        film_dialog: what shows that a film is being written; None while none is.
        folder: where the last file went; the next dialog begins there.

    Signals:
        done(str): what was saved or copied, in a few words.
    """

    done = Signal(str)

    def __init__(
        self, page_in_sight: Callable[[], Exportable], preferences: Preferences, parent: QWidget | None = None
    ) -> None:
        super().__init__("Export", parent)
        self._page_in_sight, self._preferences = page_in_sight, preferences
        self.dialog: QFileDialog | None = None
        self.film_dialog: FilmDialog | None = None
        self.folder = Path()
        self.entries: dict[str, QAction] = {}
        self.setToolTipsVisible(True)
        self._fill()
        self.aboutToShow.connect(self._fit_entries)
        self.aboutToHide.connect(self._enable_all)

    @property
    def saving(self) -> Saving:
        """Writes files of the contents in view."""
        return Saving(self._page_in_sight().export_source(), has_caption=self._preferences.exports_captions)

    def shutdown(self) -> None:
        """Cancels a film being written when the window closes."""
        if self.film_dialog is not None:
            self.film_dialog.reject()

    def fit(self) -> None:
        """Shows the exports that the current page offers."""
        self._fit_entries()
        self._enable_all()

    def offers(self, name: str) -> bool:
        """Whether the entry of this name can export something now."""
        source = self._page_in_sight().export_source()
        if name in OF_RUNS:
            return source.run is not None and (name not in OF_FILMS or source.run.has_film)
        return name not in OF_MAPS or source.has_maps

    def ask(self, name: str) -> None:
        """Asks for the path of an export by its name; reports if there is nothing to export."""
        if not self.offers(name):
            self.done.emit(OF_RUNS.get(name, NOTHING))
        elif name in OF_FILMS:
            known = {kind: text for kind, text in FILMS.items() if kind in formats()}
            self._ask(partial(self.save_film, OF_FILMS[name]), known, name)
        else:
            save, kinds, file_name = WRITERS[name]
            self._ask(partial(self.try_to, save), kinds, file_name)

    def save_film(self, heads: FilmHeads, saving: Saving, target: Path) -> None:
        """Writes the film of these heads in its own thread; a dialog reports a failure."""
        film = saving.film(heads)
        if film is None or self.film_dialog is not None:
            return
        dialog = FilmDialog(film, target, saving.source.page.window())

        def forget() -> None:
            self.film_dialog = None

        def tell() -> None:
            self.folder = target.parent
            self.done.emit(f"saved {target.name}")

        dialog.saved.connect(tell)
        dialog.failed.connect(
            lambda failure: show_failure(saving.source.page.window(), "The film was not saved", failure)
        )
        dialog.finished.connect(forget)
        self.film_dialog = dialog
        dialog.begin()

    def copy_picture(self) -> None:
        """Copies the large map as a picture, as drawn in the window."""
        large_map = self._page_in_sight().export_source().large_map
        if self._has_maps() and large_map is not None:
            QGuiApplication.clipboard().setPixmap(large_map.grab())
            self.done.emit("copied the map as a picture")

    def copy_table(self) -> None:
        """Copies the numbers, separated by tabs for spreadsheets."""
        snapshot = self.saving.snapshot
        if self._has_maps() and snapshot is not None:
            QGuiApplication.clipboard().setText(as_table(snapshot.view, "\t"))
            self.done.emit("copied the numbers as a table")

    def try_to(self, save: SaveTo, saving: Saving, target: Path) -> None:
        """Saves a file; a dialog reports a failure."""
        QGuiApplication.setOverrideCursor(Qt.CursorShape.WaitCursor)
        try:
            save(saving, target)
        except AugenmerkError as error:
            show_failure(saving.source.page.window(), "It was not saved", Failure.of(error))
        else:
            self.folder = target.parent
            self.done.emit(f"saved {target.name}")
        finally:
            QGuiApplication.restoreOverrideCursor()

    def _fill(self) -> None:
        for group in EXPORT_GROUPS:
            for name, command in group.items():
                self.entries[name] = command.on(self).add_to(self, command.title.removeprefix(PREFIX))
            self.addSeparator()
        self.entries["caption"] = self.addAction("With caption")
        self.entries["caption"].setToolTip(CAPTIONED)
        self.entries["caption"].setCheckable(True)
        self.entries["caption"].setChecked(self._preferences.exports_captions)
        self.entries["caption"].triggered.connect(self._remember_caption)
        self._fit_entries()
        self._enable_all()

    def _remember_caption(self) -> None:
        self._preferences.exports_captions = self.entries["caption"].isChecked()

    def _fit_entries(self) -> None:
        """Updates the name of the large map and the available entries."""
        source = self._page_in_sight().export_source()
        is_lines = source.state is not None and source.state.settings.picture == "lines"
        drawn = "as lines" if is_lines else "as a heatmap"
        self.entries["map"].setText(with_keys(f"The large map, {drawn} (PNG, SVG, PDF)…", EXPORTS["map"]))
        self._name_films(source.state)
        for name in EXPORTS:
            self.entries[name].setVisible(name not in OF_RUNS or source.run is not None)
            self.entries[name].setEnabled(self.offers(name))

    def _name_films(self, state: ExperimentState | None) -> None:
        has_mp4 = "mp4" in formats()
        kinds = f"(GIF{', MP4' if has_mp4 else '; MP4 needs ffmpeg'})…"
        where = KIND_TITLES[state.selection.head.kind].lower() if state is not None else "this kind of attention"
        layer = f"layer {state.selection.head.layer + 1}" if state is not None else "this layer"
        for name, whose, what in (
            ("film", "this head", "this head's map changes"),
            ("film of layer", f"all heads of {layer}", f"the maps of all heads of {layer} ({where}) change"),
            ("film of kind", f"all heads of {where}", f"the maps of all heads of {where} change, layer by layer"),
        ):
            how = f"How {what} while the model is trained: a picture for each validation"
            self.entries[name].setText(f"The film of {whose} {kinds}")
            self.entries[name].setToolTip(how if has_mp4 else f"{how}. {NO_FFMPEG}.")

    def _enable_all(self) -> None:
        """Enables all entries, so that their keys can report why nothing is exported."""
        for action in self.entries.values():
            action.setEnabled(True)

    def _has_maps(self) -> bool:
        """Whether there is a map to export; reports if there is none."""
        has_maps = self._page_in_sight().export_source().has_maps
        if not has_maps:
            self.done.emit(NOTHING)
        return has_maps

    def _file_name(self, saving: Saving, name: str) -> str:
        """The proposed path of a file."""
        run, snapshot = saving.source.run, saving.snapshot
        if run is not None and name in OF_RUNS:
            return run.film_name(OF_FILMS[name]) if name in OF_FILMS else f"{run.name}-{name}"
        return snapshot.file_name if snapshot is not None and name == "map" else name

    def _ask(self, write: SaveTo, formats: dict[str, str], name: str) -> None:
        saving = self.saving
        name = self._file_name(saving, name)
        dialog = ask_where_to_save(
            saving.source.page.window(),
            "Export",
            self.folder / name,
            lambda chosen: self._save_as(write, saving, chosen, dialog.defaultSuffix()),
            formats,
        )
        dialog.destroyed.connect(self._forget_dialog)
        self.dialog = dialog

    def _save_as(self, write: SaveTo, saving: Saving, target: Path, suffix: str) -> None:
        """Writes a file, adding the chosen format's ending if there is none; asks before replacing another file."""
        if target.suffix:
            write(saving, target)
            return
        target = target.with_name(f"{target.name.rstrip('.')}.{suffix}")
        if not target.exists():
            write(saving, target)
            return
        box = QMessageBox(saving.source.page.window())
        box.setText(f"{target.name} is there already.")
        box.setInformativeText("Replace it?")
        replace = box.addButton("Replace", QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        replace.clicked.connect(lambda: write(saving, target))
        box.open()

    def _forget_dialog(self) -> None:
        self.dialog = None


def _export(name: str, text: str, tip: str = "", keys: str = "") -> Command[ExportMenu]:
    """Asks for the path of a file."""
    return Command(
        f"{PREFIX}{text}",
        lambda menu: menu.ask(name),
        keys=(keys,) if keys else (),
        group="Files",
        tip=tip,
        is_offered=lambda menu: menu.offers(name),
    )


WRITERS: dict[str, tuple[SaveTo, dict[str, str], str]] = {
    "map": (Saving.save_map, PICTURES, "map"),
    "heads": (Saving.save_heads, PICTURES, "heads"),
    "page": (Saving.save_page, PICTURES, "page"),
    "numbers": (Saving.save_table, NUMBERS, "map"),
    "html": (Saving.save_html, PAGES, "maps"),
    "charts": (Saving.save_charts, PICTURES, "charts"),
    "metrics": (Saving.save_metrics, TABLES, "metrics"),
}
"""What writes an export, in which formats, and the proposed name of the file."""
EXPORT_GROUPS: tuple[dict[str, Command[ExportMenu]], ...] = (
    {
        "map": _export("map", "The large map (PNG, SVG, PDF)…", LARGE_MAP, "Ctrl+S"),
        "heads": _export("heads", "All heads, small (PNG, SVG, PDF)…", "Every head of every layer"),
        "page": _export("page", "The whole page (PNG, SVG, PDF)…", "Everything on this page as shown"),
    },
    {
        "numbers": _export(
            "numbers",
            "The numbers (CSV, JSON, NPZ)…",
            "CSV, JSON: the large map with its labels. NPZ: also the weights of every head",
            "Ctrl+Shift+S",
        ),
        "html": _export(
            "html",
            "All maps as a page for the browser (HTML)…",
            "One file with every map, for any browser without a network: choose heads and point at cells there",
        ),
    },
    {
        "charts": _export(
            "charts",
            "The charts (PNG, SVG, PDF)…",
            "The charts of this run as shown: quantity, scale, smoothing, range, compared runs",
        ),
        "metrics": _export(
            "metrics",
            "The metrics of every step (CSV)…",
            "One line per step of this run: loss, rate, gradient norm, speed, and the validation results",
        ),
        "film": _export("film", "The film of this head…"),
        "film of layer": _export("film of layer", "The film of all heads of this layer…"),
        "film of kind": _export("film of kind", "The film of all heads of this kind…"),
    },
    {
        "copy picture": Command(
            "Copy the map as a picture",
            ExportMenu.copy_picture,
            keys=("Ctrl+Shift+C",),
            group="Files",
            tip="Copy the large map as a picture",
            is_offered=lambda menu: menu.offers("copy picture"),
        ),
        "copy table": Command(
            "Copy the numbers as a table",
            ExportMenu.copy_table,
            keys=("Ctrl+Alt+C",),
            group="Files",
            tip="Copy the large map with its labels, for a spreadsheet",
            is_offered=lambda menu: menu.offers("copy table"),
        ),
    },
)
"""The entries of the menu, by name, between separators."""
EXPORTS = {name: command for group in EXPORT_GROUPS for name, command in group.items()}
