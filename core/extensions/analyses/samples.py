"""Samples of sentences: what must hold before they are measured."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import AnalysisError
from ...quantities import counted
from ...text.languages import inner_code, language_in_words, language_name, two_letter_code

if TYPE_CHECKING:
    from ...translation.translator import Translator

SAMPLE_LANGUAGES = ("de", "en")
"""Codes of the languages of the pairs aligned by hand and of Multi30k; the examples have only the
first.
"""


def require_languages_of_sample(
    translator: "Translator",
    advice: str,
    choose_target: str,
    *,
    languages: tuple[str, str] = SAMPLE_LANGUAGES,
    needs_target: bool = True,
    target_code: str | None = None,
) -> None:
    """Raises `AnalysisError` unless a model translates the languages of a sample.

    Args:
        translator: provides the model.
        advice: how to measure another sample, as a sentence.
        choose_target: how to choose one of several target languages, as a sentence.
        languages: codes of the sample's source and target, by default those of the shipped samples.
        needs_target: whether the translations of the sample matter. If not, any target language
            will do, but a model of several needs one.
        target_code: the token `>>xx<<` of the chosen target language, for a model of several.
    """
    run = translator.run_config
    target = run.data.target_language if target_code is None else inner_code(target_code)
    is_undecided = bool(translator.target_codes) and target_code is None
    num_compared = 2 if needs_target else 1
    own, of_sample = (
        tuple(map(two_letter_code, codes))
        for codes in ((run.data.source_language, target), languages)
    )
    suits = own[:num_compared] == of_sample[:num_compared]
    if suits and not is_undecided and not run.is_copy_task:
        return
    task = (
        "copies symbols"
        if run.is_copy_task
        else "translates {} to {}".format(*map(language_in_words, own))
    )
    undecided = ", and no target language is chosen" if is_undecided else ""
    raise AnalysisError(
        f"This model {task}{undecided}; the sample is "
        f"{' to '.join(map(language_name, of_sample[:num_compared]))}. Measurements on it would "
        f"be meaningless. {advice}{f' {choose_target}' if is_undecided else ''}"
    )


def require_translations(sources: Sequence[object], targets: Sequence[object]) -> None:
    """Raises `AnalysisError` unless there is one translation for each sentence."""
    if len(sources) != len(targets):
        raise AnalysisError(
            f"Found {counted(len(sources), 'sentence')} and "
            f"{counted(len(targets), 'translation')}. Pass one translation per sentence."
        )
