"""JSON of unknown origin, read strictly: errors name the path of the field.

Refused are invalid UTF-8, UTF-16, lone surrogates, numbers that are not finite or have absurdly
many digits, a name twice in one object, and nesting deeper than the caller allows (before any
recursion).
"""

import json
import math
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

MAX_DIGITS = 20
"""Maximum digits of a whole number: more than any index, count or setting has."""
_MAX_SHOWN = 60
_MAX_SHOWN_BITS = 200
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")


class JsonError(ValueError):
    """The problem, its place, and a correct value. The caller adds which file."""


@dataclass(frozen=True)
class Field:
    """A value of a JSON text and its path.

    Attributes:
        value: as `json` gives it.
        path: "experiment.interventions[2].weights[0]"; empty for the whole text.
    """

    value: object
    path: str = ""

    def refuse(self, expected: str) -> NoReturn:
        """Raises `JsonError`; `expected` is a phrase such as “a whole number from 0 to 9”."""
        raise JsonError(f"{self.path or 'The whole text'} is {shown(self.value)}. Use {expected}.")

    def members(self, *required: str, optional: Collection[str] = ()) -> dict[str, "Field"]:
        """The fields of an object with all of `required`, some of `optional`, and no others."""
        if not isinstance(self.value, dict):
            self.refuse("an object { … }")
        for name in self.value:
            if name not in required and name not in optional:
                known = ", ".join(dict.fromkeys((*required, *optional)))
                raise JsonError(
                    f"{path_of_member(self.path, name)} is not a known field. Use one of these: "
                    f"{known}."
                )
        for name in required:
            if name not in self.value:
                raise JsonError(f"{path_of_member(self.path, name)} is missing. Add this field.")
        return {
            name: Field(value, path_of_member(self.path, name))
            for name, value in self.value.items()
        }

    def any_members(self, max_members: int) -> dict[str, "Field"]:
        """The fields of an object, with any names."""
        if not isinstance(self.value, dict):
            self.refuse("an object { … }")
        if len(self.value) > max_members:
            raise JsonError(
                f"{self.path} has {len(self.value):,} fields. Use at most {max_members:,}."
            )
        return {
            name: Field(value, path_of_member(self.path, name))
            for name, value in self.value.items()
        }

    def items(self, max_items: int) -> list["Field"]:
        """The items of a list."""
        if not isinstance(self.value, list):
            self.refuse("a list [ … ]")
        if len(self.value) > max_items:
            raise JsonError(
                f"{self.path} has {len(self.value):,} items. Use at most {max_items:,}."
            )
        return [Field(value, f"{self.path}[{index}]") for index, value in enumerate(self.value)]

    def text(self, max_characters: int | None = None) -> str:
        """A text."""
        if not isinstance(self.value, str):
            self.refuse("a text")
        if max_characters is not None and len(self.value) > max_characters:
            raise JsonError(
                f"{self.path} has {len(self.value):,} characters. Use at most {max_characters:,}."
            )
        return self.value

    def choice(self, known: Collection[str]) -> str:
        """One of these texts."""
        if not isinstance(self.value, str) or self.value not in known:
            self.refuse(
                ("one of " if len(known) > 1 else "")
                + ", ".join(json.dumps(text) for text in known)
            )
        return self.value

    def whole_number(self, low: int, high: int) -> int:
        """A whole number in this range, both ends included; true and false are none."""
        if (
            isinstance(self.value, bool)
            or not isinstance(self.value, int)
            or not low <= self.value <= high
        ):
            self.refuse(f"a whole number from {low:,} to {high:,}")
        return self.value

    def number(self, low: float, high: float) -> float:
        """A number in this range, both ends included; true and false are none."""
        largest = min(high, sys.float_info.max)
        if (
            isinstance(self.value, bool)
            or not isinstance(self.value, int | float)
            or not low <= self.value <= largest
        ):
            least = f"{low:g}"
            most = f"{high:g}"
            self.refuse(
                f"a number of {least} or more"
                if math.isinf(high)
                else f"a number from {least} to {most}"
            )
        return float(self.value)


