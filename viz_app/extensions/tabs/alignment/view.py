"""The tab *Alignment*: which word belongs to which."""

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFontMetrics,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QSlider, QWidget

from augenmerk.core.errors import AnalysisError
from augenmerk.core.extensions.analyses.samples import require_languages_of_sample
from augenmerk.core.translation.result import TranslationStoppedError

from ....state.experiment_state import Progress
from ....state.languages import CHOOSE_TARGET, target_code
from ....state.map_text import title
from ....state.map_view_settings import on_redraw
from ....state.sentence_text import visible
from ....state.tabs import Tab
from ....theme import current_theme, scaled
from ....translate.analysis_tab import AnalysisContext
from ....widgets.canvas import Canvas
from ....widgets.labels import ElidingLabel, label
from ....widgets.layouts import VerticalScrollArea, add_parts, row_of, set_visible, take_out
from ....worker.jobs import Job, JobScope, OpenTranslator, ShouldStop, Tell
from ...widgets.table import Table
from ..computing_tab import ComputingTab
from .state import AlignmentState, Links, cells, summary

if TYPE_CHECKING:
    from augenmerk.core.extensions.analyses.alignment_ranking import AlignerRanking


@dataclass(frozen=True, eq=False)
class RankAlignersJob(Job):
    """Ranks every layer × head × label mode × measure on the shipped gold pairs.

    Starts again if stopped.

    Attributes:
        target_code: the token `>>xx<<` of the target language, for a model of several; None if none
            is chosen.
    """

    target_code: str | None = None
    scope: ClassVar[JobScope] = "model"

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> "AlignerRanking":
        """See `Job.run`."""
        advice = "Rank its heads on your own pairs in a terminal: augenmerk align --gold FILE."
        require_languages_of_sample(translator, advice, CHOOSE_TARGET, target_code=self.target_code)
        from augenmerk.core.extensions.analyses.alignment import IBM_1_NAME, read_gold, read_ibm_1
        from augenmerk.core.extensions.analyses.alignment_ranking import rank_aligners

        others = {}
        with suppress(AnalysisError):  # without its file the diagonal is the only baseline
            others[IBM_1_NAME] = read_ibm_1()

        def tell(done: int, total: int) -> None:
            progress(Progress(done, total, f"{done} of {total} pairs"))

        ranking = rank_aligners(
            translator,
            read_gold(),
            others,
            target_code=self.target_code or "",
            on_progress=tell,
            should_stop=should_stop,
        )
        if not ranking.is_complete:
            raise TranslationStoppedError
        return ranking


LINE_GAP = 7
MAX_WORD = 150
WORD_GAP = 8
MAX_PEN = 4.5


