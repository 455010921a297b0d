"""Tokens and their ids."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

UNKNOWN, PADDING, START, END = "<unk>", "<pad>", "<sos>", "<eos>"
SPECIALS = (UNKNOWN, PADDING, START, END)
STARTS, ENDS = frozenset((START, PADDING, "<s>")), frozenset((END, "</s>"))
"""Labels of tokens that start and end a target; Marian's begin with `<pad>` and end with `</s>`."""
MARKS = frozenset((*SPECIALS, "<blank>")) | STARTS | ENDS
"""All labels that are not words."""
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Vocabulary:
    """An ordered list of tokens; a token's id is its place.

    Attributes:
        tokens: every token, specials included.
        padding_id: always defined.
        start_id: always defined.
        end_id: None if the task has no end token (the copy task: its length is known).
        unknown_id: None if no token can be unknown.
    """

    tokens: tuple[str, ...]
    padding_id: int
    start_id: int
    end_id: int | None
    unknown_id: int | None

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Ids by token."""
        return {token: index for index, token in enumerate(self.tokens)}

    @cached_property
    def special_ids(self) -> frozenset[int]:
        """Ids that are not words.

        A start token that is a symbol of its task (the copy task) is a word.
        """
        marks = (self.padding_id, self.end_id, self.unknown_id)
        start = self.start_id if self.tokens[self.start_id] in STARTS else None
        return frozenset(mark for mark in (*marks, start) if mark is not None)

    @classmethod
    def with_specials(cls, tokens: Sequence[str]) -> "Vocabulary":
        """A vocabulary whose list begins with `SPECIALS`."""
        return cls(tuple(tokens), padding_id=1, start_id=2, end_id=3, unknown_id=0)

    def to_dict(self) -> dict[str, Any]:
        """The vocabulary as JSON-ready values."""
        return asdict(self) | {"tokens": list(self.tokens)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Vocabulary":
        """The inverse of `to_dict`.

        Raises `ValueError`, `TypeError` or `KeyError` if it is damaged.
        """
        if not isinstance(values["tokens"], list):
            raise TypeError("the tokens are not a list")
        vocabulary = cls(**{**values, "tokens": tuple(values["tokens"])})
        if not all(isinstance(token, str) for token in vocabulary.tokens) or len(
            vocabulary.ids
        ) != len(vocabulary):
            raise ValueError("the tokens are not different words")
        if any(_SURROGATE.search(token) for token in vocabulary.tokens):
            raise ValueError("a token holds an invalid character (lone surrogate)")
        vocabulary.check_marks()
        return vocabulary

    def check_marks(self) -> None:
        """Checks that each special token has an id of its own, and that a word is left.

        Raises `ValueError` or `TypeError`.
        """
        optional = [mark for mark in (self.end_id, self.unknown_id) if mark is not None]
        marks = [self.padding_id, self.start_id, *optional]
        for mark in marks:
            if isinstance(mark, bool) or not isinstance(mark, int):
                raise TypeError(f"{mark!r} is not an id")
            if mark not in range(len(self)):
                raise ValueError(f"{mark!r} is not the id of a token")
        of_meaning = [self.padding_id, *optional]  # padding may also be what starts a sentence
        if len(set(of_meaning)) != len(of_meaning) or self.start_id in optional:
            raise ValueError("two special tokens have the same id")
        if len(self.special_ids) == len(self):
            raise ValueError("it contains only special tokens")
