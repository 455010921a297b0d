"""The words of a translation as chips, each with its probability as a bar."""

import html
import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Literal

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QEnterEvent, QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from augenmerk.core.counting import display_text
from augenmerk.core.model.heads import Head, Network
from augenmerk.core.quantities import number, percent
from augenmerk.core.text.phrases import phrase
from augenmerk.core.text.vocabulary import STARTS
from augenmerk.core.translation.experiment import (
    Experiment,
    GivenTarget,
    Intervention,
    in_groups,
    scaling,
    site_of,
)
from augenmerk.core.translation.result import ExperimentResult, Translation, Word

from ..heatmap.drawing import DIMMED_OPACITY, POINTER_PX, Box, pointer_shapes
from ..heatmap.heatmap import selection_mode_of
from ..heatmap.map_image import paint_shapes
from ..state import experiment_editor as edits
from ..state.experiment_editor import force
from ..state.experiment_state import ExperimentState
from ..state.map_view import MARKS, PointerStyle
from ..state.map_view_settings import SHOWN_MAPS, ShownMaps
from ..state.marks import key_shares, pointed_word, word_of_query
from ..state.sentence_text import LOW_PROBABILITY, is_right_to_left, new_words, visible
from ..theme import CHIP_RADIUS, current_theme, scaled, scales
from ..widgets.buttons import MenuButton, choice_buttons, flat_button
from ..widgets.canvas import Canvas
from ..widgets.commands import add_shortcut
from ..widgets.labels import ElidingLabel
from ..widgets.layouts import (
    column_of,
    flow,
    replace_widgets,
    row_of,
    set_visible,
)
from .commands import NEXT_MAPS, REDO, UNDO

INSET = 3  # the left edge of the text above
SPACING = 6
PADDING = 7
BAR_HEIGHT = 3
LINE_GAP = 3
MAX_SHADE = 0.55
GAP = "\u00a0"
EXPLANATION = (
    "A word of the translation. The bar below it is the word's probability: full at 1, orange "
    "below 0.5. Point at the word to choose another, click it to see its row."
)


