"""Whether a sample is of the languages that a model translates. No Qt, no torch."""

from augenmerk.core.config import RunConfig
from augenmerk.core.errors import AnalysisError
from augenmerk.core.text.languages import language_name, two_letter_code
from augenmerk.viz_app.state.languages import inner_code


def check_languages(
    run: RunConfig, source: str, target: str | None, target_code: str | None = None, *, offers_file: bool = False
) -> None:
    """Raises `AnalysisError` unless the model reads `source` and, where it matters, writes `target`.

    Args:
        run: the settings of the model.
        source: of the sample.
        target: of the sample; None if its translations do not count.
        target_code: the token `>>xx<<` that says into which language a model of several translates, if one is chosen.
        offers_file: whether the user can choose a file of their own in place of the sample.
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
