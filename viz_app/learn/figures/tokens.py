"""Words, their pieces, and the ids that the model really reads."""

from collections.abc import Mapping

from PySide6.QtWidgets import QGridLayout, QWidget

from core.translation.result import Translation, Word
from viz_app.learn.figures.figure import LearnContext, StationFigure
from viz_app.theme import scaled, scales
from viz_app.widgets.flow_layout import FlowLayout
from viz_app.widgets.parts import label

WORD_GAP = 10


class TokensFigure(StationFigure):
    """Both sentences, word by word; below each word its tokens and their ids."""

    caption = "What the model reads and writes: words, tokens, ids"

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        self.sides: list[QWidget] = []
        self._sides = QWidget()
        self._column = QGridLayout(self._sides)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setVerticalSpacing(14)
        self.column.addWidget(self._sides)

    def redraw(self) -> None:
        """Another sentence."""
        for side in self.sides:
            self._column.removeWidget(side)
            side.deleteLater()
        self.sides = []
        translation = self.translation
        if translation is None:
            return
        for row, (name, words, tokens, ids) in enumerate(_sides(translation, self.state.languages)):
            side = QWidget()
            flow = FlowLayout(scaled(WORD_GAP), side)
            title = label("muted")
            title.setText(name)
            flow.addWidget(title)
            for column in _columns(words, tokens, ids):
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


def _columns(words: tuple[Word, ...], tokens: tuple[str, ...], ids: tuple[int, ...]) -> list[QWidget]:
    """One for each word, and for each token that belongs to none."""
    columns, place = [], 0
    while place < len(tokens):
        word = next((word for word in words if word.start == place), None)
        end = word.end if word is not None else place + 1
        columns.append(_column(word.text if word is not None else "", tokens[place:end], ids[place:end]))
        place = end
    return columns


def _column(word: str, tokens: tuple[str, ...], ids: tuple[int, ...]) -> QWidget:
    column = QWidget()
    grid = QGridLayout(column)
    scales(grid.setContentsMargins, 4, 2, 4, 2)
    grid.setHorizontalSpacing(8)
    grid.setVerticalSpacing(1)
    title = label("sentence" if word else "muted")
    title.setText(word or "mark")
    grid.addWidget(title, 0, 0, 1, len(tokens))
    for place, (token, token_id) in enumerate(zip(tokens, ids, strict=True)):
        for row, (role, text) in enumerate((("accent", token), ("small", str(token_id))), start=1):
            shown = label(role)
            shown.setText(text)
            grid.addWidget(shown, row, place)
    column.setToolTip(" + ".join(tokens) if len(tokens) > 1 else "")
    return column
