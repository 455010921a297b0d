import unicodedata

import pytest

from augenmerk.core.errors import ExperimentError, TextError
from augenmerk.core.text.vocabulary import UNKNOWN
from augenmerk.core.translation.experiment import SourceEdit, SourceWordRemoved, SourceWordReplaced
from augenmerk.core.translation.notes import texts_of
from augenmerk.core.translation.translator import Translator
from augenmerk.core.translation.typed_text import EncodedSource, edit_source, encode_source
from tests.core.translators import MAX_POSITIONS

ROOM = MAX_POSITIONS - 2


def encode(translator: Translator, text: str) -> EncodedSource:
    return encode_source(text, translator.checkpoint.codecs.source, translator.run_config)


@pytest.fixture(params=["word", "subword"])
def translator(request: pytest.FixtureRequest) -> Translator:
    return request.getfixturevalue(f"{request.param}_translator")


def test_a_sentence_is_wrapped_labelled_and_cut_into_words(translator: Translator) -> None:
    source = encode(translator, "Ein Mann schläft im Gras.")
    vocabulary = translator.checkpoint.codecs.source.vocabulary
    assert (source.ids[0], source.ids[-1]) == (vocabulary.start_id, vocabulary.end_id)
    assert (source.labels[0], source.labels[-1]) == ("<sos>", "<eos>")
    assert len(source.labels) == len(source.ids)
    assert [word.text for word in source.words] == ["ein", "mann", "schläft", "im", "gras", "."]
    assert [word.start for word in source.words] == [1, *(word.end for word in source.words[:-1])]
    assert source.words[-1].end == len(source.ids) - 1
    for word in source.words:
        assert (
            "".join(source.labels[word.start : word.end]).replace("·", "").replace("▁", "")
            == word.text
        )
    assert (source.unknown_positions, source.ignored_text, texts_of(source.notes)) == ((), "", ())


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("Ein Mann 🙂 schläft.", "🙂"),
        ("Ein 日本語 schläft.", "日本語"),
        ("Ein رجل schläft.", "رجل"),
        ("Ein Мужчина schläft.", "мужчина"),
        ("Ein \u200b schläft.", "\u200b"),
        ("Ein a\0b schläft.", "a\0b"),
        ("Ein \N{FAMILY} schläft.", "\N{FAMILY}"),
    ],
)
def test_what_is_unknown_is_marked_and_said(
    translator: Translator, text: str, unknown: str
) -> None:
    source = encode(translator, text)
    (word,) = [word for word in source.words if word.text == unknown]
    assert source.unknown_positions
    assert all(
        word.start <= unknown_position < word.end for unknown_position in source.unknown_positions
    )
    assert len(texts_of(source.notes)) == 1
    assert "Unknown" in texts_of(source.notes)[0]
    is_whole = all(position in source.unknown_positions for position in range(word.start, word.end))
    assert ("in part" in texts_of(source.notes)[0]) == (not is_whole)
    assert "".join(unknown.split()) in texts_of(source.notes)[0]
    assert "<unk>" not in source.labels
    # the words are named as they were typed
    assert "<unk>" not in texts_of(source.notes)[0].partition(": ")[2]


def test_an_unknown_word_of_known_letters_is_unknown_to_words_and_known_to_subwords(
    word_translator: Translator, subword_translator: Translator
) -> None:
    text = "Ein Baumhaus."
    of_words, of_subwords = encode(word_translator, text), encode(subword_translator, text)
    assert of_words.unknown_positions == (2,)
    assert of_words.labels[2] == "baumhaus"
    assert "baumhaus" in texts_of(of_words.notes)[0]
    assert (of_subwords.unknown_positions, texts_of(of_subwords.notes)) == ((), ())


@pytest.mark.parametrize(
    "break_", ["\n", "\r\n", "\r", "\n\n", "\u2028", "\u2029", "\v", "\f", "\x85"]
)
def test_line_breaks_are_spaces_and_said(translator: Translator, break_: str) -> None:
    source = encode(translator, f"Ein Mann{break_}schläft.")
    assert source.ids == encode(translator, "Ein Mann schläft.").ids
    assert texts_of(source.notes) == ("Line breaks were read as spaces.",)


def test_breaks_at_the_ends_and_tabs_need_no_note(translator: Translator) -> None:
    source = encode(translator, "\n Ein\tMann schläft.\n\n")
    assert source.ids == encode(translator, "Ein Mann schläft.").ids
    assert texts_of(source.notes) == ()


