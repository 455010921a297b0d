"""Settings by their dotted names, as commands are given them: model.width=64."""

import dataclasses
import difflib
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

from augenmerk.core.config.presets import PARTS, RunConfig
from augenmerk.core.config.settings import Setting
from augenmerk.core.errors import ConfigError

NUM_PROPOSED = 3


@cache
def dotted_settings() -> Mapping[str, Setting]:
    """Every setting of a run by its dotted name: model.width, …, training.sample_size."""
    return {f"{part}.{name}": each for part, group in PARTS.items() for name, each in group.described().items()}


def value_of(run: RunConfig, name: str) -> Any:
    """The value of the setting with this dotted name."""
    part, _, setting = name.partition(".")
    return getattr(getattr(run, part), setting)


def read_value(name: str, text: str) -> Any:
    """The value that a text means for the setting. Raises `ConfigError` if it means none."""
    try:
        return dotted_settings()[name].read(text)
    except ConfigError as error:
        raise ConfigError(f"{name} {error}") from None


def with_dotted(run: RunConfig, given: Sequence[str], taken: Collection[str] = ()) -> RunConfig:
    """The run with settings changed, all at once: a width may need another number of heads.

    Args:
        run: as it is without them.
        given: NAME=VALUE each, the name dotted; none for a setting that may be left open.
        taken: dotted names that were set otherwise.

    Raises:
        ConfigError: there is no such setting, it is set twice, or its value is refused.
    """
    changes: dict[str, dict[str, Any]] = {part: {} for part in PARTS}
    for word in given:
        name, sign, text = (each.strip() for each in word.partition("="))
        if not sign:
            raise ConfigError(f"{word!r} has no value. Use NAME=VALUE, such as model.width=64.")
        part, _, setting = _known(name).partition(".")
        if setting in changes[part] or name in taken:
            raise ConfigError(f"{name} is set twice. Leave one of the two out.")
        changes[part][setting] = read_value(name, text)
    return dataclasses.replace(
        run, **{part: getattr(run, part).replace(**changed) for part, changed in changes.items() if changed}
    )


def _known(name: str) -> str:
    names = dotted_settings()
    if name in names:
        return name
    nearest = [each for each in names if each.partition(".")[2] == name.rpartition(".")[2]]
    nearest += difflib.get_close_matches(name, names, n=NUM_PROPOSED, cutoff=0.5)
    proposed = list(dict.fromkeys(nearest))[:NUM_PROPOSED] or ["model.width", "data.num_subwords", "training.seed"]
    raise ConfigError(
        f"There is no setting {name!r}. The nearest are {', '.join(proposed)}; augenmerk train --list-settings lists "
        "all."
    )
