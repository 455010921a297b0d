"""A list of labelled horizontal bars, which can be clicked, and a thin progress bar."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from augenmerk.viz_app.state.sentence_text import visible
from augenmerk.viz_app.theme import current_theme, scaled, scales

LINE_GAP = 6
GAP = 6
MAX_LABEL, MAX_LABEL_SIGNED = 96, 150
TICK_WIDTH, TICK_HEIGHT = 2, 12
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
        is_changed: whether the bar has the warning colour: set by the user, or notable.
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


class BarList(QWidget):
    """Draws bars, from 0 to 1, or signed: all on one scale around a common zero line.

    Signals:
        label_clicked(int): the label of a line was clicked.
        bar_clicked(int, float): the bar of a line was clicked at this share of its room, from 0 to 1.
        menu_requested(int, QPoint): a line was right-clicked at this point of the screen.
    """

    label_clicked = Signal(int)
    bar_clicked = Signal(int, float)
    menu_requested = Signal(int, QPoint)

    def __init__(
        self, name: str, tip: str, *, rest: str = "border", is_signed: bool = False, parent: QWidget | None = None
    ) -> None:
        """`rest`: the colour, by its name in the palette, of the empty part of a bar; of the zero line if signed."""
        super().__init__(parent)
        self._tip, self._rest, self._is_signed = tip, rest, is_signed
        self.bars: tuple[Bar, ...] = ()
        self._range = 0.0, 1.0
        self._widest: tuple[tuple[Bar, ...], QFont, int, int, int] | None = None
        self._hovered: int | None = None
        self.setMouseTracking(True)
        self.setToolTip(tip)
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_bars(self, bars: Sequence[Bar]) -> None:
        """Shows these bars; a label of invisible characters is named by their code points."""
        self.bars = tuple(replace(bar, label=visible(bar.label)) for bar in bars)
        if self._is_signed:
            ends = [0.0, *(value for bar in bars for value in (bar.value, bar.before) if value is not None)]
            self._range = (min(ends), max(ends)) if max(ends) > min(ends) else (0.0, 1.0)
        self.setAccessibleDescription(", ".join(_said(bar) for bar in self.bars))
        self.setFixedHeight(max(1, len(self.bars) * self._line()))
        self.update()

    def label_place(self, index: int) -> QRectF:
        """The rectangle of a label."""
        return QRectF(0, index * self._line(), self._label_width(), self._line())

    def bar_place(self, index: int) -> QRectF:
        """The room of a bar: the rectangle of one of length 1."""
        left = self._label_width() + scaled(GAP)
        width = max(float(scaled(LEAST_BAR)), self.width() - left - scaled(GAP) - self._texts_width())
        return QRectF(left, index * self._line(), width, self._line())

    def x_of(self, index: int, value: float) -> float:
        """The place of a value along a bar, in pixels; limited to the room of the bar."""
        room, (low, high) = self.bar_place(index), self._range
        return room.left() + min(1.0, max(0.0, (value - low) / (high - low))) * room.width()

    def tick_place(self, index: int) -> QRectF:
        """The tick at the original's value on a bar that has one."""
        place, width, height = self.bar_place(index), scaled(TICK_WIDTH), scaled(TICK_HEIGHT)
        x = min(self.x_of(index, self.bars[index].before or 0.0), place.right() - width)
        return QRectF(x, place.center().y() - height / 2, width, height)

    def sizeHint(self) -> QSize:
        """High enough for all lines."""
        return QSize(180, max(1, len(self.bars) * self._line()))

    @property
    def highlighted(self) -> int | None:
        """The line that is highlighted: under the mouse, or reached by a key; None if there is none."""
        return self._hovered if self._hovered is not None and self._hovered < len(self.bars) else None

    def highlight(self, index: int | None) -> None:
        """Highlights a line, or none."""
        self._hovered = index
        self.setToolTip(self._tip_of(index))
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on a label, or on a bar."""
        index = self._index_at(event.position())
        if index is not None and event.button() == Qt.MouseButton.RightButton:
            self.menu_requested.emit(index, event.globalPosition().toPoint())
        if index is None or event.button() != Qt.MouseButton.LeftButton:
            return
        room = self.bar_place(index)
        if event.position().x() < room.left() - scaled(GAP) / 2:
            self.label_clicked.emit(index)
        else:
            self.bar_clicked.emit(index, min(1.0, max(0.0, (event.position().x() - room.left()) / room.width())))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Highlights the line under the mouse."""
        index = self._index_at(event.position())
        if index != self._hovered:
            self.highlight(index)
            self.setCursor(Qt.CursorShape.PointingHandCursor if index is not None else Qt.CursorShape.ArrowCursor)

    def leaveEvent(self, event: QEvent) -> None:
        """Highlights no line."""
        self._hovered = None
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws labels, bars and texts."""
        painter, theme = QPainter(self), current_theme()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics = QFontMetrics(theme.font("body"))
        for index, bar in enumerate(self.bars):
            place, room = self.label_place(index), self.bar_place(index)
            if index == self._hovered:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme.color("raised"))
                painter.drawRoundedRect(QRectF(0, place.top(), self.width(), place.height()), 4, 4)
            font = theme.font("body", bold=bar.is_lit)
            font.setStrikeOut(bar.is_struck)
            painter.setFont(font)
            is_special = bar.label.startswith("<") and bar.label.endswith(">")
            stands_back = is_special or bar.is_struck
            role = "warm" if bar.is_new else "accent" if bar.is_lit else "muted" if stands_back else "text"
            painter.setPen(theme.color(role))
            label = metrics.elidedText(bar.label, Qt.TextElideMode.ElideRight, int(place.width()) - 2)
            painter.drawText(place.adjusted(3, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, label)
            painter.setPen(Qt.PenStyle.NoPen)
            zero = self.x_of(index, 0.0)
            painter.setBrush(theme.color(self._rest))
            if self._is_signed:
                painter.drawRect(QRectF(zero - 0.5, place.top(), 1, place.height()))
            else:
                painter.drawRoundedRect(QRectF(room.left(), room.center().y() - 3, room.width(), 6), 3, 3)
            painter.setBrush(theme.color("warm" if bar.is_changed else "accent"))
            length = self.x_of(index, bar.value) - zero
            painter.drawRoundedRect(QRectF(zero, room.center().y() - 3, length, 6).normalized(), 3, 3)
            if bar.before is not None:
                painter.setBrush(theme.color("text"))
                painter.drawRect(self.tick_place(index))
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("muted"))
            left = room.right() + scaled(GAP)
            for text, width in zip((bar.text, bar.note), self._text_widths(), strict=True):
                end = QRectF(left, place.top(), width, place.height())
                painter.drawText(end, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, text)
                left += width

    def _tip_of(self, index: int | None) -> str:
        if index is None:
            return self._tip
        bar = self.bars[index]
        was = f"Original: {bar.before_text}\n" if bar.before_text else ""
        if bar.tip:
            return was + bar.tip
        is_short = QFontMetrics(current_theme().font("body")).horizontalAdvance(bar.label) > self._label_width() - 2
        return f"{bar.label}\n{was}{self._tip}" if is_short else was + self._tip

    def _index_at(self, point: QPointF) -> int | None:
        index = int(point.y() // self._line())
        return index if 0 <= index < len(self.bars) else None

    def _line(self) -> int:
        return QFontMetrics(current_theme().font("body")).height() + scaled(LINE_GAP)

    def _label_width(self) -> float:
        widest, limit = self._widest_texts()[0], MAX_LABEL_SIGNED if self._is_signed else MAX_LABEL
        left_over = self.width() - 2 * scaled(GAP) - scaled(LEAST_BAR) - self._texts_width()
        return float(max(min(widest + 6, scaled(limit), left_over), 20))

    def _text_widths(self) -> tuple[int, int]:
        """Widths of the columns of texts and of notes."""
        _, texts, notes = self._widest_texts()
        return texts + 2, notes + scaled(GAP) if notes else 0

    def _texts_width(self) -> int:
        return sum(self._text_widths())

    def _widest_texts(self) -> tuple[int, int, int]:
        """Widths of the widest label, text and note; measured once, as the place of each bar depends on all."""
        theme = current_theme()
        font = theme.font("body", bold=True)
        if self._widest is None or self._widest[0] is not self.bars or self._widest[1] != font:
            labels, texts = QFontMetrics(font), QFontMetrics(theme.font("small"))
            self._widest = (
                self.bars,
                font,
                max((labels.horizontalAdvance(bar.label) for bar in self.bars), default=0),
                max((texts.horizontalAdvance(bar.text) for bar in self.bars), default=0),
                max((texts.horizontalAdvance(bar.note) for bar in self.bars), default=0),
            )
        return self._widest[2:]


def _said(bar: Bar) -> str:
    said = " ".join(filter(None, (bar.label, bar.text, bar.note)))
    return said + (f" (original: {bar.before_text})" if bar.before_text else "")


class ProgressLine(QProgressBar):
    """A thin bar that shows a fraction, or a moving segment if the amount of work is unknown."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextVisible(False)
        self.setAccessibleName("progress")
        scales(self.setFixedHeight, 6)

    def set_fraction(self, fraction: float | None) -> None:
        """Shows a fraction from 0 to 1; None for an unknown amount of work."""
        self.setRange(0, 0 if fraction is None else 1000)
        self.setValue(round(1000 * (fraction or 0.0)))
