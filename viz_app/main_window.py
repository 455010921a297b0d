"""The window: top bar, pages, shortcuts."""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import (
    QAction,
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPaintEvent,
    QShortcut,
)
from PySide6.QtWidgets import QApplication, QMainWindow, QVBoxLayout, QWidget

from augenmerk.core.translation.experiment import Experiment
from augenmerk.viz_app.analysis.area import AnalysisPanel
from augenmerk.viz_app.analysis.tab import AnalysisContext
from augenmerk.viz_app.documents.experiment_documents import ExperimentDocuments, is_experiment
from augenmerk.viz_app.documents.lesson_bar import KEYS_OF_LESSONS
from augenmerk.viz_app.documents.lesson_documents import LessonDocuments, shipped_lessons, title_of
from augenmerk.viz_app.examples import example_sentences
from augenmerk.viz_app.export.exportable import Exportable
from augenmerk.viz_app.export.menu import ExportMenu
from augenmerk.viz_app.learn.chapter import read_chapters
from augenmerk.viz_app.learn.keys import KEYS_OF_STACK
from augenmerk.viz_app.models.foreign import foreign_source
from augenmerk.viz_app.models.loader import ModelLoader
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_editor import reset, toggle_head
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.head_navigation import Direction
from augenmerk.viz_app.state.map_view_settings import MapViewSettings
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.theme import GAP, PAGE_MARGIN, SCALES, Theme, ThemeChoice, scales, style_sheet_set_aside
from augenmerk.viz_app.top_bar import THEME_NAMES, TopBar
from augenmerk.viz_app.train.keys import KEYS_OF_FILM
from augenmerk.viz_app.translate.first_steps import KEYS_OF_FIRST_STEPS, FirstSteps
from augenmerk.viz_app.translate.keys import KEYS_OF_MAPS, UNPIN_KEYS
from augenmerk.viz_app.translate.page import TranslatePage
from augenmerk.viz_app.translate.presentation import KEYS_OF_PRESENTATION, Presentation
from augenmerk.viz_app.views.sentence import SentencePanel
from augenmerk.viz_app.views.sentence_input import KEYS_OF_SENTENCE
from augenmerk.viz_app.widgets.commands import Command, CommandPalette, KeyLine, ShortcutSheet, command_of, shown_keys
from augenmerk.viz_app.widgets.dialogs import show_about
from augenmerk.viz_app.widgets.explain import TermExplainer
from augenmerk.viz_app.widgets.page_stack import PageStack
from augenmerk.viz_app.widgets.scroll_areas import WindowScrollArea
from augenmerk.viz_app.worker import ANSWER_SECONDS, ExperimentController, Failure, InferenceWorker

if TYPE_CHECKING:
    from augenmerk.viz_app.learn.page import LearnPage
    from augenmerk.viz_app.train.page import TrainPage

TRANSLATE, LEARN, TRAIN = 0, 1, 2
CLOSE_POLL_MS = 100
MIN_SIZE = 960, 620
CONTENT_SIZE = 940, 596
"""The least at 100%: a little less than the window has, so that a screen of 1440 × 900 shows all of it at 150%."""
NARROW_CONTENT_SIZE = 465, 700
"""The least where the window is narrower than that at its scale: parts stand one below the other then. The smallest
window has this width at 200%, beside its scroll bar."""
ALT_DIRECTIONS: dict[str, Direction] = {"left": "left", "right": "right", "up": "up", "down": "down"}
STANDARD_KEYS = {
    "Undo": QKeySequence.StandardKey.Undo,
    "Redo": QKeySequence.StandardKey.Redo,
    "Open a model": QKeySequence.StandardKey.Open,
}
MORE_KEYS = {"Larger: the whole interface": ("Ctrl+=",), "Smaller: the whole interface": ("Ctrl+_",)}
"""The same keys without Shift, or with it, as keyboards differ."""
EXPORT_PREFIX = "Export: "
TRANSLATING = "Translating…\nA sentence that is typed meanwhile is translated instead."
LESSON_EDITS = {
    "update": "update this scene from the screen",
    "texts": "change the texts of this scene",
    "earlier": "move this scene earlier",
    "later": "move this scene later",
    "delete": "delete this scene",
    "rename": "rename",
}
"""Buttons of the lesson bar, by what the palette calls them."""
KEYS_BY_GROUP: dict[str, Sequence[KeyLine]] = {
    "Sentence": KEYS_OF_SENTENCE,
    "Maps": KEYS_OF_MAPS,
    "While a lesson is shown": KEYS_OF_LESSONS,
    "In the presentation": KEYS_OF_PRESENTATION,
    "In the film of a training": KEYS_OF_FILM,
    "First steps": KEYS_OF_FIRST_STEPS,
    "Learn: the model on one page": KEYS_OF_STACK,
}
"""Keys that no command has: parts of a page know them while they have the keyboard."""


