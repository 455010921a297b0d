"""SentencePiece models of other projects are checked before the library, which trusts what it
reads, is given them."""

import base64
import io
from collections.abc import Callable
from functools import cache

import pytest
import sentencepiece

from augenmerk.core.extensions.readers.codecs import MarianCodec
from augenmerk.core.extensions.readers.foreign_subwords import check_foreign_model
from augenmerk.core.text.vocabulary import Vocabulary
from tests.fuzz.mutants import join_message, split_message

LINES = (
    "ein mann steht auf der straße",
    "zwei hunde spielen im schnee",
    "eine frau liest ein buch",
) * 40
PIECES, NORMALIZER, TABLE = 1, 3, 2
Fields = list[tuple[int, int, bytes]]


@cache
def trained(**options: object) -> bytes:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES),
        model_writer=written,
        hard_vocab_limit=False,
        minloglevel=2,
        **{"vocab_size": 60, **options},
    )
    return written.getvalue()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"model_type": "bpe"},
        {"model_type": "char"},
        {"model_type": "word"},
        {"byte_fallback": True, "vocab_size": 330},
        {"normalization_rule_name": "nfkc_cf"},
        {"normalization_rule_name": "identity"},
        {"user_defined_symbols": "<x>,zz"},
    ],
    ids=str,
)
def test_models_of_every_kind_are_let_through(options: dict[str, object]) -> None:
    model = trained(**options)
    check_foreign_model(model)
    sentencepiece.SentencePieceProcessor(model_proto=model)


def with_table(change: Callable[[bytearray], object]) -> bytes:
    """The model with its normalization table changed."""
    fields = split_message(trained())
    for field_index, (number, wire, value) in enumerate(fields):
        if number == NORMALIZER:
            inner = split_message(value)
            for index, (field_number, kind, table) in enumerate(inner):
                if field_number == TABLE:
                    changed = bytearray(table)
                    change(changed)
                    inner[index] = (field_number, kind, bytes(changed))
            fields[field_index] = (number, wire, join_message(inner))
    return join_message(fields)


def with_pieces(change: Callable[[Fields], object]) -> bytes:
    """The model with the fields of its fifth piece changed."""
    fields = split_message(trained())
    position = [index for index, field in enumerate(fields) if field[0] == PIECES][5]
    inner = split_message(fields[position][2])
    change(inner)
    fields[position] = (PIECES, 2, join_message(inner))
    return join_message(fields)


@pytest.mark.parametrize(
    "change",
    [
        lambda piece: piece.reverse(),
        lambda piece: piece.pop(1),
        lambda piece: piece.__setitem__(0, (1, 2, b"long" * 50)),
        lambda piece: piece.__setitem__(0, (1, 2, b"a\x15bcde\x18\x01")),
    ],
    ids=["score before text", "no score", "text of 200 bytes", "text like score and type"],
)
def test_a_piece_may_be_written_in_any_way(change: Callable[[Fields], object]) -> None:
    model = with_pieces(change)
    assert model != trained()
    check_foreign_model(model)
    sentencepiece.SentencePieceProcessor(model_proto=model)


def leaf(table: bytearray) -> int:
    """Where in the table a value stands."""
    size = int.from_bytes(table[:4], "little")
    return next(start for start in range(4, 4 + size, 4) if table[start + 3] & 128)


DAMAGED: dict[str, tuple[Callable[[], bytes], str]] = {
    "cut off": (lambda: trained()[:-7], "cut off"),
    "empty": (lambda: b"", "0 unknown-word pieces"),
    "piece is no UTF-8": (
        lambda: with_pieces(lambda piece: piece.__setitem__(0, (1, 2, b"\xff"))),
        "utf-8",
    ),
    "piece is empty": (
        lambda: with_pieces(lambda piece: piece.__setitem__(0, (1, 2, b""))),
        "has no text",
    ),
    "piece twice": (
        lambda: with_pieces(lambda piece: piece.__setitem__(0, (1, 2, b"<s>"))),
        "the same",
    ),
    "score is not a number": (
        lambda: with_pieces(lambda piece: piece.__setitem__(1, (2, 5, b"\x00\x00\xc0\x7f"))),
        "not a finite number",
    ),
    "type is not known": (
        lambda: with_pieces(lambda piece: piece.append((3, 0, 9))),
        "the unknown type 9",
    ),
    "second unknown": (
        lambda: with_pieces(lambda piece: piece.append((3, 0, 2))),
        "2 unknown-word pieces",
    ),
    "byte without a number": (
        lambda: with_pieces(lambda piece: piece.append((3, 0, 6))),
        "must name a byte",
    ),
    "self-test": (lambda: trained() + b"\x22\x02\x0a\x00", "field 4"),
    "table points outside itself": (
        lambda: with_table(lambda table: table.__setitem__(slice(4, 8), b"\x00\xfe\xff\x7f")),
        "points outside itself",
    ),
    "table points past its texts": (
        lambda: with_table(
            lambda table: table.__setitem__(
                slice(leaf(table), leaf(table) + 4), b"\xff\xff\xff\xff"
            )
        ),
        "past the end of its texts",
    ),
    "table claims to be longer": (
        lambda: with_table(lambda table: table.__setitem__(slice(0, 4), b"\xf0\xff\xff\x7f")),
        "cut off",
    ),
    "last text has no end": (lambda: with_table(lambda table: table.append(65)), "has no end"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_the_library_would_follow_anywhere_is_refused(name: str) -> None:
    damage, message = DAMAGED[name]
    with pytest.raises(ValueError, match=message):
        check_foreign_model(damage())


def test_a_damaged_model_in_a_file_of_ours_is_refused() -> None:
    vocabulary = Vocabulary(
        ("</s>", "<unk>", "a", "<pad>"), padding_id=3, start_id=3, end_id=0, unknown_id=1
    )
    stored = MarianCodec("de", vocabulary, trained()).to_dict()
    assert MarianCodec.from_dict("de", stored).vocabulary == vocabulary
    stored["writes"] = base64.b64encode(DAMAGED["table points outside itself"][0]()).decode()
    with pytest.raises(ValueError, match="points outside itself"):
        MarianCodec.from_dict("de", stored)