def parse(
    data: bytes,
    *,
    max_depth: int,
    max_containers: int | None = None,
    allow_not_finite: bool = False,
) -> Field:
    """The value of a JSON text, all of it checked.

    Args:
        data: UTF-8. The caller bounds its length.
        max_depth: of lists and objects within each other.
        max_containers: the largest number of lists and objects; None for any number.
        allow_not_finite: whether NaN and Infinity are numbers, as Python writes them.

    Raises:
        JsonError: it is not such a text.
    """
    text = _decoded(data)
    _check_nesting(text, max_depth, max_containers)
    try:
        raw = json.loads(
            text,
            object_pairs_hook=_Members,
            parse_constant=float if allow_not_finite else _NoNumber,
            parse_int=_parse_whole_number,
            parse_float=float if allow_not_finite else _parse_float,
        )
    except json.JSONDecodeError as error:
        raise JsonError(
            f"It is not complete JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from error
    return Field(_checked(raw, ""))


class _Members(list[tuple[str, object]]):
    """The members of an object as they were written, names that come twice included."""


class _NoNumber(str):
    """NaN, Infinity, or far too many digits in the place of a number."""

    __slots__ = ()


def _parse_whole_number(digits: str) -> object:
    return int(digits) if len(digits) <= MAX_DIGITS else _NoNumber(digits)


def _parse_float(digits: str) -> object:
    value = float(digits)
    return value if math.isfinite(value) else _NoNumber(digits)


def _decoded(data: bytes) -> str:
    if not data.strip():
        raise JsonError("It is empty. Use a JSON text.")
    if data.startswith(_UTF_16_MARKS):
        raise JsonError("It is UTF-16. Save it as UTF-8.")
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise JsonError(
            f"It is not UTF-8: byte {error.start + 1:,} is {data[error.start]:#04x}. Save it as "
            "UTF-8."
        ) from error


def _check_nesting(text: str, max_depth: int, max_containers: int | None) -> None:
    """Counts brackets outside strings, so that no input can exhaust stack or memory."""
    depth = count = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        mark = match.group()
        if mark in "[{":
            depth += 1
            count += 1
            if max_containers is not None and count > max_containers:
                raise JsonError(
                    f"It has more than {max_containers:,} lists and objects, the limit."
                )
            if depth > max_depth:
                raise JsonError(
                    f"Lists and objects are nested more than {max_depth} deep, at character "
                    f"{match.start():,}."
                )
        elif mark in "]}":
            depth -= 1


def _checked(raw: object, path: str) -> object:
    """The same as plain dictionaries and lists. Raises `JsonError`."""
    if isinstance(raw, _Members):
        return _checked_object(raw, path)
    if isinstance(raw, list):
        return [
            # of vocabularies
            item if type(item) is str and item.isascii() else _checked(item, f"{path}[{index}]")
            for index, item in enumerate(raw)
        ]
    if isinstance(raw, _NoNumber):
        raise JsonError(
            f"{path or 'The whole text'} is {_shortened(raw)}. Use a finite number of at most "
            f"{MAX_DIGITS} digits."
        )
    if isinstance(raw, str) and _SURROGATE.search(raw):
        raise JsonError(
            f"{path or 'The whole text'} is {shown(raw)}, which holds an invalid character (lone "
            "surrogate). Remove it."
        )
    return raw


def _checked_object(members: _Members, path: str) -> dict[str, object]:
    values: dict[str, object] = {}
    for name, raw in members:
        if _SURROGATE.search(name):
            raise JsonError(
                f"{path or 'The whole text'} has the field {shown(name)}, whose name holds an "
                "invalid character (lone surrogate). Remove it."
            )
        if name in values:
            raise JsonError(f"{path_of_member(path, name)} is there twice. Remove one of the two.")
        values[name] = _checked(raw, path_of_member(path, name))
    return values


def path_of_member(path: str, name: object) -> str:
    """The path of a member of the object at `path`."""
    if not isinstance(name, str) or not _PLAIN_NAME.fullmatch(name):
        return f"{path}[{shown(name)}]"
    return f"{path}.{name}" if path else name


def shown(value: object) -> str:
    """A value in a message: as JSON, shortened; lists and objects by their size."""
    if isinstance(value, Mapping):
        return f"an object with {_counted(len(value), 'field')}" if value else "an empty object"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"a list of {_counted(len(value), 'item')}" if value else "an empty list"
    if isinstance(value, str):  # what no terminal and no window can draw is written as its code
        return _shortened(json.dumps(value, ensure_ascii=_SURROGATE.search(value) is not None))
    if isinstance(value, int) and value.bit_length() > _MAX_SHOWN_BITS:
        return f"a number of {value.bit_length():,} bits"
    return _shortened(json.dumps(value, default=repr))


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"
