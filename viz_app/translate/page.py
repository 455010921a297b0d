"""The Translate page: a sentence, its translation, all heads, and one head large."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from core.analysis.sample_roles import SampleRoles
from core.translation.result import Translation
from viz_app.analysis.alignment.view import AlignmentTab
from viz_app.analysis.area import Laboratory
from viz_app.analysis.compare.view import CompareTab
from viz_app.analysis.heads.view import HeadsTab
from viz_app.analysis.source.view import SourceTab
from viz_app.analysis.steps.view import StepsTab
from viz_app.examples import copy_examples, example_sentences
from viz_app.export.menu import ExportMenu
from viz_app.preferences import Preferences
from viz_app.state.languages import language_names
from viz_app.state.measuring import MeasuredMaps
from viz_app.state.model_info import ModelInfo
from viz_app.state.switchboard import SwitchedOff
from viz_app.state.translate_state import Direction, HeadChoice, TranslateState
from viz_app.theme import GAP, Theme
from viz_app.translate.arrangement import Arrangement
from viz_app.translate.choosing import Choosing, restore_choices
from viz_app.translate.marks import Marks
from viz_app.translate.no_model_message import NoModelMessage
from viz_app.views.head import HeadPanel
from viz_app.views.heads import HeadsPanel
from viz_app.views.sentence import SentencePanel

DIRECTIONS: dict[int, Direction] = {
    Qt.Key.Key_Left: "left",
    Qt.Key.Key_Right: "right",
    Qt.Key.Key_Up: "up",
    Qt.Key.Key_Down: "down",
    Qt.Key.Key_Home: "first",
    Qt.Key.Key_End: "last",
}
OWN_ID = 0
"""Stands for an answer that is here already; the worker's ids begin at 1."""
SWITCH_KEYS = (Qt.Key.Key_O, Qt.Key.Key_Space)


