"""Values that the output of several commands shares: model and version, tokens, and the translation without changes."""

from typing import TYPE_CHECKING, Any

from augenmerk.core import __version__

if TYPE_CHECKING:
    from augenmerk.core.translation.result import Translation
    from augenmerk.core.translation.translator import Translator


def origin_values(translator: "Translator") -> dict[str, Any]:
    """The program and the model that computed the numbers."""
    return {"version": __version__, "model": {"name": translator.name, "digest": translator.digest}}


def token_values(translator: "Translator", translation: "Translation") -> dict[str, Any]:
    """The tokens as the model has them, and the distributions that they were chosen from.

    With interventions, this includes the baseline: the translation without them. `log_probabilities` are those of its
    tokens; `changed_log_probabilities` are those of the same tokens with the interventions.
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
