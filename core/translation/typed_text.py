"""Typed sources and translations as ids that fit the model, with notes on problems. No torch."""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..config import RunConfig
from ..counting import Index
from ..errors import ExperimentError, TextError
from ..text.codec import CONTINUATION, EncodedWord, TextCodec
from ..text.languages import a_sentence_in, code_of, language_name, likely_language
from ..text.phrases import AS_UNKNOWN, PHRASES, phrase
from ..text.subwords import WORD_MARK
from ..text.tokenizers import check_length
from ..text.vocabulary import UNKNOWN
from ..text.word_counts import RARE_BELOW, WordCounts, has_letters
from .experiment import SourceEdit, SourceWordReplaced, writable
from .notes import HINTS, Note
from .result import Coverage, RareWord, RespelledWord, Word

FEWEST_RARE_WORDS = 2
"""Different rare words of a sentence that is reported as unlike the training data.

One suffices for a text of one word, and of two if both together are unusual: “Guten Morgen!”.
"""
FEWEST_FOREIGN_WORDS = 4
"""The number of different rare words, without others, that show that the model cannot read them.

Short sentences of its own language may have no other: “Danke schön!”.
"""
MAX_WORDS = 1_000


@dataclass(frozen=True)
class EncodedSource:
    """A text ready for the encoder.

    Attributes:
        text: as typed; broken characters are replaced.
        ids: the encoder's input, wrapping tokens included.
        labels: the same for people; an unknown word is shown as typed.
        words: ranges of the words in `ids`, with the typed text.
        encoded: the same words as the model reads them.
        places: for each of them its place among the words as typed; as long as nothing is edited,
            0, 1, 2, …
        unknown_positions: indices into `ids` that the vocabulary does not know.
        ignored_text: the end of the text that did not fit.
        notes: notes for the reader.
    """

    text: str
    ids: tuple[int, ...]
    labels: tuple[str, ...]
    words: tuple[Word, ...]
    encoded: tuple[EncodedWord, ...]
    places: tuple[int, ...]
    unknown_positions: tuple[int, ...]
    ignored_text: str
    notes: tuple[Note, ...]

    @property
    def hint(self) -> str:
        """The note that advises to type something else; empty if none does."""
        return next((note.text for note in self.notes if note.kind in HINTS), "")


def encode_source(text: str, codec: TextCodec, run: RunConfig) -> EncodedSource:
    """Tokenizes and numericalizes a text; what the model has no room for is left out.

    Raises:
        TextError: empty or only white space, more than `MAX_WORDS` words, or too little that the
            model can read.
    """
    _check_amount(text, codec)
    text = writable(text)
    words = [without_marks(word, codec) for word in codec.encode_text(codec.one_line(text))]
    readable = [word for word in words if word.ids]
    if _num_words(readable, codec) < fewest_words(codec):
        name = "too_little" if readable else "nothing"
        raise TextError(phrase(name, text=repr(_shorten(text)), expectation=expectation(codec)))
    room = room_for_source(run)
    fitting = _fitting(readable, room, text, codec)
    is_cut = fitting[-1] is not readable[len(fitting) - 1]
    notes = [*_notes_on_form(text, words, fitting), *_hints(words, codec)]
    ignored = ""
    if is_cut or len(fitting) < len(readable):
        ignored = text[fitting[-1].char_end if is_cut else readable[len(fitting)].char_start :]
        counts = {"kept": _num_words(fitting, codec), "count": _num_words(readable, codec)}
        values = {**counts, "room": room, "text": _shorten(ignored)}
        notes.append(Note("cut", phrase("cut_word" if is_cut else "cut_words", **values)))
    return _assemble(text, list(enumerate(fitting)), codec, run, ignored, notes)


def room_for_source(run: RunConfig) -> int:
    """The number of tokens that a source may have without the wrapping ones."""
    num_wrapping = 2 if run.data.wrap_source else int(run.data.end_source)
    return run.model.max_positions - num_wrapping


def _check_amount(text: str, codec: TextCodec) -> None:
    code = code_of(text, codec.target_codes) or ""
    count = len(text.lstrip().removeprefix(code).split())
    if count == 0:
        raise TextError(phrase("no_text", expectation=expectation(codec)))
    if count > MAX_WORDS:
        raise TextError(phrase("many_words", limit=f"{MAX_WORDS:,}"))
    check_length(text)


def fewest_words(codec: TextCodec) -> int:
    """Fewest words of a source: two for the copy task, else one.

    Nothing marks its end, the first symbol is given, and one must be left to predict.
    """
    return 2 if codec.copies_symbols else 1


def _num_words(words: Sequence[EncodedWord], codec: TextCodec) -> int:
    """The number of words without codes of target languages."""
    return sum(word.text not in codec.target_codes for word in words)


