"""The sentence, its translation, what is changed, and what there is to say about them."""

from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QSizePolicy, QVBoxLayout, QWidget

from augenmerk.core.durations import duration
from augenmerk.core.text.languages import a_sentence_in
from augenmerk.core.translation.experiment import Experiment, GivenTarget
from augenmerk.core.translation.result import ExperimentResult, Translation
from augenmerk.viz_app.examples import Example, copy_examples, example_sentences, gallery
from augenmerk.viz_app.state.experiment_editor import redo, set_output, show_experiment, undo
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.languages import language_names, language_of, target_code, with_code
from augenmerk.viz_app.state.map_selection import MARKS
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.state.marks import key_shares
from augenmerk.viz_app.state.sentence_text import (
    MAX_CHARACTERS,
    edited_spans,
    ignored_span,
    left_out,
    new_words,
    not_shown,
    rare_spans,
    respelled_spans,
    unknown_spans,
    word_spans,
)
from augenmerk.viz_app.theme import PANEL_MARGIN, current_theme, scaled, scales, set_role
from augenmerk.viz_app.views.chips import ChipsArea, WordChips
from augenmerk.viz_app.views.coverage_notice import CoverageNotice
from augenmerk.viz_app.views.gallery import GalleryPopup
from augenmerk.viz_app.views.intervention_chips import InterventionChips, ShownMapsSwitch
from augenmerk.viz_app.views.sentence_input import SentenceInput, SentenceMarks, TargetLine
from augenmerk.viz_app.widgets.choice_menu import ChoiceMenu
from augenmerk.viz_app.widgets.eliding_label import ElidingLabel
from augenmerk.viz_app.widgets.focus import set_visible
from augenmerk.viz_app.widgets.menu_button import MenuButton
from augenmerk.viz_app.widgets.parts import flat_button, label, labelled_row, take_out

BUSY_DELAY_MS = 250
LONG_TEXT = 150
LOW_PAGE = 820
NARROW_PAGE, LOW_PAGE_TO_FOLD = 1264, 680
"""Pixels of the page, which is a little smaller than the window, below which the card is folded."""
GALLERY_ENTRY = "What attention shows: a gallery…"
MORE_SENTENCES = "More sentences, without a note"
EXAMPLES_LANGUAGE, BUNDLED_LANGUAGE = "German", "de"
"""Of the examples; of the model that opens if no other does."""
EDIT_TIP = "Write a translation of your own (or double-click it): the model then reads it instead of choosing words"
BUSY = "translating…"
GALLERY_OF_ANOTHER_MODEL = (
    "The gallery is about the bundled model, and another one is open. Open the bundled model for it."
)
WIDEST_FACTS = "of the original: −00.00 → −00.00"
BESIDE_MARGIN = 10
MAX_ORIGINAL_LINES = 2


