"""The dialog that imports a model of another project: what it is, where it is saved, how far it is."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIntValidator
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from augenmerk.core.durations import duration
from augenmerk.core.text.languages import UNDETERMINED, language_code, language_name
from augenmerk.viz_app.models.import_job import Imported, ImportJob, InspectJob
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.request_state import Progress
from augenmerk.viz_app.theme import GAP, PAGE_MARGIN
from augenmerk.viz_app.widgets.choice_menu import ChoiceMenu
from augenmerk.viz_app.widgets.parts import label
from augenmerk.viz_app.widgets.progress_line import ProgressLine
from augenmerk.viz_app.worker import Failure, InferenceWorker, Request

if TYPE_CHECKING:
    from augenmerk.core.interop.model import ImportSummary

WIDTH_PX = 560
LIST_ROW, NAME_ROW, SOURCE_ROW, TARGET_ROW, HEADS_ROW, DATA_ROW, PRECISION_ROW, SAVE_ROW = range(8)
SUFFIX = ".safetensors"
MAX_HEADS = 512
_MEGABYTE, _GIGABYTE = 1e6, 1e9
_PRECISIONS: dict[str, bool | None] = {"auto": None, "half": True, "full": False}
_LARGE_BYTES = 100_000_000  # as of core.interop.model, which comes with torch
_ROUNDED = "three digits of each weight are kept"


class ImportDialog(QDialog):
    """Imports one model of another project, a folder or a file.

    Attributes:
        about: what is known of it.
        data_edit, heads_edit: a folder with Multi30k, and the number of heads, for a PyTorch file alone.
        source_edit, target_language_edit: codes or English names of the languages, where the files may not say them.
        precision: how many bits of each weight are stored, and what the file takes.
        target_edit: the file that it becomes.
        import_button, cancel_button: begins; stops what runs, or closes.
        status, progress: what is being done, and how far it is.
        problem: why it was not imported.

    Signals:
        imported(Path): the model is saved there, or was before.
        imported_as(str): what was imported just now, in words.
    """

    imported = Signal(object)
    imported_as = Signal(str)

    def __init__(
        self, source: Path | None, worker: InferenceWorker, preferences: Preferences, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._source, self._worker, self._preferences = source, worker, preferences
        self._request: Request | None = None
        self._names_target = True
        self._summary: ImportSummary | None = None
        self.precision = ChoiceMenu(
            "How many bits of each weight are stored. 16 keep three digits; the file is half as large.",
            precision_entries(None, None),
            has_arrow_keys=True,
        )
        self.precision.show_choice("auto")
        self.about, self.status, self.problem = label("muted", wraps=True), label("small"), label("warm", wraps=True)
        self.problem.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)  # it may name lines to run
        self.data_edit, self.target_edit = QLineEdit(self), QLineEdit(self)
        self.heads_edit = QLineEdit(self)
        self.source_edit, self.target_language_edit = QLineEdit(self), QLineEdit(self)
        for edit in (self.data_edit, self.heads_edit, self.source_edit, self.target_language_edit):
            edit.hide()  # shown where it is needed
        self.import_button, self.cancel_button = QPushButton("Import"), QPushButton("Cancel")
        self.progress = ProgressLine()
        self._fields = QWidget()
        self._grid = QGridLayout(self._fields)
        self._column = QVBoxLayout(self)
        self._lay_out()
        self.target_edit.textEdited.connect(self._on_target_edited)
        self.precision.chosen.connect(self._on_precision)
        self.import_button.clicked.connect(self._begin)
        self.cancel_button.clicked.connect(self.reject)
        if source is not None:
            self._introduce(source)

    @property
    def is_running(self) -> bool:
        """Whether a model is being imported."""
        return self._request is not None and isinstance(self._request.job, ImportJob) and not self._request.is_over

    @property
    def source(self) -> str | Path | None:
        """What is to be imported; None if nothing is named yet."""
        return self._source

    def reject(self) -> None:
        """Cancels: what runs ends at its next stage, and nothing of it arrives here."""
        if self._request is not None:
            self._request.cancel()
        super().reject()

    # --- what it is ----------------------------------------------------------------------------------------------

    def _introduce(self, source: Path) -> None:
        self.setWindowTitle(f"Import {source.name}")
        self._suggest_target(source.stem if source.is_file() else source.name)
        self._show_about()
        if source.is_dir():
            self.import_button.setEnabled(False)  # until it is known what it takes
            self.status.setText("Looking at the files…")
            self.status.show()
            self._request = self._worker.submit(
                Request(InspectJob(source), self, on_result=self._on_summary, on_error=self._on_error)
            )
        else:
            self._add_file_rows()
            with suppress(OSError):  # it is gone: importing tells
                self._offer_precisions(precision_entries(source.stat().st_size, None))

    def _show_about(self) -> None:
        """What it is, and what it takes as far as that is known."""
        source, summary = self._source, self._summary
        if source is None:
            return
        where = "folder" if source.is_dir() else "file"
        text = (
            f"This {where} is a model of another project:\n{source}\n"
            "It is imported once, into a file that Augenmerk opens. The original stays as it is."
        )
        chosen = _PRECISIONS[self.precision.choice]
        self.about.setText(text if summary is None else f"{text}\n\n{describe(summary.stored_as(chosen))}")

    def _offer_precisions(self, entries: "dict[str, tuple[str, str]]") -> None:
        self.precision.set_entries(entries)
        self.precision.show_choice(self.precision.choice)

    def _on_precision(self, name: str) -> None:
        self.precision.show_choice(name)
        self._show_about()
        self._fit()

    def _on_summary(self, summary: "ImportSummary") -> None:
        self._summary = summary
        self._offer_precisions(precision_entries(summary.disk_bytes_in(half_precision=False), summary.stored_as(None)))
        self._show_about()
        self.status.clear()
        self.status.hide()
        self.import_button.setEnabled(True)
        if summary.misses_languages:
            self._add_language_rows("its code, such as de, or its English name; the files do not say it")
            for code, edit in zip(summary.languages, (self.source_edit, self.target_language_edit), strict=True):
                edit.setText("" if code == UNDETERMINED else code)
        (self.source_edit if summary.misses_languages else self.import_button).setFocus()  # Enter imports
        self._fit()

    def _add_language_rows(self, hint: str) -> tuple[QWidget, ...]:
        """The fields for languages; returns them and their titles."""
        edits = self.source_edit, self.target_language_edit
        titles = [
            self._add_row(name, edit, None, row)
            for name, edit, row in zip(
                ("Source language", "Target language"), edits, (SOURCE_ROW, TARGET_ROW), strict=True
            )
        ]
        for edit in edits:
            edit.setPlaceholderText(hint)
            edit.show()
        return (*edits, *titles)

    def _add_file_rows(self) -> None:
        self.heads_edit.show()
        self.heads_edit.setValidator(QIntValidator(1, MAX_HEADS, self.heads_edit))
        self.heads_edit.setPlaceholderText("8, as published; the file does not say it")
        self._add_row("Heads of each layer", self.heads_edit, None, HEADS_ROW)
        self.data_edit.show()
        self.data_edit.setPlaceholderText("for notebook 6 and the Annotated Transformer")
        choose = QPushButton("Choose…")
        choose.clicked.connect(self._choose_data)
        self._add_row("Folder with Multi30k", self.data_edit, choose, DATA_ROW)

    def _choose_data(self) -> None:
        dialog = QFileDialog(self, "The folder with Multi30k", self.data_edit.text())
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.data_edit.setText)
        dialog.open()

    # --- where it is saved ---------------------------------------------------------------------------------------

    def _suggest_target(self, name: str) -> None:
        """Unless the user named a file: one that nothing else stands in."""
        if self._names_target:
            self.target_edit.setText(str(free_target(self._preferences, self.source, name)))

    def _on_target_edited(self) -> None:
        self._names_target = False

    def _choose_target(self) -> None:
        dialog = QFileDialog(self, "Save the imported model", self.target_edit.text(), f"Models (*{SUFFIX})")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(SUFFIX.removeprefix("."))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self._take_target)
        dialog.open()

    def _take_target(self, name: str) -> None:
        self._names_target = False
        self.target_edit.setText(name)

    # --- importing -----------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        source, target = self.source, self.target_edit.text().strip()
        if source is None:
            return
        if not target:
            self._show_problem("Enter a file name for the model.")
            return
        languages = self._typed_languages()
        if languages is None:
            return
        path = Path(target).expanduser()
        heads = self.heads_edit.text().strip()
        data = self.data_edit.text().strip()
        self.problem.hide()
        self._show_running(True)
        self._request = self._worker.submit(
            Request(
                ImportJob(
                    source,
                    path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX),
                    Path(data).expanduser() if data else None,
                    languages,
                    int(heads) if heads else None,
                    _PRECISIONS[self.precision.choice],
                ),
                self,
                on_result=self._on_imported,
                on_error=self._on_error,
                on_progress=self._on_progress,
            )
        )

    def _typed_languages(self) -> tuple[str | None, str | None] | None:
        """Codes, None for what the files say; None for both together if one can be no code, which is then told."""
        typed = []
        for edit in (self.source_edit, self.target_language_edit):
            text = edit.text().strip() if edit.isVisible() else ""
            code = language_code(text)
            if text and code is None:
                self._show_problem(
                    f"{text!r} is not a language. Enter a code such as de, deu or pt-BR, or the English name of the "
                    "language."
                )
                edit.setFocus()
                return None
            typed.append(code)
        return typed[0], typed[1]

    def _on_progress(self, progress: Progress) -> None:
        done, total = progress.done, progress.total
        size = f": {done / _MEGABYTE:,.1f} of {total / _MEGABYTE:,.1f} MB" if total else ""
        self.status.setText(f"{progress.text}{size}…")
        self.progress.set_fraction(done / total if total else None)

    def _on_imported(self, imported: Imported) -> None:
        source = self.source
        if source is not None:
            self._preferences.imports.remember(source, imported.path)
        self.accept()
        self.imported_as.emit(imported.about)
        self.imported.emit(imported.path)

    def _on_error(self, failure: Failure) -> None:
        self._show_running(False)
        self._show_problem(failure.message)

    def _show_problem(self, text: str) -> None:
        self.problem.setText(text)
        self.problem.show()
        self._fit()

    def _show_running(self, is_running: bool) -> None:
        self._fields.setEnabled(not is_running)
        self.import_button.setEnabled(not is_running)
        self.status.clear()
        self.status.setVisible(is_running)
        self.progress.setVisible(is_running)
        self.progress.set_fraction(None)
        if not is_running:  # a problem of before leaves its space, for Cancel to stay where it is
            self._fit()

    # --- looks ---------------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("role", "form")
        self.setMinimumWidth(WIDTH_PX)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setColumnStretch(1, 1)
        change = QPushButton("Change…")
        change.clicked.connect(self._choose_target)
        self._add_row("Weights", self.precision, None, PRECISION_ROW)
        self._add_row("Save as", self.target_edit, change, SAVE_ROW)
        self.import_button.setProperty("role", "primary")
        self.import_button.setDefault(True)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.cancel_button)
        buttons.addWidget(self.import_button)
        column = self._column
        column.setContentsMargins(PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN)
        column.setSpacing(GAP)
        for widget in (self.about, self._fields, self.problem, self.status, self.progress):
            column.addWidget(widget)
        column.addStretch(1)
        column.addLayout(buttons)
        for widget in (self.problem, self.status, self.progress):
            widget.hide()
        for widget in (self.status, self.progress):  # Cancel stays where it is when they appear
            policy = widget.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            widget.setSizePolicy(policy)

    def _add_row(self, name: str, edit: QWidget, button: QPushButton | None, row: int) -> QWidget:
        edit.setAccessibleName(name)
        title = label("muted")
        title.setText(name)
        self._grid.addWidget(title, row, 0)
        self._grid.addWidget(edit, row, 1, 1, 1 if button is not None else 2)
        if button is not None:
            self._grid.addWidget(button, row, 2)
        return title

    def _fit(self) -> None:
        """As high as its texts now are."""
        self._column.activate()
        width = max(self.width(), WIDTH_PX)
        self.resize(width, max(self._column.totalHeightForWidth(width), self._column.totalMinimumSize().height()))


def describe(summary: "ImportSummary") -> str:
    """What a model is and what it takes, in a line or two, and what of its settings is not applied."""
    source, target = (
        "a language that it does not name" if code == UNDETERMINED else language_name(code)
        for code in summary.languages
    )
    parts = [summary.format, f"{source} to {target}"]
    if summary.target_codes:
        parts.append(f"{len(summary.target_codes)} target languages")
    parts.append(f"{summary.num_parameters / 1e6:,.1f} million parameters")
    other = summary.disk_bytes_in(half_precision=not summary.half_precision)
    memory = (
        f"Importing it needs {max(summary.memory_bytes / _GIGABYTE, 0.1):.1f} GB of memory and "
        f"{_megabytes(summary.disk_bytes)} on the disk in {summary.bits} bits ({_megabytes(other)} in "
        f"{48 - summary.bits}), and takes about {duration(summary.seconds)}."
    )
    return "\n".join([" · ".join(parts), memory, *summary.notes])


def precision_entries(full_bytes: float | None, known: "ImportSummary | None") -> dict[str, tuple[str, str]]:
    """What the choice of bits offers.

    Args:
        full_bytes: size of the file in 32 bits, or that of a PyTorch file, which has 32 bits as far as it was published
            so; None if nothing is known.
        known: what is told of the model if nothing is chosen; None before that is known.
    """
    if full_bytes is None:
        large = _megabytes(_LARGE_BYTES)
        return {
            "auto": (f"Automatic: 16 bits if 32 take over {large}", f"Automatic: 16 bits if 32 take over {large}"),
            "half": ("16 bits", f"16 bits: {_ROUNDED}"),
            "full": ("32 bits", "32 bits: twice as large"),
        }
    half, full = _megabytes(full_bytes / 2), _megabytes(full_bytes)
    is_large = full_bytes > _LARGE_BYTES
    if known is not None and known.half_precision and known.has_half_precision:
        auto, why = f"16 bits, {half}", "as in the original"
    elif is_large:
        auto, why = f"16 bits, {half}", f"as 32 take over {_megabytes(_LARGE_BYTES)}"
    elif known is not None:
        auto, why = f"32 bits, {full}", "exact to the last digit"
    else:
        auto, why = f"as in the file, {full}", "exact to the last digit"
    is_exact = known is not None and known.has_half_precision
    return {
        "auto": (f"Automatic: {auto}", f"Automatic: {auto}, {why}"),
        "half": (f"16 bits, {half}", f"16 bits, {half}{'' if is_exact else f': {_ROUNDED}'}"),
        "full": (f"32 bits, {full}", f"32 bits, {full}"),
    }


def _megabytes(num_bytes: float) -> str:
    return f"{max(num_bytes / _MEGABYTE, 1):,.0f} MB"


def free_target(preferences: Preferences, source: str | Path | None, name: str) -> Path:
    """In the folder for models, a file called `name`: the one this source became before, else one that is not there."""
    if source is not None and (before := preferences.imports.file_of(source)) is not None:
        return before
    folder, number = preferences.models_folder, 1
    while (target := folder / f"{name}{'' if number == 1 else f'-{number}'}{SUFFIX}").exists():
        number += 1
    return target
