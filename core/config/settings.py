"""Shared by the configuration classes: validation with messages, conversion to and from dictionaries."""

import dataclasses
import re
from collections.abc import Collection
from typing import Any, Self

from core.errors import ConfigError
from core.strict_json import shown

LARGEST_NUMBER = 2**31 - 1
"""The largest whole number that a setting may be, unless it says otherwise: what libraries take for a count."""
LARGEST_REAL = 1e100
"""The same of other numbers: products of a few of them stay finite."""

LANGUAGES = tuple(
    "af am ar az bg bn bo ca cs da de dsb el en es et eu fa fi fo fr ga gd grc gu he hi hr hsb ht hu hy id is it ja "
    "kmr kn ko ky la lb lg lij lt lv mk ml mr ms nb ne nl nn pl pt ro ru sa si sk sl sq sr sv ta te th ti tl tn tr tt "
    "uk ur vi xx yo zh".split()
)
"""Codes of the languages that spaCy has rules for. A code names a module of spaCy, so a file may name only these."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_LANGUAGE_CODE = re.compile(r"[A-Za-z]+([-_][A-Za-z]+)*")


class Settings:
    """Base of the frozen configuration dataclasses: to and from plain dictionaries, refusing unknown keys."""

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON-ready values, nested settings included."""
        return dataclasses.asdict(self)  # type: ignore[call-overload]

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The settings that `values` describes; what is missing takes its default.

        Raises:
            ConfigError: `values` is no dictionary, a key is unknown, or a value is refused.
        """
        require_mapping(cls.__name__, values)
        known = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        unknown = sorted(repr(name) for name in values if name not in known)
        if unknown:
            raise ConfigError(
                f"{cls.__name__} has no setting {', '.join(unknown)}. "
                f"Expected some of: {', '.join(known)}. Remove the unknown key or correct its spelling."
            )
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})

    def replace(self, **changes: Any) -> Self:
        """A copy with some settings changed, checked like any other. Raises `ConfigError`."""
        return self.from_dict({**self.to_dict(), **changes})


def require_mapping(owner: str, values: object) -> None:
    """Raises `ConfigError` unless `values` is a dictionary."""
    if not isinstance(values, dict):
        raise ConfigError(
            f"{owner} is described by {_quoted(values)}; names of settings with their values were expected. "
            "Correct the description."
        )


def require_positive(owner: str, **values: float) -> None:
    """Raises `ConfigError` unless every value is a number greater than zero."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LARGEST_REAL:
            raise ConfigError(
                f"{owner}: {name} is {_quoted(value)}; a number greater than 0 was expected, of at most "
                f"{LARGEST_REAL:g}. Choose another value."
            )


def require_not_negative(owner: str, **values: float) -> None:
    """Raises `ConfigError` unless every value is a finite number of at least zero."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST_REAL:
            raise ConfigError(
                f"{owner}: {name} is {_quoted(value)}; a number of at least 0 was expected, and at most "
                f"{LARGEST_REAL:g}. Choose another value."
            )


def require_integer(owner: str, *, minimum: int = 1, maximum: int = LARGEST_NUMBER, **values: int) -> None:
    """Raises `ConfigError` unless every value is a whole number from `minimum` to `maximum`."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
            raise ConfigError(
                f"{owner}: {name} is {_quoted(value)}; a whole number of at least {minimum} was expected. "
                "Choose another value."
            )
        if value > maximum:
            raise ConfigError(
                f"{owner}: {name} is {_quoted(value)}; a whole number of at most {maximum:,} was expected. "
                "Choose another value."
            )


def require_fraction(owner: str, **values: float) -> None:
    """Raises `ConfigError` unless every value lies in [0, 1)."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
            raise ConfigError(
                f"{owner}: {name} is {_quoted(value)}; a number from 0 up to, but not, 1 was expected. "
                "Choose another value."
            )


def require_choice(owner: str, choices: Collection[str], **values: str) -> None:
    """Raises `ConfigError` unless every value is one of `choices`."""
    for name, value in values.items():
        if value not in choices:
            raise ConfigError(
                f"{owner}: {name} is {_quoted(value)}; one of {', '.join(choices)} was expected. Choose one of these."
            )


def require_boolean(owner: str, **values: bool) -> None:
    """Raises `ConfigError` unless every value is true or false."""
    for name, value in values.items():
        if not isinstance(value, bool):
            raise ConfigError(f"{owner}: {name} is {_quoted(value)}; true or false was expected. Choose one of these.")


def require_digest(owner: str, **values: str) -> None:
    """Raises `ConfigError` unless every value is a SHA-256 digest."""
    for name, value in values.items():
        if not isinstance(value, str) or not _DIGEST.fullmatch(value):
            raise ConfigError(
                f"{owner}: {name} is {_quoted(value)}; the 64 hexadecimal digits of a model's digest were "
                "expected. Correct or remove it."
            )


def require_language(owner: str, **values: str) -> None:
    """Raises `ConfigError` unless every value is the code of a language that spaCy has rules for."""
    for name, value in values.items():
        if value not in LANGUAGES:
            raise ConfigError(
                f"{owner}: {name} is {_quoted(value)}; a language's code such as de or en was expected, and spaCy must "
                "have rules for it. Choose one."
            )


def require_language_code(owner: str, **values: str) -> None:
    """Raises `ConfigError` unless every value looks like the code of a language; spaCy need not know it."""
    for name, value in values.items():
        if not isinstance(value, str) or len(value) > 40 or not _LANGUAGE_CODE.fullmatch(value):
            raise ConfigError(
                f"{owner}: {name} is {_quoted(value)}; a language's code such as de, eng or zh_Hans was expected. "
                "Choose one."
            )


def _quoted(value: object) -> str:
    """The value in a message, as Python writes it; a long one shortened, for anybody may have written it."""
    if isinstance(value, int) and value.bit_length() > 100:
        return shown(value)
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"
