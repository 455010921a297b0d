"""The window: top bar, pages, commands."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import (
    QActionGroup,
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QKeyEvent,
    QPaintEvent,
)
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QWidget

from augenmerk.core.resources import example_sentences
from augenmerk.core.translation.experiment import Experiment
from augenmerk.viz_app.analysis.panel import AnalysisPanel, tab_commands
from augenmerk.viz_app.analysis.tab import AnalysisContext
from augenmerk.viz_app.documents.experiment_documents import EXPERIMENT_COMMANDS, ExperimentDocuments
from augenmerk.viz_app.documents.lesson_documents import (
    LESSON_COMMANDS,
    LessonDocuments,
    make_lesson_menu,
)
from augenmerk.viz_app.documents.reading import is_experiment
from augenmerk.viz_app.documents.session import KeptSession
from augenmerk.viz_app.export.menu import EXPORTS, ExportMenu
from augenmerk.viz_app.export.saving import Exportable
from augenmerk.viz_app.heatmap.labelled_matrix import MATRIX_COMMANDS
from augenmerk.viz_app.learn.chapter import read_chapters
from augenmerk.viz_app.learn.scene_answers import SceneAnswers
from augenmerk.viz_app.models.loader import MODEL_COMMANDS, ModelLoader, foreign_source
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.presentation import PRESENTATION_COMMANDS, Presentable, Presentation, caption, keys_of
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.glossary import Entry, glossary
from augenmerk.viz_app.state.map_view_settings import MapViewSettings
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.theme import GAP, PAGE_MARGIN, SCALES, Theme, ThemeChoice, style_sheet_set_aside
from augenmerk.viz_app.top_bar import TopBar
from augenmerk.viz_app.translate.page import CANCEL_OR_UNPIN, TranslatePage
from augenmerk.viz_app.translate.quick_tour import QUICK_TOUR_COMMANDS, QuickTour
from augenmerk.viz_app.views.commands import (
    HEAD_COMMANDS,
    HEAD_PANEL_COMMANDS,
    NEXT_MAPS,
    PART_COMMANDS,
    REDO,
    RESET,
    SCENE_COMMANDS,
    SENTENCE,
    TOGGLE_ANALYSIS,
    UNDO,
)
from augenmerk.viz_app.views.head import PRODUCT_COMMANDS
from augenmerk.viz_app.views.pointer import POINTER_COMMANDS
from augenmerk.viz_app.views.sentence import SentencePanel
from augenmerk.viz_app.views.sentence_input import INPUT_COMMANDS
from augenmerk.viz_app.views.word_parts import BAR_COMMANDS
from augenmerk.viz_app.widgets.commands import BoundCommand, Command, CommandRegistry, run_by_key
from augenmerk.viz_app.widgets.dialogs import show_about, show_failure
from augenmerk.viz_app.widgets.explain import TermExplainer
from augenmerk.viz_app.widgets.layouts import PageStack, WindowScrollArea, column_of
from augenmerk.viz_app.worker.inference import ANSWER_SECONDS, ExperimentController, Failure, InferenceWorker

if TYPE_CHECKING:
    from augenmerk.viz_app.learn.page import LearnPage
    from augenmerk.viz_app.train.page import TrainPage

MIN_SIZE = 960, 620
CONTENT_SIZE = 940, 596
"""The minimum at 100%: a little less than the window's, so that a screen of 1440 × 900 shows all of it at 150%."""
NARROW_CONTENT_SIZE = 465, 700
"""The minimum in a narrower window, where the parts are in one column. The smallest window has this width at
200%, next to its scroll bar."""
TRANSLATE, LEARN, TRAIN = 0, 1, 2
TRANSLATING = "Translating…\nYou can type another sentence meanwhile."
CLOSE_POLL_MS = 100


