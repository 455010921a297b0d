"""Example sentences as a part of the window."""

from typing import Any

from ...views.commands import REDO, SENTENCE
from ...widgets.commands import Command
from ...window_part import WindowPart
from .menu import ExamplesMenu


class ExamplesPart(WindowPart):
    """Offers example sentences on each page that has a sentence.

    Attributes:
        menu: that of the Translate page.
    """

    def __init__(self, window: Any) -> None:
        super().__init__(window)
        self.menu = ExamplesMenu(window.translate_page.sentence)
        window.commands.add(self, (GALLERY,), after=REDO)
        window.pages.shown.connect(self._offer)

    def _offer(self) -> None:
        """Adds a menu to a page that is shown for the first time."""
        panel = self.window.pages.sentence
        if panel is not None and panel.findChild(ExamplesMenu) is None:
            ExamplesMenu(panel)


GALLERY = Command[ExamplesPart](
    "Gallery of examples", lambda part: part.menu.open_gallery(), group=SENTENCE
)
