"""The words of a translation as chips, each with its probability as a bar."""

import math
from typing import Literal

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.translation.result import Word
from viz_app.state.translate_state import TranslateState
from viz_app.theme import CHIP_RADIUS, Theme
from viz_app.views.alternatives_card import AlternativesCard
from viz_app.widgets.chip_flow import flow_chips
from viz_app.widgets.click_manner import manner_of

INSET = 3  # where the text of the lines above begins
SPACING = 6
PADDING = 7
BAR_HEIGHT = 3
LINE_GAP = 6
LOW_PROBABILITY = 0.5
MAX_SHADE = 0.55


class WordChips(QWidget):
    """Draws one chip for each word, in lines that wrap; hovering shows what else the model thought of.

    Signals:
        word_hovered(Word | None): the mouse came upon a chip, or left them.
        word_clicked(Word, str): and what the keys held down make of it, see `viz_app.state.picking.Manner`.
    """

    word_hovered = Signal(object)
    word_clicked = Signal(object, str)

    def __init__(self, state: TranslateState, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._theme = theme
        self._chips: list[tuple[Word, QRect]] = []
        self._hovered: Word | None = None
        self._marked: Word | None = None
        self._is_dense = False
        self.card = AlternativesCard(self)
        self.setMouseTracking(True)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Words of the translation")

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        self._theme = theme
        self.rebuild()

    def set_dense(self, is_dense: bool) -> None:
        """Smaller chips for a long translation; they show with the next `rebuild`."""
        self._is_dense = is_dense

    def rebuild(self) -> None:
        """The translation or the width changed."""
        self.card.hide()
        self._hovered = self._marked = None
        translation = self._state.translation
        self._chips = self._flow(self.width()) if translation else []
        self.setAccessibleDescription(translation.text if translation else "")
        self.updateGeometry()
        self.update()

    def mark(self, word: Word | None) -> None:
        """Frames the chip of the row under the mouse, elsewhere on the page."""
        if word != self._marked:
            self._marked = word
            self.update()

    def chip_of(self, word: Word) -> QRect | None:
        """Where a word's chip stands."""
        return next((place for each, place in self._chips if each == word), None)

    def hasHeightForWidth(self) -> bool:
        """Chips wrap."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Height of the wrapped lines."""
        chips = self._flow(width) if self._state.translation else []
        return chips[-1][1].bottom() + 1 + BAR_HEIGHT + 2 if chips else self._chip_height() + BAR_HEIGHT + 2

    @property
    def line_height(self) -> int:
        """From one line of chips to the next."""
        return self._chip_height() + BAR_HEIGHT + LINE_GAP

    def sizeHint(self) -> QSize:
        """One line, unless the words need more."""
        return QSize(200, self.heightForWidth(max(self.width(), 200)))

    def resizeEvent(self, event: QEvent) -> None:
        """Wraps anew."""
        self.rebuild()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Shows the alternatives of the word under the mouse."""
        point = event.position().toPoint()
        found = next(((word, place) for word, place in self._chips if place.contains(point)), None)
        word = found[0] if found else None
        if word == self._hovered:
            return
        self._hovered = word
        translation = self._state.translation
        if found is None or translation is None:
            self.card.hide()
        else:
            self.card.show_word(translation, found[0], self.mapToGlobal(found[1].bottomLeft() + QPoint(0, 8)))
        self.word_hovered.emit(word)

    def leaveEvent(self, event: QEvent) -> None:
        """Hides the card."""
        if self._hovered is not None:
            self._hovered = None
            self.word_hovered.emit(None)
        self.card.hide()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click picks the word's row; with Ctrl one more, with Shift all up to here."""
        point = event.position().toPoint()
        word = next((word for word, place in self._chips if place.contains(point)), None)
        if word is not None and event.button() == Qt.MouseButton.LeftButton:
            self.word_clicked.emit(word, manner_of(event))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Chips, words, bars."""
        translation = self._state.translation
        if translation is None:
            return
        painter, theme = QPainter(self), self._theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font(self._font_size()))
        shares = self._state.key_shares("target")
        for word, place in self._chips:
            is_picked = self._state.is_picked(word)
            is_marked = is_picked or word in (self._hovered, self._marked, self._state.highlighted_word)
            painter.setPen(QPen(theme.color("accent" if is_marked else "raised"), 2.2 if is_picked else 1.6))
            painter.setBrush(theme.color("raised"))
            painter.drawRoundedRect(place.adjusted(1, 1, -1, -1), CHIP_RADIUS, CHIP_RADIUS)
            if (share := shares.get(word, 0.0)) > 0:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme.color("accent", MAX_SHADE * share))
                painter.drawRoundedRect(place.adjusted(1, 1, -1, -1), CHIP_RADIUS, CHIP_RADIUS)
            painter.setPen(theme.color("text"))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, self._elided(word.text))
            self._paint_bar(painter, place, math.exp(translation.word_log_probability(word)))

    def _paint_bar(self, painter: QPainter, place: QRect, probability: float) -> None:
        """The full width is probability 1; a word the model was not sure of is warm."""
        left, width, y = place.left() + PADDING, place.width() - 2 * PADDING, place.bottom() + 1 + BAR_HEIGHT / 2
        color = self._theme.color("warm" if probability < LOW_PROBABILITY else "accent")
        for share, shade in ((1.0, self._theme.color("border")), (probability, color)):
            pen = QPen(shade, BAR_HEIGHT)
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            painter.setPen(pen)
            painter.drawLine(QPointF(left, y), QPointF(left + max(share * width, 0.1), y))

    def _flow(self, width: int) -> list[tuple[Word, QRect]]:
        translation = self._state.translation
        assert translation is not None
        metrics, height = QFontMetrics(self._theme.font(self._font_size())), self._chip_height()
        words = translation.target_words
        widths = [max(metrics.horizontalAdvance(self._elided(word.text)) + 2 * PADDING, 22) for word in words]
        places = flow_chips(widths, height, width, spacing=SPACING, line_height=self.line_height, inset=INSET)
        return list(zip(words, places, strict=True))

    def _elided(self, text: str) -> str:
        return text if len(text) <= 40 else text[:39] + "…"

    def _chip_height(self) -> int:
        return self._theme.pixel_size(self._font_size()) + (8 if self._is_dense else 11)

    def _font_size(self) -> Literal["body", "large"]:
        return "body" if self._is_dense else "large"
