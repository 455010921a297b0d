"""The window: top bar, pages, commands."""

import logging
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

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

from .models.loader import MODEL_COMMANDS, ModelLoader
from .pages import PAGE_HOST_COMMANDS, TRANSLATE, PageHost, page_command
from .preferences import Preferences
from .state.experiment_editor import open_experiment
from .state.experiment_state import ExperimentState
from .state.map_view_settings import MapViewSettings
from .state.model_info import ModelInfo
from .theme import (
    GAP,
    PAGE_MARGIN,
    SCALES,
    Theme,
    ThemeChoice,
    current_theme,
    style_sheet_set_aside,
)
from .top_bar import TopBar
from .translate.analysis_panel import AnalysisPanel, tab_commands
from .translate.analysis_tab import AnalysisContext
from .translate.page import TranslatePage
from .views.commands import (
    HEAD_COMMANDS,
    HEAD_PANEL_COMMANDS,
    NEXT_MAPS,
    PART_COMMANDS,
    RESET,
)
from .widgets.commands import BoundCommand, Command, CommandRegistry, run_by_key
from .widgets.layouts import PageStack, WindowScrollArea, column_of
from .window_part import PAGES, PARTS, Page, Part, PartT, WindowPage, WindowPart
from .worker.inference import ANSWER_SECONDS, ExperimentController, Failure, InferenceWorker

MIN_SIZE = 960, 620
CONTENT_SIZE = 940, 596
"""Minimum size at 100% in pixels: a screen of 1440 × 900 shows all of it at 150%."""
NARROW_CONTENT_SIZE = 465, 440
"""Minimum size in a narrower window, whose parts are in one column, in pixels.

The smallest window has this width at 200%, next to its scroll bar.
"""
CLOSE_POLL_MS, SCALE_DELAY_MS = 100, 150
logger = logging.getLogger(__name__)


class Appearance(QObject):
    """Theme and scale of all widgets, which are remembered."""

    def __init__(self, window: "MainWindow") -> None:
        super().__init__(window)
        self._window = window
        self._preferences = window.preferences
        self._presented_scale: float | None = None
        self._presented_zoom = 100
        self._timer = QTimer(self, singleShot=True, interval=SCALE_DELAY_MS)
        self._timer.timeout.connect(self._apply)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_system_colors_changed)

    def set_theme(self, choice: ThemeChoice) -> None:
        """Light, dark, or the same as the system."""
        self._preferences.theme = choice
        self._apply()

    def set_scale(self, percent: int) -> None:
        """Changes the size of the interface to one of `SCALES`, or that of a presentation."""
        self._choose_scale(percent)
        self._apply()

    def _choose_scale(self, percent: int) -> None:
        if self._presented_scale is not None:
            self._presented_zoom = percent
        else:
            self._preferences.scale = percent
            self._window.top_bar.show_notice(f"Interface: {percent}%")

    def step_scale(self, num_steps: int) -> None:
        """Enlarges the interface by this number of steps of `SCALES`; negative: shrinks it.

        Several steps in a row are drawn once: each visits all widgets.
        """
        now = self._preferences.scale if self._presented_scale is None else self._presented_zoom
        index = SCALES.index(now) + num_steps
        self._choose_scale(SCALES[min(max(index, 0), len(SCALES) - 1)])
        self._timer.start()

    def present_at(self, scale: float | None, percent: int | None = None) -> None:
        """Changes the scale without remembering it.

        Args:
            scale: of a presentation at 100%; None restores the user's.
            percent: one of `SCALES`; None for the one in use.
        """
        scale_and_zoom = scale, percent or self._presented_zoom
        if scale_and_zoom != (self._presented_scale, self._presented_zoom):
            self._presented_scale, self._presented_zoom = scale_and_zoom
            self._apply()

    def _apply(self) -> None:
        self._timer.stop()
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        is_presented = self._presented_scale is not None
        percent = self._presented_zoom if is_presented else self._preferences.scale
        scale = (self._presented_scale or 1.0) * (percent / 100)
        theme = Theme.of_choice(self._preferences.theme, scale, is_presented=is_presented)
        if theme != current_theme():
            theme.apply(app)

    def _on_system_colors_changed(self) -> None:
        if self._preferences.theme == "system":
            self._apply()


