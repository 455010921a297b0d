"""What a model's training data say of a sentence: which words it has hardly seen, and whether it is like them at all.

No language is identified: the counts of words decide (`core.text.word_counts`).
"""

from dataclasses import dataclass

from augenmerk.core.text.text_codec import CONTINUATION
from augenmerk.core.text.vocabulary import UNKNOWN

AS_UNKNOWN = f"read as an unknown word ({UNKNOWN})"
"""What becomes of a word that the vocabulary does not know, in notes."""
OTHER_TEXT = "For other text, import a bigger model."


@dataclass(frozen=True)
class RareWord:
    """A source word that the training data had fewer than `RARE_BELOW` times.

    Attributes:
        text: as the model reads it.
        count: how often the training data had it.
        start, end: half-open range of its tokens in `Translation.source_tokens`.
        pieces: what the model reads in its place.
        is_unknown: whether the vocabulary does not know all of it.
        is_exact: whether `count` is the number itself; else the most it can be.
    """

    text: str
    count: int
    start: int
    end: int
    pieces: tuple[str, ...]
    is_unknown: bool = False
    is_exact: bool = True

    @property
    def explanation(self) -> str:
        """For people: “not in the training data; the model guesses from its pieces: le·sen”."""
        if not self.is_exact:
            seen = f"at most {_times(self.count)} in the training data"
        elif self.count:
            seen = f"only {_times(self.count)} in the training data"
        else:
            seen = "not in the training data"
        if self.is_unknown:
            return f"{seen}; {AS_UNKNOWN}"
        if len(self.pieces) > 1:
            return f"{seen}; the model guesses from its pieces: {CONTINUATION.join(self.pieces)}"
        return seen if self.count else f"{seen}; the model guesses"


@dataclass(frozen=True)
class RespelledWord:
    """A source word that was read in another spelling, because the training data have that one alone.

    Attributes:
        text: as typed, case folded.
        read_as: the spelling that the model reads.
        start, end: half-open range of its tokens in `Translation.source_tokens`.
    """

    text: str
    read_as: str
    start: int
    end: int

    @property
    def explanation(self) -> str:
        """For people: read as “straße”: “strasse” is not in the training data."""
        return f"read as “{self.read_as}”: “{self.text}” is not in the training data"


@dataclass(frozen=True)
class Coverage:
    """How well the training data cover a sentence.

    Attributes:
        rare_words: in the order of the sentence.
        is_unlike_training: whether most of its words are rare, or they are rarer together than those of nearly all
            training sentences, as in another language.
        kind: what kind of text the training data were, see `WordCounts`; empty if it is not known.
        respelled_words: in the order of the sentence; one of them is rare if the spelling that was read is.
    """

    rare_words: tuple[RareWord, ...]
    is_unlike_training: bool
    kind: str = ""
    respelled_words: tuple[RespelledWord, ...] = ()

    @property
    def notice(self) -> str:
        """What to tell of a sentence that is unlike the training data; empty of others."""
        if not self.is_unlike_training:
            return ""
        return f"{self.known} {OTHER_TEXT}"

    @property
    def known(self) -> str:
        """What the model knows, in a sentence."""
        return f"This model knows {self.kind}." if self.kind else "This model's training data had few of these words."


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
