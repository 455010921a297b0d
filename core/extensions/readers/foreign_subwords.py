"""SentencePiece models of other projects: a check before the C++ library reads them, and models
with fewer pieces.
"""

import struct
from collections.abc import Collection

import numpy as np

from ...text.subword_check import (
    BYTES,
    FIXED32,
    NORMAL,
    PIECES,
    SCORE,
    TEXT,
    TYPE,
    UNUSED,
    VARINT,
    check_model,
    message_fields,
)

_NO_CHARACTER = 0xFDD0
"""The first of the code points that Unicode keeps free of characters."""


def check_foreign_model(model: bytes) -> None:
    """Raises `ValueError` unless `model` is a sentencepiece model of any kind that the library can
    read safely.
    """
    check_model(model, _check_table)


def _check_table(table: bytes) -> None:
    """A double array (Darts) of 32-bit units after its size, then the texts, ending in zeros, that
    its values point to.

    From a unit at place p the library goes to p ^ offset ^ byte for any byte, and reads the value,
    if there is one, at p ^ offset. It checks nothing.
    """
    size = int.from_bytes(table[:4], "little")
    texts = table[4 + size :]
    if len(table) < 4 or size % 4 or not size or 4 + size >= len(table):
        raise ValueError("its normalization table is cut off")
    if texts[-1]:
        raise ValueError("the last text of its normalization table has no end")
    texts.decode("utf-8")
    units = np.frombuffer(table, dtype="<u4", count=size // 4, offset=4)
    is_node = units >> 31 == 0
    offsets = (units >> 10) << ((units & 512) >> 6)
    bases = (np.arange(len(units), dtype=np.uint32) ^ offsets)[is_node]
    if bool(((bases | 255) >= len(units)).any()):
        raise ValueError("its normalization table points outside itself")
    values = units[bases[(units[is_node] >> 8) & 1 == 1]] & 0x7FFFFFFF
    if bool((values >= len(texts)).any()):
        raise ValueError("its normalization table points past the end of its texts")


def restricted_model(model: bytes, allowed: Collection[str]) -> bytes:
    """A model that cuts words into `allowed` pieces and single characters alone.

    The library's `SetVocabulary` did so; newer versions lack it. Other pieces are marked as unused.
    The library derives the score of unknown text from those of the pieces in use, so the extremes
    of all stay, in pieces that no text has.
    """
    written = bytearray()
    scores = []
    for number, _, value in message_fields(model):
        assert isinstance(value, bytes)  # `check_foreign_model` let it through
        if number == PIECES:
            fields = {field: content for field, _, content in message_fields(value)}
            text = fields.get(TEXT, b"")
            assert isinstance(text, bytes)
            if fields.get(TYPE, NORMAL) in (NORMAL, UNUSED):
                scores.append(fields.get(SCORE, bytes(4)))
                is_allowed = text.decode("utf-8") in allowed or len(text.decode("utf-8")) == 1
                value += bytes((TYPE << 3 | VARINT, NORMAL if is_allowed else UNUSED))
        written += _length_delimited(number, value)
    ranked = sorted(
        {score for score in scores if isinstance(score, bytes)},
        key=lambda score: struct.unpack("<f", score),
    )
    for index, score in enumerate({ranked[0], ranked[-1]} if ranked else ()):
        text = chr(_NO_CHARACTER + index).encode() * 2
        piece = _length_delimited(TEXT, text) + bytes((SCORE << 3 | FIXED32,)) + score
        written += _length_delimited(PIECES, piece)
    return bytes(written)


def _length_delimited(number: int, content: bytes) -> bytes:
    """A field of a message, as `message_fields` reads it."""
    size = len(content)
    varint = bytearray()
    while size >= 128:
        varint.append(size & 127 | 128)
        size >>= 7
    return bytes((number << 3 | BYTES, *varint, size)) + content