THEME_COMMANDS: dict[ThemeChoice, Command[Appearance]] = {
    "system": Command(
        "Colours: same as the system", partial(Appearance.set_theme, choice="system")
    ),
    "light": Command("Colours: light", partial(Appearance.set_theme, choice="light")),
    "dark": Command("Colours: dark", partial(Appearance.set_theme, choice="dark")),
}
SCALE_COMMANDS = (
    Command[Appearance](
        "Zoom in (window)",
        partial(Appearance.step_scale, num_steps=1),
        keys=("Ctrl++",),
        unlisted_keys=("Ctrl+=",),  # with Shift or without, as keyboards differ
    ),
    Command[Appearance](
        "Zoom out (window)",
        partial(Appearance.step_scale, num_steps=-1),
        keys=("Ctrl+-",),
        unlisted_keys=("Ctrl+_",),
    ),
    Command[Appearance](
        "Reset zoom (100%)", partial(Appearance.set_scale, percent=100), keys=("Ctrl+0",)
    ),
)


class Opening:
    """Requests an experiment from each opened model; shows its name, or why there is none.

    The bundled model replaces a model of the last session that cannot be opened, or cannot read the
    sentence of the command line.

    Args:
        window: the window, with all its parts.
        path: of a model, or of a file that a part opens; None for the last session's model.
        sentence: to translate; None for the last session's.

    Attributes:
        is_requested: whether the user asked for a sentence or such a file.
    """

    def __init__(self, window: "MainWindow", path: Path | None, sentence: str | None) -> None:
        self._window = window
        self._loader = window.loader
        self._page = window.translate_page
        self._open_first_file = window.opener_of(path) if path is not None else None
        self.is_requested = sentence is not None or self._open_first_file is not None
        checkpoint = path if self._open_first_file is None else None
        self._bar, self._state, self._preferences = window.top_bar, window.state, window.preferences
        self._is_reopening = checkpoint is None and self._preferences.model is not None
        self._first_checkpoint = checkpoint or self._preferences.model
        self._restored: Experiment | None = None
        self._offers_bundled = sentence is not None and self._is_reopening
        loader, page = self._loader, self._page
        loader.loading.connect(self._on_loading)
        loader.loaded.connect(self._on_loaded)
        loader.failed.connect(self._on_load_failed)
        loader.previous_model_missing.connect(self._open_bundled_instead)
        loader.import_offered.connect(self._on_import_offered)
        page.failed.connect(self._on_sentence_failed)
        self._state.result_changed.connect(self._on_result)
        self._show_first_text(sentence)

    def open_first_model(self) -> None:
        """Opens the requested model, or the one of the last session.

        The imports take the worker seconds.
        """
        for part in self._window.parts:
            part.shown()
        (self._loader.reopen if self._is_reopening else self._loader.open)(self._first_checkpoint)

    def _show_first_text(self, sentence: str | None) -> None:
        """Shows the requested sentence, else the last session of this model, else an example."""
        path, page = self._first_checkpoint, self._page
        if (
            sentence is None
            and (path.absolute() if path is not None else None) == self._preferences.model
        ):
            self._restore()
        if sentence is not None:
            page.begin(sentence, is_requested=True)
        elif self._restored is None:
            self._show_example()
        for part in self._window.parts:
            part.begin_session(path, is_restored=self._restored is not None)
        page.sentence.input.setFocus()

    def _restore(self) -> None:
        is_shown = False
        for part in self._window.parts:
            is_shown = part.restore(shows_screen=not is_shown) or is_shown
        if is_shown or self._state.experiment.source_text:
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
        open_first = self._open_first_file
        self._open_first_file = None
        (open_first or self._page.ask_new_model)()

    def _on_load_failed(self, failure: Failure, is_in_dialog: bool) -> None:
        if self._loader.model is None:
            self._state.clear()  # a result of the last session
            self._bar.show_model("no model", "")
            text = (
                "No model is open. Open a checkpoint, or train a model."
                if is_in_dialog
                else failure.message
            )
            self._page.show_message(text, offers_models=True)
        else:
            self._show_model(self._loader.model)
            if self._state.request.problem and self._state.result is None:
                # its answer replaces the message about the bundled model
                self._page.ask_new_model()
        self._window.failed.emit(failure)

    def _on_sentence_failed(self, failure: Failure) -> None:
        """Passes a sentence of the command line to the bundled model if the last one refuses it."""
        is_requested = self._state.experiment.source_text == self._page.sentence.requested_text
        model = self._loader.model
        offers_bundled = self._offers_bundled
        self._offers_bundled = False
        if (
            offers_bundled
            and is_requested
            and not failure.details
            and model is not None
            and not model.is_bundled
        ):
            self._page.show_message(f"{_cannot_read(model)}.\nOpening the bundled model…")
            self._loader.stand_in()
        else:
            self._window.failed.emit(failure)

    def _on_result(self) -> None:
        if self._state.translation is not None:
            self._offers_bundled = False

    def _open_bundled_instead(self) -> None:
        """Opens the bundled model, with an example unless the user changed the experiment."""
        if self._state.experiment == self._restored:
            self._show_example()
        self._loader.open(None)

    def _show_model(self, info: ModelInfo) -> None:
        self._bar.show_model(info.summary, info.device_summary)
        self._bar.model_button.set_device(f"Device: {info.device.name}, {info.device.reason}")


