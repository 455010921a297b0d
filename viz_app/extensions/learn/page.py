"""The Learn page: the chapter list, the reader's sentence, and the open chapter."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QGridLayout,
    QPushButton,
    QStackedWidget,
    QWidget,
)

from augenmerk.core.extensions.info.size import Module
from augenmerk.core.resources import bundled_model_path
from augenmerk.core.text.languages import language_name

from ...state.experiment_state import ExperimentState
from ...state.map_view_settings import MapViewSettings
from ...state.model_info import ModelInfo
from ...theme import GAP, scaled, scales
from ...views.export_source import ExportSource
from ...views.sentence import SentencePanel, typing_hint
from ...widgets.buttons import ChoiceMenu, flat_button
from ...widgets.commands import BoundCommand
from ...widgets.labels import ElidingLabel, EmptyState, label
from ...widgets.layouts import VerticalScrollArea, column_of, row_of
from ...worker.inference import ExperimentController, Failure, InferenceWorker, Request
from ...worker.jobs import LoadJob
from .chapter import LANGUAGE, Chapter, languages, read_chapters
from .chapter_view import STACKED, ChapterView
from .figures.figure import LearnContext
from .figures.stack import MeasuredModel, StackDrawing
from .sentence import OwnSentence

HINT_WITHOUT_HEADS = "Try it: point at a word to choose another, or edit the translation."
USE, SAME_SENTENCE = "From Translate", "The sentence of Translate is the one of this page"
NUM_NOTE_LINES = 3
NARROW_PAGE = 1230


class LearnPage(QWidget):
    """The Learn page, with its own experiment and bundled model; it changes no other page.

    Attributes:
        state: the experiment that the chapters are about.
        chapters: all of them.
        sentence: the reader's sentence and its translation.
        own: the reader's sentence; chapters may show another for a while.
        use_button: takes over the sentence of the Translate page; disabled while it is this one.
        model_note: names the model of this page while another one is open on the other pages; below
            the list, where it moves nothing.
        list: the list of chapters, with the menu of languages.

    Signals:
        language_chosen(str): the texts are in this language now.
        ready(ModelInfo): the bundled model is open.
        failed(Failure): it could not be opened, or an experiment was refused.
    """

    ready = Signal(object)
    failed = Signal(object)
    language_chosen = Signal(str)

    def __init__(
        self,
        worker: InferenceWorker | None = None,
        window_state: ExperimentState | None = None,
        parent: QWidget | None = None,
        *,
        language: str = LANGUAGE,
    ) -> None:
        """`window_state`: the experiment of the Translate page; `language`: the code of that of the
        texts.
        """
        super().__init__(parent)
        self._language = language if language in languages() else LANGUAGE
        self._window_state = window_state
        self._worker = worker or InferenceWorker(parent=self)
        settings = MapViewSettings()
        settings.merges_words = False  # chapters count tokens
        self.state = ExperimentState(settings)
        self.controller = ExperimentController(self.state, self._worker, self)
        self.controller.failed.connect(self.failed)
        self.chapters: tuple[Chapter, ...] = read_chapters(self._language)
        self.own = OwnSentence(self.state, window_state)
        self.sentence = SentencePanel(self.state)
        self.sentence.controller = self.controller
        self.sentence.interventions.hint.setText(HINT_WITHOUT_HEADS)
        self.sentence.input.show_text(self.own.text)
        self.use_button = flat_button(USE, "")
        self.use_button.clicked.connect(lambda: self.own.take(self.own.offered, asks_again=True))
        self.sentence.rows.add_button(self.use_button)
        self.model_note = ElidingLabel("warm")
        self.model_note.set_max_lines(NUM_NOTE_LINES)
        scales(self.model_note.setContentsMargins, 8, 6, 8, 0)
        self.list = ChapterList(self.chapters, self._language, self.model_note)
        self._views: dict[int, ChapterView] = {}
        self._stack = QStackedWidget(self)
        self._message = EmptyState()
        self._stack.addWidget(self._message)
        self._place = 0
        self._has_asked = False
        below = row_of(self.list, (self._stack, 1), spacing=GAP)
        column_of(self.sentence, (below, 1), spacing=GAP, within=self)
        if self.chapters:
            self.list.show_place(0)
        self._connect()
        self._offer_sentence()

    def _connect(self) -> None:
        self.list.chosen.connect(self.open_chapter)
        self.list.part_chosen.connect(self.open_part)
        self.list.language_menu.chosen.connect(self.show_language)
        self.sentence.input.text_committed.connect(
            lambda text, is_asked: self.own.take(text, asks_again=is_asked)
        )
        self.own.changed.connect(self._offer_sentence)
        self.own.replaced.connect(self.sentence.input.show_text)
        self.state.result_changed.connect(self._on_result, max_args=0)
        self.state.experiment_cancelled.connect(self._on_cancelled)
        self.controller.failed.connect(self.failed)
        self.controller.failed.connect(lambda _failure: self.own.refuse())

    @property
    def place(self) -> int:
        """The index of the open chapter, from 0."""
        return self._place

    @property
    def view(self) -> ChapterView | None:
        """The visible chapter; None while there is none."""
        return self._views.get(self._place) if self.state.result is not None else None

    def open_chapter(self, index: int) -> None:
        """Goes to a chapter."""
        self._place = index
        self.list.show_place(index)
        if self.state.result is None:
            return
        if index not in self._views:
            titles = [chapter.title for chapter in self.chapters]
            context = LearnContext(
                self.state, self.controller, self.own, self._window_state, open_part=self.open_part
            )
            view = ChapterView(self.chapters[index], context, titles, self._stack)
            view.next_wanted.connect(partial(self.open_chapter, index + 1))
            self._views[index] = view
            self._stack.addWidget(view)
        self._stack.setCurrentWidget(self._views[index])
        self._views[index].enter()

    def show_language(self, code: str) -> None:
        """Shows the texts in another language; untranslated chapters stay in English."""
        if code == self._language:
            return
        self._language = code
        self.chapters = read_chapters(code)
        for view in self._views.values():
            view.shutdown()
            self._stack.removeWidget(view)
            view.deleteLater()
        self._views.clear()
        self.list.show_chapters(self.chapters, code)
        self.open_chapter(self._place)
        self.language_chosen.emit(code)

    def open_named(self, name: str) -> None:
        """Goes to a chapter by its name; an unknown one changes nothing."""
        index = next(
            (index for index, chapter in enumerate(self.chapters) if chapter.name == name), None
        )
        if index is not None:
            self.open_chapter(index)

    def open_part(self, module: Module) -> None:
        """Goes to the most specific chapter about a part of the model."""
        about = [
            (len(chapter.parts), index)
            for index, chapter in enumerate(self.chapters)
            if module in chapter.parts
        ]
        if about:
            self.open_chapter(min(about)[1])

    def export_source(self) -> ExportSource:
        """The maps of the reader's sentence; see `viz_app.views.export_source.Exportable`."""
        view = self.view
        model = self.state.model
        large_map = view.large_map if view is not None else None
        title = self.chapters[self._place].title if self.chapters else ""
        return ExportSource(
            self, self.state, large_map, model.title if model is not None else "", title
        )

    def shutdown(self) -> None:
        """Ends the chapters' work and the thread of the bundled model."""
        for view in self._views.values():
            view.shutdown()
        self._worker.close()

    def show_alone(self, name: str) -> QWidget:
        """Opens a chapter in the widget that holds all of them, which another part of the window
        may borrow.
        """
        self.begin()
        self.open_named(name)
        return self._stack

    def showEvent(self, event: QShowEvent) -> None:
        """Opens the bundled model on first use."""
        super().showEvent(event)
        if not event.spontaneous():
            self.begin()

    def begin(self) -> None:
        """Opens the bundled model, once."""
        if not self._has_asked:
            self._has_asked = True
            self.own.begin()
            self._message.show_text("Opening the bundled model…")
            self._worker.submit(
                Request(
                    LoadJob(None, "cpu"), self.state, on_result=self._begin, on_error=self._refuse
                )
            )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A small page has its chapters' names in several lines."""
        super().resizeEvent(event)
        # Folded: the chapters need the height, unless a narrow page scrolls as a whole.
        self.sentence.fit(0, self.height() if self.width() < scaled(STACKED + NARROW_WIDTH) else 0)
        self.list.set_narrow(self.width() < scaled(NARROW_PAGE))

    def _offer_sentence(self) -> None:
        """The other page has another sentence, or this one, or another model is open there."""
        text, problem = self.own.offered, self.own.language_problem
        self.use_button.setEnabled(bool(text) and not problem)
        if problem:
            tip = f"The sentence of Translate cannot be used here: {problem}"
        else:
            tip = f"Use the sentence of Translate: {text}" if text else SAME_SENTENCE
        self.use_button.setToolTip(tip)
        other = self._window_state.model if self._window_state is not None else None
        is_other = other is not None and not other.is_bundled
        if other is not None and is_other:
            self.model_note.setText(
                f"Learn uses the bundled model, {bundled_model_path().stem}, not {other.title}."
            )
        self.model_note.setVisible(is_other)

    def _on_cancelled(self) -> None:
        if self.state.result is None:
            self._message.show_text(self.state.request.problem)

    def _begin(self, info: object) -> None:
        assert isinstance(info, ModelInfo)
        self.list.diagram.show_model(MeasuredModel.of(info))
        self.state.begin_model(info)
        self.ready.emit(info)
        self.state.ask_again()

    def _refuse(self, failure: Failure) -> None:
        self._message.show_text(failure.message)
        self.failed.emit(failure)

    def _on_result(self) -> None:
        if self.state.result is None and self.state.withheld is not None:
            self._message.show_text(f"{typing_hint(self.state)}.")
        if (
            self.state.result is not None
            and self._stack.currentWidget() is self._message
            and self.chapters
        ):
            self.open_chapter(self._place)


