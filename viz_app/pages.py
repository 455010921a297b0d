"""The pages of the window: Translate, and those that extensions add."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from .translate.page import TranslatePage
from .views.commands import REDO, SENTENCE, TOGGLE_ANALYSIS, UNDO
from .views.export_source import Exportable
from .views.sentence import SentencePanel
from .widgets.commands import Command
from .widgets.layouts import PageStack
from .window_part import WindowPage

TRANSLATE = "translate"
"""The name of the kernel's own page."""


class FullScreen(Protocol):
    """What may show one view on the whole screen, instead of the pages."""

    def take(self, name: str = "") -> bool:
        """Shows a view, or the main one of the current page, if the screen shows one.

        Returns whether it does.
        """

    def end(self) -> None:
        """Returns to the pages."""


class NoFullScreen:
    """The screen shows pages only."""

    def take(self, name: str = "") -> bool:
        """No."""
        return False

    def end(self) -> None:
        """Nothing to do."""


class PageHost(QObject):
    """Shows one of the pages.

    Translate is always there; the others are made when they are first shown.

    Attributes:
        stack: the widget that shows the current page.
        translate: the Translate page.
        parts: the other pages, by name.
        full_screen: what shows single views on the whole screen.

    Signals:
        shown(str): the page of this name is shown.
    """

    shown = Signal(str)

    def __init__(self, translate: TranslatePage, parent: QObject) -> None:
        super().__init__(parent)
        self.translate = translate
        self.parts: dict[str, WindowPage] = {}
        self.full_screen: FullScreen = NoFullScreen()
        self.stack = PageStack()
        self.stack.addWidget(translate)

    def show(self, name: str) -> None:
        """Shows a page, by its name."""
        if name == TRANSLATE:
            self.stack.setCurrentWidget(self.translate)
        else:
            part = self.parts[name]
            if part.widget is None:
                part.widget = part.make()
                self.stack.addWidget(part.widget)
            self.stack.setCurrentWidget(part.widget)
        self.shown.emit(name)

    @property
    def current(self) -> str:
        """The name of the current page."""
        widget = self.stack.currentWidget()
        return next((name for name, part in self.parts.items() if part.widget is widget), TRANSLATE)

    def way_back(self) -> Callable[[], object]:
        """Returns a function that shows the current page again."""
        return partial(self.show, self.current)

    def visit(self, name: str) -> None:
        """Shows a page; its main view, if the whole screen shows one."""
        self.show(name)
        self.full_screen.take()

    def show_analysis(self, tab: str) -> None:
        """Shows an analysis tab that was opened, and the page around it."""
        if not self.full_screen.take(tab):
            self.show(TRANSLATE)
            self.translate.arrangement.show_analysis(True)

    def focus_sentence(self) -> None:
        """Lets the user type another sentence on the Translate page."""
        self.full_screen.end()
        self.show(TRANSLATE)
        field = self.translate.sentence.input
        field.setFocus()
        field.selectAll()

    def toggle_analysis(self) -> None:
        """Opens the analysis tabs of the Translate page, or closes them."""
        self.full_screen.end()
        self.show(TRANSLATE)
        self.translate.arrangement.toggle_analysis()

    @property
    def in_sight(self) -> Exportable:
        """The current page."""
        page: Exportable = self.stack.currentWidget()  # type: ignore[assignment]
        return page

    @property
    def sentence(self) -> SentencePanel | None:
        """The sentence of the current page; None if that page has none."""
        part = self.parts.get(self.current)
        sentence: SentencePanel | None = self.translate.sentence if part is None else part.sentence
        return sentence


def page_command(name: str, title: str, key: str) -> Command[PageHost]:
    """The command that shows a page."""
    return Command(f"{title} page", lambda pages: pages.visit(name), keys=(key,), group="Pages")


PAGE_HOST_COMMANDS: tuple[Command[PageHost], ...] = (
    TOGGLE_ANALYSIS,
    Command[PageHost](
        "Type another sentence", PageHost.focus_sentence, keys=("Ctrl+L",), group=SENTENCE
    ),
    UNDO,
    REDO,
)