def _cannot_read(model: ModelInfo) -> str:
    return f"The model “{model.title}” cannot read this sentence"


class ShutdownSequence:
    """Closes the window: asks about unsaved changes, pauses a training, saves, ends the threads."""

    def __init__(self, window: "MainWindow") -> None:
        self._window = window
        self._pages = window.pages
        self._preferences = window.preferences
        self._has_ended = False
        self._closing_since: float | None = None
        self._poll_timer = QTimer(window, interval=CLOSE_POLL_MS)
        self._poll_timer.timeout.connect(self._poll)

    def close(self) -> bool:
        """Ends everything, unless the user must decide or a training is paused first.

        Then the window closes later.

        Returns:
            whether the window may close now.
        """
        unsaved = next((part for part in self._window.parts if part.has_unsaved_changes), None)
        if self._has_ended or (unsaved is None and (self._may_leave_work() or not self._running)):
            self.end(waits=False)
            return True
        self.save()
        if unsaved is not None:
            unsaved.once_saved(self._window.close)
        else:
            self._stop_work()
        return False

    def save(self) -> None:
        """Saves the typed text and the screen for the next start."""
        if self._has_ended:
            return
        self._pages.full_screen.end()  # else its size would be remembered
        self._pages.translate.save()
        for part in self._window.parts:
            part.save()
        self._preferences.set_bytes("window", self._window.saveGeometry())
        self._preferences.settings.sync()

    def end(self, *, waits: bool = True) -> None:
        """Saves, pauses a training and ends the threads, once.

        Blocks for seconds, but not for a thread that hangs.

        Args:
            waits: for work of parts, as long as saving may take; False if the caller has waited.
        """
        if self._has_ended:
            return
        self.save()
        self._has_ended = True
        self._poll_timer.stop()
        self._window.hide()
        for part in self._window.parts:
            part.shutdown(waits=waits)
        self._window.worker.close()
        self._preferences.settings.sync()

    @property
    def _running(self) -> list[WindowPart]:
        return [part for part in self._window.parts if part.is_running]

    def _stop_work(self) -> None:
        if self._closing_since is None:
            self._closing_since = time.monotonic()
            for part in self._running:
                part.request_stop()
            self._poll_timer.start()
        self._report_waiting()

    def _may_leave_work(self) -> bool:
        """True once the user may close the window a second time, without waiting for the work."""
        return (
            self._closing_since is not None
            and time.monotonic() > self._closing_since + ANSWER_SECONDS
        )

    def _poll(self) -> None:
        assert self._closing_since is not None
        limit_s = max((part.limit_to_end_s for part in self._running), default=0.0)
        if not self._running or time.monotonic() > self._closing_since + limit_s:
            self._poll_timer.stop()
            self._window.close()
        else:
            self._report_waiting()

    def _report_waiting(self) -> None:
        text = " ".join(part.stopping for part in self._running)
        if self._may_leave_work():
            text += " Close again to quit without it."
        self._window.top_bar.show_status(text)


