"""The Translate page: a sentence, its translation, all heads, one head large, and the analysis
tabs.
"""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QPushButton, QSplitter, QWidget

from ..preferences import Preferences
from ..state.experiment_editor import edit_text, open_experiment
from ..state.map_view_settings import MapViewSettings
from ..state.number_table import NumberTable
from ..theme import GAP, current_theme, scaled
from ..views.all_heads_panel import AllHeadsPanel
from ..views.commands import HEAD_COMMANDS, MAPS, TOGGLE_ANALYSIS
from ..views.export_source import ExportSource
from ..views.large_map_panel import HeadPanel
from ..views.sentence import SentencePanel, typing_hint
from ..widgets.buttons import flat_button
from ..widgets.commands import BoundCommand, Command, run_by_key
from ..widgets.dialogs import show_failure
from ..widgets.labels import EmptyState
from ..widgets.layouts import column_of, set_visible
from ..worker.inference import ExperimentController, Failure

OVERLAY_OPACITY = 0.6
TRANSLATING = "Translating…\nYou can type another sentence meanwhile."
TYPING = "The translation follows when you pause."


class TranslatePage(QWidget):
    """Shows one `ExperimentState`; its parts subscribe to their contents.

    Attributes:
        controller: computes the experiment.
        state: the experiment, and the settings of its maps.
        sentence: the sentence and its translation.
        heads: all heads.
        head: the chosen head.
        analysis: the tabs next to them; `analysis_button` opens and closes them.
        arrangement: the maps and the tabs; opens and closes the tabs.
        message: replaces the maps while there are none; `model_buttons` offer a model there, the
            first by opening one, and `cancel_button` cancels the first translation.
        analysis_numbers: returns the numbers of the visible analysis tab; None if there are none.
        stop_analysis: cancels the work of the visible analysis tab; returns whether there was any.
        own_settings: the user's map settings, which scenes of a lesson do not change.
        key_commands: those of extensions that come before the commands on heads with the same keys,
            and return whether there was something to do.

    Signals:
        failed(Failure): an experiment was refused.
    """

    failed = Signal(object)

    def __init__(
        self, controller: ExperimentController, analysis: QWidget, preferences: Preferences
    ) -> None:
        super().__init__()
        self._preferences = preferences
        self.controller, self.analysis = controller, analysis
        self.state = controller.state
        self.sentence = SentencePanel(self.state)
        self.sentence.controller = controller
        self.heads = AllHeadsPanel(self.state)
        self.head = HeadPanel(self.state)
        self.arrangement = Arrangement(self.heads, self.head, self.analysis, preferences)
        self.analysis_button = self.arrangement.analysis_button
        self.message = EmptyState()
        self.message.setProperty("role", "panel")
        self.open_button = self.message.add_button("Open model…", is_primary=True)
        self.model_buttons = [self.open_button]
        self.cancel_button = self.message.add_button("Cancel")
        self.key_commands: list[BoundCommand] = []
        self.stop_analysis: Callable[[], bool] = lambda: False
        self.analysis_numbers: Callable[[], NumberTable | None] = lambda: None
        self.own_settings: Callable[[], MapViewSettings] = lambda: self.state.settings
        self._lay_out()
        sentence = self.sentence
        of_the_result = (sentence.sentence, sentence.original_line, sentence.chips_area)
        self._overlays = [
            DimmingOverlay(part) for part in (*of_the_result, self.heads, self.head, self.analysis)
        ]
        self._connect()
        self.show_message("")

    def show_above(self, bar: QWidget) -> None:
        """Puts a bar above the sentence."""
        self._column.insertWidget(0, bar)

    def add_model_button(self, text: str) -> QPushButton:
        """Offers another way to a model where there is none."""
        button = self.message.add_button(text)
        button.setVisible(not self.open_button.isHidden())
        self.model_buttons.append(button)
        return button

    def begin(self, text: str, *, is_requested: bool = False) -> None:
        """Shows a first sentence, which is translated once a model is open.

        Args:
            text: the sentence.
            is_requested: it was given on the command line, so no example takes its place.
        """
        self.sentence.input.show_text(text)
        if is_requested:
            self.sentence.requested_text = self.sentence.input.text
        self.state.prepare_text(self.sentence.input.text)

    def ask_new_model(self) -> None:
        """Requests the experiment, or the sentence just typed, from the model in use."""
        if not self.sentence.input.is_committed:
            self.sentence.input.commit(is_asked=False)
        elif self.state.experiment.source_text.strip():
            self.state.ask_again()
        else:
            self._show_hint()

    def show_message(
        self, text: str, *, offers_models: bool = False, offers_cancel: bool = False
    ) -> None:
        """Shows a message in place of the maps, perhaps with buttons that open or train a model, or
        cancel.
        """
        for button in self.model_buttons:
            button.setVisible(offers_models)
        self.cancel_button.setVisible(offers_cancel)
        self.message.show_text(text, shows_buttons=offers_models or offers_cancel)
        self.message.setVisible(True)
        set_visible(self.arrangement, False, focus_to=self.sentence.input)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shows fewer lines of the sentences on a small page."""
        super().resizeEvent(event)
        self.sentence.fit(self.width(), self.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        of_heads = (command.on(self.state) for command in HEAD_COMMANDS)
        if not run_by_key(event, (CANCEL_OR_UNPIN.on(self), *self.key_commands, *of_heads)):
            super().keyPressEvent(event)

    def cancel_or_unpin(self) -> None:
        """Cancels a translation or an analysis that takes long; else unpins."""
        if not (self.sentence.cancel() or self.stop_analysis()):
            self.state.selection.pointer = None
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
        self.arrangement.save()

    def export_source(self) -> ExportSource:
        """The maps of this page; see `viz_app.views.export_source.Exportable`."""
        model = self.state.shown.model
        name = model.title if model is not None else ""
        return ExportSource(self, self.state, self.head.map, name, table=self.analysis_numbers())

    def _lay_out(self) -> None:
        self.sentence.rows.add_button(self.analysis_button)
        self._column = column_of(
            self.sentence, (self.arrangement, 1), (self.message, 1), spacing=GAP, within=self
        )

    def _connect(self) -> None:
        state = self.state
        field = self.sentence.input
        field.text_committed.connect(self._on_text)
        self.sentence.escape_pressed.connect(self.heads.grid.setFocus)
        self.sentence.refusal_changed.connect(self._show_whether_outdated)
        self.cancel_button.clicked.connect(state.cancel)
        state.request.changed.connect(self._say_translating)
        field.textChanged.connect(self._say_translating)
        state.experiment_cancelled.connect(self._on_cancelled)
        state.result_changed.connect(self._show_result)
        state.model_changed.connect(self._show_whether_outdated)
        self.controller.failed.connect(self._on_failed)

    def _on_text(self, text: str, is_asked: bool) -> None:
        """Requests the text; `is_asked`: explicitly, so that an unchanged text is translated
        again.
        """
        if self.state.model is None:
            self.state.prepare_text(text)  # requested once a model is open
        elif not text.strip():
            self.state.report("")  # about the previous sentence
            self._show_hint()
        elif is_asked and text == self.state.experiment.source_text:
            self.state.ask_again()
        else:
            self.state.submit(edit_text(text))

    def _show_result(self) -> None:
        self._show_whether_outdated()
        has_result = self.state.result is not None
        if self.state.withheld is not None and not has_result:
            self._say_hint()
        set_visible(self.arrangement, has_result, focus_to=self.sentence.input)
        set_visible(self.message, not has_result, focus_to=self.sentence.input)

    def _show_whether_outdated(self) -> None:
        for overlay in self._overlays:
            overlay.cover(self.state.shown.is_outdated or self.sentence.is_refused)

    def _on_failed(self, failure: Failure) -> None:
        """Reports a failure once: in place of the maps, or in the note next to maps that stay."""
        if (
            self.state.result is None and not self.state.request.is_running
        ):  # else the plain sentence is requested instead
            self._show_hint("" if failure.details else failure.message)
        if failure.details:
            show_failure(self.window(), "The sentence was not translated", failure)
        self.failed.emit(failure)

    def _say_translating(self) -> None:
        """Replaces the hint to type a sentence while one is typed or translated."""
        if self.state.result is not None:
            return
        field = self.sentence.input
        if self.state.request.is_running:
            self.show_message(TRANSLATING, offers_cancel=True)
        elif self.state.model is not None and field.text.strip() and not field.is_committed:
            self.show_message(TYPING)

    def _on_cancelled(self) -> None:
        if self.state.result is None:
            self._show_hint(self.state.request.problem)

    def _show_hint(self, problem: str = "") -> None:
        """Drops the old translation when there is no new one, and shows what to do."""
        self.state.clear()
        self._say_hint(problem)

    def _say_hint(self, problem: str = "") -> None:
        """Shows what to do in place of the maps."""
        way = self.sentence.other_way()
        if problem:
            self.show_message(f"{problem} Or {way}." if way else problem)
        else:
            hint = typing_hint(self.state)
            self.show_message(f"{hint}, or {way}." if way else f"{hint}.")


CANCEL_OR_UNPIN = Command[TranslatePage](
    "Cancel or unpin",
    TranslatePage.cancel_or_unpin,
    local_keys=("Esc",),
    group=MAPS,
)


class DimmingOverlay(QWidget):
    """Covers its parent and takes its mouse events while it is shown."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._covered = parent
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        parent.installEventFilter(self)
        self.hide()

    def cover(self, is_wanted: bool) -> None:
        """Covers the parent, or uncovers it."""
        self.setGeometry(self._covered.rect())
        self.setVisible(is_wanted)
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self._covered:
            self.setGeometry(self._covered.rect())
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(event.rect(), current_theme().color("background", OVERLAY_OPACITY))


