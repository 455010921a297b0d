"""An analysis tab: a bar for each head of the chosen kind. A click chooses the head."""

from augenmerk.core.counting import display_text
from augenmerk.core.model.heads import Head
from augenmerk.viz_app.extensions.widgets.bars import Bar, BarList
from augenmerk.viz_app.state.tabs import Tab
from augenmerk.viz_app.translate.analysis_tab import AnalysisContext, AnalysisTab
from augenmerk.viz_app.widgets.layouts import VerticalScrollArea
from augenmerk_example.sharpness import sharpness


class SharpestTab(AnalysisTab):
    """Shows the heads of the chosen kind, the sharpest first."""

    def __init__(self, context: AnalysisContext, tab: Tab) -> None:
        super().__init__(context, tab)
        self.heads: list[Head] = []
        self.bars = BarList("Heads", "Click a head to choose it")
        self.bars.label_clicked.connect(
            lambda index: self.state.intents.choose_head(self.heads[index])
        )
        self.column.addWidget(VerticalScrollArea(self.bars), 1)

    def redraw(self) -> None:
        """Draws the bars: another result is shown, or another head was chosen."""
        translation, chosen = self.state.translation, self.state.selection.head
        ranked = sharpness(translation, chosen.kind) if translation is not None else []
        self.heads = [head for head, _ in ranked]
        self.bars.show_bars(
            [
                Bar(display_text(head.short_name), value, f"{value:.2f}", is_lit=head == chosen)
                for head, value in ranked
            ]
        )
