"""Names of source and target in sentences, and the codes `>>xx<<` of target languages. No Qt."""

from collections.abc import Collection

from augenmerk.core.config import RunConfig
from augenmerk.core.errors import AnalysisError
from augenmerk.core.text.languages import UNDETERMINED, language_name, two_letter_code
from augenmerk.viz_app.state.model_info import ModelInfo

NEUTRAL = ("source", "target")
_OPEN, _CLOSE = ">>", "<<"


def language_names(run: RunConfig | None) -> tuple[str, str]:
    """Source and target of a run, such as "German" and "English"; neutral words where there are no languages.

    The copy task has no languages. Those of a run with lost settings (None), or without an entry, are unknown.
    """
    if run is None or run.is_copy_task:
        return NEUTRAL
    codes = run.data.source_language, run.data.target_language
    source, target = (
        neutral if code == UNDETERMINED else language_name(code) for code, neutral in zip(codes, NEUTRAL, strict=True)
    )
    return source, target


def languages_of(model: ModelInfo, text: str) -> tuple[str, str]:
    """The names of source and target of a model; the code in the text selects one of several target languages."""
    source, target = language_names(model.run)
    if not model.target_codes:
        return source, target
    code = code_of(text, model.target_codes)
    return source, NEUTRAL[1] if code is None else language_of(code)


def target_code(model: ModelInfo | None, text: str) -> str | None:
    """The token `>>xx<<` of the target language in the text; None if it has none."""
    return code_of(text, model.target_codes) if model is not None else None


def language_of(code: str) -> str:
    """The name of the target of a code such as `>>fra<<`; the letters of the code if it has none."""
    return language_name(inner_code(code))


def inner_code(code: str) -> str:
    """The letters of a code such as `>>fra<<`: fra."""
    return code.removeprefix(_OPEN).removesuffix(_CLOSE)


def code_of(text: str, codes: Collection[str]) -> str | None:
    """The code that a text begins with; None if there is none that the model knows."""
    text = text.lstrip()
    code = text[: text.find(_CLOSE) + len(_CLOSE)]
    return code if code in codes else None


def with_code(text: str, code: str) -> str:
    """The text with this code in place of the one that it begins with."""
    rest = text.lstrip()
    if rest.startswith(_OPEN) and _CLOSE in rest:
        rest = rest.partition(_CLOSE)[2].lstrip()
    return f"{code} {rest}"


def check_languages(
    run: RunConfig, source: str, target: str | None, target_code: str | None = None, *, offers_file: bool = False
) -> None:
    """Raises `AnalysisError` unless a model translates the languages of a sample.

    Args:
        run: the settings of the model.
        source, target: the languages of the sample; the target is None if its translations do not matter.
        target_code: the token `>>xx<<` of the chosen target language, for a model of several.
        offers_file: whether the user can choose a file instead of the sample.
    """
    writes = run.data.target_language if target_code is None else inner_code(target_code)
    own = two_letter_code(run.data.source_language), two_letter_code(writes)
    if own[0] == source and target in (None, own[1]):
        return
    pairs = language_name(source) + (f" to {language_name(target)}" if target is not None else "")
    advice = " Choose your own file as the sample." if offers_file else ""
    raise AnalysisError(
        f"This model translates {language_name(own[0])} to {language_name(own[1])}; the sample is {pairs}. "
        f"Measurements on it would be meaningless.{advice}"
    )
