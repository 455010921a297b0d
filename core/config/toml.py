"""The settings of a run as a TOML file, to be read, changed and repeated.

Written without a library: there are only strings, numbers and booleans in three tables.
"""

import dataclasses
import json
import re
import tomllib
from pathlib import Path
from typing import Any

from augenmerk.core.config.presets import PARTS, PRESETS, RunConfig
from augenmerk.core.config.settings import NOTHING, Settings, require_mapping
from augenmerk.core.errors import ConfigError
from augenmerk.core.storage import read_text

MAX_BYTES = 1_000_000
MAXPARTS = 32
"""Of a key: `model.width` has two. The library takes time by the square of their number: an hour for a file of dots."""
_STRING_OR_COMMENT = re.compile(
    r"""\"{3}(?:[^"\\]|\\.|"(?!""))*+(?:\"{3}|\Z|\\)|'{3}(?:[^']|'(?!''))*+(?:'{3}|\Z)|"""
    r""""(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?|#[^\n]*+""",
    re.DOTALL,
)
_LONG_KEY = re.compile(rf"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++){{{MAXPARTS}}}")
_ADDED_LATER = frozenset(
    (
        *("compile", "deterministic", "batching", "schedule_unit", "r_drop", "source_noise"),
        *("fit_schedule", "initial_model", "distillation", "teachers"),
        *("num_decoder_heads", "decoder_feed_forward_width", "activation", "end_source"),
    )
)
"""Settings that files written whole by an earlier version do not have."""
_HEADER = (
    "# A run of Augenmerk. To repeat it: augenmerk train --config FILE.toml --data … --out …\n"
    "# What is left out is as in the preset named here.\n"
)


def to_toml(run: RunConfig) -> str:
    """Every setting of `run`, as `from_toml` reads it."""
    values = run.to_dict()
    lines = [_HEADER, f"preset = {_value(values['preset'])}\n", f"description = {_value(values['description'])}\n"]
    for part in PARTS:
        lines.append(f"\n[{part}]\n")
        lines += [f"{name} = {_value(value)}\n" for name, value in values[part].items()]
    return "".join(lines)


def _value(value: str | int | float | bool | None) -> str:
    """Like JSON, of which these values are a part; only the delete character is to be escaped too."""
    return json.dumps(NOTHING if value is None else value, ensure_ascii=False).replace("\x7f", "\\u007F")


def read_toml(path: Path) -> RunConfig:
    """The run that the file at `path` describes.

    Raises:
        ConfigError: it is missing or no TOML, or a setting is unknown or refused.
    """
    try:
        text = read_text(path, MAX_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"{path} cannot be read: {reason}. Name a TOML file with the settings of a run, such as run.toml in a "
            "run's folder."
        ) from error
    try:
        return from_toml(text)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def from_toml(text: str) -> RunConfig:
    """The run that `text` describes; what it leaves out is as in the preset it names, if it names one.

    A file that leaves out nothing but settings younger than itself was written whole by an earlier version: these take
    their defaults, which do what was done then, even where the preset of today says otherwise.

    Raises:
        ConfigError: it is no TOML, or a setting is unknown or refused.
    """
    if found := _LONG_KEY.search(_STRING_OR_COMMENT.sub("_", text)):
        raise ConfigError(
            f"This is not TOML of a run: a name of more than {MAXPARTS} parts, {found.group()[:20]}… Use names "
            "such as model.width."
        )
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: of TOML, or a number of thousands of digits
        raise ConfigError(f"This is not TOML: {error}. Use lines such as batch_size = 64 below [training].") from error
    base = PRESETS.get(str(values.get("preset", "")))
    merged: dict[str, Any] = {"preset": "custom", "description": ""} | values
    if base is not None and "description" not in values:
        merged["description"] = base.description
    for part, settings in PARTS.items():
        given = values.get(part, {})
        require_mapping(f"[{part}]", given)
        rest = getattr(base, part).to_dict() if base and not _is_whole(settings, given) else {}
        merged[part] = rest | _with_nothing(settings, given)
    return RunConfig.from_dict(merged)


def _is_whole(settings: type[Settings], given: dict[str, Any]) -> bool:
    """Whether every setting is given, or was when the file was written."""
    return {field.name for field in dataclasses.fields(settings)} - given.keys() <= _ADDED_LATER  # type: ignore[arg-type]


def _with_nothing(settings: type[Settings], given: dict[str, Any]) -> dict[str, Any]:
    """Converts `NOTHING` to None where None is allowed."""
    can_be_none = {field.name for field in dataclasses.fields(settings) if field.default is None}  # type: ignore[arg-type]
    return {name: None if value == NOTHING and name in can_be_none else value for name, value in given.items()}
