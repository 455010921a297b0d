"""The choice of words: the best candidates of every step, and the tree of a beam search."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QScrollArea, QSizePolicy, QWidget

from augenmerk.core.text.subwords import WORD_MARK
from augenmerk.core.translation.experiment import Beam
from augenmerk.core.translation.result import Alternative, Translation
from augenmerk.viz_app.learn.figures.figure import ChapterFigure, LearnContext
from augenmerk.viz_app.learn.job import BeamTreeJob
from augenmerk.viz_app.state.experiment_editor import force
from augenmerk.viz_app.theme import CHIP_RADIUS, PANEL_MARGIN, Theme, current_theme, scaled
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.worker.inference import Job

if TYPE_CHECKING:  # torch belongs to the worker thread
    from augenmerk.core.analysis.beam_tree import BeamNode, BeamTree

NUM_CANDIDATES = 4
BEAM = Beam(4, 0.0)
"""Plain probabilities are compared: what is found is more probable, whatever its length."""
MIN_CELL, MAX_CELL, CELL_PADDING, CELL_HEIGHT, GAP = 28, 100, 9, 30, 4
"""A column is as wide as its widest token."""
HEADER, EDGE, LINE_GAP = 18, 8, 8
AROUND_CHIPS = 75
"""Of the height of a figure, what its heading and a scroll bar take."""
SCROLL_BAR, FRAME = 12, 1
MIN_FACTOR, MAX_FACTOR, FACTOR_STEP = 0.83, 1.8, 0.02
"""Chips are at most so much smaller than usual, for a long sentence, and so much larger, on a large page."""


class DecodingFigure(ChapterFigure):
    """A column for each step, the best candidates below each other; a click forces one.

    Attributes:
        table: the candidates.
    """

    caption = "Greedy decoding: at each step the most probable token is taken. Click another one"

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        self._available_height = 0
        self.table = CandidateTable()
        self.table.chosen.connect(self._force)
        self._area = _AcrossScrollArea(self.table)
        self.column.addWidget(self._area)

    def set_available_height(self, height: int) -> None:
        """Larger chips on a large page."""
        self._available_height = height
        self._fit()

    def redraw(self) -> None:
        """Another translation."""
        if self.translation is not None:
            self.table.show_translation(self.translation)
            self._fit()

    def _fit(self) -> None:
        self.table.fit(_inner_width(self), self._available_height - scaled(AROUND_CHIPS))
        self._area.fit_height()

    def _force(self, step: int, candidate: Alternative) -> None:
        if self.state.current is not None:
            self.state.submit(force(step, candidate.entry))


class BeamFigure(ChapterFigure):
    """The hypotheses that a beam of four kept, step by step.

    The chosen path and that of greedy decoding stand out.

    Attributes:
        tree: what is drawn; None while nothing is known.
        drawing: the tree.
    """

    caption = "Beam search: four partial translations are kept at each step"

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        self.tree: BeamTree | None = None
        self._available_height = 0
        self.drawing = BeamDrawing()
        self.says = label("small", wraps=True)
        self._area = _AcrossScrollArea(self.drawing)
        self.column.addWidget(self._area)
        self.column.addWidget(self.says)

    def set_available_height(self, height: int) -> None:
        """Larger chips on a large page."""
        self._available_height = height
        self._fit()

    def _fit(self) -> None:
        self.drawing.fit(_inner_width(self), self._available_height - scaled(AROUND_CHIPS) - self._words_height())
        self._area.fit_height()

    def _words_height(self) -> int:
        """Of the text below, in as many lines as it needs."""
        return max(0, self.says.heightForWidth(_inner_width(self)))

    def to_ask(self) -> tuple[object, Job] | None:
        """The search in this sentence; what is changed in the model plays no part."""
        translation = self.state.original
        if translation is None or self.state.current is None:
            return None
        return translation.source_text, BeamTreeJob(translation.source_text, BEAM)

    def take(self, answer: "BeamTree") -> None:
        """Keeps the tree."""
        self.tree = answer

    def redraw(self) -> None:
        """The tree, and both translations with their probabilities."""
        tree = self.tree
        if tree is None:
            return
        self.drawing.show_tree(tree)
        by_beam, greedy = tree.texts
        if by_beam == greedy:
            self.says.setText(f"Both find the same translation: “{greedy}”")
        else:
            first, second = (_odds(value) for value in tree.log_probabilities)
            self.says.setText(f"Blue, beam: “{by_beam}” ({first}). Orange, greedy: “{greedy}” ({second}).")
        self._fit()


class ChipDrawing(QWidget):
    """Chips in columns, which are larger where there is space, and go on in a line below where there is too little.

    Attributes:
        factor: how much larger than usual.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.factor = 1.0
        self._line_width: int | None = None
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @property
    def theme(self) -> Theme:
        """The theme with letters and lengths so much larger."""
        theme = current_theme()
        return theme.at_scale(theme.scale * self.factor) if self.factor != 1.0 else theme

    def natural_size(self) -> QSize:
        """What is drawn with the factor that holds now, in pixels; empty while there is nothing."""
        return QSize()

    def fit(self, width: int, height: int) -> None:
        """As large as fits: in one line, else in several where they are not too high, else the one scrolls."""
        self.factor, self._line_width = 1.0, None
        natural = self.natural_size()
        if not natural.isEmpty():
            fits = min(width / natural.width(), height / natural.height())
            self._shrink(max(MIN_FACTOR, min(MAX_FACTOR, fits)), width)
            if self.natural_size().width() > width:
                self._line_width = width
                self._shrink(1.0, width, height)
                if not _fits(self.natural_size(), width, height):
                    self._line_width = None
            self.setFixedSize(self.natural_size())
        self.update()

    def _shrink(self, factor: float, width: int, height: int | None = None) -> None:
        """From this factor on until it fits: letters are whole pixels large."""
        self.factor = factor
        while self.factor > MIN_FACTOR and not _fits(self.natural_size(), width, height):
            self.factor = max(MIN_FACTOR, self.factor - FACTOR_STEP)

    def _columns(self, tokens: Sequence[Sequence[str]], least: int, gap: int) -> "_Columns":
        """Where columns with these tokens stand, none narrower than `least`."""
        theme = self.theme
        metrics = QFontMetrics(theme.font("body", bold=True))
        widths = [
            min(
                max([metrics.horizontalAdvance(_shown(each)) + theme.scaled(CELL_PADDING) for each in column] or [0]),
                theme.scaled(MAX_CELL),
            )
            for column in tokens
        ]
        return _Columns([max(width, theme.scaled(least)) for width in widths], gap, self._line_width)


