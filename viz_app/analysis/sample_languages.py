"""Whether a sample is of the languages that a model translates. No Qt, no torch."""

from core.config import RunConfig
from core.errors import AnalysisError
from core.text.languages import language_name, two_letter_code


def check_languages(run: RunConfig, source: str, target: str | None) -> None:
    """Raises `AnalysisError` unless the model reads `source` and, where it matters, writes `target`."""
    own = two_letter_code(run.data.source_language), two_letter_code(run.data.target_language)
    if own[0] == source and target in (None, own[1]):
        return
    pairs = language_name(source) + (f" to {language_name(target)}" if target is not None else "")
    raise AnalysisError(
        f"This model translates {language_name(own[0])} to {language_name(own[1])}; the sample is {pairs}. Nothing "
        "measured on it would hold. Choose a file of your own as the sample, where the tab offers one."
    )
