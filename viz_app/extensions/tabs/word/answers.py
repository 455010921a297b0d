"""The answers that the tab *Word* knows."""

from collections.abc import Container
from typing import Any

from augenmerk.core.extensions.analyses.parts_of_words import WordParts
from augenmerk.core.translation.result import Translation

from ....state.number_table import NumberTable
from ....worker.jobs import Job
from ...words import lens_table, word_parts
from ...words.jobs import DecoderLensJob, LensJob, MeasurePartsJob, WordPartsJob
from ...words.lens_table import decided_text
from ...words.word_parts import lead_text
from .shown_answer import (
    LayersAnswer,
    LensAnswer,
    NoAnswer,
    PartsAnswer,
    PreviousAnswer,
    ShownAnswer,
    Waiting,
)
from .state import WordState


class WordAnswers:
    """The known answers to questions about a word, and those that the current view shows.

    Attributes:
        word: the question.
        known: the answers by their jobs.
    """

    def __init__(self, word: WordState) -> None:
        self.word = word
        self.known: dict[Job, Any] = {}

    def keep_about(self, translations: Container[Translation | None]) -> None:
        """Forgets the answers about other translations."""
        self.known = {
            job: answer
            for job, answer in self.known.items()
            if _translation_of(job) in translations
        }

    @property
    def job(self) -> Job | None:
        """The question of the current view; None without a translation."""
        translation = self.word.translation
        word = self.word
        if translation is None or not translation.predicted_tokens:
            return None
        if word.view == "parts":
            return WordPartsJob(translation, word.step, word.foil)
        return LensJob(translation) if word.view == "lens" else DecoderLensJob(translation)

    @property
    def current(self) -> Any:
        """The answer to the question of the current view; None while it is unknown."""
        job = self.job
        return self.known.get(job) if job is not None else None

    def shown(self, is_running: bool, *, was_drawn: bool) -> ShownAnswer:
        """The answer to the current question, or the case that stands in for it.

        Args:
            is_running: whether it is being computed.
            was_drawn: whether the view has shown an answer before.
        """
        answer = self.current
        if answer is None and not is_running:
            return NoAnswer()
        if answer is None:
            return PreviousAnswer() if was_drawn else Waiting()
        if self.word.view == "lens":
            return LensAnswer(answer, self.word.step)
        if self.word.view == "layers":
            return LayersAnswer(answer)
        measured = self.known.get(MeasurePartsJob(answer), {})
        return PartsAnswer(answer, measured, self._parts_of_original(answer), self._lead_of(answer))

    def numbers(self) -> NumberTable | None:
        """The numbers of the current view; None while there are none."""
        answer = self.current
        if isinstance(answer, WordParts):
            return word_parts.table_of(answer, self.known.get(MeasurePartsJob(answer), {}))
        if answer is None or self.word.view == "lens":
            return lens_table.table_of(answer) if answer is not None else None
        layers = enumerate(answer.layers)
        rows = tuple(
            (layer, translation.text, translation.log_probability) for layer, translation in layers
        )
        return NumberTable("encoder layers", {}, ("layers", "translation", "log_probability"), rows)

    def _lead_of(self, parts: WordParts) -> str:
        """Sentences about the lead; with the depth that decides it, if the lens is known."""
        lead = lead_text(parts, is_foil_whole=self.word.is_foil_typed)
        lens = self.known.get(LensJob(parts.translation))
        return f"{lead} {decided_text(lens, self.word.step)}" if lens is not None else lead

    def _parts_of_original(self, parts: WordParts) -> WordParts | None:
        """The same comparison in the original, if something is changed, and it is known."""
        original = self.word.state.original
        if original is None or original is parts.translation:
            return None
        known = self.known.get(WordPartsJob(original, self.word.step, self.word.foil))
        is_same = known is not None and (known.chosen.entry, known.foil.entry) == (
            parts.chosen.entry,
            parts.foil.entry,
        )
        return known if is_same else None


def _translation_of(job: Job) -> Translation | None:
    """The translation that a question is about."""
    if isinstance(job, MeasurePartsJob):
        return job.parts.translation
    return job.translation if isinstance(job, WordPartsJob | LensJob | DecoderLensJob) else None
