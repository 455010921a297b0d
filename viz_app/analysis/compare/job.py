"""Asks for a second translation: of another sentence, or by another checkpoint. Runs in the worker's thread."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from core.config import RunConfig
from core.errors import AnalysisError, AugenmerkError
from core.translation.result import Translation
from viz_app.analysis.compare.second_model import SecondModel
from viz_app.analysis.compare.state import Compared
from viz_app.analysis.jobs import real
from viz_app.state.progress import Progress
from viz_app.worker import JobScope, TranslatorLike

if TYPE_CHECKING:
    from core.translation.translator import Translator


@dataclass(frozen=True, eq=False)
class CompareJob:
    """What becomes of a translation with another sentence or another model.

    Attributes:
        first: the translation that is shown.
        text: the second sentence.
        second: the second model; None for the one in use.
    """

    first: Translation
    text: str
    second: SecondModel | None = None
    scope: ClassVar[JobScope] = "sentence"

    def run(
        self, translator: TranslatorLike, progress: Callable[[Progress], None], should_stop: Callable[[], bool]
    ) -> Compared:
        """See `viz_app.worker.Job.run`. Raises `AnalysisError` if the two models translate other languages."""
        one = real(translator)
        other = one if self.second is None else self.second.translator(one.device.name)
        _check_languages(one.run, other.run, other.name)
        second = other.translate(self.text, should_stop=should_stop)
        is_same_vocabulary = _has_vocabulary_of(one, other)
        forced, problem = None, ""
        try:
            forced = other.translate_given(self.text, self.first.text)
        except AugenmerkError as error:  # nothing was said, or more than the second has room for
            problem = str(error)
        if is_same_vocabulary and len(self.first.read_ids) <= other.run.model.max_positions:
            scored: float | None = sum(other.score(replace(self.first, source_ids=second.source_ids)))
        else:
            scored = forced.log_probability if forced is not None else None
        return Compared(self.first, second, forced, problem, scored, is_same_vocabulary)


def _has_vocabulary_of(one: "Translator", other: "Translator") -> bool:
    def tokens(translator: "Translator") -> tuple[object, object]:
        codecs = translator.checkpoint.codecs
        return codecs.source.vocabulary.tokens, codecs.target.vocabulary.tokens

    return one is other or tokens(one) == tokens(other)


def _check_languages(one: RunConfig, other: RunConfig, name: str) -> None:
    first, second = _languages(one), _languages(other)
    if first != second:
        raise AnalysisError(
            f"{name} translates {second}, and the model in use {first}. Two models of the same languages were "
            "expected; choose another checkpoint."
        )


def _languages(run: RunConfig) -> str:
    return (
        "numbers (the copy task)" if run.is_copy_task else f"{run.data.source_language} to {run.data.target_language}"
    )