class MainWindow(QMainWindow):
    """Owns the pages and the inference worker. Nothing heavy starts before the first paint.

    Attributes:
        state: the experiment that the Translate page and the analysis tabs show.
        translate_page, analysis: always there.
        commands: all that has a key, and more, for the palette and the sheet of keys.
        documents, lessons: experiment files; the lesson that is shown above the Translate page.
        export_menu: exports what the page in sight shows.
        presentation: None before the first.
        learn_page, train_page: None until their tabs are first shown; matplotlib comes with the second.

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
        self._is_reopening = checkpoint is None and preferences.model is not None
        self._first_checkpoint = checkpoint or preferences.model
        self._worker = worker or InferenceWorker(parent=self)
        self._has_painted = self._has_ended = False
        self._closing_since: float | None = None
        self._close_timer = QTimer(self, interval=CLOSE_POLL_MS)
        self._close_timer.timeout.connect(self._go_on_closing)
        self.learn_page: LearnPage | None = None
        self.train_page: TrainPage | None = None
        self.presentation: Presentation | None = None
        self._restored: Experiment | None = None
        self._offers_bundled = False  # in place of the last model, if that cannot read the requested sentence
        self._lesson_failure: Failure | None = None
        self._theme_choice: ThemeChoice = preferences.theme
        self.top_bar = TopBar(self._theme_choice)
        self.state = ExperimentState(preferences.restored(MapViewSettings()))
        if (head := preferences.head) is not None:
            self.state.selection.head, self.state.selection.was_chosen = head, True
        controller = ExperimentController(self.state, self._worker, self)
        self.analysis = AnalysisPanel(AnalysisContext(self.state, controller, preferences))
        self.translate_page = TranslatePage(controller, self.analysis, preferences)
        self.documents = ExperimentDocuments(self.state, self._worker, preferences, self)
        self.lessons = LessonDocuments(self.state, self._worker, self.documents, preferences, self)
        self.export_menu = ExportMenu(self._page_in_sight, preferences, self)
        self._first_experiment = experiment
        self._loader = ModelLoader(self._worker, preferences, self)
        self.top_bar.model_button.recent = self._loader.recent
        self._pages = PageStack()
        self._explainer = TermExplainer(self.open_chapter, self)
        self.commands = self._make_commands()
        self._lay_out()
        self._connect()
        self._add_shortcuts()
        self._begin(sentence)

    @property
    def model(self) -> ModelInfo | None:
        """The model in use, or None."""
        return self._loader.model

    def open_model(self, path: Path | None) -> None:
        """Opens a checkpoint, None for the bundled one. The model in use stays until the new one is ready."""
        self._loader.open(path)

    def add_notice(self, notice: QWidget) -> None:
        """Shows a notice between the top bar and the page, until it closes itself."""
        self._notices.addWidget(notice)

    def show_page(self, index: int) -> None:
        """Changes the page; the others beside the Translate page are made when they are first wanted."""
        page: QWidget = self.translate_page
        if index == LEARN:
            page = self.learn_page or self._make_learn_page()
        elif index == TRAIN:
            page = self.train_page or self._make_train_page()
        self.top_bar.show_page(index)
        self._pages.setCurrentWidget(page)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The window is on the screen: now the model may be opened, which takes seconds of imports."""
        super().paintEvent(event)
        if not self._has_painted:
            self._has_painted = True
            QTimer.singleShot(0, self, self._open_first_model)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ends the threads. A training is paused first; the window waits for it, but not for ever."""
        self.save()
        if not self._has_ended and self.lessons.lesson.is_changed:
            self.lessons.once_saved(self.close)
            event.ignore()
            return
        if self._is_training() and not self._may_leave_training():
            self._pause_training_then_close()
            event.ignore()
            return
        self.end(waits_for_training=False)
        super().closeEvent(event)

    def save(self) -> None:
        """Keeps what was typed and what is on the screen until the next start."""
        if self._has_ended:
            return
        self.translate_page.save()
        self.documents.keep_session()
        self._preferences.set_bytes("window", self.saveGeometry())
        self._preferences.settings.sync()

    def end(self, *, waits_for_training: bool = True) -> None:
        """Saves, pauses a training and ends the threads, once. Blocks for seconds; a thread that takes longer is left.

        Args:
            waits_for_training: for as long as it may take to save what it has learned; False if it was waited for.
        """
        if self._has_ended:
            return
        self.save()
        self._has_ended = True
        self._close_timer.stop()
        self.hide()
        if self.train_page is not None:
            self.train_page.shutdown(waits_for_training=waits_for_training)
        if self.learn_page is not None:
            self.learn_page.shutdown()
        self.export_menu.shutdown()
        self._loader.shutdown()
        self._worker.close()
        self._preferences.settings.sync()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape, if nothing took it, cancels what takes long; focus may be in the top bar, or none."""
        sentence = self._sentence_in_sight()
        is_cancelled = event.key() in UNPIN_KEYS and (
            (sentence is not None and sentence.cancel()) or self.analysis.stop()
        )
        if not is_cancelled:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files may be dropped."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """A dropped file or folder is opened: by its content an experiment or a lesson, else a model."""
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.show_page(TRANSLATE)
            if foreign_source(paths[0]) is None and is_experiment(paths[0]):
                self.documents.open(paths[0])
            else:
                self.open_model(paths[0])

    def set_theme(self, choice: ThemeChoice) -> None:
        """Light, dark, or as the system has it."""
        self._theme_choice = self._preferences.theme = choice
        self._apply_theme()

    def set_scale(self, percent: int) -> None:
        """How large everything is: one of `SCALES`. Remembered."""
        if percent != self._preferences.scale:
            self._preferences.scale = percent
            self._apply_theme()
        self.top_bar.show_notice(f"Size of the interface: {percent}%")

    def _step_scale(self, num_steps: int) -> None:
        place = SCALES.index(self._preferences.scale) + num_steps
        self.set_scale(SCALES[min(max(place, 0), len(SCALES) - 1)])

    def _apply_theme(self) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        Theme.of_choice(self._theme_choice, self._preferences.scale / 100).apply(app)

    def _lay_out(self) -> None:
        self.setWindowTitle("Augenmerk")
        self.setAcceptDrops(True)
        self.setMinimumSize(*MIN_SIZE)
        self.translate_page.show_above(self.lessons.bar)
        self._pages.addWidget(self.translate_page)
        central = QWidget()
        column = QVBoxLayout(central)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.top_bar)
        self._notices = QVBoxLayout()
        pages = QVBoxLayout()
        scales(pages.setContentsMargins, PAGE_MARGIN, 0, PAGE_MARGIN, PAGE_MARGIN - 4)
        scales(pages.setSpacing, GAP)
        pages.addLayout(self._notices)
        pages.addWidget(self._pages)
        column.addLayout(pages, 1)
        self._content = WindowScrollArea(central, CONTENT_SIZE, NARROW_CONTENT_SIZE)
        self.setCentralWidget(self._content)
        self.resize(1440, 900)
        self.restoreGeometry(self._preferences.bytes("window"))

    def _connect(self) -> None:
        bar, page, loader = self.top_bar, self.translate_page, self._loader
        loader.loading.connect(self._on_model_loading)
        loader.loaded.connect(self._on_model_loaded)
        loader.failed.connect(self._on_model_failed)
        loader.previous_model_missing.connect(self._open_bundled_instead)
        loader.file_chosen.connect(self._open_on_translate_page)
        loader.import_done.connect(bar.show_notice)
        loader.import_offered.connect(self._on_import_offered)
        self.state.result_changed.connect(self._on_result)
        page.failed.connect(self._on_sentence_failed)
        self.analysis.closed.connect(page.hide_analysis)
        self.analysis.focus_next = page.head
        page.message.open_requested.connect(self._loader.choose_file)
        page.message.train_requested.connect(lambda: self.show_page(TRAIN))
        self.export_menu.done.connect(bar.show_notice)
        page.head.export_button.setMenu(self.export_menu)
        notice = page.sentence.coverage_notice
        notice.offer(bar.model_button.menu_of_bigger_models(notice))
        bar.offer_export(self.export_menu)
        bar.offer_experiments(self.documents, self.lessons.make_menu(bar.menu_button))
        self.lessons.done.connect(bar.show_notice)
        self.lessons.bar.focus_to = page.heads.grid
        self.documents.lesson_read.connect(lambda *_: self.show_page(TRANSLATE))
        page.step_scene = self._step_scene
        page.stop_analysis = self.analysis.stop
        page.own_settings = lambda: self.lessons.own_settings
        self.lessons.bar.arrows_changed.connect(lambda: page.heads.show_keys(self.lessons.bar.takes_arrows))
        self.documents.done.connect(bar.show_notice)
        self.documents.failed.connect(self._on_experiment_failed)
        self.documents.model_requested.connect(self._open_on_translate_page)
        bar.page_chosen.connect(self.show_page)
        bar.model_button.open_requested.connect(loader.choose_file)
        bar.model_button.folder_requested.connect(loader.choose_folder)
        bar.model_button.name_requested.connect(loader.choose_name)
        bar.model_button.bundled_requested.connect(lambda: self._open_on_translate_page(None))
        bar.model_button.recent_requested.connect(self._open_on_translate_page)
        bar.theme_chosen.connect(self.set_theme)
        bar.explanation_requested.connect(self._explainer.begin)
        bar.keys_requested.connect(self._show_keys)
        bar.presentation_requested.connect(self.present)
        bar.full_screen_requested.connect(self._toggle_full_screen)
        bar.scale_stepped.connect(self._step_scale)
        bar.usual_scale_requested.connect(lambda: self.set_scale(100))
        bar.palette_requested.connect(self._show_palette)
        bar.about_requested.connect(lambda: show_about(self))
        bar.quit_requested.connect(self.close)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_system_colors_changed)

    def _make_commands(self) -> tuple[Command, ...]:
        """Everything that has a key in the whole window, in the order of the sheet of keys."""
        walk = self.translate_page.walk
        return (
            Command("Translate page", lambda: self.show_page(TRANSLATE), "Ctrl+1", "Pages"),
            Command("Learn page", lambda: self.show_page(LEARN), "Ctrl+2", "Pages"),
            Command("Train page", lambda: self.show_page(TRAIN), "Ctrl+3", "Pages"),
            Command("Analysis panel, open or close", self._toggle_analysis, "Ctrl+4", "Pages"),
            Command("Type another sentence", self._focus_sentence, "Ctrl+L", "Sentence"),
            Command("Undo", self._undo, "Ctrl+Z", "Sentence"),
            Command("Redo", self._redo, "Ctrl+Shift+Z", "Sentence"),
            Command("Take all changes back", self._reset, group="Sentence"),
            *(
                Command(f"Next head: {name}", partial(walk, direction), f"Alt+{name.capitalize()}", "Maps")
                for name, direction in ALT_DIRECTIONS.items()
            ),
            Command("Switch the chosen head off or on", self._switch_head, group="Maps"),
            Command("Open a model", self._loader.choose_file, "Ctrl+O", "Files"),
            Command("Open the folder of a model", self._loader.choose_folder, group="Files"),
            Command("Open a model from Hugging Face", self._loader.choose_name, group="Files"),
            Command("Open the bundled model", partial(self._open_on_translate_page, None), group="Files"),
            Command("First steps", self.offer_first_steps, group="Help"),
            Command("Gallery of examples", self.translate_page.sentence.open_gallery, group="Sentence"),
            Command("Commands", self._show_palette, "Ctrl+K", "Help"),
            Command("What is this? Then click on anything", self._explainer.begin, "F1", "Help"),
            Command("All keys", self._show_keys, "?", "Help"),
            Command("About Augenmerk", lambda: show_about(self), group="Help"),
            *(
                Command(f"Colours: {name.lower()}", partial(self.set_theme, choice), group="Window")
                for choice, name in THEME_NAMES.items()
            ),
            Command("Presentation: one map, large, keys only", self.present, "F5", "Window"),
            Command("Full screen", self._toggle_full_screen, "F11", "Window"),
            Command("Larger: the whole interface", partial(self._step_scale, 1), "Ctrl++", "Window"),
            Command("Smaller: the whole interface", partial(self._step_scale, -1), "Ctrl+-", "Window"),
            Command("Usual size: 100%", partial(self.set_scale, 100), "Ctrl+0", "Window"),
            Command("Quit", self.close, "Ctrl+Q", "Window"),
        )

    def _add_shortcuts(self) -> None:
        for command in filter(lambda each: each.keys, self.commands):
            shortcut = QShortcut(self)
            standard, more = STANDARD_KEYS.get(command.name), MORE_KEYS.get(command.name)
            if more is not None:
                shortcut.setKeys([QKeySequence(command.keys), *map(QKeySequence, more)])
            elif standard is None:
                shortcut.setKey(QKeySequence(command.keys))
            else:
                shortcut.setKeys(standard)  # all of them: of redo the first is Ctrl+Y on some platforms
            shortcut.activated.connect(command.act)

    def _file_actions(self) -> Iterator[tuple[QAction, str]]:
        """What the menus of experiments and of exports do, with what its name begins with outside its menu."""
        yield from ((action, "") for action in self.documents.entries)
        yield from ((action, EXPORT_PREFIX) for action in self.export_menu.entries.values() if not action.isCheckable())

    def _show_palette(self) -> None:
        documents = (action for action in self.documents.entries if action.isVisible() and action.isEnabled())
        files = [command_of(action, "") for action in documents]
        files += [command_of(action, EXPORT_PREFIX) for action in self.export_menu.offered]
        learn = [
            Command(f"Learn: {chapter.title}", partial(self.open_chapter, chapter.name), group="Pages")
            for chapter in read_chapters(self._preferences.learn_language)
        ]
        lessons = [
            Command(f"Lesson: {title_of(path)}", partial(self.documents.open, path, is_shipped=True), group="Files")
            for path in shipped_lessons()
        ]
        of_lesson = [Command("Lesson: add scene", self.lessons.ask_for_scene, group="Files")]
        if self.lessons.lesson.scenes:
            of_lesson += [
                Command("Lesson: save as", self.lessons.ask_where_to_save, group="Files"),
                Command("Lesson: export as a page", self.lessons.ask_for_page, group="Files"),
                Command("Lesson: export a worksheet", self.lessons.ask_for_worksheet, group="Files"),
                Command("Lesson: close", self.lessons.close, group="Files"),
            ]
        buttons = self.lessons.bar.edit_buttons
        of_lesson += [
            Command(f"Lesson: {what}", buttons[name].click, group="Files")
            for name, what in LESSON_EDITS.items()
            if self.lessons.lesson.lesson is not None and buttons[name].isEnabled()
        ]
        CommandPalette((*self.commands, *learn, *lessons, *of_lesson, *files), self).open()

    def _show_keys(self) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        of_menus = (command_of(action, prefix) for action, prefix in self._file_actions())
        for command in filter(lambda each: each.keys, (*self.commands, *of_menus)):
            name = command.name.partition(" (")[0]  # without kinds of files: the sheet has little room
            groups.setdefault(command.group, []).append((command.keys_shown, name))
        for group, lines in KEYS_BY_GROUP.items():
            groups.setdefault(group, []).extend((shown_keys(keys), what) for keys, what in lines)
        ShortcutSheet(list(groups.items()), self).open()

    def offer_first_steps(self) -> None:
        """Four sentences about what is on the Translate page, once the first translation is there."""
        self.show_page(TRANSLATE)
        if self.translate_page.findChildren(FirstSteps):
            return
        if self.lessons.lesson.lesson is not None:
            self.top_bar.show_notice("Close the lesson, then take the first steps")
            return
        steps = FirstSteps(self.state, self.translate_page)
        lesson_changed, text = self.lessons.lesson.changed, self.translate_page.sentence.input.text

        def end() -> None:
            lesson_changed.disconnect(give_way)
            self._preferences.has_taken_first_steps = True
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
        steps.learn_wanted.connect(lambda: self.show_page(LEARN))
        steps.typing_wanted.connect(self._focus_sentence)
        self.translate_page.show_above(steps)
        if steps.has_begun:
            take_keyboard()

    def open_chapter(self, name: str) -> None:
        """Shows a chapter of the Learn page, by its name."""
        self.show_page(LEARN)
        assert self.learn_page is not None
        self.learn_page.open_named(name)

    def present(self) -> None:
        """Sentence, translation and the chosen map fill the screen, until Escape."""
        if self.presentation is None:
            self.presentation = Presentation(self.state, self)
            self.presentation.step_scene = self._step_open_lesson
            self.presentation.scene_words = self.lessons.scene_words
            self.lessons.lesson.changed.connect(self.presentation.show_scene)
        self.presentation.begin()

    def _toggle_full_screen(self) -> None:
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    def _step_scene(self, by: int) -> bool:
        """Shows the scene before or after, unless no lesson is shown or it is edited; returns whether one is shown."""
        if not self.lessons.bar.takes_arrows:
            return False
        self.lessons.lesson.step(by)
        return True

    def _step_open_lesson(self, by: int) -> bool:
        """The same for a presenter's remote, which steps while a lesson is edited, too."""
        if not self.lessons.lesson.scenes:
            return False
        self.lessons.lesson.step(by)
        return True

    def _switch_head(self) -> None:
        if self.state.result is not None:
            self.show_page(TRANSLATE)
            self.state.submit(toggle_head(self.state.selection.head))

    def _reset(self) -> None:
        if self.state.experiment.interventions:
            self.state.submit(reset)

    def _begin(self, sentence: str | None) -> None:
        """The requested sentence; else what was on the screen, if it belongs to this model; else an example."""
        if sentence is None and self._is_last_model(self._first_checkpoint):
            is_restored = self.documents.restore_session()
            if is_restored:
                self._restored = self.state.experiment
            elif text := self.documents.earlier_sentence():  # older versions kept it alone
                self.translate_page.begin(text)
                self._restored = self.state.experiment
            self._lesson_failure = self.lessons.restore(shows_scene=not is_restored)
            if self.lessons.lesson.scenes:
                self._restored = self.state.experiment
        if sentence is not None:
            self.translate_page.begin(sentence, is_requested=True)
            self._offers_bundled = self._is_reopening
        elif self._restored is None:
            examples = example_sentences()
            self.translate_page.begin(examples[0] if examples else "")
        self.translate_page.sentence.input.setFocus()

    def _is_last_model(self, path: Path | None) -> bool:
        return (path.absolute() if path is not None else None) == self._preferences.model

    def _on_model_loading(self, name: str) -> None:
        if self.model is None:
            self.top_bar.show_model(f"opening {name}…", "")
            self.translate_page.show_message(f"Opening {name}…")
        else:
            self.top_bar.show_device(f"opening {name}…")

    def _on_import_offered(self, name: str) -> None:
        if self.model is None:
            self.translate_page.show_message(
                f"{name} is a model of another project. It is imported before it is opened."
            )

    def _on_model_loaded(self, info: ModelInfo) -> None:
        self._show_model(info)
        self.setWindowTitle(f"{info.title} – Augenmerk")
        self.model_opened.emit(info)
        previous = self.state.model
        self.state.begin_model(info)
        if previous is not None and self._preferences.is_stand_in(info.path):
            self.state.report(f"{_cannot_read(previous)}, so the bundled model is used.")
        if self.state.result is None:
            self.translate_page.show_message(TRANSLATING, offers_cancel=True)
        if self._first_experiment is not None:
            path, self._first_experiment = self._first_experiment, None
            self.documents.open(path)
        else:
            self.translate_page.ask_new_model()

    def _on_model_failed(self, failure: Failure, is_in_dialog: bool) -> None:
        if self.model is None:
            self.top_bar.show_model("no model", "")
            text = "No model is open. Open a checkpoint, or train a model." if is_in_dialog else failure.message
            self.translate_page.show_message(text, offers_models=True)
        else:
            self._show_model(self.model)
            if self.state.request.problem and self.state.result is None:
                self.translate_page.ask_new_model()  # its answer replaces the message about the stand-in
        self.failed.emit(failure)

    def _on_sentence_failed(self, failure: Failure) -> None:
        """A sentence from the command line that the last model cannot read goes to the bundled one."""
        is_requested = self.state.experiment.source_text == self.translate_page.sentence.requested_text
        model, offers_bundled, self._offers_bundled = self.model, self._offers_bundled, False
        if offers_bundled and is_requested and not failure.details and model is not None and not model.is_bundled:
            self.translate_page.show_message(f"{_cannot_read(model)}.\nOpening the bundled model…")
            self._loader.stand_in()
        else:
            self.failed.emit(failure)

    def _on_experiment_failed(self, failure: Failure) -> None:
        """An experiment file was not opened. If it was to be the first, there is the sentence in its place."""
        if self.state.result is None:
            self.translate_page.ask_new_model()
        self.failed.emit(failure)

    def _show_model(self, info: ModelInfo) -> None:
        self.top_bar.show_model(info.summary, info.device_summary)
        self.top_bar.model_button.recent = self._loader.recent

    def _open_first_model(self) -> None:
        if self._lesson_failure is not None:
            self.lessons.tell_not_restored(self._lesson_failure)
        (self._loader.reopen if self._is_reopening else self._loader.open)(self._first_checkpoint)

    def _open_bundled_instead(self) -> None:
        """The model of the last time cannot be opened again: its experiment, if untouched, goes with it."""
        self._first_checkpoint = None
        if self.state.experiment == self._restored:
            examples = example_sentences()
            self.translate_page.begin(examples[0] if examples else "")
        self.open_model(None)

    def _toggle_analysis(self) -> None:
        self.show_page(TRANSLATE)
        self.translate_page.toggle_analysis()

    def _undo(self) -> None:
        if (sentence := self._sentence_in_sight()) is not None:
            sentence.undo()

    def _redo(self) -> None:
        if (sentence := self._sentence_in_sight()) is not None:
            sentence.redo()

    def _sentence_in_sight(self) -> SentencePanel | None:
        """The sentence of the page in sight; None where it has none."""
        for page in (self.translate_page, self.learn_page):
            if page is not None and page is self._pages.currentWidget():
                return page.sentence
        return None

    def _on_result(self) -> None:
        translation = self.state.translation
        if translation is not None:
            self._offers_bundled = False
            self.translation_shown.emit(translation)

    def _focus_sentence(self) -> None:
        self.show_page(TRANSLATE)
        field = self.translate_page.sentence.input
        field.setFocus()
        field.selectAll()

    def _open_on_translate_page(self, path: Path | None) -> None:
        self.show_page(TRANSLATE)
        self.open_model(path)

    def _make_learn_page(self) -> "LearnPage":
        from augenmerk.viz_app.learn.page import LearnPage

        page = LearnPage(self._worker.sibling(self), self.state, language=self._preferences.learn_language)
        page.language_chosen.connect(self._on_language)
        page.failed.connect(self.failed)
        self._pages.addWidget(page)
        self.learn_page = page
        return page

    def _on_language(self, code: str) -> None:
        self._preferences.learn_language = code

    def _make_train_page(self) -> "TrainPage":
        from augenmerk.viz_app.train.page import TrainPage  # matplotlib comes with it

        page = TrainPage(self._preferences.settings)
        page.model_ready.connect(self._open_on_translate_page)
        page.status_changed.connect(self.top_bar.show_status)
        page.offer_export(self.export_menu)
        self._pages.addWidget(page)
        self.train_page = page
        return page

    def _page_in_sight(self) -> Exportable:
        """The page that exports concern."""
        for page in (self.learn_page, self.train_page):
            if page is not None and page is self._pages.currentWidget():
                return page
        return self.translate_page

    def _is_training(self) -> bool:
        return self.train_page is not None and self.train_page.is_running()

    def _pause_training_then_close(self) -> None:
        assert self.train_page is not None
        if self._closing_since is None:
            self._closing_since = time.monotonic()
            self.train_page.request_stop()
            self._close_timer.start()
        self._show_closing()

    def _may_leave_training(self) -> bool:
        """Whether it was waited for, or somebody who has waited a while closes the window again."""
        return self._closing_since is not None and time.monotonic() > self._closing_since + ANSWER_SECONDS

    def _go_on_closing(self) -> None:
        assert self.train_page is not None
        assert self._closing_since is not None
        if not self._is_training() or time.monotonic() > self._closing_since + self.train_page.limit_to_end_s:
            self._close_timer.stop()
            self.close()
        else:
            self._show_closing()

    def _show_closing(self) -> None:
        text = "stopping the training, saving the model…"
        if self._may_leave_training():
            text += " Close again to quit without it."
        self.top_bar.show_status(text)

    def _on_system_colors_changed(self) -> None:
        if self._theme_choice == "system":
            self._apply_theme()


def _cannot_read(model: ModelInfo) -> str:
    return f"The model “{model.title}” cannot read this sentence"