class PageHost:
    """The pages of the window. Translate is always there; the others are made when they are first shown.

    Attributes:
        stack: the widget that shows the current page.
        translate: the Translate page.
        learn, train: None until they are first shown; matplotlib comes with the second.
    """

    def __init__(self, window: "MainWindow", translate: TranslatePage) -> None:
        self._window, self.translate = window, translate
        self.learn: LearnPage | None = None
        self.train: TrainPage | None = None
        self.stack = PageStack()
        self.stack.addWidget(translate)

    def show(self, index: int) -> None:
        """Shows `TRANSLATE`, `LEARN` or `TRAIN`."""
        if index == LEARN:
            self.stack.setCurrentWidget(self.learn or self._make_learn_page())
        elif index == TRAIN:
            self.stack.setCurrentWidget(self.train or self._make_train_page())
        else:
            self.stack.setCurrentWidget(self.translate)
        self._window.top_bar.show_page(index)
        self._window.lessons.bar.rebuild()

    def way_back(self) -> Callable[[], object]:
        """Returns a function that shows the current page again."""
        return partial(self.show, (self.translate, self.learn, self.train).index(self.in_sight))

    def visit(self, index: int) -> None:
        """Shows a page; during a presentation, its main part."""
        self.show(index)
        if self._window.presentation.view is not None:
            self.show_view(self.presentable)

    def focus_sentence(self) -> None:
        """Lets the user type another sentence on the Translate page."""
        self._window.presentation.end()
        self.show(TRANSLATE)
        field = self.translate.sentence.input
        field.setFocus()
        field.selectAll()

    def toggle_analysis(self) -> None:
        """Opens the analysis tabs of the Translate page, or closes them."""
        self._window.presentation.end()
        self.show(TRANSLATE)
        self.translate.toggle_analysis()

    def open_chapter(self, name: str) -> None:
        """Shows a chapter of the Learn page, by its name."""
        if self._window.presentation.view is not None:
            self.show_view(f"chapter {name}")
            return
        self.show(LEARN)
        assert self.learn is not None
        self.learn.open_named(name)

    def presentables(self) -> tuple[Presentable, ...]:
        """Everything that can fill the screen, in the order of the palette."""
        state, analysis, head = self._window.state, self._window.analysis, self.translate.head
        keys = partial(keys_of, state)
        large_map = Presentable(
            "map",
            "Chosen map",
            partial(self._open, TRANSLATE, lambda: head.map),
            lambda: state,
            partial(caption, state),
            keys,
            head.heatmap.set_presented,
        )
        tabs = (
            Presentable(
                name,
                f"{tab.name} tab",
                partial(self._open, TRANSLATE, partial(analysis.show_alone, name)),
                lambda: state,
                f"{tab.name}\n{tab.tip}".format,
                keys if tab.follows_head else tuple,
                partial(analysis.set_presented, name),
                tab.has_sentences,
                tab.follows_head,
            )
            for name, tab in analysis.tabs_by_name.items()
        )
        title = "Charts and film of the training"
        training = Presentable(
            "training",
            title,
            self._open_training,
            keys=self._film_keys,
            set_presented=self._present_training,
        )
        chapters = (
            Presentable(
                f"chapter {each.name}",
                f"chapter “{each.title}”",
                partial(self._open_chapter, each.name),
                self._of_learn,
            )
            for each in read_chapters(self._window.preferences.learn_language)
        )
        return large_map, *tabs, training, *chapters

    @property
    def presentable(self) -> str:
        """The name of the main part of the current page, or of the analysis tab with the keyboard focus."""
        if self.train is not None and self._is_shown(self.train):
            return "training"
        if self.learn is not None and self._is_shown(self.learn) and self.learn.chapters:
            return f"chapter {self.learn.chapters[self.learn.place].name}"
        analysis = self._window.analysis
        return analysis.tab_name if analysis.has_focus else "map"

    def view_titles(self) -> dict[str, str]:
        """The titles of all views but the chosen map, by their names."""
        return {each.name: each.title for each in self.presentables()[1:]}

    def show_view(self, name: str) -> None:
        """Shows a view in its place, or in the presentation; the chosen map if there is none of this name."""
        presentation = self._window.presentation
        if not name and presentation.view is None:
            self.show(TRANSLATE)
            return
        views = self.presentables()
        view = next((each for each in views if each.name == name), views[0])
        if presentation.view is None:
            view.open()
            if view is not views[0] and view.caption is not None:
                self.translate.show_analysis(True)
        elif presentation.view.name != view.name:
            presentation.present(view)

    def _open(self, index: int, open_view: Callable[[], QWidget]) -> QWidget:
        self.show(index)
        return open_view()

    def _open_training(self) -> QWidget:
        self.show(TRAIN)
        assert self.train is not None
        return self.train.show_alone()

    def _present_training(self, is_presented: bool) -> None:
        assert self.train is not None, "its view was opened"
        self.train.set_presented(is_presented)

    def _film_keys(self) -> tuple[BoundCommand, ...]:
        from augenmerk.viz_app.train.film import FILM_COMMANDS

        view = self.train.run_view if self.train is not None else None
        return tuple(command.on(view.film.strip) for command in FILM_COMMANDS) if view is not None else ()

    def _of_learn(self) -> ExperimentState:
        assert self.learn is not None, "a chapter is open"
        return self.learn.state

    def _open_chapter(self, name: str) -> QWidget:
        self.show(LEARN)
        assert self.learn is not None
        return self.learn.show_alone(name)

    @property
    def in_sight(self) -> Exportable:
        """The current page."""
        pages = (self.learn, self.train)
        return next((page for page in pages if page is not None and self._is_shown(page)), self.translate)

    @property
    def sentence(self) -> SentencePanel | None:
        """The sentence of the current page; None if that page has none."""
        if self._is_shown(self.translate):
            return self.translate.sentence
        return self.learn.sentence if self.learn is not None and self._is_shown(self.learn) else None

    def _is_shown(self, page: object) -> bool:
        return page is self.stack.currentWidget()

    def _make_learn_page(self) -> "LearnPage":
        from augenmerk.viz_app.learn.page import LearnPage

        window, preferences = self._window, self._window.preferences
        page = self.learn = LearnPage(
            window.worker.sibling(window), self.translate.state, self.stack, language=preferences.learn_language
        )
        page.language_chosen.connect(lambda code: setattr(preferences, "learn_language", code))
        page.failed.connect(window.failed)
        page.list.lessons = window.lessons.listed
        self.stack.addWidget(page)
        return page

    def _make_train_page(self) -> "TrainPage":
        from augenmerk.viz_app.train.page import TrainPage  # matplotlib comes with it

        window = self._window
        page = self.train = TrainPage(window.preferences.settings, self.stack)
        page.run_actions.model_ready.connect(window.try_model)
        page.status_changed.connect(window.top_bar.show_status)
        page.offer_export(window.export_menu)
        self.stack.addWidget(page)
        return page


