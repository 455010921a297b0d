"""Tokens in lines that wrap; a click picks one."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFont, QFontMetrics, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from augenmerk.viz_app.state.sentence_text import visible
from augenmerk.viz_app.theme import CHIP_RADIUS, current_theme, scaled
from augenmerk.viz_app.widgets.layouts import ContentHeightScrollArea, flow

SPACING = 4
PADDING = 6
MAX_LETTERS = 24
MAX_LINES, MAX_LINES_IF_LOW = 4, 2


@dataclass(frozen=True)
class TokenChip:
    """One token.

    Attributes:
        text: as it is shown.
        tip: of the mouse.
        is_changed: it was forced, its step was changed otherwise, or the original does not have it.
        is_current: it is framed.
    """

    text: str
    tip: str = ""
    is_changed: bool = False
    is_current: bool = False


class TokenLine(QWidget):
    """Draws chips.

    Signals:
        clicked(int): the index of a chip.
    """

    clicked = Signal(int)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.chips: tuple[TokenChip, ...] = ()
        self._places: dict[int, list[QRect]] = {}  # by width, as layouts ask for the same ones again and again
        self._placed: tuple[tuple[TokenChip, ...], QFont, float] | None = None
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMouseTracking(True)
        self.setAccessibleName(name)

    def show_chips(self, chips: Sequence[TokenChip]) -> None:
        """Draws other chips."""
        self.chips = tuple(chips)
        self.setAccessibleDescription(" ".join(chip.text for chip in self.chips))
        self.updateGeometry()
        self.update()

    @property
    def line_height(self) -> int:
        """Of a line of chips with the gap below it."""
        return self._line() + scaled(SPACING)

    def place_of(self, index: int) -> QRect:
        """Where a chip stands."""
        return self._flow(self.width())[index]

    def index_at(self, point: QPoint) -> int | None:
        """The chip under a point."""
        return next((index for index, place in enumerate(self._flow(self.width())) if place.contains(point)), None)

    def hasHeightForWidth(self) -> bool:
        """Chips wrap."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Height of the wrapped lines."""
        places = self._flow(width)
        return places[-1].bottom() + 2 if places else self._line()

    def sizeHint(self) -> QSize:
        """One line, unless the tokens need more."""
        return QSize(200, self.heightForWidth(max(self.width(), 200)))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click picks a token."""
        index = self.index_at(event.position().toPoint())
        if index is not None and event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(index)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The pointer says what can be clicked."""
        is_on_chip = self.index_at(event.position().toPoint()) is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if is_on_chip else Qt.CursorShape.ArrowCursor)

    def event(self, event: QEvent) -> bool:
        """Each chip has a tip of its own."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            index = self.index_at(event.pos())
            QToolTip.showText(event.globalPos(), self.chips[index].tip if index is not None else "", self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Chips and words."""
        painter, theme = QPainter(self), current_theme()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for chip, place in zip(self.chips, self._flow(self.width()), strict=True):
            painter.setFont(theme.font("body"))
            painter.setPen(QPen(theme.color("accent" if chip.is_current else "raised"), 1.6))
            painter.setBrush(theme.color("raised"))
            painter.drawRoundedRect(place.adjusted(1, 1, -1, -1), CHIP_RADIUS, CHIP_RADIUS)
            is_special = chip.text.startswith("<") and chip.text.endswith(">")
            painter.setPen(theme.color("warm" if chip.is_changed else "muted" if is_special else "text"))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, _short(chip.text))

    def _flow(self, width: int) -> list[QRect]:
        theme = current_theme()
        font = theme.font("body")
        if self._placed is None or self._placed[0] is not self.chips or self._placed[1:] != (font, theme.scale):
            self._placed = self.chips, font, theme.scale
            self._places.clear()
        if width not in self._places:
            self._places[width] = self._flow_anew(QFontMetrics(font), width)
        return self._places[width]

    def _flow_anew(self, metrics: QFontMetrics, width: int) -> list[QRect]:
        height = self._line()
        widths = [max(metrics.horizontalAdvance(_short(chip.text)) + 2 * scaled(PADDING), 20) for chip in self.chips]
        sizes = [QSize(chip_width, height) for chip_width in widths]
        return flow(sizes, width, spacing=scaled(SPACING), line_spacing=scaled(SPACING))

    def _line(self) -> int:
        return current_theme().pixel_size("body") + scaled(9)


class TokenArea(ContentHeightScrollArea):
    """A few lines of chips; the others scroll, and the current one is kept in sight."""

    def __init__(self, tokens: TokenLine, parent: QWidget | None = None) -> None:
        self._is_low = False
        super().__init__(tokens, lambda: (MAX_LINES_IF_LOW if self._is_low else MAX_LINES) * tokens.line_height, parent)
        self._tokens, self._current = tokens, 0

    def set_low(self, is_low: bool) -> None:
        """Where there is little height, fewer lines are shown at once."""
        if is_low != self._is_low:
            self._is_low = is_low
            self.show_current(self._current)

    def show_current(self, index: int) -> None:
        """The chips are others, or another one is the current one."""
        self._current = index
        self.fit()
        if index < len(self._tokens.chips):
            place = self._tokens.place_of(index)
            self.ensureVisible(place.center().x(), place.center().y(), 0, place.height() // 2 + scaled(SPACING))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Tokens wrap anew."""
        super().resizeEvent(event)
        QTimer.singleShot(0, self, lambda: self.show_current(self._current))  # the tokens have their width only then

    def minimumSizeHint(self) -> QSize:
        """One line."""
        return QSize(100, self._tokens.line_height)


def _short(text: str) -> str:
    text = visible(text)
    return text if len(text) <= MAX_LETTERS else text[: MAX_LETTERS - 1] + "…"
