"""Values in the output of several commands: model, version, tokens, original translation."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..storage import atomic_path
from ..translation.experiment import Intervention
from ..translation.experiment_file import part_to_json

if TYPE_CHECKING:
    from ..translation.result import Translation
    from ..translation.translator import Translator

Numbers = dict[str, "np.ndarray[Any, np.dtype[Any]]"]
INTERVENTIONS = "interventions"
"""Name of an array of JSON texts, or objects in JSON output, as in `experiment_file`."""


def origin_values(translator: "Translator", digest: str = "") -> dict[str, Any]:
    """The program and the model that computed the numbers; `digest` is the model's, if known."""
    model = {"name": translator.name, "digest": digest or translator.digest}
    return {"version": __version__, "model": model}


def token_values(translator: "Translator", translation: "Translation") -> dict[str, Any]:
    """The tokens as the model has them, and the distributions that they were chosen from.

    With interventions, this includes the baseline: the translation without them.
    `log_probabilities` are those of its tokens; `changed_log_probabilities` are those of the same
    tokens with the interventions.
    """
    entries = translator.checkpoint.codecs.target.vocabulary.tokens
    values: dict[str, Any] = {
        "source_ids": translation.source_ids,
        "read_ids": translation.read_ids,
        "predicted_ids": translation.predicted_ids,
        "predicted_entries": tuple(entries[token] for token in translation.predicted_ids),
        "ranks": translation.ranks,
        "entropies": translation.entropies,
    }
    experiment = translation.experiment
    if experiment.interventions:
        original = translator.run(experiment.baseline, draft=translation)
        values["baseline"] = {
            "translation": original.text,
            "predicted_tokens": original.predicted_tokens,
            "predicted_ids": original.predicted_ids,
            "log_probabilities": original.log_probabilities,
            "changed_log_probabilities": translator.score(original, experiment),
        }
    return values


def as_arrays(values: Mapping[str, Any], prefix: str = "") -> Numbers:
    """Values as arrays. The members of “model” become “model/name” and “model/digest”."""
    numbers: Numbers = {}
    for name, value in values.items():
        if isinstance(value, dict):
            numbers |= as_arrays(value, f"{prefix}{name}/")
        else:
            numbers[f"{prefix}{name}"] = np.array(value)
    return numbers


def origin_arrays(translator: "Translator", interventions: Sequence[Intervention]) -> Numbers:
    """The program, the model and its changes."""
    changes = np.array(
        [json.dumps(part_to_json(intervention)) for intervention in interventions], dtype=str
    )
    return as_arrays(origin_values(translator)) | {INTERVENTIONS: changes}


def translation_arrays(translator: "Translator", translation: "Translation") -> Numbers:
    """The program and model of a translation, its text, and its tokens with their probabilities."""
    output = {"output": part_to_json(translation.experiment.output)}
    return {
        **origin_arrays(translator, translation.experiment.interventions),
        "source": np.array(translation.source_text),
        "translation": np.array(translation.text),
        "predicted_tokens": np.array(translation.predicted_tokens),
        "log_probabilities": np.array(translation.log_probabilities),
        "notes": np.array(translation.all_notes, dtype=str),
        **as_arrays(output | token_values(translator, translation)),
    }


def write_arrays(numbers: Numbers, path: Path) -> None:
    """Write NPZ, readable without pickle, atomically. Raises `StorageError`."""
    content = io.BytesIO()  # a half-made archive, as after an interrupt, writes to it when freed
    np.savez_compressed(content, **numbers)  # type: ignore[arg-type]
    with atomic_path(path) as temporary:
        temporary.write_bytes(content.getbuffer())