class SentencePanel(QFrame):
    """Source, translation, word chips, intervention chips, and what there is to say about them.

    Attributes:
        input: the sentence to translate.
        sentence: the translation as a sentence; `edit_button` lets another one be written in its place.
        original_line: the original translation where it reads otherwise; while one is given, the model's own.
        chips: the words of the translation.
        interventions: what is changed.
        coverage_notice: that the sentence is unlike what the model was trained on.
        note: what happened to the text: unknown words, an end left out, a refusal, changes that were dropped.
        facts: log-probability and time.
        shown_switch: original, changed, or difference: which maps are shown.
        is_folded: whether the words stand in place of the sentence that they make: where there is little room.
        examples: the button that holds the example sentences.
        target_menu: into which language, of a model that knows several.

    Signals:
        left_for_heads(): Escape in the sentence: the keys should go to the heads now.
    """

    left_for_heads = Signal()

    def __init__(self, state: ExperimentState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._state = state
        self.input = SentenceInput()
        self.sentence = TargetLine()
        self.original_line = ElidingLabel("small")
        self.chips = WordChips(state)
        self.chips_area = ChipsArea(self.chips)
        self.interventions = InterventionChips(state, undo=self.undo)
        self.shown_switch = ShownMapsSwitch(state)
        self.coverage_notice = CoverageNotice()
        self.note = label("warm", wraps=True)
        self._plain_note = ""
        self.facts = label("small")
        self.facts.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.facts.setTextInteractionFlags(Qt.TextInteractionFlag.LinksAccessibleByMouse)
        self._examples: tuple[str, ...] = ()
        self.examples = MenuButton("examples ▾", "Choose an example")
        self.target_menu = ChoiceMenu("Into which language the model translates", {}, "into: ")
        self.copy_button = flat_button("copy", "Copy the translation")
        self.edit_button = flat_button("✎ edit", EDIT_TIP)
        self._busy_timer = QTimer(self, singleShot=True, interval=BUSY_DELAY_MS)
        self._is_dense = False
        self._shown_example: Example | None = None
        self._left_out: dict[SentenceInput, str] = {}
        self._typed_text = self.requested_text = ""
        self.is_folded = self._is_wide = False
        self._source_name, self._target_name, self._words_name = label("muted"), label("muted"), label("muted")
        self._indents = [QWidget() for _ in range(2)]
        self._original_row, self._words_side = QWidget(), QWidget()
        self._page_button: QWidget | None = None
        self._lay_out()
        self._show_languages()
        self._offer_examples(example_sentences())
        self._connect()
        self._show_result()

    def start_editing(self) -> None:
        """The translation can be written over."""
        if self._state.translation is not None:
            self._show_sentence(True)
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
        self._show_sentence(not self.is_folded or not self._has_words)

    def undo(self) -> None:
        """Undoes the last change; text that was typed and not yet told, or refused, is one."""
        self._settle_typing()
        if self.input.text == self._state.experiment.source_text:
            self._state.submit(undo)
        else:  # it was refused
            self.input.show_text(self._state.experiment.source_text)
            self._state.ask_again()

    def cancel(self) -> bool:
        """Gives up a translation that takes long, else maps in another measure; False if neither is said to come."""
        if not self._state.request.is_running or self._busy_timer.isActive():
            return self._state.measuring.cancel()
        self._state.cancel()
        return True

    def redo(self) -> None:
        """Does again what was undone."""
        self._state.submit(redo)

    def fit(self, page_width: int, page_height: int) -> None:
        """A small page leaves the maps their room: long sentences show fewer lines, and the card is folded."""
        is_folded = page_width < scaled(NARROW_PAGE) or page_height < scaled(LOW_PAGE_TO_FOLD)
        if is_folded != self.is_folded:
            self.is_folded = is_folded
            self._arrange()
            self._show_result()
        self.interventions.setMinimumHeight(self.shown_switch.sizeHint().height())  # with the switch nothing moves
        self.interventions.set_low(page_height < scaled(LOW_PAGE))
        self.input.set_max_lines(3 if page_height < scaled(LOW_PAGE) else 4)
        for translated in (self.sentence, self.chips_area):
            translated.set_max_lines(2 if page_height < scaled(LOW_PAGE) else 4)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """With another width the original line may fit elsewhere; and fonts may be others, see `Theme.apply`."""
        super().resizeEvent(event)
        self._fit_names()
        if self.is_folded and self._is_wide != (is_wide := self.width() >= scaled(NARROW_PAGE)):
            self._is_wide = is_wide
            self._arrange()
        self._fit_side()
        self._place_original()

    def showEvent(self, event: QShowEvent) -> None:
        """The fonts are known now."""
        super().showEvent(event)
        self._fit_names()

    def open_gallery(self) -> None:
        """The examples by what they show; the one that is chosen is translated, and its head and cell are shown.

        Not while another model is open, of which nothing of it need be true.
        """
        model = self._state.model
        if model is not None and not model.is_bundled:
            self._state.report(GALLERY_OF_ANOTHER_MODEL)
            return
        popup = GalleryPopup(gallery(), self)
        popup.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        popup.chosen.connect(self.show_example)
        popup.open_below(self.examples)

    def show_example(self, example: Example) -> None:
        """Translates an example with nothing changed; its head is chosen, its cell pinned once it is known."""
        self.input.show_text(example.text)
        self._shown_example = example
        self._state.submit(show_experiment(Experiment(example.text)))

    def _point_at_example(self) -> None:
        """The example's translation has come."""
        example, translation = self._shown_example, self._state.translation
        if example is None or translation is None or translation.experiment != Experiment(example.text):
            return
        self._shown_example = None
        self._plain_note = "" if example.is_failure else example.see
        self._state.report(example.see)
        self._state.intents.choose_head(example.head)
        self._state.selection.pinned = cell_of(translation, example)

    def add_button(self, button: QWidget) -> None:
        """Puts a button at the end of the last line; folded, of the first, as the last is full then."""
        self._page_button = button
        self._arrange()

    # --- what changes ---------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        state = self._state
        self.sentence.edit_wanted.connect(self.start_editing)
        self.sentence.left_for_heads.connect(self.stop_editing)
        self.sentence.text_settled.connect(self._on_target_settled)
        self.copy_button.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.sentence.text))
        self.edit_button.clicked.connect(self._on_edit_clicked)
        self._busy_timer.timeout.connect(self._show_busy)
        self.facts.linkActivated.connect(lambda _link: state.cancel())
        self.input.left_for_heads.connect(self._on_escape)
        for field in (self.input, self.sentence):
            field.undo_requested.connect(self.undo)
            field.redo_requested.connect(self.redo)
            field.shortened.connect(partial(self._on_shortened, field))
            field.textChanged.connect(partial(self._on_text_changed, field))
        self.input.text_settled.connect(self._on_typed)
        state.experiment_changed.connect(self._on_experiment)
        state.experiment_changed.connect(self._on_target_code)
        self.target_menu.chosen.connect(self._choose_target_language)
        state.result_changed.connect(self._show_result)
        state.result_changed.connect(self._point_at_example)
        state.model_changed.connect(self._on_model)
        state.notice_changed.connect(self._say)
        state.request.changed.connect(self._on_request)
        for name in MARKS:
            getattr(state.selection.events, name).connect(self._show_shares, max_args=0)

    def _on_shortened(self, field: SentenceInput, num_characters: int) -> None:
        if field is self.input:
            told = left_out(num_characters)
        elif self.sentence.is_editable:
            told = left_out(num_characters, "translation")
        else:  # the model's own
            told = not_shown(num_characters)
        self._left_out[field] = told
        self._say()

    def _on_text_changed(self, field: SentenceInput) -> None:
        """There may be room again."""
        if field in self._left_out and len(field.text) < MAX_CHARACTERS:
            del self._left_out[field]
            self._say()

    def _settle_typing(self) -> None:
        if not self.input.is_settled:
            self.input.settle(is_asked=False)

    def _on_typed(self, text: str, _is_asked: bool) -> None:
        self._typed_text = text

    def _on_experiment(self) -> None:
        """Another sentence may have come from elsewhere: undone, opened, restored.

        One that was typed and refused stays where it was typed, to be corrected.
        """
        text, typed = self._state.experiment.source_text, self.input.text
        is_refused = bool(self._state.request.problem) and typed == self._typed_text
        if text == typed or not self.input.is_settled or is_refused:
            return
        self.input.show_text(text)
        self._mark_input()

    def _on_model(self) -> None:
        self._show_languages()
        model = self._state.model
        assert model is not None
        is_copy = model.run.is_copy_task
        is_german = language_names(model.run)[0] == EXAMPLES_LANGUAGE
        self._offer_examples(
            copy_examples(model.run.data.copy_symbols) if is_copy else example_sentences() if is_german else ()
        )
        codes = {code: (language_of(code), f"{language_of(code)}   {code}") for code in model.target_codes}
        self.target_menu.set_entries(dict(sorted(codes.items(), key=lambda each: each[1])))
        self._show_target_code()

    def _show_target_code(self) -> None:
        model = self._state.model
        code = target_code(model, self._state.experiment.source_text)
        has_choice = model is not None and bool(model.target_codes)
        set_visible(self.target_menu, has_choice, focus_to=self.input)
        if has_choice:
            self.target_menu.show_choice(code or "choose")

    def _on_target_code(self) -> None:
        model = self._state.model
        if model is not None and model.target_codes:
            self._show_languages()
            self._show_target_code()

    def _choose_target_language(self, code: str) -> None:
        """It is a matter of the sentence, which begins with it: saved, undone and sent on like any other word."""
        self.input.set_text(with_code(self.input.text, code))

    def _show_busy(self) -> None:
        color = current_theme().color("accent").name()
        self.facts.setTextFormat(Qt.TextFormat.RichText)  # as many lines as the facts: nothing jumps
        self.facts.setText(f'{BUSY}<br><a href="cancel" style="color:{color}">cancel</a> (Esc)')

    def _show_facts(self) -> None:
        self.facts.setTextFormat(Qt.TextFormat.PlainText)
        self.facts.setText(self._facts())

    def _on_escape(self) -> None:
        if not self.cancel():
            self.left_for_heads.emit()

    def _on_request(self) -> None:
        request = self._state.request
        if request.is_running:
            self._busy_timer.start()
        else:
            self._busy_timer.stop()
            self._show_facts()
        self._say()

    def _on_edit_clicked(self) -> None:
        if self.sentence.is_editable:
            self.stop_editing()
        else:
            self.start_editing()

    def _on_target_settled(self, text: str, _is_asked: bool) -> None:
        current = self._state.current
        if self.sentence.is_editable and current is not None and text != current.changed.text:
            self._state.submit(set_output(GivenTarget(text)))

    def _show_result(self) -> None:
        result, translation = self._state.result, self._state.translation
        has_result = translation is not None
        self._show_languages()
        for widget in (self.copy_button, self.edit_button):
            set_visible(widget, has_result, focus_to=self.input)
        self.chips_area.setVisible(self._has_words)
        self.coverage_notice.show_coverage(result.original.coverage if result is not None else None)
        self._say()
        if translation is None or result is None:
            self.stop_editing()
            self.sentence.show_text("")
            self.original_line.setVisible(False)
            self.facts.clear()
            return
        self._adapt_density(max(len(translation.text), len(self.input.text)))
        if not translation.is_given or not self.sentence.is_editable:
            self.stop_editing()
            new = new_words(result.original, translation)
            self.sentence.emphasize([word.text for word in translation.target_words if word in new])
        before = _original_text(result)
        self.original_line.setText(before)
        self._place_original()
        self.original_line.setVisible(bool(before))
        self._show_facts()
        self._mark_input()
        self.chips_area.fit()
        self._show_shares()

    def _mark_input(self) -> None:
        """Unknown and rare words, those read in another spelling, an end left out, words removed or replaced.

        All in the sentence that the result is of.
        """
        result = self._state.result
        if result is not None and self.input.text == result.changed.source_text:
            rare = {span: f"“{word.text}”: {word.explanation}" for span, word in rare_spans(result.original).items()}
            respelled = {span: word.explanation for span, word in respelled_spans(result.original).items()}
            unknown, ignored = unknown_spans(result.original), ignored_span(result.changed)
            self.input.mark(SentenceMarks(unknown, ignored, rare, respelled, edited_spans(result)))

    @property
    def _has_words(self) -> bool:
        return self._state.translation is not None and bool(self._state.translation.target_words)

    def _show_sentence(self, is_shown: bool) -> None:
        """The sentence; folded, its words say the same, and stand in its place."""
        set_visible(self.sentence, is_shown, focus_to=self.input)
        self._target_name.setVisible(is_shown)
        self._words_name.setText("" if is_shown else self._target_name.text())

    def _show_shares(self) -> None:
        """Queries were picked or let go: the source words they look at are shaded."""
        result = self._state.result
        if result is None or self.input.text != result.changed.source_text:
            return
        spans = word_spans(result.changed)
        shares = key_shares(self._state, "source")
        self.input.shade({spans[word]: share for word, share in shares.items() if word in spans and share > 0})

    def _say(self) -> None:
        state = self._state
        notes = state.translation.notes if state.translation is not None else ()
        problem = state.request.problem if state.result is not None else ""  # else it stands in place of the maps
        said = [problem] if problem else list(notes)
        text = "\n".join(filter(None, [*self._left_out.values(), *said, state.notice]))
        role = "muted" if text and text == self._plain_note else "warm"
        if self.note.property("role") != role:
            set_role(self.note, role)
        self.note.setText(text)
        self.note.setVisible(bool(text))

    def _facts(self) -> str:
        """How probable the translation is, and what the changes cost the original one, or the time: in two lines."""
        result = self._state.result
        if result is None:
            return ""
        translation = result.changed
        if translation.is_given:
            before, now = result.original.log_probability, translation.log_probability
            lines = [f"log-probability {_from_to(before, now) if result.is_changed else _per_token(translation)}"]
            if result.own is not None:
                lines.append(f"the model's own {_per_token(result.own)}")
            return "\n".join(lines)
        first = f"log-probability {_signed(translation.log_probability)}"
        if not result.is_changed:
            return f"{first}\n{duration(translation.seconds, exact=True)}"
        before, now = result.original.log_probability, sum(result.original_log_probabilities)
        return f"{first}\nof the original: {_from_to(before, now)}"

    # --- looks ----------------------------------------------------------------------------------------------------

    def _show_languages(self) -> None:
        """The sentence is what the model in use reads; the translation may still be that of the model before."""
        model, target = self._state.model, self._state.languages[1]
        source = language_names(model.run)[0] if model is not None else self._state.languages_without_model[0]
        self._source_name.setText(source.capitalize())
        self._target_name.setText(target.capitalize())
        if self._words_name.text():  # folded, it stands in place of the name of the sentence
            self._words_name.setText(self._target_name.text())
        self._fit_names()
        self.input.setPlaceholderText(typing_hint(self._state))

    def _fit_names(self) -> None:
        names = (self._source_name, self._target_name)
        width = max(name.sizeHint().width() for name in names)
        for name in (*names, self._words_name, *self._indents):
            name.setFixedWidth(width)

    def _adapt_density(self, num_characters: int) -> None:
        """Long sentences get smaller letters, so that the maps keep their room."""
        is_dense = num_characters > (LONG_TEXT - 20 if self._is_dense else LONG_TEXT)
        if is_dense != self._is_dense:
            self._is_dense = is_dense
            self.input.set_dense(is_dense)
            self.sentence.set_dense(is_dense)
            self.chips.set_dense(is_dense)
            self.chips.rebuild()

    def _offer_examples(self, sentences: tuple[str, ...]) -> None:
        """Offers other examples. An untouched example in the input gives way to the first of them, unless requested."""
        text = self._state.experiment.source_text
        is_old_example = text in self._examples and text not in sentences
        is_untouched = is_old_example and text != self.requested_text and self.input.is_settled
        self._examples = sentences
        plain = menu = QMenu(self.examples)
        model = self._state.model
        is_bundled = model is None or model.is_bundled
        if is_bundled and sentences == example_sentences() and gallery():
            menu.addAction(GALLERY_ENTRY).triggered.connect(self.open_gallery)
            plain = menu.addMenu(MORE_SENTENCES)
            of_gallery = {example.text for example in gallery()}
        else:
            of_gallery = set()
        for sentence in filter(lambda each: each not in of_gallery, sentences):
            plain.addAction(sentence).triggered.connect(partial(self.input.set_text, sentence))
        old = self.examples.menu()
        self.examples.setMenu(menu)
        if old is not None:
            old.deleteLater()
        self.examples.setEnabled(bool(sentences))
        if sentences and is_untouched:
            self._state.prepare_text(sentences[0])

    def _lay_out(self) -> None:
        scales(self._source_name.setContentsMargins, 0, 7, 0, 0)
        scales(self._target_name.setContentsMargins, 0, 5, 0, 0)
        column = self._column = QVBoxLayout(self)
        corner = QWidget()
        self._source_side = QHBoxLayout(corner)
        self._source_side.setContentsMargins(0, 0, 0, 0)
        scales(self._source_side.setSpacing, 2)
        self._source_side.addWidget(self.target_menu)
        self._source_side.addWidget(self.examples)
        self.target_menu.hide()
        column.addLayout(labelled_row(self._source_name, self.input, corner))
        scales(self._words_name.setContentsMargins, 0, 5, 0, 0)
        pair = self._buttons = QHBoxLayout()
        pair.setContentsMargins(0, 0, 0, 0)
        scales(pair.setSpacing, 2)
        pair.addStretch(1)
        pair.addWidget(self.edit_button)
        pair.addWidget(self.copy_button)
        self._side = QWidget()
        self._side_column = QVBoxLayout(self._side)
        self._side_column.setContentsMargins(0, 0, 0, 0)
        self._side_column.setSpacing(0)
        self._side_column.addLayout(pair)
        self._target_row = labelled_row(self._target_name, self.sentence, self._side)
        original = QHBoxLayout(self._original_row)
        original.setContentsMargins(0, 0, 0, 0)
        scales(original.setSpacing, 12)
        original.addWidget(self._indents[0])
        self._words_column = QVBoxLayout(self._words_side)
        self._words_column.setContentsMargins(0, 0, 0, 0)
        self._words_column.setSpacing(2)
        self._words_column.addWidget(self.chips_area)
        self._words_row = labelled_row(self._words_name, self._words_side, self.facts)
        self._words_row.setAlignment(self._words_side, Qt.AlignmentFlag.AlignTop)
        column.addLayout(self._target_row)
        column.addWidget(self._original_row)
        column.addLayout(self._words_row)
        self._last_row = labelled_row(self._indents[1], self.interventions, self.shown_switch)
        self._last_row.setAlignment(self.shown_switch, Qt.AlignmentFlag.AlignTop)
        column.addLayout(self._last_row)
        column.addWidget(self.coverage_notice)
        column.addWidget(self.note)
        self._arrange()

    def _arrange(self) -> None:
        """Folded, facts stand beside or below the buttons, the original line beside the chips: few rows are left."""
        corner = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight
        policy = self.original_line.sizePolicy()
        # beside the chips it takes what they leave; in a line of its own it keeps it: heads must not move from under
        # the mouse that switches them off
        policy.setHorizontalPolicy(QSizePolicy.Policy.Ignored if self.is_folded else QSizePolicy.Policy.Preferred)
        policy.setRetainSizeWhenHidden(not self.is_folded)
        self.original_line.setSizePolicy(policy)
        self._original_row.setVisible(not self.is_folded)
        for widget in (self._page_button, self._side, self.facts, self.original_line):
            if widget is not None:
                take_out(widget)
        if self._page_button is not None:
            (self._source_side if self.is_folded else self._last_row).addWidget(
                self._page_button, 0, Qt.AlignmentFlag.AlignTop
            )
        margin = 6 if self.is_folded else 10
        scales(self._column.setContentsMargins, PANEL_MARGIN, margin, PANEL_MARGIN - 6, margin)
        scales(self._column.setSpacing, 4 if self.is_folded else 5)
        if self.is_folded:
            self._words_row.addWidget(self._side, 0, corner)
            if self._is_wide:
                self._buttons.insertWidget(1, self.facts, 0, corner)
            else:
                self._side_column.addWidget(self.facts, 0, corner)
            scales(self.facts.setContentsMargins, 0, 0, 7, 0)
            self._place_original()
        else:
            self._target_row.addWidget(self._side, 0, corner)
            self._words_row.addWidget(self.facts, 0, corner)
            scales(self.facts.setContentsMargins, 0, 8, 7, 0)
            row = self._original_row.layout()
            assert isinstance(row, QHBoxLayout)
            self.original_line.setContentsMargins(0, 0, 0, 0)
            self.original_line.set_max_lines(1)
            row.addWidget(self.original_line, 1)
            self.interventions.put_beside(None)
        self._fit_side()

    def _fit_side(self) -> None:
        """Folded, the facts have the same room whatever they say."""
        widest = self.facts.fontMetrics().horizontalAdvance(WIDEST_FACTS) + scaled(12)
        self._side.setMinimumWidth(widest if self.is_folded else 0)

    def _place_original(self) -> None:
        """Folded, the original line stands beside the chips if it fits there, else below the words, where it wraps."""
        if not self.is_folded:
            return
        switch = self.shown_switch.sizeHint().width() if self.shown_switch.is_offered else 0
        margins = self._column.contentsMargins().left() + self._column.contentsMargins().right()
        taken = self._indents[1].width() + switch + 3 * self._last_row.spacing()
        taken += self.interventions.width_in_one_line()
        line = self.original_line
        fits = line.whole_width() + 2 * BESIDE_MARGIN <= self.width() - margins - taken
        is_beside = fits or len(self.interventions.chips) <= 1  # heads must not move from under the mouse at first
        policy = line.sizePolicy()
        policy.setHorizontalPolicy(QSizePolicy.Policy.Ignored if is_beside else QSizePolicy.Policy.Expanding)
        line.setSizePolicy(policy)
        line.set_max_lines(1 if is_beside else MAX_ORIGINAL_LINES)
        side = BESIDE_MARGIN if is_beside else 0
        line.setContentsMargins(side, 0, side, 0)
        if is_beside:
            self.interventions.put_beside(line)
        else:
            self.interventions.put_beside(None)
            take_out(line)
            self._words_column.addWidget(line)