ANALYSIS_SHARE = 1 / 3
"""The share of a wide page that the tabs take until the user chooses another width."""
NARROW = 1240
"""Pixels below which thumbnails, large map and tabs do not fit side by side."""
STACKED = 880
"""Pixels below which all parts are in one column: the large map, then all heads or the tabs."""
HEIGHTS_STACKED = 340, 240, 420
"""The least of the large map, all heads, and the tabs."""
ANALYSIS_TIP = TOGGLE_ANALYSIS.tip_with_keys(
    "Analysis tabs next to the maps. A narrow window shows either them or all heads as thumbnails"
)


class Arrangement(QSplitter):
    """The maps at the left, the analysis tabs at the right; both can be made wider with the mouse.

    Attributes:
        maps: all heads, and one head large.
        analysis: the tabs.
        analysis_button: opens and closes them.
    """

    def __init__(
        self, heads: QWidget, head: QWidget, analysis: QWidget, preferences: Preferences
    ) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._preferences = preferences
        self._heads, self._head = heads, head
        self._sizes_beside: tuple[list[int], list[int]] = ([], [])
        self._has_analysis = True
        self.analysis = analysis
        self.analysis_button = flat_button("", ANALYSIS_TIP)
        self.maps = QSplitter(Qt.Orientation.Horizontal)
        self.maps.addWidget(heads)
        self.maps.addWidget(head)
        self.maps.setHandleWidth(GAP)
        self.maps.setChildrenCollapsible(False)
        self.maps.setSizes([560, 840])
        self.maps.setStretchFactor(0, 2)
        self.maps.setStretchFactor(1, 3)
        self.maps.restoreState(preferences.bytes("translate_splitter"))
        for index, widget in enumerate((self.maps, analysis)):
            self.addWidget(widget)
            self.setStretchFactor(index, 1 - index)
            self.setCollapsible(index, False)
        self.setHandleWidth(GAP)
        self.setSizes([1000, analysis.sizeHint().width()])
        self._has_own_width = self.restoreState(preferences.bytes("lab_splitter"))
        self.splitterMoved.connect(self._on_moved)
        self.show_analysis(preferences.is_analysis_open)
        self.analysis_button.clicked.connect(self.toggle_analysis)

    def withdraw_analysis(self) -> None:
        """Hides the tabs and their buttons for good; what the user chose stays remembered."""
        self._has_analysis = False
        self.analysis.setVisible(False)
        self.analysis_button.setVisible(False)
        self._fit()

    def show_analysis(self, is_shown: bool) -> None:
        """Opens or closes the analysis tabs, and remembers it."""
        if not self._has_analysis:
            return
        self._preferences.is_analysis_open = is_shown
        self.analysis.setVisible(is_shown)
        self.analysis_button.setText("Analysis ▾" if is_shown else "Analysis ▸")
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrow page has no room for thumbnails next to the tabs, a very narrow one for anything
        next to the map.
        """
        super().resizeEvent(event)
        self._stack(self.width() < scaled(STACKED))
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._keep_heights()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._keep_heights()

    def _keep_heights(self) -> None:
        for part, height in zip(
            (self._head, self._heads, self.analysis), HEIGHTS_STACKED, strict=True
        ):
            part.setMinimumHeight(scaled(height) if self.is_stacked and self.isVisible() else 0)

    @property
    def is_stacked(self) -> bool:
        """Whether all parts are in one column."""
        # a restored state has its own direction, not its order
        return self.maps.indexOf(self._head) == 0

    def _stack(self, is_stacked: bool) -> None:
        if is_stacked == self.is_stacked:
            self._keep_heights()  # perhaps at another scale
            return
        if is_stacked:
            self._sizes_beside = self.maps.sizes(), self.sizes()
        orientation = Qt.Orientation.Vertical if is_stacked else Qt.Orientation.Horizontal
        self.maps.insertWidget(0, self._head if is_stacked else self._heads)
        for splitter in (self, self.maps):
            splitter.setOrientation(orientation)
        self._keep_heights()
        if is_stacked:
            self.maps.setSizes(list(HEIGHTS_STACKED[:2]))
            self.setSizes([HEIGHTS_STACKED[0], HEIGHTS_STACKED[2]])
        else:
            self.maps.setSizes(self._sizes_beside[0])
            self.setSizes(self._sizes_beside[1])

    def _fit(self) -> None:
        """On a narrow page the tabs replace the thumbnails: the large map and the texts keep their
        room.
        """
        has_room = self.analysis.isHidden() or self.width() >= scaled(NARROW)
        set_visible(self._heads, has_room, focus_to=self._head)
        if not (self._has_own_width or self.is_stacked or self.analysis.isHidden()):
            width = max(self.analysis.sizeHint().width(), round(self.width() * ANALYSIS_SHARE))
            self.setSizes([self.width() - width - self.handleWidth(), width])

    def _on_moved(self) -> None:
        self._has_own_width = self._has_own_width or not self.is_stacked

    def toggle_analysis(self) -> None:
        """Opens the analysis tabs if they are closed, and the other way round."""
        self.show_analysis(self.analysis.isHidden())

    def save(self) -> None:
        """Remembers the sizes; not those of a window so narrow that everything is stacked."""
        if self.is_stacked:
            return
        self._preferences.set_bytes("translate_splitter", self.maps.saveState())
        if self._has_own_width and not self.analysis.isHidden():
            self._preferences.set_bytes("lab_splitter", self.saveState())
