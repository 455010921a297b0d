"""Finding tokens again in the text as it was typed."""

from dataclasses import dataclass
from typing import TypeVar

from augenmerk.core.translation.coverage import RareWord, RespelledWord
from augenmerk.core.translation.experiment import SourceWordReplaced
from augenmerk.core.translation.result import ExperimentResult, Translation, Word

_Word = TypeVar("_Word", RareWord, RespelledWord)


@dataclass(frozen=True)
class Span:
    """A half-open range of the typed text, in UTF-16 units, as Qt's text cursors count."""

    start: int
    end: int


def unknown_spans(translation: Translation) -> tuple[Span, ...]:
    """Where the typed text holds words of which the vocabulary does not know some token."""
    unknown = set(translation.unknown_source_positions)
    return tuple(
        span for word, span in word_spans(translation).items() if unknown.intersection(range(word.start, word.end))
    )


def rare_spans(translation: Translation) -> dict[Span, RareWord]:
    """Where the typed text holds words that the training data hardly had."""
    return _spans_of(translation.coverage.rare_words, translation) if translation.coverage else {}


def respelled_spans(translation: Translation) -> dict[Span, RespelledWord]:
    """Where the typed text holds words that were read in another spelling."""
    return _spans_of(translation.coverage.respelled_words, translation) if translation.coverage else {}


def word_spans(translation: Translation) -> dict[Word, Span]:
    """Where the typed text holds each source word; words that cannot be found again are left out."""
    return {word: _to_utf16(translation.source_text, *found) for word, found in _word_ranges(translation).items()}


def _spans_of(words: tuple[_Word, ...], translation: Translation) -> dict[Span, _Word]:
    """Where the typed text holds these words, which know their first tokens."""
    if not words:
        return {}
    spans = {word.start: span for word, span in word_spans(translation).items()}
    return {spans[word.start]: word for word in words if word.start in spans}


def edited_spans(result: ExperimentResult) -> tuple[Span, ...]:
    """Where the typed text holds the words that the experiment removes or replaces."""
    places = {edit.place for edit in result.experiment.source_edits}
    spans, original = word_spans(result.original), result.original
    found = zip(original.source_places, original.source_words, strict=True)
    return tuple(spans[word] for place, word in found if place in places and word in spans)


def source_as_read(result: ExperimentResult) -> str:
    """The sentence as the model read it: words that the experiment removes are gone, others stand in their places."""
    text, ranges = result.original.source_text, _word_ranges(result.original)
    edits = {edit.place: edit for edit in result.experiment.source_edits}
    parts: list[str] = []
    position = 0
    for place, word in zip(result.original.source_places, result.original.source_words, strict=True):
        if place not in edits or word not in ranges:
            continue
        edit, (start, end) = edits[place], ranges[word]
        before = text[position:start]
        parts.append(before + edit.text if isinstance(edit, SourceWordReplaced) else before.rstrip())
        position = end
    return ("".join(parts) + text[position:]).strip()


def ignored_span(translation: Translation) -> Span | None:
    """Where the typed text holds the end that did not fit into the model."""
    if not translation.ignored_text:
        return None
    text = translation.source_text
    return _to_utf16(text, max(0, len(text) - len(translation.ignored_text)), len(text))


def _word_ranges(translation: Translation) -> dict[Word, tuple[int, int]]:
    """Where the typed text holds each source word, in characters; words that cannot be found again are left out."""
    lowered, ranges, position = _same_length_lower(translation.source_text), {}, 0
    for word in translation.source_words:
        start = lowered.find(_same_length_lower(word.text), position)
        if start >= 0:
            position = start + len(word.text)
            ranges[word] = start, position
    return ranges


def _same_length_lower(text: str) -> str:
    """Lower case, character by character: a letter whose lower case is longer (İ) stays as it is."""
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)


def _to_utf16(text: str, start: int, end: int) -> Span:
    return Span(_utf16_length(text[:start]), _utf16_length(text[:end]))


def _utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
