"""Marks the source words that the translation probably left out."""

from collections.abc import Collection
from functools import partial
from typing import Any, ClassVar

from augenmerk.core.config import RunConfig
from augenmerk.core.extensions.missing_words import missing_words_note
from augenmerk.core.maps.left_out import left_out_note
from augenmerk.core.translation.result import ExperimentResult, Translation, Word

from ...state.experiment_state import RequestState
from ...state.sentence_text import Span, word_spans
from ...window_part import WindowPart
from ...worker.jobs import JobScope, OpenTranslator, ShouldStop, Tell, TranslationJob

MANY = 3
"""Words that are reported, as most of a long sentence may be missing."""


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
    """Shows left-out words of the Translate page pale, and says so if many are missing."""

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
        model = self.window.translate_page.state.model
        note = "" if model is None else _note_on(result.changed, len(words), model.run)
        if note:
            sentence.notes.say_of_result(result, note)


def _note_on(translation: Translation, num_words: int, run: RunConfig) -> str:
    """The note on a translation of whose source this number of words is pale; empty if few miss.

    Few words are pale in a long text of which a half is missing, as the model does not miss a word
    that the text says again.
    """
    note = missing_words_note(translation, run)
    if note and num_words:
        return f"{note} One is pale." if num_words == 1 else f"{note} Some are pale."
    if num_words >= MANY:  # and it is not much shorter
        return f"The translation probably left out {num_words} words, which are pale."
    return note


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