def _fits(size: QSize, width: int, height: int | None) -> bool:
    return size.width() <= width and (height is None or size.height() <= height)


class _Columns:
    """Where columns stand beside each other, in pixels; what does not fit goes on in the next line.

    Attributes:
        lefts, widths, lines: of each column.
        end: behind the last one of the widest line.
    """

    def __init__(self, widths: Sequence[int], gap: int, line_width: int | None = None) -> None:
        self.widths, self.lefts, self.lines, self.end = list(widths), list[int](), list[int](), 0
        left = line = 0
        for width in widths:
            if line_width is not None and left and left + width > line_width:
                left, line = 0, line + 1
            self.lefts.append(left)
            self.lines.append(line)
            self.end = max(self.end, left + width)
            left += width + gap

    @property
    def num_lines(self) -> int:
        """At least one."""
        return 1 + max(self.lines, default=0)

    def at(self, line: int, x: float) -> int:
        """The column at a place of a line, its gap included; −1 if there is none."""
        found = (column for column, left in enumerate(self.lefts) if self.lines[column] == line and left <= x)
        return max(found, default=-1)


class CandidateTable(ChipDrawing):
    """Draws the candidates of a translation.

    Signals:
        chosen(int, Alternative): a candidate of a step was clicked.
    """

    chosen = Signal(int, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._translation: Translation | None = None
        self._places = _Columns((), 0)
        self.setAccessibleName("Candidates of each decoding step")
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def show_translation(self, translation: Translation) -> None:
        """Another translation."""
        self._translation = translation
        self.setAccessibleDescription(", ".join(translation.predicted_tokens))
        self.setFixedSize(self.natural_size())
        self.update()

    def natural_size(self) -> QSize:
        """With the factor that holds now."""
        if self._translation is None:
            return QSize()
        scaled = self.theme.scaled
        candidates = [
            [each.token for each in candidates[:NUM_CANDIDATES]] for candidates in self._translation.alternatives
        ]
        self._places = self._columns(candidates, MIN_CELL, scaled(GAP))
        num_lines = self._places.num_lines
        return QSize(self._places.end, num_lines * self._line_height + (num_lines - 1) * scaled(LINE_GAP))

    def place_of(self, step: int, rank: int) -> QRectF:
        """Where a candidate is drawn."""
        scaled = self.theme.scaled
        return QRectF(
            self._places.lefts[step],
            self._line_top(self._places.lines[step]) + scaled(HEADER) + rank * (scaled(CELL_HEIGHT) + 4),
            self._places.widths[step],
            scaled(CELL_HEIGHT),
        )

    @property
    def _line_height(self) -> int:
        scaled = self.theme.scaled
        return scaled(HEADER) + NUM_CANDIDATES * (scaled(CELL_HEIGHT) + 4)

    def _line_top(self, line: int) -> int:
        return line * (self._line_height + self.theme.scaled(LINE_GAP))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click chooses the candidate there."""
        scaled = self.theme.scaled
        translation = self._translation
        if translation is None or translation.is_given or event.button() != Qt.MouseButton.LeftButton:
            return
        line = int(event.position().y() // self._line_top(1))
        step = self._places.at(line, event.position().x())
        rank = int((event.position().y() - self._line_top(line) - scaled(HEADER)) // (scaled(CELL_HEIGHT) + 4))
        if 0 <= step < len(translation.alternatives) and 0 <= rank < min(
            NUM_CANDIDATES, len(translation.alternatives[step])
        ):
            self.chosen.emit(step, translation.alternatives[step][rank])

    def paintEvent(self, event: QPaintEvent) -> None:
        """A chip for each candidate, its probability as a bar below it."""
        translation, theme = self._translation, self.theme
        if translation is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font("small"))
        metrics, num_steps = painter.fontMetrics(), len(translation.alternatives)
        headings = [f"step {step + 1}" for step in range(num_steps)]
        widths = [self.place_of(step, 0).width() - theme.scaled(4) for step in range(num_steps)]
        if any(metrics.horizontalAdvance(heading) > width for heading, width in zip(headings, widths, strict=True)):
            headings[1:] = [str(step + 1) for step in range(1, num_steps)]  # or they would run together
        for step, candidates in enumerate(translation.alternatives):
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("muted"))
            first, heading = self.place_of(step, 0), headings[step]
            painter.drawText(QPointF(first.left() + 2, first.top() - 5), heading)
            for rank, candidate in enumerate(candidates[:NUM_CANDIDATES]):
                is_chosen = candidate.token == translation.predicted_tokens[step]
                place = self.place_of(step, rank)
                _draw_chip(painter, theme, place, candidate.token, is_chosen=is_chosen)
                bar = QRectF(place.left() + 6, place.bottom() - 6, (place.width() - 12) * candidate.probability, 3)
                painter.fillRect(bar, theme.color("accent" if is_chosen else "muted"))


class BeamDrawing(ChipDrawing):
    """Draws a `BeamTree`: a column for each step, the best hypothesis of a step at the top."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tree: BeamTree | None = None
        self._places, self._line_tops = _Columns((), 0), [0]
        self.setAccessibleName("Tree of the beam search")

    def show_tree(self, tree: "BeamTree") -> None:
        """Another search."""
        self._tree = tree
        self.setAccessibleDescription(f"Beam: {tree.texts[0]} Greedy: {tree.texts[1]}")
        self.setFixedSize(self.natural_size())
        self.update()

    def natural_size(self) -> QSize:
        """With the factor that holds now."""
        tree, scaled = self._tree, self.theme.scaled
        if tree is None:
            return QSize()
        tokens = [[node.token for node in tree.nodes if node.step == step] for step in range(tree.num_steps)]
        self._places = self._columns(tokens, MIN_CELL, scaled(GAP) + scaled(EDGE))
        row = scaled(CELL_HEIGHT) + 6
        self._line_tops = [0]
        for line in range(self._places.num_lines):  # each as high as what stands in it
            ranks = [node.rank for node in tree.nodes if self._places.lines[node.step] == line]
            self._line_tops.append(self._line_tops[-1] + (1 + max(ranks, default=0)) * row + scaled(LINE_GAP))
        return QSize(self._places.end, self._line_tops[-1] - scaled(LINE_GAP) + 4)

    def place_of(self, node: "BeamNode") -> QRectF:
        """Where a hypothesis is drawn."""
        scaled = self.theme.scaled
        return QRectF(
            self._places.lefts[node.step],
            self._line_tops[self._places.lines[node.step]] + 2 + node.rank * (scaled(CELL_HEIGHT) + 6),
            self._places.widths[node.step],
            scaled(CELL_HEIGHT),
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """Edges first, chips over them."""
        tree, theme = self._tree, self.theme
        if tree is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        greedy = set(tree.greedy)
        chosen = {place for place, node in enumerate(tree.nodes) if node.is_chosen}
        for place, node in enumerate(tree.nodes):
            if node.parent is None:
                continue
            begin, end = self.place_of(tree.nodes[node.parent]), self.place_of(node)
            color = "accent" if place in chosen else "warm" if place in greedy else "border"
            painter.setPen(QPen(theme.color(color), 2 if color != "border" else 1))
            leaves, arrives = QPointF(begin.right(), begin.center().y()), QPointF(end.left(), end.center().y())
            if end.left() > begin.left():
                painter.drawLine(leaves, arrives)
            else:  # it goes on in the next line
                out = QPointF(theme.scaled(EDGE), 0)
                painter.drawLine(leaves, leaves + out)
                painter.drawLine(arrives - out, arrives)
        for place, node in enumerate(tree.nodes):
            _draw_chip(
                painter,
                theme,
                self.place_of(node),
                node.token,
                is_chosen=place in chosen,
                is_warned=place in greedy - chosen,
            )


def _draw_chip(
    painter: QPainter, theme: Theme, place: QRectF, token: str, *, is_chosen: bool, is_warned: bool = False
) -> None:
    color = "accent" if is_chosen else "warm" if is_warned else "text"
    painter.setPen(QPen(theme.color(color if color != "text" else "border"), 1))
    painter.setBrush(theme.color("raised"))
    painter.drawRoundedRect(place.adjusted(0.5, 0.5, -0.5, -0.5), CHIP_RADIUS, CHIP_RADIUS)
    painter.setFont(theme.font("body", bold=is_chosen))
    painter.setPen(theme.color(color))
    text = chip_text(theme, token, int(place.width()), is_bold=is_chosen)
    painter.drawText(place.adjusted(0, -2, 0, -2), int(Qt.AlignmentFlag.AlignCenter), text)


def chip_text(theme: Theme, token: str, width: int, *, is_bold: bool) -> str:
    """The text of a chip of this width: the token, shortened unless the column is as wide as its widest token."""
    metrics = QFontMetrics(theme.font("body", bold=is_bold))
    return metrics.elidedText(_shown(token), Qt.TextElideMode.ElideRight, width - theme.scaled(CELL_PADDING) + 1)


def _inner_width(figure: ChapterFigure) -> int:
    return figure.width() - 2 * scaled(PANEL_MARGIN) - 2 * FRAME


def _shown(token: str) -> str:
    return token.replace(WORD_MARK, "") or token


class _AcrossScrollArea(QScrollArea):
    """Scrolls sideways where the sentence is long; as high as its content."""

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self.setWidget(content)
        content.setAutoFillBackground(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setAutoFillBackground(False)

    def sizeHint(self) -> QSize:
        """As high as the content and a scroll bar."""
        content = self.widget()
        return QSize(300, content.height() + scaled(SCROLL_BAR) if content is not None else 60)

    def fit_height(self) -> None:
        """Another content has another height."""
        self.setFixedHeight(self.sizeHint().height())


def _odds(log_probability: float) -> str:
    return f"log-probability −{-log_probability:.2f}"