class WordChips(Canvas):
    """Draws one chip for each word, in lines that wrap, from right to left where the language is
    written so; pointing at one shows the model's alternatives. More than one line is small.

    Words that the original translation does not have are marked. A first symbol that is given
    rather than predicted (the copy task) comes first, pale and named as given; its tool tip gives
    the reason.

    Attributes:
        boxes: where each word is.
        start_box: where the given first symbol is; None without one.
    """

    def __init__(self, state: ExperimentState) -> None:
        super().__init__()
        self._state = state
        self.boxes: list[tuple[Word, QRect]] = []
        self.start_box: QRect | None = None
        self._new: frozenset[Word] = frozenset()
        self._hovered: Word | None = None
        self._is_dense = False
        self.card = AlternativesCard(self)
        self.card.force_requested.connect(lambda step, token: state.submit(force(step, token)))
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

    def rebuild(self) -> None:
        """Updates the chips to the translation and the width."""
        self.card.hide()
        self._hovered = None
        translation, original = self._state.translation, self._state.original
        self._new = (
            frozenset()
            if translation is None or original is None
            else new_words(original, translation)
        )
        self._is_dense = False
        self.start_box, self.boxes = self._flow(self.width()) if translation else (None, [])
        self._is_dense = bool(self.boxes) and self.boxes[-1][1].top() > 0
        if self._is_dense:
            self.start_box, self.boxes = self._flow(self.width())
        self.setAccessibleDescription(translation.text if translation else "")
        self.updateGeometry()
        self.update()

    def _on_marks(self) -> None:
        self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        """Two small lines at least, so that nothing moves."""
        boxes = self._flow(width)[1] if self._state.translation else []
        bottom = boxes[-1][1].bottom() + 1 if boxes else 0
        return max(bottom + scaled(BAR_HEIGHT) + 2, 2 * self.line_height)

    @property
    def line_height(self) -> int:
        """From one line of small chips to the next."""
        return current_theme().pixel_size("body") + scaled(8 + BAR_HEIGHT + LINE_GAP)

    def sizeHint(self) -> QSize:
        """One line, unless the words need more."""
        return QSize(200, self.heightForWidth(max(self.width(), 200)))

    def resizeEvent(self, event: QEvent) -> None:
        self.rebuild()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Shows the alternatives of the word under the mouse."""
        point = event.position().toPoint()
        word, box = next(
            ((word, box) for word, box in self.boxes if box.contains(point)), (None, None)
        )
        if word == self._hovered:
            return
        self._hovered = word
        translation = self._state.translation
        if word is None or box is None or translation is None:
            self.card.hide_soon()
        else:
            position = self.mapToGlobal(box.bottomLeft() + QPoint(0, 8))
            self.card.show_word(translation, word, position, current_theme().palette.accent)
        self._state.selection.hovered_word = word

    def leaveEvent(self, event: QEvent) -> None:
        """Hides the card, unless the mouse is on it."""
        if self._hovered is not None:
            self._hovered = None
            self._state.selection.hovered_word = None
        self.card.hide_soon()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click picks the word's row; with Ctrl one more, with Shift all up to here."""
        point = event.position().toPoint()
        word = next((word for word, box in self.boxes if box.contains(point)), None)
        if word is not None and event.button() == Qt.MouseButton.LeftButton:
            self._state.selection.pick_word(word, selection_mode_of(event))

    def tip_at(self, position: QPointF) -> str:
        """Explains the given first symbol."""
        is_on_start = self.start_box is not None and self.start_box.contains(position.toPoint())
        translation = self._state.translation
        return given_tip(translation) if is_on_start and translation is not None else ""

    def paintEvent(self, event: QPaintEvent) -> None:
        translation = self._state.translation
        if translation is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.start_box is not None:
            painter.setFont(current_theme().font(self._font_size()))
            painter.setPen(current_theme().color("muted"))
            painter.drawText(self.start_box, Qt.AlignmentFlag.AlignCenter, _given(translation))
        shares = key_shares(self._state, "target")
        outlined = self._outlined_words()
        pointed = pointed_word(self._state)
        pointer = self._state.selection.pointer if pointed is not None else None
        dims_others = pointer is not None and pointer.style == "dim"
        for word, box in self.boxes:
            painter.setOpacity(1 - DIMMED_OPACITY if dims_others and word != pointed else 1)
            self._paint_box(painter, word, box, shares.get(word, 0.0), is_outlined=word in outlined)
            self._paint_word(painter, word, box)
            _paint_bar(painter, box, math.exp(translation.word_log_probability(word)))
        pointed_box = next((box for word, box in self.boxes if word == pointed), None)
        if pointer is not None and pointed_box is not None:
            _paint_pointer(painter, pointer.style, pointed_box, self.rect())

    def _outlined_words(self) -> set[Word | None]:
        """The words under the mouse here and elsewhere, and that of the row under the mouse."""
        selection = self._state.selection
        outlined = {self._hovered, selection.hovered_word}
        if selection.hovered is not None:
            outlined.add(word_of_query(self._state, selection.hovered.query))
        return outlined

    def _paint_box(
        self, painter: QPainter, word: Word, box: QRect, share: float, *, is_outlined: bool
    ) -> None:
        """Paints the ground of a chip, shaded by its word's `share` in the picked rows."""
        theme = current_theme()
        is_picked = self._state.selection.is_picked(word)
        outline = theme.color("accent" if is_picked or is_outlined else "raised")
        inner = box.adjusted(1, 1, -1, -1)
        painter.setPen(QPen(outline, 2.2 if is_picked else 1.6))
        painter.setBrush(theme.color("raised"))
        painter.drawRoundedRect(inner, CHIP_RADIUS, CHIP_RADIUS)
        if share > 0:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent", MAX_SHADE * share))
            painter.drawRoundedRect(inner, CHIP_RADIUS, CHIP_RADIUS)

    def _paint_word(self, painter: QPainter, word: Word, box: QRect) -> None:
        is_new = word in self._new
        painter.setPen(current_theme().color("warm" if is_new else "text"))
        painter.setFont(current_theme().font(self._font_size(), bold=is_new))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, _shortened(word.text))

    def _flow(self, width: int) -> tuple[QRect | None, list[tuple[Word, QRect]]]:
        """The places of the given first symbol, if there is one, and of each word."""
        translation = self._state.translation
        assert translation is not None
        theme = current_theme()
        words = translation.target_words
        plain, bold = (
            QFontMetrics(theme.font(self._font_size(), bold=is_bold)) for is_bold in (False, True)
        )
        widths = [
            max(
                (bold if word in self._new else plain).horizontalAdvance(_shortened(word.text))
                + 2 * scaled(PADDING),
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
            sizes,
            width,
            spacing=scaled(SPACING),
            line_spacing=self.line_height - height,
            inset=scaled(INSET),
        )
        if is_right_to_left(translation.text):
            for place in places:
                place.moveRight(width - 1 - place.left())
        start = places.pop(0) if has_start else None
        return start, list(zip(words, places, strict=True))

    def _chip_height(self) -> int:
        return current_theme().pixel_size(self._font_size()) + scaled(8 if self._is_dense else 11)

    def _font_size(self) -> Literal["body", "large"]:
        return "body" if self._is_dense else "large"


def _shortened(text: str) -> str:
    text = visible(text)
    return text if len(text) <= 40 else text[:39] + "…"


def _paint_pointer(painter: QPainter, style: PointerStyle, box: QRect, around: QRect) -> None:
    """Paints a ring around a chip, or an arrow at it that comes from within `around`."""
    if style == "ring":
        painter.setPen(QPen(current_theme().color("pointer"), POINTER_PX))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(-1, 2, 1, -2), CHIP_RADIUS, CHIP_RADIUS)
    elif style == "arrow":
        shapes = pointer_shapes(style, _as_box(box), _as_box(around))
        paint_shapes(painter, shapes, QPointF(), current_theme())