PAGE_COMMANDS = (
    Command[PageHost]("Translate page", lambda pages: pages.visit(TRANSLATE), keys=("Ctrl+1",), group="Pages"),
    Command[PageHost]("Learn page", lambda pages: pages.visit(LEARN), keys=("Ctrl+2",), group="Pages"),
    Command[PageHost]("Train page", lambda pages: pages.visit(TRAIN), keys=("Ctrl+3",), group="Pages"),
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


class Appearance(QObject):
    """Theme and scale of all widgets, which are remembered."""

    def __init__(self, window: "MainWindow") -> None:
        super().__init__(window)
        self._window, self._preferences = window, window.preferences
        self._presented_scale: float | None = None
        self._presented_zoom = 100
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_system_colors_changed)

    def set_theme(self, choice: ThemeChoice) -> None:
        """Light, dark, or the same as the system."""
        self._preferences.theme = choice
        self._apply()

    def set_scale(self, percent: int) -> None:
        """Changes the size of the interface to one of `SCALES`; of a presentation, until it ends."""
        if self._presented_scale is not None:
            self._presented_zoom = percent
            self._apply()
            return
        if percent != self._preferences.scale:
            self._preferences.scale = percent
            self._apply()
        self._window.top_bar.show_notice(f"Size of the interface: {percent}%")

    def step_scale(self, num_steps: int) -> None:
        """Makes the interface larger by this number of steps of `SCALES`, smaller if negative."""
        now = self._preferences.scale if self._presented_scale is None else self._presented_zoom
        place = SCALES.index(now) + num_steps
        self.set_scale(SCALES[min(max(place, 0), len(SCALES) - 1)])

    def present_at(self, scale: float | None, percent: int | None = None) -> None:
        """Changes the scale without remembering it.

        Args:
            scale: of a presentation at 100%; None restores the user's.
            percent: one of `SCALES`; None for the one in use.
        """
        wanted = scale, percent or self._presented_zoom
        if wanted != (self._presented_scale, self._presented_zoom):
            self._presented_scale, self._presented_zoom = wanted
            self._apply()

    def _apply(self) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        is_presented = self._presented_scale is not None
        percent = self._presented_zoom if is_presented else self._preferences.scale
        scale = (self._presented_scale or 1.0) * (percent / 100)
        Theme.of_choice(self._preferences.theme, scale, is_presented=is_presented).apply(app)

    def _on_system_colors_changed(self) -> None:
        if self._preferences.theme == "system":
            self._apply()


