"""What a new tab takes: its own package, here this file, and a declaration."""

from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from augenmerk.core.counting import display_text
from augenmerk.core.model.heads import Head
from augenmerk.viz_app.extensions.widgets.bars import Bar, BarList
from augenmerk.viz_app.state.experiment_editor import toggle
from augenmerk.viz_app.state.tabs import TABS, Tab
from augenmerk.viz_app.translate.analysis_panel import MIN_WIDTH, AnalysisPanel
from augenmerk.viz_app.translate.analysis_tab import AnalysisContext, AnalysisTab
from augenmerk.viz_app.widgets.layouts import VerticalScrollArea
from tests.viz_app.builders import shown
from tests.viz_app.extensions.tabs.conftest import MakeContext, settle


class BarsTab(AnalysisTab):
    """One bar for each head of the chosen kind: the largest weight of a query, on average."""

    def __init__(self, context: AnalysisContext, tab: Tab) -> None:
        super().__init__(context, tab)
        self.bars = BarList("Heads", "Click a head to choose it; click its bar to switch it off")
        self.bars.label_clicked.connect(
            lambda index: self.state.selection.choose(self._heads()[index])
        )
        self.bars.bar_clicked.connect(
            lambda index, _: self.state.submit(toggle(self._heads()[index]))
        )
        self.column.addWidget(VerticalScrollArea(self.bars), 1)

    def redraw(self) -> None:
        """Shows the heads."""
        chosen = self.state.selection.head
        translation = self.state.translation
        maps = translation.maps.of_kind(chosen.kind) if translation is not None else None
        self.bars.show_bars(
            [
                Bar(
                    display_text(head.short_name),
                    value := float(maps[head.layer, head.head].max(axis=-1).mean()),
                    "off" if head in self.state.experiment.heads_off else f"{value:.2f}",
                    is_lit=head == chosen,
                )
                for head in self._heads()
            ]
            if maps is not None
            else []
        )

    def _heads(self) -> list[Head]:
        kind = self.state.selection.head.kind
        num_layers, num_heads = self.state.maps.shape(kind)
        return [Head(kind, layer, head) for layer in range(num_layers) for head in range(num_heads)]


BARS = Tab(
    "Bars",
    "How large the largest weight of each head is",
    "The largest weight of a query, averaged over all queries, for each head of this kind.",
    f"{__name__}:BarsTab",
    order=100,
)


def _click(qtbot: QtBot, bars: BarList, at: QPoint) -> None:
    qtbot.mouseClick(bars, Qt.MouseButton.LeftButton, pos=at)


def test_a_tab_of_bars_over_heads_follows_and_drives_the_experiment(
    make_context: MakeContext, qtbot: QtBot
) -> None:
    context = make_context()
    panel = shown(qtbot, AnalysisPanel(context, {**TABS, "bars": BARS}), (MIN_WIDTH, 500))
    qtbot.mouseClick(panel.buttons[-1], Qt.MouseButton.LeftButton)
    tab = panel.tab
    assert isinstance(tab, BarsTab)
    qtbot.waitUntil(lambda: tab.bars.width() > 100)
    state = context.state
    state.selection.choose(Head("cross", 0, 0))
    assert len(tab.bars.bars) == 12
    assert [bar.is_lit for bar in tab.bars.bars].index(True) == 0
    _click(qtbot, tab.bars, tab.bars.label_place(5).center().toPoint())
    assert state.selection.head == Head("cross", 1, 1)
    assert [bar.is_lit for bar in tab.bars.bars].index(True) == 5
    before = [bar.value for bar in tab.bars.bars]
    _click(qtbot, tab.bars, tab.bars.bar_place(0).center().toPoint())
    settle(qtbot, tab)
    assert Head("cross", 0, 0) in state.experiment.heads_off
    assert tab.bars.bars[0].text == "off"
    assert [bar.value for bar in tab.bars.bars] != before
    _click(qtbot, tab.bars, tab.bars.bar_place(0).center().toPoint())
    settle(qtbot, tab)
    assert [bar.value for bar in tab.bars.bars] == before
    state.clear()
    assert tab.bars.bars == ()
    assert all(button.width() >= button.sizeHint().width() for button in panel.buttons)