def _paint_bar(painter: QPainter, box: QRect, probability: float) -> None:
    """The full width is probability 1; an uncertain word is warm."""
    left = box.left() + scaled(PADDING)
    width = box.width() - 2 * scaled(PADDING)
    y = box.bottom() + 1 + scaled(BAR_HEIGHT) / 2
    theme = current_theme()
    color = theme.color("warm" if probability < LOW_PROBABILITY else "accent")
    for share, shade in ((1.0, theme.color("border")), (probability, color)):
        pen = QPen(shade, scaled(BAR_HEIGHT))
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawLine(QPointF(left, y), QPointF(left + max(share * width, 0.1), y))


def _as_box(rect: QRect) -> Box:
    return Box(rect.x(), rect.y(), rect.width(), rect.height())


def _given(translation: Translation) -> str:
    return f"given: {visible(translation.read_tokens[0])}"


def given_tip(translation: Translation) -> str:
    """The reason why the first symbol is not predicted."""
    return (
        "Given, not predicted: every sequence of the copy task starts with "
        f"{translation.read_tokens[0]} instead of a start token."
    )


def is_start_given(translation: Translation) -> bool:
    """Whether the first symbol of the target is given, not predicted, as in the copy task."""
    return translation.read_tokens[0] not in STARTS


NUM_SHOWN = 5
CLOSE_DELAY_MS = 250
"""Milliseconds for moving the mouse from the word to its card."""
FORCE_HINT = "Click a word to choose it instead"
WHY, WHY_NOT = "Why this word?", "why not?"