def without_marks(word: EncodedWord, codec: TextCodec) -> EncodedWord:
    """The word; without ids, as an unreadable one, if its text is the name of a special token."""
    marks = codec.vocabulary.special_ids - {codec.vocabulary.unknown_id}
    return replace(word, ids=(), labels=(), unknown=()) if marks.intersection(word.ids) else word


def _notes_on_form(
    text: str, words: Sequence[EncodedWord], read_words: Sequence[EncodedWord]
) -> list[Note]:
    notes = []
    if len(text.strip().splitlines()) > 1:
        notes.append(Note("line_breaks", phrase("line_breaks")))
    unreadable = [word.text for word in words if not word.ids]
    if unreadable:
        notes.append(Note("unreadable", phrase("unreadable", words=_listed(unreadable))))
    return notes + _notes_on_unknown(read_words)


def _hints(words: Sequence[EncodedWord], codec: TextCodec) -> list[Note]:
    """At most one advice for typing: a target language, a first symbol, words, or their language.

    The model can read at least one of the words.
    """
    if advice := _note_on_target_language(words, codec):
        return advice
    vocabulary = codec.vocabulary
    first_ids = next(word.ids for word in words if word.ids)
    if codec.copies_symbols and first_ids != (vocabulary.start_id,):
        return [
            Note(
                "no_first_symbol",
                phrase("copy_start", start=vocabulary.tokens[vocabulary.start_id]),
            )
        ]
    other = likely_language((word.text for word in words), codec.language)
    if other:
        values = {"typed": language_name(other), "expectation": expectation(codec)}
        return [Note("other_language", phrase("other_language", **values))]
    if not any(_is_read_as_word(word, codec) for word in words):
        return [Note("no_word", phrase("no_readable_word", expectation=expectation(codec)))]
    return []


def _is_read_as_word(word: EncodedWord, codec: TextCodec) -> bool:
    """Whether the model reads a letter or digit of it; not if it is the code of a language."""
    pieces = zip(word.labels, word.unknown, strict=True)
    return word.text not in codec.target_codes and any(
        not is_unknown and any(map(str.isalnum, piece)) for piece, is_unknown in pieces
    )


def _note_on_target_language(words: Sequence[EncodedWord], codec: TextCodec) -> list[Note]:
    """Advice to choose one of several target languages, unless the model reads the code of one."""
    codes = codec.target_codes
    read = {token for word in words for token in word.ids}
    if not codes or not read.isdisjoint(codec.vocabulary.ids[code] for code in codes):
        return []
    listed = ", ".join(codes[:6]) + (" …" if len(codes) > 6 else "")
    text = (
        "This model translates into several languages. Begin the text with the one that is "
        f"meant: {listed}"
    )
    return [Note("no_target_language", text)]


def _notes_on_unknown(words: Sequence[EncodedWord]) -> list[Note]:
    """Notes on words that the vocabulary does not know, as a whole or in part."""
    wholly = [word.text for word in words if word.unknown and all(word.unknown)]
    partly = [word.text for word in words if any(word.unknown) and not all(word.unknown)]
    notes = [Note("unknown", phrase("unknown", words=_listed(wholly)))] if wholly else []
    if partly:
        notes.append(Note("unknown", phrase("partly_unknown", words=_listed(partly))))
    return notes


def _fitting(
    words: Sequence[EncodedWord], room: int, text: str, codec: TextCodec
) -> list[EncodedWord]:
    """As many words as fit into `room` ids; if the first one does not, as many pieces."""
    fitting: list[EncodedWord] = []
    for word in words:
        room -= len(word.ids)
        if room < 0:
            return (
                fitting
                if _num_words(fitting, codec)
                else [*fitting, _beginning(word, len(word.ids) + room, text)]
            )
        fitting.append(word)
    return fitting


def _beginning(word: EncodedWord, num_pieces: int, text: str) -> EncodedWord:
    """The first pieces of a word, and where they end in `text`."""
    labels = word.labels[:num_pieces]
    length = sum(len(label.removeprefix(CONTINUATION) or label) for label in labels[1:])
    length += len("".join(labels[:1]).replace(WORD_MARK, ""))
    typed = text[word.char_start : word.char_end]
    cut = bisect_right(
        range(len(typed) + 1),
        length,
        key=lambda end: len(unicodedata.normalize("NFC", typed[:end])),
    )
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
    text: str,
    placed: Sequence[tuple[int, EncodedWord]],
    codec: TextCodec,
    run: RunConfig,
    ignored: str,
    notes: Sequence[Note],
) -> EncodedSource:
    """The source with these words, each with its place among the words as typed."""
    vocabulary = codec.vocabulary
    wraps = run.data.wrap_source
    ids: list[int] = [vocabulary.start_id] if wraps else []
    labels = [vocabulary.tokens[vocabulary.start_id]] if wraps else []
    words = []
    unknown = []
    for _, word in placed:
        words.append(Word(word.text, len(ids), len(ids) + len(word.ids)))
        unknown += [
            len(ids) + offset for offset, is_unknown in enumerate(word.unknown) if is_unknown
        ]
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
        encoded=tuple(word for _, word in placed),
        places=tuple(index for index, _ in placed),
        unknown_positions=tuple(unknown),
        ignored_text=ignored,
        notes=tuple(notes),
    )


