"""The sentence, its translation, and what there is to say about them."""

from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QToolButton, QVBoxLayout, QWidget

from core.durations import duration
from core.translation.result import Translation
from viz_app.examples import example_sentences
from viz_app.state.spans import ignored_span, unknown_spans, word_spans
from viz_app.state.translate_state import TranslateState
from viz_app.theme import PANEL_MARGIN, Theme
from viz_app.views.chips import WordChips
from viz_app.views.chips_area import ChipsArea
from viz_app.views.sentence_input import SentenceInput
from viz_app.views.switch_line import SwitchLine
from viz_app.views.target_line import TargetLine
from viz_app.widgets.eliding_label import ElidingLabel
from viz_app.widgets.parts import flat_button, label, labelled_row

BUSY_DELAY_MS = 250
LONG_TEXT = 150
LOW_PAGE = 820
EDIT_TIP = "Write a translation of your own (or double-click it): the maps are then those of that pair"
BUSY = "translating …\n"  # two lines, as the facts have, so that nothing jumps


class SentencePanel(QFrame):
    """Source, translation, word chips, and what there is to say about them.

    Attributes:
        input: the sentence to translate.
        sentence: the translation as a sentence; `edit_button` lets another one be written in its place.
        own_line, own_button: the model's own translation while another one is given, and the way back to it.
        chips: its words.
        note: what happened to the text: unknown words, an end left out, a refusal.
        facts: log-probability and time.
        switch_line: what became of the translation with heads switched off.
        reset_button: switches every head on again.
        examples: the button that holds the example sentences.

    Signals:
        given_wanted(str): a translation was written; the maps are to be those of it.
        own_wanted(): the model's own translation is to be shown again.
    """

    given_wanted = Signal(str)
    own_wanted = Signal()

    def __init__(self, state: TranslateState, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._state = state
        self.input = SentenceInput(theme)
        self.sentence = TargetLine(theme)
        self.sentence.edit_wanted.connect(self.start_editing)
        self.sentence.left_for_heads.connect(self.stop_editing)
        self.sentence.text_settled.connect(self._on_target_settled)
        self.chips = WordChips(state, theme)
        self.chips_area = ChipsArea(self.chips)
        self.switch_line = SwitchLine(state.switchboard, theme)
        self.reset_button = flat_button("reset heads", "Switch every head on again")
        policy = self.reset_button.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # heads must not move from under the mouse that switches them
        self.reset_button.setSizePolicy(policy)
        self.note = label("warm", wraps=True)
        self.facts = label("small")
        self.facts.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.facts.setContentsMargins(0, 8, 7, 0)
        self._examples: tuple[str, ...] = ()
        self.examples = flat_button("examples ▾", "Choose an example")
        self.examples.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.set_examples(example_sentences())
        self.copy_button = flat_button("copy", "Copy the translation")
        self.copy_button.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.sentence.text))
        self.edit_button = flat_button("✎ edit", EDIT_TIP)
        self.edit_button.clicked.connect(self._on_edit_clicked)
        self.own_line = ElidingLabel("small")
        self.own_button = flat_button("back to the model's own", "Show the model's own translation again")
        self.own_button.clicked.connect(self.own_wanted)
        self._busy_timer = QTimer(self)
        self._busy_timer.setSingleShot(True)
        self._busy_timer.setInterval(BUSY_DELAY_MS)
        self._busy_timer.timeout.connect(lambda: self.facts.setText(BUSY))
        self._is_dense = False
        self._known_facts = ""
        self._has_problem = False
        self._source_name, self._target_name = label("muted"), label("muted")
        self._no_name, self._no_switch_name, self._no_own_name = QWidget(), QWidget(), QWidget()
        self.set_languages(*state.languages)
        self._lay_out()
        self.show_hint("")

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        self.input.apply_theme(theme)
        self.sentence.apply_theme(theme)
        self.chips.apply_theme(theme)
        self.chips_area.fit()
        self.switch_line.apply_theme(theme)

    def set_languages(self, source: str, target: str) -> None:
        """Names the two sides."""
        self._source_name.setText(source.capitalize())
        self._target_name.setText(target.capitalize())
        width = max(name.sizeHint().width() for name in (self._source_name, self._target_name))
        for name in (self._source_name, self._target_name, self._no_name, self._no_switch_name, self._no_own_name):
            name.setFixedWidth(width)
        self.input.setPlaceholderText(f"Type a {source} sentence" if source != "source" else "Type numbers with spaces")

    def set_busy(self, is_busy: bool) -> None:
        """Says so if an answer takes longer than a moment. What was said about a refused text no longer counts then."""
        if is_busy:
            self._busy_timer.start()
            if self._has_problem:
                self._say("")
        else:
            self._busy_timer.stop()

    def show_result(self) -> None:
        """Shows the state's translation, its notes, and its marks in the input if the text is still the same."""
        translation = self._state.translation
        assert translation is not None
        self.set_busy(False)
        self._adapt_density(max(len(translation.text), len(self.input.text)))
        self._show_target(translation)
        self._known_facts = _facts(translation, self._state.own)
        self.facts.setText(self._known_facts)
        self._say("\n".join(translation.notes))
        self.copy_button.setVisible(True)
        self.edit_button.setVisible(True)
        if self.input.text == translation.source_text:
            self.input.mark(unknown_spans(translation), ignored_span(translation))
        self.chips_area.setVisible(bool(translation.target_words))
        self.chips.rebuild()
        self.chips_area.fit()
        self.show_picks()
        self.show_switches()

    def start_editing(self) -> None:
        """The translation can be written over."""
        if self._state.translation is not None:
            self.sentence.set_editable(True)
            self.sentence.setFocus()
            self.edit_button.setText("✓ done")
            self.edit_button.setToolTip("Leave it as it is (Esc)")

    def stop_editing(self) -> None:
        """The translation is only read again; one that was given stays, one that was refused goes."""
        self.sentence.set_editable(False)
        self.edit_button.setText("✎ edit")
        self.edit_button.setToolTip(EDIT_TIP)
        if self._state.translation is not None:
            self.sentence.show_text(self._state.translation.text)

    def _on_edit_clicked(self) -> None:
        if self.sentence.is_editable:
            self.stop_editing()
        else:
            self.start_editing()

    def _on_target_settled(self, text: str, _is_asked: bool) -> None:
        if self.sentence.is_editable and self._state.translation is not None:
            self.given_wanted.emit(text)

    def _show_target(self, translation: Translation) -> None:
        """The translation; what someone is just writing is left to them."""
        own = self._state.own
        if not translation.is_given or not self.sentence.is_editable:
            self.stop_editing()
        for widget in (self.own_line, self.own_button):
            widget.setVisible(translation.is_given and own is not None)
        if own is not None:
            self.own_line.setText(f"Given by you. The model's own: {own.text}")

    def show_picks(self) -> None:
        """Rows were picked or let go: the words they look at are shaded."""
        translation = self._state.translation
        shares = self._state.key_shares("source")
        if translation is not None and self.input.text == translation.source_text:
            spans = word_spans(translation)
            self.input.shade({spans[word]: share for word, share in shares.items() if word in spans and share > 0})
        self.chips.update()

    def show_switches(self) -> None:
        """Heads were switched, or what that does has become known."""
        self.switch_line.setVisible(self._state.translation is not None)
        self.switch_line.rebuild()
        self.reset_button.setVisible(bool(self._state.switchboard.off) and self._state.translation is not None)

    def show_problem(self, message: str) -> None:
        """Says why the text was refused; the typed text and the earlier translation stay."""
        self.set_busy(False)
        self.facts.setText(self._known_facts)
        self._say(message)
        self._has_problem = True

    def show_hint(self, text: str) -> None:
        """No translation: a muted line where it would stand."""
        self.set_busy(False)
        self.stop_editing()
        self.sentence.show_text("")
        self.sentence.setPlaceholderText(text)
        self._known_facts = ""
        self.facts.clear()
        self.copy_button.setVisible(False)
        self.edit_button.setVisible(False)
        self.own_line.setVisible(False)
        self.own_button.setVisible(False)
        self._say("")
        self.chips_area.setVisible(False)
        self.chips.rebuild()
        self.show_switches()

    def add_button(self, button: QWidget) -> None:
        """Puts a button at the end of the last line."""
        self._last_row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)

    def fit(self, page_height: int) -> None:
        """Long sentences show fewer lines at once on a low page: the maps keep their room."""
        self.input.set_max_lines(3 if page_height < LOW_PAGE else 4)
        for translated in (self.sentence, self.chips_area):
            translated.set_max_lines(2 if page_height < LOW_PAGE else 4)

    def _adapt_density(self, num_characters: int) -> None:
        """Long sentences get smaller letters, so that the maps keep their room."""
        is_dense = num_characters > (LONG_TEXT - 20 if self._is_dense else LONG_TEXT)
        if is_dense != self._is_dense:
            self._is_dense = is_dense
            self.input.set_dense(is_dense)
            self.sentence.set_dense(is_dense)
            self.chips.set_dense(is_dense)

    def _say(self, text: str) -> None:
        self.note.setText(text)
        self.note.setVisible(bool(text))
        self._has_problem = False

    def set_examples(self, sentences: tuple[str, ...]) -> bool:
        """Offers other examples. One that stands in the input, untouched, gives way to the first of them: then True."""
        is_untouched = self.input.text in self._examples and self.input.text not in sentences
        self._examples = sentences
        menu = QMenu(self.examples)
        for sentence in sentences:
            menu.addAction(sentence).triggered.connect(partial(self.input.set_text, sentence))
        old = self.examples.menu()
        self.examples.setMenu(menu)
        if old is not None:
            old.deleteLater()
        self.examples.setEnabled(bool(sentences))
        if not (sentences and is_untouched):
            return False
        self.input.set_text(sentences[0])
        return True

    def _lay_out(self) -> None:
        self._source_name.setContentsMargins(0, 7, 0, 0)
        self._target_name.setContentsMargins(0, 5, 0, 0)
        self.note.setContentsMargins(self._no_name.width() + 15, 2, 0, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(PANEL_MARGIN, 10, PANEL_MARGIN - 6, 10)
        column.setSpacing(5)
        column.addLayout(labelled_row(self._source_name, self.input, self.examples))
        buttons = QWidget()
        pair = QHBoxLayout(buttons)
        pair.setContentsMargins(0, 0, 0, 0)
        pair.setSpacing(2)
        pair.addWidget(self.edit_button)
        pair.addWidget(self.copy_button)
        column.addLayout(labelled_row(self._target_name, self.sentence, buttons))
        own = labelled_row(self._no_own_name, self.own_line, self.own_button)
        own.setSpacing(15)
        column.addLayout(own)
        column.addLayout(labelled_row(self._no_name, self.chips_area, self.facts))
        self._last_row = labelled_row(self._no_switch_name, self.switch_line, self.reset_button)
        column.addLayout(self._last_row)
        column.addWidget(self.note)


def _facts(translation: Translation, own: Translation | None) -> str:
    """Two lines: of the model's own translation its log-probability and the time, of a given one both probabilities."""
    if not translation.is_given:
        return f"log-probability {_signed(translation.log_probability)}\n{duration(translation.seconds, exact=True)}"
    lines = [f"log-probability {_per_token(translation)}"]
    if own is not None:
        lines.append(f"the model's own {_per_token(own)}")
    return "\n".join(lines)


def _per_token(translation: Translation) -> str:
    total = translation.log_probability
    return f"{_signed(total)} ({_signed(total / max(len(translation.log_probabilities), 1))} a token)"


def _signed(value: float) -> str:
    """With a typographic minus."""
    return f"{value:.2f}".replace("-", "−")
