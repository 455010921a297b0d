"""JoeyNMT's ways of cutting lines.

Expected pieces are those that subword-nmt 0.3.8 and sentencepiece 0.2.0 gave.
"""

import unicodedata
from typing import Any

import pytest
import sentencepiece

from augenmerk.core.extensions.readers.codecs import JoeyNMTCodec, Merges
from augenmerk.core.extensions.readers.foreign_subwords import check_foreign_model, restricted_model
from augenmerk.core.text.vocabulary import Vocabulary
from tests.core.extensions.readers.marian_models import GERMAN, pieces_of, spm

MARKS = ("<unk>", "<pad>", "<s>", "</s>")
NEW = "#version: 0.2\nn d</w>\nu nd</w>\nm a\ni n</w>\ne in</w>\nma n\nman n</w>\n"
OLD = "m a\nma n\nn </w>\nman n</w>\na n</w>\nma n</w>\n"
TEXTS = ("ein mann und", " in  man\u00a0n ", "xein manna", "a</w>", "n", "mannmann mman")
SOME = ("ein", "und", "ma@@", "n@@", "n", "m@@")


def codec(tokens: tuple[str, ...], level: Any, **options: Any) -> JoeyNMTCodec:
    vocabulary = Vocabulary((*MARKS, *tokens), unknown_id=0, padding_id=1, start_id=2, end_id=3)
    return JoeyNMTCodec("de", vocabulary, level, **options)


def labels(codec: JoeyNMTCodec, line: str) -> list[str]:
    return [label for word in codec.encode_text(line) for label in word.labels]


@pytest.mark.parametrize(
    ("codes", "tokens", "expected"),
    [
        (
            NEW,
            SOME,
            [
                "ein ma@@ n@@ n und",
                "i@@ n ma@@ n@@ @@ n",
                "x@@ ein ma@@ n@@ n@@ a",
                "a@@ <@@ /@@ w@@ >",
                "n",
                "ma@@ n@@ n@@ ma@@ n@@ n m@@ ma@@ n",
            ],
        ),
        (
            NEW,
            ("x",),
            [
                "e@@ i@@ n m@@ a@@ n@@ n u@@ n@@ d",
                "i@@ n m@@ a@@ n@@ @@ n",
                "x@@ e@@ i@@ n m@@ a@@ n@@ n@@ a",
                "a@@ <@@ /@@ w@@ >",
                "n",
                "m@@ a@@ n@@ n@@ m@@ a@@ n@@ n m@@ m@@ a@@ n",
            ],
        ),
        (
            OLD,
            SOME,
            [
                "e@@ i@@ n ma@@ n@@ n u@@ n@@ d",
                "i@@ n ma@@ n@@ @@ n",
                "x@@ e@@ i@@ n ma@@ n@@ n@@ a",
                "a@@ <@@ /@@ w@@ >",
                "n",
                "ma@@ n@@ n@@ ma@@ n@@ n m@@ ma@@ n",
            ],
        ),
        (
            OLD,
            ("x",),
            [
                "e@@ i@@ n@@ m@@ a@@ n@@ n@@ u@@ n@@ d",
                "i@@ n@@ m@@ a@@ n@@ @@ n@@",
                "x@@ e@@ i@@ n@@ m@@ a@@ n@@ n@@ a",
                "a@@ <@@ /@@ w@@ >",
                "n",
                "m@@ a@@ n@@ n@@ m@@ a@@ n@@ n@@ m@@ m@@ a@@ n@@",
            ],
        ),
    ],
)
def test_merges_are_applied_and_taken_back_as_subword_nmt_does(
    codes: str, tokens: tuple[str, ...], expected: list[str]
) -> None:
    text_codec = codec(tokens, "subword-nmt", codes=codes)
    assert [" ".join(labels(text_codec, text)) for text in TEXTS] == expected


def test_without_a_vocabulary_no_merge_is_taken_back() -> None:
    assert [
        Merges(NEW, "@@", ()).pieces_of(word) for word in ("ein", "xein", "manna", "mannmann")
    ] == [
        ["ein"],
        ["x", "ein"],
        ["man", "n", "a"],
        ["man", "n", "mann"],
    ]


