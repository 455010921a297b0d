"""Checks of arguments against the annotations of public functions, methods and dataclasses.

No torch.
"""

import operator
import os
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from inspect import Parameter, signature
from pathlib import Path
from reprlib import Repr
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import ArgumentError
from .short_repr import ShortRepr

PublicT = TypeVar("PublicT", bound=Callable[..., Any])
_LISTS = (Collection, Iterable, Sequence, frozenset, list, tuple)
_NAMES: Mapping[object, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    types.NoneType: "None",
    Path: "a path",
}
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 60


def checks_arguments(public: PublicT) -> PublicT:
    """The function or class with a check of its arguments: for a class, of its public methods'.

    A list may be anything with a length and members, except a text, and a number may be one of
    NumPy. The check costs a few microseconds. It raises `ArgumentError`; the number of arguments is
    Python's to check.
    """
    if isinstance(public, type):
        for name, member in vars(public).copy().items():
            is_public = not name.startswith("_") or (
                name == "__init__" and not is_dataclass(public)
            )
            if is_public and isinstance(member, types.FunctionType):
                setattr(public, name, checks_arguments(member))
            elif is_public and isinstance(member, classmethod):
                setattr(public, name, classmethod(checks_arguments(member.__func__)))
        return public
    parameters = signature(public).parameters.values()
    hints = {parameter.name: parameter.annotation for parameter in parameters}
    names = [
        parameter.name for parameter in parameters if parameter.kind is not Parameter.KEYWORD_ONLY
    ]
    owner = public.__qualname__.removesuffix(".__init__")

    @wraps(public)
    def checked(*arguments: Any, **named: Any) -> Any:
        for index, value in enumerate(arguments):
            # the last takes all others, if it takes several
            name = names[min(index, len(names) - 1)]
            _check(value, hints[name], name, owner)
        for name in hints.keys() & named.keys():
            _check(named[name], hints[name], name, owner)
        return public(*arguments, **named)

    return checked  # type: ignore[return-value]


class CheckedFields(ShortRepr):
    """Base of dataclasses that users make: checks the types of their fields.

    A field that is not of the annotated type raises `ArgumentError`.
    """

    def __post_init__(self) -> None:
        kind: Any = type(self)
        for name, hint in _hints_of_fields(kind).items():
            _check(getattr(self, name), hint, name, kind.__name__)


@cache
def _hints_of_fields(kind: Any) -> dict[str, object]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _check(value: object, hint: object, name: str, owner: str) -> None:
    if not _fits(value, hint):
        name, value, hint = _narrowed(name, value, hint)
        words = {"name": name, "owner": owner, "value": _SHORT.repr(value), "kind": _in_words(hint)}
        raise ArgumentError("The argument `{name}` of `{owner}` is {value}. Pass {kind}.", **words)


def _narrowed(name: str, value: Any, hint: Any) -> tuple[str, Any, Any]:
    """Name, value and annotation of the first wrong member of a list; else those of the value."""
    for kind in get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,):
        origin, members = get_origin(kind), get_args(kind)
        if origin in _LISTS and isinstance(value, Sequence) and _is_list(value, origin, (Any, ...)):
            for index, member in enumerate(value):
                if not _fits(member, members[0]):
                    return f"{name}[{index}]", member, members[0]
    return name, value, hint


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type. An annotation in quotes is the name of a class."""
    if hint in (Any, Parameter.empty) or type(value) is hint:
        return True
    origin, members = get_origin(hint), get_args(hint)
    if hint in (int, float):
        return _is_number(value, is_whole=hint is int)
    if hint is Path:
        return isinstance(value, os.PathLike)
    if isinstance(hint, str):
        return any(base.__name__ == hint for base in type(value).__mro__)
    if origin in (Union, types.UnionType):
        return any(_fits(value, member) for member in members)
    if origin is Literal:
        return isinstance(value, str | int) and value in members
    if origin in _LISTS:
        return _is_list(value, origin, members)
    if origin is Callable:
        return callable(value)
    kind = hint if origin is None else origin
    # a variable, or a later alias
    return isinstance(value, kind) if isinstance(kind, type) else True


def _is_number(value: Any, *, is_whole: bool) -> bool:
    if isinstance(value, bool):
        return False
    if not is_whole and (
        isinstance(value, float) or getattr(getattr(value, "dtype", None), "kind", "") == "f"
    ):
        return True
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def _is_list(value: Any, origin: Any, members: tuple[Any, ...]) -> bool:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        return False
    if not isinstance(value, Collection):
        return origin is Iterable  # its members can be read only once
    if origin is tuple and members[1:] != (...,):
        return len(value) == len(members) and all(map(_fits, value, members))
    return all(_fits(member, members[0]) for member in value)


def _in_words(hint: Any) -> str:
    """An annotated type in words."""
    origin, members = get_origin(hint), get_args(hint)
    if hint in _NAMES:
        return _NAMES[hint]
    if origin is Literal:
        return f"one of {', '.join(map(repr, members))}"
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_in_words(member) for member in members))
    if origin is tuple and members[1:] != (...,):
        return f"a tuple ({', '.join(map(_in_words, members))})"
    if origin in _LISTS:
        return f"a list, each item {_in_words(members[0])}"
    if origin is Callable:
        return "a function"
    name: str = (
        hint if isinstance(hint, str) else getattr(origin or hint, "__name__", "another value")
    )
    name = {"ndarray": "NumPy array"}.get(name, name)
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
