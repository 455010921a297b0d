"""The origin of a file as lines for the terminal."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ...counting import joined, text_from
from ...errors import ExperimentError
from ...plain_text import one_line
from ...translation.experiment_file import intervention_from_json

_WIDTH = 26
_INDENT = "  "
_NAMES = {
    "version": "augenmerk",
    "matplotlib_version": "matplotlib",
    "experiment_values": "experiment",
    "source_text": "sentence",
    "interventions": "changes",
    "model_digest": "digest of the model",
    "settings_digest": "digest of the settings",
}
"""Names for people; other fields are called by their own."""


def origin_lines(values: Mapping[str, Any], *, first: int = 1, indent: str = "") -> Iterator[str]:
    """One line for each fact; those within a fact follow it, indented.

    Layers, heads and words of changes count from `first`, as other facts of the file do.
    """
    for name, value in _with_readable_changes(values, first).items():
        title = one_line(_NAMES.get(name, name.replace("_", " ")))
        if isinstance(value, Mapping):
            yield f"{indent}{title}"
            yield from origin_lines(value, first=first, indent=indent + _INDENT)
        elif _is_list_of_objects(value):
            for number, part in enumerate(value, start=1):
                yield f"{indent}{title} {number}"
                yield from origin_lines(part, first=first, indent=indent + _INDENT)
        else:
            yield f"{indent}{title:{_WIDTH - len(indent)}} {one_line(_in_words(value))}"


def _is_list_of_objects(value: object) -> bool:
    return (
        isinstance(value, list) and bool(value) and all(isinstance(part, Mapping) for part in value)
    )


def _with_readable_changes(values: Mapping[str, Any], first: int) -> Mapping[str, Any]:
    """The facts with their changes, if they have some, as a sentence."""
    changes = values.get("interventions")
    if not isinstance(changes, list):
        return values
    with suppress(ExperimentError):
        interventions = list(map(intervention_from_json, changes))
        return {**values, "interventions": text_from(joined(interventions, "; "), first)}
    return values


def _in_words(value: object) -> str:
    if value is None or value in ("", [], ()):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_in_words, value))
    return str(value)
