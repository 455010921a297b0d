"""The window: top bar, pages, commands."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QActionGroup, QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QMainWindow, QMenu, QWidget

from augenmerk.viz_app.analysis.panel import AnalysisPanel
from augenmerk.viz_app.analysis.tab import AnalysisContext
from augenmerk.viz_app.appearance import SCALE_COMMANDS, THEME_COMMANDS, Appearance
from augenmerk.viz_app.documents.experiment_documents import EXPERIMENT_COMMANDS, ExperimentDocuments
from augenmerk.viz_app.documents.lesson_documents import (
    LESSON_COMMANDS,
    LessonDocuments,
    make_lesson_menu,
    shipped_commands,
    shipped_lessons,
)
from augenmerk.viz_app.documents.reading import is_experiment
from augenmerk.viz_app.documents.session import KeptSession
from augenmerk.viz_app.export.menu import EXPORTS, ExportMenu
from augenmerk.viz_app.learn.chapter import read_chapters
from augenmerk.viz_app.models.loader import MODEL_COMMANDS, ModelLoader, foreign_source
from augenmerk.viz_app.opening import Opening, Requested
from augenmerk.viz_app.page_host import LEARN, PAGE_COMMANDS, PAGE_HOST_COMMANDS, TRAIN, TRANSLATE, PageHost
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.shutdown import ShutdownSequence
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view_settings import MapViewSettings
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.theme import GAP, PAGE_MARGIN, style_sheet_set_aside
from augenmerk.viz_app.top_bar import TopBar
from augenmerk.viz_app.translate.page import CANCEL_OR_UNPIN, TranslatePage
from augenmerk.viz_app.translate.presentation import PRESENTATION_COMMANDS, Presentation
from augenmerk.viz_app.translate.quick_tour import QUICK_TOUR_COMMANDS, QuickTour
from augenmerk.viz_app.views.commands import HEAD_COMMANDS, NEXT_MAPS, RESET, SCENE_COMMANDS
from augenmerk.viz_app.views.sentence_input import INPUT_COMMANDS
from augenmerk.viz_app.widgets.commands import BoundCommand, Command, CommandRegistry, run_by_key
from augenmerk.viz_app.widgets.dialogs import show_about
from augenmerk.viz_app.widgets.explain import TermExplainer
from augenmerk.viz_app.widgets.layouts import WindowScrollArea, column_of
from augenmerk.viz_app.worker.inference import ExperimentController, InferenceWorker

if TYPE_CHECKING:
    from augenmerk.viz_app.train.page import TrainPage

MIN_SIZE = 960, 620
CONTENT_SIZE = 940, 596
"""The least at 100%: a little less than the window has, so that a screen of 1440 × 900 shows all of it at 150%."""
NARROW_CONTENT_SIZE = 465, 700
"""The least where the window is narrower than that at its scale: parts stand one below the other then. The smallest
window has this width at 200%, next to its scroll bar."""


class MainWindow(QMainWindow):
    """Puts the parts of the window together. Nothing heavy starts before the first paint.

    Attributes:
        state: the experiment that the Translate page and the analysis tabs show.
        translate_page, analysis: always there.
        pages: all pages, which are made when they are first shown.
        commands: everything that can be done by name or key.
        appearance: theme and scale.
        explainer: explains what the user clicks on next.
        notices: what stands between the top bar and the page; each closes itself.
        documents, session: experiment files; what is kept until the next start.
        lessons: the lesson that is shown above the Translate page.
        export_menu: exports what the page in sight shows.
        opening: the model and the experiment that are opened at the start.
        shutdown: how the window ends.
        presentation: None before the first.

    Signals:
        model_opened(ModelInfo)
        translation_shown(Translation)
        failed(Failure): a model or an experiment file was not opened, or an experiment was refused.
    """

    model_opened = Signal(object)
    translation_shown = Signal(object)
    failed = Signal(object)

    @style_sheet_set_aside()
    def __init__(
        self,
        preferences: Preferences,
        *,
        checkpoint: Path | None = None,
        sentence: str | None = None,
        experiment: Path | None = None,
        worker: InferenceWorker | None = None,
    ) -> None:
        super().__init__()
        self._preferences = preferences
        self._worker = worker or InferenceWorker(parent=self)
        self._has_painted = False
        self.presentation: Presentation | None = None
        self.state = ExperimentState(preferences.restored(MapViewSettings()))
        if (head := preferences.head) is not None:
            self.state.selection.head, self.state.selection.was_chosen = head, True
        controller = ExperimentController(self.state, self._worker, self)
        self.analysis = AnalysisPanel(AnalysisContext(self.state, controller, preferences))
        self.translate_page = TranslatePage(controller, self.analysis, preferences)
        self.pages = PageHost(self.translate_page, self._worker, preferences)
        self.documents = ExperimentDocuments(self.state, self._worker, preferences, self)
        self.session = KeptSession(self.state, preferences, self)
        self.lessons = LessonDocuments(self.state, self._worker, self.documents, preferences, self)
        self.export_menu = ExportMenu(lambda: self.pages.in_sight, preferences, self)
        self._loader = ModelLoader(self._worker, preferences, self)
        self.appearance = Appearance(preferences, self)
        self.explainer = TermExplainer(self.pages.open_chapter, self)
        self.commands = CommandRegistry(self)
        self.top_bar = TopBar(self._loader, self.commands.add(self.pages, PAGE_COMMANDS))
        self._add_commands()
        self.top_bar.menu_button.setMenu(self._make_menu())
        self.shutdown = ShutdownSequence(
            self,
            self.pages,
            self.session,
            self.lessons,
            self.export_menu,
            self._loader,
            self._worker,
            preferences,
        )
        self._lay_out()
        self._connect()
        self.opening = Opening(
            Requested(checkpoint, sentence, experiment),
            self._loader,
            self.translate_page,
            self.top_bar,
            self.documents,
            self.session,
            self.lessons,
            preferences,
        )
        self.opening.model_opened.connect(self._on_model)
        self.opening.failed.connect(self.failed)

    @property
    def model(self) -> ModelInfo | None:
        """The model in use, or None."""
        return self._loader.model

    def open_model(self, path: Path | None) -> None:
        """Opens a checkpoint, None for the bundled one, on the Translate page.

        The model in use stays until the new one is ready.
        """
        self.pages.show(TRANSLATE)
        self._loader.open(path)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The window is on the screen: now the model may be opened, which takes seconds of imports."""
        super().paintEvent(event)
        if not self._has_painted:
            self._has_painted = True
            QTimer.singleShot(0, self, self.opening.open_first_model)

    def closeEvent(self, event: QCloseEvent) -> None:
        """See `ShutdownSequence`."""
        if self.shutdown.close():
            super().closeEvent(event)
        else:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape, if nothing took it, cancels what takes long; focus may be in the top bar, or none."""
        if not run_by_key(event, (CANCEL.on(self),)):
            super().keyPressEvent(event)

    def cancel(self) -> bool:
        """Cancels what takes long on the page in sight; False if nothing does."""
        sentence = self.pages.sentence
        return (sentence is not None and sentence.cancel()) or self.analysis.stop()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files may be dropped."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """A dropped file or folder is opened: by its content an experiment or a lesson, else a model."""
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.pages.show(TRANSLATE)
            if foreign_source(paths[0]) is None and is_experiment(paths[0]):
                self.documents.open(paths[0])
            else:
                self.open_model(paths[0])

    def offer_quick_tour(self) -> None:
        """Four sentences about what is on the Translate page, once the first translation is there."""
        self.pages.show(TRANSLATE)
        if self.translate_page.findChildren(QuickTour):
            return
        if self.lessons.lesson.lesson is not None:
            self.top_bar.show_notice("Close the lesson, then take the quick tour")
            return
        steps = QuickTour(self.state, self.translate_page)
        lesson_changed, text = self.lessons.lesson.changed, self.translate_page.sentence.input.text

        def end() -> None:
            lesson_changed.disconnect(give_way)
            self._preferences.has_taken_quick_tour = True
            steps.hide()
            steps.deleteLater()

        def give_way() -> None:
            """One bar above the sentence is enough."""
            if self.lessons.lesson.lesson is not None:
                QTimer.singleShot(0, steps, steps.ended.emit)

        def take_keyboard() -> None:
            """Unless the user has typed meanwhile."""
            if self.translate_page.sentence.input.text == text:
                steps.next_button.setFocus()

        lesson_changed.connect(give_way)
        steps.begun.connect(take_keyboard)
        steps.ended.connect(end)
        steps.learn_wanted.connect(lambda: self.pages.show(LEARN))
        steps.typing_wanted.connect(self.pages.focus_sentence)
        self.translate_page.show_above(steps)
        if steps.has_begun:
            take_keyboard()

    def present(self) -> None:
        """Sentence, translation and the chosen map fill the screen, until Escape."""
        if self.presentation is None:
            self.presentation = Presentation(self.state, self)
            self.presentation.step_scene = self.lessons.bar.step_scene
            self.presentation.scene_words = self.lessons.scene_words
            self.lessons.lesson.changed.connect(self.presentation.show_scene)
        self.presentation.begin()

    def show_palette(self) -> None:
        """Opens the palette: all commands, the chapters, the lessons that ship."""
        chapters = [
            Command[str](f"Learn: {chapter.title}", self.pages.open_chapter).on(chapter.name)
            for chapter in read_chapters(self._preferences.learn_language)
        ]
        self.commands.show_palette((*chapters, *shipped_commands(self.documents, shipped_lessons())))

    def show_keys(self) -> None:
        """Opens the sheet of keys, with those of pages that were not made yet."""
        from augenmerk.viz_app.learn.figures.one_page import STACK_COMMANDS
        from augenmerk.viz_app.train.film.strip import FILM_COMMANDS

        of_parts = (*INPUT_COMMANDS, CANCEL_OR_UNPIN, *PRESENTATION_COMMANDS, *FILM_COMMANDS, *QUICK_TOUR_COMMANDS)
        self.commands.show_sheet((*of_parts, *STACK_COMMANDS))

    def _add_commands(self) -> None:
        """In the order of the palette and the sheet of keys; those of the window's menu follow."""
        add = self.commands.add
        add(self.pages, PAGE_HOST_COMMANDS)
        add(self.state, (RESET, *HEAD_COMMANDS), self.translate_page)
        self.commands.commands.append(
            BoundCommand(NEXT_MAPS, self.state, self.translate_page)
        )  # the switch has the key
        add(self.lessons.bar, SCENE_COMMANDS, self.lessons.bar)
        add(self._loader, MODEL_COMMANDS)
        add(self.lessons, LESSON_COMMANDS)
        add(self.documents, EXPERIMENT_COMMANDS)
        add(self.export_menu, tuple(EXPORTS.values()))

    def _make_menu(self) -> QMenu:
        """The menu of the window; its commands are added too."""
        menu, experiments = QMenu(self), QMenu("Experiment", self)
        self.documents.fill_menu(experiments)
        menu.addMenu(self.export_menu)
        menu.addMenu(experiments)
        menu.addMenu(make_lesson_menu(self.lessons, self))
        menu.addSeparator()
        menu.addAction("Colours").setEnabled(False)
        themes = QActionGroup(menu)
        for choice, command in zip(
            THEME_COMMANDS, self.commands.add(self.appearance, THEME_COMMANDS.values()), strict=True
        ):
            action = command.add_to(menu, command.title.partition(": ")[2].capitalize())
            action.setCheckable(True)
            action.setChecked(choice == self._preferences.theme)
            themes.addAction(action)
        menu.addSeparator()
        scale_commands = self.commands.add(self.appearance, SCALE_COMMANDS)
        view, help_, window = (self.commands.add(self, commands) for commands in WINDOW_COMMANDS)
        for group in ((*view, *scale_commands), help_, window):
            for command in group:
                command.add_to(menu)
            menu.addSeparator()
        return menu

    def _lay_out(self) -> None:
        self.setWindowTitle("Augenmerk")
        self.setAcceptDrops(True)
        self.setMinimumSize(*MIN_SIZE)
        self.translate_page.show_above(self.lessons.bar)
        central = QWidget()
        self.notices = column_of()
        margins = PAGE_MARGIN, 0, PAGE_MARGIN, PAGE_MARGIN - 4
        pages = column_of(self.notices, self.pages.stack, spacing=GAP, margins=margins)
        column_of(self.top_bar, (pages, 1), spacing=0, within=central)
        self._content = WindowScrollArea(central, CONTENT_SIZE, NARROW_CONTENT_SIZE)
        self.setCentralWidget(self._content)
        self.resize(1440, 900)
        self.restoreGeometry(self._preferences.bytes("window"))

    def _connect(self) -> None:
        bar, page, loader, lesson_bar = self.top_bar, self.translate_page, self._loader, self.lessons.bar
        self.pages.shown.connect(bar.show_page)
        self.pages.learn_made.connect(lambda learn: learn.failed.connect(self.failed))
        self.pages.train_made.connect(self._on_train_page)
        self.appearance.scaled.connect(lambda percent: bar.show_notice(f"Size of the interface: {percent}%"))
        self.shutdown.waiting.connect(bar.show_status)
        loader.file_chosen.connect(self.open_model)
        loader.import_done.connect(bar.show_notice)
        self.state.result_changed.connect(self._on_result)
        self.analysis.closed.connect(page.hide_analysis)
        self.analysis.focus_next = page.head
        page.open_button.clicked.connect(loader.choose_file)
        page.train_button.clicked.connect(lambda: self.pages.show(TRAIN))
        self.export_menu.done.connect(bar.show_notice)
        page.head.export_button.setMenu(self.export_menu)
        notice = page.sentence.coverage_notice
        notice.offer(bar.model_button.menu_of_bigger_models(notice))
        self.lessons.done.connect(bar.show_notice)
        lesson_bar.focus_to = page.heads.grid
        self.documents.lesson_read.connect(lambda *_: self.pages.show(TRANSLATE))
        page.step_scene = lambda by: lesson_bar.takes_arrows and lesson_bar.step_scene(by)
        page.stop_analysis = self.analysis.stop
        page.own_settings = lambda: self.lessons.own_settings
        lesson_bar.arrows_changed.connect(lambda: page.heads.show_keys(lesson_bar.takes_arrows))
        self.documents.done.connect(bar.show_notice)
        self.documents.opener.model_requested.connect(self.open_model)

    def _on_train_page(self, page: "TrainPage") -> None:
        page.model_ready.connect(self.open_model)
        page.status_changed.connect(self.top_bar.show_status)
        page.offer_export(self.export_menu)

    def _on_model(self, info: ModelInfo) -> None:
        self.setWindowTitle(f"{info.title} – Augenmerk")
        self.model_opened.emit(info)

    def _on_result(self) -> None:
        if self.state.translation is not None:
            self.translation_shown.emit(self.state.translation)


CANCEL = Command[MainWindow]("Cancel what takes long", MainWindow.cancel, local_keys=("Esc",))
WINDOW_COMMANDS = (
    (
        Command[MainWindow]("Presentation: one map, large, keys only", MainWindow.present, keys=("F5",)),
        Command[MainWindow](
            "Full screen",
            lambda window: window.setWindowState(window.windowState() ^ Qt.WindowState.WindowFullScreen),
            keys=("F11",),
        ),
    ),
    (
        Command[MainWindow](
            "What is this? Then click on anything", lambda window: window.explainer.begin(), keys=("F1",), group="Help"
        ),
        Command[MainWindow]("Quick tour", MainWindow.offer_quick_tour, group="Help"),
        Command[MainWindow]("All keys", MainWindow.show_keys, keys=("?",), group="Help"),
        Command[MainWindow]("Commands", MainWindow.show_palette, keys=("Ctrl+K",), group="Help"),
    ),
    (
        Command[MainWindow]("About Augenmerk", show_about, group="Help"),
        Command[MainWindow]("Quit", MainWindow.close, keys=("Ctrl+Q",)),
    ),
)
"""View, help, window: the groups of the window's menu."""
