"""Experiments as plain values for JSON, and back, exactly. No torch. All counting starts at 0.

Experiment files, `--json` of the commands, and the session that is kept until the next start use this form. Outputs and
interventions are objects whose field `type` names the dataclass; the other fields are those of the dataclass.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar, cast

from augenmerk.core.errors import AugenmerkError, ExperimentError
from augenmerk.core.model.heads import ATTENTION_KINDS, AttentionKind, Head
from augenmerk.core.strict_json import Field, JsonError
from augenmerk.core.translation.experiment import (
    MAX_BEAM,
    MAX_FACTOR,
    MAX_INDEX,
    MAX_LENGTH_PENALTY,
    MAX_TEMPERATURE,
    MIN_TEMPERATURE,
    AttentionRow,
    Beam,
    CausalMaskLifted,
    Experiment,
    ForcedToken,
    GivenTarget,
    Greedy,
    HeadScaled,
    Intervention,
    Output,
    SoftmaxTemperature,
    SourceWordRemoved,
    SourceWordReplaced,
)

MAX_INTERVENTIONS = 10_000
PartT = TypeVar("PartT", bound=Output | Intervention)

_OUTPUTS: Mapping[str, type[Output]] = {"greedy": Greedy, "beam": Beam, "given": GivenTarget}
_INTERVENTIONS: Mapping[str, type[Intervention]] = {
    "source_word_removed": SourceWordRemoved,
    "source_word_replaced": SourceWordReplaced,
    "head_scaled": HeadScaled,
    "softmax_temperature": SoftmaxTemperature,
    "attention_row": AttentionRow,
    "causal_mask_lifted": CausalMaskLifted,
    "forced_token": ForcedToken,
}
_TYPE_NAMES = {kind: name for name, kind in (*_OUTPUTS.items(), *_INTERVENTIONS.items())}


def experiment_to_json(experiment: Experiment) -> dict[str, Any]:
    """The experiment as dictionaries, lists, texts and numbers."""
    return {
        "source_text": experiment.source_text,
        "output": part_to_json(experiment.output),
        "interventions": [part_to_json(each) for each in experiment.interventions],
    }


def part_to_json(value: Output | Intervention) -> dict[str, Any]:
    """An output or an intervention; the field `type` names which one it is."""
    return {"type": _TYPE_NAMES[type(value)]} | _fields_to_json(value)


def _fields_to_json(value: Output | Intervention | Head) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in fields(value):
        content = getattr(value, each.name)
        if isinstance(content, Head):
            content = _fields_to_json(content)
        found[each.name] = list(content) if isinstance(content, tuple) else content
    return found


def experiment_from_json(values: object, path: str = "experiment") -> Experiment:
    """The experiment that `experiment_to_json` described.

    Args:
        values: of whatever kind.
        path: where they stand, for the message.

    Raises:
        ExperimentError: they describe no experiment; the message names the field by its path.
    """
    try:
        return experiment_of(Field(values, path))
    except JsonError as error:
        raise ExperimentError(f"{error} Correct this field.") from error


def experiment_of(field: Field) -> Experiment:
    """The same for a field of a larger text. Raises `JsonError`."""
    members = field.members("source_text", "output", "interventions")
    interventions = tuple(_part(each, _INTERVENTIONS) for each in members["interventions"].items(MAX_INTERVENTIONS))
    text, output = members["source_text"].text(), _part(members["output"], _OUTPUTS)
    return _made(field, lambda: Experiment(text, output, interventions))


def _part(field: Field, kinds: Mapping[str, type[PartT]]) -> PartT:
    """The value of the dataclass that the field `type` names.

    Checks that depend on several fields are those of its constructor. They are reported for its last field.
    """
    names = tuple(field.value) if isinstance(field.value, dict) else ()
    kind = kinds[field.members("type", optional=names)["type"].choice(kinds)]
    wanted = [each.name for each in fields(kind)]
    members = field.members("type", *wanted)
    values = {name: _READERS[name](members[name]) for name in wanted}
    return _made(members[wanted[-1] if wanted else "type"], lambda: kind(**values))


def _head(field: Field) -> Head:
    members = field.members("kind", "layer", "head")
    kind = cast(AttentionKind, members["kind"].choice(ATTENTION_KINDS))
    return Head(kind, _index(members["layer"]), _index(members["head"]))


def _index(field: Field) -> int:
    return field.whole_number(0, MAX_INDEX)


def _weights(field: Field) -> tuple[float, ...]:
    return tuple(each.number(0, math.inf) for each in field.items(MAX_INDEX + 1))


_READERS: Mapping[str, Callable[[Field], Any]] = {
    "size": lambda field: field.whole_number(1, MAX_BEAM),
    "length_penalty": lambda field: field.number(0, MAX_LENGTH_PENALTY),
    "text": Field.text,
    "place": _index,
    "head": _head,
    "factor": lambda field: field.number(-MAX_FACTOR, MAX_FACTOR),
    "temperature": lambda field: field.number(MIN_TEMPERATURE, MAX_TEMPERATURE),
    "row": _index,
    "weights": _weights,
    "step": _index,
    "token": Field.text,
}
"""How each field of an output or intervention is read. A name means the same in all of them."""


def _made(field: Field, make: Callable[[], PartT | Experiment]) -> Any:
    """The result of `make`; its errors are reported with the path of the field."""
    try:
        return make()
    except AugenmerkError as error:
        raise JsonError(f"{field.path}: {error}") from error
