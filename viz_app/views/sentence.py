"""The sentence, its translation, the changes, and notes about them."""

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from augenmerk.core.quantities import duration, number
from augenmerk.core.text.languages import a_sentence_in
from augenmerk.core.text.phrases import PHRASES
from augenmerk.core.translation.experiment import GivenTarget
from augenmerk.core.translation.result import OTHER_TEXT, ExperimentResult, Translation

from ..state.experiment_editor import redo, set_output, undo
from ..state.experiment_state import ExperimentState
from ..state.languages import language_names
from ..state.map_view import MARKS
from ..state.marks import key_shares
from ..state.sentence_text import (
    MAX_CHARACTERS,
    Span,
    edited_spans,
    ignored_span,
    left_out,
    new_spans,
    not_shown,
    rare_spans,
    respelled_spans,
    unknown_spans,
    word_spans,
)
from ..theme import PANEL_MARGIN, current_theme, scaled, scales, set_role
from ..widgets.buttons import MenuButton, flat_button
from ..widgets.labels import ElidingLabel, label, show_text
from ..widgets.layouts import LinesScrollArea, column_of, keep_room, row_of, set_visible
from ..worker.inference import ExperimentController
from .chips import InterventionChips, ShownMapsSwitch, WordChips
from .sentence_input import NUM_LINES, SentenceInput, SentenceMarks, TargetLine

BUSY_DELAY_MS = 250
NARROW_PAGE, LOW_PAGE = 1264, 900
"""Pixels of the page, which is a little smaller than the window, below which the card is folded."""
BUNDLED_LANGUAGE = "de"
"""The source language of the model that opens if no other does."""
EDIT_TIP = (
    "Edit the translation (or double-click it): the model then reads yours instead of choosing "
    "words"
)
BUSY = "translating…"
WIDEST_FACTS = "of the original: −00.00 → −00.00"
LEAST_CHIPS_WIDTH = 200
LEAST_WITH_MODELS = 770
"""Pixels of the card below which its line of changes has no room for *Open a bigger model…*."""
UNLIKE = "Unlike the training data"


