"""The dialogs that import a model of another project, from files or from Hugging Face, and their
jobs.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIntValidator, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QFormLayout,
    QGridLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from augenmerk.core.extensions.readers.foreign_files import REPOSITORY
from augenmerk.core.process import collector_paused
from augenmerk.core.quantities import counted, duration
from augenmerk.core.storage import writable
from augenmerk.core.text.languages import (
    UNDETERMINED,
    language_code,
    language_in_words,
    language_name,
)

from ...preferences import Preferences
from ...state.experiment_state import Progress
from ...theme import GAP, PAGE_MARGIN, scaled, scales
from ...widgets.buttons import ChoiceMenu
from ...widgets.dialogs import ask_what_to_open, ask_where_to_save
from ...widgets.labels import label
from ...widgets.layouts import add_parts, column_of, keep_room, row_of
from ...worker.inference import Failure, InferenceWorker, Request
from ...worker.jobs import ModelFreeJob, ShouldStop, Tell
from ..widgets.progress_line import ProgressLine

if TYPE_CHECKING:
    from augenmerk.core.extensions.readers.model import ImportSummary  # imports torch


@dataclass(frozen=True, eq=False)
class InspectJob(ModelFreeJob):
    """Inspects a model without reading its weights."""

    source: Path

    def work(self, progress: Tell, should_stop: ShouldStop) -> "ImportSummary":
        """See `ModelFreeJob.work`."""
        with collector_paused():
            from augenmerk.core.extensions.readers.importing import recognize

        return recognize(self.source).summary


@dataclass(frozen=True, eq=False)
class ImportJob(ModelFreeJob):
    """Imports a model by path or Hugging Face name, and saves it.

    Attributes:
        source: as of `core.extensions.readers.importing.import_model`.
        target: the file to write.
        data: a folder with Multi30k, for models whose vocabularies are rebuilt from it.
        languages: codes of source and target; None for those in the files.
        num_heads: for models whose files lack it, which are refused without it.
        half_precision: weights in 16 or 32 bits; None as in
            `core.extensions.readers.model.ImportOptions`.
    """

    source: str | Path
    target: Path
    data: Path | None = None
    languages: tuple[str | None, str | None] = (None, None)
    num_heads: int | None = None
    half_precision: bool | None = None

    def work(self, progress: Tell, should_stop: ShouldStop) -> tuple[Path, str]:
        """The saved file, and its description.

        See `ModelFreeJob.work`. A stopped import leaves no new file.
        """
        progress(Progress(0, 0, "Preparing"))
        with collector_paused():
            from augenmerk.core.errors import ImportStoppedError
            from augenmerk.core.extensions.readers.importing import import_model
            from augenmerk.core.extensions.readers.model import ImportOptions, check_target

        with writable(self.target):
            check_target(self.target, (self.source, self.data))  # before minutes of work
            model = import_model(
                self.source,
                ImportOptions(
                    data=self.data,
                    source_language=self.languages[0],
                    target_language=self.languages[1],
                    num_heads=self.num_heads,
                    half_precision=self.half_precision,
                ),
                on_phase=lambda text: progress(Progress(0, 0, text)),
                on_download=lambda name, done, total: progress(
                    Progress(done, total, f"Downloading {name}")
                ),
                should_stop=should_stop,
            )
            if should_stop():
                raise ImportStoppedError
            progress(Progress(0, 0, f"Writing {self.target.name}"))
            was_there = self.target.exists()
            model.save(self.target)
            if should_stop() and not was_there:
                self.target.unlink(missing_ok=True)
                raise ImportStoppedError
            return self.target, _about(model.summary, self.target.stat().st_size)


def _about(summary: "ImportSummary", num_bytes: int) -> str:
    """A one-line description of the written file."""
    why = ", as 16 cannot hold them" if summary.precision_note else ""
    return (
        f"Imported {summary.name}: {num_bytes / 1e6:,.1f} MB, weights in {summary.bits} bits{why}"
    )


WIDTH_PX = 560
OUTCOME_HEIGHT_PX = 64
"""Room for the progress or the problem: four lines."""
LOOKING = "Looking at the files…\n\n\n"
"""As high as most descriptions of a model."""
SUFFIX = ".safetensors"
MAX_HEADS = 512
_MEGABYTE, _GIGABYTE = 1e6, 1e9
_PRECISIONS: dict[str, bool | None] = {"auto": None, "half": True, "full": False}
_LARGE_BYTES = 100_000_000  # same as in core.extensions.readers.model, which imports torch
_ROUNDED = "three digits of each weight are kept"


class ImportDialog(QDialog):
    """Imports one model of another project, a folder or a file.

    Attributes:
        about: the known facts about it.
        data: the Multi30k folder; for a PyTorch file alone.
        heads_edit: the number of heads; for a PyTorch file alone.
        source_edit: code or English name of the source language, if the files do not name it.
        target_language_edit: that of the target language.
        precision: the number of bits stored per weight, and the size of the file.
        target: the file to write.
        import_button: begins.
        cancel_button: stops a running job, or closes.
        status: the current step.
        progress: its progress.
        problem: the reason why it was not imported.

    Signals:
        imported(Path, str): the file of the model, and a description; empty if it was imported
            earlier.
    """

    imported = Signal(object, str)

    def __init__(
        self,
        source: Path | None,
        worker: InferenceWorker,
        preferences: Preferences,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._source, self._worker, self._preferences = source, worker, preferences
        self._request: Request | None = None
        self._summary: ImportSummary | None = None
        self.precision = ChoiceMenu(
            "The number of bits stored per weight. 16 bits keep three digits and halve the file.",
            precision_entries(None),
            has_arrow_keys=True,
        )
        self.precision.show_choice("auto")
        self.about = label("muted", wraps=True)
        self.status = label("small")
        self.problem = label("warm", wraps=True)
        # it may name lines to run
        self.problem.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.data, self.target = (
            FileField("Choose…", self._choose_data),
            FileField("Change…", self._choose_target),
        )
        self.heads_edit, self.source_edit, self.target_language_edit = (
            QLineEdit(),
            QLineEdit(),
            QLineEdit(),
        )
        self.import_button, self.cancel_button = QPushButton("Import"), QPushButton("Cancel")
        self.progress = ProgressLine()
        self._fields = QWidget()
        self._form = QFormLayout(self._fields)
        self._column = QVBoxLayout(self)
        self._lay_out()
        self.precision.chosen.connect(self._on_precision)
        self.import_button.clicked.connect(self._begin)
        self.cancel_button.clicked.connect(self.reject)
        if source is not None:
            self._introduce(source)

    @property
    def source(self) -> str | Path | None:
        """The model to import, or None."""
        return self._source

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit()  # letters have their sizes now

    def reject(self) -> None:
        """Cancels the import, which ends at its next stage; its result is dropped."""
        if self._request is not None:
            self._request.cancel()
        super().reject()

    # --- the model --------------------------------------------------------------------------------

    def _introduce(self, source: Path) -> None:
        self.setWindowTitle(f"Import {source.name}")
        self.target.propose(
            free_target(self._preferences, source, source.stem if source.is_file() else source.name)
        )
        self._show_about(LOOKING if source.is_dir() else "")
        if source.is_dir():
            self.import_button.setEnabled(False)  # until it is recognized
            for edit in self._language_edits:  # below them, nothing moves when it is
                edit.setEnabled(False)
                self._form.setRowVisible(edit, True)
            self._request = self._worker.submit(
                Request(
                    InspectJob(source),
                    self,
                    on_result=self._on_summary,
                    on_error=self._on_not_recognized,
                )
            )
        else:
            self._form.setRowVisible(self.heads_edit, True)
            self._form.setRowVisible(self.data, True)

    def _show_about(self, facts: str = "") -> None:
        """Shows what importing the model means, and the known facts about it."""
        text = (
            f"{self.source}\n"
            "\n"
            "A model of another project is imported once, into a checkpoint of Augenmerk. The "
            "original stays unchanged."
        )
        self.about.setText(f"{text}\n\n{facts}" if facts else text)

    def _on_precision(self, name: str) -> None:
        self.precision.show_choice(name)
        if self._summary is not None:
            self._show_about(describe(self._summary, name))
        self._fit()

    def _on_summary(self, summary: "ImportSummary") -> None:
        self._summary = summary
        self.precision.set_entries(precision_entries(summary.stored_as(None)))
        self.precision.show_choice(self.precision.choice)
        self.about.setMinimumHeight(self.about.height())  # what is below stays in place
        self._show_about(describe(summary, self.precision.choice))
        self.import_button.setEnabled(True)
        for code, edit in zip(summary.languages, self._language_edits, strict=True):
            edit.setEnabled(summary.misses_languages)
            if code == UNDETERMINED:
                edit.setPlaceholderText(
                    "its code, such as de, or its English name; the files do not name it"
                )
            elif summary.misses_languages:
                edit.setText(code)
            else:
                edit.setPlaceholderText(language_in_words(code))
        # Enter imports
        (self.source_edit if summary.misses_languages else self.import_button).setFocus()
        self._fit()

    def _on_not_recognized(self, failure: Failure) -> None:
        self._fields.setEnabled(False)
        self._show_about()
        self._show_problem(failure.message)

    @property
    def _language_edits(self) -> tuple[QLineEdit, QLineEdit]:
        return self.source_edit, self.target_language_edit

    def _choose_data(self) -> None:
        mode = QFileDialog.FileMode.Directory
        ask_what_to_open(
            self, "The folder with Multi30k", self.data.path, self.data.take, mode=mode
        )

    def _choose_target(self) -> None:
        formats = {SUFFIX.removeprefix("."): f"Models (*{SUFFIX})"}
        ask_where_to_save(
            self, "Save the imported model", self.target.path or Path(), self.target.take, formats
        )

    # --- importing --------------------------------------------------------------------------------

    def _begin(self) -> None:
        source = self.source
        path = self.target.path
        if source is None:
            return
        if path is None:
            self._show_problem("Enter a file name for the model.")
            return
        edits = self._language_edits
        typed = [edit.text().strip() for edit in edits]
        codes = [language_code(text) for text in typed]
        for text, code, edit in zip(typed, codes, edits, strict=True):
            if text and code is None:
                self._show_problem(
                    f"{text!r} is not a language. Enter a code such as de, deu or pt-BR, or the "
                    "English name of the language."
                )
                edit.setFocus()
                return
        heads = self.heads_edit.text().strip()
        self.problem.hide()
        self._show_running(True)
        self._request = self._worker.submit(
            Request(
                ImportJob(
                    source,
                    path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX),
                    self.data.path,
                    (codes[0], codes[1]),
                    int(heads) if heads else None,
                    _PRECISIONS[self.precision.choice],
                ),
                self,
                on_result=self._on_imported,
                on_error=self._on_error,
                on_progress=self._on_progress,
            )
        )

    def _on_progress(self, progress: Progress) -> None:
        done, total = progress.done, progress.total
        size = f": {done / _MEGABYTE:,.1f} of {total / _MEGABYTE:,.1f} MB" if total else ""
        self.status.setText(f"{progress.text}{size}…")
        self.progress.set_fraction(done / total if total else None)

    def _on_imported(self, imported: tuple[Path, str]) -> None:
        source = self.source
        if source is not None:
            self._preferences.imports.remember(source, imported[0])
        self.accept()
        self.imported.emit(*imported)

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
        if not is_running:  # the previous problem leaves its space, so that Cancel stays in place
            self._fit()

    # --- looks ------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("role", "form")
        scales(self.setMinimumWidth, WIDTH_PX)
        self._form.setContentsMargins(0, 0, 0, 0)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.heads_edit.setValidator(QIntValidator(1, MAX_HEADS, self.heads_edit))
        self.heads_edit.setPlaceholderText("the file does not say it; 8 in the published models")
        self.data.edit.setPlaceholderText("for notebook 6 and the Annotated Transformer")
        for name, field in (
            ("Source language", self.source_edit),
            ("Target language", self.target_language_edit),
            ("Heads per layer", self.heads_edit),
            ("Multi30k folder", self.data),
            ("Weights", self.precision),
            ("Save as", self.target),
        ):
            add_row(self._form, self._form.rowCount(), name, field)
        for field in (self.source_edit, self.target_language_edit, self.heads_edit, self.data):
            self._form.setRowVisible(field, False)  # until it is needed
        self.import_button.setProperty("role", "primary")
        self.import_button.setDefault(True)
        column = self._column
        column.setContentsMargins(PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN)
        column.setSpacing(GAP)
        # all in one place: the buttons stay where they are when one of them appears
        outcome = QGridLayout()
        scales(outcome.setRowMinimumHeight, 0, OUTCOME_HEIGHT_PX)
        running = QWidget()
        column_of(self.status, self.progress, 1, spacing=GAP, within=running)
        for widget in (self.problem, running):
            outcome.addWidget(widget, 0, 0, Qt.AlignmentFlag.AlignTop)
            keep_room(widget)
        for widget in (self.problem, self.status, self.progress):
            widget.hide()
        buttons = row_of(1, self.cancel_button, self.import_button)
        add_parts(column, self.about, self._fields, outcome, 1, buttons)

    def _fit(self) -> None:
        """Fits the height to the current texts."""
        self._column.activate()
        width = max(self.width(), scaled(WIDTH_PX))
        self.resize(
            width,
            max(self._column.totalHeightForWidth(width), self._column.totalMinimumSize().height()),
        )


class FileField(QWidget):
    """A field for a path, typed or chosen in a dialog.

    Attributes:
        edit: the text field.
        is_chosen: whether the user entered or chose the path.
    """

    def __init__(self, button: str, choose: Callable[[], object]) -> None:
        super().__init__()
        self.edit = QLineEdit()
        self.is_chosen = False
        self.setFocusProxy(self.edit)
        self.edit.textEdited.connect(self._on_edited)
        choose_button = QPushButton(button)
        choose_button.clicked.connect(lambda: choose())
        row_of((self.edit, 1), choose_button, within=self)

    @property
    def path(self) -> Path | None:
        """The path; None while the field is empty."""
        text = self.edit.text().strip()
        return Path(text).expanduser() if text else None

    def take(self, path: Path) -> None:
        """Sets a path chosen by the user."""
        self.is_chosen = True
        self.edit.setText(str(path))

    def propose(self, path: Path) -> None:
        """Proposes a path, unless the user chose one."""
        if not self.is_chosen:
            self.edit.setText(str(path))

    def _on_edited(self) -> None:
        self.is_chosen = True


def add_row(form: QFormLayout, row: int, name: str, field: QWidget) -> None:
    """Puts a field with its name into a form."""
    (field.edit if isinstance(field, FileField) else field).setAccessibleName(name)
    form.insertRow(row, label("muted", name), field)


def describe(inspected: "ImportSummary", precision: str) -> str:
    """A model's format, languages, size and cost of importing, and notes on settings that are not
    applied.

    `precision`: the name of the chosen entry for 16 or 32 bits.
    """
    summary = inspected.stored_as(_PRECISIONS[precision])
    source, target = map(language_in_words, summary.languages)
    parts = [summary.format, f"{source} to {target}"]
    if summary.target_codes:
        parts.append(counted(len(summary.target_codes), "target language"))
    parts.append(f"{summary.num_parameters / 1e6:,.1f} million parameters")
    half, full = (_megabytes(summary.disk_bytes_in(half_precision=half)) for half in (True, False))
    sizes = f"{full} on the disk in 32 bits ({half} in 16)"
    if summary.half_precision:
        sizes = f"{half} on the disk in 16 bits ({full} in 32)"
    elif summary.half_precision is None:
        sizes = f"{full} on the disk, or {half} if the weights in the file have 16 bits"
    memory = (
        f"Importing it needs {max(summary.memory_bytes / _GIGABYTE, 0.1):.1f} GB of memory and "
        f"{sizes}, and takes about {duration(summary.seconds)}."
    )
    return "\n".join([" · ".join(parts), memory, *summary.notes])


def precision_entries(summary: "ImportSummary | None") -> dict[str, tuple[str, str]]:
    """The entries of the menu for 16 or 32 bits.

    Args:
        summary: with automatic precision; None before the inspection, and for a single file, which
            is only read when it is imported.
    """
    large = _megabytes(_LARGE_BYTES)
    if summary is None:
        auto = f"Automatic: as in the file, or 16 bits if 32 take over {large}"
        return {
            "auto": (auto, auto),
            "half": ("16 bits", f"16 bits: {_ROUNDED}"),
            "full": ("32 bits", "32 bits: twice as large"),
        }
    half, full = (_megabytes(summary.disk_bytes_in(half_precision=half)) for half in (True, False))
    if summary.half_precision is None:
        auto = "as in the file"
        why = f"{half} in 16 bits or {full} in 32"
    elif not summary.half_precision:
        auto = f"32 bits, {full}"
        why = "exact to the last digit"
    elif summary.has_half_precision:
        auto = f"16 bits, {half}"
        why = "as in the original"
    else:
        auto = f"16 bits, {half}"
        why = f"as 32 take over {large}"
    return {
        "auto": (f"Automatic: {auto}", f"Automatic: {auto}, {why}"),
        "half": (
            f"16 bits, {half}",
            f"16 bits, {half}{'' if summary.has_half_precision else f': {_ROUNDED}'}",
        ),
        "full": (f"32 bits, {full}", f"32 bits, {full}"),
    }


def _megabytes(num_bytes: float) -> str:
    return f"{max(num_bytes / _MEGABYTE, 1):,.0f} MB"


def free_target(preferences: Preferences, source: str | Path | None, name: str) -> Path:
    """A path for the imported model: that of an earlier import of the source, else a new file in
    the models folder.
    """
    if source is not None and (before := preferences.imports.file_of(source)) is not None:
        return before
    folder = preferences.models_folder
    number = 1
    while (target := folder / f"{name}{'' if number == 1 else f'-{number}'}{SUFFIX}").exists():
        number += 1
    return target


OWNER = "Helsinki-NLP"
PAIRS = ("de-en", "en-de", "de-fr", "fr-de", "de-es", "es-de", "de-it", "it-de", "de-pl", "pl-de")
"""Of OPUS-MT, from and to German."""
# same as in core.extensions.readers.marian, which imports torch
_PAIR = re.compile(r"opus-mt-(?:tc-(?:big|base|bible-big)-|tatoeba-)?[A-Za-z_]+-[A-Za-z_]+$")
_LIST_HEIGHT_PX = 190
_ABOUT = (
    "OPUS-MT models translate any text, one pair of languages each; they have about 75 million "
    "parameters: a file of 150 MB in 16 bits, or 300 MB in 32, and 0.9 GB of memory to import "
    "one. The model is fetched from Hugging Face once and saved as a file that Augenmerk opens; "
    "nothing you type is sent. An interrupted download resumes."
)


class HubDialog(ImportDialog):
    """Imports a Marian model by its name.

    Attributes:
        pairs: the list of pairs.
        name_edit: the name of the repository. If it names no language pair, the languages can be
            entered.
    """

    def __init__(
        self, worker: InferenceWorker, preferences: Preferences, parent: QWidget | None = None
    ) -> None:
        super().__init__(None, worker, preferences, parent)
        self.setWindowTitle("Open a model from Hugging Face")
        self.about.setText(_ABOUT)
        self.pairs, self.name_edit = QListWidget(), QLineEdit()
        self.pairs.setAccessibleName("Pairs of languages")
        self.pairs.setFixedHeight(_LIST_HEIGHT_PX)
        for pair in PAIRS:
            source, target = map(language_name, pair.split("-"))
            item = QListWidgetItem(f"{source} → {target}")
            item.setData(Qt.ItemDataRole.UserRole, f"{OWNER}/opus-mt-{pair}")
            item.setToolTip(f"{OWNER}/opus-mt-{pair}")
            self.pairs.addItem(item)
        self.name_edit.setPlaceholderText(f"any Marian model, such as {OWNER}/opus-mt-de-nl")
        self._form.insertRow(0, self.pairs)
        add_row(self._form, 1, "Model", self.name_edit)
        for edit in self._language_edits:  # always: the fields below stay in place
            self._form.setRowVisible(edit, True)
        self.pairs.currentItemChanged.connect(self._on_pair)
        self.pairs.itemActivated.connect(lambda _item: self._begin())
        self.name_edit.textChanged.connect(self._on_name)
        self.pairs.setCurrentRow(0)
        self._fit()
        self.name_edit.setFocus()
        self.name_edit.selectAll()  # typing replaces it

    @property
    def source(self) -> str | None:
        """The chosen or typed name; None if it is invalid."""
        name = self.name_edit.text().strip()
        return name if REPOSITORY.fullmatch(name) else None

    def _on_pair(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.name_edit.setText(item.data(Qt.ItemDataRole.UserRole))

    def _on_name(self) -> None:
        name = self.source
        self.import_button.setEnabled(name is not None)
        self.import_button.setText(
            "Open" if name is not None and self._preferences.imports.file_of(name) else "Import"
        )
        is_pair_unknown = name is not None and _PAIR.search(name) is None
        for edit in self._language_edits:
            edit.setEnabled(is_pair_unknown)
            if is_pair_unknown:
                edit.setPlaceholderText("its code or English name, if the files do not name it")
            else:
                edit.setPlaceholderText("as the name of the model says")
                edit.clear()  # it was meant for another model
        file_name = name.rpartition("/")[2] if name is not None else "model"
        self.target.propose(free_target(self._preferences, name, file_name))

    def _begin(self) -> None:
        """Opens a model that was imported earlier, unless another target was chosen; else imports
        it.
        """
        name = self.source
        if name is None or not self.import_button.isEnabled():
            return
        before = self._preferences.imports.file_of(name)
        if before is not None and not self.target.is_chosen:
            self.accept()
            self.imported.emit(before, "")
            return
        super()._begin()
