"""Options of what is drawn, each declared once: its default, the key it is remembered by, and what it redraws."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import Field, field, fields
from typing import Any, Literal, Protocol

Redraws = Literal["maps", "large map", "grid"]
"""All maps; the large one alone; the thumbnails alone."""


class Evented(Protocol):
    """A dataclass with psygnal's `events`."""

    @property
    def events(self) -> Any:
        """A signal for each field."""
        ...


def option(default: Any, *redraws: Redraws, key: str = "", choices: Sequence[object] | None = None) -> Any:
    """A field of an evented dataclass.

    Args:
        default: its value until somebody chooses another.
        redraws: what has to be drawn again when it changes.
        key: of the settings file; empty if it is not remembered.
        choices: the values that make sense; None for a flag.
    """
    return field(default=default, metadata={"redraws": frozenset(redraws), "key": key, "choices": choices})


def remembered(options: Any) -> Iterator["Field[Any]"]:
    """The fields that are kept between two starts."""
    return (each for each in fields(options) if each.metadata.get("key"))


def on_redraw(options: Any, redraws: Sequence[Redraws], redraw: Callable[[], object]) -> None:
    """Calls `redraw` whenever an option changes that redraws one of these."""
    for each in fields(options):
        if each.metadata.get("redraws", frozenset()) & set(redraws):
            getattr(options.events, each.name).connect(redraw, max_args=0)
