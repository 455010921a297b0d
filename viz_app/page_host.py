"""The pages of the window. Translate is always there; the others are made when they are first shown."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from augenmerk.viz_app.export.exportable import Exportable
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.translate.page import TranslatePage
from augenmerk.viz_app.views.commands import REDO, SENTENCE, TOGGLE_ANALYSIS, UNDO
from augenmerk.viz_app.views.sentence import SentencePanel
from augenmerk.viz_app.widgets.commands import Command
from augenmerk.viz_app.widgets.layouts import PageStack
from augenmerk.viz_app.worker.inference import InferenceWorker

if TYPE_CHECKING:
    from augenmerk.viz_app.learn.page import LearnPage
    from augenmerk.viz_app.train.page import TrainPage

TRANSLATE, LEARN, TRAIN = 0, 1, 2


class PageHost(QObject):
    """Makes the pages and shows one of them.

    Attributes:
        stack: the widget that shows the page.
        translate: the Translate page.
        learn, train: None until they are first shown; matplotlib comes with the second.

    Signals:
        shown(int): `TRANSLATE`, `LEARN` or `TRAIN`.
        learn_made(LearnPage), train_made(TrainPage): the page is about to be shown for the first time.
    """

    shown = Signal(int)
    learn_made = Signal(object)
    train_made = Signal(object)

    def __init__(self, translate: TranslatePage, worker: InferenceWorker, preferences: Preferences) -> None:
        super().__init__()
        self._worker, self._preferences = worker, preferences
        self.translate = translate
        self.learn: LearnPage | None = None
        self.train: TrainPage | None = None
        self.stack = PageStack()
        self.stack.addWidget(translate)

    def show(self, index: int) -> None:
        """Shows a page."""
        if index == LEARN:
            self.stack.setCurrentWidget(self.learn or self._make_learn_page())
        elif index == TRAIN:
            self.stack.setCurrentWidget(self.train or self._make_train_page())
        else:
            self.stack.setCurrentWidget(self.translate)
        self.shown.emit(index)

    def focus_sentence(self) -> None:
        """Lets the user type another sentence on the Translate page."""
        self.show(TRANSLATE)
        field = self.translate.sentence.input
        field.setFocus()
        field.selectAll()

    def toggle_analysis(self) -> None:
        """Opens the analysis tabs of the Translate page, or closes them."""
        self.show(TRANSLATE)
        self.translate.toggle_analysis()

    def open_chapter(self, name: str) -> None:
        """Shows a chapter of the Learn page, by its name."""
        self.show(LEARN)
        assert self.learn is not None
        self.learn.open_named(name)

    @property
    def in_sight(self) -> Exportable:
        """The page that is shown."""
        pages = (self.learn, self.train)
        return next((page for page in pages if page is not None and self._is_shown(page)), self.translate)

    @property
    def sentence(self) -> SentencePanel | None:
        """The sentence of the page that is shown; None if that page has none."""
        if self._is_shown(self.translate):
            return self.translate.sentence
        return self.learn.sentence if self.learn is not None and self._is_shown(self.learn) else None

    def _is_shown(self, page: object) -> bool:
        return page is self.stack.currentWidget()

    def _make_learn_page(self) -> "LearnPage":
        from augenmerk.viz_app.learn.page import LearnPage

        worker, state = self._worker.sibling(self), self.translate.state
        page = self.learn = LearnPage(worker, state, language=self._preferences.learn_language)
        page.language_chosen.connect(self._remember_language)
        self.stack.addWidget(page)
        self.learn_made.emit(page)
        return page

    def _remember_language(self, code: str) -> None:
        self._preferences.learn_language = code

    def _make_train_page(self) -> "TrainPage":
        from augenmerk.viz_app.train.page import TrainPage  # matplotlib comes with it

        page = self.train = TrainPage(self._preferences.settings)
        self.stack.addWidget(page)
        self.train_made.emit(page)
        return page


PAGE_COMMANDS = (
    Command[PageHost]("Translate page", lambda pages: pages.show(TRANSLATE), keys=("Ctrl+1",), group="Pages"),
    Command[PageHost]("Learn page", lambda pages: pages.show(LEARN), keys=("Ctrl+2",), group="Pages"),
    Command[PageHost]("Train page", lambda pages: pages.show(TRAIN), keys=("Ctrl+3",), group="Pages"),
)
PAGE_HOST_COMMANDS: tuple[Command[PageHost], ...] = (
    TOGGLE_ANALYSIS,
    Command[PageHost]("Type another sentence", PageHost.focus_sentence, keys=("Ctrl+L",), group=SENTENCE),
    UNDO,
    REDO,
    Command[PageHost](
        "Gallery of examples", lambda pages: pages.translate.sentence.examples.open_gallery(), group=SENTENCE
    ),
)
