"""The page Learn as a part of the window. Its code is imported when the page is first shown."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QWidget

from ...state.experiment_state import ExperimentState
from ...widgets.commands import BoundCommand, Command
from ...window_part import WindowPage
from ..help.part import HelpPart
from ..presentation.presentation import Presentable, ViewProvider
from .chapter import read_chapters

if TYPE_CHECKING:
    from .page import LearnPage

NAME = "learn"


class LearnPart(WindowPage, ViewProvider):
    """Chapters about the Transformer, with figures of the reader's own sentence.

    Attributes:
        lessons: returns the commands that open lessons, which the page lists.
    """

    widget: "LearnPage | None" = None

    def __init__(self, window: Any) -> None:
        super().__init__(window)
        self.lessons: Callable[[], Sequence[BoundCommand]] = tuple

    def begin(self) -> None:
        """Explanations of terms lead to chapters."""
        if (help_part := self.window.part(HelpPart)) is not None:
            help_part.explainer.open_chapter = self.open_chapter

    def make(self) -> "LearnPage":
        """See `WindowPage`."""
        from .page import LearnPage

        window = self.window
        preferences = self.window.preferences
        page = LearnPage(
            window.worker.sibling(window),
            window.state,
            window.pages.stack,
            language=preferences.learn_language,
        )
        page.language_chosen.connect(lambda code: setattr(preferences, "learn_language", code))
        page.failed.connect(window.failed)
        page.list.lessons = lambda: self.lessons()
        return page

    @property
    def sentence(self) -> Any:
        """See `WindowPage`."""
        return self.widget.sentence if self.widget is not None else None

    def open_chapter(self, name: str) -> None:
        """Shows a chapter, by its name."""
        pages = self.window.pages
        if not pages.full_screen.take(f"chapter {name}"):
            pages.show(NAME)
            assert self.widget is not None
            self.widget.open_named(name)

    def palette(self) -> list[BoundCommand]:
        """A command for each chapter."""
        return [
            Command[str](f"Learn: {chapter.title}", self.open_chapter).on(chapter.name)
            for chapter in read_chapters(self.window.preferences.learn_language)
        ]

    def sheet(self) -> Sequence[Command[Any]]:
        """See `WindowPart`."""
        from ..words.word_parts import BAR_COMMANDS
        from .figures.stack import STACK_COMMANDS

        return (*STACK_COMMANDS, *BAR_COMMANDS)

    def views(self) -> list[Presentable]:
        """The chapters."""
        return [
            Presentable(
                f"chapter {chapter.name}",
                f"chapter “{chapter.title}”",
                partial(self._open_alone, chapter.name),
                self._state,
            )
            for chapter in read_chapters(self.window.preferences.learn_language)
        ]

    @property
    def view_in_sight(self) -> str:
        """The open chapter."""
        page = self.widget
        return (
            f"chapter {page.chapters[page.place].name}"
            if page is not None and page.chapters
            else ""
        )

    def shutdown(self, *, waits: bool) -> None:
        """See `WindowPart`."""
        if self.widget is not None:
            self.widget.shutdown()

    def _open_alone(self, name: str) -> QWidget:
        self.window.pages.show(NAME)
        assert self.widget is not None
        return self.widget.show_alone(name)

    def _state(self) -> ExperimentState:
        assert self.widget is not None, "a chapter is open"
        return self.widget.state
