"""The tab *Steps*: decoding token by token, with tokens to force and rows of attention to set at
each step.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QPoint, QPointF, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QHideEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from augenmerk.core.counting import display_text
from augenmerk.core.quantities import percent
from augenmerk.core.translation.experiment import Experiment, ForcedToken
from augenmerk.core.translation.result import Translation

from ....state.experiment_editor import force
from ....state.sentence_text import is_right_to_left, visible
from ....state.tabs import Tab
from ....theme import CHIP_RADIUS, current_theme, scaled, scales
from ....translate.analysis_tab import AnalysisContext, AnalysisTab
from ....widgets.buttons import flat_button
from ....widgets.canvas import Canvas
from ....widgets.labels import ElidingLabel, label
from ....widgets.layouts import (
    LinesScrollArea,
    Space,
    VerticalScrollArea,
    add_parts,
    column_of,
    flow,
    keep_room,
    row_of,
    take_out,
)
from ....worker.jobs import Job, OpenTranslator, ShouldStop, Tell
from ...rows.editor import RowEditor
from ...widgets.bars import Bar, BarList
from ...widgets.one_line_edit import one_line_edit
from .state import Candidate, StepRow, StepsState


@dataclass(frozen=True, eq=False)
class ForceWordJob(Job):
    """The tokens of a typed word, forced from a decoding step on.

    Attributes:
        experiment: the experiment that they join, without a given target.
        step: the first step of the word.
        text: as typed.
    """

    experiment: Experiment
    step: int
    text: str

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> tuple[ForcedToken, ...]:
        """See `Job.run`. Raises the reason if the model would refuse the tokens."""
        from augenmerk.core.translation.compilation import forced_word

        forced = forced_word(self.step, self.text, translator.checkpoint.codecs.target)
        translator.compile(self.experiment.with_interventions(*forced))
        return forced


SPACING = 4
PADDING = 6
MAX_LETTERS = 24
NUM_LINES, NUM_LINES_IF_LOW, NUM_LINES_IF_LOWEST = 3, 2, 1
LEAST_WIDTH = 100
LOWEST_TAB = 300
"""Pixels of height below which the candidates get even more."""


@dataclass(frozen=True)
class TokenChip:
    """One token.

    Attributes:
        text: as shown.
        tip: its tool tip.
        is_changed: whether its step is changed, or the original does not have it.
        is_current: whether it is framed.
    """

    text: str
    tip: str = ""
    is_changed: bool = False
    is_current: bool = False


class TokenLine(Canvas):
    """Draws chips.

    Signals:
        clicked(int): the index of a chip.
    """

    clicked = Signal(int)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.chips: tuple[TokenChip, ...] = ()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName(name)

    def show_chips(self, chips: Sequence[TokenChip]) -> None:
        """Show these chips."""
        self.chips = tuple(chips)
        self.setAccessibleDescription(" ".join(chip.text for chip in self.chips))
        self.updateGeometry()
        self.update()

    @property
    def line_height(self) -> int:
        """The height of a line of chips and the gap below it."""
        return self._line() + scaled(SPACING)

    def place_of(self, index: int) -> QRect:
        """The rectangle of a chip."""
        return self._flow(self.width())[index]

    def index_at(self, point: QPoint) -> int | None:
        """The chip under a point."""
        return next(
            (index for index, box in enumerate(self._flow(self.width())) if box.contains(point)),
            None,
        )

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        places = self._flow(width)
        return places[-1].bottom() + 2 if places else self._line()

    def sizeHint(self) -> QSize:
        return QSize(200, self.heightForWidth(max(self.width(), 200)))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.index_at(event.position().toPoint())
        if index is not None and event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(index)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Changes the pointer over clickable chips."""
        is_on_chip = self.index_at(event.position().toPoint()) is not None
        self.setCursor(
            Qt.CursorShape.PointingHandCursor if is_on_chip else Qt.CursorShape.ArrowCursor
        )

    def tip_at(self, position: QPointF) -> str:
        """Each chip has its own tool tip."""
        index = self.index_at(position.toPoint())
        return self.chips[index].tip if index is not None else ""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = current_theme()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for chip, box in zip(self.chips, self._flow(self.width()), strict=True):
            painter.setFont(theme.font("body"))
            painter.setPen(QPen(theme.color("accent" if chip.is_current else "raised"), 1.6))
            painter.setBrush(theme.color("raised"))
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), CHIP_RADIUS, CHIP_RADIUS)
            painter.setPen(theme.token_color(chip.text, "warm" if chip.is_changed else ""))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, _short(chip.text))

    def _flow(self, width: int) -> list[QRect]:
        metrics = QFontMetrics(current_theme().font("body"))
        height = self._line()
        widths = [
            max(metrics.horizontalAdvance(_short(chip.text)) + 2 * scaled(PADDING), 20)
            for chip in self.chips
        ]
        sizes = [QSize(chip_width, height) for chip_width in widths]
        places = flow(sizes, width, spacing=scaled(SPACING), line_spacing=scaled(SPACING))
        # marks such as <sos> are Latin in every language
        words = (chip.text for chip in self.chips if not chip.text.startswith("<"))
        if is_right_to_left(" ".join(words)):
            for place in places:
                place.moveRight(width - 1 - place.left())
        return places

    def _line(self) -> int:
        return current_theme().pixel_size("body") + scaled(9)


