"""The map of one head, large, as on the Translate page."""

from collections.abc import Mapping

from PySide6.QtWidgets import QWidget

from augenmerk.viz_app.heatmap.head_grid import HeadGrid, HeadGridArea
from augenmerk.viz_app.heatmap.heatmap import Heatmap
from augenmerk.viz_app.learn.figures.figure import ChapterFigure, LearnContext
from augenmerk.viz_app.state import map_text
from augenmerk.viz_app.theme import scales

MIN_HEIGHT = 230


class MapFigure(ChapterFigure):
    """One large map; with the option `grid`, all heads above it as thumbnails to choose from.

    The option `height` gives its least height, where another figure needs the rest; with `unnamed` the title does not
    say which head it is, where layers and heads are not explained yet.
    """

    caption = "Attention"
    takes_height = True
    options_known = frozenset({"grid", "height", "unnamed"})

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        self.grid = HeadGrid(self.state) if "grid" in options else None
        if self.grid is not None:
            self.column.addWidget(HeadGridArea(self.grid), 1)
        self.map = Heatmap(self.state)
        scales(self.map.setMinimumHeight, int(options.get("height", MIN_HEIGHT)))
        self.column.addWidget(self.map, 1)

    def redraw(self) -> None:
        """Another head: the map follows by itself, the caption here."""
        if self.translation is not None:
            parts = map_text.meaning_of_query(self.state), map_text.off_note(self.state)
            name = self.caption if "unnamed" in self.options else map_text.title(self.state)
            self.title.setText(f"{name}. {' '.join(parts).rstrip()}")
