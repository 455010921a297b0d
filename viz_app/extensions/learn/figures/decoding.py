"""The choice of words: the best candidates of every step, and the tree of a beam search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, ClassVar, Literal

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from augenmerk.core.text.subwords import WORD_MARK
from augenmerk.core.translation.experiment import Beam

from ....state.experiment_editor import force
from ....theme import CHIP_RADIUS, PANEL_MARGIN, Theme, current_theme, scaled
from ....widgets.labels import label
from ....widgets.layouts import add_parts, flow
from ....worker.jobs import Job
from ..job import BeamTreeJob
from .figure import ChapterFigure, LearnContext

if TYPE_CHECKING:  # torch belongs to the worker thread
    from augenmerk.core.extensions.analyses.beam_tree import BeamTree

NUM_CANDIDATES = 4
"""Rows of tokens at each step. A high page has room for more."""
BEAM = Beam(4, 0.0)
"""Compares plain probabilities: the result is more probable at any length."""
MIN_CELL, MAX_CELL, CELL_PADDING, CELL_HEIGHT, GAP, ROW_GAP = 28, 100, 9, 30, 4, 5
"""A column is as wide as its widest token."""
HEADER, EDGE, LINE_GAP = 18, 8, 8
AROUND_CHIPS = 65
"""Height of heading and margins of a figure."""
FACTORS = tuple(1.8 - 0.05 * step for step in range(17))
"""Sizes of chips, from those on a large page down to body text."""
NO_LIMIT = 1_000_000
ChipColor = Literal["text", "accent", "warm"]
UNCHANGED = "This search is without your changes. "


@dataclass(frozen=True)
class Chip:
    """A token in a `ChipDrawing`.

    Attributes:
        step: its column, counted from 0.
        rank: its row.
        token: its text.
        color: of frame and text.
        share: length of a bar at its bottom, from 0 to 1; None for no bar.
        parent: index of the chip that is connected with it.
    """

    step: int
    rank: int
    token: str
    color: ChipColor
    share: float | None = None
    parent: int | None = None


class ChipFigure(ChapterFigure):
    """Chips that are as large as the page allows, and a text below.

    Attributes:
        drawing: the chips.
        says: the text.
    """

    name: ClassVar[str]
    """Of the drawing, for screen readers."""

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self.drawing = ChipDrawing(self.name)
        self.says = label("muted", wraps=True)
        add_parts(self.column, self.drawing, self.says)

    def show_chips(self, chips: Sequence[Chip], description: str, text: str = "") -> None:
        """Shows these chips and this text."""
        self.says.setText(text)
        self.says.setVisible(bool(text))
        self.drawing.chips = tuple(chips)
        self.drawing.setAccessibleDescription(description)
        self.fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where a scroll bar has taken some of the width, the chips must fit again."""
        super().resizeEvent(event)
        if self.drawing.natural_size().width() > self.width() - 2 * scaled(PANEL_MARGIN):
            self.fit()

    def fit(self) -> None:
        """Fits the chips to the page."""
        width = self.width() - 2 * scaled(PANEL_MARGIN)
        below = max(0, self.says.heightForWidth(width)) if self.says.text() else 0
        self.drawing.fit(width, self.available_height - scaled(AROUND_CHIPS) - below)


class DecodingFigure(ChipFigure):
    """A column for each step, the best candidates below each other; a click forces one."""

    caption = "Greedy decoding: at each step the most probable token is taken. Click another one"
    name = "Candidates of each decoding step"

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self.drawing.header, self.drawing.num_ranks_needed = HEADER, NUM_CANDIDATES
        self.drawing.setCursor(Qt.CursorShape.PointingHandCursor)
        self.drawing.clicked.connect(self._force)

    def redraw(self) -> None:
        """Shows the candidates of the translation."""
        if (translation := self.translation) is None:
            return
        chips = [
            Chip(
                step,
                rank,
                candidate.token,
                "accent" if candidate.token == translation.predicted_tokens[step] else "text",
                candidate.probability,
            )
            for step, candidates in enumerate(translation.alternatives)
            for rank, candidate in enumerate(candidates)
        ]
        self.show_chips(chips, ", ".join(translation.predicted_tokens))

    def _force(self, chip: Chip) -> None:
        translation = self.translation
        if self.state.current is not None and translation is not None and not translation.is_given:
            self.state.submit(
                force(chip.step, translation.alternatives[chip.step][chip.rank].entry)
            )


