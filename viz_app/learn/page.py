"""The Learn page: a list of chapters, the reader's sentence, and the chapter that is open."""

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from augenmerk.core.resources import bundled_model_path
from augenmerk.core.text.languages import language_name
from augenmerk.viz_app.export.exportable import ExportSource
from augenmerk.viz_app.learn.chapter import LANGUAGE, Chapter, languages, read_chapters
from augenmerk.viz_app.learn.chapter_view import STACKED, ChapterView
from augenmerk.viz_app.learn.figures.figure import LearnContext
from augenmerk.viz_app.learn.own_sentence import OwnSentence
from augenmerk.viz_app.learn.translate_sentence import language_problem, length_problem, sentence_of, token_problem
from augenmerk.viz_app.state.experiment_editor import edit_text
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view_settings import MapViewSettings
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.theme import GAP, scaled, scales
from augenmerk.viz_app.views.intervention_chips import HINT_WITHOUT_HEADS
from augenmerk.viz_app.views.sentence import SentencePanel
from augenmerk.viz_app.widgets.choice_menu import ChoiceMenu
from augenmerk.viz_app.widgets.empty_state import EmptyState
from augenmerk.viz_app.widgets.parts import flat_button, label
from augenmerk.viz_app.worker import ExperimentController, Failure, InferenceWorker, LoadJob, Request

FIRST_EXAMPLE = "Ein Koch schneidet in einer kleinen Küche Gemüse."
USE = "use the sentence of Translate"
NARROW_PAGE = 1264
LIST_WIDTH, NARROW_LIST_WIDTH = 238, 50