class SentencePanel(QFrame):
    """Source, translation, word chips, intervention chips, and notes about them.

    Attributes:
        state: the experiment that it shows.
        input: the sentence to translate.
        requested_text: the sentence of the command line; no other takes its place.
        offered_text: a sentence that came with a model; one for the next model takes its place.
        sentence: the translation as a sentence; `edit_button` lets the user write another one.
        original_line: the original translation if it differs; for a given one, the model's own.
        chips: the words of the translation.
        interventions: the changes.
        coverage_notice: a warning that the sentence is unlike the training data.
        withheld_notice: takes the place of a translation that is withheld.
        notes: `SentenceNotes` on the text.
        note: the label that shows them.
        marks: marks the words of the sentence.
        rows: places the parts.
        facts: log-probability and time; while a translation takes long, a way to cancel it.
        shown_switch: the maps shown: original, changed, or difference.
        controller: asks the model about the text as it is typed; None without one.
        undo_before: called to undo if the experiment has nothing to undo.
        other_way: returns another way to a sentence than typing, as “choose an example”; empty if
            there is none.
        is_refused: whether the typed text has no answer, so that the result is that of another one.

    Signals:
        refusal_changed(bool): `is_refused` is another one.
        escape_pressed(): in the sentence, with nothing to cancel: the keys should go to the heads
            now.
    """

    escape_pressed = Signal()
    refusal_changed = Signal(bool)

    def __init__(self, state: ExperimentState) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self.state = state
        self.input = SentenceInput()
        self.sentence = TargetLine()
        self.original_line = ElidingLabel("small")
        self.chips = WordChips(state)
        self.chips_area = LinesScrollArea(self.chips, lambda: self.chips.line_height, NUM_LINES)
        self.chips_area.setMinimumWidth(LEAST_CHIPS_WIDTH)
        self.shown_switch = ShownMapsSwitch(state)
        self.coverage_notice = CoverageNotice()
        self.withheld_notice = WithheldNotice(self)
        self.facts = Facts(state)
        self.copy_button = flat_button("Copy", "Copy the translation")
        self.edit_button = flat_button("✎ Edit", EDIT_TIP)
        self.marks = SourceMarks(state, self.input)
        self.notes = SentenceNotes(state, self.input, self.sentence)
        self.note = self.notes.label
        messages = self.original_line, self.note, self.coverage_notice
        self.interventions = InterventionChips(state, *messages, undo=self.undo)
        self.interventions.add_button(self.coverage_notice.button)
        self.controller: ExperimentController | None = None
        self.requested_text = self.offered_text = ""
        self.undo_before: Callable[[], object] = lambda: None
        self.other_way: Callable[[], str] = lambda: ""
        self.is_refused = False
        self.rows = SentenceRows(self)  # places all of the above
        self._connect()
        self._show_result()

    def start_editing(self) -> None:
        """Makes the translation editable."""
        if self.state.translation is not None:
            self._show_sentence(True)
            self.sentence.set_editable(True)
            self.sentence.setFocus()
            self.edit_button.setText("✓ Done")
            self.edit_button.setToolTip("Stop editing (Esc)")

    def stop_editing(self) -> None:
        """Ends editing; a given translation stays, a refused one is dropped."""
        self.sentence.set_editable(False)
        self.edit_button.setText("✎ Edit")
        self.edit_button.setToolTip(EDIT_TIP)
        if self.state.translation is not None:
            self.sentence.show_text(self.state.translation.text)
        self._show_sentence(not self.rows.is_folded)

    def undo(self) -> None:
        """Undoes the last change, which may be text that was not submitted, or refused."""
        for field in (self.input, self.sentence):
            if not field.is_committed:
                field.commit(is_asked=False)
        if (
            self.input.text == self.state.experiment.source_text
            or self.state.intents.view_next is not None
        ):
            if self.state.editor.can_undo:
                self.state.submit(undo)
            else:
                self.undo_before()
        else:  # it was refused
            self.input.show_text(self.state.experiment.source_text)
            self.state.ask_again()

    def redo(self) -> None:
        """Redoes the last change that was undone."""
        self.state.submit(redo)

    def cancel(self) -> bool:
        """Cancels a slow translation, else maps in another measure; False without either."""
        if not self.facts.is_busy:
            return self.state.measuring.cancel()
        self.state.cancel()
        return True

    def fit(self, page_width: int, page_height: int) -> None:
        """Leaves the maps their room on a small page: the words replace the sentence."""
        is_folded = page_width < scaled(NARROW_PAGE) or page_height < scaled(LOW_PAGE)
        if self.rows.fold(is_folded):
            self._show_result()
        # with the switch nothing moves
        self.shown_switch.setMaximumHeight(self.interventions.undo_button.sizeHint().height())

    def event(self, event: QEvent) -> bool:
        """Its parts may have other places after a layout."""
        is_handled = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self.withheld_notice.fit()
            self.coverage_notice.fit(self.width())
            # when the first change brings the switch, no button moves
            keep_room(
                self.shown_switch,
                is_kept=bool(self.interventions.chips or self.interventions.shown_buttons),
            )
        return is_handled

    # --- changes ----------------------------------------------------------------------------------

    def _connect(self) -> None:
        state = self.state
        self.sentence.edit_wanted.connect(self.start_editing)
        self.sentence.escape_pressed.connect(self.stop_editing)
        self.sentence.text_committed.connect(self._on_target_committed)
        self.copy_button.clicked.connect(
            lambda: QGuiApplication.clipboard().setText(self.sentence.text)
        )
        self.edit_button.clicked.connect(
            lambda: self.stop_editing() if self.sentence.is_editable else self.start_editing()
        )
        self.input.escape_pressed.connect(self._on_escape)
        for field in (self.input, self.sentence):
            field.undo_requested.connect(self.undo)
            field.redo_requested.connect(self.redo)
        state.experiment_changed.connect(self._on_experiment)
        state.request.changed.connect(self._check_refusal)
        state.result_changed.connect(self._show_result)
        state.model_changed.connect(self._show_languages)

    def _on_escape(self) -> None:
        if not self.cancel():
            self.escape_pressed.emit()

    def _on_experiment(self) -> None:
        """Shows a sentence from elsewhere: undone, opened, restored.

        A typed sentence that was refused stays in the field, to be corrected.
        """
        self._show_languages()
        text = self.state.experiment.source_text
        is_elsewhere = self.input.is_committed and not self._has_refused_text()
        if text != self.input.text and is_elsewhere:
            self.input.show_text(text)
            self.marks.mark()
        output, field = self.state.experiment.output, self.sentence
        if isinstance(output, GivenTarget) and field.is_editable and field.is_committed:
            field.show_text(output.text)
        self._check_refusal()

    def _has_refused_text(self) -> bool:
        typed = self.input.text
        is_other = typed != self.state.experiment.source_text
        return bool(self.state.request.problem) and is_other and typed == self.input.committed_text

    def _check_refusal(self) -> None:
        """Follows the last answer: while the next one is awaited, nothing changes."""
        is_refused = self._has_refused_text()
        if is_refused != self.is_refused and not self.state.request.is_running:
            self.is_refused = is_refused
            self._show_notes()
            self.refusal_changed.emit(is_refused)

    def _on_target_committed(self, text: str, _is_asked: bool) -> None:
        current = self.state.current
        if self.sentence.is_editable and current is not None and text != current.changed.text:
            self.state.submit(set_output(GivenTarget(text)))

    def _show_result(self) -> None:
        result, translation = self.state.result, self.state.translation
        has_result = translation is not None
        self._show_languages()
        for widget in (self.copy_button, self.edit_button):
            set_visible(widget, has_result, focus_to=self.input)
        self.original_line.setText(original_text(result) if result is not None else "")
        self._show_notes()
        if translation is None or result is None:
            self.stop_editing()
            self.sentence.show_text("")
            self.marks.mark()
            return
        if not translation.is_given or not self.sentence.is_editable:
            self.stop_editing()
            self.sentence.emphasize(new_spans(result.original, translation))
        self.marks.mark()
        self.marks.shade()

    def _show_notes(self) -> None:
        """Shows the notes on the text; those on the previous one give way to a refusal."""
        latest, is_withheld = self.state.latest, self.state.withheld is not None
        about = latest.original if latest is not None and not self.is_refused else None
        self.coverage_notice.show_translation(about, is_withheld=is_withheld)
        self.withheld_notice.show_translation(about if is_withheld else None)
        self.original_line.setVisible(
            bool(self.original_line.text()) and not is_withheld and not self.is_refused
        )
        for widget in (self.copy_button, self.edit_button):
            widget.setEnabled(not is_withheld and not self.is_refused)

    def _show_sentence(self, is_shown: bool) -> None:
        """Shows or hides the sentence; in a folded panel, it and its words replace each other."""
        set_visible(self.sentence, is_shown, focus_to=self.edit_button)
        set_visible(self.chips_area, not is_shown or not self.rows.is_folded, focus_to=self.input)

    def _show_languages(self) -> None:
        """Names the languages: of the model in use, and of the one that made the translation."""
        state = self.state
        source = (
            state.languages_without_model[0]
            if state.model is None
            else language_names(state.model.run)[0]
        )
        self.rows.show_names(source.capitalize(), state.languages[1].capitalize())
        self.input.setPlaceholderText(typing_hint(state))