@pytest.mark.parametrize(
    ("codes", "separator", "message"),
    [
        ("a b c\n", "@@", "the merge 1 is 'a b c'"),
        ("", "@@", "the merge 1 is ''"),
        ("#version: 0.3\na b\n", "@@", "instead of version 0.1 or 0.2"),
        ("a b\n", "", "the separator is ''"),
        ("a b\n", " @", "the separator is ' @'"),
    ],
)
def test_what_subword_nmt_did_not_write_is_refused(
    codes: str, separator: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Merges(codes, separator, ())


def test_words_of_pieces_and_their_places() -> None:
    text_codec = codec((*SOME, "i@@"), "subword-nmt", codes=NEW, lowercase=True)
    words = text_codec.encode_text("  EIN mann")
    assert [(word.text, word.char_start, word.char_end) for word in words] == [
        ("ein", 2, 5),
        ("mann", 6, 10),
    ]
    assert words[1].ids == (6, 7, 8)
    assert [
        (word.text, word.start, word.end) for word in text_codec.decode([6, 7, 8, 4, 0, 3])
    ] == [
        ("mann", 0, 3),
        ("ein", 3, 4),
        ("<unk>", 4, 5),
    ]
    assert text_codec.text_of([6, 7, 8, 4, 0, 6, 3]) == "mann ein <unk> ma"


def test_words_are_cut_at_single_spaces() -> None:
    text_codec = codec(("ein", "hund"), "word")
    words = text_codec.encode_text("ein  hund\tx ")
    assert [token for word in words for token in word.ids] == [4, 0, 0, 0]
    assert [(word.text, word.char_start, word.char_end) for word in words] == [
        ("ein", 0, 3),
        ("hund\tx", 4, 12),
    ]
    assert text_codec.text_of([4, 1, 5, 3]) == "ein hund"


def test_characters_are_cut_with_a_mark_for_spaces() -> None:
    text_codec = codec(tuple("▁einhud"), "char", lowercase=True)
    words = text_codec.encode_text("Ein Hund")
    assert [word.text for word in words] == ["ein", "hund"]
    assert words[1].ids == (4, 8, 9, 7, 10)
    assert text_codec.text_of([5, 6, 7, 4, 8, 9]) == "ein hu"


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_restricted_model_gives_kept_pieces_and_characters_alone(kind: str) -> None:
    model = spm("source", kind)
    kept_pieces = set(pieces_of(model)[3::3])
    restricted = restricted_model(model, kept_pieces)
    check_foreign_model(restricted)
    processor = sentencepiece.SentencePieceProcessor(model_proto=restricted)
    pieces = {piece for word in GERMAN for piece in processor.encode(word, out_type=str)}
    assert all(piece in kept_pieces or len(piece) == 1 for piece in pieces)
    assert any(len(piece) > 1 for piece in pieces)
    whole = sentencepiece.SentencePieceProcessor(
        model_proto=restricted_model(model, set(pieces_of(model)))
    )
    plain = sentencepiece.SentencePieceProcessor(model_proto=model)
    for word in (*GERMAN, "日本", "ein日"):
        assert whole.encode(word, out_type=str) == plain.encode(word, out_type=str)


LINES = (
    "Ein  Mann , ja !",
    " e\u0301ine u\u0308ber ﬁne ½ ‘„“”’ ?",
    "\u200bein\u200bmann\u3000 x\u00a0:",
    "한국어 \u1112\u1161\u11ab ก็",
    "ΟΔΥΣΣΕΥΣ İstanbul ΣΑΣ",
    "\t a ? ! . ",
)


@pytest.mark.parametrize("line", LINES)
def test_lines_are_normalized_and_places_kept(line: str) -> None:
    """Against the definition: NFKC, plain quotes, no superfluous spaces, lower case."""
    text = unicodedata.normalize("NFKC", line).replace("’", "'").replace("“", '"').replace("”", '"')
    text = text.replace("\u200b", "")
    while "  " in text:
        text = text.replace("  ", " ")
    for mark in "?!,.:":
        text = text.replace(f" {mark}", mark)
    expected = text.strip().lower()
    words = codec((), "word", lowercase=True, normalizes=True).encode_text(line)
    assert [word.text for word in words] == expected.split(" ")
    for word in words:
        typed = line[word.char_start : word.char_end]
        assert (
            unicodedata.normalize("NFKC", typed).lower().replace("\u200b", "")[:1] == word.text[:1]
        )


@pytest.mark.parametrize("level", ["word", "char", "sentencepiece", "subword-nmt"])
def test_a_codec_is_the_same_after_saving(level: str) -> None:
    options = {
        "sentencepiece": {"model": spm("source")},
        "subword-nmt": {"codes": NEW, "separator": "@@"},
    }
    first = codec(tuple("ein▁m"), level, lowercase=True, normalizes=True, **options.get(level, {}))
    second = JoeyNMTCodec.from_dict("de", first.to_dict())
    assert second.to_dict() == first.to_dict()
    assert second.encode_text("Ein Mann .") == first.encode_text("Ein Mann .")


@pytest.mark.parametrize(
    "changes",
    [
        {"level": "bytes"},
        {"level": "sentencepiece"},
        {"level": "subword-nmt"},
        {"level": "subword-nmt", "codes": "a"},
        {"separator": 1},
        {"lowercase": "yes"},
        {"model": "AAAA"},
        {"codes": ["a b"]},
    ],
)
def test_a_damaged_codec_is_refused(changes: dict[str, object]) -> None:
    values = codec(("a",), "word").to_dict()
    with pytest.raises((ValueError, TypeError)):
        JoeyNMTCodec.from_dict("de", {**values, **changes})