THEME_COMMANDS: dict[ThemeChoice, Command[Appearance]] = {
    "system": Command("Colours: same as the system", partial(Appearance.set_theme, choice="system")),
    "light": Command("Colours: light", partial(Appearance.set_theme, choice="light")),
    "dark": Command("Colours: dark", partial(Appearance.set_theme, choice="dark")),
}
SCALE_COMMANDS = (
    Command[Appearance](
        "Larger interface", partial(Appearance.step_scale, num_steps=1), keys=("Ctrl++", "Ctrl+=")
    ),  # with Shift or without, as keyboards differ
    Command[Appearance]("Smaller interface", partial(Appearance.step_scale, num_steps=-1), keys=("Ctrl+-", "Ctrl+_")),
    Command[Appearance]("Reset zoom (100%)", partial(Appearance.set_scale, percent=100), keys=("Ctrl+0",)),
)


class Opening:
    """Requests an experiment from each opened model; shows the name of the model, or the reason if there is none.

    The bundled model replaces a model of the last session that cannot be opened, or cannot read the sentence of the
    command line.
    """

    def __init__(
        self, window: "MainWindow", checkpoint: Path | None, sentence: str | None, experiment: Path | None
    ) -> None:
        """`checkpoint`, `sentence`, `experiment`: as requested on the command line; None for the last session's."""
        self._window, self._loader, self._page = window, window.loader, window.translate_page
        self._bar, self._state, self._preferences = window.top_bar, window.state, window.preferences
        self._is_reopening = checkpoint is None and self._preferences.model is not None
        self._first_checkpoint = checkpoint or self._preferences.model
        self._first_experiment = experiment
        self._restored: Experiment | None = None
        self._lesson_failure: Failure | None = None
        self._offers_bundled = sentence is not None and self._is_reopening
        loader, page = self._loader, self._page
        loader.loading.connect(self._on_loading)
        loader.loaded.connect(self._on_loaded)
        loader.failed.connect(self._on_load_failed)
        loader.previous_model_missing.connect(self._open_bundled_instead)
        loader.import_offered.connect(self._on_import_offered)
        page.failed.connect(self._on_sentence_failed)
        window.documents.failed.connect(self._on_experiment_failed)
        self._state.result_changed.connect(self._on_result)
        self._show_first_text(sentence)

    def open_first_model(self) -> None:
        """Opens the requested model, or the one of the last session. The imports take the worker seconds."""
        if self._lesson_failure is not None:
            show_failure(self._window, "The last lesson was not opened", self._lesson_failure)
        (self._loader.reopen if self._is_reopening else self._loader.open)(self._first_checkpoint)

    def _show_first_text(self, sentence: str | None) -> None:
        """Shows the requested sentence; else the last session, if it belongs to this model; else an example."""
        path, page = self._first_checkpoint, self._page
        if sentence is not None:
            page.begin(sentence, is_requested=True)
        else:
            if (path.absolute() if path is not None else None) == self._preferences.model:
                self._restore()
            if self._restored is None:
                self._show_example()
            else:
                self._window.session.restore_result(path)
        page.sentence.input.setFocus()

    def _restore(self) -> None:
        is_restored = self._window.session.restore()
        text = "" if is_restored else self._window.session.earlier_sentence()  # older versions kept it alone
        if text:
            self._page.begin(text)
        self._lesson_failure = self._window.lessons.restore(shows_scene=not is_restored)
        if is_restored or text or self._window.lessons.lesson.scenes:
            self._restored = self._state.experiment

    def _show_example(self) -> None:
        self._page.begin(next(iter(example_sentences()), ""))

    def _on_loading(self, name: str) -> None:
        if self._loader.model is not None:
            self._bar.show_device(f"opening {name}…")
            return
        self._bar.show_model(f"opening {name}…", "")
        if self._state.result is None:
            self._page.show_message(f"Opening {name}…")

    def _on_import_offered(self, name: str) -> None:
        if self._loader.model is None:
            self._page.show_message(f"{name} must be imported before it can be opened.")

    def _on_loaded(self, info: ModelInfo) -> None:
        self._show_model(info)
        self._window.setWindowTitle(f"{info.title} – Augenmerk")
        self._window.model_opened.emit(info)
        previous = self._state.model
        self._state.begin_model(info)
        if previous is not None and self._preferences.is_stand_in(info.path):
            self._state.report(f"{_cannot_read(previous)}, so the bundled model is used.")
        if self._state.result is None:
            self._page.show_message(TRANSLATING, offers_cancel=True)
        if self._first_experiment is not None:
            path, self._first_experiment = self._first_experiment, None
            self._window.documents.open(path)
        else:
            self._page.ask_new_model()

    def _on_load_failed(self, failure: Failure, is_in_dialog: bool) -> None:
        if self._loader.model is None:
            self._state.clear()  # a result of the last session
            self._bar.show_model("no model", "")
            text = "No model is open. Open a checkpoint, or train a model." if is_in_dialog else failure.message
            self._page.show_message(text, offers_models=True)
        else:
            self._show_model(self._loader.model)
            if self._state.request.problem and self._state.result is None:
                self._page.ask_new_model()  # its answer replaces the message about the bundled model
        self._window.failed.emit(failure)

    def _on_sentence_failed(self, failure: Failure) -> None:
        """Passes a sentence of the command line to the bundled model if the last model cannot read it."""
        is_requested = self._state.experiment.source_text == self._page.sentence.examples.requested_text
        model, offers_bundled, self._offers_bundled = self._loader.model, self._offers_bundled, False
        if offers_bundled and is_requested and not failure.details and model is not None and not model.is_bundled:
            self._page.show_message(f"{_cannot_read(model)}.\nOpening the bundled model…")
            self._loader.stand_in()
        else:
            self._window.failed.emit(failure)

    def _on_experiment_failed(self, failure: Failure) -> None:
        """Shows the sentence if the experiment of the command line was not opened."""
        if self._state.result is None:
            self._page.ask_new_model()
        self._window.failed.emit(failure)

    def _on_result(self) -> None:
        if self._state.translation is not None:
            self._offers_bundled = False

    def _open_bundled_instead(self) -> None:
        """Opens the bundled model, with an example unless the user has changed the restored experiment."""
        if self._state.experiment == self._restored:
            self._show_example()
        self._loader.open(None)

    def _show_model(self, info: ModelInfo) -> None:
        self._bar.show_model(info.summary, info.device_summary)
        self._bar.model_button.set_device(f"Device: {info.device.name}, {info.device.reason}")