class SourceMarks:
    """Marks the words of a sentence while the result shown is that of its text.

    Args:
        state: the result, and the picked queries.
        field: the sentence.
    """

    def __init__(self, state: ExperimentState, field: SentenceInput) -> None:
        self._state, self._field = state, field
        self._pale: tuple[ExperimentResult | None, Mapping[Span, str]] = None, {}
        for name in MARKS:
            getattr(state.selection.events, name).connect(self.shade, max_args=0)

    def mark(self) -> None:
        """Marks unknown, rare, respelled, edited and pale words, and an ignored end."""
        result = self._of_text(self._state.latest)
        if result is not None:
            rare = {
                span: f"“{word.text}”: {word.explanation}"
                for span, word in rare_spans(result.original).items()
            }
            respelled = {
                span: word.explanation for span, word in respelled_spans(result.original).items()
            }
            unknown = unknown_spans(result.original)
            ignored = ignored_span(result.changed)
            pale = self._pale[1] if self.has_pale_words(result) else {}
            self._field.marker.mark(
                SentenceMarks(unknown, ignored, rare, respelled, edited_spans(result), pale)
            )

    def has_pale_words(self, result: ExperimentResult) -> bool:
        """Whether `show_pale` was called for this result."""
        return self._pale[0] is result

    def show_pale(self, result: ExperimentResult, words: Mapping[Span, str]) -> None:
        """Shows words of this result's text pale, with these tool tips."""
        self._pale = result, words
        self.mark()

    def shade(self) -> None:
        """Shades words by their share in the picked queries."""
        result = self._of_text(self._state.result)
        if result is not None:
            spans = word_spans(result.changed)
            shares = key_shares(self._state, "source")
            shown = {
                spans[word]: share for word, share in shares.items() if word in spans and share > 0
            }
            self._field.marker.shade(shown)

    def _of_text(self, result: ExperimentResult | None) -> ExperimentResult | None:
        """The result, if it is that of the text in the field."""
        is_of_text = result is not None and self._field.text == result.changed.source_text
        return result if is_of_text else None