class BeamFigure(ChipFigure):
    """The hypotheses that a beam of four kept, step by step, with the paths of beam search and
    greedy decoding.
    """

    needs_answer = True
    caption = "Beam search: four partial translations are kept at each step"
    name = "Tree of the beam search"
    answer: "BeamTree | None"

    def job(self) -> Job | None:
        """The search in this sentence, without interventions."""
        return (
            BeamTreeJob(self.state.current.original.source_text, BEAM)
            if self.state.current is not None
            else None
        )

    def redraw(self) -> None:
        """Shows the tree, and both translations with their probabilities."""
        tree = self.answer
        if tree is None:
            return
        greedy = set(tree.greedy)
        chips: list[Chip] = []
        for index, node in enumerate(tree.nodes):
            color: ChipColor
            if node.is_chosen:
                color = "accent"
            elif index in greedy:
                color = "warm"
            else:
                color = "text"
            chips.append(Chip(node.step, node.rank, node.token, color, parent=node.parent))
        by_beam, by_greedy = tree.texts
        first, second = (f"log-probability −{-value:.2f}" for value in tree.log_probabilities)
        if by_beam == by_greedy:
            outcome = f"Both find the same translation: “{by_greedy}”"
        else:
            outcome = (
                f"Blue, beam: “{by_beam}” ({first}). Orange, greedy: “{by_greedy}” ({second})."
            )
        if self.state.result is not None and self.state.result.is_changed:
            outcome = UNCHANGED + outcome
        self.show_chips(chips, f"Beam: {by_beam} Greedy: {by_greedy}", outcome)