class TranslatePage(QWidget):
    """Shows a `TranslateState` and turns mouse and keys into changes of it.

    Attributes:
        state: what is selected and shown.
        sentence, heads, head: the three panels.
        lab: the laboratory beside them; `lab_button` opens and closes it.
        export_menu: saves and copies what they show.
        marks: what the mouse does to them.
        message: what stands in place of the maps while there are none.

    Signals:
        translation_wanted(str, bool): the text settled, and whether the user asked outright (see `SentenceInput`); ask
            the worker, then call `await_result`.
        switching_wanted(Translation, frozenset[Head]): ask the worker what these heads, switched off, do to it, then
            call `await_switched`.
        given_wanted(str, str): ask the worker to read this pair by teacher forcing, then call `await_result`.
        trace_wanted(Translation): ask the worker for queries and keys, then call `marks.await_trace`.
        measuring_wanted(Translation): ask the worker for its maps in all measures, then call `await_measured`.
    """

    translation_wanted = Signal(str, bool)
    switching_wanted = Signal(object, object)
    measuring_wanted = Signal(object)
    given_wanted = Signal(str, str)
    trace_wanted = Signal(object)

    def __init__(self, preferences: Preferences, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self.state = TranslateState()
        restore_choices(self.state, preferences)
        self.sentence = SentencePanel(self.state, theme)
        self.heads = HeadsPanel(self.state, theme)
        self.head = HeadPanel(self.state, theme)
        self.alignment = AlignmentTab(self.state, theme)
        self.worth = HeadsTab(self.state, theme)
        others = SourceTab(self.state, theme), CompareTab(self.state, theme, preferences)
        self.lab = Laboratory((StepsTab(self.state, theme), self.alignment, self.worth, *others), preferences)
        self._arrangement = Arrangement(self.heads, self.head, self.lab, preferences)
        self.lab_button = self._arrangement.lab_button
        panels = self.sentence, self.heads, self.head
        self._choosing = Choosing(self.state, preferences, panels, self.lab, self)
        self._choosing.measuring_wanted.connect(self.measuring_wanted)
        self.marks = Marks(self.state, self.sentence, self.heads, self.head, self)
        self.marks.trace_wanted.connect(self.trace_wanted)
        self.message = NoModelMessage()
        self.export_menu = ExportMenu(self.head.export_button, self.state, self.head.map)
        self.export_menu.saving.page = self
        self._lay_out()
        self._connect()
        self.show_message("")

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        for panel in (self.sentence, self.head, self.lab):
            panel.apply_theme(theme)

    def set_model(self, info: ModelInfo) -> None:
        """Names source and target as the model's languages, and asks for the sentence that stands there."""
        self.state.begin_model(*language_names(info.run), info.roles)
        self.export_menu.saving.model = info.title
        self.sentence.set_languages(*self.state.languages)
        self.lab.begin_model(info)
        is_copy = info.run.is_copy_task
        examples = copy_examples(info.run.data.copy_symbols) if is_copy else example_sentences()
        if not self.sentence.set_examples(examples):
            self.sentence.input.settle(is_asked=False)

    def await_result(self, request_id: int) -> None:
        """The page waits for this answer alone; the earlier translation stays until it comes."""
        self.state.await_result(request_id)
        self.sentence.set_busy(True)

    def accept(self, request_id: int, translation: Translation) -> None:
        """Shows an answer, unless a newer one is awaited."""
        if not self.state.accept(request_id, translation):
            return
        self.sentence.show_result()
        self._show_maps()
        self._ask_for_effect()
        self._choosing.ask_for_measures()
        self.marks.show_products()

    def show_own(self) -> None:
        """Shows the model's own translation again, in place of a given one."""
        if self.state.own is not None:
            self.await_result(OWN_ID)
            self.accept(OWN_ID, self.state.own)

    def _on_roles_measured(self, roles: SampleRoles) -> None:
        self.state.take_roles(roles)
        self.heads.rebuild()
        self.head.rebuild()

    def _on_given_wanted(self, text: str) -> None:
        translation = self.state.translation
        if translation is not None and not self.state.is_of_earlier_model and text != translation.text:
            self.given_wanted.emit(translation.source_text, text)

    def await_measured(self, request_id: int) -> None:
        """Of all answers about measures the page waits for this one alone."""
        self.state.await_measured(request_id)

    def accept_measured(self, request_id: int, measured: MeasuredMaps) -> None:
        """Shows maps in the chosen measure, unless a newer answer is awaited."""
        if self.state.accept_measured(request_id, measured):
            self._choosing.rebuild_maps()

    def refuse_measured(self, request_id: int) -> bool:
        """Says that the chosen measure is not known; False if a newer answer is awaited."""
        if not self.state.refuse_measured(request_id):
            return False
        self._choosing.rebuild_maps()
        return True

    def await_switched(self, request_id: int) -> None:
        """Of all answers about switched-off heads the page waits for this one alone."""
        self.state.switchboard.await_effect(request_id)

    def accept_switched(self, request_id: int, effect: SwitchedOff) -> None:
        """Shows what switched-off heads do, unless a newer answer is awaited."""
        if self.state.switchboard.accept(request_id, effect):
            self.sentence.show_switches()

    def refuse_switched(self, request_id: int, message: str) -> bool:
        """Says why nothing is known; False if a newer answer is awaited."""
        if not self.state.switchboard.refuse(request_id, message):
            return False
        self.sentence.show_switches()
        return True

    def switch(self, choice: HeadChoice) -> None:
        """Switches a head off, or on again."""
        self.state.switchboard.toggle(choice)
        self._after_switching()

    def reset_switches(self) -> None:
        """Switches every head on again."""
        self.state.switchboard.reset()
        self._after_switching()

    def refuse(self, request_id: int, message: str) -> bool:
        """Says beside the sentence why it was not translated; False if a newer answer is awaited."""
        if not self.state.settle(request_id):
            return False
        if self.state.translation is None or self.state.is_of_earlier_model:
            self.show_hint()
        self.sentence.show_problem(message)
        return True

    def show_hint(self, text: str = "") -> None:
        """There is nothing to translate: drops the old translation and says what to do."""
        text = text or self._hint()
        self.state.clear()
        self.sentence.show_hint(text)
        self.lab.show_translation()
        self.show_message(text)

    def show_message(self, text: str, *, offers_models: bool = False) -> None:
        """Shows a message in place of the maps."""
        self.message.show_text(text, shows_buttons=offers_models)
        self.message.setVisible(True)
        self._arrangement.setVisible(False)

    def choose(self, choice: HeadChoice) -> None:
        """Chooses a head and draws what follows from it."""
        self._choosing.choose(choice)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A low page shows fewer lines of long sentences."""
        super().resizeEvent(event)
        self.sentence.fit(self.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows walk through heads, layers and kinds; O and space switch the head off or on; Escape unpins."""
        if event.key() == Qt.Key.Key_Escape:
            self.marks.forget()
        elif event.key() in SWITCH_KEYS and not event.modifiers() and self.state.translation is not None:
            self.switch(self.state.choice)
        elif not self.walk(DIRECTIONS.get(event.key())):
            super().keyPressEvent(event)

    def walk(self, direction: Direction | None) -> bool:
        """Takes one step to a neighbouring head; False if the key means nothing here."""
        return self._choosing.walk(direction)

    def save(self) -> None:
        """Remembers sentence, choices and splitter."""
        self._choosing.save()
        self._preferences.sentence = self.sentence.input.text
        self._arrangement.save()

    def toggle_lab(self) -> None:
        """Opens the laboratory if it is closed, and the other way round."""
        self._arrangement.toggle_lab()

    def _hint(self) -> str:
        source = self.state.languages[0]
        what = "Type numbers with spaces between" if source == "source" else f"Type a {source} sentence"
        return f"{what}, or choose an example."

    def _lay_out(self) -> None:
        self.sentence.add_button(self.lab_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addWidget(self.sentence)
        column.addWidget(self._arrangement, 1)
        column.addWidget(self.message, 1)

    def _connect(self) -> None:
        self.sentence.input.text_settled.connect(self.translation_wanted)
        self.sentence.input.left_for_heads.connect(self.heads.grid.setFocus)
        self.sentence.given_wanted.connect(self._on_given_wanted)
        self.sentence.own_wanted.connect(self.show_own)
        self.sentence.reset_button.clicked.connect(self.reset_switches)
        for tab in self.lab.tabs:
            tab.marks_changed.connect(self.head.heatmap.update)
        self.worth.switch_wanted.connect(self.switch)
        self.worth.head_chosen.connect(self.choose)
        self.worth.roles_measured.connect(self._on_roles_measured)
        self.alignment.aligner_chosen.connect(self._choosing.show_aligner)
        self.heads.grid.switched.connect(self.switch)
        self.head.switch_wanted.connect(lambda: self.switch(self.state.choice))

    def _show_maps(self) -> None:
        self._arrangement.setVisible(True)
        self.message.setVisible(False)
        self.lab.show_translation()
        self.heads.rebuild()
        self._choosing.show_choice()

    def _after_switching(self) -> None:
        self._ask_for_effect()
        self.sentence.show_switches()
        self.heads.grid.update()
        self.head.show_switch()
        self.lab.refresh()

    def _ask_for_effect(self) -> None:
        translation, off = self.state.translation, self.state.switchboard.off
        if off and translation is not None and not self.state.is_of_earlier_model:
            self.switching_wanted.emit(translation, off)