class SentenceRows:
    """Places the parts of a `SentencePanel`: sentence, translation and changes.

    Attributes:
        is_folded: whether the words replace the sentence.
        translation: the sentence, and its words below.
    """

    def __init__(self, panel: SentencePanel) -> None:
        self._panel = panel
        self.is_folded = False
        self._source_name, self._target_name = label("muted"), label("muted")
        scales(self._source_name.setContentsMargins, 0, 7, 0, 0)
        scales(self._target_name.setContentsMargins, 0, 5, 0, 0)
        self.translation, corner, side = QWidget(), QWidget(), QWidget()
        column_of(panel.sentence, panel.chips_area, spacing=5, within=self.translation)
        self._corner = row_of(spacing=2, within=corner)
        buttons = row_of(1, panel.edit_button, panel.copy_button, spacing=2)
        column_of(buttons, panel.facts, 1, spacing=0, within=side)
        scales(panel.facts.setContentsMargins, 0, 0, 7, 0)
        grid = self._grid = QGridLayout(panel)
        scales(grid.setHorizontalSpacing, 12)
        top, right = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignRight
        rows = (self._source_name, panel.input, corner), (self._target_name, self.translation, side)
        for row, (name, content, beside) in enumerate(rows):
            grid.addWidget(name, row, 0, top)
            grid.addWidget(content, row, 1)
            grid.addWidget(beside, row, 2, top | right)
        grid.setColumnStretch(1, 1)
        changes = row_of((panel.interventions, 1), (panel.shown_switch, 0, top), spacing=12)
        grid.addLayout(changes, len(rows), 0, 1, 3)
        self._space()

    def add_beside_field(self, button: QWidget) -> None:
        """Puts a button next to the field, before others that were put there."""
        self._corner.insertWidget(0, button)
        QWidget.setTabOrder(self._panel.input, button)

    def add_button(self, button: QWidget) -> None:
        """Puts a button at the end of the first line."""
        self._corner.addWidget(button)
        QWidget.setTabOrder(self._panel.input, button)

    def fold(self, is_folded: bool) -> bool:
        """Folds or unfolds; whether that changed anything."""
        if is_folded == self.is_folded:
            return False
        self.is_folded = is_folded
        self._space()
        return True

    def show_names(self, source: str, target: str) -> None:
        """Shows the names of the two languages."""
        self._source_name.setText(source)
        self._target_name.setText(target)

    def _space(self) -> None:
        margin = 2 if self.is_folded else 10
        scales(self._grid.setContentsMargins, PANEL_MARGIN, margin, PANEL_MARGIN - 6, margin)
        scales(self._grid.setVerticalSpacing, 2 if self.is_folded else 5)


