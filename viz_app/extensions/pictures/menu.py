"""The export menu: pictures, numbers, films, a page for the browser, the clipboard."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMenu, QMessageBox, QProgressDialog, QWidget

from augenmerk.core.errors import AugenmerkError, CheckpointError
from augenmerk.core.model.heads import KIND_TITLES

from ...preferences import Preferences
from ...state.experiment_state import ExperimentState, Progress
from ...state.map_drawings import DRAWINGS
from ...state.model_info import ModelInfo
from ...theme import scales
from ...views.export_source import Exportable
from ...widgets.commands import Command, with_keys
from ...widgets.dialogs import ask_where_to_save, open_box, show_failure
from ...worker.inference import Failure, InferenceWorker, Request
from ...worker.jobs import ModelFreeJob, ShouldStop, Tell
from ..examples.gallery import gallery
from ..widgets.progress_line import ProgressLine
from .film import NO_FFMPEG, Film, FilmHeads, formats, save_film
from .page_lesson import PageLesson
from .page_parts import FirstView
from .saving import Saving, as_file_name, as_table

PICTURES = {
    "png": "PNG picture (*.png)",
    "svg": "SVG, shapes and text (*.svg)",
    "pdf": "PDF, shapes and text (*.pdf)",
}
NUMBERS = {"csv": "CSV table (*.csv)", "json": "JSON (*.json)", "npz": "NPZ, for NumPy (*.npz)"}
WEB_PAGES = {"html": "Page for the browser (*.html)"}
TABLES = {"csv": "CSV table (*.csv)"}
ROWS = {"csv": "CSV table (*.csv)", "json": "JSON (*.json)"}
FILMS = {"gif": "GIF, for any browser (*.gif)", "mp4": "MP4 video (*.mp4)"}
LARGE_MAP = "The current map with its labels and colour scale"
ANALYSIS_TIP = (
    "What the Word tab shows now: the parts of a word, the lens, or the translations by encoder "
    "layer"
)
NUMBERS_TIP = "CSV, JSON: the large map with its labels. NPZ: also the weights of every head"
WEB_PAGE_TIP = (
    "One file with every map, for any browser without a network: choose heads and point at cells "
    "there"
)
RUNNING_TIP = (
    "One file with the model itself, for any browser without a network: type sentences and "
    "change heads there"
)
CHARTS_TIP = "The charts of this run as shown: quantity, scale, smoothing, range, compared runs"
METRICS_TIP = (
    "One line per step of this run: loss, rate, gradient norm, speed, and the validation results"
)
CAPTIONED = (
    "Captions state what pictures show: model, sentence, changes, layer, head, measure, labels"
)
PREFIX = "Export: "
"""Prefix of titles outside the menu."""
WIDTH_PX = 380
SaveTo = Callable[[Saving, Path], None]


@dataclass(frozen=True)
class Export:
    """An entry of the menu that writes a file.

    Attributes:
        title: as of a `Command`.
        tip: as of a `Command`.
        keys: as of a `Command`.
        save: writes the file; for a film, the choice of its heads; "model" for a page that runs the
            model. Films and such pages are written in a thread.
        formats: their names by suffix.
        needs: the required content.
    """

    title: str
    tip: str
    save: SaveTo | FilmHeads | Literal["model"]
    formats: dict[str, str]
    needs: Literal["page", "map", "table", "model", "charts", "run", "film"]
    keys: str = ""


NOTHING = "Nothing to export yet: no map is shown"
NO_TABLE = "Nothing to export yet: open the tab Word of the analysis panel"
MISSING = {
    "map": NOTHING,
    "table": NO_TABLE,
    "model": "Nothing to export yet: no model is open",
} | {
    name: f"Nothing to export yet: the Train page shows no {name}"
    for name in ("charts", "run", "film")
}
"""The message if there is nothing to export, by `Export.needs`."""
EXPORT_GROUPS: tuple[dict[str, Export], ...] = (
    {
        "map": Export(
            "The large map (PNG, SVG, PDF)…", LARGE_MAP, Saving.save_map, PICTURES, "map", "Ctrl+S"
        ),
        "heads": Export(
            "All heads, small (PNG, SVG, PDF)…",
            "Every head of every layer",
            Saving.save_heads,
            PICTURES,
            "map",
        ),
        "page": Export(
            "The whole page (PNG, SVG, PDF)…",
            "Everything on this page as shown",
            Saving.save_page,
            PICTURES,
            "page",
        ),
    },
    {
        "numbers": Export(
            "The numbers (CSV, JSON, NPZ)…",
            NUMBERS_TIP,
            Saving.save_table,
            NUMBERS,
            "map",
            "Ctrl+Shift+S",
        ),
        "analysis": Export(
            "The numbers of the analysis tab (CSV, JSON)…",
            ANALYSIS_TIP,
            Saving.save_analysis,
            ROWS,
            "table",
        ),
        "html": Export(
            "All maps as a page for the browser (HTML)…",
            WEB_PAGE_TIP,
            Saving.save_html,
            WEB_PAGES,
            "map",
        ),
        "running page": Export(
            "Page that runs the model (HTML)…", RUNNING_TIP, "model", WEB_PAGES, "model"
        ),
    },
    {
        "charts": Export(
            "The charts (PNG, SVG, PDF)…", CHARTS_TIP, Saving.save_charts, PICTURES, "charts"
        ),
        "metrics": Export(
            "The metrics of every step (CSV)…", METRICS_TIP, Saving.save_metrics, TABLES, "run"
        ),
        "film": Export("The film of this head…", "", "head", FILMS, "film"),
        "film of layer": Export("The film of all heads of this layer…", "", "layer", FILMS, "film"),
        "film of kind": Export("The film of all heads of this kind…", "", "kind", FILMS, "film"),
    },
)
"""The entries of the menu that write files, by name, between separators."""
FILES = {name: export for group in EXPORT_GROUPS for name, export in group.items()}
OF_RUNS = tuple(name for name, export in FILES.items() if export.needs in ("charts", "run", "film"))


@dataclass(frozen=True, eq=False)
class FilmJob(ModelFreeJob):
    """Writes a film; the result is a note on it."""

    film: Film
    target: Path
    what: ClassVar[str] = "film"

    def work(self, progress: Tell, should_stop: ShouldStop) -> str:
        """See `ModelFreeJob.work`. Stopping leaves an existing file unchanged, and no new one."""
        save_film(
            self.film, self.target, lambda done, total: progress(Progress(done, total)), should_stop
        )
        return ""


@dataclass(frozen=True, eq=False)
class WebPageJob(ModelFreeJob):
    """Writes a page that runs a model; the result is a note on its size."""

    model: ModelInfo
    first: FirstView
    target: Path
    lesson: PageLesson | None = None
    what: ClassVar[str] = "page"

    def work(self, progress: Tell, should_stop: ShouldStop) -> str:
        """See `ModelFreeJob.work`."""
        from augenmerk.core.checkpoint.file import load_checkpoint

        from .running_page import save_running_page

        if self.model.path is None:
            raise CheckpointError("This model has no file. Save it as a checkpoint and open that.")
        examples = gallery() if self.model.is_bundled else ()
        checkpoint = load_checkpoint(self.model.path)
        name, roles = self.model.title, self.model.roles
        packed = save_running_page(
            checkpoint, name, self.target, self.first, examples, self.lesson, roles
        )
        return " ".join(filter(None, (f"{self.target.stat().st_size / 1e6:.1f} MB.", packed.note)))


class WritingDialog(QProgressDialog):
    """Writes one file in its own thread, then closes.

    Signals:
        saved(str): the file was written; with a note, which may be empty.
        failed(Failure): it could not be written.
    """

    saved = Signal(str)
    failed = Signal(object)

    def __init__(self, job: FilmJob | WebPageJob, parent: QWidget) -> None:
        super().__init__(f"Preparing {job.target.name}…", "Cancel", 0, 0, parent)
        self._job = job
        self._worker = InferenceWorker(parent=self)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"Export the {job.what}")
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self._bar = ProgressLine()
        self.setBar(self._bar)
        scales(self.setMinimumWidth, WIDTH_PX)
        self.canceled.connect(self.reject)
        # stops a film, which ends within a moment
        self.finished.connect(lambda: self._worker.close())

    def begin(self) -> None:
        """Shows the dialog and begins."""
        self.show()
        self._worker.submit(
            Request(self._job, self, self._on_saved, self._on_failure, self._on_progress)
        )

    def _on_progress(self, progress: Progress) -> None:
        self.setLabelText(
            f"{self._job.target.name}: picture {progress.done:,} of {progress.total:,}"
        )
        # `setValue` of a modal dialog would process events
        self._bar.set_fraction(progress.done / progress.total)

    def _on_saved(self, note: object) -> None:
        self.accept()
        self.saved.emit(note)

    def _on_failure(self, failure: Failure) -> None:
        self.reject()
        self.failed.emit(failure)


class ExportMenu(QMenu):
    """Exports the contents of the current page.

    Args:
        page_in_sight: returns the page in view, for each export.
        preferences: remembers whether pictures have captions.

    Attributes:
        entries: the menu's entries by name: "map", "heads", "page", "numbers", "html", "running
            page", "copy picture", "copy table", and "caption", which is checked while pictures have
            one; where a run is shown also "charts", "metrics", "film", "film of layer" and "film of
            kind".
        dialog: the file dialog that is open, or None.
        writing_dialog: the progress of a film or a page being written; else None.
        folder: the folder of the last file, in which the next dialog begins.

    Signals:
        done(str): a short message that something was saved or copied.
    """

    done = Signal(str)

    def __init__(
        self,
        page_in_sight: Callable[[], Exportable],
        preferences: Preferences,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("Export", parent)
        self._page_in_sight, self._preferences = page_in_sight, preferences
        self.dialog: QFileDialog | None = None
        self.writing_dialog: WritingDialog | None = None
        self.folder = Path()
        self.entries: dict[str, QAction] = {}
        self.setToolTipsVisible(True)
        self._fill()
        self.aboutToShow.connect(self._fit_entries)

    @property
    def saving(self) -> Saving:
        """Writes files of the contents in view."""
        return Saving(
            self._page_in_sight().export_source(), has_caption=self._preferences.exports_captions
        )

    def shutdown(self) -> None:
        """Cancels a file being written when the window closes."""
        if self.writing_dialog is not None:
            self.writing_dialog.reject()

    def offers(self, needs: str) -> bool:
        """Whether the page has the content that an entry needs, see `Export.needs`."""
        source = self._page_in_sight().export_source()
        if needs in ("charts", "run", "film"):
            return source.run is not None and (needs != "film" or source.run.has_film)
        if needs == "table":
            return source.table is not None and source.has_maps
        if needs == "model":
            return source.state is not None and source.state.model is not None
        return needs == "page" or source.has_maps

    def ask(self, name: str) -> None:
        """Asks for the path of an export by its name; reports if there is nothing to export."""
        export = FILES[name]
        saving = self.saving
        if not self.offers(export.needs):
            self.done.emit(MISSING[export.needs])
            return
        save = (
            partial(self._begin, export.save)
            if isinstance(export.save, str)
            else partial(self._try, export.save)
        )
        known = {
            kind: text
            for kind, text in export.formats.items()
            if kind not in FILMS or kind in formats()
        }
        dialog = ask_where_to_save(
            saving.source.page.window(),
            "Export",
            self.folder / self._file_name(saving, name),
            lambda chosen: self._save_as(save, saving, chosen, dialog.defaultSuffix()),
            known,
        )
        dialog.destroyed.connect(self._forget_dialog)
        self.dialog = dialog

    def _begin(self, kind: FilmHeads | Literal["model"], saving: Saving, target: Path) -> None:
        """Writes a film or a page in its own thread; a dialog reports a failure."""
        job = _job(kind, saving, target)
        if job is None or self.writing_dialog is not None:
            return
        window = saving.source.page.window()
        dialog = self.writing_dialog = WritingDialog(job, window)
        dialog.saved.connect(lambda note: self._report_saved(target, note))
        dialog.failed.connect(
            lambda failure: show_failure(window, f"The {job.what} was not saved", failure)
        )
        dialog.finished.connect(self._forget_writing)
        dialog.begin()

    def _forget_writing(self) -> None:
        self.writing_dialog = None

    def _report_saved(self, target: Path, note: str = "") -> None:
        self.folder = target.parent
        self.done.emit(f"saved {target.name}" + (f": {note}" if note else ""))

    def copy_picture(self) -> None:
        """Copies the large map as a picture, as drawn in the window."""
        large_map = self._page_in_sight().export_source().large_map
        if large_map is None or not self.offers("map"):
            self.done.emit(NOTHING)
        else:
            QGuiApplication.clipboard().setPixmap(large_map.grab())
            self.done.emit("copied the map as a picture")

    def copy_table(self) -> None:
        """Copies the numbers, separated by tabs for spreadsheets."""
        snapshot = self.saving.snapshot
        if snapshot is None or not self.offers("map"):
            self.done.emit(NOTHING)
        else:
            QGuiApplication.clipboard().setText(as_table(snapshot.view, "\t"))
            self.done.emit("copied the numbers as a table")

    def _try(self, save: SaveTo, saving: Saving, target: Path) -> None:
        """Saves a file; a dialog reports a failure."""
        QGuiApplication.setOverrideCursor(Qt.CursorShape.WaitCursor)
        try:
            save(saving, target)
        except AugenmerkError as error:
            show_failure(saving.source.page.window(), "It was not saved", Failure.of(error))
        else:
            self._report_saved(target)
        finally:
            QGuiApplication.restoreOverrideCursor()

    def _fill(self) -> None:
        for names in (*map(list, EXPORT_GROUPS), list(COPY_COMMANDS)):
            for name in names:
                self.entries[name] = (
                    EXPORTS[name].on(self).add_to(self, EXPORTS[name].title.removeprefix(PREFIX))
                )
            self.addSeparator()
        self.entries["caption"] = self.addAction("With caption")
        self.entries["caption"].setToolTip(CAPTIONED)
        self.entries["caption"].setCheckable(True)
        self.entries["caption"].setChecked(self._preferences.exports_captions)
        self.entries["caption"].triggered.connect(self._remember_caption)

    def _remember_caption(self) -> None:
        self._preferences.exports_captions = self.entries["caption"].isChecked()

    def _fit_entries(self) -> None:
        """Updates the name of the large map and the available entries."""
        source = self._page_in_sight().export_source()
        name = source.state.settings.known_picture if source.state is not None else "heatmap"
        drawing = DRAWINGS[name].exported_as
        self.entries["map"].setText(
            with_keys(f"The large map, {drawing} (PNG, SVG, PDF)…", EXPORTS["map"])
        )
        self._name_films(source.state)
        for name, command in EXPORTS.items():
            needed: object = source.table if name == "analysis" else source
            if name in OF_RUNS:
                needed = source.run
            self.entries[name].setVisible(needed is not None)
            self.entries[name].setEnabled(command.is_offered(self))

    def _name_films(self, state: ExperimentState | None) -> None:
        has_mp4 = "mp4" in formats()
        kinds = f"(GIF{', MP4' if has_mp4 else '; MP4 needs ffmpeg'})…"
        where = (
            KIND_TITLES[state.selection.head.kind].lower()
            if state is not None
            else "this kind of attention"
        )
        layer = f"layer {state.selection.head.layer + 1}" if state is not None else "this layer"
        for name, whose, what in (
            ("film", "this head", "this head's map changes"),
            (
                "film of layer",
                f"all heads of {layer}",
                f"the maps of all heads of {layer} ({where}) change",
            ),
            (
                "film of kind",
                f"all heads of {where}",
                f"the maps of all heads of {where} change, layer by layer",
            ),
        ):
            how = f"How {what} while the model is trained: a picture for each validation"
            self.entries[name].setText(f"The film of {whose} {kinds}")
            self.entries[name].setToolTip(how if has_mp4 else f"{how}. {NO_FFMPEG}.")

    def _file_name(self, saving: Saving, name: str) -> str:
        """The proposed path of a file."""
        run = saving.source.run
        snapshot = saving.snapshot
        save = FILES[name].save
        if run is not None and name in OF_RUNS:
            return (
                run.film_name(save)
                if isinstance(save, str) and save != "model"
                else f"{run.name}-{name}"
            )
        if snapshot is not None and name in ("map", "numbers"):
            return snapshot.file_name
        if name == "analysis" and saving.source.table is not None:
            return saving.source.table.name
        if name == "page" and saving.source.caption:
            return as_file_name(saving.source.caption)
        return {"html": "maps", "running page": "lab"}.get(name, name)

    def _save_as(self, write: SaveTo, saving: Saving, target: Path, suffix: str) -> None:
        """Writes a file, adding the chosen format's ending if there is none; asks before replacing
        another file.
        """
        if target.suffix:
            write(saving, target)
            return
        target = target.with_name(f"{target.name.rstrip('.')}.{suffix}")
        if not target.exists():
            write(saving, target)
            return
        box = QMessageBox(saving.source.page.window())
        box.setText(f"{target.name} is there already.")
        replace = box.addButton("Replace", QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        replace.clicked.connect(lambda: write(saving, target))
        open_box(box, "Replace it?")

    def _forget_dialog(self) -> None:
        self.dialog = None


def _job(
    kind: FilmHeads | Literal["model"], saving: Saving, target: Path
) -> FilmJob | WebPageJob | None:
    """The job that writes a file; None without its content."""
    if kind == "model":
        state = saving.source.state
        if state is None or state.model is None:
            return None
        first = FirstView(state.experiment.source_text, state.selection.head)
        return WebPageJob(state.model, first, target)
    film = saving.film(kind)
    return None if film is None else FilmJob(film, target)


COPY_COMMANDS = {
    "copy picture": Command(
        "Copy the map as a picture",
        ExportMenu.copy_picture,
        keys=("Ctrl+Shift+C",),
        group="Files",
        tip="Copy the large map as a picture",
        is_offered=lambda menu: menu.offers("map"),
    ),
    "copy table": Command(
        "Copy the numbers as a table",
        ExportMenu.copy_table,
        keys=("Ctrl+Alt+C",),
        group="Files",
        tip="Copy the large map with its labels, for a spreadsheet",
        search_words="rows, columns, spreadsheet",
        is_offered=lambda menu: menu.offers("map"),
    ),
}
EXPORTS = {
    name: Command[ExportMenu](
        f"{PREFIX}{export.title}",
        partial(ExportMenu.ask, name=name),
        keys=(export.keys,) if export.keys else (),
        group="Files",
        tip=export.tip,
        is_offered=partial(ExportMenu.offers, needs=export.needs),
    )
    for name, export in FILES.items()
} | COPY_COMMANDS
"""The commands of the menu, by name."""