class TokenArea(LinesScrollArea):
    """A few lines of chips; the others scroll, and the current one stays in view.

    It is equally high for every translation: a click on a candidate below changes the translation.
    """

    def __init__(self, tokens: TokenLine) -> None:
        self._tokens = tokens
        self._current = 0
        super().__init__(tokens, lambda: tokens.line_height, NUM_LINES)
        self.setMinimumWidth(LEAST_WIDTH)

    def show_current(self, index: int) -> None:
        """Scroll to the current chip, after chips have changed or another one is current."""
        self._current = index
        self.fit()

    def content_height(self) -> int:
        """The height of all lines, at least of those in sight."""
        return max(super().content_height(), self._max_lines * self._tokens.line_height)

    def fit(self) -> None:
        """Keeps the current chip in view."""
        super().fit()
        if self._current < len(self._tokens.chips):
            box = self._tokens.place_of(self._current)
            self.ensureVisible(
                box.center().x(), box.center().y(), 0, box.height() // 2 + scaled(SPACING)
            )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self.fit)  # the tokens have their width only then


def _short(text: str) -> str:
    text = visible(text)
    return text if len(text) <= MAX_LETTERS else text[: MAX_LETTERS - 1] + "…"


PLAY_INTERVAL_MS = 700
LEAST_BARS = 130
"""Minimum height of candidates and row, in pixels."""
OTHER_PREFIX, TICKS = "no original here", "ticks: the original"
TIPS_ON_ORIGINAL = {
    OTHER_PREFIX: (
        "At this step the original reads other tokens or has ended, so there is no comparison"
    ),
    TICKS: "A tick on a bar shows the probability or weight in the original",
}
IN_SHORT = "Click a candidate to force it. Click a bar to set the row."
"""The explanation in a low tab."""
NO_ROW = "no steps"
HOW_TO_SEE_ROW = (
    "Choose a head of the decoder or of cross-attention to see and set the row of this step."
)


