"""Words, their pieces, and the ids that the model reads."""

from collections.abc import Mapping

from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from augenmerk.core.translation.result import Translation, Word
from augenmerk.viz_app.learn.figures.figure import ChapterFigure, LearnContext
from augenmerk.viz_app.theme import PANEL_MARGIN, current_theme, scaled, scales
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.widgets.layouts import FlowLayout

WORD_GAP = 10
MAX_FACTOR = 2.2
"""Letters are at most so much larger than elsewhere."""
NUM_TRIES = 4


class TokensFigure(ChapterFigure):
    """Both sentences, word by word; below each word its tokens and their ids."""

    caption = "What the model reads and writes: words, tokens, ids"
    follows_style = True

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        self.sides: list[QWidget] = []
        self._available_height, self._base_px = 0, current_theme().base_px
        self._sides = QWidget()
        self._column = QGridLayout(self._sides)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setVerticalSpacing(14)
        self.column.addWidget(self._sides)

    def set_available_height(self, height: int) -> None:
        """Larger letters on a large page, as long as both sentences fit."""
        base_px = current_theme().base_px
        if (height, base_px) != (self._available_height, self._base_px):
            self._available_height, self._base_px = height, base_px
            self.redraw()

    def redraw(self) -> None:
        """Another sentence."""
        self._draw(1.0)
        if not self.sides or not self._available_height:
            return
        taken = self._taken_at(1.0)
        factor = min(MAX_FACTOR, (self._available_height / max(taken, 1)) ** 0.5)
        for _ in range(NUM_TRIES):
            if factor < 1.05:
                self._draw(1.0)
                return
            self._draw(factor)
            if self._taken_at(factor) <= self._available_height:
                return
            factor *= 0.88
        self._draw(1.0)

    def _taken_at(self, factor: float) -> int:
        """The height that the figure needs as it is drawn now."""
        width = self.width() - 2 * scaled(PANEL_MARGIN)
        layouts = [side.layout() for side in self.sides]
        lines = sum(layout.heightForWidth(width) for layout in layouts if layout is not None)
        around = scaled(70) + self._column.verticalSpacing() * (len(layouts) - 1)
        return lines + around

    def _draw(self, factor: float) -> None:
        for side in self.sides:
            self._column.removeWidget(side)
            side.hide()  # at once: what is deleted later is drawn until then
            side.deleteLater()
        self.sides = []
        translation = self.translation
        if translation is None:
            return
        for row, (name, words, tokens, ids) in enumerate(_sides(translation, self.state.languages)):
            side = QWidget()
            flow = FlowLayout(round(scaled(WORD_GAP) * factor), side)
            title = _label("muted", name, factor)
            flow.addWidget(title)
            for column in _columns(words, tokens, ids, factor):
                flow.addWidget(column)
            self.sides.append(side)
            self._column.addWidget(side, row, 0)


def _sides(
    translation: Translation, languages: tuple[str, str]
) -> list[tuple[str, tuple[Word, ...], tuple[str, ...], tuple[int, ...]]]:
    return [
        (languages[0], translation.source_words, translation.source_tokens, translation.source_ids),
        (languages[1], translation.target_words, translation.predicted_tokens, translation.predicted_ids),
    ]


def _label(role: str, text: str, factor: float) -> QLabel:
    """A label with letters enlarged by a factor."""
    shown = label(role)
    shown.setText(text)
    if factor != 1.0:
        shown.ensurePolished()
        shown.setStyleSheet(f"font-size: {round(shown.font().pixelSize() * factor)}px")
    return shown


def _columns(words: tuple[Word, ...], tokens: tuple[str, ...], ids: tuple[int, ...], factor: float) -> list[QWidget]:
    """One for each word, and for each token that belongs to none."""
    columns, place = [], 0
    while place < len(tokens):
        word = next((word for word in words if word.start == place), None)
        end = word.end if word is not None else place + 1
        columns.append(_column(word.text if word is not None else "", tokens[place:end], ids[place:end], factor))
        place = end
    return columns


def _column(word: str, tokens: tuple[str, ...], ids: tuple[int, ...], factor: float) -> QWidget:
    column = QWidget()
    grid = QGridLayout(column)
    scales(grid.setContentsMargins, 4, 2, 4, 2)
    grid.setHorizontalSpacing(8)
    grid.setVerticalSpacing(1)
    title = _label("sentence" if word else "muted", word or "mark", factor)
    grid.addWidget(title, 0, 0, 1, len(tokens))
    for place, (token, token_id) in enumerate(zip(tokens, ids, strict=True)):
        for row, (role, text) in enumerate((("accent", token), ("small", str(token_id))), start=1):
            grid.addWidget(_label(role, text, factor), row, place)
    column.setToolTip(" + ".join(tokens) if len(tokens) > 1 else "")
    return column
