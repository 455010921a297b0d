"""A translation that someone typed, as ids for the decoder to read. No torch."""

from dataclasses import dataclass

from augenmerk.core.config import RunConfig
from augenmerk.core.errors import TextError
from augenmerk.core.text.codec import EncodedWord, TextCodec
from augenmerk.core.text.languages import a_sentence_in
from augenmerk.core.text.tokenizers import check_length
from augenmerk.core.translation.coverage import AS_UNKNOWN
from augenmerk.core.translation.result import Word
from augenmerk.core.translation.source import MAX_WORDS, one_line, without_marks


@dataclass(frozen=True)
class EncodedTarget:
    """What the decoder predicts, chosen by it or given.

    Attributes:
        ids: T of them, the end token last if there is one.
        labels: the same for people; an unknown word that was given stands as it was typed.
        words: ranges of decoding steps.
        text: the sentence for people.
        notes: what the reader should know.
        is_given: whether someone typed it.
    """

    ids: tuple[int, ...]
    labels: tuple[str, ...]
    words: tuple[Word, ...]
    text: str
    notes: tuple[str, ...] = ()
    is_given: bool = True


def encode_target(text: str, codec: TextCodec, run: RunConfig) -> EncodedTarget:
    """Tokenizes and numericalizes a given translation; the end token is put behind it.

    Raises:
        TextError: nothing in it can be read, or it is too long for the model.
    """
    if len(text.split()) > MAX_WORDS:
        raise TextError(f"The translation has {len(text.split()):,} words; the limit is {MAX_WORDS:,}. Shorten it.")
    check_length(text)
    found = [without_marks(word, codec) for word in codec.encode_text(one_line(text, codec))]
    readable = _without_start([word for word in found if word.ids], codec)
    if not readable:
        expected = a_sentence_in(codec.language)
        raise TextError(
            f"This model can read no word of the given translation {text.strip()[:60]!r}. Enter {expected}."
        )
    ids = [token for word in readable for token in word.ids]
    labels = [label for word in readable for label in word.labels]
    vocabulary = codec.vocabulary
    if vocabulary.end_id is not None:
        ids.append(vocabulary.end_id)
        labels.append(vocabulary.tokens[vocabulary.end_id])
    if len(ids) > run.model.max_positions:
        raise TextError(
            f"The given translation has {len(ids)} tokens, and the model has room for {run.model.max_positions}. "
            "Shorten it."
        )
    return EncodedTarget(tuple(ids), tuple(labels), _words(readable), one_line(text, codec).strip(), _notes(found))


def _without_start(words: list[EncodedWord], codec: TextCodec) -> list[EncodedWord]:
    """Where nothing marks start and end (the copy task), the first symbol is read, not predicted."""
    start_id = codec.vocabulary.start_id
    if codec.vocabulary.end_id is not None or not words:
        return words
    if words[0].ids != (start_id,):
        raise TextError(
            f"The given translation begins with {words[0].text!r}. This model begins each with "
            f"{codec.vocabulary.tokens[start_id]!r}; put it first."
        )
    return words[1:]


def _words(readable: list[EncodedWord]) -> tuple[Word, ...]:
    words, start = [], 0
    for word in readable:
        words.append(Word(word.text, start, start + len(word.ids)))
        start += len(word.ids)
    return tuple(words)


def _notes(found: list[EncodedWord]) -> tuple[str, ...]:
    unread = ", ".join(dict.fromkeys(word.text for word in found if not word.ids))
    unknown = ", ".join(dict.fromkeys(word.text for word in found if any(word.unknown)))
    notes = [f"Left out of the given translation, because this model has no such symbol: {unread}."] if unread else []
    return (
        *notes,
        *([f"Unknown to the model in the given translation, {AS_UNKNOWN}: {unknown}."] if unknown else []),
    )