def _cannot_read(model: ModelInfo) -> str:
    return f"The model “{model.title}” cannot read this sentence"


class ShutdownSequence:
    """Closes the window: asks about an unsaved lesson, pauses a training, saves, ends the threads."""

    def __init__(self, window: "MainWindow") -> None:
        self._window, self._pages, self._preferences = window, window.pages, window.preferences
        self._has_ended = False
        self._closing_since: float | None = None
        self._poll_timer = QTimer(window, interval=CLOSE_POLL_MS)
        self._poll_timer.timeout.connect(self._poll)

    def close(self) -> bool:
        """Ends everything, unless the user must decide or a training is paused first; the window then closes later.

        Returns:
            whether the window may close now.
        """
        asks = not self._has_ended and self._window.lessons.has_unsaved_changes
        if not asks and (self._may_leave_training() or not self._is_training()):
            self.end(waits_for_training=False)
            return True
        self.save()
        if asks:
            self._window.lessons.once_saved(self._window.close)
        else:
            self._pause_training()
        return False

    def save(self) -> None:
        """Saves the typed text and the screen for the next start."""
        if self._has_ended:
            return
        self._window.presentation.end()  # else its size would be remembered
        self._pages.translate.save()
        self._window.session.keep()
        self._preferences.set_bytes("window", self._window.saveGeometry())
        self._preferences.settings.sync()

    def end(self, *, waits_for_training: bool = True) -> None:
        """Saves, pauses a training and ends the threads, once. Blocks for seconds, but not for a thread that hangs.

        Args:
            waits_for_training: as long as saving may take; False if the caller has waited.
        """
        if self._has_ended:
            return
        self.save()
        self._window.session.keep_result()
        self._has_ended = True
        self._poll_timer.stop()
        self._window.hide()
        if self._pages.train is not None:
            self._pages.train.shutdown(waits_for_training=waits_for_training)
        if self._pages.learn is not None:
            self._pages.learn.shutdown()
        self._window.export_menu.shutdown()
        self._window.loader.shutdown()
        self._window.worker.close()
        self._preferences.settings.sync()

    def _is_training(self) -> bool:
        return self._pages.train is not None and self._pages.train.is_running()

    def _pause_training(self) -> None:
        assert self._pages.train is not None
        if self._closing_since is None:
            self._closing_since = time.monotonic()
            self._pages.train.request_stop()
            self._poll_timer.start()
        self._report_waiting()

    def _may_leave_training(self) -> bool:
        """True once the user may close the window a second time, without waiting for the training."""
        return self._closing_since is not None and time.monotonic() > self._closing_since + ANSWER_SECONDS

    def _poll(self) -> None:
        assert self._pages.train is not None
        assert self._closing_since is not None
        if not self._is_training() or time.monotonic() > self._closing_since + self._pages.train.limit_to_end_s:
            self._poll_timer.stop()
            self._window.close()
        else:
            self._report_waiting()

    def _report_waiting(self) -> None:
        text = "stopping the training, saving the model…"
        if self._may_leave_training():
            text += " Close again to quit without it."
        self._window.top_bar.show_status(text)