@pytest.mark.parametrize("separator", [" ", "  ", "\n", "\u00a0 "])
def test_what_does_not_fit_is_the_exact_rest_of_the_text(
    word_translator: Translator, separator: str
) -> None:
    words = ["Mann", "Hund", "Gras"] * 20
    text = separator.join(words) + separator + " 🙂 Ende \n"
    source = encode(word_translator, text)
    assert len(source.ids) == MAX_POSITIONS
    assert source.text == text
    assert source.ignored_text == separator.join(words[ROOM:]) + separator + " 🙂 Ende \n"
    assert text.endswith(source.ignored_text)
    assert source.unknown_positions == ()
    assert any(
        f"Only the beginning was translated, {ROOM} of 62 words" in note and str(ROOM) in note
        for note in texts_of(source.notes)
    )
    assert not any(
        "Unknown" in note for note in texts_of(source.notes)
    )  # what was not read was not read as an unknown word


def test_a_text_that_just_fits_is_read_whole(word_translator: Translator) -> None:
    assert encode(word_translator, "Mann " * ROOM).ignored_text == ""
    assert encode(word_translator, "Mann " * ROOM + "Hund").ignored_text == "Hund"


def test_words_are_left_out_whole(subword_translator: Translator) -> None:
    text = (
        "Ein Mann steht neben einem Fußballspieler, ein Fußballspieler singt am Strand und "
        "wartet im Gras."
    )
    source = encode(subword_translator, text)
    assert 0 < MAX_POSITIONS - len(source.ids) < 8
    assert source.ignored_text
    assert text.endswith(source.ignored_text)
    read_text = text.removesuffix(source.ignored_text)
    assert [word.text for word in source.words] == [
        w.text for w in encode(subword_translator, read_text).words
    ]
    assert source.ids == encode(subword_translator, read_text).ids


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_first_word_that_is_too_long_is_cut_and_the_cut_is_said(
    subword_translator: Translator, form: str
) -> None:
    long_word = unicodedata.normalize(form, "Ägxqzjvö" * 8)
    text = f"  {long_word} schläft."
    source = encode(subword_translator, text)
    (word,) = source.words
    assert len(source.ids) == MAX_POSITIONS
    assert (word.start, word.end) == (1, 1 + ROOM)
    read = text.removesuffix(source.ignored_text).strip()
    assert source.ignored_text.endswith(" schläft.")
    assert unicodedata.normalize("NFC", read).lower() == word.text
    assert word.text == "".join(source.labels[1:-1]).replace("·", "").replace("▁", "")
    assert text == "  " + read + source.ignored_text
    assert any("beginning of the first word" in note for note in texts_of(source.notes))


def test_a_single_word_that_is_too_long_is_not_called_whole(subword_translator: Translator) -> None:
    source = encode(subword_translator, "gxqzjv" * 20)
    assert source.ignored_text
    assert source.words[0].text + source.ignored_text == "gxqzjv" * 20
    assert texts_of(source.notes)


def test_broken_characters_are_replaced(translator: Translator) -> None:
    """Lone surrogates come from broken bytes in a terminal or clipboard; nothing after this could
    write them.
    """
    source = encode(translator, "Ein \udcff Mann \ud83d.")
    assert source.text == "Ein \ufffd Mann \ufffd."
    assert source.unknown_positions
    source.text.encode("utf-8")


@pytest.mark.parametrize("text", ["", " ", "\n", " \t\n\u00a0 "])
def test_nothing_is_refused(translator: Translator, text: str) -> None:
    with pytest.raises(TextError, match=r"empty\. Enter a German sentence"):
        encode(translator, text)


def test_ten_thousand_words_are_refused(translator: Translator) -> None:
    with pytest.raises(TextError, match=r"more than 1,000 words\. Translate it sentence by"):
        encode(translator, "Mann " * 10_000)
    assert encode(translator, "Mann " * 1_000).ignored_text


