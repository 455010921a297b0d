"""The tab *Alignment*: which word belongs to which."""

from typing import ClassVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSlider, QWidget

from viz_app.analysis.alignment.job import RankAlignersJob
from viz_app.analysis.alignment.state import AlignmentState, RankedAligners
from viz_app.analysis.alignment.word_links import WordLinks
from viz_app.analysis.tab import JobBar, LabTab, scrolled
from viz_app.state.model_info import ModelInfo
from viz_app.state.translate_state import TranslateState
from viz_app.theme import Theme
from viz_app.widgets.parts import label
from viz_app.widgets.table import Table

NO_LINKS = "Choose a cross-attention head: its rows are target words, its columns source words."


HEADINGS = {
    "AER": "Alignment error rate on the pairs that it was not chosen by: 0 % is perfect",
    "chosen by": "The same on the pairs that it was chosen by",
    "layer": "Of the cross-attention; all: the mean over layers",
    "head": "all: the mean over the heads of the layer, or a measure of the whole layer",
    "rows": "Whether row t speaks for the token read at step t or for the one predicted",
    "measure": "What the map holds",
}


class AlignmentTab(LabTab):
    """Word links of the chosen head or measure, and a ranking of all heads as aligners.

    Attributes:
        state: what the tab knows.
        links: the words and the curves between them.
        threshold: how strong a link must be to be drawn.
        ranker: begins the ranking, and ends it.
        table: the ranking.

    Signals:
        aligner_chosen(RankedAligner): its head, label mode and measure are to be shown.
    """

    aligner_chosen = Signal(object)

    name: ClassVar[str] = "Alignment"
    tip: ClassVar[str] = "Word links of the chosen head or measure; find the head that aligns best"
    meaning: ClassVar[str] = (
        "Solid: the source word at which the chosen head, in the chosen measure and label mode, looks most. Dashed: "
        "weaker. A link shows where the model looks; it need not be the word's translation."
    )

    def __init__(self, page: TranslateState, theme: Theme, parent: QWidget | None = None) -> None:
        self.state = AlignmentState(page)
        super().__init__(page, theme, self.state.awaited, parent)
        self.links = WordLinks(theme)
        self._what = label("heading")
        self._hint = label("muted", wraps=True)
        self._hint.setText(NO_LINKS)
        self.threshold = QSlider(Qt.Orientation.Horizontal)
        self.threshold.setRange(2, 100)
        self.threshold.setValue(round(100 * self.state.threshold))
        self.threshold.setToolTip("Weaker links are not drawn, but for the strongest of each target word")
        self.threshold.valueChanged.connect(self._on_threshold)
        self._threshold_text = label("small")
        self.ranker = JobBar(
            "Find the best aligner",
            "Every layer, head, label mode and measure on sentence pairs that were aligned by hand",
        )
        self.ranker.start_wanted.connect(lambda: self.job_wanted.emit(RankAlignersJob()))
        self.ranker.stop_wanted.connect(self.cancel)
        self._summary = label("small", wraps=True)
        self.table = Table(HEADINGS)
        self.table.row_chosen.connect(self._on_row)
        row = QHBoxLayout()
        row.addWidget(self._threshold_text)
        row.addWidget(self.threshold, 1)
        self._area = scrolled(self.links)
        self.column.addWidget(self._what)
        self.column.addWidget(self._hint)
        self.column.addWidget(self._area, 3)
        self.column.addLayout(row)
        self.column.addWidget(self.ranker)
        self.column.addWidget(self._summary)
        self.column.addWidget(self.table, 2)

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        self.links.apply_theme(theme)
        super().apply_theme(theme)

    def begin_model(self, info: ModelInfo) -> None:
        """Another model answers from now on."""
        self.cancel()
        self.state.forget_model()

    def take(self, result: object) -> None:
        """A ranking."""
        assert isinstance(result, RankedAligners)
        self.state.ranking = result
        self.table.show_rows([each.cells for each in result.in_order])

    def redraw(self) -> None:
        """Shows the state."""
        super().redraw()
        links = self.state.links()
        self._what.setText(self.page.title() if links is not None else "")
        self._what.setVisible(links is not None)
        self._hint.setVisible(links is None)
        self._area.setVisible(links is not None)
        self._threshold_text.setText(f"links from {self.state.threshold:.2f}")
        self.links.show_links(links, self.state.threshold)
        self.ranker.show_progress(self.awaited)
        ranking = self.state.ranking
        self._summary.setVisible(ranking is not None)
        self.table.setVisible(ranking is not None)
        self._summary.setText(ranking.summary if ranking is not None else "")

    def _on_row(self, index: int) -> None:
        ranking = self.state.ranking
        if ranking is not None and ranking.in_order[index].measure is not None:
            self.aligner_chosen.emit(ranking.in_order[index])

    def _on_threshold(self, percent: int) -> None:
        self.state.threshold = percent / 100
        self.redraw()