class MainWindow(QMainWindow):
    """Puts the parts of the window together. Nothing heavy starts before the first paint.

    Attributes:
        state: the experiment that the Translate page and the analysis tabs show.
        translate_page, analysis: always there.
        pages: all pages, which are made when they are first shown.
        commands: all commands, by name or key.
        appearance: theme and scale.
        explainer: explains the next widget clicked.
        notices: bars between the top bar and the page; each closes itself.
        documents, session: experiment files; the state kept for the next start.
        lessons: the lesson that is shown above the Translate page.
        export_menu: exports the current page.
        opening: opens the first model and experiment.
        shutdown: ends the window.
        presentation: shows one view on the whole screen.

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
        self.preferences = preferences
        self.worker = worker or InferenceWorker(parent=self)
        self._has_painted = False
        self.state = ExperimentState(preferences.restored(MapViewSettings()))
        if (head := preferences.head) is not None:
            self.state.selection.head, self.state.selection.was_chosen = head, True
        controller = ExperimentController(self.state, self.worker, self)
        self.analysis = AnalysisPanel(AnalysisContext(self.state, controller, preferences))
        self.translate_page = TranslatePage(controller, self.analysis, preferences)
        self.pages = PageHost(self, self.translate_page)
        self.documents = ExperimentDocuments(self.state, self.worker, preferences, self)
        self.session = KeptSession(self.state, preferences, self)
        self.lessons = LessonDocuments(self.state, self.worker, self.documents, preferences, self)
        self.export_menu = ExportMenu(lambda: self.pages.in_sight, preferences, self)
        self.loader = ModelLoader(self.worker, preferences, self)
        self.appearance = Appearance(self)
        self.explainer = TermExplainer(self.pages.open_chapter, self)
        self.commands = CommandRegistry(self)
        self.top_bar = TopBar(self.loader, self.commands.add(self.pages, PAGE_COMMANDS))
        self._add_commands()
        self.top_bar.menu_button.setMenu(self._make_menu())
        self.shutdown = ShutdownSequence(self)
        self._lay_out()
        self._connect()
        self.opening = Opening(self, checkpoint, sentence, experiment)

    def open_model(self, path: Path | None) -> None:
        """Opens a checkpoint, None for the bundled one, on the Translate page.

        The model in use stays until the new one is ready.
        """
        self.pages.show(TRANSLATE)
        self.loader.open(path)

    def try_model(self, path: Path, text: str) -> None:
        """Opens the checkpoint of a training, with the sentence of its film."""
        self.documents.show_with_model(text, path)
        self.open_model(path)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Opens the first model once the window is on the screen, as that takes seconds of imports."""
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
        """Escape cancels long work, wherever the focus is."""
        if not run_by_key(event, (CANCEL.on(self),)):
            super().keyPressEvent(event)

    def cancel(self) -> bool:
        """Cancels long work on the current page; False if there is none."""
        sentence = self.pages.sentence
        return (sentence is not None and sentence.cancel()) or self.analysis.stop()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files may be dropped."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Opens a dropped file or folder: by its content as an experiment or a lesson, else as a model."""
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.pages.show(TRANSLATE)
            if foreign_source(paths[0]) is None and is_experiment(paths[0]):
                self.documents.open(paths[0])
            else:
                self.open_model(paths[0])

    def offer_quick_tour(self) -> None:
        """Shows the steps of the quick tour above the sentence, once there is a translation."""
        self.pages.show(TRANSLATE)
        if self.translate_page.findChildren(QuickTour):
            return
        if self.lessons.lesson.lesson is not None:
            self.top_bar.show_notice("Close the lesson, then take the quick tour")
            return
        self.state.report("")  # a note about an example refers to another cell
        steps = QuickTour(self.state, self.translate_page)
        lesson_changed, text = self.lessons.lesson.changed, self.translate_page.sentence.input.text

        def end() -> None:
            lesson_changed.disconnect(give_way)
            self.preferences.has_taken_quick_tour = True
            steps.hide()
            steps.deleteLater()

        def give_way() -> None:
            """One bar above the sentence is enough."""
            if self.lessons.lesson.lesson is not None:
                QTimer.singleShot(0, steps, steps.ended.emit)

        def take_keyboard() -> None:
            """Moves the focus unless the user has typed meanwhile."""
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

    def present(self, name: str = "") -> None:
        """Fills the screen with a view, until Escape.

        Args:
            name: of one of `PageHost.presentables`; empty for the one in sight, or to end the presentation.
        """
        if not name and self.presentation.view is not None:
            self.presentation.end()
            return
        name = name or self.pages.presentable
        self.presentation.present(next(each for each in self.pages.presentables() if each.name == name))

    def show_palette(self) -> None:
        """Opens the palette: all commands, chapters, lessons, what can be presented, and the terms of the glossary."""
        chapters = [
            Command[str](f"Learn: {chapter.title}", self.pages.open_chapter).on(chapter.name)
            for chapter in read_chapters(self.preferences.learn_language)
        ]
        views = [
            Command[str](f"Present: {view.title}", self.present).on(view.name) for view in self.pages.presentables()
        ]
        terms = [
            Command[Entry](f"Glossary: {entry.title}", self.explainer.explain, search_words=", ".join(entry.terms)).on(
                entry
            )
            for entry in glossary()
        ]
        self.commands.show_palette((*chapters, *self.lessons.listed(), *views, *terms))

    def show_keys(self) -> None:
        """Opens the sheet of keys, including pages that were not opened yet."""
        from augenmerk.viz_app.learn.figures.stack import STACK_COMMANDS
        from augenmerk.viz_app.train.film import FILM_COMMANDS

        of_parts = (*INPUT_COMMANDS, CANCEL_OR_UNPIN, *PRESENTATION_COMMANDS, *FILM_COMMANDS, *QUICK_TOUR_COMMANDS)
        self.commands.show_sheet((*of_parts, *STACK_COMMANDS, *BAR_COMMANDS, *MATRIX_COMMANDS, *PRODUCT_COMMANDS))

    def _add_commands(self) -> None:
        """Adds commands in the order of the palette and the sheet of keys; the window's menu follows."""
        add = self.commands.add
        add(self.pages, PAGE_HOST_COMMANDS)
        add(self.state, (RESET, *HEAD_COMMANDS, *PART_COMMANDS), self.translate_page)
        add(self.translate_page.head, HEAD_PANEL_COMMANDS, self.translate_page)
        self.commands.commands.append(
            BoundCommand(NEXT_MAPS, self.state, self.translate_page)
        )  # the switch has the key
        add(self.analysis, tab_commands(self.analysis))
        add(self.lessons.bar, SCENE_COMMANDS, self.lessons.bar)
        add(self.loader, MODEL_COMMANDS)
        add(self.lessons, LESSON_COMMANDS)
        add(self.state, POINTER_COMMANDS, self.translate_page)
        add(self.documents, EXPERIMENT_COMMANDS)
        add(self.export_menu, tuple(EXPORTS.values()))

    def _make_menu(self) -> QMenu:
        """Makes the menu of the window and adds its commands."""
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
            action.setChecked(choice == self.preferences.theme)
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
        central = QWidget()
        self.notices = column_of()
        margins = PAGE_MARGIN, 0, PAGE_MARGIN, PAGE_MARGIN - 4
        pages = column_of(self.notices, self.lessons.bar, (self.pages.stack, 1), spacing=GAP, margins=margins)
        column_of(self.top_bar, (pages, 1), spacing=0, within=central)
        everything = PageStack()
        everything.addWidget(WindowScrollArea(central, CONTENT_SIZE, NARROW_CONTENT_SIZE))
        self.presentation = Presentation(self.state, self, everything, self.appearance.present_at)
        self.presentation.step_scene = self.lessons.bar.step_scene
        self.lessons.bar.scroll_scene = self.presentation.scroll_scene
        self.presentation.scene_words = self.lessons.scene_words
        self.presentation.way_back = self.pages.way_back
        self.setCentralWidget(everything)
        self.resize(1440, 900)
        self.restoreGeometry(self.preferences.bytes("window"))

    def _connect(self) -> None:
        bar, page, loader, lesson_bar = self.top_bar, self.translate_page, self.loader, self.lessons.bar
        loader.file_chosen.connect(self.open_model)
        loader.import_done.connect(bar.show_notice)
        self.state.result_changed.connect(self._on_result)
        self.analysis.opened.connect(lambda: self.pages.show_view(self.analysis.tab_name))
        self.analysis.closed.connect(lambda: page.show_analysis(False))
        page.sentence.chips.card.explains_words = self.analysis.explains_words
        page.sentence.chips.card.why_requested.connect(self.analysis.explain_word)
        self.analysis.focus_next = page.head
        page.open_button.clicked.connect(loader.choose_file)
        page.train_button.clicked.connect(lambda: self.pages.show(TRAIN))
        self.export_menu.done.connect(bar.show_notice)
        page.head.export_button.setMenu(self.export_menu)
        notice = page.sentence.coverage_notice
        notice.offer(bar.model_button.menu_of_bigger_models(notice))
        self.lessons.done.connect(bar.show_notice)
        for changed in (self.lessons.lesson.changed, self.lessons.answer.changed):
            changed.connect(self.presentation.show_scene)
        lesson_bar.focus_to, lesson_bar.is_wanted = page.heads.grid, self._shows_lesson
        self.documents.lesson_read.connect(lambda *_: self.pages.show(TRANSLATE))
        controller = page.controller
        self.lessons.screen.answers = SceneAnswers(controller.state, controller.ask)
        self.lessons.views = self.pages
        page.sentence.undo_before = self.lessons.editing.restore_scene
        page.step_scene = lambda by: lesson_bar.takes_arrows and lesson_bar.step_scene(by)
        page.stop_analysis, page.analysis_numbers = self.analysis.stop, self.analysis.numbers
        page.own_settings = lambda: self.lessons.own_settings
        lesson_bar.arrows_changed.connect(lambda: page.heads.show_keys(lesson_bar.takes_arrows))
        self.documents.done.connect(bar.show_notice)
        self.documents.model_requested.connect(self.open_model)

    def _shows_lesson(self) -> bool:
        """Whether the current page belongs to the lesson: the Translate page, or another one that its scene shows."""
        scene = self.lessons.lesson.scene
        return self.pages.in_sight is self.translate_page or (scene is not None and bool(scene.page))

    def _on_result(self) -> None:
        if self.state.translation is not None:
            self.translation_shown.emit(self.state.translation)


CANCEL = Command[MainWindow]("Cancel long work", MainWindow.cancel, local_keys=("Esc",))
WINDOW_COMMANDS = (
    (
        Command[MainWindow]("Presentation mode", MainWindow.present, keys=("F5",)),
        Command[MainWindow](
            "Full screen",
            lambda window: window.setWindowState(window.windowState() ^ Qt.WindowState.WindowFullScreen),
            keys=("F11",),
        ),
    ),
    (
        Command[MainWindow](
            "What is this? Click on anything",
            lambda window: window.explainer.begin(),
            keys=("F1",),
            group="Help",
        ),
        Command[MainWindow]("Quick tour", MainWindow.offer_quick_tour, group="Help"),
        Command[MainWindow]("Keyboard shortcuts", MainWindow.show_keys, keys=("?",), group="Help"),
        Command[MainWindow]("Commands", MainWindow.show_palette, keys=("Ctrl+K",), group="Help"),
    ),
    (
        Command[MainWindow]("About Augenmerk", show_about, group="Help"),
        Command[MainWindow]("Quit", MainWindow.close, keys=("Ctrl+Q",)),
    ),
)
"""View, help, window: the groups of the window's menu."""