class StepsTab(AnalysisTab):
    """The decoding of the current experiment, one step at a time.

    Attributes:
        steps: the state.
        back: goes to the previous step.
        forward: goes to the next step.
        play: plays the steps: `timer` ticks while it is checked.
        tokens: the decoding, in `tokens_area`; a click goes to a step.
        unreached: the changes beyond the end.
        candidates: the candidates of this step; a click forces one, another click undoes that.
        word: a field for another word to force here.
        row: the weights of this step in the chosen head; a click opens them in `editor`, None
            before the first.
    """

    def __init__(self, context: AnalysisContext, tab: Tab) -> None:
        super().__init__(context, tab)
        self.steps = StepsState(self.state)
        self._shown: list[Candidate] = []
        self.back = flat_button("◀", "One step back")
        self.forward = flat_button("▶", "One step forward")
        self.play = flat_button("play", "Play all steps")
        self.play.setCheckable(True)
        self.timer = QTimer(self, interval=PLAY_INTERVAL_MS)
        self.tokens = TokenLine("Tokens of the translation")
        self.tokens_area = TokenArea(self.tokens)
        self.candidates = BarList(
            "Candidates", "Click a token to force it here; click a forced token to undo this"
        )
        self.word = one_line_edit(
            "Another word to force at this step",
            "A word, or an exact token such as <eos>; Enter forces it here",
            "other word…",
        )
        self.row = BarList(
            "Attention of this step",
            "Click to set the row: a word to put all attention on it, or its bar to set a share",
        )
        self.editor: RowEditor | None = None
        self._place = ElidingLabel("muted")
        self._row_title = label("small", wraps=True)
        self._no_row = label("small", HOW_TO_SEE_ROW, wraps=True)
        self._candidates_title = label("small", wraps=True)
        self.unreached = label("warm", wraps=True)
        self._beside = label("small")
        self._lay_out()
        self._show_row()
        self._connect()
        self.steps.follow_result()

    def forget_result(self) -> None:
        """Shows the steps of the new result."""
        self.play.setChecked(False)
        self.steps.follow_result()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stops playing, and frames no step in the map."""
        super().hideEvent(event)
        self.play.setChecked(False)
        self.state.selection.step = None

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a low panel the candidates get lines of the tokens and of the explanation."""
        super().resizeEvent(event)
        is_lowest = self.height() < scaled(LOWEST_TAB)
        low = NUM_LINES_IF_LOWEST if is_lowest else NUM_LINES_IF_LOW
        self.tokens_area.set_max_lines(low if self.is_low else NUM_LINES)
        self.explanation.setVisible(not (is_lowest or self.is_presented))
        self.explanation.setText(IN_SHORT if self.is_low else self.tab.meaning)

    def redraw(self) -> None:
        """Shows the current step."""
        steps = self.steps
        translation = self.state.translation
        self.back.setEnabled(steps.position > 0)
        self.forward.setEnabled(not steps.is_at_end)
        self.play.setEnabled(steps.num_steps > 1)
        for part in (self.tokens_area, self._body):
            part.setVisible(translation is not None)
        self.word.setVisible(translation is not None and not self.is_presented)
        self.state.selection.step = steps.position if translation is not None else None
        self._show_row()
        if translation is None:
            self._place.setText("no translation yet")
            return
        new = steps.new_steps
        self.tokens.show_chips(
            [self._chip(translation, step, new) for step in range(steps.num_steps)]
        )
        self.tokens_area.show_current(steps.position)
        self.unreached.setVisible(bool(translation.unreached))
        self.unreached.setText(" ".join(map(display_text, translation.notes_on_unreached)))
        self._beside.setVisible(self.steps.original is not None or self.steps.reads_otherwise)
        beside = OTHER_PREFIX if self.steps.reads_otherwise else TICKS
        self._beside.setText(beside)
        self._beside.setToolTip(TIPS_ON_ORIGINAL[beside])
        self._show_candidates(translation)

    def _chip(self, translation: Translation, step: int, new: frozenset[int]) -> TokenChip:
        changes = self.steps.changes_of(step)
        log_probability = translation.log_probabilities[step]
        rank = translation.ranks[step]
        tip = f"reads {translation.read_tokens[step]} · {percent(math.exp(log_probability), 1)}" + (
            f" · rank {rank}" if rank > 1 else ""
        )
        tip += "".join(f"\n{display_text(change)}" for change in changes)
        is_changed = bool(changes) or step in new
        return TokenChip(
            translation.predicted_tokens[step], tip, is_changed, step == self.steps.position
        )

    def _show_candidates(self, translation: Translation) -> None:
        self._shown = self.steps.candidates()
        read = translation.read_tokens[self.steps.position]
        rank = next(candidate.rank for candidate in self._shown if candidate.is_chosen)
        step = f"step {self.steps.position + 1} of {self.steps.num_steps}"
        if rank > 1:  # not in a line of its own, which would move the candidates
            step = f"{step} · rank {rank} chosen\n{step} · rank {rank}"
        self._place.setText(step)
        self._candidates_title.setText(
            f"after “{visible(read)}”\nentropy {self.steps.entropy:.2f} nats"
        )
        self.candidates.show_bars(
            [_candidate_bar(candidate, translation) for candidate in self._shown]
        )

    def _show_row(self) -> None:
        row = self.steps.row()
        self.row.setVisible(row is not None)
        self._no_row.setVisible(row is None)
        if row is None:
            head = self.state.selection.head
            self._row_title.setText(f"{display_text(head.short_name)}\n{NO_ROW}")
            return
        how = "set by hand" if row.intervention is not None else "as used here"
        off = "; the head is off" if row.head in self.state.experiment.heads_off else ""
        self._row_title.setText(f"{display_text(row.head.short_name)}\n{how}{off}")
        self.row.show_bars(_row_bars(row))

    def _go(self, position: int) -> None:
        if self.steps.go(position):
            if not self.request.is_running:
                self.request.forget_problem()  # about the previous step
            self.redraw()

    def _on_step_selected(self, step: int | None) -> None:
        if step is not None and self.is_in_sight:
            self._go(step)

    def _on_word(self) -> None:
        text = self.word.text().strip()
        if text and self.translation_to_ask_about is not None:
            decoded = replace(
                self.state.experiment, output=self.state.editor.own_decoding
            )  # forcing drops a given target
            self.ask(ForceWordJob(decoded, self.steps.position, text), self._force_word)

    def _force_word(self, forced: tuple[ForcedToken, ...]) -> None:
        self.word.clear()
        self.state.submit(force(forced[0].step, *(forced_token.token for forced_token in forced)))

    def _edit_row(self, index: int, share: float = 1.0) -> None:
        """Opens the row in an editor, with this share for a key."""
        if (row := self.steps.row()) is not None:
            self.editor = RowEditor(self.state, row.head, self.steps.position, self)
            self.editor.give(index, share)
            self.editor.open_at(
                self.row.mapToGlobal(self.row.label_place(index).bottomLeft().toPoint())
            )

    def _on_play(self, is_on: bool) -> None:
        if is_on and self.steps.is_at_end:
            self._go(0)
        if is_on:
            self.timer.start()
        else:
            self.timer.stop()

    def _on_tick(self) -> None:
        self._go(self.steps.position + 1)
        if self.steps.is_at_end:
            self.play.setChecked(False)

    def _connect(self) -> None:
        self.back.clicked.connect(lambda: self._go(self.steps.position - 1))
        self.forward.clicked.connect(lambda: self._go(self.steps.position + 1))
        self.play.toggled.connect(self._on_play)
        self.timer.timeout.connect(self._on_tick)
        self.tokens.clicked.connect(self._go)
        self.candidates.label_clicked.connect(lambda index: self.steps.click(self._shown[index]))
        self.candidates.bar_clicked.connect(lambda index, _: self.steps.click(self._shown[index]))
        self.word.returnPressed.connect(self._on_word)
        self.row.label_clicked.connect(self._edit_row)
        self.row.bar_clicked.connect(self._edit_row)
        self.state.selection.events.step.connect(self._on_step_selected, max_args=1)

    def _lay_out(self) -> None:
        controls = row_of(self.back, self.forward, self.play, Space(6), (self._place, 1), spacing=2)
        keep_room(self._beside)
        take_out(self.problem)
        self._body = QWidget()
        bars = QWidget()
        top = Qt.AlignmentFlag.AlignTop
        margins = (0, 0, 6, 0)  # numbers keep clear of the scroll bar
        titles = row_of(
            (self._candidates_title, 1, top), (self._row_title, 1, top), spacing=14, margins=margins
        )
        columns = row_of(
            (column_of(self.candidates, 1), 1),
            (column_of(self._no_row, self.row, 1), 1),
            spacing=14,
        )
        column_of(columns, 1, margins=margins, within=bars)
        area = VerticalScrollArea(bars)
        scales(area.setMinimumHeight, LEAST_BARS)
        column_of(titles, (area, 1), spacing=4, within=self._body)
        # notes are beside or below: candidates must not move from under the mouse
        add_parts(
            self.column,
            controls,
            row_of((self.word, 1), self._beside, spacing=8),
            self.tokens_area,
            (self._body, 1),
            self.problem,
            self.unreached,
        )


def _candidate_bar(candidate: Candidate, translation: Translation) -> Bar:
    share = candidate.probability
    tip = f"{candidate.token}: rank {candidate.rank}"
    if candidate.is_forced:
        tip += ", forced\nClick to let the model choose"
    elif not candidate.entry:
        tip += ", as given"
    elif translation.is_given:
        tip += "\nClick to force it here: the model then translates the sentence itself"
    else:
        tip += "\nClick to force it here"
    return Bar(
        candidate.token,
        share,
        percent(share, 1),
        is_lit=candidate.is_chosen,
        is_changed=candidate.is_forced,
        tip=tip,
        before=candidate.before,
        before_text=percent(candidate.before, 1) if candidate.before is not None else "",
    )


def _row_bars(row: StepRow) -> list[Bar]:
    originals = row.before or (None,) * len(row.weights)
    return [
        Bar(
            word,
            value,
            f"{value:.2f}",
            is_changed=row.intervention is not None,
            before=before,
            before_text=f"{before:.2f}" if before is not None else "",
        )
        for word, value, before in zip(row.labels, row.weights, originals, strict=True)
    ]
