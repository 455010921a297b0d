"""Texts that number layers, heads and steps: from 0 in Python and JSON, from 1 for people."""

from collections.abc import Iterable, Mapping
from typing import Self


class Counted:
    """A value whose text has such numbers. `str` counts from 0, `display_text` from 1."""

    def text_from(self, first: int) -> str:
        """The text, with numbers that begin with `first`."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.text_from(0)


class Index(Counted, int):
    """A position in a sequence, counted from 0 as always; its text counts from 0 or 1."""

    def text_from(self, first: int) -> str:
        """See `Counted`."""
        return f"{int(self) + first:,}"


class CountedText(Counted, str):
    """A text that counts from 0, and has the one that counts from 1.

    Args:
        template: the text, with the names of values in braces.
        values: by name, such as the `Index` of a layer.
    """

    _template: str
    _values: Mapping[str, object]

    def __new__(cls, template: str, /, **values: object) -> Self:
        """See the class."""
        text = super().__new__(cls, filled(template, values, 0))
        text._template, text._values = template, values
        return text

    def text_from(self, first: int) -> str:
        """See `Counted`."""
        return filled(self._template, self._values, first)


def display_text(value: object) -> str:
    """The text for window and terminal: a `Counted` counts from 1, anything else is its `str`."""
    return text_from(value, 1)


def text_from(value: object, first: int) -> str:
    """The text of a value; numbers of a `Counted` begin with `first`.

    The members of a tuple stand between commas.
    """
    if isinstance(value, tuple):
        return ", ".join(text_from(member, first) for member in value)
    return value.text_from(first) if isinstance(value, Counted) else str(value)


def filled(template: str, values: Mapping[str, object], first: int) -> str:
    """The template with values in place of their names in braces, if there are values."""
    return (
        template.format(**{name: text_from(value, first) for name, value in values.items()})
        if values
        else template
    )


def joined(values: Iterable[object], separator: str) -> CountedText:
    """The texts of values, with a separator between them."""
    by_name = {f"value_{index}": value for index, value in enumerate(values)}
    return CountedText(separator.join(f"{{{name}}}" for name in by_name), **by_name)
