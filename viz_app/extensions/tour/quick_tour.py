"""The quick tour: a few sentences about the screen, each with something to see or to do."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.quantities import percent_in_words
from augenmerk.core.text.subwords import WORD_MARK
from augenmerk.core.translation.experiment import HeadScaled, in_groups
from augenmerk.core.translation.result import Translation

from ...state.experiment_editor import edit_text, intervene, move_row, reset
from ...state.experiment_state import ExperimentState
from ...state.head_roles import clearest_head
from ...state.map_view import MapView, Pair
from ...theme import PANEL_MARGIN, set_role
from ...widgets.buttons import flat_button
from ...widgets.commands import Command, add_shortcut
from ...widgets.labels import label
from ...widgets.layouts import row_of

MIN_WEIGHT = 0.5
ROW_SENTENCE = "Ein Mädchen baut einen Schneemann im Garten."
ROW_HEAD = Head("cross", 1, 7)
ROW_WORD, ROW_KEY = "garden", "baut"
"""With the bundled model, this row of this head changes the translation: see
`QuickTour._move_row`."""
SELECTING = ("label_mode", "hides_wrapping", "hides_punctuation", "merges_words")
"""Settings that make other cells of the same weights."""

UNDONE = "The change made by this step was undone. Press Enter to continue."


class QuickTour(QFrame):
    """A line above the sentence. It waits for the first result, and never returns once it is left.

    Attributes:
        text: the sentence. Enter and → show the next one while the bar has the keyboard.
        next_button: shows the next sentence.
        skip_button: ends the tour.
        place: of the step, counted from 0.
        has_begun: whether the first sentence was shown.

    Signals:
        begun(): the first sentence is shown now.
        ended(): the last one was left, or all were skipped.
        learn_wanted(): the reader wants to know more.
        typing_wanted(): the reader will type a sentence.
    """

    begun = Signal()
    ended = Signal()
    learn_wanted = Signal()
    typing_wanted = Signal()

    def __init__(self, state: ExperimentState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "panel")
        self._state = state
        self.place = 0
        self.has_begun = False
        self._positional = Head("encoder", 0, 0)
        self.text = label("reading", wraps=True)
        self.text.setTextFormat(Qt.TextFormat.MarkdownText)
        self.next_button = QPushButton()
        set_role(self.next_button, "primary")
        self.skip_button = flat_button("Skip", "Close the tour. The menu ☰ offers it again.")
        self.next_button.clicked.connect(self.go_on)
        for command in QUICK_TOUR_COMMANDS:
            inside = Qt.ShortcutContext.WidgetWithChildrenShortcut  # a button would take arrows
            add_shortcut(self, command.on(self), command.local_keys, inside)
        self.skip_button.clicked.connect(self.skip)
        self.ended.connect(self._stop_listening)
        self._count = label("small")
        margins = PANEL_MARGIN, 8, PANEL_MARGIN - 6, 8
        parts = (self.text, 1), self._count, self.next_button, self.skip_button
        row_of(*parts, spacing=12, margins=margins, within=self)
        self._own_text = ""
        self._is_row_moved = False
        self.setVisible(False)
        state.result_changed.connect(self._on_result)
        for name in SELECTING:
            getattr(state.settings.events, name).connect(self._say, max_args=0)
        self._on_result()

    @property
    def _steps(self) -> tuple[tuple[Callable[[], None], Callable[[], str], str], ...]:
        """For each step: changes the window, its text in Markdown, the text of the button."""
        first = (
            (self._pin_strongest, self._say_strongest, "Another head"),
            (self._choose_positional, self._say_positional, "Switch heads off"),
        )
        last = (self._offer_typing, self._say_typing, "Learn more")
        if self._state.model is None or not self._state.model.is_bundled:
            return *first, (self._switch_off, self._say_switched_off, "Your own sentence"), last
        moving = self._show_row_sentence, self._say_row, "Your own sentence"
        return *first, (self._switch_off, self._say_switched_off, "Move attention"), moving, last

    def _stop_listening(self) -> None:
        """Disconnects all signals: Python may keep this object for a while after the widget is
        deleted.
        """
        self._state.result_changed.disconnect(self._on_result)
        for name in SELECTING:
            getattr(self._state.settings.events, name).disconnect(self._say)

    def _on_result(self) -> None:
        if self._state.translation is None:
            return
        if not self.has_begun:
            self.has_begun = True
            self.setVisible(True)
            self._show_step()
            self.begun.emit()
        else:
            self._move_row()
            self._say()

    def go_on(self) -> None:
        """Shows the next step; after the last, the Learn page."""
        if self.place + 1 == len(self._steps):
            self.learn_wanted.emit()
            self.ended.emit()
            return
        self.place += 1
        self._show_step()

    def skip(self) -> None:
        """Ends the tour and undoes its changes, unless the last step already did."""
        # the first two steps change only the view
        has_changed = 1 < self.place < len(self._steps) - 1
        self.ended.emit()
        if has_changed:
            self._restore()

    def _restore(self) -> None:
        """Resets all changes and restores the reader's own sentence."""
        if self._state.experiment.interventions:
            self._state.submit(reset)
        if self._own_text and self._state.experiment.source_text == ROW_SENTENCE:
            self._state.submit(edit_text(self._own_text))

    def _show_step(self) -> None:
        begin, _, next_label = self._steps[self.place]
        begin()
        self.next_button.setText(next_label)
        is_last = self.place + 1 == len(self._steps)
        self.skip_button.setText("Done" if is_last else "Skip")  # nothing is left to skip
        self._count.setText(
            f"{self.place + 1} of {len(self._steps)}{'' if is_last else ' · key: Enter'}"
        )
        self._say()

    def _say(self) -> None:
        """Shows the sentence of the step, about the present result and the present cells of the
        map.
        """
        if self.has_begun and self._state.translation is not None:
            self.text.setText(self._steps[self.place][1]())

    # --- the sentences ----------------------------------------------------------------------------

    @property
    def _translation(self) -> Translation:
        assert self._state.translation is not None, "nothing is said before the first result"
        return self._state.translation

    @property
    def _shown_weights(self) -> MapView:
        """The weights of the chosen head in the large map: of merged words, and without hidden
        tokens.
        """
        view = self._state.maps.with_settings(
            measure="weight", scope="head", shown="changed"
        ).view()
        assert view is not None, "nothing is said before the first result"
        return view

    def _pin_strongest(self) -> None:
        state, translation = self._state, self._translation
        state.settings.shown = "changed"
        state.intents.choose_head(Head("cross", *clearest_head(translation.maps.cross)))
        state.selection.pinned = _telling_pair(translation, self._shown_weights)

    def _say_strongest(self) -> str:
        pinned = self._state.selection.pinned
        translation = self._translation
        is_there = pinned is not None and pinned.query < len(translation.predicted_tokens)
        share = _share_of(self._shown_weights, pinned) if pinned is not None and is_there else None
        row, column = self._shown_weights.query_band_name, self._shown_weights.key_band_name
        if pinned is None or share is None:
            return (
                f"Each {row} of the large map is a word of the translation, each {column} one of "
                "the sentence."
            )
        word, looked_at = _word_at(translation, pinned)
        return (
            f"To predict **{word}**, one part of the model, a **head**, gave "
            f"{percent_in_words(share)} of its attention to **{looked_at}**: the outlined cell "
            f"of the large map. Each {row} is a word of the translation, each {column} a word of "
            "the sentence."
        )

    def _choose_positional(self) -> None:
        state = self._state
        layers, heads = state.maps.shape("encoder")
        previous_heads = [
            head
            for head in (
                Head("encoder", layer, head) for layer in range(layers) for head in range(heads)
            )
            if state.roles.of(head) == "previous"
        ]
        share = partial(_share_of_previous, self._translation)
        self._positional = max(previous_heads, key=share, default=Head("encoder", 0, 0))
        state.selection.clear_marks()
        state.intents.choose_head(self._positional)

    def _say_positional(self) -> str:
        num_heads = sum(
            layers * heads for layers, heads in map(self._state.maps.shape, ATTENTION_KINDS)
        )
        role = self._state.roles.of(self._positional)
        share = _share_of_previous(self._translation, self._positional)
        does = "is another"
        if role == "previous":
            does = f"here gives {percent_in_words(share)} of its attention to the token before"
        return (
            f"The model has {num_heads} heads. The small maps are those of all heads. Heads "
            f"differ: this one {does}."
        )

    def _switch_off(self) -> None:
        state = self._state
        heads = [head for head in state.maps.all_heads if head.kind == "cross"]
        state.intents.choose_head(heads[0])
        state.submit(intervene(*map(HeadScaled, heads)))

    def _say_switched_off(self) -> str:
        result = self._state.result
        if not self._state.experiment.interventions:
            return UNDONE
        if result is None or not result.is_changed:
            return (
                "All heads of cross-attention are switched off, and the sentence is translated "
                "again…"
            )
        heads = self._state.maps.all_heads
        text = result.changed.text
        off = ", ".join(name for name, _ in in_groups(result.experiment.interventions, heads))
        effect = (
            "The words stay the same." if text == result.original.text else f"Now it says “{text}”"
        )
        sees_nothing = result.experiment.heads_off.issuperset(
            head for head in heads if head.kind == "cross"
        )
        why = " Nothing tells the decoder what the sentence says." if sees_nothing else ""
        return (
            f"**{off[0].upper()}{off[1:]}**.{why} {effect} A single head is rarely missed: "
            "right-click a small map to switch it off."
        )

    def _show_row_sentence(self) -> None:
        self._is_row_moved = False
        self._own_text = self._state.experiment.source_text
        self._state.submit(reset)
        self._state.submit(edit_text(ROW_SENTENCE))
        self._state.intents.choose_head(ROW_HEAD)
        self._state.selection.clear_marks()

    def _move_row(self) -> None:
        """Gives all weight of the row to another key once its sentence is translated, and pins this
        cell.

        The result unpins it if the row has another name, so it is pinned again.
        """
        state = self._state
        result = self._state.result
        is_ready = (
            self._steps[self.place][0] == self._show_row_sentence and state.selection.pinned is None
        )
        if result is None or not is_ready or state.request.is_running:
            return
        row, key = row_to_move(result.original)
        if row is not None and key is not None and (result.is_changed or not self._is_row_moved):
            state.selection.pinned = Pair(row, key)
            if not result.is_changed:
                self._is_row_moved = True  # only once, so that undo and reset last
                state.submit(move_row(ROW_HEAD, row, key, len(result.original.source_tokens)))

    def _say_row(self) -> str:
        result = self._state.result
        rows = result.experiment.attention_rows if result is not None else ()
        if self._is_row_moved and not self._state.experiment.attention_rows:
            return UNDONE
        if result is None or not rows:
            return "The weights of a word are set by hand, and the sentence is translated again…"
        looked_at = result.original.source_tokens[
            int(
                result.original.maps.cross[
                    rows[0].head.layer, rows[0].head.head, rows[0].row
                ].argmax()
            )
        ]
        same = result.changed.text == result.original.text
        effect = (
            "The words stay the same."
            if same
            else f"“{result.original.text}” becomes “{result.changed.text}”"
        )
        return (
            f"This head looked at **{looked_at}** to predict **{ROW_WORD}**. Its weights are now "
            f"set by hand to **{ROW_KEY}**. {effect} The tab *Steps* sets any weights."
        )

    def _offer_typing(self) -> None:
        self._restore()
        self.typing_wanted.emit()

    def _say_typing(self) -> str:
        coverage = self._translation.coverage
        knows = (
            f" The model has learned from {coverage.kind} alone: other sentences often come out "
            "wrong."
            if coverage is not None and coverage.kind
            else ""
        )
        return (
            f"Type a sentence of your own.{knows} Ctrl+K lists all commands, F1 explains what "
            "you click on."
        )