def edit_source(
    source: EncodedSource, edits: Sequence[SourceEdit], codec: TextCodec, run: RunConfig
) -> EncodedSource:
    """The source with words removed or replaced. All other words keep their ids.

    Args:
        source: as typed.
        edits: at most one for each place, each a place of `source`.
        codec, run: of the model.

    Raises:
        ExperimentError: there is no such word, nothing would be left, or it would not fit into the
            model.
    """
    if not edits:
        return source
    by_place = {edit.place: edit for edit in edits}
    for edit in edits:
        if edit.place not in source.places:
            raise ExperimentError(
                PHRASES["no_word"],
                place=Index(edit.place),
                edit=edit,
                text=repr(_shorten(source.text)),
                count=len(source.words),
                first=Index(0),
            )
    placed: list[tuple[int, EncodedWord]] = []
    for index, word in zip(source.places, source.encoded, strict=True):
        here = by_place.get(index)
        if here is None:
            placed.append((index, word))
        elif isinstance(here, SourceWordReplaced):
            placed += [(index, replacement) for replacement in _replacements(here, codec)]
    if len(placed) < fewest_words(codec):
        raise ExperimentError(phrase("nothing_left", text=repr(_shorten(source.text))))
    words = [word for _, word in placed]
    before = (*_notes_on_unknown(source.encoded), *_note_on_target_language(source.encoded, codec))
    after = _notes_on_unknown([word for word in words if word.text != UNKNOWN])
    others = [note for note in source.notes if note not in before]
    notes = [*after, *others, *_note_on_target_language(words, codec)]
    edited = _assemble(source.text, placed, codec, run, source.ignored_text, notes)
    if len(edited.ids) > run.model.max_positions:
        raise ExperimentError(
            phrase("no_room", count=len(edited.ids), room=run.model.max_positions)
        )
    return edited


def _replacements(edit: SourceWordReplaced, codec: TextCodec) -> list[EncodedWord]:
    vocabulary = codec.vocabulary
    check_length(edit.text)
    if edit.text == UNKNOWN and vocabulary.unknown_id is not None:
        return [EncodedWord(UNKNOWN, (vocabulary.unknown_id,), (UNKNOWN,), (True,), 0, 0)]
    words = codec.encode_text(codec.one_line(edit.text), begins_sentence=edit.place == 0)
    readable = [word for word in words if without_marks(word, codec).ids]
    if not readable:
        raise ExperimentError(
            PHRASES["no_replacement"], text=repr(_shorten(edit.text)), place=Index(edit.place)
        )
    return readable


def expectation(codec: TextCodec) -> str:
    """The input that this model reads, as an instruction."""
    vocabulary = codec.vocabulary
    if codec.copies_symbols:
        return f"Enter at least two numbers from 1 to {len(vocabulary) - 1}, separated by spaces."
    return f"Enter {a_sentence_in(codec.language)}."


def _listed(words: Sequence[str]) -> str:
    different = list(dict.fromkeys(words))
    shown = ", ".join(_shorten(word) for word in different[:8])
    return phrase("more", words=shown, count=len(different) - 8) if len(different) > 8 else shown


