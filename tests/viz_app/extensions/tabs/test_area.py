"""The Analysis panel: its tab bar, the tab that it remembers, and where keyboard focus goes."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.state.tabs import Tab
from augenmerk.viz_app.translate.analysis_panel import MIN_WIDTH, AnalysisPanel
from augenmerk.viz_app.translate.analysis_tab import AnalysisContext, AnalysisTab
from tests.viz_app.extensions.tabs.conftest import MakeContext


class FieldTab(AnalysisTab):
    """A tab with a text field."""

    def __init__(self, context: AnalysisContext, tab: Tab) -> None:
        super().__init__(context, tab)
        self.field = QLineEdit()
        self.column.addWidget(self.field)


def _tabs_named(names: tuple[str, ...]) -> dict[str, Tab]:
    code, meaning = f"{__name__}:FieldTab", "A tab of a test, with a text field."
    return {name.lower(): Tab(name, f"The tab {name}", meaning, code, order=0) for name in names}


NAMES = ("Steps", "Alignment", "Heads", "Source", "Compare", "Logit lens", "Activation patching")


@pytest.fixture
def context(make_context: MakeContext) -> AnalysisContext:
    return make_context()


def _panel(
    context: AnalysisContext, qtbot: QtBot, names: tuple[str, ...] = NAMES[:5]
) -> AnalysisPanel:
    panel = AnalysisPanel(context, _tabs_named(names))
    qtbot.addWidget(panel)
    return panel


@pytest.mark.parametrize("num_tabs", [1, 5, 6, 7])
@pytest.mark.parametrize("width", [MIN_WIDTH, 430, 900])
def test_the_names_of_all_tabs_are_whole_however_many_there_are(
    context: AnalysisContext, qtbot: QtBot, num_tabs: int, width: int
) -> None:
    panel = _panel(context, qtbot, NAMES[:num_tabs])
    panel.resize(width, 600)
    panel.show()
    qtbot.waitExposed(panel)
    assert panel.width() == width
    places = [
        button.geometry().translated(
            button.parentWidget().mapTo(panel, button.parentWidget().rect().topLeft())
        )
        for button in panel.buttons
    ]
    for button, box in zip(panel.buttons, places, strict=True):
        assert button.width() >= button.sizeHint().width(), button.text()
        assert button.height() >= button.sizeHint().height(), button.text()
        assert panel.rect().contains(box), button.text()
        assert button.toolTip()
        assert box.bottom() <= panel.tab.mapTo(panel, panel.tab.rect().topLeft()).y()
        assert not box.intersects(panel.close_button.geometry())
    assert not any(one.intersects(other) for one in places for other in places if one is not other)
    assert len({box.top() for box in places}) == 1 or num_tabs > 4, (
        "no second line unless it is needed"
    )


def test_the_last_tab_is_remembered_by_its_name(context: AnalysisContext, qtbot: QtBot) -> None:
    panel = _panel(context, qtbot)
    panel.show()
    qtbot.mouseClick(panel.buttons[2], Qt.MouseButton.LeftButton)
    assert panel.tab_name == "heads"
    assert context.preferences.analysis_tab == "heads"
    other = _panel(context, qtbot, ("Source", "Heads"))
    assert other.tab_name == "heads"
    assert other.buttons[1].isChecked()


def test_a_remembered_tab_whose_extension_is_missing_is_named_and_kept(
    context: AnalysisContext, qtbot: QtBot
) -> None:
    context.preferences.analysis_tab = "gone"
    assert _panel(context, qtbot).missing_tab == "", "it was closed, so nobody misses it"
    context.preferences.is_analysis_open = True
    panel = _panel(context, qtbot)
    assert panel.missing_tab == "gone"
    assert panel.tab_name == "steps"
    assert context.preferences.analysis_tab == "gone", "it is there again once the extension is"


def test_it_says_that_it_is_to_be_closed(context: AnalysisContext, qtbot: QtBot) -> None:
    panel = _panel(context, qtbot)
    panel.show()
    with qtbot.waitSignal(panel.closed):
        qtbot.mouseClick(panel.close_button, Qt.MouseButton.LeftButton)
    assert panel.isVisible(), "whoever shows it hides it"


@pytest.fixture
def window(context: AnalysisContext, qtbot: QtBot) -> QWidget:
    """A panel between two buttons, as in the Translate page."""
    window = QWidget()
    qtbot.addWidget(window)
    row = QHBoxLayout(window)
    panel = AnalysisPanel(context, _tabs_named(NAMES[:5]))
    for widget in (QPushButton("Translate"), QLineEdit(), panel, QPushButton("Export"), QLabel()):
        row.addWidget(widget)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


def test_leaving_a_tab_takes_keyboard_focus_to_the_button_of_the_next(
    window: QWidget, qtbot: QtBot
) -> None:
    panel = window.findChild(AnalysisPanel)
    assert isinstance(panel.tab, FieldTab)
    panel.tab.field.setFocus()
    panel.show_tab(3)
    assert panel.buttons[3].hasFocus()
    outside = window.findChild(QPushButton)
    outside.setFocus()
    panel.show_tab(1)
    assert outside.hasFocus(), "it was not in the tab"


def test_focus_on_the_button_of_a_tab_follows_to_the_next(window: QWidget, qtbot: QtBot) -> None:
    panel = window.findChild(AnalysisPanel)
    panel.buttons[0].setFocus()
    qtbot.mouseClick(panel.buttons[2], Qt.MouseButton.LeftButton)
    assert panel.buttons[2].hasFocus(), (
        "the frame of the focus would stay at a tab that is not shown"
    )


def test_hiding_the_panel_gives_keyboard_focus_back(window: QWidget, qtbot: QtBot) -> None:
    panel, before = window.findChild(AnalysisPanel), window.layout().itemAt(1).widget()
    assert isinstance(panel.tab, FieldTab)
    before.setFocus()
    panel.tab.field.setFocus()
    panel.buttons[0].setFocus()
    panel.hide()
    assert before.hasFocus()
    panel.show()
    panel.tab.field.setFocus()
    before.hide()
    panel.hide()
    assert not window.findChild(QPushButton).hasFocus()