class LearnPage(QWidget):
    """Has an experiment and a bundled model of its own: nothing that is done here changes the other pages.

    Attributes:
        state: the experiment that the chapters are about.
        chapters: all of them.
        sentence: the reader's sentence and its translation.
        own: the reader's sentence; chapters may show another for a while.
        use_button: takes over the sentence of the Translate page; hidden while it is this one.
        model_note: which model this page uses, while another one is open on the other pages.
        language_menu: the language of the texts; hidden while there is but one.

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
        """`window_state`: the experiment of the Translate page; `language`: the code of that of the texts."""
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
        self.sentence = SentencePanel(self.state)
        self.sentence.interventions.hint.setText(HINT_WITHOUT_HEADS)
        self.own = OwnSentence(self.state)
        self.use_button = flat_button(USE, "")
        self.use_button.clicked.connect(self.use_translate_sentence)
        self.sentence.add_button(self.use_button)
        self.model_note = label("warm", wraps=True)
        self._views: dict[int, ChapterView] = {}
        self._buttons: list[QPushButton] = []
        self._stack = QStackedWidget()
        self._message = EmptyState()
        self._stack.addWidget(self._message)
        self._place = 0
        self._has_asked = False
        known = {code: (code.upper(), language_name(code)) for code in languages()}
        self.language_menu = ChoiceMenu("The language of the texts", known)
        self.language_menu.show_choice(self._language)
        self.language_menu.setVisible(len(known) > 1)
        self.language_menu.chosen.connect(self.show_language)
        self._list = self._make_list()
        self._lay_out()
        self._is_unchecked = False
        self._begin_text(FIRST_EXAMPLE)
        self.sentence.input.text_settled.connect(self._on_text)
        self.state.result_changed.connect(self._on_result)
        self.state.experiment_cancelled.connect(self._on_cancelled)
        self.controller.failed.connect(self._on_failed)
        self._tell_model()
        self.own.changed.connect(self._offer_sentence)
        if window_state is not None:
            window_state.model_changed.connect(self._tell_model)
            window_state.model_changed.connect(self._offer_sentence)
            window_state.experiment_changed.connect(self._offer_sentence)
        self._offer_sentence()

    @property
    def place(self) -> int:
        """Of the chapter that is open, counted from 0."""
        return self._place

    @property
    def view(self) -> ChapterView | None:
        """The chapter in sight; None while there is nothing to be seen."""
        return self._views.get(self._place) if self.state.result is not None else None

    def open_chapter(self, place: int) -> None:
        """Goes to a chapter."""
        self._place = place
        self._buttons[place].setChecked(True)
        if self.state.result is None:
            return
        if place not in self._views:
            following = self.chapters[place + 1].title if place + 1 < len(self.chapters) else ""
            context = LearnContext(self.state, self.controller, self.own, self._window_state)
            view = ChapterView(self.chapters[place], context, following)
            view.next_wanted.connect(partial(self.open_chapter, place + 1))
            self._views[place] = view
            self._stack.addWidget(view)
        self._stack.setCurrentWidget(self._views[place])
        self._views[place].enter()

    def show_language(self, code: str) -> None:
        """The texts in another language; where a chapter has none, it stays in English."""
        if code == self._language:
            return
        self._language = code
        self.chapters = read_chapters(code)
        self.language_menu.show_choice(code)
        for view in self._views.values():
            view.shutdown()
            self._stack.removeWidget(view)
            view.deleteLater()
        self._views.clear()
        self._name_buttons()
        self.open_chapter(self._place)
        self.language_chosen.emit(code)

    def open_named(self, name: str) -> None:
        """Goes to a chapter by its name; an unknown one changes nothing."""
        place = next((place for place, chapter in enumerate(self.chapters) if chapter.name == name), None)
        if place is not None:
            self.open_chapter(place)

    def export_source(self) -> ExportSource:
        """The maps of the reader's sentence; see `viz_app.export.exportable.Exportable`."""
        view, model = self.view, self.state.model
        large_map = view.large_map if view is not None else None
        title = self.chapters[self._place].title if self.chapters else ""
        return ExportSource(self, self.state, large_map, model.title if model is not None else "", title)

    def shutdown(self) -> None:
        """Ends whatever the chapters run, and the thread of the bundled model."""
        for view in self._views.values():
            view.shutdown()
        self._worker.close()

    def showEvent(self, event: QShowEvent) -> None:
        """The bundled model is opened when it is first wanted."""
        super().showEvent(event)
        if not self._has_asked and not event.spontaneous():
            self._has_asked = True
            self._begin_with_translate_sentence()
            self._message.show_text("Opening the bundled model…")
            self._worker.submit(Request(LoadJob(None, "cpu"), self.state, on_result=self._begin, on_error=self._refuse))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A small page shows the numbers of chapters alone."""
        super().resizeEvent(event)
        # Folded: the chapters need the height, unless a narrow page scrolls as a whole.
        self.sentence.fit(0, self.height() if self.width() < scaled(STACKED + NARROW_LIST_WIDTH) else 0)
        self._list.setFixedWidth(scaled(NARROW_LIST_WIDTH if self._is_narrow else LIST_WIDTH))
        self._name_buttons()

    @property
    def _is_narrow(self) -> bool:
        return self.width() < scaled(NARROW_PAGE)

    def _name_buttons(self) -> None:
        for place, (button, chapter) in enumerate(zip(self._buttons, self.chapters, strict=True)):
            button.setText(str(place + 1) if self._is_narrow else f"{place + 1}  {chapter.title}")
            button.setToolTip(chapter.title)

    def use_translate_sentence(self) -> None:
        """The sentence of the Translate page, in place of the one that is here; undo brings that back."""
        text = sentence_of(self._window_state)
        self.own.take(text)
        self.state.submit(edit_text(text))

    def _begin_with_translate_sentence(self) -> None:
        """The first time, the page begins with the sentence that the reader has been working with."""
        text = sentence_of(self._window_state)
        if not text or text == FIRST_EXAMPLE:
            return
        if reason := length_problem(self._window_state):
            self._tell_why_not(reason)
        else:
            self._is_unchecked = True
            self._begin_text(text)

    def _begin_text(self, text: str) -> None:
        """Before the model is open."""
        self.state.prepare_text(text)
        self.sentence.input.show_text(text)
        self.own.update()

    def _end_check(self, reason: str) -> None:
        """Whether the sentence that was taken over at first can be used has turned out; else the example stands in."""
        self._is_unchecked = False
        if reason:
            self.state.submit(edit_text(FIRST_EXAMPLE))
            self.sentence.input.show_text(FIRST_EXAMPLE)
            self._tell_why_not(reason)

    def _tell_why_not(self, reason: str) -> None:
        self.state.report(f"The sentence of Translate is not used here: {reason}. This is an example in its place.")

    def _offer_sentence(self) -> None:
        """The other page has another sentence, or this one, or another model is open there."""
        text = sentence_of(self._window_state)
        reason = language_problem(self._window_state, self.state.model)
        self.use_button.setVisible(bool(text) and text != self.own.text)
        self.use_button.setEnabled(not reason)
        self.use_button.setToolTip(f"It cannot be used here: {reason}" if reason else text)

    def _tell_model(self) -> None:
        """The top bar names the model of the other pages."""
        other = self._window_state.model if self._window_state is not None else None
        is_other = other is not None and not other.is_bundled
        if other is not None and is_other:
            self.model_note.setText(
                f"Learn uses the bundled model, {bundled_model_path().stem}; {other.title} is open on the other pages."
            )
        self.model_note.setVisible(is_other)

    def _on_text(self, text: str, is_asked: bool) -> None:
        self._is_unchecked = False
        self.own.take(text)
        if self.state.model is None:
            self.state.prepare_text(text)
            self.own.update()
        elif text.strip() and text != self.state.experiment.source_text:
            self.state.submit(edit_text(text))
        elif text.strip() and is_asked and self.state.request.problem:
            self.state.ask_again()

    def _on_cancelled(self) -> None:
        if self.state.result is None:
            self._message.show_text(self.state.request.problem)

    def _begin(self, info: object) -> None:
        assert isinstance(info, ModelInfo)
        self.state.begin_model(info)
        if self._is_unchecked and (reason := language_problem(self._window_state, info)):
            self._is_unchecked = False
            self._begin_text(FIRST_EXAMPLE)
            self._tell_why_not(reason)
        self._offer_sentence()
        self.ready.emit(info)
        self.state.ask_again()

    def _refuse(self, failure: Failure) -> None:
        self._message.show_text(failure.message)
        self.failed.emit(failure)

    def _on_failed(self, failure: Failure) -> None:
        if self._is_unchecked:
            self._end_check("it could not be translated")

    def _on_result(self) -> None:
        if self._is_unchecked and self.state.translation is not None:
            self._end_check(token_problem(self.state.translation))
        if self.state.result is not None and self._stack.currentWidget() is self._message and self.chapters:
            self.open_chapter(self._place)

    def _make_list(self) -> QFrame:
        panel = QFrame()
        panel.setProperty("role", "panel")
        column = QVBoxLayout(panel)
        scales(column.setContentsMargins, 6, 8, 6, 8)
        scales(column.setSpacing, 2)
        group = QButtonGroup(panel)
        for place, chapter in enumerate(self.chapters):
            button = QPushButton()
            button.setToolTip(chapter.title)
            button.setCheckable(True)
            button.setProperty("role", "chapter")
            button.clicked.connect(partial(self.open_chapter, place))
            group.addButton(button)
            column.addWidget(button)
            self._buttons.append(button)
        column.addStretch(1)
        column.addWidget(self.language_menu, 0, Qt.AlignmentFlag.AlignHCenter)
        if self._buttons:
            self._buttons[0].setChecked(True)
        return panel

    def _lay_out(self) -> None:
        below = QHBoxLayout()
        scales(below.setSpacing, GAP)
        below.addWidget(self._list)
        below.addWidget(self._stack, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        scales(column.setSpacing, GAP)
        column.addWidget(self.model_note)
        column.addWidget(self.sentence)
        column.addLayout(below, 1)