class AlternativesCard(QFrame):
    """Shows the likeliest tokens of each step of a word.

    Attributes:
        label: the text, with links for each token.
        explains_words: whether it offers to explain the word, alone and against each token.

    Signals:
        force_requested(int, str): the user chose this entry of the vocabulary for this step.
        why_requested(int, str): the user asks why the token of this step was chosen rather than
            this entry of the vocabulary; empty for the next best.
    """

    force_requested = Signal(int, str)
    why_requested = Signal(int, str)

    def __init__(self, parent: QWidget) -> None:
        self._chips = parent
        super().__init__(parent, Qt.WindowType.ToolTip)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setProperty("role", "card")
        self._translation: Translation | None = None
        self.explains_words = False
        self.label = QLabel(self)
        self.label.setTextFormat(Qt.TextFormat.RichText)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.LinksAccessibleByMouse)
        self.label.linkActivated.connect(self._on_link)
        self.label.linkHovered.connect(self._show_hovered)
        column_of(self.label, margins=(12, 8, 12, 10), within=self)
        self._timer = QTimer(self, singleShot=True, interval=CLOSE_DELAY_MS)
        self._timer.timeout.connect(self.hide)

    def show_word(self, translation: Translation, word: Word, position: QPoint, color: str) -> None:
        """Fills and shows the card at a global position, moved to stay on the screen; links have
        this colour.
        """
        self._timer.stop()
        self._translation = translation
        self._write = partial(
            alternatives_html, translation, word, color, explains_words=self.explains_words
        )
        self.label.setText(self._write())
        self.adjustSize()
        screen = self._chips.screen().availableGeometry()
        x = min(position.x(), screen.right() - self.width())
        y = (
            position.y()
            if position.y() + self.height() < screen.bottom()
            else position.y() - self.height() - 50
        )
        self.move(max(x, screen.left()), max(y, screen.top()))
        self.show()
        self.raise_()

    def _show_hovered(self, link: str) -> None:
        """Shades the row under the mouse; between two links, the last one."""
        if link:
            self.label.setText(self._write(hovered=link.removesuffix(":why")))

    def hide_soon(self) -> None:
        """Hides after a moment, unless the mouse enters it first."""
        self._timer.start()

    def enterEvent(self, event: QEnterEvent) -> None:
        """Stays while the mouse is on it."""
        self._timer.stop()

    def leaveEvent(self, event: QEvent) -> None:
        self.hide()

    def hideEvent(self, event: QEvent) -> None:
        """Stops the timer."""
        self._timer.stop()
        super().hideEvent(event)  # type: ignore[arg-type]

    def _on_link(self, link: str) -> None:
        step, rank, *why = link.split(":")
        self.hide()
        if self._translation is not None:
            entry = self._translation.alternatives[int(step)][int(rank)].entry if rank else ""
            (self.why_requested if why else self.force_requested).emit(int(step), entry)


def alternatives_html(
    translation: Translation,
    word: Word,
    color: str,
    *,
    explains_words: bool = False,
    hovered: str = "",
) -> str:
    """The text of the card; each row but that of the chosen token is a link "step:rank". The row of
    the `hovered` link is shaded.

    With `explains_words`, "step:rank:why" asks why the word was chosen rather than this token,
    "step::why" rather than the next best.
    """
    log_probability = translation.word_log_probability(word)
    title = html.escape(visible(word.text))
    value = number(log_probability)
    lines = [f"<b>{title}</b> &nbsp; {_percent(log_probability)} &nbsp; log-probability {value}"]
    for step in range(word.start, word.end):
        chosen = translation.predicted_tokens[step]
        if word.end - word.start > 1:
            lines.append(
                f"<p style='margin:6px 0 0 0'>piece <b>{html.escape(visible(chosen))}</b> &nbsp; "
                f"{number(translation.log_probabilities[step])}</p>"
            )
        rows = _rows(translation, step, color, hovered, explains_words=explains_words)
        lines.append(
            f"<table cellspacing='0' cellpadding='0' style='margin-top:4px'>{rows}</table>"
        )
    why = f"{_link(WHY, f'{word.start}::why', color)} &nbsp; " if explains_words else ""
    lines.append(f"<p style='margin:6px 0 0 0'>{why}{FORCE_HINT}</p>")
    return "".join(lines)


def _why_not(token: str, chosen: str, link: str, color: str) -> str:
    return _link(GAP * 4 + WHY_NOT, link, color) if token != chosen else ""


def _link(text: str, link: str, color: str) -> str:
    return f"<a href='{link}' style='color:{color};text-decoration:none'>{html.escape(text)}</a>"


