"""The field for a sentence of two lines, which requests a translation a moment after a key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil

from PySide6.QtCore import QEvent, QMimeData, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QFontMetricsF,
    QHelpEvent,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QTextEdit, QToolTip

from ..state.sentence_text import MAX_CHARACTERS, Span, limited
from ..theme import current_theme, is_theme_change, set_role
from ..widgets.commands import Command, run_by_key
from .commands import SENTENCE

DEBOUNCE_MS = 300
NUM_LINES = 2
"""Lines in small letters for which there is room; a text in one line has large letters."""
ROUNDING_PX = 2
"""Without these, Qt scrolls two lines that fit by one, and hides the first."""
MAX_SHADE = 0.55


@dataclass(frozen=True)
class SentenceMarks:
    """Marks of words of the sentence, by their places in it.

    Attributes:
        unknown: words that the vocabulary does not have; they are underlined by dots, in another
            colour.
        ignored: the end that was left out; it is struck out.
        rare: words that are rare in the training data, with their tool tips; underlined by dots.
        respelled: words that were read in another spelling, with their tool tips; underlined by
            paler dots if they are not rare.
        edited: words that the experiment removes or replaces; they are struck out. Chips name the
            replacements.
        left_out: words that the translation probably left out, with their tool tips; they are pale.
    """

    unknown: tuple[Span, ...] = ()
    ignored: Span | None = None
    rare: Mapping[Span, str] = field(default_factory=dict)
    respelled: Mapping[Span, str] = field(default_factory=dict)
    edited: tuple[Span, ...] = ()
    left_out: Mapping[Span, str] = field(default_factory=dict)

    @cached_property
    def tips(self) -> Mapping[Span, str]:
        """The tool tips of words."""
        tips = {}
        spans = {*self.respelled, *self.rare, *self.left_out}
        for span in sorted(spans, key=lambda span: span.start):
            spelling = [notes[span] for notes in (self.respelled, self.rare) if span in notes]
            lines = ("; ".join(spelling), self.left_out.get(span))
            tips[span] = "\n".join(filter(None, lines))
        return tips


class WordMarker:
    """Marks words of a text field by colours, strikes and underlines until the text changes."""

    def __init__(self, field: QPlainTextEdit) -> None:
        self._field = field
        self.marks = SentenceMarks()
        self._shades: dict[Span, float] = {}

    def mark(self, marks: SentenceMarks) -> None:
        """Replaces the marks; shades stay."""
        self.marks = marks
        field = self._field
        color = current_theme().color
        dots = {
            **dict.fromkeys(marks.respelled, "muted"),
            **dict.fromkeys((*marks.unknown, *marks.rare), "warm"),
        }
        ignored = [marks.ignored] if marks.ignored is not None else []
        field.setExtraSelections(
            [
                *(
                    _marked(field, span, background=color("accent", MAX_SHADE * s))
                    for span, s in self._shades.items()
                ),
                *(
                    _marked(
                        field,
                        span,
                        color("warm") if span in marks.unknown else None,
                        dots=color(name),
                    )
                    for span, name in dots.items()
                ),
                *(_marked(field, span, color("muted")) for span in marks.left_out),
                *(_marked(field, span, color("muted"), is_struck=True) for span in ignored),
                *(_marked(field, span, color("warm"), is_struck=True) for span in marks.edited),
            ]
        )
        terms = (
            ("rare word", marks.rare),
            ("restored spelling", marks.respelled),
            ("left-out word", marks.left_out),
        )
        field.setProperty("terms", ", ".join(term for term, spans in terms if spans))
        field.setAccessibleDescription("; ".join(dict.fromkeys(marks.tips.values())))

    def shade(self, shares: Mapping[Span, float]) -> None:
        """Shades words by their shares, from 0 to 1."""
        if shares != self._shades:
            self._shades = dict(shares)
            self.mark(self.marks)

    def clear(self) -> None:
        """Removes all marks and shades."""
        if self._shades or self.marks != SentenceMarks():
            self._shades = {}
            self.mark(SentenceMarks())

    def tip_at(self, point: QPoint) -> str:
        """The reason for the mark of the word at this point of the viewport; may be empty."""
        cursor = self._field.cursorForPosition(point)
        beside = 2 * self._field.fontMetrics().averageCharWidth()
        if not self._field.cursorRect(cursor).adjusted(-beside, 0, beside, 0).contains(point):
            return ""
        position = cursor.position()
        return next(
            (tip for span, tip in self.marks.tips.items() if span.start <= position <= span.end), ""
        )


def _marked(
    field: QPlainTextEdit,
    span: Span,
    foreground: QColor | None = None,
    *,
    background: QColor | None = None,
    dots: QColor | None = None,
    is_struck: bool = False,
    is_bold: bool = False,
) -> QTextEdit.ExtraSelection:
    """A span of the text in another look. `dots`: the colour of a dotted underline."""
    selection = QTextEdit.ExtraSelection()
    cursor = QTextCursor(field.document())
    last = field.document().characterCount() - 1
    cursor.setPosition(min(span.start, last))
    cursor.setPosition(min(span.end, last), QTextCursor.MoveMode.KeepAnchor)
    selection.cursor = cursor
    look = selection.format
    if foreground is not None:
        look.setForeground(foreground)
    if background is not None:
        look.setBackground(background)
    if dots is not None:
        look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
        look.setUnderlineColor(dots)
    look.setFontStrikeOut(is_struck)
    if is_bold:
        look.setFontWeight(QFont.Weight.Bold)
    selection.format = look
    return selection


class SentenceInput(QPlainTextEdit):
    """Plain text of at most `MAX_CHARACTERS`; Enter requests the translation at once.

    Attributes:
        committed_text: the last one that was reported by `text_committed`.
        marker: marks words of the text.

    Signals:
        text_committed(str, bool): False after a pause in typing, True after Enter or the choice of
            an example; the text may be empty.
        escape_pressed(): Escape: the keys should go to the heads now.
        undo_requested(), redo_requested(): the keys for it; the field has no history of its own.
        shortened(int): the number of characters that were left out of a text that is too long.
    """

    text_committed = Signal(str, bool)
    escape_pressed = Signal()
    undo_requested = Signal()
    redo_requested = Signal()
    shortened = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DEBOUNCE_MS)
        self._timer.timeout.connect(lambda: self.commit(is_asked=False))
        self.marker = WordMarker(self)
        self.committed_text = ""
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("role", "sentence")
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(3)
        self.setAccessibleName("Sentence to translate")
        self.textChanged.connect(self.marker.clear)
        self.textChanged.connect(self._timer.start)
        # not by the layout's documentSizeChanged: another font within a layout crashes Qt
        self.textChanged.connect(self._fit)
        self._fit()

    @property
    def is_committed(self) -> bool:
        """Whether the text was reported since the last key."""
        return not self._timer.isActive()

    @property
    def text(self) -> str:
        """The typed text."""
        return self.toPlainText()

    def set_text(self, text: str, _checked: bool = False) -> None:
        """Replaces the text as if typed, and requests its translation at once."""
        self.show_text(text)
        self.commit()

    def show_text(self, text: str) -> None:
        """Shows another text, or as much of it as fits, without reporting it."""
        taken = limited(text)
        if taken != self.text:
            self.setPlainText(taken)
            self.moveCursor(QTextCursor.MoveOperation.End)
        self.cancel()
        if len(taken) < len(text):
            self.shortened.emit(len(text) - len(taken))

    def commit(self, *, is_asked: bool = True) -> None:
        """Stops waiting for more keys and reports the text."""
        self._timer.stop()
        self.committed_text = self.text
        self.text_committed.emit(self.text, is_asked)

    def cancel(self) -> None:
        """Stops waiting for more keys without a report."""
        self._timer.stop()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if is_theme_change(event):
            self.marker.mark(self.marker.marks)
            self._fit()

    def viewportEvent(self, event: QEvent) -> bool:
        """Shows why a word is marked."""
        if (
            event.type() == QEvent.Type.ToolTip
            and isinstance(event, QHelpEvent)
            and self.marker.marks.tips
        ):
            QToolTip.showText(event.globalPos(), self.marker.tip_at(event.pos()), self.viewport())
            return True
        return super().viewportEvent(event)

    def sizeHint(self) -> QSize:
        """As wide as the layout likes."""
        return QSize(400, self.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter translates, Escape goes to the heads; every other key writes."""
        if run_by_key(event, (command.on(self) for command in INPUT_COMMANDS)):
            return
        if event.matches(QKeySequence.StandardKey.Undo):
            self.undo_requested.emit()
        elif event.matches(QKeySequence.StandardKey.Redo):
            self.redo_requested.emit()
        elif event.text().isprintable() and event.text() and self._room() < len(event.text()):
            self.shortened.emit(len(event.text()))
        else:
            super().keyPressEvent(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Takes composed text as far as there is room."""
        if self._room() < len(event.commitString()):
            self.shortened.emit(len(event.commitString()))
            event = QInputMethodEvent("", [])
        super().inputMethodEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Pastes text only, and as much as there is room for: laying out takes time."""
        text = source.text()
        taken = text[: self._room()]
        self.insertPlainText(taken)
        if len(taken) < len(text):
            self.shortened.emit(len(text) - len(taken))

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Files are for the window to open."""
        return source.hasText() and not source.hasUrls()

    def resizeEvent(self, event: QEvent) -> None:
        """A narrower field needs more lines."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._fit()

    def _room(self) -> int:
        """The number of characters that can be written at the cursor, in place of the selection."""
        return max(0, MAX_CHARACTERS - len(self.text) + len(self.textCursor().selectedText()))

    def _fit(self) -> None:
        """Smaller letters for a text that is longer than a line; more than two lines scroll."""
        theme = current_theme()
        margins = 2 * round(self.document().documentMargin())
        room = self.viewport().width() - margins - 1
        width = QFontMetrics(theme.font("large")).horizontalAdvance(self.text)
        role = "dense" if width > room or self.blockCount() > 1 else "sentence"
        if role != self.property("role"):
            set_role(self, role)
        lines_px = NUM_LINES * QFontMetricsF(theme.font("body")).lineSpacing()
        self.setFixedHeight(ceil(lines_px) + margins + ROUNDING_PX)
        policies = Qt.ScrollBarPolicy
        needs_bar = self.document().size().height() > NUM_LINES
        policy = policies.ScrollBarAsNeeded if needs_bar else policies.ScrollBarAlwaysOff
        if self.verticalScrollBarPolicy() != policy:
            self.setVerticalScrollBarPolicy(policy)


INPUT_COMMANDS = (
    Command[SentenceInput](
        "Translate what is typed",
        lambda field: field.commit(),
        local_keys=("Return", "Enter"),
        group=SENTENCE,
    ),
    Command[SentenceInput](
        "Go to the heads",
        lambda field: field.escape_pressed.emit(),
        local_keys=("Esc",),
        group=SENTENCE,
    ),
)


KEPT_KEYS = (QKeySequence.StandardKey.Copy, QKeySequence.StandardKey.SelectAll)


class TargetLine(SentenceInput):
    """A sentence that breaks anywhere rather than run out of its line; many lines scroll.

    Signals:
        edit_wanted(): a double click.
    """

    edit_wanted = Signal()
    _emphasized: tuple[Span, ...] = ()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Translation")
        self.set_editable(False)

    @property
    def is_editable(self) -> bool:
        """Whether it is editable."""
        return not self.isReadOnly()

    def set_editable(self, is_editable: bool) -> None:
        """Makes it editable or read-only."""
        self.cancel()
        self.setReadOnly(not is_editable)
        self.setFocusPolicy(
            Qt.FocusPolicy.StrongFocus if is_editable else Qt.FocusPolicy.ClickFocus
        )
        self.viewport().update()

    def emphasize(self, spans: Sequence[Span]) -> None:
        """Marks these places, whose words are not in the original translation."""
        self._emphasized = tuple(spans)
        warm = current_theme().color("warm")
        self.setExtraSelections([_marked(self, span, warm, is_bold=True) for span in spans])

    def changeEvent(self, event: QEvent) -> None:
        """Takes on new colours, of the marked words too."""
        super().changeEvent(event)
        if is_theme_change(event):
            self.emphasize(self._emphasized)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """While it is read-only, keys go to the page."""
        if self.is_editable or any(event.matches(key) for key in KEPT_KEYS):
            super().keyPressEvent(event)
        else:
            event.ignore()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Begins to write."""
        if self.is_editable:
            super().mouseDoubleClickEvent(event)
        else:
            self.edit_wanted.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws a line under editable text."""
        super().paintEvent(event)
        if self.is_editable:
            painter = QPainter(self.viewport())
            painter.setPen(QPen(current_theme().color("accent"), 1))
            bottom = self.viewport().height() - 1
            painter.drawLine(0, bottom, self.viewport().width(), bottom)