class ChipDrawing(QWidget):
    """Chips in columns.

    They are larger where there is space, and wrap into lines where there is not enough.

    Attributes:
        chips: ordered by step.
        num_ranks_needed: chips of later ranks are shown where there is room, and shortened.
        shown: the chips that are drawn.
        header: height of the numbers of the steps, at 100%; 0 for none.
        factor: size of the chips in relation to 100%.
        theme: the theme with this factor.

    Signals:
        clicked(Chip)
    """

    clicked = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.chips: tuple[Chip, ...] = ()
        self.shown: tuple[Chip, ...] = ()
        self.num_ranks_needed = NO_LIMIT
        self.header = 0
        self.factor = 1.0
        self.theme = current_theme()
        self._line_width = NO_LIMIT
        self._columns: list[QRect] = []
        self.setAccessibleName(name)

    def natural_size(self) -> QSize:
        """Lays out the columns with the current factor and returns their size in pixels."""
        theme = current_theme()
        self.theme = theme = theme.at_scale(theme.scale * self.factor)
        metrics = QFontMetrics(theme.font("body", bold=True))
        sizes = list[QSize]()
        for chip in self.shown:
            if chip.step == len(sizes):
                sizes.append(QSize(theme.scaled(MIN_CELL), 0))
            is_needed = chip.rank < self.num_ranks_needed
            width = (
                metrics.horizontalAdvance(_shown(chip.token)) + theme.scaled(CELL_PADDING)
                if is_needed
                else 0
            )
            bottom = theme.scaled(self.header) + (chip.rank + 1) * theme.scaled(
                CELL_HEIGHT + ROW_GAP
            )
            sizes[-1] = sizes[-1].expandedTo(QSize(min(width, theme.scaled(MAX_CELL)), bottom))
        gap = theme.scaled(GAP if self.header else GAP + EDGE)
        self._columns = flow(
            sizes, self._line_width, spacing=gap, line_spacing=theme.scaled(LINE_GAP)
        )
        right = max((column.right() for column in self._columns), default=0)
        return QSize(right + 1, max((column.bottom() for column in self._columns), default=0) + 1)

    def fit(self, width: int, height: int) -> None:
        """Chooses the largest size that fits: in one line, else in several, which may be higher."""
        self.shown = tuple(chip for chip in self.chips if chip.rank < self.num_ranks_needed)
        for self._line_width, self.factor in product((NO_LIMIT, width), FACTORS):
            size = self.natural_size()
            if size.width() <= width and size.height() <= height:
                break
        if self._line_width == NO_LIMIT:
            room = height - self.theme.scaled(self.header)
            num_ranks = max(self.num_ranks_needed, room // self.theme.scaled(CELL_HEIGHT + ROW_GAP))
            self.shown = tuple(chip for chip in self.chips if chip.rank < num_ranks)
            size = self.natural_size()
        self.setFixedHeight(size.height())
        self.update()

    def place_of(self, step: int, rank: int) -> QRectF:
        """The area of a chip."""
        column = self._columns[step]
        scaled = self.theme.scaled
        top = column.top() + scaled(self.header) + rank * scaled(CELL_HEIGHT + ROW_GAP) + 1
        return QRectF(column.left(), top, column.width(), scaled(CELL_HEIGHT))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        for chip in self.shown:
            if self.place_of(chip.step, chip.rank).contains(event.position()):
                if event.button() == Qt.MouseButton.LeftButton:
                    self.clicked.emit(chip)
                return

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        boxes = [self.place_of(chip.step, chip.rank) for chip in self.shown]
        for chip, box in zip(self.shown, boxes, strict=True):
            if chip.parent is not None:
                self._paint_edge(painter, boxes[chip.parent], box, chip.color)
        if self.header:
            painter.setFont(theme.font("body"))
            painter.setPen(theme.color("muted"))
            for step, column in enumerate(self._columns):
                bottom = column.top() + theme.scaled(self.header) - 4
                painter.drawText(
                    QPointF(column.left() + 2, bottom), str(step + 1) if step else "step 1"
                )
        for chip, box in zip(self.shown, boxes, strict=True):
            painter.setPen(QPen(theme.color("border" if chip.color == "text" else chip.color), 1))
            painter.setBrush(theme.color("raised"))
            painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), CHIP_RADIUS, CHIP_RADIUS)
            painter.setFont(theme.font("body", bold=chip.color == "accent"))
            painter.setPen(theme.color(chip.color))
            text = chip_text(theme, chip.token, int(box.width()), is_bold=chip.color == "accent")
            painter.drawText(box.adjusted(0, -2, 0, -2), int(Qt.AlignmentFlag.AlignCenter), text)
            if chip.share is not None:
                bar = QRectF(box.left() + 6, box.bottom() - 6, (box.width() - 12) * chip.share, 3)
                painter.fillRect(bar, theme.color("muted" if chip.color == "text" else chip.color))

    def _paint_edge(self, painter: QPainter, begin: QRectF, end: QRectF, color: str) -> None:
        painter.setPen(
            QPen(
                self.theme.color("border" if color == "text" else color),
                1 if color == "text" else 2,
            )
        )
        leaves, arrives = (
            QPointF(begin.right(), begin.center().y()),
            QPointF(end.left(), end.center().y()),
        )
        if end.left() > begin.left():
            painter.drawLine(leaves, arrives)
        else:  # in the next line
            out = QPointF(self.theme.scaled(EDGE), 0)
            painter.drawLine(leaves, leaves + out)
            painter.drawLine(arrives - out, arrives)


def chip_text(theme: Theme, token: str, width: int, *, is_bold: bool) -> str:
    """The text of a chip of this width: the token, shortened unless the column is as wide as its
    widest token.
    """
    metrics = QFontMetrics(theme.font("body", bold=is_bold))
    return metrics.elidedText(
        _shown(token), Qt.TextElideMode.ElideRight, width - theme.scaled(CELL_PADDING) + 1
    )


def _shown(token: str) -> str:
    return token.replace(WORD_MARK, "") or token
