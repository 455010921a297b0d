"""Strikes out, as a text is typed, the end that the model has no room for."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from augenmerk.core.text.phrases import phrase
from augenmerk.core.translation.typed_text import encode_source, room_for_source

from ...state.experiment_state import RequestState
from ...state.sentence_text import end_span
from ...views.sentence import SentencePanel
from ...views.sentence_input import SentenceMarks
from ...worker.jobs import Job, JobScope, OpenTranslator, ShouldStop, Tell
from .sentence_part import SentencePart


@dataclass(frozen=True)
class ReadingJob(Job):
    """Reads a typed text without translating it."""

    text: str
    scope: ClassVar[JobScope] = "model"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> str:
        """See `Job.run`. The end of the text that the model has no room for."""
        codec = translator.checkpoint.codecs.source
        return encode_source(self.text, codec, translator.run_config).ignored_text


class OverlongText:
    """Asks the model about long texts, before they are translated."""

    def __init__(self, panel: SentencePanel) -> None:
        self._panel = panel
        self._reading = RequestState()
        panel.input.textChanged.connect(self._read)

    def _read(self) -> None:
        panel = self._panel
        text, model = panel.input.text, panel.state.model
        panel.notes.say_of_typed_text("")
        # a character has two tokens at most, one of them the mark of a word
        if (
            panel.controller is not None
            and model is not None
            and 2 * len(text) > room_for_source(model.run)
        ):
            panel.controller.ask(ReadingJob(text), self._reading, partial(self._show, text))

    def _show(self, text: str, ignored: str) -> None:
        """Strikes the end that the model will not read, until the result does that."""
        panel = self._panel
        model, latest = panel.state.model, panel.state.latest
        is_answered = latest is not None and latest.experiment.source_text == text
        if text == panel.input.text and ignored and model and not is_answered:
            panel.input.marker.mark(SentenceMarks(ignored=end_span(text, ignored)))
            room = room_for_source(model.run)
            panel.notes.say_of_typed_text(phrase("reads_up_to", room=room))


class OverlongPart(SentencePart[OverlongText]):
    """Strikes out what the model will not read on each page that has a sentence."""

    make = OverlongText
