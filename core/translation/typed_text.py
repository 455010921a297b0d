"""Typed sources and translations as ids that fit the model, with notes on problems. No torch."""

import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from augenmerk.core.config import RunConfig
from augenmerk.core.errors import ExperimentError, TextError
from augenmerk.core.text.codec import CONTINUATION, EncodedWord, TextCodec
from augenmerk.core.text.languages import a_sentence_in
from augenmerk.core.text.subwords import WORD_MARK
from augenmerk.core.text.tokenizers import check_length
from augenmerk.core.text.vocabulary import UNKNOWN
from augenmerk.core.text.word_counts import RARE_BELOW, WordCounts, has_letters
from augenmerk.core.translation.experiment import SourceEdit, SourceWordReplaced
from augenmerk.core.translation.result import AS_UNKNOWN, Coverage, RareWord, RespelledWord, Word

FEWEST_RARE_WORDS = 2
"""The number of different rare words in a sentence that is reported as unlike the training data."""
MAX_WORDS = 1_000
_INVALID_CHARACTERS = dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")
"""Lone surrogates: what a terminal or clipboard leaves of broken bytes; no tokenizer takes them."""


@dataclass(frozen=True)
class EncodedSource:
    """A text ready for the encoder.

    Attributes:
        text: as typed; broken characters are replaced.
        ids: what the encoder reads, wrapping tokens included.
        labels: the same for people; an unknown word stands as it was typed.
        words: ranges of the words in `ids`, with what was typed.
        spellings: of each of them what was read: the same, or the spelling of the training data.
        places: for each of them its place among the words as typed; as long as nothing is edited, 0, 1, 2, …
        unknown_positions: indices into `ids` that the vocabulary does not know.
        ignored_text: the end of the text that did not fit.
        notes: what the reader should know.
    """

    text: str
    ids: tuple[int, ...]
    labels: tuple[str, ...]
    words: tuple[Word, ...]
    spellings: tuple[str, ...]
    places: tuple[int, ...]
    unknown_positions: tuple[int, ...]
    ignored_text: str
    notes: tuple[str, ...]


def encode_source(text: str, codec: TextCodec, run: RunConfig) -> EncodedSource:
    """Tokenizes and numericalizes a text; what does not fit into the model's positions is left out and said.

    Raises:
        TextError: empty or only white space, more than `MAX_WORDS` words, or too little that the model can read.
    """
    _check_amount(text, codec)
    text = text.translate(_INVALID_CHARACTERS)
    found = [without_marks(word, codec) for word in codec.encode_text(codec.one_line(text))]
    readable = [word for word in found if word.ids]
    if len(readable) < _fewest_words(codec):
        amount = "Too little" if readable else "Nothing"
        raise TextError(f"{amount} in {_shorten(text)!r} can be read by this model. {_expectation(codec)}")
    room = run.model.max_positions - (2 if run.data.wrap_source else 1 if run.data.end_source else 0)
    kept = _fitting(readable, room, text)
    is_cut = kept[0] is not readable[0]
    notes = _notes_on_form(text, found, kept) + _notes_on_code(found, codec)
    ignored = ""
    if is_cut or len(kept) < len(readable):
        ignored = text[kept[0].char_end if is_cut else readable[len(kept)].char_start :]
        part = (
            "the beginning of the first word was" if is_cut else f"the first {len(kept)} of {len(readable)} words were"
        )
        notes.append(f"Only {part} translated: the model has room for {room} tokens. Left out: {_shorten(ignored)}")
    return _assemble(text, kept, codec, run, ignored, notes)


def _check_amount(text: str, codec: TextCodec) -> None:
    count = len(text.split())
    if count == 0:
        raise TextError(f"There is nothing to translate: the text is empty. Enter {a_sentence_in(codec.language)}.")
    if count > MAX_WORDS:
        raise TextError(f"The text has {count:,} words; the limit is {MAX_WORDS:,}. Translate it sentence by sentence.")
    check_length(text)


def _fewest_words(codec: TextCodec) -> int:
    """Where nothing marks the end (the copy task), the first symbol is given, so there must be one to predict."""
    return 2 if codec.copies_symbols else 1


def one_line(text: str, codec: TextCodec) -> str:
    """The text without line breaks and broken characters."""
    return codec.one_line(text.translate(_INVALID_CHARACTERS))


def without_marks(word: EncodedWord, codec: TextCodec) -> EncodedWord:
    """The word; without its ids, as one that cannot be read, if someone typed the name of a special token."""
    marks = codec.vocabulary.special_ids - {codec.vocabulary.unknown_id}
    return replace(word, ids=(), labels=(), unknown=()) if marks.intersection(word.ids) else word


def _notes_on_form(text: str, found: Sequence[EncodedWord], kept: Sequence[EncodedWord]) -> list[str]:
    notes = []
    if len(text.strip().splitlines()) > 1:
        notes.append("Line breaks were read as spaces.")
    unreadable = [word.text for word in found if not word.ids]
    if unreadable:
        notes.append(f"Left out, because this model has no such symbol: {_listed(unreadable)}.")
    return notes + _notes_on_unknown([(word.text, word.unknown) for word in kept])


