"""A part of the window that adds something to the sentence of each page."""

from typing import Any, ClassVar, Generic, TypeVar

from ...views.sentence import SentencePanel
from ...window_part import WindowPart

AddedT = TypeVar("AddedT")


class SentencePart(WindowPart, Generic[AddedT]):
    """Adds something to each sentence, once its page is shown.

    Attributes:
        make: the class of what is added, which takes the panel of the sentence.
        added: what was made.
    """

    make: ClassVar[type[Any]]

    def __init__(self, window: Any) -> None:
        super().__init__(window)
        self.added: dict[SentencePanel, AddedT] = {}
        self._add(window.translate_page.sentence)
        window.pages.shown.connect(lambda: self._add(window.pages.sentence))

    def _add(self, panel: SentencePanel | None) -> None:
        if panel is not None and panel not in self.added:
            self.added[panel] = self.make(panel)
