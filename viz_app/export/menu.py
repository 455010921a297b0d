"""The export menu of the Translate page: pictures, numbers, a page for the browser, the clipboard."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMenu, QMessageBox, QToolButton, QWidget

from core.errors import AugenmerkError
from viz_app.export.saving import Saving
from viz_app.state.snapshot import as_table
from viz_app.state.translate_state import TranslateState
from viz_app.widgets.dialogs import show_failure
from viz_app.worker import Failure

PICTURES = {"png": "PNG picture (*.png)", "svg": "SVG, shapes and text (*.svg)", "pdf": "PDF, shapes and text (*.pdf)"}
NUMBERS = {"csv": "CSV table (*.csv)", "json": "JSON (*.json)", "npz": "NPZ, for NumPy (*.npz)"}
PAGES = {"html": "Page for the browser (*.html)"}
CAPTIONED = "With a caption: model, sentence, layer, head, measure, what names the rows"
NOTHING = "Nothing to export yet: translate a sentence first"
Save = Callable[[Path], None]


class ExportMenu(QMenu):
    """Takes along what the page shows.

    Attributes:
        saving: writes the files.
        entries: the menu's entries by name: "map", "heads", "page", "numbers", "html", "copy picture", "copy table".
        dialog: the file dialog that is open, or None.
        folder: where the last file went; the next dialog begins there.

    Signals:
        done(str): what was saved or copied, in a few words.
    """

    done = Signal(str)

    def __init__(self, button: QToolButton, state: TranslateState, large_map: QWidget) -> None:
        super().__init__("Export", button)
        self._state = state
        self._map = large_map
        self.saving = Saving(state)
        self.dialog: QFileDialog | None = None
        self.folder = Path()
        self.entries: dict[str, QAction] = {}
        self.setToolTipsVisible(True)
        self._fill()
        self.aboutToShow.connect(self._name_the_map)
        button.setMenu(self)

    def copy_picture(self) -> None:
        """The map, as it stands in the window, to the clipboard."""
        if self._is_shown():
            QGuiApplication.clipboard().setPixmap(self._map.grab())
            self.done.emit("copied the map as a picture")

    def copy_table(self) -> None:
        """The numbers to the clipboard, with tabs, as spreadsheets read them."""
        view = self._state.view()
        if self._is_shown() and view is not None:
            QGuiApplication.clipboard().setText(as_table(view, "\t"))
            self.done.emit("copied the numbers as a table")

    def try_to(self, save: Save, target: Path) -> None:
        """Saves, or says in a dialog why not."""
        QGuiApplication.setOverrideCursor(Qt.CursorShape.WaitCursor)
        try:
            save(target)
        except AugenmerkError as error:
            show_failure(self._map.window(), "It was not saved", Failure.of(error))
        else:
            self.folder = target.parent
            self.done.emit(f"saved {target.name}")
        finally:
            QGuiApplication.restoreOverrideCursor()

    def _fill(self) -> None:
        saving = self.saving
        all_heads = "Every head of every layer, with a caption"
        page = "Everything on this page as it stands now, with a caption"
        numbers = "CSV, JSON: the large map with its labels. NPZ: also the weights of every head"
        html = "One file with every map, for any browser, without a network: choose heads there, point to read values"
        copied = "The large map as it stands in the window, to be pasted elsewhere"
        table = "The large map with its labels, to be pasted into a spreadsheet"
        self._add("map", "", self._asking(saving.save_map, PICTURES, "map"), CAPTIONED, "Ctrl+S")
        self._add(
            "heads", "All heads, small (PNG, SVG, PDF) …", self._asking(saving.save_heads, PICTURES, "heads"), all_heads
        )
        self._add("page", "The whole page (PNG, SVG, PDF) …", self._asking(saving.save_page, PICTURES, "page"), page)
        self.addSeparator()
        self._add(
            "numbers",
            "The numbers (CSV, JSON, NPZ) …",
            self._asking(saving.save_table, NUMBERS, "map"),
            numbers,
            "Ctrl+Shift+S",
        )
        self._add(
            "html", "All maps as a page for the browser (HTML) …", self._asking(saving.save_html, PAGES, "maps"), html
        )
        self.addSeparator()
        self._add("copy picture", "Copy the map as a picture", self.copy_picture, copied, "Ctrl+Shift+C")
        self._add("copy table", "Copy the numbers as a table", self.copy_table, table, "Ctrl+Alt+C")
        self._name_the_map()

    def _add(self, name: str, text: str, act: Callable[[], None], tip: str, keys: str = "") -> None:
        action = self.addAction(text)
        action.setToolTip(tip)
        action.setShortcut(keys)
        action.setShortcutVisibleInContextMenu(True)
        action.triggered.connect(lambda _=False: act())
        self.entries[name] = action

    def _name_the_map(self) -> None:
        how = "as lines" if self._state.picture == "lines" else "as a heatmap"
        self.entries["map"].setText(f"The large map, {how} (PNG, SVG, PDF) …")

    def _is_shown(self) -> bool:
        """Whether there is something to take along; if not, says so."""
        if self._state.translation is None:
            self.done.emit(NOTHING)
        return self._state.translation is not None

    def _asking(self, save: Save, formats: dict[str, str], name: str) -> Callable[[], None]:
        return partial(self._ask, save, formats, name)

    def _ask(self, save: Save, formats: dict[str, str], name: str) -> None:
        if not self._is_shown():
            return
        snapshot = self.saving.snapshot
        name = snapshot.file_name if snapshot is not None and name == "map" else name
        first = next(iter(formats))
        dialog = QFileDialog(self._map.window(), "Export", str(self.folder / name), ";;".join(formats.values()))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(first)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        suffixes = {text: suffix for suffix, text in formats.items()}
        dialog.filterSelected.connect(lambda text: dialog.setDefaultSuffix(suffixes.get(text, first)))
        dialog.fileSelected.connect(lambda chosen: self._save_as(save, Path(chosen), dialog.defaultSuffix()))
        dialog.destroyed.connect(self._forget_dialog)
        self.dialog = dialog
        dialog.open()

    def _save_as(self, save: Save, target: Path, suffix: str) -> None:
        """A name without an ending gets that of the chosen format; the dialog did not ask about a file so named."""
        if target.suffix:
            self.try_to(save, target)
            return
        target = target.with_name(f"{target.name.rstrip('.')}.{suffix}")
        if not target.exists():
            self.try_to(save, target)
            return
        box = QMessageBox(self._map.window())
        box.setText(f"{target.name} is there already.")
        box.setInformativeText("Replace it?")
        replace = box.addButton("Replace", QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        replace.clicked.connect(lambda: self.try_to(save, target))
        box.open()

    def _forget_dialog(self) -> None:
        self.dialog = None
