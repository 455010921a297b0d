"""Settings of a run by their dotted names, such as model.width, and as text."""

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from ...config import RunConfig
from ...config.run_config import PARTS
from ...config.settings import Setting
from ...errors import ConfigError

_NUM_PROPOSED = 3


@cache
def dotted_settings() -> Mapping[str, Setting]:
    """Every setting of a run by its dotted name: model.width, …, training.sample_size."""
    return {
        f"{part}.{name}": setting
        for part, group in PARTS.items()
        for name, setting in group.described().items()
    }


def value_of(run: RunConfig, name: str) -> Any:
    """The value of the setting with this dotted name."""
    part, _, setting = name.partition(".")
    return getattr(getattr(run, part), setting)


def read_value(name: str, text: str) -> Any:
    """The value of the setting that a text states. Raises `ConfigError` if it states none."""
    try:
        return dotted_settings()[name].read(text)
    except ConfigError as error:
        raise ConfigError(f"{name} {error}") from None


def with_dotted(
    run: RunConfig, assignments: Sequence[str], taken: Collection[str] = ()
) -> RunConfig:
    """The run with settings changed, all at once: a width may need another number of heads.

    Args:
        run: the run to change.
        assignments: NAME=VALUE each, with a dotted name; the value `none` for a setting that may be
            left open.
        taken: dotted names that are set in another way.

    Raises:
        ConfigError: there is no such setting, it is set twice, or its value is refused.
    """
    changes = read_settings(assignments, taken)
    return replace(
        run,
        **{
            part: getattr(run, part).replace(**changed)
            for part, changed in changes.items()
            if changed
        },
    )


def read_settings(
    assignments: Sequence[str], taken: Collection[str] = ()
) -> dict[str, dict[str, Any]]:
    """The values of settings by part and name. Arguments and errors as of `with_dotted`."""
    changes: dict[str, dict[str, Any]] = {part: {} for part in PARTS}
    for assignment in assignments:
        name, sign, text = (piece.strip() for piece in assignment.partition("="))
        if not sign:
            raise ConfigError(
                f"{assignment!r} has no value. Use NAME=VALUE, such as model.width=64."
            )
        part, _, setting = _known(name).partition(".")
        if setting in changes[part] or name in taken:
            raise ConfigError(f"{name} is set twice. Leave one of the two out.")
        changes[part][setting] = read_value(name, text)
    return changes


def _known(name: str) -> str:
    names = dotted_settings()
    if name in names:
        return name
    nearest = [known for known in names if known.partition(".")[2] == name.rpartition(".")[2]]
    nearest += difflib.get_close_matches(name, names, n=_NUM_PROPOSED, cutoff=0.5)
    proposed = list(dict.fromkeys(nearest))[:_NUM_PROPOSED] or [
        "model.width",
        "data.num_subwords",
        "training.seed",
    ]
    raise ConfigError(
        f"There is no setting {name!r}. The nearest are {', '.join(proposed)}; augenmerk train "
        "--list-settings lists all."
    )
