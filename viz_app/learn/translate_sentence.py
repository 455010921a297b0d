"""Whether the sentence of the Translate page can be used on the Learn page. No Qt."""

from augenmerk.core.translation.result import Translation
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.languages import NEUTRAL, language_names
from augenmerk.viz_app.state.model_info import ModelInfo

MAX_WORDS, MAX_TOKENS = 16, 22
"""With more, lines and cells of the figures are too narrow to be read; words are counted before tokens are known."""


def sentence_of(other: ExperimentState | None) -> str:
    """The sentence of the other page; empty if there is none."""
    return other.experiment.source_text.strip() if other is not None else ""


def language_problem(other: ExperimentState | None, model: ModelInfo | None) -> str:
    """Why a model cannot read the other page's sentence, in a clause; empty if it can, or nothing is known yet."""
    if other is None or other.model is None or model is None:
        return ""
    if other.model.run.is_copy_task:
        return "it is a list of symbols"
    if other.model.run.data.source_language == model.run.data.source_language:
        return ""
    theirs, ours = (language_names(each.run)[0] for each in (other.model, model))
    return f"it may not be {ours}" if theirs == NEUTRAL[0] else f"it is {theirs}, and Learn reads {ours}"


def length_problem(other: ExperimentState | None) -> str:
    """Why the figures cannot show the other page's sentence, by its words, in a clause; empty if they can."""
    num_words = len(sentence_of(other).split())
    return _too_long(num_words, "words", MAX_WORDS) if num_words > MAX_WORDS else ""


def token_problem(translation: Translation) -> str:
    """The same by the tokens of both sides, once it was translated."""
    num_tokens = max(len(translation.source_tokens), len(translation.predicted_tokens))
    return _too_long(num_tokens, "tokens", MAX_TOKENS) if num_tokens > MAX_TOKENS else ""


def _too_long(number: int, what: str, limit: int) -> str:
    return f"it has {number} {what}, and the figures show {limit} at most"