WIDTH, NARROW_WIDTH = 238, 168
AROUND_NAME = 42
"""Width of margins and the scroll bar beside the names of chapters."""


class ChapterList(QFrame):
    """A button for each chapter and, below them, each lesson; a narrow list wraps their names.

    Attributes:
        buttons: in the order of the chapters.
        diagram: the model, with the parts marked that the open chapter is about.
        lessons: returns a command for each lesson that opens it; called when the list is shown.
        lesson_buttons: in their order.
        language_menu: the language of the texts; hidden while there is only one.

    Signals:
        chosen(int): a chapter was clicked, counted from 0.
        part_chosen(object): a `Module` was clicked.
    """

    chosen = Signal(int)
    part_chosen = Signal(object)

    def __init__(self, chapters: Sequence[Chapter], language: str, note: QWidget) -> None:
        """`note`: shown at the bottom."""
        super().__init__()
        self.setProperty("role", "panel")
        known = {code: (code.upper(), language_name(code)) for code in languages()}
        self.language_menu = ChoiceMenu("The language of the texts", known)
        self.language_menu.setVisible(len(known) > 1)
        self._group = QButtonGroup(self)
        self.buttons: list[QPushButton] = []
        for index in range(len(chapters)):
            button = QPushButton()
            button.setCheckable(True)
            button.setProperty("role", "chapter")
            button.clicked.connect(partial(self.chosen.emit, index))
            self._group.addButton(button)
            self.buttons.append(button)
        self.diagram = StackDrawing("small")
        self.diagram.chosen.connect(self._on_part)
        self.lessons: Callable[[], Sequence[BoundCommand]] = tuple
        self.lesson_buttons: list[QPushButton] = []
        self._lessons_heading = label("heading", "Lessons")
        self._lessons_heading.setContentsMargins(8, 10, 0, 2)
        self._lessons_heading.hide()
        self._content = QWidget()
        self._grid = QGridLayout(self._content)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(0)
        self._area = VerticalScrollArea(self._content)
        self._content.installEventFilter(self)
        menu = (self.language_menu, 0, Qt.AlignmentFlag.AlignHCenter)
        column_of(
            (self._area, 1000),
            (self.diagram, 1),
            note,
            menu,
            spacing=0,
            margins=(6, 8, 6, 8),
            within=self,
        )
        self.show_chapters(chapters, language)

    def show_chapters(self, chapters: Sequence[Chapter], language: str) -> None:
        """Shows the titles of the same chapters in another language."""
        self._chapters = chapters
        self.language_menu.show_choice(language)
        self._name_buttons()

    def show_place(self, index: int) -> None:
        """Marks the open chapter, and its parts of the model."""
        self.buttons[index].setChecked(True)
        self.diagram.mark(self._chapters[index].parts)

    def showEvent(self, event: QShowEvent) -> None:
        """Lists the lessons, of which there may be more now."""
        super().showEvent(event)
        if event.spontaneous():
            return
        for button in self.lesson_buttons:
            self._grid.removeWidget(button)
            button.deleteLater()
        self.lesson_buttons = []
        for lesson in self.lessons():
            button = QPushButton()
            button.setProperty("role", "chapter")
            button.setProperty("name", lesson.title.partition(": ")[2])
            button.clicked.connect(lambda _=False, lesson=lesson: lesson.run())
            self.lesson_buttons.append(button)
        self._name_buttons()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The drawing of the model gets the height that the buttons leave, also after their number
        or size changed.
        """
        if event.type() == QEvent.Type.LayoutRequest:
            self._area.setMaximumHeight(self._content.sizeHint().height())
        return super().eventFilter(watched, event)

    def set_narrow(self, is_narrow: bool) -> None:
        """Shows long names in several lines, or in one."""
        self.setFixedWidth(scaled(NARROW_WIDTH if is_narrow else WIDTH))
        self._name_buttons()

    def _on_part(self) -> None:
        if (module := self.diagram.module) is not None:
            self.diagram.choose(None)
            self.part_chosen.emit(module)

    def _name_buttons(self) -> None:
        """Places and names the buttons."""
        widgets = *self.buttons, self._lessons_heading, *self.lesson_buttons
        for row, widget in enumerate(widgets):
            self._grid.addWidget(widget, row, 0)
        for number, (button, chapter) in enumerate(
            zip(self.buttons, self._chapters, strict=True), start=1
        ):
            self._name(button, chapter.title, f"{number}  ")
            button.setToolTip(chapter.title)
            button.setAccessibleName(f"Chapter {number}: {chapter.title}")
        for button in self.lesson_buttons:
            title = button.property("name")
            self._name(button, title)
            button.setToolTip(f"Lesson: {title}")
            button.setAccessibleName(f"Lesson: {title}")
        self._lessons_heading.setVisible(bool(self.lesson_buttons))

    def _name(self, button: QPushButton, name: str, number: str = "") -> None:
        """Shows a name in as many lines as it needs, also in the bold letters of an open chapter.

        The lines begin below each other, after the number; a button does not wrap by itself.
        """
        button.ensurePolished()
        font = button.font()
        font.setBold(button.isCheckable())
        metrics = QFontMetrics(font)
        indent = " " * round(metrics.horizontalAdvance(number) / metrics.horizontalAdvance(" "))
        room = self.maximumWidth() - scaled(AROUND_NAME)
        lines = [number]
        for word in name.split():
            longer = lines[-1] + word
            if lines[-1] != number:
                longer = f"{lines[-1]} {word}"
                if metrics.horizontalAdvance(longer) > room:
                    longer = indent + word
                    lines.append("")
            lines[-1] = metrics.elidedText(longer, Qt.TextElideMode.ElideRight, room)
        button.setText("\n".join(lines))