class MainWindow(QMainWindow):
    """Puts the parts of the window together. Nothing heavy starts before the first paint.

    Attributes:
        state: the experiment that the Translate page and the analysis tabs show.
        translate_page: the Translate page; always there.
        analysis: the analysis tabs; always there.
        pages: all pages, which are made when they are first shown.
        parts: what extensions add, in the order of their declarations.
        screens: shows the pages, or one view on the whole screen.
        commands: all commands, by name or key.
        appearance: theme and scale.
        notices: bars between the top bar and the page; each closes itself.
        opening: opens the first model, and the first file or sentence.
        shutdown: ends the window.

    Args:
        preferences: the settings.
        path: of a model, or of a file that a part opens; None for the last session's model.
        sentence: to translate; None for the last session's.
        worker: answers requests to the model; None for one of its own.

    Signals:
        model_opened(ModelInfo)
        translation_shown(Translation)
        failed(Failure): a model or a file was not opened, or an experiment was refused.
    """

    model_opened = Signal(object)
    translation_shown = Signal(object)
    failed = Signal(object)

    @style_sheet_set_aside()
    def __init__(
        self,
        preferences: Preferences,
        *,
        path: Path | None = None,
        sentence: str | None = None,
        worker: InferenceWorker | None = None,
    ) -> None:
        super().__init__()
        self.preferences = preferences
        self.worker = worker or InferenceWorker(parent=self)
        self._has_painted = False
        self.state = ExperimentState(preferences.restored(MapViewSettings()))
        if (head := preferences.head) is not None:
            self.state.selection.head = head
            self.state.selection.was_chosen = True
        controller = ExperimentController(self.state, self.worker, self)
        self.analysis = AnalysisPanel(AnalysisContext(self.state, controller, preferences))
        self.translate_page = TranslatePage(controller, self.analysis, preferences)
        self.pages = PageHost(self.translate_page, self)
        self.loader = ModelLoader(self.worker, preferences, self)
        self.appearance = Appearance(self)
        self.commands = CommandRegistry(self)
        self.parts: list[WindowPart] = []
        pages = sorted(PAGES.items(), key=lambda named: named[1].order)
        titles = {
            TRANSLATE: ("Translate", "Ctrl+1"),
            **{name: (page.title, page.key) for name, page in pages},
        }
        commands = self.commands.add(
            self.pages, [page_command(name, *titles[name]) for name in titles]
        )
        self.top_bar = TopBar(self.loader, dict(zip(titles, commands, strict=True)))
        self._add_commands()
        self._lay_out()
        self._connect()
        self._make_parts(dict(pages))
        self.top_bar.menu_button.setMenu(self._make_menu())
        self.shutdown = ShutdownSequence(self)
        self.opening = Opening(self, path, sentence)

    def part(self, kind: type[PartT]) -> PartT | None:
        """The part of this class; None if its extension is missing or broken."""
        return next((part for part in self.parts if isinstance(part, kind)), None)

    def opener_of(self, path: Path) -> Callable[[], object] | None:
        """A function that opens a file with the part that shows its kind; None without one."""
        return next(
            (partial(part.open_file, path) for part in self.parts if part.opens(path)), None
        )

    def open_model(self, path: Path | None) -> None:
        """Opens a checkpoint, None for the bundled one, on the Translate page.

        The model in use stays until the new one is ready.
        """
        self.pages.show(TRANSLATE)
        self.loader.open(path)

    def try_model(self, path: Path, text: str) -> None:
        """Opens a checkpoint, then shows a sentence and nothing of the previous model."""
        self.translate_page.sentence.offered_text = text

        def show() -> None:
            model = self.state.model
            if text and model is not None and model.path == path:
                self.state.clear()
                self.state.submit(open_experiment(Experiment(text)), asks=False)

        self.state.with_next_model = show
        self.open_model(path)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Opens the first model after the window is shown, as imports take seconds."""
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
        """Opens a dropped file or folder with the part that shows its kind, else as a model."""
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.pages.show(TRANSLATE)
            (self.opener_of(paths[0]) or partial(self.open_model, paths[0]))()

    def welcome(self) -> None:
        """Greets a user who asked for neither a sentence nor a file that a part opens."""
        if not self.opening.is_requested:
            for part in self.parts:
                part.welcome()

    def _make_parts(self, pages: Mapping[str, Page]) -> None:
        """Makes the parts that extensions declare.

        One that is broken is left out and reported by name.
        """
        declared: list[tuple[str, Part]] = [*pages.items(), *PARTS.items()]
        for name, declaration in sorted(declared, key=lambda named: named[1].order):
            try:
                part = declaration.make(self)
            except Exception as error:  # whatever an extension does, the window opens
                logger.exception("The part “%s” of the window cannot be used", name)
                self.top_bar.show_notice(f"The extension “{name}” cannot be used: {error}")
                if name in self.top_bar.tabs:
                    self.top_bar.tabs[name].hide()
                continue
            self.parts.append(part)
            if isinstance(part, WindowPage):
                self.pages.parts[name] = part
        for part in self.parts:
            part.begin()
            if part.bar is not None:
                self._bars.addWidget(part.bar)

    def _add_commands(self) -> None:
        """Adds commands, in the order of palette and sheet of keys, also to the window's menu."""
        add = self.commands.add
        add(self.pages, PAGE_HOST_COMMANDS)
        add(self.state, (RESET, *HEAD_COMMANDS, *PART_COMMANDS), self.translate_page)
        add(self.translate_page.head, HEAD_PANEL_COMMANDS, self.translate_page)
        self.commands.commands.append(
            BoundCommand(NEXT_MAPS, self.state, self.translate_page)
        )  # the switch has the key
        add(self.analysis, tab_commands(self.analysis))
        add(self.loader, MODEL_COMMANDS)

    def _make_menu(self) -> QMenu:
        """Makes the menu of the window and adds its commands."""
        menu = QMenu(self)
        for part in self.parts:
            for of_part in part.menus():
                menu.addMenu(of_part)
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
        (full_screen,) = self.commands.add(self, (FULL_SCREEN,))
        entries = [entry for part in self.parts for entry in part.menu_entries()]
        (end,) = self.commands.add(self, (QUIT,))
        help_, about = (
            [entry for entry in entries if entry.command.group == group]
            for group in ("Help", "About")
        )
        views = [entry for entry in entries if entry not in (*help_, *about)]
        for group in ((*views, full_screen, *scale_commands), help_, (*about, end)):
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
        self._bars = column_of(spacing=GAP)
        pages = column_of(
            self.notices, self._bars, (self.pages.stack, 1), spacing=GAP, margins=margins
        )
        column_of(self.top_bar, (pages, 1), spacing=0, within=central)
        self.screens = PageStack()
        self.screens.addWidget(WindowScrollArea(central, CONTENT_SIZE, NARROW_CONTENT_SIZE))
        self.setCentralWidget(self.screens)
        self.resize(1440, 900)
        self.restoreGeometry(self.preferences.bytes("window"))

    def _connect(self) -> None:
        bar, page, loader = self.top_bar, self.translate_page, self.loader
        self.pages.shown.connect(bar.show_page)
        loader.file_chosen.connect(self.open_model)
        self.state.result_changed.connect(self._on_result)
        self.analysis.opened.connect(lambda: self.pages.show_analysis(self.analysis.tab_name))
        self.analysis.closed.connect(lambda: page.arrangement.show_analysis(False))
        page.sentence.chips.card.explains_words = self.analysis.explains_words
        page.sentence.chips.card.why_requested.connect(self.analysis.explain_word)
        self.analysis.focus_next = page.head
        page.open_button.clicked.connect(loader.choose_file)
        notice = page.sentence.coverage_notice
        notice.button.setMenu(bar.model_button.menu_of_bigger_models(notice))
        if not self.analysis.tabs_by_name:
            page.arrangement.withdraw_analysis()
        if name := self.analysis.missing_tab:
            bar.show_notice(
                f"There is no analysis tab “{name}” here: its extension is not installed"
            )
        page.stop_analysis, page.analysis_numbers = self.analysis.stop, self.analysis.numbers

    def _on_result(self) -> None:
        if self.state.translation is not None:
            self.translation_shown.emit(self.state.translation)


CANCEL = Command[MainWindow]("Cancel long work", MainWindow.cancel, local_keys=("Esc",))
FULL_SCREEN = Command[MainWindow](
    "Full screen",
    lambda window: window.setWindowState(window.windowState() ^ Qt.WindowState.WindowFullScreen),
    keys=("F11",),
)
QUIT = Command[MainWindow]("Quit", MainWindow.close, keys=("Ctrl+Q",))
