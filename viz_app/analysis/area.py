"""The laboratory: tabs beside the maps."""

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from viz_app.analysis.tab import LabTab
from viz_app.preferences import Preferences
from viz_app.state.model_info import ModelInfo
from viz_app.theme import PANEL_MARGIN, Theme
from viz_app.widgets.parts import flat_button

MIN_WIDTH, USUAL_WIDTH = 340, 430


class Laboratory(QFrame):
    """Shows one of its tabs.

    Attributes:
        tabs: all of them.
        buttons: one for each.
        close_button: hides the laboratory.

    Signals:
        closed(): it is to be hidden.
    """

    closed = Signal()

    def __init__(self, tabs: tuple[LabTab, ...], preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._preferences = preferences
        self.tabs = tabs
        self._pages = QStackedWidget()
        self._group = QButtonGroup(self)
        self.buttons: list[QToolButton] = []
        self.close_button = flat_button("✕", "Hide the laboratory (Ctrl+3)")
        self.close_button.setAccessibleName("Hide the laboratory")
        self.close_button.clicked.connect(self.closed)
        self._lay_out()
        names = [tab.name for tab in tabs]
        self.show_tab(names.index(preferences.lab_tab) if preferences.lab_tab in names else 0)

    @property
    def tab(self) -> LabTab:
        """The tab that is shown."""
        return self.tabs[self._pages.currentIndex()]

    def show_tab(self, index: int) -> None:
        """Changes the tab."""
        self.buttons[index].setChecked(True)
        self._pages.setCurrentIndex(index)
        self._preferences.lab_tab = self.tabs[index].name
        self.refresh()

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        for tab in self.tabs:
            tab.apply_theme(theme)

    def begin_model(self, info: ModelInfo) -> None:
        """Another model answers from now on."""
        for tab in self.tabs:
            tab.begin_model(info)

    def show_translation(self) -> None:
        """Another translation is shown, or none."""
        for tab in self.tabs:
            tab.forget_sentence()
        self.refresh()

    def refresh(self) -> None:
        """The chosen head, or what is shown, changed: the tab in sight follows."""
        if self.isVisible():
            self.tab.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        """The tab comes into sight."""
        super().showEvent(event)
        self.tab.refresh()

    def minimumSizeHint(self) -> QSize:
        """Room for the five tabs' names."""
        return QSize(MIN_WIDTH, 200)

    def sizeHint(self) -> QSize:
        """As wide as a column of text."""
        return QSize(USUAL_WIDTH, 400)

    def _lay_out(self) -> None:
        header = QHBoxLayout()
        header.setContentsMargins(PANEL_MARGIN - 8, 8, 6, 2)
        header.setSpacing(0)
        for index, tab in enumerate(self.tabs):
            button = QToolButton()
            button.setText(tab.name)
            button.setToolTip(tab.tip)
            button.setCheckable(True)
            button.setProperty("role", "subtab")
            button.clicked.connect(lambda _=False, chosen=index: self.show_tab(chosen))
            self._group.addButton(button)
            self.buttons.append(button)
            header.addWidget(button)
            self._pages.addWidget(tab)
        header.addStretch(1)
        header.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(header)
        column.addWidget(self._pages, 1)
