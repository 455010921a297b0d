"""The field for the sentence: grows from one line to a few, asks for a translation a moment after the last key."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
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
    QTextLine,
)
from PySide6.QtWidgets import QFrame, QLineEdit, QPlainTextEdit, QSizePolicy, QTextEdit, QToolTip, QWidget

from augenmerk.viz_app.state.sentence_text import MAX_CHARACTERS, Span, limited
from augenmerk.viz_app.theme import current_theme, is_theme_change, scaled, set_role
from augenmerk.viz_app.views.commands import SENTENCE
from augenmerk.viz_app.widgets.commands import Command, run_by_key

DEBOUNCE_MS = 300
MAX_LINES = 4
MAX_SHADE = 0.55
DOT = 2
"""Pixels across, of the line below words that the model does not know or has hardly seen."""


@dataclass(frozen=True)
class SentenceMarks:
    """What is said of words of the sentence, by their places in it.

    Attributes:
        unknown: words that the vocabulary does not have; they are underlined by dots, in another colour.
        ignored: the end that was left out; it is struck out.
        rare: words that the training data hardly had, with what is said of them under the mouse; underlined by dots.
        respelled: words that were read in another spelling, with what is said of them; underlined by paler dots if they
            are not rare.
        edited: words that the experiment removes or replaces; their chips say by what. They are struck out.
    """

    unknown: tuple[Span, ...] = ()
    ignored: Span | None = None
    rare: Mapping[Span, str] = field(default_factory=dict)
    respelled: Mapping[Span, str] = field(default_factory=dict)
    edited: tuple[Span, ...] = ()

    @cached_property
    def told(self) -> Mapping[Span, str]:
        """What is said of words under the mouse."""
        return {
            span: "; ".join(each[span] for each in (self.respelled, self.rare) if span in each)
            for span in sorted({*self.respelled, *self.rare}, key=lambda span: span.start)
        }


class WordMarker:
    """Marks words of a text field: colour behind them, letters struck out, dots below, the reason under the mouse."""

    def __init__(self, field: QPlainTextEdit) -> None:
        self._field = field
        self.marks = SentenceMarks()
        self._shades: dict[Span, float] = {}

    def mark(self, marks: SentenceMarks) -> None:
        """Marks words of the sentence, until the text changes."""
        self.marks = marks
        selections = [
            self.selection(
                span, _format(background=current_theme().color("accent", MAX_SHADE * min(max(share, 0.0), 1.0)))
            )
            for span, share in self._shades.items()
        ]
        selections += [self.selection(span, _format(current_theme().color("warm"))) for span in marks.unknown]
        if marks.ignored is not None:
            selections.append(self.selection(marks.ignored, _format(current_theme().color("muted"), is_struck=True)))
        selections += [
            self.selection(span, _format(current_theme().color("warm"), is_struck=True)) for span in marks.edited
        ]
        self._field.setExtraSelections(selections)
        terms = (("rare word", marks.rare), ("restored spelling", marks.respelled))
        self._field.setProperty("terms", ", ".join(term for term, spans in terms if spans))
        self._field.setAccessibleDescription("; ".join(dict.fromkeys(marks.told.values())))
        self._field.viewport().update()

    def shade(self, shares: Mapping[Span, float]) -> None:
        """Lays colour behind words, the more the larger their share (0 to 1); until the text changes."""
        if shares != self._shades:
            self._shades = dict(shares)
            self.mark(self.marks)

    def clear(self) -> None:
        """The text is another one: nothing of it is marked."""
        if self._shades or self.marks != SentenceMarks():
            self._shades = {}
            self.mark(SentenceMarks())

    def show_tip(self, event: QHelpEvent) -> bool:
        """Shows why the word under the mouse is marked; False if no word is."""
        if not self.marks.told:
            return False
        found = self._told_word_at(event.pos())
        if found is None:
            QToolTip.hideText()
        else:
            span, place = found
            QToolTip.showText(event.globalPos(), self.marks.told[span], self._field.viewport(), place)
        return True

    def paint(self) -> None:
        """Draws the dots, over the text."""
        marks = self.marks
        warm = dict.fromkeys((*marks.unknown, *marks.rare))
        pale = [span for span in marks.respelled if span not in warm]
        if warm or pale:
            painter = QPainter(self._field.viewport())
            self._paint_dots(painter, warm, "warm")
            self._paint_dots(painter, pale, "muted")
            painter.end()

    def selection(self, span: Span, char_format: QTextCharFormat) -> QTextEdit.ExtraSelection:
        selection = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self._field.document())
        last = self._field.document().characterCount() - 1
        cursor.setPosition(min(span.start, last))
        cursor.setPosition(min(span.end, last), QTextCursor.MoveMode.KeepAnchor)
        selection.cursor = cursor
        selection.format = char_format
        return selection

    def _told_word_at(self, point: QPoint) -> tuple[Span, QRect] | None:
        """The marked word there, and where it stands in its line."""
        found = ((span, place) for span in self.marks.told for place in self.places_of(span))
        return next(((span, place.toRect()) for span, place in found if place.contains(QPointF(point))), None)

    def places_of(self, span: Span) -> list[QRectF]:
        """Where a word stands in the viewport: one place, or one in each line if it is broken."""
        block = self._field.document().findBlock(span.start)
        layout = block.layout()
        if not block.isValid() or layout is None:
            return []
        origin = self._field.blockBoundingGeometry(block).translated(self._field.contentOffset()).topLeft()
        start, end = span.start - block.position(), span.end - block.position()
        places = []
        line = layout.lineForTextPosition(start)
        while line.isValid() and line.textStart() < end:
            first = max(start, line.textStart())
            last = min(end, line.textStart() + line.textLength())
            if first < last:
                left, right = (_x_of(line, place) for place in (first, last))
                top = origin.y() + line.y()
                places.append(QRectF(origin.x() + min(left, right), top, abs(right - left), line.height()))
            line = layout.lineAt(line.lineNumber() + 1)
        return places

    def _paint_dots(self, painter: QPainter, spans: Iterable[Span], color: str) -> None:
        """A dotted line below words; round dots, which a style's own dotted underline does not have."""
        width = max(1.5, scaled(DOT))
        pen = QPen(current_theme().color(color), width)
        pen.setDashPattern([0.01, 2.0])
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen)
        below = self._field.fontMetrics().descent() / 2 + width / 2
        visible = QRectF(self._field.viewport().rect())
        for span in spans:
            for place in self.places_of(span):
                if place.intersects(visible):
                    y = place.bottom() - self._field.fontMetrics().descent() + below
                    painter.drawLine(QPointF(place.left() + width, y), QPointF(place.right() - width / 2, y))