class WordLinks(Canvas):
    """Source words at the left, target words at the right.

    The word under the mouse keeps its links, others pale.

    Words that the original does not have use the colour of changed words.
    """

    def __init__(self) -> None:
        super().__init__()
        self._links: Links | None = None
        self._threshold = 0.0
        self.hovered: tuple[str, int] | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Word links")

    def rebuild(self) -> None:
        """Adapts to other words or another font.

        The gaps between words yield to a low tab before it scrolls.
        """
        line = QFontMetrics(current_theme().font("body")).height()
        self.setMinimumHeight(self._num_lines * line + 4)
        self.setMaximumHeight(self._num_lines * (line + scaled(LINE_GAP)) + 4)
        self.update()

    def show_links(self, links: Links | None, threshold: float) -> None:
        """Draw these links."""
        self._links = links
        self._threshold = threshold
        self.hovered = None
        if links is not None:
            pairs = ", ".join(
                f"{target} – {links.sources[best]}"
                for target, best in zip(links.targets, links.best, strict=True)
            )
            self.setAccessibleDescription(pairs)
        self.rebuild()

    def place_of(self, side: str, index: int) -> QRectF:
        """The rectangle of a word of the side "source" or "target"."""
        width = self._word_width()
        left = 0.0 if side == "source" else self.width() - width
        return QRectF(left, self._middle(side, index) - self._line() / 2, width, self._line())

    def word_at(self, point: QPointF) -> tuple[str, int] | None:
        """Side and index of the word under a point."""
        if self._links is None:
            return None
        for side, words in (("source", self._links.sources), ("target", self._links.targets)):
            for index in range(len(words)):
                if self.place_of(side, index).contains(point):
                    return side, index
        return None

    def sizeHint(self) -> QSize:
        """As high as the longer column, with gaps between its words."""
        return QSize(300, self.maximumHeight())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        word = self.word_at(event.position())
        if word != self.hovered:
            self.hovered = word
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self.hovered = None
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        links = self._links
        if links is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(current_theme().font("body"))
        shown = links.shown(self._threshold)
        for target, source, strength in sorted(shown, key=lambda link: link[2]):
            self._paint_link(painter, target, source, strength)
        lit = {
            ("target", target) for target, source, _ in shown if self.hovered == ("source", source)
        }
        lit |= {
            ("source", source) for target, source, _ in shown if self.hovered == ("target", target)
        }
        for side, words in (("source", links.sources), ("target", links.targets)):
            for index, word in enumerate(words):
                self._paint_word(
                    painter,
                    side,
                    index,
                    word,
                    (side, index) == self.hovered or (side, index) in lit,
                )

    def _paint_link(self, painter: QPainter, target: int, source: int, strength: float) -> None:
        assert self._links is not None
        start = self.place_of("source", source)
        end = self.place_of("target", target)
        begin = QPointF(start.right() + scaled(WORD_GAP), start.center().y())
        finish = QPointF(end.left() - scaled(WORD_GAP), end.center().y())
        bend = (finish.x() - begin.x()) / 2
        path = QPainterPath(begin)
        path.cubicTo(
            QPointF(begin.x() + bend, begin.y()), QPointF(finish.x() - bend, finish.y()), finish
        )
        is_best = self._links.best[target] == source
        is_meant = self.hovered in (None, ("source", source), ("target", target))
        alpha = (0.35 + 0.65 * strength) if is_meant else 0.1
        pen = QPen(
            current_theme().color("accent" if is_best else "muted", alpha),
            max(1.0, MAX_PEN * strength),
        )
        if not is_best:
            pen.setStyle(Qt.PenStyle.DashLine)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)

    def _paint_word(
        self, painter: QPainter, side: str, index: int, word: str, is_lit: bool
    ) -> None:
        box = self.place_of(side, index)
        align = Qt.AlignmentFlag.AlignRight if side == "source" else Qt.AlignmentFlag.AlignLeft
        text = QFontMetrics(painter.font()).elidedText(
            visible(word), Qt.TextElideMode.ElideRight, int(box.width())
        )
        assert self._links is not None
        is_new = index in (self._links.new_sources if side == "source" else self._links.new_targets)
        color = "warm" if is_new else "text"
        painter.setPen(current_theme().color("accent" if is_lit else color))
        painter.drawText(box, align | Qt.AlignmentFlag.AlignVCenter, text)

    def tip_at(self, position: QPointF) -> str:
        """A word and its strongest links."""
        links = self._links
        word = self.word_at(position)
        if word is None or links is None:
            return ""
        side, index = word
        strengths = links.strengths[index] if side == "target" else links.strengths[:, index]
        others = links.sources if side == "target" else links.targets
        own = (links.targets if side == "target" else links.sources)[index]
        best = sorted(enumerate(strengths.tolist()), key=lambda item: -item[1])[:4]
        return "\n".join([own, *(f"{others[other]}  {strength:.2f}" for other, strength in best)])

    @property
    def _num_lines(self) -> int:
        links = self._links
        return 0 if links is None else max(len(links.sources), len(links.targets))

    def _line(self) -> float:
        return (self.height() - 4) / max(self._num_lines, 1)

    def _middle(self, side: str, index: int) -> float:
        """The shorter column is spread over the height of the longer one."""
        assert self._links is not None
        count = len(self._links.sources if side == "source" else self._links.targets)
        return (index + 0.5) * (self.height() - 4) / count + 2

    def _word_width(self) -> int:
        assert self._links is not None
        metrics = QFontMetrics(current_theme().font("body"))
        widest = max(
            map(
                metrics.horizontalAdvance,
                map(visible, (*self._links.sources, *self._links.targets)),
            )
        )
        return min(widest + 2, scaled(MAX_WORD), self.width() // 3)


NO_LINKS = "Choose a cross-attention head: its queries are target words, its keys source words."
HEADINGS = {
    "AER": "Alignment error rate on the other pairs, not used to choose it: 0% is perfect",
    "chosen by": "Alignment error rate on the pairs used to choose it",
    "layer": "Layer of cross-attention; all: the mean over layers",
    "head": "all: the mean over the heads of the layer, or a measure of the whole layer",
    "rows": "Whether a row belongs to the token read or to the token predicted",
    "measure": "What the map holds",
}


class AlignmentTab(ComputingTab):
    """Word links of the large map, and a ranking of all heads as aligners.

    Attributes:
        alignment: the state.
        links: the words and the curves between them.
        threshold: the least strength of a link that is drawn.
        ranker: starts and cancels the ranking.
        table: the ranking. A click on a row shows its map.
    """

    def __init__(self, context: AnalysisContext, tab: Tab) -> None:
        super().__init__(context, tab)
        self.alignment = AlignmentState(self.state)
        self.links = WordLinks()
        # one line: a click on a row of the table changes both
        self._what = ElidingLabel("heading")
        self._which_maps = ElidingLabel("small")
        self._hint = label("muted", NO_LINKS, wraps=True)
        self.threshold = QSlider(Qt.Orientation.Horizontal)
        self.threshold.setRange(2, 100)
        self.threshold.setValue(round(100 * self.alignment.threshold))
        self.threshold.setToolTip("Hides weaker links, except the strongest of each target word")
        self.threshold.setAccessibleName("Threshold of links")
        self._threshold_text = label("small")
        self.ranker = self.add_job_bar(
            "Find the best aligner",
            "Tries every layer, head, row naming and measure on sentence pairs aligned by hand",
            self._on_start,
        )
        self._summary = label("small", wraps=True)
        self.table = Table(HEADINGS)
        self._lay_out()
        self.threshold.valueChanged.connect(self._on_threshold)
        self.table.row_chosen.connect(self._on_row)
        on_redraw(self.state.settings, ("maps", "large map"), self.redraw_in_sight)
        self.state.measuring.changed.connect(self.redraw_in_sight)

    def begin_model(self) -> None:
        """Forgets the ranking of the previous model."""
        self.cancel()
        self._take(None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A low tab shows more words instead of the explanation."""
        super().resizeEvent(event)
        self._show_explanation()

    def _show_explanation(self) -> None:
        self.explanation.setVisible(not self.is_low or self.state.result is None)

    def redraw(self) -> None:
        """Shows the links, and the ranking if there is one."""
        links = self.alignment.links()
        self._show_explanation()
        self._what.setText(title(self.state))
        self._which_maps.setText(self.alignment.which_maps)
        self._hint.setVisible(links is None and self.state.result is not None)
        for part in (self._what, self._area):
            part.setVisible(links is not None)
        self._which_maps.setVisible(links is not None)
        set_visible(self._threshold_row, links is not None, focus_to=self.ranker.start)
        self.threshold.setValue(round(100 * self.alignment.threshold))
        self._threshold_text.setText(f"links from {self.alignment.threshold:.2f}")
        self.links.show_links(links, self.alignment.threshold)
        ranking = self.alignment.ranking
        self._summary.setText(summary(ranking) if ranking is not None else "")
        self._summary.setVisible(ranking is not None)
        set_visible(self.table, ranking is not None, focus_to=self.ranker.start)

    def _take(self, ranking: "AlignerRanking | None") -> None:
        self.alignment.ranking = ranking
        self.table.show_rows([cells(score) for score in self.alignment.ranked()])
        self.redraw_in_sight()

    def _on_start(self) -> None:
        self.ask(
            RankAlignersJob(target_code(self.state.model, self.state.experiment.source_text)),
            self._take,
        )

    def _on_row(self, index: int) -> None:
        aligner = self.alignment.ranked()[index].aligner
        if aligner is not None:
            self.alignment.show(aligner)

    def _on_threshold(self, percent: int) -> None:
        self.alignment.threshold = percent / 100
        self.redraw()

    def _lay_out(self) -> None:
        self._threshold_row = QWidget()
        row_of(self._threshold_text, (self.threshold, 1), within=self._threshold_row)
        self._area = VerticalScrollArea(self.links)
        take_out(self.problem)
        add_parts(
            self.column,
            row_of(self._what, (self._which_maps, 1), spacing=8),
            self._hint,
            (self._area, 3),
            self._threshold_row,
            self.ranker,
            self.problem,
            self._summary,
            (self.table, 2),
            0,
        )