class Facts(QLabel):
    """Log-probability and time of the translation; a link cancels one that takes long.

    Attributes:
        is_busy: whether it reports a long translation.
    """

    def __init__(self, state: ExperimentState) -> None:
        super().__init__()
        self.setProperty("role", "small")
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.LinksAccessibleByMouse)
        self._state = state
        self.is_busy = False
        self._busy_timer = QTimer(self, singleShot=True, interval=BUSY_DELAY_MS)
        self._busy_timer.timeout.connect(self._show_busy)
        self.linkActivated.connect(lambda _link: state.cancel())
        state.request.changed.connect(self._on_request)
        state.result_changed.connect(self._show_facts)
        self._show_facts()

    def _on_request(self) -> None:
        if self._state.request.is_running:
            self._busy_timer.start()
        else:
            self._busy_timer.stop()
            self._show_facts()

    def _show_busy(self) -> None:
        self.is_busy = True
        color = current_theme().color("accent").name()
        self.setTextFormat(Qt.TextFormat.RichText)  # as many lines as the facts: nothing jumps
        self.setText(f'{BUSY}<br><a href="cancel" style="color:{color}">Cancel</a> (Esc)')

    def _show_facts(self) -> None:
        self.is_busy = False
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText("" if self._state.withheld else facts_in_words(self._state.result))

    def sizeHint(self) -> QSize:
        """Two lines as wide as the widest facts, so that nothing moves."""
        metrics = self.fontMetrics()
        room = QSize(metrics.horizontalAdvance(WIDEST_FACTS), 2 * metrics.lineSpacing())
        return super().sizeHint().expandedTo(room)


class SentenceNotes:
    """Notes on the text: unknown words, a shortened text, a refusal, dropped changes.

    Attributes:
        label: shows the notes; hidden if there are none.
    """

    def __init__(self, state: ExperimentState, source: SentenceInput, target: TargetLine) -> None:
        self.label = ElidingLabel("warm")
        self._state, self._source, self._target = state, source, target
        self._left_out: dict[SentenceInput, str] = {}
        self._plain = self._of_typed_text = ""
        self._of_result: tuple[ExperimentResult | None, str] = None, ""
        for field in (source, target):
            field.shortened.connect(partial(self._on_shortened, field))
            field.textChanged.connect(partial(self._on_text_changed, field))
        for event in (state.notice_changed, state.request.changed, state.result_changed):
            event.connect(self._say)

    def expect_plain(self, notice: str) -> None:
        """A notice that is not a warning: it is shown in quiet colours."""
        self._plain = notice

    def say_of_typed_text(self, note: str) -> None:
        """A note on the typed text, until its result has a better one; empty: none."""
        if note != self._of_typed_text:
            self._of_typed_text = note
            self._say()

    def say_of_result(self, result: ExperimentResult, note: str) -> None:
        """A note on this result, after its own."""
        self._of_result = result, note
        self._say()

    def _on_shortened(self, field: SentenceInput, num_characters: int) -> None:
        if field is self._source:
            note = left_out(num_characters)
        elif self._target.is_editable:
            note = left_out(num_characters, "translation")
        else:  # the model's own
            note = not_shown(num_characters)
        self._left_out[field] = note
        self._say()

    def _on_text_changed(self, field: SentenceInput) -> None:
        """Removes the note on left-out characters once there is room."""
        if field in self._left_out and len(field.text) < MAX_CHARACTERS:
            del self._left_out[field]
            self._say()

    def _say(self) -> None:
        state = self._state
        translation = state.translation if state.is_translated else None
        # without a result, the problem is shown in place of the maps
        problem = state.request.problem if state.result is not None else ""
        # `CoverageNotice` or `WithheldNotice` shows the hint
        notes = (
            ()
            if translation is None
            else (note for note in translation.notes if note != translation.hint)
        )
        result, note_of_result = self._of_result
        if translation is not None and state.current is result:
            notes = (*notes, note_of_result)
        said = (problem,) if problem else notes
        if state.latest is not None and state.latest.experiment.source_text == self._source.text:
            self._of_typed_text = ""
        elif self._of_typed_text:
            said = (self._of_typed_text,)
        text = " ".join(filter(None, [*self._left_out.values(), *said, state.notice]))
        role = "muted" if text and text == self._plain else "warm"
        if self.label.property("role") != role:
            set_role(self.label, role)
        show_text(self.label, text)


