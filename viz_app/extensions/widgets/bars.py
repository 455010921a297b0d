"""A list of labelled horizontal bars, which can be clicked."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from ...state.sentence_text import visible
from ...theme import Theme, current_theme, scaled
from ...widgets.canvas import Canvas

LINE_GAP = 6
GAP = 6
MAX_LABEL, MAX_LABEL_SIGNED = 96, 150
TICK_WIDTH = 2
BAR_SHARE = 0.45
"""The height of a bar as a part of the letters' size; a tick is twice as high."""
LEAST_BAR = 12
"""In pixels; in a narrow list labels are elided rather than numbers."""


@dataclass(frozen=True)
class Bar:
    """One line.

    Attributes:
        label: at the left.
        value: length of the bar, from 0 to 1; in a signed list, of any size and sign.
        text: at the right.
        note: a second text at the right, in a column of its own.
        is_lit: whether the label is highlighted.
        is_changed: whether the bar has the warning colour: set by the user, or notable; in a signed
            list, colours show the sign.
        is_new: whether the label has the colour of changed items.
        is_struck: whether the label is struck through: it is no longer there.
        tip: tool tip; empty for that of the whole list.
        before: the value in the original, drawn as a tick on the bar; None without one.
        before_text: this value as text, like `text`.
    """

    label: str
    value: float
    text: str
    note: str = ""
    is_lit: bool = False
    is_changed: bool = False
    is_new: bool = False
    is_struck: bool = False
    tip: str = ""
    before: float | None = None
    before_text: str = ""


@dataclass(frozen=True)
class _Columns:
    """Sizes in pixels that all lines share: their height, and the widths of labels, bars, texts and
    notes.
    """

    line: int
    label: float
    bar: float
    text: int
    note: int

    @classmethod
    def of(cls, bars: Sequence[Bar], width: int, max_label: int) -> "_Columns":
        """The sizes of bars in a list of this width; a label has at most `max_label` pixels at
        100%.
        """
        theme = current_theme()
        labels, numbers = QFontMetrics(theme.font("body", bold=True)), QFontMetrics(theme.font())
        widest = max((labels.horizontalAdvance(bar.label) for bar in bars), default=0)
        text = max((numbers.horizontalAdvance(bar.text) for bar in bars), default=0) + 2
        notes = max((numbers.horizontalAdvance(bar.note) for bar in bars), default=0)
        note = notes + scaled(GAP) if notes else 0
        left_over = width - 2 * scaled(GAP) - text - note
        label = float(max(min(widest + 6, scaled(max_label), left_over - scaled(LEAST_BAR)), 20))
        line = QFontMetrics(theme.font("body")).height() + scaled(LINE_GAP)
        return cls(line, label, max(float(scaled(LEAST_BAR)), left_over - label), text, note)

    @property
    def least_line(self) -> int:
        """The least height of a line; presented, without the gap between lines."""
        return self.line - (scaled(LINE_GAP) if current_theme().is_presented else 0)