def test_the_copy_task_reads_symbols_and_leaves_out_what_is_none(
    copy_translator: Translator,
) -> None:
    source = encode(copy_translator, "1 x 7 12 <pad> 3 🙂")
    assert (source.ids, source.labels) == ((1, 7, 3), ("1", "7", "3"))
    assert [(word.text, word.start, word.end) for word in source.words] == [
        ("1", 0, 1),
        ("7", 1, 2),
        ("3", 2, 3),
    ]
    assert texts_of(source.notes) == (
        "Left out, because this model has no such symbol: x, 12, <pad>, 🙂.",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b 🙂", "Nothing in 'a b 🙂' can be read"),
        ("0 11 <pad>", "Nothing in"),
        ("1", "Too little in '1' can be read"),
        ("1 x", "Too little in"),
    ],
)
def test_the_copy_task_refuses_what_leaves_nothing_to_copy(
    copy_translator: Translator, text: str, message: str
) -> None:
    with pytest.raises(TextError, match=message) as caught:
        encode(copy_translator, text)
    assert "Enter at least two numbers from 1 to 10, separated by spaces." in str(caught.value)


def test_long_lists_in_notes_are_shortened(word_translator: Translator) -> None:
    source = encode(
        word_translator, " ".join(f"wort{number}" for number in range(12)) + " " + "x" * 500
    )
    assert "wort7 and 5 more" in texts_of(source.notes)[0]
    assert len(texts_of(source.notes)[0]) < 200


def edited(translator: Translator, text: str, *edits: SourceEdit) -> EncodedSource:
    codec = translator.checkpoint.codecs.source
    return edit_source(encode(translator, text), edits, codec, translator.run_config)


def ids_by_place(source: EncodedSource) -> dict[int, tuple[int, ...]]:
    """The ids of each place, those of several words joined."""
    ids: dict[int, tuple[int, ...]] = {}
    for index, word in zip(source.places, source.words, strict=True):
        ids[index] = (*ids.get(index, ()), *source.ids[word.start : word.end])
    return ids


SENTENCE = "Ein Arbeiter schläft vor dem Haus."


def test_nothing_to_edit_is_the_source_itself(translator: Translator) -> None:
    source = encode(translator, SENTENCE)
    assert source.places == (0, 1, 2, 3, 4, 5, 6)
    assert (
        edit_source(source, (), translator.checkpoint.codecs.source, translator.run_config)
        is source
    )


@pytest.mark.parametrize("index", [0, 3, 6])
def test_a_word_that_is_removed_leaves_all_others_as_they_are(
    translator: Translator, index: int
) -> None:
    source, changed = (
        encode(translator, SENTENCE),
        edited(translator, SENTENCE, SourceWordRemoved(index)),
    )
    word = source.words[index]
    assert changed.ids == (*source.ids[: word.start], *source.ids[word.end :])
    assert changed.labels == (*source.labels[: word.start], *source.labels[word.end :])
    assert changed.places == tuple(other for other in range(7) if other != index)
    assert [remaining.text for remaining in changed.words] == [
        other.text for other in source.words if other is not word
    ]
    assert changed.text == SENTENCE, "what was typed"
    for remaining in changed.words:
        assert (
            "".join(changed.labels[remaining.start : remaining.end])
            .replace("·", "")
            .replace("▁", "")
            == remaining.text
        )


@pytest.mark.parametrize("index", [0, 3, 6])
@pytest.mark.parametrize("text", ["Hund", "der kleine Junge", "Hund🙂"])
def test_a_word_that_is_replaced_leaves_all_others_as_they_are(
    translator: Translator, index: int, text: str
) -> None:
    source, changed = (
        encode(translator, SENTENCE),
        edited(translator, SENTENCE, SourceWordReplaced(index, text)),
    )
    before, after = ids_by_place(source), ids_by_place(changed)
    assert {other: ids for other, ids in after.items() if other != index} == {
        other: ids for other, ids in before.items() if other != index
    }
    codec = translator.checkpoint.codecs.source
    words = codec.encode_text(text, begins_sentence=index == 0)
    assert after[index] == tuple(token_id for word in words for token_id in word.ids)
    assert changed.places == (*range(index), *[index] * len(words), *range(index + 1, 7))
    assert [word.text for word in changed.words] == [
        *(word.text for word in source.words[:index]),
        *(word.text for word in words),
        *(word.text for word in source.words[index + 1 :]),
    ]
    assert (changed.ids[0], changed.ids[-1]) == (source.ids[0], source.ids[-1])
    unknown = codec.vocabulary.unknown_id
    assert changed.unknown_positions == tuple(
        at for at, token_id in enumerate(changed.ids) if token_id == unknown
    )


