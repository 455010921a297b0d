"""Finding tokens again in the text as it was typed."""

from dataclasses import dataclass

from core.translation.coverage import RareWord
from core.translation.result import Translation, Word


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
    coverage = translation.coverage
    if coverage is None or not coverage.rare_words:
        return {}
    rare = {word.start: word for word in coverage.rare_words}
    return {span: rare[word.start] for word, span in word_spans(translation).items() if word.start in rare}


def word_spans(translation: Translation) -> dict[Word, Span]:
    """Where the typed text holds each source word; words that cannot be found again are left out."""
    text, lowered = translation.source_text, _same_length_lower(translation.source_text)
    spans, position = {}, 0
    for word in translation.source_words:
        start = lowered.find(_same_length_lower(word.text), position)
        if start < 0:
            continue
        position = start + len(word.text)
        spans[word] = _to_utf16(text, start, position)
    return spans


def ignored_span(translation: Translation) -> Span | None:
    """Where the typed text holds the end that did not fit into the model."""
    if not translation.ignored_text:
        return None
    text = translation.source_text
    return _to_utf16(text, max(0, len(text) - len(translation.ignored_text)), len(text))


def _same_length_lower(text: str) -> str:
    """Lower case, character by character: a letter whose lower case is longer (İ) stays as it is."""
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)


def _to_utf16(text: str, start: int, end: int) -> Span:
    return Span(_utf16_length(text[:start]), _utf16_length(text[:end]))


def _utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