def cell_of(translation: Translation, example: Example) -> Pair | None:
    """Where the example's two words meet in the map of its head; None if the translation has another word there."""
    targets = [word for word in translation.target_words if word.text.lower() == example.target]
    sources = [word for word in translation.source_words if word.text.lower() == example.source]
    return Pair(targets[0].start, sources[0].start) if targets and sources else None


def typing_hint(state: ExperimentState) -> str:
    """What to type for the model in use."""
    run = state.model.run if state.model is not None else None
    if run is not None and run.is_copy_task:
        return "Type numbers with spaces between"
    return f"Type {a_sentence_in(run.data.source_language if run is not None else BUNDLED_LANGUAGE)}"


def _original_text(result: ExperimentResult) -> str:
    """The original translation where it reads otherwise than the changed one; empty if there is nothing to tell."""
    if result.own is not None:
        return f"the model's own: {result.own.text}"
    if not result.is_changed:
        return ""
    if result.original.text == result.changed.text:
        return "the same words as without these changes"
    return f"was: {result.original.text or 'nothing'}"


def _per_token(translation: Translation) -> str:
    total = translation.log_probability
    return f"{_signed(total)} ({_signed(total / max(len(translation.log_probabilities), 1))} a token)"


def _from_to(before: float, now: float) -> str:
    """Both numbers; with three decimals where two would hide that they differ."""
    digits = 3 if before != now and _signed(before) == _signed(now) else 2
    return f"{_signed(before, digits)} → {_signed(now, digits)}"


def _signed(value: float, digits: int = 2) -> str:
    """With a typographic minus."""
    return f"{value:.{digits}f}".replace("-", "−")
