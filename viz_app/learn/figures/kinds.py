"""Three kinds of attention: where queries, keys and values come from, which mask holds, which shape maps have."""

from collections.abc import Mapping
from functools import partial

from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from augenmerk.core.model.heads import KIND_TITLES, Head
from augenmerk.core.translation.result import MAP_KINDS, MapKind
from augenmerk.viz_app.learn.figures.figure import ChapterFigure, LearnContext
from augenmerk.viz_app.widgets.labels import label

HEADINGS = ("", "queries from", "keys and values from", "mask", "each map: rows × columns")


class KindsFigure(ChapterFigure):
    """A table with a line for each kind; a click shows a head of that kind.

    Attributes:
        buttons: one for each kind.
        shapes: the shapes of the maps of this sentence, in words.
    """

    caption = "Three kinds of attention"

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        self.buttons: dict[MapKind, QPushButton] = {}
        self.shapes = {kind: label("number") for kind in MAP_KINDS}
        source, target = "source", "translation"
        origins = {
            "encoder": (source, source, "none"),
            "decoder": (f"{target}, so far", f"{target}, so far", "causal"),
            "cross": (f"{target}, so far", "the encoder's output", "none"),
        }
        table = QWidget()
        grid = QGridLayout(table)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(6)
        for column, heading in enumerate(HEADINGS):
            shown = label("muted", heading, wraps=True)
            grid.addWidget(shown, 0, column)
        for row, kind in enumerate(MAP_KINDS, start=1):
            button = QPushButton(KIND_TITLES[kind])
            button.setCheckable(True)
            button.setProperty("role", "chapter")
            button.setToolTip("Show a head of this kind below")
            button.clicked.connect(partial(self._choose, kind))
            self.buttons[kind] = button
            grid.addWidget(button, row, 0)
            for column, text in enumerate(origins[kind], start=1):
                shown = label("number", text, wraps=True)
                grid.addWidget(shown, row, column)
            grid.addWidget(self.shapes[kind], row, len(HEADINGS) - 1)
        grid.setColumnStretch(len(HEADINGS) - 1, 1)
        self.column.addWidget(table)

    def redraw(self) -> None:
        """Another sentence has other shapes; another head may be of another kind."""
        chosen = self.state.selection.head.kind
        for kind, button in self.buttons.items():
            button.setChecked(kind == chosen)
            if self.translation is not None:
                num_rows, num_columns = self.translation.maps.of_kind(kind).shape[-2:]
                self.shapes[kind].setText(f"{num_rows} × {num_columns}")

    def _choose(self, kind: MapKind) -> None:
        head = self.state.selection.head
        self.state.intents.choose_head(Head(kind, head.layer, head.head))
        self.redraw()
