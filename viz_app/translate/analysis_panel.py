"""The Analysis panel: tabs next to the maps. See "An analysis tab" in docs/architecture.md."""

from collections.abc import Mapping
from functools import partial

import shiboken6
from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QStackedWidget,
    QWidget,
)

from ..state.number_table import NumberTable
from ..state.tabs import TABS, Tab
from ..theme import PANEL_MARGIN, scaled
from ..views.commands import TOGGLE_ANALYSIS
from ..widgets.buttons import choice_buttons, flat_button
from ..widgets.commands import Command
from ..widgets.layouts import column_of, row_of, wrapping_row
from .analysis_tab import AnalysisContext, AnalysisTab

MIN_WIDTH, USUAL_WIDTH = 340, 430


class AnalysisPanel(QFrame):
    """Shows one of its tabs. Each is created when it is first shown.

    Keyboard focus in a tab, or on its button, moves to the button of the next tab shown. When the
    panel is hidden, focus returns to its previous widget.

    Attributes:
        focus_next: gets focus when the panel is hidden and the previous widget is gone; None for
            the window.
        state: what the tabs analyse.
        buttons: one per tab, in lines that wrap.
        close_button: hides the panel.
        missing_tab: the name of the tab that was last open, if its extension is not installed; else
            empty.

    Signals:
        opened(), closed(): the user wants to see the panel, or to hide it.
    """

    opened, closed = Signal(), Signal()

    def __init__(self, context: AnalysisContext, tabs: Mapping[str, Tab] = TABS) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        # a click on a tab, or into it, makes it the view to present
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._preferences = context.preferences
        self._context = context
        self.state = context.state
        self._index = 0
        self.tabs_by_name = dict(tabs)
        self._names = tuple(self.tabs_by_name)
        self._made: dict[int, AnalysisTab] = {}
        self._pages = QStackedWidget()
        self.close_button = flat_button(
            "✕", TOGGLE_ANALYSIS.tip_with_keys("Hide the analysis panel")
        )
        self.close_button.setAccessibleName("Hide the analysis panel")
        self.close_button.clicked.connect(self.closed)
        self._focus = FocusBefore(self)
        self.focus_next: QWidget | None = None
        self._lay_out()
        remembered = self._preferences.analysis_tab.lower()
        is_missing = bool(remembered) and remembered not in self._names
        self.missing_tab = remembered if is_missing and self._preferences.is_analysis_open else ""
        if self._names:
            self._show(0 if is_missing or not remembered else self._names.index(remembered))

    @property
    def tab(self) -> AnalysisTab:
        """The current tab."""
        return self._tab_at(self._index)

    @property
    def tab_name(self) -> str:
        """The name of the current tab in files."""
        return self._names[self._index]

    @property
    def tabs(self) -> tuple[AnalysisTab, ...]:
        """All tabs."""
        return tuple(map(self._tab_at, range(len(self._names))))

    @property
    def explains_words(self) -> bool:
        """Whether a tab explains why a token was chosen."""
        return any(tab.explains_words for tab in self.tabs_by_name.values())

    def stop(self) -> bool:
        """Cancels the computation of the visible tab; False if there is none."""
        return self._pages.isVisible() and bool(self._names) and self.tab.stop()

    def numbers(self) -> NumberTable | None:
        """The numbers of the visible tab; None if there are none."""
        return self.tab.numbers() if self._pages.isVisible() else None

    def show_tab(self, index: int) -> None:
        """Changes the tab, and remembers it."""
        self._show(index)
        self._preferences.analysis_tab = self._names[index]

    def _show(self, index: int) -> None:
        is_in_tab = self._index in self._made and _has_focus(self._made[self._index])
        had_focus = is_in_tab or any(part.hasFocus() for part in (self, *self.buttons))
        self._index = index
        self.buttons[index].setChecked(True)
        if self._pages.isVisible():
            self._pages.setCurrentWidget(self.tab)
        if had_focus:
            self.buttons[index].setFocus()

    def open_tab(self, name: str) -> None:
        """Shows a tab, and the panel if it is hidden."""
        self.show_tab(self._names.index(name))
        self.opened.emit()

    def show_alone(self, name: str) -> QWidget:
        """Shows a tab in the widget that holds all of them, which another part of the window may
        borrow.
        """
        self.show_tab(self._names.index(name))
        self._pages.setCurrentWidget(self.tab)
        return self._pages

    def set_presented(self, name: str, is_presented: bool) -> None:
        """A tab fills the screen from now on, or no longer."""
        self._tab_at(self._names.index(name)).set_presented(is_presented)

    def explain_word(self, step: int, foil: str) -> None:
        """Shows why the token of a step was chosen, in the first tab that explains words."""
        self.open_tab(next(name for name, tab in self.tabs_by_name.items() if tab.explains_words))
        self.tab.explain_word(step, foil)

    @property
    def has_focus(self) -> bool:
        """Whether the keyboard focus is in the panel."""
        return _has_focus(self)

    def showEvent(self, event: QShowEvent) -> None:
        """Creates the current tab."""
        if self._names:
            self._pages.setCurrentWidget(self.tab)
        super().showEvent(event)

    def _tab_at(self, index: int) -> AnalysisTab:
        if index not in self._made:
            self._made[index] = self.tabs_by_name[self._names[index]].make(self._context)
            self._pages.addWidget(self._made[index])
        return self._made[index]

    def hideEvent(self, event: QHideEvent) -> None:
        """Returns keyboard focus to its previous widget."""
        super().hideEvent(event)
        if self.has_focus and not self._focus.give_back():
            (self.focus_next or self.window()).setFocus()

    def minimumSizeHint(self) -> QSize:
        """Room for a tab."""
        return QSize(scaled(MIN_WIDTH), 200)

    def sizeHint(self) -> QSize:
        """As wide as a column of text."""
        return QSize(scaled(USUAL_WIDTH), 300)

    def _lay_out(self) -> None:
        names = [
            (tab.name, f"<p>{tab.tip}.</p><p>{tab.meaning}</p>")
            for tab in self.tabs_by_name.values()
        ]
        self.buttons = [*choice_buttons(self, dict(enumerate(names)), self.show_tab).values()]
        for button in (*self.buttons, self.close_button):
            button.setProperty("isDense", True)
        buttons = wrapping_row(self.buttons, spacing=0)
        close = (self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        header = row_of((buttons, 1), close, spacing=0, margins=(PANEL_MARGIN - 12, 8, 2, 2))
        column_of(header, (self._pages, 1), spacing=0, within=self)


class FocusBefore(QObject):
    """The widget that had the keyboard focus before it went into another one."""

    def __init__(self, inside: QWidget) -> None:
        """`inside`: the other one, which it lives as long as."""
        super().__init__(inside)
        self._inside = inside
        self._before: QWidget | None = None
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus_changed)

    def give_back(self) -> bool:
        """Gives the focus back; False if that widget is gone, hidden or disabled."""
        before = self._before
        if before is None or not shiboken6.isValid(before):
            return False
        if not (before.isVisible() and before.isEnabled()):
            return False
        before.setFocus()
        return True

    def _on_focus_changed(self, old: QWidget | None, now: QWidget | None) -> None:
        inside = self._inside
        if now is None or old is None or not shiboken6.isValid(inside):
            return
        is_inside = now is inside or inside.isAncestorOf(now)
        if is_inside and old is not inside and not inside.isAncestorOf(old):
            self._before = old


def _has_focus(widget: QWidget) -> bool:
    focused = QApplication.focusWidget()
    return focused is not None and (focused is widget or widget.isAncestorOf(focused))


def tab_commands(panel: AnalysisPanel) -> tuple[Command[AnalysisPanel], ...]:
    """One command for each tab, named by its button and its tip."""
    return tuple(
        Command[AnalysisPanel](
            f"{tab.name}: {tab.tip}",
            partial(AnalysisPanel.open_tab, name=name),
            search_words=tab.search_words,
            is_offered=lambda panel: panel.state.result is not None,
        )
        for name, tab in panel.tabs_by_name.items()
    )
