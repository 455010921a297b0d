"""Experiments as plain values for JSON, and back, exactly. No torch. All counting starts at 0.

Experiment files, `--json` of the commands, and a session that is kept until the next start use this form.
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar

from augenmerk.core.errors import AugenmerkError, ExperimentError
from augenmerk.core.model.heads import ATTENTION_KINDS, Head
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
Made = TypeVar("Made")


def experiment_to_json(experiment: Experiment) -> dict[str, Any]:
    """The experiment as dictionaries, lists, texts and numbers."""
    return {
        "source_text": experiment.source_text,
        "output": output_to_json(experiment.output),
        "interventions": [intervention_to_json(each) for each in experiment.interventions],
    }


def output_to_json(output: Output) -> dict[str, Any]:
    """How the target is found; its field `type` says which of the three it is."""
    match output:
        case Greedy():
            return {"type": "greedy"}
        case Beam(size, length_penalty):
            return {"type": "beam", "size": size, "length_penalty": length_penalty}
        case GivenTarget(text):
            return {"type": "given", "text": text}


def intervention_to_json(intervention: Intervention) -> dict[str, Any]:
    """One intervention; its field `type` says which it is."""
    match intervention:
        case SourceWordRemoved(place):
            return {"type": "source_word_removed", "place": place}
        case SourceWordReplaced(place, text):
            return {"type": "source_word_replaced", "place": place, "text": text}
        case HeadScaled(head, factor):
            return {"type": "head_scaled", "head": _head_to_json(head), "factor": factor}
        case SoftmaxTemperature(head, temperature):
            return {"type": "softmax_temperature", "head": _head_to_json(head), "temperature": temperature}
        case CausalMaskLifted():
            return {"type": "causal_mask_lifted"}
        case AttentionRow(head, row, weights):
            return {"type": "attention_row", "head": _head_to_json(head), "row": row, "weights": list(weights)}
        case ForcedToken(step, token):
            return {"type": "forced_token", "step": step, "token": token}


def _head_to_json(head: Head) -> dict[str, Any]:
    return {"kind": head.kind, "layer": head.layer, "head": head.head}


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
    interventions = tuple(_intervention(each) for each in members["interventions"].items(MAX_INTERVENTIONS))
    text, output = members["source_text"].text(), _output(members["output"])
    return _made(field, lambda: Experiment(text, output, interventions))


def _output(field: Field) -> Output:
    match _type_of(field, ("greedy", "beam", "given")):
        case "beam":
            members = field.members("type", "size", "length_penalty")
            return Beam(
                members["size"].whole_number(1, MAX_BEAM), members["length_penalty"].number(0, MAX_LENGTH_PENALTY)
            )
        case "given":
            return GivenTarget(field.members("type", "text")["text"].text())
        case _:
            field.members("type")
            return Greedy()


def _intervention(field: Field) -> Intervention:
    return _READERS[_type_of(field, tuple(_READERS))](field)


def _type_of(field: Field, known: tuple[str, ...]) -> str:
    """What the field `type` of an object says, the other fields aside: which there can be depends on it."""
    names = tuple(field.value) if isinstance(field.value, dict) else ()
    return field.members("type", optional=names)["type"].choice(known)


def _source_word_removed(field: Field) -> SourceWordRemoved:
    return SourceWordRemoved(_index(field.members("type", "place")["place"]))


def _source_word_replaced(field: Field) -> SourceWordReplaced:
    members = field.members("type", "place", "text")
    place, text = _index(members["place"]), members["text"].text()
    return _made(members["text"], lambda: SourceWordReplaced(place, text))


def _head_scaled(field: Field) -> HeadScaled:
    members = field.members("type", "head", "factor")
    return HeadScaled(_head(members["head"]), members["factor"].number(-MAX_FACTOR, MAX_FACTOR))


def _softmax_temperature(field: Field) -> SoftmaxTemperature:
    members = field.members("type", "head", "temperature")
    return SoftmaxTemperature(_head(members["head"]), members["temperature"].number(MIN_TEMPERATURE, MAX_TEMPERATURE))


def _causal_mask_lifted(field: Field) -> CausalMaskLifted:
    field.members("type")
    return CausalMaskLifted()


def _attention_row(field: Field) -> AttentionRow:
    members = field.members("type", "head", "row", "weights")
    head, row = _head(members["head"]), _index(members["row"])
    weights = tuple(each.number(0, math.inf) for each in members["weights"].items(MAX_INDEX + 1))
    return _made(members["weights"], lambda: AttentionRow(head, row, weights))


def _forced_token(field: Field) -> ForcedToken:
    members = field.members("type", "step", "token")
    step, token = _index(members["step"]), members["token"].text()
    return _made(members["token"], lambda: ForcedToken(step, token))


_READERS: dict[str, Callable[[Field], Intervention]] = {
    "source_word_removed": _source_word_removed,
    "source_word_replaced": _source_word_replaced,
    "head_scaled": _head_scaled,
    "softmax_temperature": _softmax_temperature,
    "attention_row": _attention_row,
    "causal_mask_lifted": _causal_mask_lifted,
    "forced_token": _forced_token,
}


def _head(field: Field) -> Head:
    members = field.members("kind", "layer", "head")
    kind = members["kind"].choice(ATTENTION_KINDS)
    return Head(
        next(known for known in ATTENTION_KINDS if known == kind), _index(members["layer"]), _index(members["head"])
    )


def _index(field: Field) -> int:
    return field.whole_number(0, MAX_INDEX)


def _made(field: Field, make: Callable[[], Made]) -> Made:
    """What `make` gives; what it refuses is told with the path of the field."""
    try:
        return make()
    except AugenmerkError as error:
        raise JsonError(f"{field.path}: {error}") from error