def _notes_on_code(found: Sequence[EncodedWord], codec: TextCodec) -> list[str]:
    """Of a model with several target languages, whether the text says which."""
    codes = codec.target_codes
    if not codes or any(word.text in codes for word in found):
        return []
    shown = ", ".join(codes[:6]) + (" …" if len(codes) > 6 else "")
    return [f"This model translates into several languages. Begin the text with the one that is meant: {shown}"]


def _notes_on_unknown(words: Sequence[tuple[str, Sequence[bool]]]) -> list[str]:
    """On words that the vocabulary does not know, wholly or in part; `words` are texts with what is so for each id."""
    wholly = [text for text, unknown in words if unknown and all(unknown)]
    partly = [text for text, unknown in words if any(unknown) and not all(unknown)]
    notes = [f"Unknown to the model, {AS_UNKNOWN}: {_listed(wholly)}."] if wholly else []
    if partly:
        notes.append(f"Unknown to the model in part, pieces read as {UNKNOWN}: {_listed(partly)}.")
    return notes


def _with_unknown(words: Sequence[Word], unknown_positions: Sequence[int]) -> list[tuple[str, list[bool]]]:
    """The words' texts, and for each of their ids whether the vocabulary does not know it."""
    return [(word.text, [place in unknown_positions for place in range(word.start, word.end)]) for word in words]


def _fitting(words: Sequence[EncodedWord], room: int, text: str) -> list[EncodedWord]:
    """As many whole words as fit into `room` ids; of a first word that is too long, as many pieces."""
    kept: list[EncodedWord] = []
    for word in words:
        room -= len(word.ids)
        if room < 0:
            return kept or [_beginning(word, len(word.ids) + room, text)]
        kept.append(word)
    return kept


def _beginning(word: EncodedWord, num_pieces: int, text: str) -> EncodedWord:
    """The first pieces of a word, and where they end in `text`."""
    labels = word.labels[:num_pieces]
    length = sum(len(label.removeprefix(CONTINUATION) or label) for label in labels[1:])
    length += len("".join(labels[:1]).replace(WORD_MARK, ""))
    typed = text[word.char_start : word.char_end]
    cut = bisect_right(range(len(typed) + 1), length, key=lambda end: len(unicodedata.normalize("NFC", typed[:end])))
    return EncodedWord(
        text=word.text[:length],
        ids=word.ids[:num_pieces],
        labels=labels,
        unknown=word.unknown[:num_pieces],
        char_start=word.char_start,
        char_end=word.char_start + cut - 1,
        read_as=word.read_as and word.read_as[:length],
    )


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
    if (wraps or run.data.end_source) and vocabulary.end_id is not None:
        ids.append(vocabulary.end_id)
        labels.append(vocabulary.tokens[vocabulary.end_id])
    return EncodedSource(
        text=text,
        ids=tuple(ids),
        labels=tuple(labels),
        words=tuple(words),
        spellings=tuple(word.read_as or word.text for word in kept),
        places=tuple(range(len(words))),
        unknown_positions=tuple(unknown),
        ignored_text=ignored,
        notes=tuple(notes),
    )


def edit_source(source: EncodedSource, edits: Sequence[SourceEdit], codec: TextCodec, run: RunConfig) -> EncodedSource:
    """The source with words removed or replaced. All other words keep their ids, so that nothing else changes.

    Args:
        source: as typed.
        edits: at most one for each place, each a place of `source`.
        codec, run: of the model.

    Raises:
        ExperimentError: there is no such word, nothing would be left, or it would not fit into the model.
    """
    if not edits:
        return source
    by_place = {edit.place: edit for edit in edits}
    for edit in edits:
        if edit.place not in source.places:
            raise ExperimentError(
                f"Source word {edit.place + 1} cannot be changed (“{edit}”), because {_shorten(source.text)!r} has "
                f"{len(source.words)} words. Choose one of them, counted from 1."
            )
    pieces: list[_Piece] = []
    position = 0
    for place, word, spelling in zip(source.places, source.words, source.spellings, strict=True):
        pieces.append(_Piece.of(source, position, word.start))
        here = by_place.get(place)
        if here is None:
            pieces.append(_Piece.of(source, word.start, word.end, word.text, spelling, place))
        elif isinstance(here, SourceWordReplaced):
            pieces += _replacements(here, codec)
        position = word.end
    pieces.append(_Piece.of(source, position, len(source.ids)))
    return _joined(source, pieces, codec, run)


