"""What someone typed, as ids that fit the model, with notes on all that did not go smoothly. No torch."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.config import RunConfig
from core.errors import TextError
from core.text.codec import EncodedWord, TextCodec
from core.translation.result import Word

MAX_WORDS = 1_000
_LINE_BREAKS = {ord(character): " " for character in "\n\r\t\v\f\x85\u2028\u2029"}


@dataclass(frozen=True)
class EncodedSource:
    """A text ready for the encoder.

    Attributes:
        text: as typed.
        ids: what the encoder reads, wrapping tokens included.
        labels: the same for people; an unknown word stands as it was typed.
        words: ranges of the words in `ids`.
        unknown_positions: indices into `ids` that the vocabulary does not know.
        ignored_text: the end of the text that did not fit.
        notes: what the reader should know.
    """

    text: str
    ids: tuple[int, ...]
    labels: tuple[str, ...]
    words: tuple[Word, ...]
    unknown_positions: tuple[int, ...]
    ignored_text: str
    notes: tuple[str, ...]


def encode_source(text: str, codec: TextCodec, run: RunConfig) -> EncodedSource:
    """Tokenizes and numericalizes a text; what does not fit into the model's positions is left out and said.

    Raises:
        TextError: empty or only white space, more than `MAX_WORDS` words, or nothing that the model can read.
    """
    _check_amount(text)
    line = text.translate(_LINE_BREAKS)
    found = codec.encode_text(line)
    readable = [word for word in found if word.ids]
    notes = _notes_on_form(text, found)
    if not readable:
        raise TextError(
            f"Nothing in {_shorten(text)!r} can be read by this model. {_expectation(codec)} Type such a text."
        )
    room = run.model.max_positions - (2 if run.data.wrap_source else 0)
    kept = _fitting(readable, room)
    ignored = ""
    if len(kept) < len(readable):
        ignored = line[readable[len(kept)].char_start :]
        notes.append(
            f"Only the first {len(kept)} of {len(readable)} words were translated: the model has room for "
            f"{room} tokens. Left out: {_shorten(ignored)}"
        )
    return _assemble(text, kept, codec, run, ignored, notes)


def _check_amount(text: str) -> None:
    count = len(text.split())
    if count == 0:
        raise TextError("There is nothing to translate: the text is empty. A German sentence was expected; type one.")
    if count > MAX_WORDS:
        raise TextError(
            f"The text has {count:,} words. A sentence, or at most {MAX_WORDS:,} words, was expected; translate it "
            "sentence by sentence, or a whole file with `augenmerk evaluate`."
        )


def _notes_on_form(text: str, words: Sequence[EncodedWord]) -> list[str]:
    notes = []
    if len(text.strip().splitlines()) > 1:
        notes.append("Line breaks were read as spaces.")
    unreadable = [word.text for word in words if not word.ids]
    if unreadable:
        notes.append(f"Left out, because this model has no such symbol: {_listed(unreadable)}.")
    unknown = [word.text for word in words if any(word.unknown)]
    if unknown:
        notes.append(f"Unknown to the model, read as a blank: {_listed(unknown)}.")
    return notes


def _fitting(words: Sequence[EncodedWord], room: int) -> list[EncodedWord]:
    """As many whole words as fit into `room` ids; of a first word that is too long, as many pieces."""
    kept: list[EncodedWord] = []
    for word in words:
        room -= len(word.ids)
        if room < 0 and kept:
            break
        if room < 0:
            count = len(word.ids) + room
            cut = word.char_start + sum(map(len, word.labels[:count]))
            pieces = word.ids[:count], word.labels[:count], word.unknown[:count]
            return [EncodedWord(word.text, *pieces, word.char_start, cut)]
        kept.append(word)
    return kept


def _assemble(
    text: str, kept: Sequence[EncodedWord], codec: TextCodec, run: RunConfig, ignored: str, notes: Sequence[str]
) -> EncodedSource:
    vocabulary = codec.vocabulary
    wraps = run.data.wrap_source
    ids: list[int] = [vocabulary.start_id] if wraps else []
    labels = [vocabulary.tokens[vocabulary.start_id]] if wraps else []
    words, unknown = [], []
    for word in kept:
        words.append(Word(word.text, len(ids), len(ids) + len(word.ids)))
        unknown += [len(ids) + place for place, is_unknown in enumerate(word.unknown) if is_unknown]
        ids += word.ids
        labels += word.labels
    if wraps and vocabulary.end_id is not None:
        ids.append(vocabulary.end_id)
        labels.append(vocabulary.tokens[vocabulary.end_id])
    return EncodedSource(text, tuple(ids), tuple(labels), tuple(words), tuple(unknown), ignored, tuple(notes))


def _expectation(codec: TextCodec) -> str:
    vocabulary = codec.vocabulary
    if vocabulary.end_id is None:
        return f"Numbers from 1 to {len(vocabulary) - 1} with spaces between were expected."
    return "A German sentence was expected."


def _listed(words: Sequence[str]) -> str:
    different = list(dict.fromkeys(words))
    shown = ", ".join(_shorten(word) for word in different[:8])
    return shown + (f" and {len(different) - 8} more" if len(different) > 8 else "")


def _shorten(text: str, limit: int = 60) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
