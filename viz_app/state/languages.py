"""Names of source and target in sentences, and the codes `>>xx<<` of target languages. No Qt."""

from augenmerk.core.config import RunConfig
from augenmerk.core.text.languages import UNDETERMINED, code_of, inner_code, language_name

from .model_info import ModelInfo

NEUTRAL = ("source", "target")
CHOOSE_TARGET = "Or choose a target language."
"""The advice of `require_languages_of_sample` in the window."""


def language_names(run: RunConfig | None) -> tuple[str, str]:
    """Source and target of a run, such as "German" and "English", or words without languages.

    The copy task has no languages. Those of a run with lost settings (None), or without an entry,
    are unknown.
    """
    if run is None or run.is_copy_task:
        return NEUTRAL
    codes = run.data.source_language, run.data.target_language
    source, target = (
        neutral if code == UNDETERMINED else language_name(code)
        for code, neutral in zip(codes, NEUTRAL, strict=True)
    )
    return source, target


def languages_of(model: ModelInfo, text: str) -> tuple[str, str]:
    """The names of source and target of a model; a code in the text selects among targets."""
    source, target = language_names(model.run)
    if not model.target_codes:
        return source, target
    code = code_of(text, model.target_codes)
    return source, NEUTRAL[1] if code is None else language_of(code)


def target_code(model: ModelInfo | None, text: str) -> str | None:
    """The token `>>xx<<` of the target language in the text; None if it has none."""
    return code_of(text, model.target_codes) if model is not None else None


def language_of(code: str) -> str:
    """The name of the target of a code such as `>>fra<<`, or the code's letters."""
    return language_name(inner_code(code))
