"""The window: top bar, pages, and the way from a wish to the worker and back."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QKeySequence,
    QPaintEvent,
    QShortcut,
)
from PySide6.QtWidgets import QApplication, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from viz_app.examples import example_sentences
from viz_app.models.opening import Opening
from viz_app.preferences import Preferences
from viz_app.state.model_info import ModelInfo
from viz_app.state.translate_state import Direction
from viz_app.theme import PAGE_MARGIN, Theme, ThemeChoice, style_sheet_set_aside
from viz_app.top_bar import TopBar
from viz_app.translate.inquiry import Inquiry
from viz_app.translate.page import TranslatePage
from viz_app.widgets.dialogs import show_about
from viz_app.worker import InferenceWorker

if TYPE_CHECKING:
    from viz_app.train.page import TrainPage

TRANSLATE, TRAIN = 0, 1
CLOSE_POLL_MS = 100
ALT_DIRECTIONS: dict[str, Direction] = {"Left": "left", "Right": "right", "Up": "up", "Down": "down"}


class MainWindow(QMainWindow):
    """Owns the pages and the inference worker. Nothing heavy starts before the first paint.

    Attributes:
        translate_page: always there.
        train_page: None until its tab is first shown; matplotlib comes with it.

    Signals:
        model_opened(ModelInfo)
        translation_shown(Translation)
        failed(Failure): a model did not open, or a sentence was refused.
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
        worker: InferenceWorker | None = None,
    ) -> None:
        super().__init__()
        self._preferences = preferences
        self._is_reopening = checkpoint is None and preferences.model is not None
        self._first_checkpoint = checkpoint or preferences.model
        self._worker = worker or InferenceWorker(parent=self)
        self._has_painted = False
        self.train_page: TrainPage | None = None
        self._theme_choice: ThemeChoice = preferences.theme
        self._theme = Theme.of_choice(self._theme_choice)
        self.top_bar = TopBar(self._theme_choice)
        self.translate_page = TranslatePage(preferences, self._theme)
        self._inquiry = Inquiry(self._worker, self.translate_page, self)
        self._opening = Opening(self._worker, self.top_bar, self.translate_page, preferences, self)
        self._pages = QStackedWidget()
        self._lay_out()
        self._connect()
        self._add_shortcuts()
        self._put_first_sentence(sentence)

    @property
    def model(self) -> ModelInfo | None:
        """The model in use, or None."""
        return self._opening.model

    def open_model(self, path: Path | None) -> None:
        """Opens a checkpoint, None for the bundled one. The model in use stays until the new one is ready."""
        self._opening.open(path)

    def show_page(self, index: int) -> None:
        """Changes the page; the Train page is made when it is first wanted."""
        if index == TRAIN and self.train_page is None:
            self._make_train_page()
        self.top_bar.show_page(index)
        self._pages.setCurrentIndex(index)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The window is on the screen: now the model may be opened, which takes seconds of imports."""
        super().paintEvent(event)
        if not self._has_painted:
            self._has_painted = True
            QTimer.singleShot(0, self, self._open_first_model)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ends the threads. A training is told to stop and to keep what it learned; the window waits for it."""
        if self._is_training():
            self._stop_training_then_close()
            event.ignore()
            return
        self.translate_page.sentence.input.cancel()
        self.translate_page.save()
        self._preferences.set_bytes("window", self.saveGeometry())
        self._preferences.settings.sync()
        self.hide()
        if self.train_page is not None:
            self.train_page.shutdown()
        self._worker.close()
        super().closeEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files may be dropped."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """A dropped file is opened as a checkpoint."""
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.show_page(TRANSLATE)
            self.open_model(paths[0])

    def set_theme(self, choice: ThemeChoice) -> None:
        """Light, dark, or as the system has it."""
        self._theme_choice = self._preferences.theme = choice
        self._apply_theme()

    def _apply_theme(self) -> None:
        self._theme = Theme.of_choice(self._theme_choice)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self._theme.apply(app)
        self.translate_page.apply_theme(self._theme)
        if self.train_page is not None:
            self.train_page.apply_theme(self._theme)

    def _lay_out(self) -> None:
        self.setWindowTitle("Augenmerk")
        self.setAcceptDrops(True)
        self.setMinimumSize(960, 620)
        self._pages.addWidget(self.translate_page)
        central = QWidget()
        column = QVBoxLayout(central)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.top_bar)
        pages = QVBoxLayout()
        pages.setContentsMargins(PAGE_MARGIN, 0, PAGE_MARGIN, PAGE_MARGIN - 4)
        pages.addWidget(self._pages)
        column.addLayout(pages, 1)
        self.setCentralWidget(central)
        self.resize(1440, 900)
        self.restoreGeometry(self._preferences.bytes("window"))

    def _connect(self) -> None:
        bar, page, opening = self.top_bar, self.translate_page, self._opening
        opening.opened.connect(self.model_opened)
        opening.failed.connect(self.failed)
        opening.last_is_gone.connect(self._open_bundled_instead)
        opening.chosen.connect(self._open_on_translate_page)
        self._inquiry.translation_shown.connect(self.translation_shown)
        self._inquiry.failed.connect(self.failed)
        page.translation_wanted.connect(self._on_translation_wanted)
        page.message.open_wanted.connect(self._opening.ask)
        page.message.train_wanted.connect(lambda: self.show_page(TRAIN))
        page.head.export_menu.done.connect(bar.show_notice)
        bar.offer_export(page.head.export_menu)
        bar.page_chosen.connect(self.show_page)
        bar.open_wanted.connect(self._opening.ask)
        bar.bundled_wanted.connect(lambda: self._open_on_translate_page(None))
        bar.recent_wanted.connect(self._open_on_translate_page)
        bar.theme_chosen.connect(self.set_theme)
        bar.about_wanted.connect(lambda: show_about(self))
        bar.quit_wanted.connect(self.close)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_system_colors_changed)

    def _add_shortcuts(self) -> None:
        def add(keys: QKeySequence.StandardKey | str, act: Callable[[], object]) -> None:
            QShortcut(QKeySequence(keys), self).activated.connect(act)

        add(QKeySequence.StandardKey.Open, self._opening.ask)
        add("Ctrl+Q", self.close)
        add("Ctrl+1", lambda: self.show_page(TRANSLATE))
        add("Ctrl+2", lambda: self.show_page(TRAIN))
        add("Ctrl+3", self._toggle_lab)
        add("Ctrl+L", self._focus_sentence)
        for key, direction in ALT_DIRECTIONS.items():
            add(f"Alt+{key}", partial(self.translate_page.walk, direction))

    def _put_first_sentence(self, sentence: str | None) -> None:
        examples = example_sentences()
        field = self.translate_page.sentence.input
        if sentence is None and self._is_last_model(self._first_checkpoint):
            sentence = (
                self._preferences.sentence or None
            )  # typed for this model: another may not even know its language
        text = sentence if sentence is not None else examples[0] if examples else ""
        field.setPlainText(text)
        field.moveCursor(field.textCursor().MoveOperation.End)
        field.cancel()
        field.setFocus()

    def _is_last_model(self, path: Path | None) -> bool:
        return (path.absolute() if path is not None else None) == self._preferences.model

    def _open_first_model(self) -> None:
        (self._opening.reopen if self._is_reopening else self._opening.open)(self._first_checkpoint)

    def _open_bundled_instead(self) -> None:
        """The model of the last time cannot be opened again: its sentence, if untouched, goes with it."""
        is_untouched = self.translate_page.sentence.input.text == self._preferences.sentence
        self._first_checkpoint = None
        if is_untouched:
            self._put_first_sentence(None)
        self.open_model(None)

    def _toggle_lab(self) -> None:
        self.show_page(TRANSLATE)
        self.translate_page.toggle_lab()

    def _focus_sentence(self) -> None:
        self.show_page(TRANSLATE)
        field = self.translate_page.sentence.input
        field.setFocus()
        field.selectAll()

    def _open_on_translate_page(self, path: Path | None) -> None:
        self.show_page(TRANSLATE)
        self.open_model(path)

    def _on_translation_wanted(self, text: str, is_asked: bool) -> None:
        if self.model is None:
            return  # the sentence is asked for again when a model has been opened
        if not text.strip() and not is_asked:
            self.translate_page.show_hint(
                f"Type a {self.translate_page.state.languages[0]} sentence, or choose an example."
            )
            return
        self._inquiry.translate(text, is_asked=is_asked)

    def _make_train_page(self) -> None:
        from viz_app.train.page import TrainPage  # matplotlib comes with it

        page = TrainPage(self._theme, self._preferences.settings)
        page.modelReady.connect(self._open_on_translate_page)
        page.statusChanged.connect(self.top_bar.show_status)
        self._pages.addWidget(page)
        self.train_page = page

    def _is_training(self) -> bool:
        return self.train_page is not None and self.train_page.is_running()

    def _stop_training_then_close(self) -> None:
        assert self.train_page is not None
        self.train_page.request_stop()
        self.top_bar.show_status("stopping the training, keeping what was learned …")
        QTimer.singleShot(CLOSE_POLL_MS, self, self.close)

    def _on_system_colors_changed(self) -> None:
        if self._theme_choice == "system":
            self._apply_theme()
