"""Asks for a second result: of another sentence, or by another checkpoint. Runs in the worker's thread."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from augenmerk.core.config import RunConfig
from augenmerk.core.errors import AnalysisError, AugenmerkError
from augenmerk.core.text.languages import language_name
from augenmerk.core.translation.experiment import Experiment, ForcedToken, GivenTarget
from augenmerk.core.translation.result import ExperimentResult, Translation
from augenmerk.viz_app.analysis.compare.second_model import SecondModel
from augenmerk.viz_app.analysis.compare.state import Comparison
from augenmerk.viz_app.worker.inference import JobScope, OpenTranslator, ShouldStop, Tell

if TYPE_CHECKING:
    from augenmerk.core.translation.translator import Translator


@dataclass(frozen=True, eq=False)
class CompareJob:
    """What becomes of an experiment with another sentence or another model.

    Attributes:
        first: the result that is shown.
        experiment: the second one. Its interventions that do not fit sentence or model are left out, and named.
        model: the second model; None for the one in use.
    """

    first: ExperimentResult
    experiment: Experiment
    model: SecondModel | None = None
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> Comparison:
        """See `Job.run`. Raises `AnalysisError` if the two models translate other languages."""
        other = translator if self.model is None else self.model.translator(translator.device.name)
        _check_languages(translator.run_config, other.run_config, other.name)
        second = other.compare(self.experiment, drops_misfits=True, should_stop=should_stop)
        first = self.first.changed
        forced, problem = None, ""
        try:
            forced = other.compare(reading(second.experiment, first), own=second.original, should_stop=should_stop)
        except AugenmerkError as error:  # nothing was said, or more than the second has room for
            problem = str(error)
        is_same_vocabulary = _has_vocabulary_of(translator, other)
        scored: float | None = None
        if is_same_vocabulary and len(first.read_ids) <= other.run_config.model.max_positions:
            scored = sum(other.score(first, second.experiment))
        elif forced is not None:
            scored = forced.changed.log_probability
        if forced is not None:
            forced = replace(forced, dropped=second.dropped)
        return Comparison(self.first, second, forced, problem, scored, is_same_vocabulary)


def reading(experiment: Experiment, first: Translation) -> Experiment:
    """The experiment, given the words of the first translation. Tokens that were forced there are among them."""
    kept = tuple(each for each in experiment.interventions if not isinstance(each, ForcedToken))
    return Experiment(experiment.source_text, GivenTarget(first.text), kept)


def _has_vocabulary_of(one: "Translator", other: "Translator") -> bool:
    def tokens(translator: "Translator") -> tuple[object, object]:
        codecs = translator.checkpoint.codecs
        return codecs.source.vocabulary.tokens, codecs.target.vocabulary.tokens

    return one is other or tokens(one) == tokens(other)


def _check_languages(one: RunConfig, other: RunConfig, name: str) -> None:
    first, second = _languages(one), _languages(other)
    if first != second:
        raise AnalysisError(
            f"{name} translates {second}, but the current model translates {first}. Choose a checkpoint for the same "
            "languages."
        )


def _languages(run: RunConfig) -> str:
    if run.is_copy_task:
        return "numbers (the copy task)"
    return f"{language_name(run.data.source_language)} to {language_name(run.data.target_language)}"
