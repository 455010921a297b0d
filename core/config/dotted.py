"""Settings by their dotted names, as commands are given them: model.width=64."""

import dataclasses
import difflib
import math
import types
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from core.config.data_config import DataConfig
from core.config.model_config import ModelConfig
from core.config.presets import RunConfig
from core.config.settings import Settings
from core.config.toml import NOTHING
from core.config.training_config import TrainingConfig
from core.errors import ConfigError
from core.strict_json import MAX_DIGITS

NUM_PROPOSED = 3
_PARTS: dict[str, type[Settings]] = {"model": ModelConfig, "data": DataConfig, "training": TrainingConfig}
_WORDS = {"true": True, "false": False}


def dotted_names() -> tuple[str, ...]:
    """Every setting of a run: model.width, …, training.sample_size."""
    return tuple(
        f"{part}.{field.name}"
        for part, settings in _PARTS.items()
        for field in dataclasses.fields(settings)  # type: ignore[arg-type]
    )


def with_dotted(run: RunConfig, given: Sequence[str], taken: Collection[str] = ()) -> RunConfig:
    """The run with settings changed, all at once: a width may need another number of heads.

    Args:
        run: as it is without them.
        given: NAME=VALUE each, the name dotted; none for a setting that may be left open.
        taken: dotted names that were set otherwise.

    Raises:
        ConfigError: there is no such setting, it is set twice, or its value is refused.
    """
    changes: dict[str, dict[str, Any]] = {part: {} for part in _PARTS}
    for word in given:
        name, sign, text = (each.strip() for each in word.partition("="))
        if not sign:
            raise ConfigError(f"{word!r} was given. NAME=VALUE was expected, such as model.width=64; add a value.")
        part, _, setting = _known(name).partition(".")
        if setting in changes[part] or name in taken:
            raise ConfigError(f"{name} is set twice. It was expected once; leave one of the two out.")
        changes[part][setting] = _value(name, text)
    return dataclasses.replace(
        run, **{part: getattr(run, part).replace(**changed) for part, changed in changes.items() if changed}
    )


def _known(name: str) -> str:
    names = dotted_names()
    if name in names:
        return name
    nearest = [each for each in names if each.partition(".")[2] == name.rpartition(".")[2]]
    nearest += difflib.get_close_matches(name, names, n=NUM_PROPOSED, cutoff=0.5)
    proposed = list(dict.fromkeys(nearest))[:NUM_PROPOSED] or ["model.width", "data.num_subwords", "training.seed"]
    raise ConfigError(
        f"There is no setting {name!r}. A dotted name was expected; the nearest are {', '.join(proposed)}. "
        "Choose one; run.toml in the folder of any run lists all."
    )


def _value(name: str, text: str) -> Any:
    part, _, setting = name.partition(".")
    kinds = tuple(_kinds(get_type_hints(_PARTS[part])[setting]))
    for kind in sorted(kinds, key=lambda kind: kind is not type(None)):  # any word is a text
        value = _read(text, kind)
        if value is not _REFUSED:
            return value
    expected = " or ".join(_in_words(kind) for kind in kinds)
    raise ConfigError(f"{name} is {text!r}. {expected[:1].upper()}{expected[1:]} was expected; give one.")


_REFUSED = object()


def _kinds(hint: Any) -> Iterator[Any]:
    """Each of the types of a union."""
    if get_origin(hint) in (Union, types.UnionType):
        for each in get_args(hint):
            yield from _kinds(each)
    else:
        yield hint


def _read(text: str, kind: Any) -> Any:
    """The value that a text means as a type; `_REFUSED` if it means none."""
    if kind is type(None):
        return None if text == NOTHING else _REFUSED
    if kind is bool:
        return _WORDS.get(text, _REFUSED)
    if get_origin(kind) is Literal:
        return text if text in get_args(kind) else _REFUSED
    if kind is str:
        return text
    if len(text) > MAX_DIGITS and kind is int:
        return _REFUSED
    try:
        value = kind(text)
    except ValueError:
        return _REFUSED
    return value if math.isfinite(value) else _REFUSED


def _in_words(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    return {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}.get(kind, NOTHING)
