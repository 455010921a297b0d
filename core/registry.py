"""Extensions: declarations that installed packages offer by entry points. See docs/extending.md.

The features of this project that lie outside its kernel are found in the same way as those of
others, from `pyproject.toml`. Nothing is looked up before a declaration is asked for.
"""

import logging
import tomllib
from collections.abc import Iterator, Mapping, MutableMapping
from functools import cache
from importlib.metadata import Distribution, EntryPoint, entry_points
from pathlib import Path
from typing import Generic, TypeVar

from .errors import MissingExtensionError

DeclarationT = TypeVar("DeclarationT")
OWN_DISTRIBUTION = "augenmerk"
_LOG = logging.getLogger(__name__)
_all_entry_points = cache(entry_points)
"""The entry points of all groups: reading those of one takes as long."""


class Registry(MutableMapping[str, DeclarationT], Generic[DeclarationT]):
    """The declarations of one group of entry points, by name.

    A declaration is imported when it is asked for by name; all of them are when the registry is
    iterated over. One that cannot be imported, or is of another type, is left out and reported in
    the log. If two packages use one name, this project's declaration wins, then that of the package
    whose name comes first.

    Args:
        group: of the entry points, such as "augenmerk.measures".
        kind: the type of the declarations. If it has an attribute `order`, declarations are sorted
            by it.
        noun: for messages, such as "measure".
        own: declarations that need no entry point.
    """

    def __init__(
        self,
        group: str,
        kind: type[DeclarationT],
        noun: str,
        own: Mapping[str, DeclarationT] | None = None,
    ) -> None:
        self.group, self.noun = group, noun
        self._kind = kind
        self._declarations: dict[str, DeclarationT | None] = dict(own or {})

    def __getitem__(self, name: str) -> DeclarationT:
        """Raises `MissingExtensionError`, a `KeyError`, if no usable extension has this name."""
        if name not in self._declarations:
            entry = installed_entry_points(self.group).get(name)
            self._declarations[name] = None if entry is None else self._load(entry)
        declaration = self._declarations[name]
        if declaration is None:
            raise MissingExtensionError(
                f"There is no {self.noun} “{name}”. Install the extension that provides it."
            )
        return declaration

    def __setitem__(self, name: str, declaration: DeclarationT) -> None:
        self._declarations[name] = declaration

    def __delitem__(self, name: str) -> None:
        del self._declarations[name]

    def package_of(self, declaration: DeclarationT) -> str:
        """The package that offers a declaration; empty if no entry point does."""
        entries = installed_entry_points(self.group)
        for name, known in self._declarations.items():
            if known is declaration and name in entries:
                return _package_of(entries[name])
        return ""

    def leave_out(self, name: str) -> None:
        """Leaves out a declaration whose code cannot be used."""
        self._declarations[name] = None

    def __iter__(self) -> Iterator[str]:
        declarations = self._usable()
        return iter(sorted(declarations, key=lambda name: getattr(declarations[name], "order", 0)))

    def __len__(self) -> int:
        return len(self._usable())

    def _usable(self) -> dict[str, DeclarationT]:
        entries = installed_entry_points(self.group)
        names = {**self._declarations, **entries}
        for name in names:
            if name not in self._declarations:
                self._declarations[name] = self._load(entries[name])
        return {name: usable for name in names if (usable := self._declarations[name]) is not None}

    def _load(self, entry: EntryPoint) -> DeclarationT | None:
        """The declaration; None, with a warning in the log, if it cannot be used."""
        try:
            declaration = entry.load()
        except Exception as error:  # whatever an extension does, the rest works
            _LOG.warning("The extension %s cannot be used: %s", described(entry), error)
            return None
        if isinstance(declaration, self._kind):
            return declaration
        _LOG.warning(
            "The extension %s cannot be used: it is no %s.", described(entry), self._kind.__name__
        )
        return None


def described(entry: EntryPoint) -> str:
    """An entry point for messages, such as “value-zeroing” of the package my-measures."""
    return f"“{entry.name}” of the package {_package_of(entry)}"


@cache
def installed_entry_points(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of a group, by name. Read once, from the installed packages."""
    by_name = {entry.name: entry for entry in _of_this_checkout() if entry.group == group}
    for entry in sorted(_all_entry_points().select(group=group), key=_precedence):
        if entry.name not in by_name:
            by_name[entry.name] = entry
        elif not _is_own(entry):
            _LOG.warning("The extension %s is left out: its name is taken.", described(entry))
    return by_name


@cache
def _of_this_checkout() -> tuple[EntryPoint, ...]:
    """The entry points in `pyproject.toml` of a checkout; none in an installed wheel.

    An editable installation would know only those that were declared when it was made.
    """
    path = Path(__file__).resolve().parents[1] / "pyproject.toml"
    if not path.is_file():
        return ()
    groups = tomllib.loads(path.read_text(encoding="utf-8"))["project"]["entry-points"]
    return tuple(
        EntryPoint(name, value, group)
        for group, entries in groups.items()
        for name, value in entries.items()
    )


def _is_own(entry: EntryPoint) -> bool:
    return _package_of(entry) == OWN_DISTRIBUTION


def _precedence(entry: EntryPoint) -> tuple[bool, str]:
    return not _is_own(entry), _package_of(entry)


def _package_of(entry: EntryPoint) -> str:
    return OWN_DISTRIBUTION if entry.dist is None else _name_of(entry.dist)


@cache
def _name_of(distribution: Distribution) -> str:
    """Its name, for which all of its metadata is parsed."""
    name: str = distribution.name
    return name
