"""The tab *Heads*: what every head is worth, and what it does, over a sample of sentences."""

from pathlib import Path
from typing import ClassVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFileDialog, QHBoxLayout, QToolButton, QWidget

from core.analysis.profiles import SampleProfiles
from core.analysis.sample_roles import SampleRoles
from viz_app.analysis.heads.head_cells import HeadCells
from viz_app.analysis.heads.job import HeadWorthJob, StatisticsJob
from viz_app.analysis.heads.samples import multi30k_files
from viz_app.analysis.heads.state import HeadsState, Question, SampleChoice
from viz_app.analysis.tab import JobBar, LabTab, scrolled
from viz_app.state.model_info import ModelInfo
from viz_app.state.progress import Progress
from viz_app.state.translate_state import HeadChoice, TranslateState
from viz_app.theme import Theme
from viz_app.widgets.choice_menu import ChoiceMenu
from viz_app.widgets.parts import label
from viz_app.widgets.table import Table

MEANINGS: dict[Question, str] = {
    "worth": (
        "How much worse the model predicts a sample of translations with one head off at a time. It says what is lost "
        "at once, not what the others could take over, nor what the head does."
    ),
    "statistics": (
        "What each head does on average over a sample: entropy (nats), largest weight, share on <eos>, distances from "
        "3 back to 3 ahead, role. It says where heads look, not whether that matters."
    ),
}
SAMPLES = {
    "gold": ("validation pairs", "Sentence pairs of the validation split that are shipped"),
    "examples": ("examples", "The example sentences, with the model's own translations"),
    "multi30k": ("Multi30k validation", "200 pairs of Multi30k's validation split, if it was fetched"),
    "file": ("a file …", "A text file: a sentence a line, or sentence, tab, translation"),
}
HEADINGS = {
    "head": "Kind, layer and head",
    "role": "What it does most",
    "entropy": "Mean entropy of a row, in nats: 0 is one key alone",
    "largest": "Mean of the largest weight in a row",
    "<eos>": "Mean weight on the end token",
    "distance": "Weight on keys from 3 before to 3 after the row's own place; the ends hold all beyond",
}


