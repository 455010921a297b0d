"""The origin of a file as lines for the terminal."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ...counting import display_text, joined
from ...errors import ExperimentError
from ...plain_text import one_line
from ...translation.experiment_file import experiment_from_json

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


def origin_lines(values: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """One line for each fact; those within a fact follow it, indented.

    Layers, heads and words of changes count from 1.
    """
    for name, value in values.items():
        title = one_line(_NAMES.get(name, name.replace("_", " ")))
        shown = _with_readable_changes(value)
        if isinstance(shown, Mapping):
            yield f"{indent}{title}"
            yield from origin_lines(shown, indent + _INDENT)
        elif _is_list_of_objects(shown):
            for number, part in enumerate(shown, start=1):
                yield f"{indent}{title} {number}"
                yield from origin_lines(_with_readable_changes(part), indent + _INDENT)
        else:
            yield f"{indent}{title:{_WIDTH - len(indent)}} {one_line(_in_words(shown))}"


def _is_list_of_objects(value: object) -> bool:
    return (
        isinstance(value, list) and bool(value) and all(isinstance(part, Mapping) for part in value)
    )


def _with_readable_changes(value: Any) -> Any:
    """The values of an experiment with its changes as a sentence; anything else as it is."""
    if not isinstance(value, Mapping) or "interventions" not in value:
        return value
    with suppress(ExperimentError):
        changes = experiment_from_json(dict(value)).interventions
        return {**value, "interventions": display_text(joined(changes, "; "))}
    return value


def _in_words(value: object) -> str:
    if value is None or value == "" or value == []:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_in_words, value))
    return str(value)