def facts_in_words(result: ExperimentResult | None) -> str:
    """Two lines: the translation's log-probability, then its time or the original's number."""
    if result is None:
        return ""
    translation = result.changed
    if translation.is_given:
        before = result.original.log_probability
        now = translation.log_probability
        lines = [
            (
                "log-probability "
                f"{_from_to(before, now) if result.is_changed else _per_token(translation)}"
            )
        ]
        if result.own is not None:
            lines.append(f"the model's own {_per_token(result.own)}")
        return "\n".join(lines)
    first = f"log-probability {number(translation.log_probability)}"
    if not result.is_changed:
        return f"{first}\n{duration(translation.seconds, exact=True)}"
    before = result.original.log_probability
    now = sum(result.original_log_probabilities)
    return f"{first}\nof the original: {_from_to(before, now)}"


def typing_hint(state: ExperimentState) -> str:
    """A hint on the kind of text that the current model reads."""
    run = state.model.run if state.model is not None else None
    if run is not None and run.is_copy_task:
        return "Type numbers separated by spaces"
    return (
        f"Type {a_sentence_in(run.data.source_language if run is not None else BUNDLED_LANGUAGE)}"
    )


def original_text(result: ExperimentResult, addition: str = "") -> str:
    """A line that compares original and changed translation, and shorter forms; empty if unchanged.

    `addition`: what else is known about the changes; only the original is cut for it.
    """
    own = f"The model's own: {result.own.text}" if result.own is not None else ""
    if not result.is_changed:
        return own
    before = result.original.log_probability
    now = sum(result.original_log_probabilities)
    digits = _digits(before, now)
    # of the numbers as shown, so that they add up
    change = round(now, digits) - round(before, digits)
    by = number(abs(change), digits)
    more, higher = ("more", "higher") if change > 0 else ("less", "lower")
    verdict = f"now {more} probable" if change else "equally probable"
    measured = f"{verdict}: log-probability {higher} by {by}" if change else verdict
    short = f"{verdict.capitalize()}, by {by}" if change else verdict.capitalize()
    if own:
        words = own
        forms = [f"{measured.capitalize()} · {own}", f"{short} · {own}"]
    elif result.original.text == result.changed.text:
        words = PHRASES["same_words"]
        plain = verdict.removeprefix("now ")
        forms = [
            f"{words} · {measured}",
            f"Same words · {verdict}",
            f"Same words, {plain}",
            "Same words",
        ]
    else:
        words = f"Original: {result.original.text or 'nothing'}"
        last = f"{short} · {words}"  # a long sentence is cut
        forms = [
            f"{words} · {measured}",
            f"{words} · {verdict}, by {by}",
            f"{words} · {verdict}",
            words,
            last,
        ]
        # only forced words differ, and they leave the original as probable as it was
        if not change:
            forms = [words] * 3
    if addition:
        forms = [
            f"{forms[0]} · {addition}",
            f"{forms[1]} · {addition}",
            f"{short} · {addition} · {words}",
        ]
    return "\n".join(forms)