@dataclass(frozen=True)
class _Piece:
    """A stretch of ids: a word with its spelling and place, or what stands between words."""

    ids: tuple[int, ...]
    labels: tuple[str, ...]
    unknown: tuple[bool, ...]
    word: str = ""
    spelling: str = ""
    place: int | None = None

    @classmethod
    def of(
        cls, source: EncodedSource, start: int, end: int, word: str = "", spelling: str = "", place: int | None = None
    ) -> "_Piece":
        unknown = tuple(position in source.unknown_positions for position in range(start, end))
        return cls(source.ids[start:end], source.labels[start:end], unknown, word, spelling, place)


def _replacements(edit: SourceWordReplaced, codec: TextCodec) -> list[_Piece]:
    vocabulary = codec.vocabulary
    check_length(edit.text)
    if edit.text == UNKNOWN and vocabulary.unknown_id is not None:
        return [_Piece((vocabulary.unknown_id,), (UNKNOWN,), (True,), UNKNOWN, UNKNOWN, edit.place)]
    found = [
        without_marks(word, codec)
        for word in codec.encode_text(one_line(edit.text, codec), begins_sentence=edit.place == 0)
    ]
    pieces = [
        _Piece(word.ids, word.labels, word.unknown, word.text, word.read_as or word.text, edit.place)
        for word in found
        if word.ids
    ]
    if not pieces:
        raise ExperimentError(
            f"Nothing in the replacement {_shorten(edit.text)!r} of source word {edit.place + 1} can be read by this "
            "model. Enter another word."
        )
    return pieces


def _joined(source: EncodedSource, pieces: Sequence[_Piece], codec: TextCodec, run: RunConfig) -> EncodedSource:
    ids: list[int] = []
    labels: list[str] = []
    words: list[Word] = []
    spellings: list[str] = []
    places: list[int] = []
    unknown: list[int] = []
    for piece in pieces:
        if piece.place is not None:
            words.append(Word(piece.word, len(ids), len(ids) + len(piece.ids)))
            spellings.append(piece.spelling)
            places.append(piece.place)
        unknown += [len(ids) + offset for offset, is_unknown in enumerate(piece.unknown) if is_unknown]
        ids += piece.ids
        labels += piece.labels
    if len(words) < _fewest_words(codec):
        raise ExperimentError(
            f"With these words removed, too little of {_shorten(source.text)!r} is left to read. {_expectation(codec)} "
            "Keep another word."
        )
    if len(ids) > run.model.max_positions:
        raise ExperimentError(
            f"With these replacements the source has {len(ids)} tokens, and the model has room for "
            f"{run.model.max_positions}. Take shorter ones."
        )
    before = _notes_on_unknown(_with_unknown(source.words, source.unknown_positions))
    after = _notes_on_unknown([each for each in _with_unknown(words, unknown) if each[0] != UNKNOWN])
    return replace(
        source,
        ids=tuple(ids),
        labels=tuple(labels),
        words=tuple(words),
        spellings=tuple(spellings),
        places=tuple(places),
        unknown_positions=tuple(unknown),
        notes=(*after, *(note for note in source.notes if note not in before)),
    )


def _expectation(codec: TextCodec) -> str:
    vocabulary = codec.vocabulary
    if codec.copies_symbols:
        return f"Enter at least two numbers from 1 to {len(vocabulary) - 1}, separated by spaces."
    return f"Enter {a_sentence_in(codec.language)}."


def _listed(words: Sequence[str]) -> str:
    different = list(dict.fromkeys(words))
    shown = ", ".join(_shorten(word) for word in different[:8])
    return shown + (f" and {len(different) - 8} more" if len(different) > 8 else "")


def _shorten(text: str, limit: int = 60) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def cover(source: EncodedSource, counts: WordCounts | None) -> Coverage | None:
    """The coverage of a source; None without the word counts of the training data."""
    if counts is None:
        return None
    rare, respelled = [], []
    for word, spelling in zip(source.words, source.spellings, strict=True):
        if spelling != word.text:
            respelled.append(RespelledWord(word.text, spelling, word.start, word.end))
        count = counts.of(spelling)
        if count >= RARE_BELOW or spelling == UNKNOWN:
            continue
        pieces = (label.removeprefix(CONTINUATION) or label for label in source.labels[word.start : word.end])
        rare.append(
            RareWord(
                text=spelling,
                count=count,
                start=word.start,
                end=word.end,
                pieces=tuple(piece for piece in pieces if piece != WORD_MARK),
                is_unknown=any(position in source.unknown_positions for position in range(word.start, word.end)),
                is_exact=counts.is_exact(spelling),
            )
        )
    return Coverage(tuple(rare), _is_unlike_training(source, rare, counts), counts.kind, tuple(respelled))


def _is_unlike_training(source: EncodedSource, rare: list[RareWord], counts: WordCounts) -> bool:
    """Repeated words count once; numbers and marks say nothing about a language."""
    different = {spelling for spelling in source.spellings if has_letters(spelling)}
    num_rare = len(different.intersection(word.text for word in rare))
    if num_rare < FEWEST_RARE_WORDS:
        return False
    familiarity = counts.familiarity(different)
    return 2 * num_rare >= len(different) or (familiarity is not None and familiarity < counts.unusual_below)


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
