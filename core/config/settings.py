"""Base of the configuration classes: declaration, validation, conversion from and to dicts."""

import dataclasses
import functools
import math
import re
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

from ..errors import ConfigError
from ..strict_json import MAX_DIGITS, shown

LARGEST_NUMBER = 2**31 - 1
"""The default upper limit of whole numbers: the largest count that libraries accept."""
LARGEST_REAL = 1e100
"""The default upper limit of other numbers: products of a few of them stay finite."""
NOTHING = "none"
"""The text for None in files, commands and forms."""

LANGUAGES = tuple(
    "af am ar az bg bn bo ca cs da de dsb el en es et eu fa fi fo fr ga gd grc gu he hi hr hsb "
    "ht hu hy id is it ja kmr kn ko ky la lb lg lij lt lv mk ml mr ms nb ne nl nn pl pt ro ru sa "
    "si sk sl sq sr sv ta te th ti tl tn tr tt uk ur vi xx yo zh".split()
)
"""Codes of the languages that spaCy has rules for.

A code names a module of spaCy, so a file may name only these.
"""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_LANGUAGE_CODE = re.compile(r"[A-Za-z]+([-_][A-Za-z]+)*")
_WORDS = {"true": True, "false": False}
_REFUSED = object()


@dataclass(frozen=True)
class Limits:
    """The numbers that a setting can have.

    `LARGEST_NUMBER` and `LARGEST_REAL` are technical ends, rarely mentioned.
    """

    low: float
    high: float = LARGEST_REAL
    includes_low: bool = True
    includes_high: bool = True

    def include(self, number: float) -> bool:
        """Whether the number is within the limits."""
        is_above = number >= self.low if self.includes_low else number > self.low
        return is_above and (number <= self.high if self.includes_high else number < self.high)

    def __str__(self) -> str:
        least = f"of at least {self.low:,}" if self.includes_low else f"greater than {self.low:,}"
        if self.high in (LARGEST_NUMBER, LARGEST_REAL):
            return least
        if self.includes_low and self.includes_high:
            return f"from {self.low:,} to {self.high:,}"
        return f"{least} and {'at most' if self.includes_high else 'less than'} {self.high:,}"


COUNT, COUNT_OR_ZERO = Limits(1, LARGEST_NUMBER), Limits(0, LARGEST_NUMBER)
POSITIVE = Limits(0, includes_low=False)
NOT_NEGATIVE = Limits(0)
FRACTION = Limits(0, 1, includes_high=False)


@dataclass(frozen=True)
class Setting:
    """One setting: everything that messages, help texts and forms need to know.

    Attributes:
        name: for display.
        description: its effect, in sentences for the user.
        unit: of its values; empty for none.
        limits: of its numbers; None if it has none.
        values: a noun phrase for the texts it can have; empty if `kinds` and `limits` suffice.
        fits: whether a text is one of these; None if all are.
        kinds: the types of its values; a `Literal` is one of them.
        earlier_values: values in files of earlier versions, each with its present name.
    """

    name: str
    description: str
    unit: str = ""
    limits: Limits | None = None
    values: str = ""
    fits: Callable[[str], object] | None = None
    kinds: tuple[Any, ...] = ()
    earlier_values: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def expected(self) -> str:
        """Its possible values, as a noun phrase: “a whole number of at least 1 or none”."""
        return " or ".join(self._in_words(kind) for kind in self.kinds)

    @property
    def choices(self) -> tuple[str, ...]:
        """The names that it can have; empty if it is not a choice."""
        return next((get_args(kind) for kind in self.kinds if get_origin(kind) is Literal), ())

    def accepts(self, value: object) -> bool:
        """Whether the value has the type and is within the limits."""
        return any(self._is_of(value, kind) for kind in self.kinds)

    def read(self, text: str) -> Any:
        """The value that a text states.

        Raises `ConfigError` that begins with “is” and says what to enter.
        """
        text = text.strip()
        text = self.earlier_values.get(text, text)
        # any word is a text
        for kind in sorted(self.kinds, key=lambda kind: kind is not type(None)):
            value = _read(text, kind)
            if self._is_of(value, kind):
                return value
        raise ConfigError(f"is {_quoted(text)}. Enter {self.expected}{self._technical_end(text)}.")

    def write(self, value: object) -> str:
        """The text for this value; the inverse of `read`."""
        if value is None:
            return NOTHING
        text = f"{value:g}" if _is_short(value) else str(value)
        return text.lower() if isinstance(value, bool) else text

    def check(self, owner: str, name: str, value: object) -> None:
        """Raises `ConfigError` unless the setting `name` can have the value."""
        if not self.accepts(value):
            raise ConfigError(
                f"{owner}: {name} is {_quoted(value)}. Use "
                f"{self.expected}{self._technical_end(value)}."
            )

    def _is_of(self, value: object, kind: Any) -> bool:
        if kind is type(None):
            return value is None
        if get_origin(kind) is Literal:
            return isinstance(value, str) and value in get_args(kind)
        if kind is bool:
            return isinstance(value, bool)
        if kind is str:
            return isinstance(value, str) and (self.fits is None or bool(self.fits(value)))
        if isinstance(value, bool) or not isinstance(value, int if kind is int else int | float):
            return False
        return self.limits is None or self.limits.include(value)

    def _technical_end(self, value: object) -> str:
        """“, at most …” for a number beyond a technical end, which `expected` leaves out."""
        if self.limits is None or isinstance(value, bool):
            return ""
        if isinstance(value, str):
            value = next(
                (number for kind in (int, float) if (number := _read(value, kind)) is not _REFUSED),
                value,
            )
        is_beyond = isinstance(value, int | float) and value > self.limits.high
        return (
            f", at most {self.limits.high:,}"
            if is_beyond and f"{self.limits.high:,}" not in str(self.limits)
            else ""
        )

    def _in_words(self, kind: Any) -> str:
        if kind is type(None):
            return NOTHING
        if get_origin(kind) is Literal:
            return f"one of {', '.join(get_args(kind))}"
        if kind is bool:
            return "true or false"
        if kind is str:
            return self.values or "a text"
        number = "a whole number" if kind is int else "a number"
        return number if self.limits is None else f"{number} {self.limits}"


