"""The tab *Alignment*: which word belongs to which."""

from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSlider, QWidget

from augenmerk.viz_app.analysis.alignment.job import RankAlignersJob
from augenmerk.viz_app.analysis.alignment.state import AlignmentState, aligner_of, cells, summary
from augenmerk.viz_app.analysis.alignment.word_links import WordLinks
from augenmerk.viz_app.analysis.tab import AnalysisContext, AnalysisTab, JobBar
from augenmerk.viz_app.state.languages import target_code
from augenmerk.viz_app.state.map_text import title
from augenmerk.viz_app.state.map_view_settings import on_redraw
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.widgets.layouts import VerticalScrollArea, add_parts, row_of, set_visible
from augenmerk.viz_app.widgets.table import Table

if TYPE_CHECKING:
    from augenmerk.core.analysis.alignment_ranking import AlignerRanking

NO_LINKS = "Choose a cross-attention head: its rows are target words, its columns source words."
HEADINGS = {
    "AER": "Alignment error rate on the other pairs, not used to choose it: 0% is perfect",
    "chosen by": "Alignment error rate on the pairs used to choose it",
    "layer": "Layer of cross-attention; all: the mean over layers",
    "head": "all: the mean over the heads of the layer, or a measure of the whole layer",
    "rows": "Whether a row belongs to the token read or to the token predicted",
    "measure": "What the map holds",
}


class AlignmentTab(AnalysisTab):
    """Word links of the large map, and a ranking of all heads as aligners.

    Attributes:
        alignment: what the tab knows.
        links: the words and the curves between them.
        threshold: how strong a link must be to be drawn.
        ranker: begins the ranking, and ends it.
        table: the ranking. A click on a row shows the map that it is about.
    """

    name: ClassVar[str] = "Alignment"
    tip: ClassVar[str] = "Word links of the chosen head or measure; find the best aligner"
    meaning: ClassVar[str] = (
        "Solid: the source word at which the chosen head looks most, in the current measure and row naming. Dashed: "
        "weaker links. A link shows where the model looks, which may not be the word's translation."
    )

    def __init__(self, context: AnalysisContext, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.alignment = AlignmentState(self.state)
        self.links = WordLinks()
        self._what, self._which_maps = label("heading", wraps=True), label("small", wraps=True)
        self._hint = label("muted", wraps=True)
        self._hint.setText(NO_LINKS)
        self.threshold = QSlider(Qt.Orientation.Horizontal)
        self.threshold.setRange(2, 100)
        self.threshold.setValue(round(100 * self.alignment.threshold))
        self.threshold.setToolTip("Hides weaker links, except the strongest of each target word")
        self.threshold.setAccessibleName("Threshold of links")
        self._threshold_text = label("small")
        self.ranker = JobBar(
            "Find the best aligner",
            "Tries every layer, head, row naming and measure on sentence pairs aligned by hand",
            self.request,
        )
        self._summary = label("small", wraps=True)
        self.table = Table(HEADINGS)
        self._lay_out()
        self.threshold.valueChanged.connect(self._on_threshold)
        self.ranker.start_wanted.connect(self._on_start)
        self.ranker.stop_wanted.connect(self.stop)
        self.table.row_chosen.connect(self._on_row)
        on_redraw(self.state.settings, ("maps", "large map"), self.redraw_in_sight)
        self.state.measuring.changed.connect(self.redraw_in_sight)

    def begin_model(self) -> None:
        """Another model: its heads are others."""
        self.cancel()
        self._take(None)

    def stop(self) -> bool:
        """The user ends the ranking."""
        if not self.request.is_running:
            return False
        self.cancel()
        return True

    def redraw(self) -> None:
        """Shows the links, and the ranking if there is one."""
        links = self.alignment.links()
        self._what.setText(title(self.state))
        self._which_maps.setText(self.alignment.which_maps)
        self._hint.setVisible(links is None and self.state.result is not None)
        for part in (self._what, self._area):
            part.setVisible(links is not None)
        self._which_maps.setVisible(links is not None and bool(self.alignment.which_maps))
        set_visible(self._threshold_row, links is not None, focus_to=self.ranker.start)
        self._threshold_text.setText(f"links from {self.alignment.threshold:.2f}")
        self.links.show_links(links, self.alignment.threshold)
        ranking = self.alignment.ranking
        self._summary.setText(summary(ranking) if ranking is not None else "")
        self._summary.setVisible(ranking is not None)
        set_visible(self.table, ranking is not None, focus_to=self.ranker.start)
        self._filler.setVisible(links is None and ranking is None)

    def _take(self, ranking: "AlignerRanking | None") -> None:
        self.alignment.ranking = ranking
        self.table.show_rows([cells(each) for each in self.alignment.ranked()])
        self.redraw_in_sight()

    def _on_start(self) -> None:
        self.ask(RankAlignersJob(target_code(self.state.model, self.state.experiment.source_text)), self._take)

    def _on_row(self, index: int) -> None:
        aligner = aligner_of(self.alignment.ranked()[index])
        if aligner is not None:
            self.alignment.show(aligner)

    def _on_threshold(self, percent: int) -> None:
        self.alignment.threshold = percent / 100
        self.redraw()

    def _lay_out(self) -> None:
        self._threshold_row = QWidget()
        row_of(self._threshold_text, (self.threshold, 1), within=self._threshold_row)
        self._area, self._filler = VerticalScrollArea(self.links), QWidget()
        add_parts(
            self.column,
            self._what,
            self._which_maps,
            self._hint,
            (self._area, 3),
            self._threshold_row,
            self.ranker,
            self._summary,
            (self.table, 2),
            (self._filler, 1),
        )