def _shorten(text: str, limit: int = 60) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def cover(source: EncodedSource, counts: WordCounts | None) -> Coverage | None:
    """The coverage of a source by the training data; None without their word counts."""
    if counts is None:
        return None
    rare = []
    respelled = []
    for word, encoded in zip(source.words, source.encoded, strict=True):
        spelling = encoded.spelling
        if spelling != word.text:
            respelled.append(
                RespelledWord(word.text, spelling, word.start, word.end, counts.of(word.text))
            )
        count = counts.of(spelling)
        if count >= RARE_BELOW or spelling == UNKNOWN:
            continue
        pieces = (label.removeprefix(CONTINUATION) or label for label in encoded.labels)
        rare.append(
            RareWord(
                text=spelling,
                count=count,
                start=word.start,
                end=word.end,
                pieces=tuple(piece for piece in pieces if piece != WORD_MARK),
                is_unknown=any(encoded.unknown),
                is_exact=counts.is_exact(spelling),
            )
        )
    # repeated words count once; numbers and marks do not count
    different = {word.spelling for word in source.encoded if has_letters(word.spelling)}
    num_rare = len(different.intersection(word.text for word in rare))
    is_unlike_training = _is_unlike_training(different, num_rare, counts)
    kinds = {note.kind for note in source.notes}
    # of a list of names, one word may be known: “Anna, Peter und Marie”
    num_known = int(sum(word.spelling == "," for word in source.encoded) > 1)
    is_rare = num_rare >= max(FEWEST_FOREIGN_WORDS, len(different) - num_known)
    is_foreign = is_rare or "other_language" in kinds
    lacks: Literal["no_words", "no_known_words"] | None = None
    if not different and counts.is_of_words:
        lacks = "no_words"
    elif different and not any(map(counts.of, different)):
        lacks = "no_known_words"
    has_no_word = "no_word" in kinds or lacks == "no_words"
    return Coverage(
        tuple(rare),
        is_unlike_training or has_no_word,
        counts.kind,
        tuple(respelled),
        (is_unlike_training and is_foreign) or has_no_word,
        lacks,
    )


def _is_unlike_training(different: set[str], num_rare: int, counts: WordCounts) -> bool:
    """Whether these words, of which some are rare, are unlike the training data."""
    is_unusual = (counts.familiarity(different) or 0.0) < counts.unusual_below
    if num_rare < min(FEWEST_RARE_WORDS, len(different)):
        return len(different) <= FEWEST_RARE_WORDS and num_rare > 0 and is_unusual
    return bool(different) and (2 * num_rare >= len(different) or is_unusual)


@dataclass(frozen=True)
class EncodedTarget:
    """The target that the decoder predicts, chosen by it or given.

    Attributes:
        ids: T of them, the end token last if there is one.
        labels: the same for people; an unknown word that was given is shown as typed.
        words: ranges of decoding steps.
        text: the sentence for people.
        notes: notes for the reader.
    """

    ids: tuple[int, ...]
    labels: tuple[str, ...]
    words: tuple[Word, ...]
    text: str
    notes: tuple[Note, ...] = ()


def encode_target(text: str, codec: TextCodec, run: RunConfig) -> EncodedTarget:
    """Tokenizes and numericalizes a given translation; the end token is appended.

    Raises:
        TextError: nothing in it can be read, or it is too long for the model.
    """
    if len(text.split()) > MAX_WORDS:
        raise TextError(f"The translation has more than {MAX_WORDS:,} words. Shorten it.")
    check_length(text)
    one_line = codec.one_line(writable(text))
    encoded = [without_marks(word, codec) for word in codec.encode_text(one_line)]
    readable = _without_start([word for word in encoded if word.ids], codec)
    if not readable:
        expected = a_sentence_in(codec.language)
        raise TextError(
            f"This model can read no word of the given translation {text.strip()[:60]!r}. Enter "
            f"{expected}."
        )
    ids: list[int] = []
    words = []
    for word in readable:
        words.append(Word(word.text, len(ids), len(ids) + len(word.ids)))
        ids += word.ids
    labels = [label for word in readable for label in word.labels]
    vocabulary = codec.vocabulary
    if vocabulary.end_id is not None:
        ids.append(vocabulary.end_id)
        labels.append(vocabulary.tokens[vocabulary.end_id])
    if len(ids) > run.model.max_positions:
        raise TextError(
            f"The given translation has {len(ids)} tokens, and the model has room for "
            f"{run.model.max_positions}. Shorten it."
        )
    return EncodedTarget(
        tuple(ids), tuple(labels), tuple(words), one_line.strip(), tuple(_notes_on_given(encoded))
    )


def _without_start(words: list[EncodedWord], codec: TextCodec) -> list[EncodedWord]:
    """The words to predict: in the copy task, which has no marks, the first symbol is read only."""
    start_id = codec.vocabulary.start_id
    if codec.vocabulary.end_id is not None or not words:
        return words
    if words[0].ids != (start_id,):
        raise TextError(
            f"The given translation begins with {words[0].text!r}. This model begins each with "
            f"{codec.vocabulary.tokens[start_id]!r}; put it first."
        )
    return words[1:]


def _notes_on_given(words: Sequence[EncodedWord]) -> Iterator[Note]:
    if unread := ", ".join(dict.fromkeys(word.text for word in words if not word.ids)):
        text = (
            f"Left out of the given translation, because this model has no such symbol: {unread}."
        )
        yield Note("unreadable", text)
    if unknown := ", ".join(dict.fromkeys(word.text for word in words if any(word.unknown))):
        yield Note(
            "unknown", f"Unknown to the model in the given translation, {AS_UNKNOWN}: {unknown}."
        )
