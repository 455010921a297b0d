"""Marks the source words that the translation probably left out."""

from collections.abc import Collection
from functools import partial
from typing import Any, ClassVar

from augenmerk.core.maps.left_out import left_out_note
from augenmerk.core.translation.result import ExperimentResult, Word

from ...state.experiment_state import RequestState
from ...state.sentence_text import Span, word_spans
from ...window_part import WindowPart
from ...worker.jobs import JobScope, OpenTranslator, ShouldStop, Tell, TranslationJob

MANY = 3
"""Words that are reported, as most of a long sentence may be missing."""
SHORT = 0.75
"""Words of a translation for each of the source below which more is missing than is found."""


class LeftOutWordsJob(TranslationJob):
    """The source words that the model probably left out."""

    scope: ClassVar[JobScope] = "details"

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> tuple[Word, ...]:
        """See `Job.run`."""
        from augenmerk.core.maps.left_out import left_out_words

        return left_out_words(translator, self.translation, should_stop=should_stop)


class LeftOutPart(WindowPart):
    """Shows left-out words of the Translate page pale, and says so if they are many."""

    def __init__(self, window: Any) -> None:
        super().__init__(window)
        self._request = RequestState()
        window.state.result_changed.connect(self._ask)

    def _ask(self) -> None:
        page = self.window.translate_page
        result = page.state.current
        if result is not None and not page.sentence.marks.has_pale_words(result):
            show = partial(self._show, result)
            page.controller.ask(LeftOutWordsJob(result.changed), self._request, show)

    def _show(self, result: ExperimentResult, words: Collection[Word]) -> None:
        sentence = self.window.translate_page.sentence
        spans = left_out_spans(result, words)
        sentence.marks.show_pale(
            result, {span: left_out_note(word.text) for span, word in spans.items()}
        )
        if len(words) >= MANY:
            sentence.notes.say_of_result(result, _note_on(result, len(words)))


def _note_on(result: ExperimentResult, num_words: int) -> str:
    """The note on this number of words.

    A word that the text has twice is not missed, so that they are too few of a long text of which
    a half is missing.
    """
    translation = result.changed
    if len(translation.target_words) < SHORT * len(translation.source_words):
        return (
            f"The translation is much shorter: it probably left out at least {num_words} words, "
            "which are pale."
        )
    return f"The translation probably left out {num_words} words, which are pale."


def left_out_spans(result: ExperimentResult, words: Collection[Word]) -> dict[Span, Word]:
    """Spans in the typed text of some changed source words; replacements are left out."""
    spans = word_spans(result.original)
    original, changed = result.original, result.changed
    typed = dict(zip(original.source_places, original.source_words, strict=True))
    left_out = {}
    for position, word in zip(changed.source_places, changed.source_words, strict=True):
        old = typed.get(position)
        if word in words and old in spans and old.text == word.text:
            left_out[spans[old]] = word
    return left_out
