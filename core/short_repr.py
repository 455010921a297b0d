"""A `repr` that fits in one line, also of results with arrays."""

from dataclasses import fields
from reprlib import Repr
from typing import Any

MAX_REPR = 200
"""Characters of a `repr`."""


class _Members(Repr):
    """The members of a value: three of a list, and the shape of an array."""

    def __init__(self) -> None:
        super().__init__()
        self.maxtuple = self.maxlist = self.maxdict = self.maxset = self.maxfrozenset = 3
        self.maxstring = 60
        self.maxother = 90  # a scaled head in full

    def repr_ndarray(self, array: Any, level: int) -> str:
        """Its shape and type."""
        return f"<{' × '.join(map(str, array.shape))} {array.dtype}>"


_MEMBERS = _Members()


class ShortRepr:
    """Base of dataclasses: their `repr` is one line of at most `MAX_REPR` characters.

    That of a small value is the code that makes it, as usual.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in vars(cls):  # or the dataclass would write one for each subclass
            setattr(cls, "__repr__", ShortRepr.__repr__)  # noqa: B010 — to mypy, no method

    def __repr__(self) -> str:
        values = (
            f"{field.name}={_MEMBERS.repr(getattr(self, field.name))}"
            for field in fields(self)  # type: ignore[arg-type]
            if field.repr
        )
        return shortened(f"{type(self).__qualname__}({', '.join(values)})")


def shortened(text: str) -> str:
    """The text of a `repr` in one line, cut if it is too long."""
    text = " ".join(text.split("\n"))
    return text if len(text) <= MAX_REPR else f"{text[: MAX_REPR - 2]}…)"
