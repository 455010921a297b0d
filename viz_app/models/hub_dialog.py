"""The dialog that fetches a model from Hugging Face: a few pairs to choose from, and a field for any other."""

import re
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QListWidget, QListWidgetItem, QWidget

from augenmerk.core.text.languages import language_name
from augenmerk.viz_app.models.import_dialog import ImportDialog, add_row, free_target
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.worker import InferenceWorker

OWNER = "Helsinki-NLP"
PAIRS = ("de-en", "en-de", "de-fr", "fr-de", "de-es", "es-de", "de-it", "it-de", "de-pl", "pl-de")
"""Of OPUS-MT, from and to German."""
# as of core.interop.hub and core.interop.marian, which come with torch
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_PAIR = re.compile(r"opus-mt-(?:tc-(?:big|base|bible-big)-|tatoeba-)?[A-Za-z_]+-[A-Za-z_]+$")
_LIST_HEIGHT_PX = 190
_ABOUT = (
    "OPUS-MT models translate any text, one pair of languages each; they have about 75 million parameters: a file of "
    "150 MB in 16 bits, or 300 MB in 32, and 0.9 GB of memory to import one. "
    "The model is fetched from Hugging Face once and saved as a file that Augenmerk opens; nothing you type is sent. A "
    "download that was stopped goes on where it ended."
)


class HubDialog(ImportDialog):
    """Imports a Marian model by its name.

    Attributes:
        pairs: the list of pairs.
        name_edit: the name of the repository. While it names no pair, there are fields for the languages.
    """

    def __init__(self, worker: InferenceWorker, preferences: Preferences, parent: QWidget | None = None) -> None:
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
        self.pairs.currentItemChanged.connect(self._on_pair)
        self.pairs.itemActivated.connect(lambda _item: self._begin())
        self.name_edit.textChanged.connect(self._on_name)
        self.pairs.setCurrentRow(0)
        self._fit()
        self.name_edit.setFocus()
        self.name_edit.selectAll()  # what is typed takes its place

    @property
    def source(self) -> str | None:
        """The chosen or typed name; None if it is not a valid name."""
        name = self.name_edit.text().strip()
        return name if _NAME.fullmatch(name) else None

    def _on_pair(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.name_edit.setText(item.data(Qt.ItemDataRole.UserRole))

    def _on_name(self) -> None:
        name = self.source
        self.import_button.setEnabled(name is not None)
        self.import_button.setText("Open" if name is not None and self._imported_before(name) else "Import")
        is_pair_unknown = name is not None and _PAIR.search(name) is None
        if self.source_edit.isHidden() == is_pair_unknown:
            self._show_languages("its code or English name, if the files do not say it" if is_pair_unknown else "")
            self._fit()
        file_name = name.rpartition("/")[2] if name is not None else "model"
        self.target.propose(free_target(self._preferences, name, file_name))

    def _begin(self) -> None:
        """Opens a model that was imported earlier, unless another target was chosen; else imports it."""
        name = self.source
        if name is None or not self.import_button.isEnabled():
            return
        before = self._imported_before(name)
        if before is not None and not self.target.is_chosen:
            self.accept()
            self.imported.emit(before)
            return
        super()._begin()

    def _imported_before(self, name: str) -> Path | None:
        return self._preferences.imports.file_of(name)
