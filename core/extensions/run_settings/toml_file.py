"""The settings of a run as a TOML file.

TOML is written without a library: there are only strings, numbers and booleans in three tables.
"""

import dataclasses
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...config import RunConfig
from ...config.run_config import PARTS
from ...config.settings import NOTHING, Settings, require_mapping
from ...errors import ConfigError
from ...plain_text import EncodingError
from ...storage import read_text, reason_of
from .presets import PRESETS

MAX_BYTES = 1_000_000
MAXPARTS = 32
"""Maximum parts of a key; `model.width` has two.

The library takes quadratic time: an hour for a file of dots.
"""
_STRING_OR_COMMENT = re.compile(
    r"""\"{3}(?:[^"\\]|\\.|"(?!""))*+(?:\"{3}|\Z|\\)|'{3}(?:[^']|'(?!''))*+(?:'{3}|\Z)|"""
    r""""(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?|#[^\n]*+""",
    re.DOTALL,
)
_LONG_KEY = re.compile(rf"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++){{{MAXPARTS}}}")
_HEADER = (
    "# A run of Augenmerk. To repeat it: augenmerk train --config FILE.toml --data … --out …\n"
    "# Settings not listed keep the preset's values.\n"
)


def to_toml(run: RunConfig) -> str:
    """Every setting of `run` as TOML, for `from_toml`."""
    values = run.to_dict()
    lines = [
        _HEADER,
        f"preset = {_value(values['preset'])}\n",
        f"description = {_value(values['description'])}\n",
    ]
    for part in PARTS:
        lines.append(f"\n[{part}]\n")
        lines += [f"{name} = {_value(value)}\n" for name, value in values[part].items()]
    return "".join(lines)


def _value(value: str | int | float | bool | None) -> str:
    """The value as JSON, which is valid TOML for these types if the delete character is escaped,
    too.
    """
    return json.dumps(NOTHING if value is None else value, ensure_ascii=False).replace(
        "\x7f", "\\u007F"
    )


def read_toml(path: Path, parts: Mapping[str, Settings] | None = None) -> RunConfig:
    """The run that the file at `path` describes; `parts` as for `from_toml`.

    Raises:
        ConfigError: it is missing or not TOML, or a setting is unknown or refused.
    """
    try:
        text = read_text(path, MAX_BYTES)
    except (OSError, EncodingError) as error:
        raise ConfigError(
            f"{path} cannot be read: {reason_of(error)}. Name a TOML file with the settings of a "
            "run, such as run.toml in a run's folder."
        ) from error
    try:
        return from_toml(text, parts)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def from_toml(text: str, parts: Mapping[str, Settings] | None = None) -> RunConfig:
    """The run that `text` describes.

    Missing settings come from `parts`, or from the preset that it names, if any.

    Args:
        text: TOML.
        parts: groups of settings by name, such as those of a model to train further.

    Raises:
        ConfigError: it is not TOML, or a setting is unknown or refused.
    """
    if long_key := _LONG_KEY.search(_STRING_OR_COMMENT.sub("_", text)):
        raise ConfigError(
            f"This is not TOML of a run: a name of more than {MAXPARTS} parts, "
            f"{long_key.group()[:20]}… Use names such as model.width."
        )
    try:
        values = tomllib.loads(text)
    # ValueError: of TOML, or a number of thousands of digits
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"This is not TOML: {error}. Use lines such as batch_size = 64 below [training]."
        ) from error
    base = PRESETS.get(str(values.get("preset", "")))
    defaults: Mapping[str, Settings] = (vars(base) if base else {}) | dict(parts or {})
    merged: dict[str, Any] = {"preset": "custom", "description": ""} | values
    if base is not None and "description" not in values:
        merged["description"] = base.description
    for part, settings in PARTS.items():
        part_values = values.get(part, {})
        require_mapping(f"[{part}]", part_values)
        rest = defaults[part].to_dict() if part in defaults else {}
        merged[part] = rest | _with_nothing(settings, part_values)
    return RunConfig.from_dict(merged)


def _with_nothing(settings: type[Settings], values: dict[str, Any]) -> dict[str, Any]:
    """Converts `NOTHING` to None where None is allowed."""
    can_be_none = {field.name for field in dataclasses.fields(settings) if field.default is None}  # type: ignore[arg-type]
    return {
        name: None if value == NOTHING and name in can_be_none else value
        for name, value in values.items()
    }