class BarList(Canvas):
    """Draws bars, from 0 to 1, or signed: all on one scale around a common zero line, orange above
    0, blue below.

    Signals:
        label_clicked(int): the label of a line was clicked.
        bar_clicked(int, float): the bar of a line was clicked at this share of its room, from 0 to
            1.
        menu_requested(int, QPoint): a line was right-clicked at this point of the screen.
    """

    label_clicked = Signal(int)
    bar_clicked = Signal(int, float)
    menu_requested = Signal(int, QPoint)

    def __init__(
        self,
        name: str,
        tip: str,
        *,
        rest: str = "border",
        is_signed: bool = False,
        is_clickable: bool = True,
    ) -> None:
        """Makes an empty list.

        Args:
            name: for screen readers.
            tip: the tool tip.
            rest: the colour, by its name in the palette, of the empty part of a bar; of the zero
                line if signed.
            is_signed: see `BarList`.
            is_clickable: whether lines under the mouse look like buttons.
        """
        super().__init__()
        self._tip, self._rest, self._is_signed = tip, rest, is_signed
        self._is_clickable = is_clickable
        self.bars: tuple[Bar, ...] = ()
        self._range = 0.0, 1.0
        self._known_columns: tuple[tuple[Bar, ...], Theme, int, _Columns] | None = None
        self._hovered: int | None = None
        self.setToolTip(tip)
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)

    def show_bars(self, bars: Sequence[Bar]) -> None:
        """Shows these bars; a label of invisible characters is named by their code points."""
        self.bars = tuple(replace(bar, label=visible(bar.label)) for bar in bars)
        if self._is_signed:
            ends = [
                0.0,
                *(value for bar in bars for value in (bar.value, bar.before) if value is not None),
            ]
            self._range = (min(ends), max(ends)) if max(ends) > min(ends) else (0.0, 1.0)
        self.setAccessibleDescription(", ".join(_said(bar) for bar in self.bars))
        self.updateGeometry()
        self.update()

    def label_place(self, index: int) -> QRectF:
        """The rectangle of a label."""
        line = self._line
        return QRectF(0, index * line, self._columns().label, line)

    def bar_place(self, index: int) -> QRectF:
        """The room of a bar: the rectangle of one of length 1."""
        columns = self._columns()
        line = self._line
        return QRectF(columns.label + scaled(GAP), index * line, columns.bar, line)

    def x_of(self, index: int, value: float) -> float:
        """The place of a value along a bar, in pixels; limited to the room of the bar."""
        room = self.bar_place(index)
        (low, high) = self._range
        return room.left() + min(1.0, max(0.0, (value - low) / (high - low))) * room.width()

    def tick_place(self, index: int) -> QRectF:
        """The tick at the original's value on a bar that has one."""
        box = self.bar_place(index)
        width = scaled(TICK_WIDTH)
        height = 2 * bar_height()
        x = min(self.x_of(index, self.bars[index].before or 0.0), box.right() - width)
        return QRectF(x, box.center().y() - height / 2, width, height)

    @property
    def texts_width(self) -> int:
        """The width of the texts and notes at the right, in pixels."""
        return self._columns().text + self._columns().note

    def sizeHint(self) -> QSize:
        """High enough for all lines."""
        return QSize(180, max(1, len(self.bars) * self._columns().line))

    def minimumSizeHint(self) -> QSize:
        """Of all lines; presented, without the gaps between them."""
        return QSize(0, max(1, len(self.bars) * self._columns().least_line))

    @property
    def _line(self) -> int:
        """The height of a line: less than that of the columns where there is no room for the
        gaps.
        """
        columns = self._columns()
        room = self.height() // max(1, len(self.bars))
        return max(columns.least_line, min(room, columns.line))

    @property
    def highlighted(self) -> int | None:
        """The line that is highlighted: under the mouse, or reached by a key; None if there is
        none.
        """
        return (
            self._hovered if self._hovered is not None and self._hovered < len(self.bars) else None
        )

    def highlight(self, index: int | None) -> None:
        """Highlights a line, or none."""
        self._hovered = index
        self.setToolTip(self._tip_of(index))
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self._index_at(event.position())
        if index is not None and event.button() == Qt.MouseButton.RightButton:
            self.menu_requested.emit(index, event.globalPosition().toPoint())
        if index is None or event.button() != Qt.MouseButton.LeftButton:
            return
        room = self.bar_place(index)
        if event.position().x() < room.left() - scaled(GAP) / 2:
            self.label_clicked.emit(index)
        else:
            self.bar_clicked.emit(
                index, min(1.0, max(0.0, (event.position().x() - room.left()) / room.width()))
            )

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        index = self._index_at(event.position())
        if index != self._hovered:
            self.highlight(index)
            self.setCursor(
                Qt.CursorShape.PointingHandCursor
                if index is not None and self._is_clickable
                else Qt.CursorShape.ArrowCursor
            )

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = None
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = current_theme()
        columns = self._columns()
        line = self._line
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        half = bar_height() / 2
        first = event.rect().top() // line
        last = event.rect().bottom() // line
        shown = list(itertools.islice(enumerate(self.bars), first, last + 1))
        for index, bar in shown:
            box, room = self.label_place(index), self.bar_place(index)
            painter.setPen(Qt.PenStyle.NoPen)
            if index == self._hovered and self._is_clickable:
                painter.setBrush(theme.color("raised"))
                painter.drawRoundedRect(QRectF(0, box.top(), self.width(), box.height()), 4, 4)
            zero = self.x_of(index, 0.0)
            painter.setBrush(theme.color(self._rest))
            if self._is_signed:
                painter.drawRect(QRectF(zero - 0.5, box.top(), 1, box.height()))
            else:
                painter.drawRoundedRect(
                    QRectF(room.left(), room.center().y() - half, room.width(), 2 * half),
                    half,
                    half,
                )
            is_warm = bar.value > 0 if self._is_signed else bar.is_changed
            painter.setBrush(theme.color("warm" if is_warm else "accent"))
            length = self.x_of(index, bar.value) - zero
            painter.drawRoundedRect(
                QRectF(zero, room.center().y() - half, length, 2 * half).normalized(), half, half
            )
            if bar.before is not None:
                painter.setBrush(theme.color("text"))
                painter.drawRect(self.tick_place(index))
        self._paint_labels(painter, shown)
        painter.setFont(theme.font())
        painter.setPen(theme.color("muted"))
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        for index, bar in shown:
            room = self.bar_place(index)
            end = QRectF(room.right() + scaled(GAP), room.top(), columns.text, room.height())
            painter.drawText(end, right, bar.text)
            painter.drawText(
                QRectF(end.right(), end.top(), columns.note, end.height()), right, bar.note
            )

    def _paint_labels(self, painter: QPainter, shown: Sequence[tuple[int, Bar]]) -> None:
        theme = current_theme()
        font = current_theme().font("body")
        metrics = QFontMetrics(font)
        for index, bar in shown:
            font.setBold(bar.is_lit)
            font.setStrikeOut(bar.is_struck)
            painter.setFont(font)
            if bar.is_new:
                role = "warm"
            elif bar.is_lit:
                role = "accent"
            else:
                role = "muted" if bar.is_struck else ""
            painter.setPen(theme.token_color(bar.label, role))
            box = self.label_place(index)
            label = metrics.elidedText(bar.label, Qt.TextElideMode.ElideRight, int(box.width()) - 2)
            painter.drawText(box.adjusted(3, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, label)

    def _tip_of(self, index: int | None) -> str:
        if index is None:
            return self._tip
        bar = self.bars[index]
        was = f"Original: {bar.before_text}\n" if bar.before_text else ""
        if bar.tip:
            return was + bar.tip
        is_short = (
            QFontMetrics(current_theme().font("body")).horizontalAdvance(bar.label)
            > self._columns().label - 2
        )
        return f"{bar.label}\n{was}{self._tip}" if is_short else was + self._tip

    def _index_at(self, point: QPointF) -> int | None:
        index = int(point.y() // self._line)
        return index if 0 <= index < len(self.bars) else None

    def _columns(self) -> _Columns:
        """Measured once for each content, width and theme, as the place of each bar depends on all
        texts.
        """
        theme = current_theme()
        known = self._known_columns
        if (
            known is not None
            and known[0] is self.bars
            and known[1] == theme
            and known[2] == self.width()
        ):
            return known[3]
        max_label = MAX_LABEL_SIGNED if self._is_signed else MAX_LABEL
        columns = _Columns.of(self.bars, self.width(), max_label)
        self._known_columns = self.bars, theme, self.width(), columns
        return columns


def bar_height() -> int:
    """The height of a bar in pixels, in proportion to the letters."""
    return round(BAR_SHARE * current_theme().base_px)


def _said(bar: Bar) -> str:
    said = " ".join(filter(None, (bar.label, bar.text, bar.note)))
    return said + (f" (original: {bar.before_text})" if bar.before_text else "")
