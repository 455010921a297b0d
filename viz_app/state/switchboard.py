"""Which heads are switched off, and what that did to the translation. No Qt, no torch."""

import difflib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from core.model.heads import Head
from core.translation.result import Translation

Mark = Literal["same", "new", "gone"]
MOST_NAMED = 2
MAPS_NOTE = "Maps of the whole model, every head on; the orange line above is what changes."


@dataclass(frozen=True, eq=False)
class SwitchedOff:
    """What a translation becomes with some heads off.

    Attributes:
        off: the heads.
        before: the translation that is shown: the model's own with every head on, or one that was given.
        own: the model's own with every head on; the same as `before` unless that was given.
        after: the model's own with these heads off.
        log_probability: natural log of the probability that the model with these heads off gives to `before`.
    """

    off: frozenset[Head]
    before: Translation
    own: Translation
    after: Translation
    log_probability: float

    @property
    def difference(self) -> float:
        """How much the log-probability of the translation that is shown changed; below 0 if it became less probable."""
        return self.log_probability - self.before.log_probability


@dataclass(frozen=True)
class Piece:
    """A stretch of a sentence: kept, new, or (a word that is no longer there) gone."""

    text: str
    mark: Mark


class Switchboard:
    """Heads switched off, and the answer that is awaited or shown.

    Attributes:
        off: these heads give nothing to their layers.
        effect: what that did; None until the answer comes, and while every head is on.
        problem: why there is no answer; empty if there is one.
        awaited_id: id of the newest request, None if its answer has come.
    """

    def __init__(self) -> None:
        self.off: frozenset[Head] = frozenset()
        self.effect: SwitchedOff | None = None
        self.problem = ""
        self.awaited_id: int | None = None

    @property
    def maps_note(self) -> str:
        """What the maps are while a head is off, in one sentence: still those of the whole model. Else empty."""
        return MAPS_NOTE if self.off else ""

    @property
    def maps_fact(self) -> str:
        """The same for a caption, where no orange line may be in sight: which heads are off, and where. Else empty."""
        if not self.off:
            return ""
        names = ", ".join(map(str, in_order(self.off)))
        return f"every head on, in maps and translation; switched off in the window's comparison alone: {names}"

    def toggle(self, head: Head) -> None:
        """Switches a head off, or on again. What was known or awaited of the earlier choice no longer counts."""
        self.off = self.off ^ {head}
        self.forget_effect()

    def reset(self) -> None:
        """Every head is on."""
        self.off = frozenset()
        self.forget_effect()

    def forget_effect(self) -> None:
        """The sentence or the choice of heads changed."""
        self.effect = self.awaited_id = None
        self.problem = ""

    def await_effect(self, request_id: int) -> None:
        """From now on only the answer to this request counts."""
        self.awaited_id = request_id

    def accept(self, request_id: int, effect: SwitchedOff) -> bool:
        """Keeps an answer if it is the awaited one; a stale one changes nothing and returns False."""
        if not self._settle(request_id):
            return False
        self.effect = effect
        return True

    def refuse(self, request_id: int, problem: str) -> bool:
        """There will be no answer to this request; False if a newer one is awaited."""
        if not self._settle(request_id):
            return False
        self.problem = problem
        return True

    def _settle(self, request_id: int) -> bool:
        if request_id != self.awaited_id:
            return False
        self.awaited_id = None
        return True


def name_heads(heads: Collection[Head]) -> str:
    """A few heads by name, many by number."""
    if len(heads) > MOST_NAMED:
        return f"{len(heads)} heads"
    return " and ".join(map(str, in_order(heads)))


def in_order(heads: Collection[Head]) -> list[Head]:
    """Encoder, decoder, cross; from the first layer up."""
    kinds = ("encoder", "decoder", "cross")
    return sorted(heads, key=lambda head: (kinds.index(head.kind), head.layer, head.head))


def changed_pieces(before: Translation, after: Translation) -> tuple[Piece, ...]:
    """The sentence of `after`, its words that are not in `before` marked, words that only went missing put back.

    A word that was replaced is shown by the word that replaced it alone.
    """
    old, new = [word.text for word in before.target_words], [word.text for word in after.target_words]
    return pieces_of(old, new, after.text)


def pieces_of(old: Sequence[str], new: Sequence[str], text: str) -> tuple[Piece, ...]:
    """`text`, which is made of the words `new`, marked by what is not in `old`; see `changed_pieces`."""
    pieces: list[Piece] = []
    position = 0

    def say(word: str, mark: Mark) -> int:
        start = text.lower().find(word.lower(), position)
        if start < 0 or len(text.lower()) != len(text):  # not to be found in the sentence: the word as the model has it
            pieces.append(Piece(f" {word}", mark))
            return position
        if start > position:
            pieces.append(Piece(text[position:start], "same"))
        pieces.append(Piece(text[start : start + len(word)], mark))
        return start + len(word)

    for tag, old_from, old_to, new_from, new_to in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if tag == "delete":
            pieces.append(Piece(" " + " ".join(old[old_from:old_to]), "gone"))
        for word in new[new_from:new_to]:
            position = say(word, "same" if tag == "equal" else "new")
    return (*pieces, Piece(text[position:], "same")) if position < len(text) else tuple(pieces)