def _rows(
    translation: Translation, step: int, color: str, hovered: str, *, explains_words: bool
) -> str:
    """Tokens and numbers: of all but the chosen one, the whole row is a link, with its gaps."""
    chosen = translation.predicted_tokens[step]
    alternatives = translation.alternatives[step][:NUM_SHOWN]
    log_probabilities = [alternative.log_probability for alternative in alternatives]
    columns = (
        _padded([visible(alternative.token) for alternative in alternatives]),
        _padded(list(map(number, log_probabilities)), is_left=True),
        _padded([percent(math.exp(value), 1) for value in log_probabilities], is_left=True),
    )
    palette = current_theme().palette
    rows = []
    for rank, (alternative, name, *numbers) in enumerate(zip(alternatives, *columns, strict=True)):
        link = f"{step}:{rank}"
        if alternative.token == chosen:
            cells = [f"<b>{html.escape(name.rstrip(GAP))}</b>", *map(html.escape, numbers)]
        else:
            cells = [_link(name, link, color)]
            cells += [_link(value, link, palette.text) for value in numbers]
        if explains_words:
            cells.append(_why_not(alternative.token, chosen, f"{link}:why", color))
        shade = f" style='background-color:{palette.raised}'" if hovered == link else ""
        rows.append(f"<tr{shade}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    return "".join(rows)


def _padded(texts: list[str], *, is_left: bool = False) -> list[str]:
    """The texts of a column, as wide as the widest by spaces, so that a link reaches the next."""
    width_of = QFontMetrics(QApplication.font()).horizontalAdvance
    widest = max(map(width_of, texts), default=0)
    padded = []
    for text in texts:
        padding = GAP * (4 + round((widest - width_of(text)) / width_of(GAP)))
        padded.append(padding + text if is_left else text + padding)
    return padded


def _percent(log_probability: float) -> str:
    return html.escape(percent(math.exp(log_probability), 1))


CHIP_SPACING = 5
MESSAGES_WIDTH = 360
"""Pixels that the chips of changes leave to messages and their buttons, whether there are any."""
LEAST_MESSAGE = 180
"""Pixels that a suggestion leaves to their text."""
HINT = (
    "Try it: right-click a head to switch it off, point at a word to choose another, or edit the "
    "translation.\nTry it: right-click a head to switch it off."
)

SYMBOL = "ℹ"
"""Stands for a message without room for a few words, which its tool tip has."""
GIVEN = "translation given"


class InterventionChips(QWidget):
    """The interventions as chips in a line, and messages next to them.

    Chips have their places from the left, and buttons of messages from the right, so that neither
    moves the other. The text of messages takes the room between them.

    Keyboard focus stays here when the chip or button that has it goes: on the next chip, or on undo
    or redo.

    Attributes:
        messages: next to the chips.
        hint: shown while nothing is changed, and there is no message.
        chips: one button for each intervention or group of heads, in the order in which they came;
            the last one for a given translation.
        suggestion: switches off the part that matters most, if the changes left all words the same.
        undo_button: undoes a change.
        redo_button: redoes a change.
        reset_button: resets all changes.
    """

    def __init__(
        self,
        state: ExperimentState,
        *messages: ElidingLabel,
        undo: Callable[[], None] | None = None,
    ) -> None:
        """`undo`: the action of the button; None for the state's own, which ignores text being
        typed.
        """
        super().__init__()
        self._state = state
        self.messages = Messages(*messages)
        self.hint = self.messages.hint
        self.chips: list[QToolButton] = []
        self._sites: list[tuple[int, ...]] = []
        self.suggestion = flat_button("", "")
        self._suggested: Head | Network | None = None
        self.suggestion.clicked.connect(self._take_suggestion)
        self.undo_button = flat_button("↶", UNDO.tip_with_keys())
        self.redo_button = flat_button("↷", REDO.tip_with_keys())
        self.reset_button = flat_button("Reset", "Reset all changes")
        self._buttons = self.undo_button, self.redo_button, self.reset_button
        for button, name in (
            (self.undo_button, "Undo"),
            (self.redo_button, "Redo"),
            (self.reset_button, "Reset"),
        ):
            button.setAccessibleName(name)
        for arrow in (self.undo_button, self.redo_button):
            arrow.setProperty("isDense", True)
        self.undo_button.clicked.connect(undo or (lambda: state.submit(edits.undo)))
        self.redo_button.clicked.connect(lambda: state.submit(edits.redo))
        self.reset_button.clicked.connect(lambda: state.submit(edits.reset))
        self._chip_row = _ChipRow()
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        scales(row.setSpacing, 5)
        self._message_buttons: list[QToolButton] = []
        for part in (*self._buttons, self._chip_row, self.suggestion):
            row.addWidget(part, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.messages, 1)
        state.experiment_changed.connect(self.rebuild)
        state.result_changed.connect(self.rebuild)
        self.rebuild()

    @property
    def shown_buttons(self) -> list[QToolButton]:
        """The buttons of messages that are shown."""
        return [button for button in self._message_buttons if not button.isHidden()]

    def add_button(self, button: QToolButton) -> None:
        """Puts a button of a message on the right, before those that were put there."""
        place = self._row.indexOf(self.messages) + 1
        self._row.insertWidget(place, button, 0, Qt.AlignmentFlag.AlignVCenter)
        QWidget.setTabOrder(self.suggestion, button)
        self._message_buttons.append(button)
        self.messages.give_way_to(button)

    def event(self, event: QEvent) -> bool:
        """A button or a message came or went, or there is another width."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self.messages.show_hint()
            self._share_room()
        return super().event(event)

    def _share_room(self) -> None:
        """Chips have the same room with and without messages; the others may be in their menu."""
        least = min(scaled(MESSAGES_WIDTH), self.width() * 9 // 20)
        self._chip_row.setMaximumWidth(
            max(self._room() - least, self._chip_row.minimumSizeHint().width())
        )
        if not self._fits_suggestion():
            set_visible(self.suggestion, False, focus_to=self.undo_button)
        room = self._room() - self.messages.minimumSizeHint().width()
        for part in (self._chip_row, self.suggestion):
            if not part.isHidden():
                shown = part.sizeHint().boundedTo(part.maximumSize())
                room -= shown.width() + self._row.spacing()
        for button in self.shown_buttons:
            button.setMaximumWidth(max(room, 1))
            room -= button.sizeHint().width() + self._row.spacing()

    def _room(self) -> int:
        """The width for all but undo, redo and reset."""
        widths = (button.sizeHint().width() + self._row.spacing() for button in self._buttons)
        return self.width() - sum(widths)

    def _fits_suggestion(self) -> bool:
        needed = sum(
            part.sizeHint().width()
            for part in (self._chip_row, self.suggestion, *self.shown_buttons)
        )
        return needed + scaled(LEAST_MESSAGE) <= self._room()

    def suggest(self, part: Head | Network, word: str) -> None:
        """Offers to switch off another part, after a change that left all words the same."""
        self._suggested = part
        self.suggestion.setText(f"Try {display_text(part.short_name)} off")
        self.suggestion.setToolTip(
            f"No word changed. Of all heads and networks, the {display_text(part)} adds most to "
            f"“{word}” directly: switch it off too"
        )
        self.suggestion.setVisible(self._fits_suggestion())

    def _take_suggestion(self) -> None:
        if self._suggested is not None:
            self._state.submit(edits.intervene(scaling(self._suggested)))

    def rebuild(self) -> None:
        """Updates chips and buttons to the experiment."""
        state = self._state
        focused = self.window().focusWidget()
        set_visible(self.suggestion, False, focus_to=self.undo_button)
        focused_chip = next(
            (index for index, chip in enumerate(self.chips) if chip is focused), None
        )
        previous_chips, self.chips = self.chips, self._new_chips()
        self._chip_row.replace(previous_chips, self.chips)
        for before, chip in pairwise((self.reset_button, *self.chips)):
            QWidget.setTabOrder(before, chip)
        is_changed = bool(self.chips)
        self._chip_row.setVisible(is_changed)
        self.messages.offer_hint(state.is_translated and not is_changed)
        self._rebuild_undo_buttons(focused)
        shown = [chip for chip in self.chips if not chip.isHidden()]  # not in the menu
        if focused_chip is not None and shown:
            shown[min(focused_chip, len(shown) - 1)].setFocus()
        elif focused_chip is not None:
            self.undo_button.setFocus()
        self.updateGeometry()

    def _rebuild_undo_buttons(self, focused: QWidget | None) -> None:
        """Enables undo and redo; focus moves from one that is disabled to the other."""
        can_undo, can_redo = self._state.editor.can_undo, self._state.editor.can_redo
        for button, can, other in (
            (self.undo_button, can_undo, self.redo_button),
            (self.redo_button, can_redo, self.undo_button),
        ):
            if focused is button and not can:
                other.setEnabled(True)
                other.setFocus()
        can_reset = bool(self.chips)
        if focused is self.reset_button and not can_reset:
            (self.undo_button if can_undo else self.redo_button).setFocus()
        for button, can in (
            (self.undo_button, can_undo),
            (self.redo_button, can_redo),
            (self.reset_button, can_reset),
        ):
            button.setEnabled(can)

    def _new_chips(self) -> list[QToolButton]:
        experiment = self._state.experiment
        groups = in_groups(experiment.interventions, self._state.maps.all_heads)
        texts = change_texts(self._state, experiment)
        chips = {
            site_of(changes[0]): self._chip(text, changes)
            for text, (_, changes) in zip(texts, groups, strict=False)  # one more text if given
        }
        # a new one comes last, so that the others stay in place
        earlier = [site for site in self._sites if site in chips]
        self._sites = list(dict.fromkeys((*earlier, *chips)))
        ordered = [chips[site] for site in self._sites]
        if isinstance(experiment.output, GivenTarget):
            chip = _button(GIVEN, "Show the model's own translation again")
            chip.clicked.connect(lambda: self._state.submit(edits.use_own_decoding))
            ordered.append(chip)
        return ordered

    def _chip(self, text: str, interventions: tuple[Intervention, ...]) -> QToolButton:
        is_unreached = _is_unreached(interventions[0], self._state.result)
        tip = (
            "Take this change back"
            if len(interventions) == 1
            else f"Take these {len(interventions)} changes back"
        )
        if is_unreached:
            tip = f"{phrase('no_effect')} {tip}"
        chip = _button(text, tip)
        chip.clicked.connect(lambda: self._state.submit(edits.remove(*interventions)))
        chip.setEnabled(True)
        if is_unreached:
            chip.setProperty("isUnreached", True)
        return chip


def change_texts(state: ExperimentState, experiment: Experiment) -> list[str]:
    """The texts of the chips of `experiment`, in order; last, that a translation is given.

    The result shown, perhaps of an earlier experiment, tells whether a change was reached.
    """
    result = state.result
    groups = in_groups(experiment.interventions, state.maps.all_heads)
    texts = []
    for text, changes in groups:
        is_unreached = _is_unreached(changes[0], result)
        texts.append(phrase("not_reached", change=text) if is_unreached else text)
    if isinstance(experiment.output, GivenTarget):
        texts.append(GIVEN)
    return texts


class Messages(QWidget):
    """Messages in a line, and a hint while there are none.

    The last message, which is the most important one, is on the right, next to its button. Each
    has the room for its longest form that leaves a symbol to those before it.

    Attributes:
        hint: see `offer_hint`.
    """

    def __init__(self, *messages: ElidingLabel) -> None:
        super().__init__()
        self.hint = ElidingLabel("small", HINT)
        self._offers_hint = False
        self._messages = messages
        self._others: list[QWidget] = []
        self._row = row_of(
            *messages[:-1], (self.hint, 100), 1, *messages[-1:], spacing=12, within=self
        )
        for message in messages:
            message.symbol = SYMBOL
        # else long messages would take the room of chips
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def give_way_to(self, message: QWidget) -> None:
        """While a message elsewhere is shown, there is no hint."""
        self._others.append(message)

    def offer_hint(self, is_offered: bool) -> None:
        """Shows the hint whenever there is no message."""
        self._offers_hint = is_offered
        self.show_hint()

    def show_hint(self) -> None:
        """Shows or hides the hint: a message came or went."""
        has_message = any(not message.isHidden() for message in (*self._messages, *self._others))
        self.hint.setVisible(self._offers_hint and not has_message)

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self.show_hint()
            self._share_room()
        return super().event(event)

    def _share_room(self) -> None:
        shown = [message for message in self._messages if not message.isHidden()]
        room = self.width()
        for index in reversed(range(len(shown))):
            before = (message.minimumSizeHint().width() for message in shown[:index])
            others = sum(before) + self._row.spacing() * index
            shown[index].setMaximumWidth(shown[index].width_within(room - others))
            room -= shown[index].maximumWidth() + self._row.spacing()


class _ChipRow(QWidget):
    """Chips side by side; a menu has those for which there is no room."""

    def __init__(self) -> None:
        super().__init__()
        self._chips: Sequence[QToolButton] = ()
        self._is_fitting = False
        self._more = MenuButton("", "More changes: choose one to take it back")
        self._more.setMenu(QMenu(self._more))
        self._row = row_of(spacing=CHIP_SPACING)
        row_of(self._row, self._more, 1, spacing=CHIP_SPACING, within=self)

    def replace(self, old: Sequence[QToolButton], new: Sequence[QToolButton]) -> None:
        """Shows the new chips instead of the old ones."""
        self._is_fitting = True  # else it would show chips that are gone, or in no line yet
        replace_widgets(self._row, old, new)
        self._chips = new
        self._is_fitting = False
        self._fit()

    def sizeHint(self) -> QSize:
        """Of all chips."""
        hints = [chip.sizeHint() for chip in self._chips]
        width = sum(hint.width() for hint in hints) + self._row.spacing() * (len(hints) - 1)
        return QSize(width, max((hint.height() for hint in hints), default=0))

    def minimumSizeHint(self) -> QSize:
        """Of the menu alone."""
        return QSize(self._more.sizeHint().width(), self.sizeHint().height())

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._fit()
        return super().event(event)

    def _fit(self) -> None:
        if self._is_fitting:  # Qt lays a line out as soon as a part is shown
            return
        self._is_fitting = True
        spacing = self._row.spacing()
        ends = list(accumulate(chip.sizeHint().width() + spacing for chip in self._chips))
        self._more.setText(f"+{len(ends)} ▾")
        room = self.width() + spacing
        if ends and ends[-1] > room:
            room -= self._more.sizeHint().width() + spacing
        num_shown = sum(end <= room for end in ends)
        hidden = self._chips[num_shown:]
        self._more.setText(f"+{len(hidden)} ▾")
        for index, chip in enumerate(self._chips):
            chip.setVisible(index < num_shown)
        self._more.setVisible(bool(hidden))
        menu = self._more.menu()
        menu.clear()
        for chip in hidden:
            menu.addAction(chip.text(), chip.click)
        self._is_fitting = False


def _button(text: str, tip: str) -> QToolButton:
    chip = QToolButton()
    chip.setText(f"{text}  ×")
    chip.setToolTip(tip)
    chip.setAccessibleName(f"Remove: {text}")
    chip.setProperty("role", "chip")
    return chip


def _is_unreached(intervention: Intervention, result: ExperimentResult | None) -> bool:
    return result is not None and intervention in result.changed.unreached


TIPS: dict[ShownMaps, str] = {
    "original": "The maps without changes",
    "changed": "The maps with the changes of this experiment",
    "difference": "Changed minus original, for common tokens",
}


class ShownMapsSwitch(QWidget):
    """Three buttons of which one is pressed; the key D goes from one to the next.

    Hidden without changes, and while the translation is withheld.

    The pressed button names the maps drawn. For a head without a difference, its button is disabled
    and gives the reason.

    Attributes:
        buttons: by the maps that they show.
    """

    def __init__(self, state: ExperimentState) -> None:
        super().__init__()
        self._state = state
        self.setAccessibleName("Which maps are shown")
        texts: dict[ShownMaps, tuple[str, str]] = {
            shown: (shown.capitalize(), "") for shown in SHOWN_MAPS
        }
        self.buttons = choice_buttons(self, texts, partial(setattr, state.settings, "shown"))
        row_of(*self.buttons.values(), spacing=0, within=self)
        self._key = add_shortcut(self, NEXT_MAPS.on(state), NEXT_MAPS.keys)
        state.result_changed.connect(self.rebuild)
        state.settings.events.shown.connect(self.rebuild, max_args=0)
        state.selection.events.head.connect(self.rebuild, max_args=0)
        self.rebuild()

    def rebuild(self) -> None:
        """Updates the buttons to the result, the choice and the kind of map."""
        state = self._state
        is_changed = NEXT_MAPS.is_offered(state)
        self.setVisible(is_changed)
        self._key.setEnabled(is_changed)
        if not is_changed:
            return
        problem = state.maps.difference_problem(state.selection.head.kind)
        shown_now = (
            "changed" if problem and state.settings.shown == "difference" else state.settings.shown
        )
        self.buttons[shown_now].setChecked(True)
        self.buttons["difference"].setEnabled(not problem)
        for shown, button in self.buttons.items():
            button.ensurePolished()  # otherwise its width changes at the first painting
            reason = problem if shown == "difference" else ""
            button.setToolTip(f"{reason or TIPS[shown]}\n{NEXT_MAPS.tip_with_keys()}")