QUICK_TOUR_COMMANDS = (
    Command[QuickTour](
        "Next step", QuickTour.go_on, local_keys=("Return", "Enter", "Right"), group="Quick tour"
    ),
    Command[QuickTour]("Skip all steps", QuickTour.skip, local_keys=("Esc",), group="Quick tour"),
)


def _share_of_previous(translation: Translation, head: Head) -> float:
    """The mean share of its weight that an encoder head gives to the previous token of this
    sentence.
    """
    weights = translation.maps.encoder[head.layer, head.head]
    return float(weights.diagonal(-1).mean()) if len(weights) > 1 else 0.0


def row_to_move(translation: Translation) -> tuple[int | None, int | None]:
    """The row and the key of the step that moves a row; None for one that is missing."""
    row, key = (
        next((index for index, token in enumerate(tokens) if token.strip(WORD_MARK) == word), None)
        for tokens, word in (
            (translation.predicted_tokens, ROW_WORD),
            (translation.source_tokens, ROW_KEY),
        )
    )
    return row, key


def _telling_pair(translation: Translation, shown: MapView) -> Pair | None:
    """The largest visible weight between two words; words of four letters come first."""
    pairs = [
        (share, min(len(target.text), len(source.text)) >= 4, pair)
        for target in translation.target_words
        for source in translation.source_words
        if (share := _share_of(shown, pair := Pair(target.start, source.start))) is not None
    ]
    strong = [candidate for candidate in pairs if candidate[0] >= MIN_WEIGHT]
    best = max(strong or pairs, key=lambda candidate: (candidate[1], candidate[0]), default=None)
    return best[2] if best is not None else None


def _share_of(shown: MapView, pair: Pair) -> float | None:
    """The value of a cell; None if it is not in the map."""
    cell = shown.place_of(pair)
    return float(shown.values[cell]) if cell is not None else None


def _word_at(translation: Translation, pair: Pair) -> tuple[str, str]:
    """The words of a cell; its tokens if it belongs to no word."""
    targets = [
        word.text for word in translation.target_words if word.start <= pair.query < word.end
    ]
    sources = [word.text for word in translation.source_words if word.start <= pair.key < word.end]
    return (
        targets[0] if targets else translation.predicted_tokens[pair.query],
        sources[0] if sources else translation.source_tokens[pair.key],
    )