def _format(
    foreground: QColor | None = None,
    background: QColor | None = None,
    *,
    is_struck: bool = False,
    is_bold: bool = False,
) -> QTextCharFormat:
    char_format = QTextCharFormat()
    if foreground is not None:
        char_format.setForeground(foreground)
    if background is not None:
        char_format.setBackground(background)
    char_format.setFontStrikeOut(is_struck)
    if is_bold:
        char_format.setFontWeight(QFont.Weight.Bold)
    return char_format


class SentenceInput(QPlainTextEdit):
    """Plain text of at most `MAX_CHARACTERS`; Enter asks at once.

    Attributes:
        committed_text: the last one that was reported by `text_committed`.
        marker: marks words of the text.

    Signals:
        text_committed(str, bool): no key was pressed for a moment (False), or the user asked by Enter or by choosing an
            example (True); also when the text is empty.
        escape_pressed(): Escape: the keys should go to the heads now.
        undo_requested(), redo_requested(): the keys for it; the field itself remembers nothing.
        shortened(int): so many characters were left out, because the text would have become too long.
    """

    text_committed = Signal(str, bool)
    escape_pressed = Signal()
    undo_requested = Signal()
    redo_requested = Signal()
    shortened = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DEBOUNCE_MS)
        self._timer.timeout.connect(lambda: self.commit(is_asked=False))
        self.marker = WordMarker(self)
        self.committed_text = ""
        self._max_lines = MAX_LINES
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
        self.document().documentLayout().documentSizeChanged.connect(self._fit_height)
        self._fit_height()

    @property
    def is_committed(self) -> bool:
        """Whether the text was told since the last key."""
        return not self._timer.isActive()

    @property
    def text(self) -> str:
        """What was typed."""
        return self.toPlainText()

    def set_text(self, text: str, _checked: bool = False) -> None:
        """Replaces the text as if typed, and asks for its translation at once."""
        self.show_text(text)
        self.commit()

    def show_text(self, text: str) -> None:
        """Shows another text, or as much of it as is taken; nobody is told but of what was left out."""
        taken = limited(text)
        if taken != self.text:
            self.setPlainText(taken)
            self.moveCursor(QTextCursor.MoveOperation.End)
        self.cancel()
        if len(taken) < len(text):
            self.shortened.emit(len(text) - len(taken))

    def commit(self, *, is_asked: bool = True) -> None:
        """Stops waiting for more keys and tells the text."""
        self._timer.stop()
        self.committed_text = self.text
        self.text_committed.emit(self.text, is_asked)

    def cancel(self) -> None:
        """Stops waiting for more keys and says nothing."""
        self._timer.stop()

    def changeEvent(self, event: QEvent) -> None:
        """Takes on new colours and fonts."""
        super().changeEvent(event)
        if is_theme_change(event):
            self.marker.mark(self.marker.marks)
            self._fit_height()

    def set_dense(self, is_dense: bool) -> None:
        """Smaller letters for a long text."""
        set_role(self, "dense" if is_dense else "sentence")
        self._fit_height()

    def set_max_lines(self, max_lines: int) -> None:
        """Shows no more lines at once; the others scroll."""
        self._max_lines = max_lines
        self._fit_height()

    def viewportEvent(self, event: QEvent) -> bool:
        """Says of a word with dots why it is marked."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self.marker.show_tip(event):
            return True
        return super().viewportEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The text, then dots below its marked words."""
        super().paintEvent(event)
        self.marker.paint()

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
        """What an input method composes is taken as far as there is room."""
        if self._room() < len(event.commitString()):
            self.shortened.emit(len(event.commitString()))
            event = QInputMethodEvent("", [])
        super().inputMethodEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Pastes text only, as far as there is room: laying out a million characters takes minutes."""
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
        self._fit_height()

    def _room(self) -> int:
        """How many characters can be written where the cursor is, in place of what is selected."""
        return max(0, MAX_CHARACTERS - len(self.text) + len(self.textCursor().selectedText()))

    def _fit_height(self, _size: object = None) -> None:
        num_lines = min(max(int(self.document().size().height()), 1), self._max_lines)
        self.setFixedHeight(num_lines * self.fontMetrics().lineSpacing() + 8)
        needs_bar = self.document().size().height() > self._max_lines
        policy = Qt.ScrollBarPolicy.ScrollBarAsNeeded if needs_bar else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        if self.verticalScrollBarPolicy() != policy:
            self.setVerticalScrollBarPolicy(policy)


INPUT_COMMANDS = (
    Command[SentenceInput](
        "Translate what is typed", lambda field: field.commit(), local_keys=("Return", "Enter"), group=SENTENCE
    ),
    Command[SentenceInput](
        "Go to the heads", lambda field: field.escape_pressed.emit(), local_keys=("Esc",), group=SENTENCE
    ),
)


def _x_of(line: QTextLine, place: int) -> float:
    """Where a character begins in its line."""
    x, _ = cast("tuple[float, int]", line.cursorToX(place))
    return x


KEPT_KEYS = (QKeySequence.StandardKey.Copy, QKeySequence.StandardKey.SelectAll)


class TargetLine(SentenceInput):
    """A sentence that breaks anywhere rather than run out of its line; it scrolls where it has many lines.

    Signals:
        edit_wanted(): a double click.
    """

    edit_wanted = Signal()
    _emphasized: tuple[str, ...] = ()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Translation")
        self.set_editable(False)

    @property
    def is_editable(self) -> bool:
        """Whether it can be written in."""
        return not self.isReadOnly()

    def set_editable(self, is_editable: bool) -> None:
        """Lets it be written in, or only read."""
        self.cancel()
        self.setReadOnly(not is_editable)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if is_editable else Qt.FocusPolicy.ClickFocus)
        self.viewport().update()

    def emphasize(self, words: Sequence[str]) -> None:
        """Marks these words, in their order: they are not in the original translation."""
        self._emphasized = tuple(words)
        text, position = self.text.lower(), 0
        new = _format(current_theme().color("warm"), is_bold=True)
        selections = []
        for word in words:
            start = text.find(word.lower(), position)
            if start < 0:
                continue
            position = start + len(word)
            before, upto = (len(text[:end].encode("utf-16-le", "surrogatepass")) // 2 for end in (start, position))
            selections.append(self.marker.selection(Span(before, upto), new))
        self.setExtraSelections(selections)

    def changeEvent(self, event: QEvent) -> None:
        """Takes on new colours, of the marked words too."""
        super().changeEvent(event)
        if is_theme_change(event):
            self.emphasize(self._emphasized)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """While it is only read, keys belong to the page."""
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
        """A line under what can be written in."""
        super().paintEvent(event)
        if self.is_editable:
            painter = QPainter(self.viewport())
            painter.setPen(QPen(current_theme().color("accent"), 1))
            bottom = self.viewport().height() - 1
            painter.drawLine(0, bottom, self.viewport().width(), bottom)


def one_line_edit(name: str, tip: str, placeholder: str = "") -> QLineEdit:
    """A field in one line for a sentence or a word, no longer than `SentenceInput` takes.

    Args:
        name: for screen readers.
        tip: its tool tip.
        placeholder: stands there while it is empty.
    """
    edit = QLineEdit()
    edit.setMaxLength(MAX_CHARACTERS)
    edit.setAccessibleName(name)
    edit.setToolTip(tip)
    edit.setPlaceholderText(placeholder)
    return edit
