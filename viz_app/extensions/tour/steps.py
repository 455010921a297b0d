"""The steps of the quick tour: what each changes in the window, and its sentences. No Qt."""

from functools import partial
from typing import ClassVar

from augenmerk.core.model.heads import ATTENTION_KINDS, Head, heads_in
from augenmerk.core.quantities import percent_in_words
from augenmerk.core.text.subwords import WORD_MARK
from augenmerk.core.translation.experiment import HeadScaled, in_groups
from augenmerk.core.translation.result import ExperimentResult, Translation

from ...state.experiment_editor import intervene
from ...state.experiment_state import ExperimentState
from ...state.head_roles import clearest_head
from ...state.map_view import MapView, Pair
from ..rows.moving import move_row

MIN_WEIGHT = 0.5
SENTENCE = "Ein Mädchen baut einen Schneemann im Garten."
"""The sentence that the tour changes with the bundled model: without any source, the model always
writes about a man in a blue shirt, which a reader's own sentence may be about, too.
"""
ROW_HEAD = Head("cross", 1, 7)
ROW_WORD, ROW_KEY = "garden", "baut"
"""With the bundled model, this row of this head changes the translation: see `MovedRow`."""

UNDONE = "The change made by this step was undone. Press Enter to continue."


class TourStep:
    """A step of the tour, which begins after the first result.

    Attributes:
        button: the text of the button that leads to it.
        changes: whether it changes the experiment.
        state: the experiment on the screen.
    """

    button: ClassVar[str] = ""
    changes: ClassVar[bool] = False

    def __init__(self, state: ExperimentState) -> None:
        self.state = state

    @property
    def translation(self) -> Translation:
        """The translation on the screen."""
        assert self.state.translation is not None, "nothing is said before the first result"
        return self.state.translation

    def begin(self) -> None:
        """Changes the window."""

    def follow_result(self) -> None:
        """Called with each result while the step is shown."""

    def text(self) -> str:
        """Its sentences about the present result and the present cells of the map, in Markdown."""
        raise NotImplementedError


class StrongestCell(TourStep):
    """Pins a large weight between two words."""

    def begin(self) -> None:
        state, translation = self.state, self.translation
        state.settings.shown = "changed"
        state.intents.choose_head(Head("cross", *clearest_head(translation.maps.cross)))
        state.selection.pinned = _telling_pair(translation, self._shown_weights)

    def text(self) -> str:
        pinned = self.state.selection.pinned
        translation = self.translation
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

    @property
    def _shown_weights(self) -> MapView:
        """The weights of the chosen head in the large map: of merged words, and without hidden
        tokens.
        """
        view = self.state.maps.with_settings(measure="weight", scope="head", shown="changed").view()
        assert view is not None, "nothing is said before the first result"
        return view


class PositionalHead(TourStep):
    """Chooses a head that looks at the previous token."""

    button = "Another head"

    def __init__(self, state: ExperimentState) -> None:
        super().__init__(state)
        self._head = Head("encoder", 0, 0)

    def begin(self) -> None:
        state = self.state
        heads = heads_in("encoder", *state.maps.shape("encoder"))
        previous_heads = [head for head in heads if state.roles.of(head) == "previous"]
        share = partial(_share_of_previous, self.translation)
        self._head = max(previous_heads, key=share, default=Head("encoder", 0, 0))
        state.selection.clear_marks()
        state.intents.choose_head(self._head)

    def text(self) -> str:
        num_heads = sum(
            layers * heads for layers, heads in map(self.state.maps.shape, ATTENTION_KINDS)
        )
        role = self.state.roles.of(self._head)
        share = _share_of_previous(self.translation, self._head)
        does = "is another"
        if role == "previous":
            does = f"here gives {percent_in_words(share)} of its attention to the token before"
        return (
            f"The model has {num_heads} heads. The small maps are those of all heads. Heads "
            f"differ: this one {does}."
        )


class SwitchedOffHeads(TourStep):
    """Switches all heads of cross-attention off."""

    button = "Switch heads off"
    changes = True

    def begin(self) -> None:
        state = self.state
        heads = [head for head in state.maps.all_heads if head.kind == "cross"]
        state.intents.choose_head(heads[0])
        state.submit(intervene(*map(HeadScaled, heads)))

    def text(self) -> str:
        result = self.state.result
        if not self.state.experiment.interventions:
            return UNDONE
        if result is None or not result.is_changed:
            return (
                "All heads of cross-attention are switched off, and the sentence is translated "
                "again…"
            )
        heads = self.state.maps.all_heads
        off = ", ".join(name for name, _ in in_groups(result.experiment.interventions, heads))
        sees_nothing = result.experiment.heads_off.issuperset(
            head for head in heads if head.kind == "cross"
        )
        why = " Nothing tells the decoder what the sentence says." if sees_nothing else ""
        return (
            f"**{off[0].upper()}{off[1:]}**.{why} {_effect_of(result)} A single head is rarely missed: "
            "right-click a small map to switch it off."
        )


class MovedRow(TourStep):
    """Moves the attention of one word in the tour's sentence."""

    button = "Move attention"
    changes = True

    def __init__(self, state: ExperimentState) -> None:
        super().__init__(state)
        self._is_moved = False

    def begin(self) -> None:
        self._is_moved = False
        self.state.intents.choose_head(ROW_HEAD)
        self.state.selection.clear_marks()

    def follow_result(self) -> None:
        """Gives all weight of the row to another key once its sentence is translated, and pins this
        cell.

        The result unpins it if the row has another name, so it is pinned again.
        """
        state, result = self.state, self.state.result
        if result is None or state.selection.pinned is not None or state.request.is_running:
            return
        row, key = row_to_move(result.original)
        if row is not None and key is not None and (result.is_changed or not self._is_moved):
            state.selection.pinned = Pair(row, key)
            if not result.is_changed:
                self._is_moved = True  # only once, so that undo and reset last
                state.submit(move_row(ROW_HEAD, row, key, len(result.original.source_tokens)))

    def text(self) -> str:
        result = self.state.result
        rows = result.experiment.attention_rows if result is not None else ()
        if self._is_moved and not self.state.experiment.attention_rows:
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
        return (
            f"This head looked at **{looked_at}** to predict **{ROW_WORD}**. Its weights are now "
            f"set by hand to **{ROW_KEY}**. {_effect_of(result)} The tab *Steps* sets any weights."
        )


class Typing(TourStep):
    """Invites the reader to type a sentence."""

    button = "Your own sentence"

    def text(self) -> str:
        coverage = self.translation.coverage
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


def _effect_of(result: ExperimentResult) -> str:
    """What the changes do to the translation, as a sentence."""
    before, after = result.original.text, result.changed.text
    return "The words stay the same." if before == after else f"“{before}” becomes “{after}”"


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