def _per_token(translation: Translation) -> str:
    total = translation.log_probability
    num_tokens = max(len(translation.log_probabilities), 1)
    return f"{number(total)} ({number(total / num_tokens)} per token)"


def _from_to(before: float, now: float) -> str:
    digits = _digits(before, now)
    # once, if they look the same
    return " → ".join(dict.fromkeys((number(before, digits), number(now, digits))))


def _digits(before: float, now: float) -> int:
    """Decimals of both numbers: three where these show a difference that two hide."""
    return next((digits for digits in (2, 3) if number(before, digits) != number(now, digits)), 2)


class CoverageNotice(ElidingLabel):
    """A hint to type another sentence, or a notice on one unlike the training data.

    Hidden for others.

    Attributes:
        button: opens the menu of models. Without a menu, it is hidden and the notice mentions no
            other model; it is also hidden with a hint, and without room for it and a few words.
    """

    def __init__(self) -> None:
        super().__init__("warm")
        self.setProperty("terms", "training data")
        self.button = MenuButton(
            "Open a bigger model…", "Open a model trained on more or other text"
        )
        set_role(self.button, "message")
        self.button.hide()
        self._offers_models = False
        self.hide()

    def show_translation(
        self, translation: Translation | None, *, is_withheld: bool = False
    ) -> None:
        """Shows the hint or the notice on a sentence, if there is one.

        `is_withheld`: whether `WithheldNotice` has said that already.
        """
        coverage = translation.coverage if translation is not None else None
        notice = translation.hint if translation is not None else ""
        self._offers_models = False
        if coverage is not None and coverage.is_unlike_training and not notice:
            self._offers_models = coverage.advises_model and self.button.menu() is not None
            forms = [] if is_withheld else [coverage.known, UNLIKE]
            if self._offers_models:
                forms.insert(0, " ".join([*forms[:1], OTHER_TEXT]))
            notice = "\n".join(forms)
        elif is_withheld:
            notice = ""
        self.setText(notice)
        self.setVisible(bool(notice))
        self.button.setVisible(self._offers_models)

    def fit(self, width: int) -> None:
        """Offers models only where the card with the notice has this width, or more."""
        self.button.setVisible(self._offers_models and width >= scaled(LEAST_WITH_MODELS))


class WithheldNotice(QWidget):
    """Says, in the place of the translation, why there is none, and offers to show it anyway.

    It covers the place, so that nothing moves. Hidden without need.

    Args:
        panel: its sentence and words are covered.

    Attributes:
        label: the message.
        button: shows the translation.
    """

    def __init__(self, panel: SentencePanel) -> None:
        super().__init__(panel)
        self._panel = panel
        self.label = ElidingLabel("warm")
        self.label.setProperty("terms", "training data")
        self.button = flat_button("Translate anyway", "Show what the model makes of this text")
        self.button.clicked.connect(panel.state.show_withheld)
        message = row_of(self.label, self.button, 1, spacing=8)
        column_of(message, 1, within=self)
        self.hide()

    def show_translation(self, translation: Translation | None) -> None:
        """Shows why this translation is withheld; None hides the message."""
        coverage = translation.coverage if translation is not None else None
        if translation is not None and coverage is not None:
            reason = translation.hint or coverage.known
            self.label.setText(f"Not translated. {reason}\n{reason}")
        set_visible(self, translation is not None, focus_to=self._panel.input)
        self.fit()

    def fit(self) -> None:
        """Covers the translation where it is now."""
        self.setGeometry(self._panel.rows.translation.geometry())
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(event.rect(), current_theme().color("panel"))
