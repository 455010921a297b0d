"""The words of a translation as chips, each with its probability as a bar."""

import math
from typing import Literal

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from augenmerk.core.text.vocabulary import STARTS
from augenmerk.core.translation.result import Translation, Word
from augenmerk.viz_app.heatmap.large_map import selection_mode_of
from augenmerk.viz_app.state.experiment_editor import force
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_selection import MARKS
from augenmerk.viz_app.state.marks import key_shares, word_of_query
from augenmerk.viz_app.state.sentence_text import new_words, visible
from augenmerk.viz_app.theme import CHIP_RADIUS, current_theme, is_theme_change, scaled
from augenmerk.viz_app.views.alternatives_card import AlternativesCard
from augenmerk.viz_app.widgets.layouts import flow
from augenmerk.viz_app.widgets.scroll_areas import ContentHeightScrollArea

INSET = 3  # where the text of the lines above begins
SPACING = 6
PADDING = 7
BAR_HEIGHT = 3
LINE_GAP = 6
LOW_PROBABILITY = 0.5
MAX_SHADE = 0.55
EXPLANATION = (
    "A word of the translation. The bar below it is the word's probability: full at 1, orange below 0.5. "
    "Point at the word to choose another, click it to see its row."
)


class WordChips(QWidget):
    """Draws one chip for each word, in lines that wrap; pointing at one shows what else the model thought of.

    Words that the original translation does not have are marked. Where the first symbol is given rather than
    predicted (the copy task) it stands before them, pale, named as given; its tool tip says why.
    """

    def __init__(self, state: ExperimentState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._chips: list[tuple[Word, QRect]] = []
        self._start: QRect | None = None
        self._new: frozenset[Word] = frozenset()
        self._hovered: Word | None = None
        self._is_dense = False
        self.card = AlternativesCard(self)
        self.card.force_requested.connect(lambda step, token: state.submit(force(step, token)))
        self.setMouseTracking(True)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Words of the translation")
        self.setProperty("explanation", EXPLANATION)
        self.setProperty("terms", "probability alternative")
        state.result_changed.connect(self.rebuild)
        for name in MARKS:
            getattr(state.selection.events, name).connect(self._on_marks, max_args=0)
        state.settings.events.label_mode.connect(self._on_marks, max_args=0)

    def changeEvent(self, event: QEvent) -> None:
        """Takes on new colours and fonts."""
        super().changeEvent(event)
        if is_theme_change(event):
            self.rebuild()

    def set_dense(self, is_dense: bool) -> None:
        """Smaller chips for a long translation; they show with the next `rebuild`."""
        self._is_dense = is_dense

    def rebuild(self) -> None:
        """The translation or the width changed."""
        self.card.hide()
        self._hovered = None
        translation, original = self._state.translation, self._state.original
        self._new = frozenset() if translation is None or original is None else new_words(original, translation)
        self._start, self._chips = self._flow(self.width()) if translation else (None, [])
        self.setAccessibleDescription(translation.text if translation else "")
        self.updateGeometry()
        self.update()

    def _on_marks(self) -> None:
        self.update()

    def chip_of(self, word: Word) -> QRect | None:
        """Where a word's chip stands."""
        return next((place for each, place in self._chips if each == word), None)

    def hasHeightForWidth(self) -> bool:
        """Chips wrap."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Height of the wrapped lines."""
        chips = self._flow(width)[1] if self._state.translation else []
        return (
            chips[-1][1].bottom() + 1 + scaled(BAR_HEIGHT) + 2
            if chips
            else self._chip_height() + scaled(BAR_HEIGHT) + 2
        )

    @property
    def line_height(self) -> int:
        """From one line of chips to the next."""
        return self._chip_height() + scaled(BAR_HEIGHT) + scaled(LINE_GAP)

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
            self.card.hide_soon()
        else:
            position = self.mapToGlobal(found[1].bottomLeft() + QPoint(0, 8))
            self.card.show_word(translation, found[0], position, current_theme().palette.accent)
        self._state.selection.hovered_word = word

    def leaveEvent(self, event: QEvent) -> None:
        """The card goes, unless the mouse went there."""
        if self._hovered is not None:
            self._hovered = None
            self._state.selection.hovered_word = None
        self.card.hide_soon()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click picks the word's row; with Ctrl one more, with Shift all up to here."""
        point = event.position().toPoint()
        word = next((word for word, place in self._chips if place.contains(point)), None)
        if word is not None and event.button() == Qt.MouseButton.LeftButton:
            self._state.selection.pick_word(word, selection_mode_of(event))

    def event(self, event: QEvent) -> bool:
        """The given first symbol says what it is."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            is_on_start = self._start is not None and self._start.contains(event.pos())
            translation = self._state.translation
            tip = given_tip(translation) if is_on_start and translation is not None else ""
            QToolTip.showText(event.globalPos(), tip, self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Chips, words, bars."""
        translation = self._state.translation
        if translation is None:
            return
        painter, theme, selection = QPainter(self), current_theme(), self._state.selection
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font(self._font_size()))
        shares = key_shares(self._state, "target")
        of_row = word_of_query(self._state, selection.hovered.query) if selection.hovered is not None else None
        if self._start is not None:
            painter.setPen(theme.color("muted"))
            painter.drawText(self._start, Qt.AlignmentFlag.AlignCenter, _given(translation))
        for word, place in self._chips:
            is_picked = selection.is_picked(word)
            is_marked = is_picked or word in (self._hovered, of_row, selection.hovered_word)
            painter.setPen(QPen(theme.color("accent" if is_marked else "raised"), 2.2 if is_picked else 1.6))
            painter.setBrush(theme.color("raised"))
            painter.drawRoundedRect(place.adjusted(1, 1, -1, -1), CHIP_RADIUS, CHIP_RADIUS)
            if (share := shares.get(word, 0.0)) > 0:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme.color("accent", MAX_SHADE * share))
                painter.drawRoundedRect(place.adjusted(1, 1, -1, -1), CHIP_RADIUS, CHIP_RADIUS)
            is_new = word in self._new
            painter.setPen(theme.color("warm" if is_new else "text"))
            painter.setFont(theme.font(self._font_size(), bold=is_new))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, _shortened(word.text))
            self._paint_bar(painter, place, math.exp(translation.word_log_probability(word)))

    def _paint_bar(self, painter: QPainter, place: QRect, probability: float) -> None:
        """The full width is probability 1; a word the model was not sure of is warm."""
        left, width, y = (
            place.left() + scaled(PADDING),
            place.width() - 2 * scaled(PADDING),
            place.bottom() + 1 + scaled(BAR_HEIGHT) / 2,
        )
        theme = current_theme()
        color = theme.color("warm" if probability < LOW_PROBABILITY else "accent")
        for share, shade in ((1.0, theme.color("border")), (probability, color)):
            pen = QPen(shade, scaled(BAR_HEIGHT))
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            painter.setPen(pen)
            painter.drawLine(QPointF(left, y), QPointF(left + max(share * width, 0.1), y))

    def _flow(self, width: int) -> tuple[QRect | None, list[tuple[Word, QRect]]]:
        """Where the given first symbol stands, if there is one, and each word."""
        translation = self._state.translation
        assert translation is not None
        theme, words = current_theme(), translation.target_words
        plain, bold = (QFontMetrics(theme.font(self._font_size(), bold=is_bold)) for is_bold in (False, True))
        widths = [
            max(
                (bold if word in self._new else plain).horizontalAdvance(_shortened(word.text)) + 2 * scaled(PADDING),
                22,
            )
            for word in words
        ]
        has_start = is_start_given(translation)
        if has_start:
            widths.insert(0, plain.horizontalAdvance(_given(translation)) + scaled(PADDING))
        height = self._chip_height()
        sizes = [QSize(chip_width, height) for chip_width in widths]
        places = flow(
            sizes, width, spacing=scaled(SPACING), line_spacing=self.line_height - height, inset=scaled(INSET)
        )
        start = places.pop(0) if has_start else None
        return start, list(zip(words, places, strict=True))

    def _chip_height(self) -> int:
        return current_theme().pixel_size(self._font_size()) + scaled(8 if self._is_dense else 11)

    def _font_size(self) -> Literal["body", "large"]:
        return "body" if self._is_dense else "large"


def _shortened(text: str) -> str:
    text = visible(text)
    return text if len(text) <= 40 else text[:39] + "…"


def _given(translation: Translation) -> str:
    return f"given: {visible(translation.read_tokens[0])}"


def given_tip(translation: Translation) -> str:
    """Why the first symbol is not predicted."""
    return (
        f"Given, not predicted: every sequence of the copy task starts with {translation.read_tokens[0]} instead of a "
        "start token."
    )


def is_start_given(translation: Translation) -> bool:
    """Whether the first symbol of the target is a word that is given, not predicted: in the copy task."""
    return translation.read_tokens[0] not in STARTS


MAX_LINES = 4


class ChipsArea(ContentHeightScrollArea):
    """Holds the chips."""

    def __init__(self, chips: WordChips, parent: QWidget | None = None) -> None:
        self._max_lines = MAX_LINES
        super().__init__(chips, lambda: self._max_lines * chips.line_height, parent)

    def set_max_lines(self, max_lines: int) -> None:
        """Shows no more lines at once; the others scroll."""
        self._max_lines = max_lines
        self.fit()

    def minimumSizeHint(self) -> QSize:
        """One line."""
        return QSize(200, 24)