def test_several_words_are_edited_at_once_in_any_order(translator: Translator) -> None:
    edits = (SourceWordRemoved(3), SourceWordReplaced(1, "kleiner Hund"), SourceWordRemoved(0))
    changed = edited(translator, SENTENCE, *edits)
    assert changed == edited(translator, SENTENCE, *reversed(edits))
    assert changed.places == (1, 1, 2, 4, 5, 6)
    assert [word.text.lower() for word in changed.words] == [
        "kleiner",
        "hund",
        "schläft",
        "dem",
        "haus",
        ".",
    ]


def test_the_case_of_a_replacement_is_that_of_its_place(subword_translator: Translator) -> None:
    """A capital at the beginning of a sentence says nothing to a model that folds it; elsewhere it
    does.
    """
    first = edited(subword_translator, SENTENCE, SourceWordReplaced(0, "Im"))
    later = edited(subword_translator, SENTENCE, SourceWordReplaced(3, "Im"))
    codec = subword_translator.checkpoint.codecs.source
    assert ids_by_place(first)[0] == codec.encode_text("Im")[0].ids
    assert ids_by_place(later)[3] == codec.encode_text("Im", begins_sentence=False)[0].ids


def test_the_unknown_token_can_take_the_place_of_a_word(translator: Translator) -> None:
    changed = edited(translator, SENTENCE, SourceWordReplaced(1, UNKNOWN))
    word = changed.words[1]
    assert changed.ids[word.start : word.end] == (
        translator.checkpoint.codecs.source.vocabulary.unknown_id,
    )
    assert (word.text, changed.labels[word.start]) == (UNKNOWN, UNKNOWN)
    assert changed.unknown_positions == (word.start,)


def test_unknown_positions_move_with_their_words(word_translator: Translator) -> None:
    text = "Ein 🙂 Mann 日本語 schläft."
    assert encode(word_translator, text).unknown_positions == (2, 4)
    changed = edited(
        word_translator, text, SourceWordRemoved(0), SourceWordReplaced(2, "Zebra Hund")
    )
    assert changed.unknown_positions == (1, 2, 4)
    assert [changed.labels[at] for at in changed.unknown_positions] == ["🙂", "zebra", "日本語"]
    gone = edited(word_translator, text, SourceWordRemoved(1), SourceWordRemoved(3))
    assert gone.unknown_positions == ()


def test_symbols_of_the_copy_task_are_edited(copy_translator: Translator) -> None:
    changed = edited(copy_translator, "1 5 3 7", SourceWordRemoved(2), SourceWordReplaced(1, "9 8"))
    assert changed.labels == ("1", "9", "8", "7")
    assert changed.places == (0, 1, 1, 3)
    with pytest.raises(
        ExperimentError, match=r"too little of '1 5' is left to read\. Keep more words"
    ):
        edited(copy_translator, "1 5", SourceWordRemoved(0))
    for text in ("x", "<unk>", "99"):
        with pytest.raises(
            ExperimentError,
            match=f"Nothing in the replacement '{text}' of source word 1 can be read",
        ):
            edited(copy_translator, "1 5 3", SourceWordReplaced(1, text))


@pytest.mark.parametrize("index", [7, 99])
def test_a_word_that_is_not_there_cannot_be_edited(translator: Translator, index: int) -> None:
    for edit in (SourceWordRemoved(index), SourceWordReplaced(index, "Hund")):
        with pytest.raises(
            ExperimentError, match=rf"Source word {index} cannot be changed .* is 7\."
        ):
            edited(translator, SENTENCE, edit)


def test_a_word_that_did_not_fit_cannot_be_edited(translator: Translator) -> None:
    text = "Ein Mann schläft im Gras. " * 20
    last = encode(translator, text).places[-1]
    assert edited(translator, text, SourceWordRemoved(last)).places[-1] == last - 1
    with pytest.raises(ExperimentError, match=f"Source word {last + 1} cannot be changed"):
        edited(translator, text, SourceWordRemoved(last + 1))


def test_something_has_to_be_left(translator: Translator) -> None:
    text = "Ein Hund"
    assert len(edited(translator, text, SourceWordRemoved(1)).words) == 1
    with pytest.raises(
        ExperimentError, match=r"too little of 'Ein Hund' is left to read\. Keep more words"
    ):
        edited(translator, text, SourceWordRemoved(0), SourceWordRemoved(1))


def test_what_no_longer_fits_is_refused(translator: Translator) -> None:
    with pytest.raises(
        ExperimentError, match=rf"source has \d+ tokens, and the model has room for {MAX_POSITIONS}"
    ):
        edited(translator, SENTENCE, SourceWordReplaced(1, "Haus " * 40))
