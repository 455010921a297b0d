"""Samples of sentences that ship with Augenmerk, and the models that they suit."""

from augenmerk.core.config import RunConfig
from augenmerk.core.errors import AnalysisError
from augenmerk.core.text.languages import inner_code, language_in_words, language_name, two_letter_code

SOURCE_LANGUAGE, TARGET_LANGUAGE = "de", "en"
"""Languages of the examples (only source), of the pairs aligned by hand, and of Multi30k."""


def require_languages_of_samples(
    run: RunConfig, advice: str, *, needs_target: bool = True, target_code: str | None = None
) -> None:
    """Raises `AnalysisError` unless a model translates the languages of the shipped samples.

    Args:
        run: the settings of the model.
        advice: how to measure another sample, as a sentence.
        needs_target: whether the translations of the sample matter.
        target_code: the token `>>xx<<` of the chosen target language, for a model of several.
    """
    target = run.data.target_language if target_code is None else inner_code(target_code)
    own = two_letter_code(run.data.source_language), two_letter_code(target)
    suits = own[0] == SOURCE_LANGUAGE and (not needs_target or own[1] == TARGET_LANGUAGE)
    if suits and not run.is_copy_task:
        return
    sample = language_name(SOURCE_LANGUAGE) + (f" to {language_name(TARGET_LANGUAGE)}" if needs_target else "")
    task = "copies symbols" if run.is_copy_task else "translates {} to {}".format(*map(language_in_words, own))
    raise AnalysisError(
        f"This model {task}; the shipped sample is {sample}. Measurements on it would be meaningless. {advice}"
    )