def setting(
    default: Any, name: str, description: str, limits: Limits | None = None, **details: Any
) -> Any:
    """Declares a field of `Settings`; the arguments are those of `Setting`."""
    declaration = Setting(name, description, limits=limits, **details)
    return dataclasses.field(default=default, metadata={"setting": declaration})


def _read(text: str, kind: Any) -> Any:
    """The value of this type that a text states; `_REFUSED` if it states none."""
    if kind is type(None):
        return None if text.lower() == NOTHING else _REFUSED
    if kind is bool:
        return _WORDS.get(text, _REFUSED)
    if get_origin(kind) is Literal or kind is str:
        return text
    if len(text) > MAX_DIGITS and kind is int:
        return _REFUSED
    try:
        value = kind(text)
    except ValueError:
        return _REFUSED
    return value if math.isfinite(value) else _REFUSED


def _is_short(value: object) -> bool:
    """Whether `:g` writes a number without loss, such as 0.0005 and 1e-09."""
    return isinstance(value, float) and float(f"{value:g}") == value


def _kinds(hint: Any) -> Iterator[Any]:
    """Each of the types of a union."""
    if get_origin(hint) in (Union, types.UnionType):
        for member in get_args(hint):
            yield from _kinds(member)
    else:
        yield hint


class Settings:
    """Base of the frozen configuration dataclasses, whose fields are declared with `setting`.

    Attributes:
        owner: the name of the group in messages and dotted names.
    """

    owner: ClassVar[str] = ""

    def __init_subclass__(cls, *, owner: str = "") -> None:
        super().__init_subclass__()
        cls.owner = owner

    def __post_init__(self) -> None:
        for name, declaration in self.described().items():
            declaration.check(self.owner, name, getattr(self, name))

    @classmethod
    @functools.cache
    def described(cls) -> Mapping[str, Setting]:
        """The settings that were declared with `setting`, by field."""
        hints = get_type_hints(cls)
        return {
            field.name: dataclasses.replace(
                field.metadata["setting"], kinds=tuple(_kinds(hints[field.name]))
            )
            for field in dataclasses.fields(cls)  # type: ignore[arg-type]
            if "setting" in field.metadata
        }

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON-ready values, nested settings included."""
        return dataclasses.asdict(self)  # type: ignore[call-overload]

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The settings that `values` describes; missing ones take their defaults.

        Raises:
            ConfigError: `values` is not a dictionary, a key is unknown, or a value is refused.
        """
        require_mapping(cls.__name__, values)
        known = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        unknown = sorted(repr(name) for name in values if name not in known)
        if unknown:
            raise ConfigError(
                f"{cls.__name__} has no setting {', '.join(unknown)}. Remove it or correct its "
                f"spelling; settings: {', '.join(known)}."
            )
        settings = cls.described()
        present: dict[str, Any] = {}
        for name, value in values.items():
            if isinstance(value, list):
                present[name] = tuple(value)
            elif isinstance(value, str) and name in settings:
                present[name] = settings[name].earlier_values.get(value, value)
            else:
                present[name] = value
        return cls(**present)

    def replace(self, **changes: Any) -> Self:
        """A copy with some settings changed, checked like any other. Raises `ConfigError`."""
        return self.from_dict({**self.to_dict(), **changes})


def require_mapping(owner: str, values: object) -> None:
    """Raises `ConfigError` unless `values` is a dictionary."""
    if not isinstance(values, dict):
        raise ConfigError(
            f"{owner} is described by {_quoted(values)}. Use names of settings with their values."
        )


def is_digest(text: str) -> bool:
    """Whether this is a SHA-256 digest in hexadecimal digits."""
    return _DIGEST.fullmatch(text) is not None


def is_language_code(text: str) -> bool:
    """Whether this looks like the code of a language; spaCy need not know it."""
    return len(text) <= 40 and _LANGUAGE_CODE.fullmatch(text) is not None


def require_language(owner: str, **values: str) -> None:
    """Raises `ConfigError` unless every value is the code of a language with spaCy rules."""
    for name, value in values.items():
        if value not in LANGUAGES:
            raise ConfigError(
                f"{owner}: {name} is {_quoted(value)}. Use a language code such as de or en, one "
                "that spaCy has rules for."
            )


def _quoted(value: object) -> str:
    """The value in a message, as Python writes it, shortened: input may be of any length."""
    if isinstance(value, int) and value.bit_length() > 100:
        return shown(value)
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"
