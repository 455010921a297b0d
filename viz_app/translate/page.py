"""The Translate page: a sentence, its translation, all heads, one head large, and the analysis tabs."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from augenmerk.viz_app.export.exportable import ExportSource
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_editor import edit_text, open_experiment
from augenmerk.viz_app.state.experiment_state import Stale
from augenmerk.viz_app.state.map_view_settings import MapViewSettings
from augenmerk.viz_app.theme import GAP, current_theme
from augenmerk.viz_app.translate.arrangement import Arrangement
from augenmerk.viz_app.translate.no_model_message import NoModelMessage
from augenmerk.viz_app.views.commands import HEAD_COMMANDS, MAPS, SCENE_COMMANDS
from augenmerk.viz_app.views.head import HeadPanel
from augenmerk.viz_app.views.heads import HeadsPanel
from augenmerk.viz_app.views.sentence import SentencePanel, typing_hint
from augenmerk.viz_app.widgets.commands import Command, run_by_key
from augenmerk.viz_app.widgets.dialogs import show_failure
from augenmerk.viz_app.widgets.layouts import column_of
from augenmerk.viz_app.widgets.parts import set_visible
from augenmerk.viz_app.worker import ExperimentController, Failure

VEIL_OPACITY = 0.6


class TranslatePage(QWidget):
    """Shows one `ExperimentState`; its parts subscribe to what they draw.

    Attributes:
        controller: computes the experiment.
        state: the experiment, and how it is shown.
        sentence, heads, head: the three panels.
        analysis: the tabs beside them; `analysis_button` opens and closes them, `thumbnails_button` brings back the
            heads whose place they took.
        message: what stands in place of the maps while there are none.
        stop_analysis: ends what the analysis tab in sight waits for, and says whether there was anything.
        own_settings: how the user wants maps to be shown; while a lesson shows its scenes, not how these are.
        step_scene: shows the scene before (-1) or after (1) of a lesson, and says whether one is shown; ← and → walk
            through heads otherwise.

    Signals:
        failed(Failure): an experiment was refused.
    """

    failed = Signal(object)

    def __init__(
        self,
        controller: ExperimentController,
        analysis: QWidget,
        preferences: Preferences,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self.controller, self.analysis = controller, analysis
        self.state = controller.state
        self.sentence = SentencePanel(self.state)
        self.heads = HeadsPanel(self.state)
        self.head = HeadPanel(self.state, self.controller)
        self._arrangement = Arrangement(self.heads, self.head, self.analysis, preferences)
        self.analysis_button = self._arrangement.analysis_button
        self.thumbnails_button = self._arrangement.thumbnails_button
        self.message = NoModelMessage()
        self.step_scene: Callable[[int], bool] = lambda by: False
        self.stop_analysis: Callable[[], bool] = lambda: False
        self.own_settings: Callable[[], MapViewSettings] = lambda: self.state.settings
        self._lay_out()
        sentence = self.sentence
        of_the_result = (sentence.sentence, sentence.original_line, sentence.chips_area)
        self._veils = [Veil(part) for part in (*of_the_result, self.heads, self.head, self.analysis)]
        self._connect()
        self.show_message("")

    def show_above(self, bar: QWidget) -> None:
        """Puts a bar above the sentence."""
        self._column.insertWidget(0, bar)

    def begin(self, text: str, *, is_requested: bool = False) -> None:
        """The sentence that stands there when the window opens; it is translated once a model is open.

        Args:
            text: the sentence.
            is_requested: it was given on the command line, so no example takes its place.
        """
        self.sentence.input.show_text(text)
        if is_requested:
            self.sentence.examples.requested_text = self.sentence.input.text
        self.state.prepare_text(self.sentence.input.text)

    def ask_new_model(self) -> None:
        """Asks the model that is in use now for the experiment, or for the sentence that was just typed."""
        if not self.sentence.input.is_committed:
            self.sentence.input.commit(is_asked=False)
        elif self.state.experiment.source_text.strip():
            self.state.ask_again()
        else:
            self._show_hint()

    def show_message(self, text: str, *, offers_models: bool = False, offers_cancel: bool = False) -> None:
        """Shows a message in place of the maps."""
        self.message.show_message(text, offers_models=offers_models, offers_cancel=offers_cancel)
        self.message.setVisible(True)
        set_visible(self._arrangement, False, focus_to=self.sentence.input)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A small page shows fewer lines of the sentences."""
        super().resizeEvent(event)
        self.sentence.fit(self.width(), self.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Does the command of the page that has this key."""
        of_page = (command.on(self) for command in (CANCEL_OR_UNPIN, *SCENE_COMMANDS))
        if not run_by_key(event, (*of_page, *(command.on(self.state) for command in HEAD_COMMANDS))):
            super().keyPressEvent(event)

    def cancel_or_unpin(self) -> None:
        """Cancels a translation or an analysis that takes long; else unpins what is pinned."""
        if not (self.sentence.cancel() or self.stop_analysis()):
            self.state.selection.clear_marks()

    def save(self) -> None:
        """Remembers choices and splitters: once, when the window closes."""
        field = self.sentence.input
        if not field.is_committed:
            field.cancel()
            self.state.submit(open_experiment(self.state.experiment.edited(field.text)), asks=False)
        self._preferences.save(self.own_settings())
        if self.state.selection.was_chosen:
            self._preferences.head = self.state.selection.head
        self._arrangement.save()

    def export_source(self) -> ExportSource:
        """The maps of this page; see `viz_app.export.exportable.Exportable`."""
        model = self.state.shown.model
        return ExportSource(self, self.state, self.head.map, model.title if model is not None else "")

    def hide_analysis(self) -> None:
        """Closes the analysis tabs."""
        self._arrangement.show_analysis(False)

    def toggle_analysis(self) -> None:
        """Opens the analysis tabs if they are closed, and the other way round."""
        self._arrangement.toggle_analysis()

    def _lay_out(self) -> None:
        self.sentence.rows.add_button(self._arrangement.buttons)
        self._column = column_of(self.sentence, (self._arrangement, 1), (self.message, 1), spacing=GAP, within=self)

    def _connect(self) -> None:
        state, field = self.state, self.sentence.input
        field.text_committed.connect(self._on_text)
        self.sentence.escape_pressed.connect(self.heads.grid.setFocus)
        self.message.cancel_requested.connect(state.cancel)
        state.experiment_cancelled.connect(self._on_cancelled)
        state.result_changed.connect(self._show_result)
        state.model_changed.connect(self._show_whether_outdated)
        self.controller.failed.connect(self._on_failed)

    def _on_text(self, text: str, is_asked: bool) -> None:
        """The text settled; `is_asked` if the user asked outright."""
        if self.state.model is None:
            self.state.prepare_text(text)  # it is asked for when a model has been opened
        elif not text.strip():
            self._show_hint()
        elif is_asked and text == self.state.experiment.source_text:
            self.state.ask_again()
        else:
            self.state.submit(edit_text(text))

    def _show_result(self) -> None:
        self._show_whether_outdated()
        has_result = self.state.result is not None
        set_visible(self._arrangement, has_result, focus_to=self.sentence.input)
        set_visible(self.message, not has_result, focus_to=self.sentence.input)

    def _show_whether_outdated(self) -> None:
        for veil in self._veils:
            veil.cover(isinstance(self.state.shown, Stale))

    def _on_failed(self, failure: Failure) -> None:
        """Says once why there is no answer: in place of the maps, or in the note beside those that stay."""
        if (
            self.state.result is None and not self.state.request.is_running
        ):  # else the plain sentence is asked for instead
            self._show_hint("" if failure.details else failure.message)
        if failure.details:
            show_failure(self.window(), "The sentence was not translated", failure)
        self.failed.emit(failure)

    def _on_cancelled(self) -> None:
        if self.state.result is None:
            self._show_hint(self.state.request.problem)

    def _show_hint(self, problem: str = "") -> None:
        """There is nothing to translate, or it cannot be: drops the old translation and says what to do."""
        ending = ", or choose an example." if self.sentence.examples.isEnabled() else "."
        hint = f"{typing_hint(self.state)}{ending}"
        self.state.clear()
        self.sentence.sentence.setPlaceholderText("" if problem else hint)
        self.show_message(
            f"{problem}{' Or choose an example.' if self.sentence.examples.isEnabled() else ''}" if problem else hint
        )


CANCEL_OR_UNPIN = Command[TranslatePage](
    "Cancel or unpin",
    TranslatePage.cancel_or_unpin,
    local_keys=("Esc",),
    group=MAPS,
)


class Veil(QWidget):
    """Covers its parent and takes its mouse events while it is shown."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._covered = parent
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        parent.installEventFilter(self)
        self.hide()

    def cover(self, is_wanted: bool) -> None:
        """Lies over the parent, or not."""
        self.setGeometry(self._covered.rect())
        self.setVisible(is_wanted)
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follows the size of the parent."""
        if event.type() == QEvent.Type.Resize and watched is self._covered:
            self.setGeometry(self._covered.rect())
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        """Washes the colours out."""
        QPainter(self).fillRect(event.rect(), current_theme().color("background", VEIL_OPACITY))