class HeadsTab(LabTab):
    """Head importance and statistics.

    Attributes:
        state: what the tab knows.
        question_buttons: worth, and statistics.
        sample_menu: which sentences.
        job: begins the measurement, and ends it.
        cells: what each head is worth.
        table: the statistics.

    Signals:
        switch_wanted(HeadChoice): the head is to be switched off, or on again.
        head_chosen(HeadChoice): the head is to be shown large.
        roles_measured(SampleRoles): statistics of a whole sample are there, and what follows from them.
    """

    name: ClassVar[str] = "Heads"
    tip: ClassVar[str] = "What every head is worth, and what it does, over a sample of sentences"
    meaning: ClassVar[str] = MEANINGS["worth"]

    switch_wanted = Signal(object)
    head_chosen = Signal(object)
    roles_measured = Signal(object)

    def __init__(self, page: TranslateState, theme: Theme, parent: QWidget | None = None) -> None:
        self.state = HeadsState()
        super().__init__(page, theme, self.state.awaited, parent)
        self.question_buttons: dict[Question, QToolButton] = {}
        self.sample_menu = ChoiceMenu("Which sentences", SAMPLES, "sample: ")
        self.sample_menu.actions_by_name["multi30k"].setEnabled(all(path.is_file() for path in multi30k_files()))
        self.sample_menu.chosen.connect(self._on_sample)
        self.job = JobBar("Measure", "May take a minute; the window stays at your service, and what is known is shown")
        self.job.start_wanted.connect(self._on_start)
        self.job.stop_wanted.connect(self.cancel)
        self._summary = label("small", wraps=True)
        self.cells = HeadCells(page, theme)
        self.cells.clicked.connect(self.switch_wanted)
        self.table = Table(HEADINGS)
        self.table.row_chosen.connect(self._on_row)
        self._area = scrolled(self.cells)
        self._lay_out()

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        self.cells.apply_theme(theme)
        super().apply_theme(theme)

    def begin_model(self, info: ModelInfo) -> None:
        """Another model answers from now on."""
        self.cancel()
        self.state.forget_model()

    def follow(self, request_id: int, progress: Progress, /) -> None:
        """How far it is, and what is known so far."""
        if request_id == self.awaited.request_id and progress.partial is not None:
            self.take(progress.partial)
        super().follow(request_id, progress)

    def accept(self, request_id: int, result: object, /) -> None:
        """An answer; that of a whole sample tells the roles of heads."""
        is_awaited = request_id == self.awaited.request_id
        super().accept(request_id, result)
        if is_awaited and isinstance(result, SampleProfiles):
            self.roles_measured.emit(SampleRoles.of(result, self.state.sample.what))

    def take(self, result: object) -> None:
        """An answer, or a part of one."""
        self.state.take(result)
        self.cells.show_worth(self.state.worth)
        self.table.show_rows([cells for _, cells in self.state.rows()])

    def redraw(self) -> None:
        """Shows the state."""
        super().redraw()
        question = self.state.question
        self.explanation.setText(MEANINGS[question])
        self.question_buttons[question].setChecked(True)
        self.sample_menu.show_choice(self.state.sample.kind)
        if self.state.sample.path is not None:
            self.sample_menu.setText(f"sample: {self.state.sample.path.name} ▾")
        self.sample_menu.setVisible(not self.awaited.is_awaiting)
        self.job.show_progress(self.awaited)
        summary = self.state.summary()
        self._summary.setText(summary)
        self._summary.setVisible(bool(summary))
        self.cells.show_worth(self.state.worth)
        has_worth = question == "worth" and self.state.worth is not None
        has_table = question == "statistics" and self.state.profiles is not None
        self._area.setVisible(has_worth)
        self.table.setVisible(has_table)
        self._filler.setVisible(not has_worth and not has_table)

    def choose_file(self) -> None:
        """Asks for a text file by dialog."""
        dialog = QFileDialog(self, "Choose sentences", "", "Text (*.txt *.tsv *.de *.gz);;All files (*)")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda name: self.use_file(Path(name)))
        dialog.rejected.connect(self.redraw)
        dialog.open()

    def use_file(self, path: Path) -> None:
        """Takes the sentences of a file."""
        self.state.sample = SampleChoice("file", path)
        self.redraw()

    def _on_sample(self, name: str) -> None:
        if name == "file":
            self.choose_file()
            return
        kinds = {"gold": SampleChoice("gold"), "examples": SampleChoice("examples")}
        self.state.sample = kinds.get(name, SampleChoice("multi30k"))
        self.redraw()

    def _on_start(self) -> None:
        kind = HeadWorthJob if self.state.question == "worth" else StatisticsJob
        self.job_wanted.emit(kind(self.state.sample, self.state.num_sentences))

    def _on_question(self, question: Question) -> None:
        self.state.question = question
        self.redraw()

    def _on_row(self, index: int) -> None:
        head, _ = self.state.rows()[index]
        self.head_chosen.emit(HeadChoice(head.kind, head.layer, head.head))

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(2)
        group = QButtonGroup(self)
        texts: dict[Question, tuple[str, str]] = {
            "worth": ("what each is worth", "The loss with each head off"),
            "statistics": ("what each does", "Entropy, confidence, distances, role"),
        }
        for question, (text, tip) in texts.items():
            button = QToolButton()
            button.setText(text)
            button.setToolTip(tip)
            button.setCheckable(True)
            button.setProperty("role", "subtab")
            button.clicked.connect(lambda _=False, chosen=question: self._on_question(chosen))
            group.addButton(button)
            self.question_buttons[question] = button
            row.addWidget(button)
        row.addStretch(1)
        second = QHBoxLayout()
        second.addWidget(self.job, 1)
        second.addWidget(self.sample_menu)
        self._filler = QWidget()
        self.column.insertLayout(0, row)
        self.column.addLayout(second)
        self.column.addWidget(self._summary)
        self.column.addWidget(self._area, 1)
        self.column.addWidget(self.table, 1)
        self.column.addWidget(self._filler, 1)
