"""Checks a serialized sentencepiece model before passing it to the C++ library.

The library trusts its input: it follows offsets in tables unchecked, segments test sentences, and allocates memory by
numbers in the file. So every reachable offset is checked here.
"""

import math
import re
import struct
from collections.abc import Collection, Iterator

import numpy as np

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_PIECES, _TRAINER, _NORMALIZER, _SELF_TEST, _DENORMALIZER = 1, 2, 3, 4, 5
_TEXT, _SCORE, _TYPE = 1, 2, 3
_NORMAL, _UNKNOWN, _UNUSED, _BYTE = 1, 2, 5, 6
_NO_CHARACTER = 0xFDD0
"""The first of the code points that Unicode keeps free of characters."""
_BYTE_PIECE = re.compile(rb"<0x[0-9A-F]{2}>")
_MODEL_TYPE, _BPE = 3, 2
_MODEL_TYPES = (1, 2, 3, 4)
_TABLE = 2
MAX_PIECES = 1_000_000
MAX_PIECE_BYTES = 1_000

FieldValue = int | bytes


def check_model(model: bytes, *, is_own: bool = False) -> None:
    """Raises `ValueError` unless `model` is a complete sentencepiece model that the library can read safely.

    Args:
        model: serialized.
        is_own: also refuse what `Subwords.learn` never writes: other kinds than byte-pair encoding, and normalization.
    """
    pieces: set[bytes] = set()
    num_pieces = num_unknown = 0
    for number, kind, value in message_fields(model):
        if kind != _BYTES or not isinstance(value, bytes):
            raise ValueError(f"it has an unknown field {number} of kind {kind}")
        if number == _PIECES:
            text, piece_type = _piece(num_pieces, value)
            pieces.add(text)
            num_pieces += 1
            num_unknown += piece_type == _UNKNOWN
        elif number == _TRAINER:
            _check_model_type(value, (_BPE,) if is_own else _MODEL_TYPES)
        elif number == _NORMALIZER or (number == _DENORMALIZER and not is_own):
            _check_normalizer(value, may_have_table=not is_own)
        elif number != _SELF_TEST or value or is_own:  # the library would run a self-test, and knows no other fields
            raise ValueError(f"it has an unknown field {number}")
    if len(pieces) != num_pieces:
        raise ValueError("two pieces are the same")
    if num_unknown != 1:
        raise ValueError(f"it has {num_unknown} unknown-word pieces, not one")
    if not 1 < num_pieces <= MAX_PIECES:
        raise ValueError(f"it has {num_pieces:,} pieces, not from 2 to {MAX_PIECES:,}")


def _check_model_type(trainer: bytes, known: Collection[int]) -> None:
    for number, kind, value in message_fields(trainer):
        if number == _MODEL_TYPE and (kind != _VARINT or value not in known):
            raise ValueError(f"its kind {value!r} is unknown")


def _check_normalizer(data: bytes, *, may_have_table: bool) -> None:
    for number, kind, value in message_fields(data):
        if number == _TABLE and value:
            if kind != _BYTES or not isinstance(value, bytes) or not may_have_table:
                raise ValueError("its normalization table is not bytes" if may_have_table else "it normalizes text")
            _check_table(value)


def _check_table(table: bytes) -> None:
    """A double array (Darts) of 32-bit units after its size, then the texts, ending in zeros, that its values point to.

    From a unit at place p the library goes to p ^ offset ^ byte for any byte, and reads the value, if there is one, at
    p ^ offset. It checks nothing.
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


def _piece(index: int, data: bytes) -> tuple[bytes, int]:
    """Text and type of a piece: UTF-8, with a finite score. Raises `ValueError`."""
    values = {number: (kind, value) for number, kind, value in message_fields(data)}
    if not values.keys() <= {_TEXT, _SCORE, _TYPE}:
        raise ValueError(f"piece {index} has an unknown field")
    kind, text = values.get(_TEXT, (_BYTES, b""))
    if kind != _BYTES or not isinstance(text, bytes) or not 0 < len(text) <= MAX_PIECE_BYTES or b"\0" in text:
        raise ValueError(f"piece {index} has no text of at most {MAX_PIECE_BYTES:,} bytes")
    text.decode("utf-8")
    kind, score = values.get(_SCORE, (_FIXED32, bytes(4)))
    if kind != _FIXED32 or not isinstance(score, bytes) or not math.isfinite(struct.unpack("<f", score)[0]):
        raise ValueError(f"the score of piece {index} is not a finite number")
    kind, piece_type = values.get(_TYPE, (_VARINT, _NORMAL))
    if kind != _VARINT or not isinstance(piece_type, int) or not _NORMAL <= piece_type <= _BYTE:
        raise ValueError(f"piece {index} has the unknown type {piece_type!r}")
    if piece_type == _BYTE and not _BYTE_PIECE.fullmatch(text):
        raise ValueError(f"piece {index} must name a byte, but is {text!r}")
    return text, piece_type


def message_fields(data: bytes) -> Iterator[tuple[int, int, FieldValue]]:
    """Number, kind and value of each field of a protocol-buffer message. Raises `ValueError` for other bytes."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            whole, position = _varint(data, position)
            yield number, kind, whole
            continue
        if kind == _BYTES:
            size, position = _varint(data, position)
        elif kind in (_FIXED32, _FIXED64):
            size = 4 if kind == _FIXED32 else 8
        else:
            raise ValueError(f"the subwords have a field of the unknown kind {kind}")
        if position + size > len(data):
            raise ValueError("the subwords are cut off")
        yield number, kind, data[position : position + size]
        position += size


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """A whole number of at most 64 bits, and the position after it."""
    value = shift = 0
    while position < len(data) and shift < 64:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
        shift += 7
    raise ValueError("the subwords are cut off")


def restricted_model(model: bytes, kept: Collection[str]) -> bytes:
    """A model that cuts words into `kept` pieces and single characters alone, as the library's `SetVocabulary` did.

    That function is gone from newer versions of it. Other pieces are marked as unused. The library derives the score of
    unknown text from those of the pieces in use, so the extremes of all stay, in pieces that no text has.
    """
    written = bytearray()
    scores = []
    for number, _, value in message_fields(model):
        assert isinstance(value, bytes)  # `check_model` let it through
        if number == _PIECES:
            fields = {field: content for field, _, content in message_fields(value)}
            text = fields.get(_TEXT, b"")
            assert isinstance(text, bytes)
            if fields.get(_TYPE, _NORMAL) in (_NORMAL, _UNUSED):
                scores.append(fields.get(_SCORE, bytes(4)))
                is_kept = text.decode("utf-8") in kept or len(text.decode("utf-8")) == 1
                value += bytes((_TYPE << 3 | _VARINT, _NORMAL if is_kept else _UNUSED))
        written += _length_delimited(number, value)
    ranked = sorted(
        {score for score in scores if isinstance(score, bytes)}, key=lambda score: struct.unpack("<f", score)
    )
    for place, score in enumerate({ranked[0], ranked[-1]} if ranked else ()):
        text = chr(_NO_CHARACTER + place).encode() * 2
        piece = _length_delimited(_TEXT, text) + bytes((_SCORE << 3 | _FIXED32,)) + score
        written += _length_delimited(_PIECES, piece)
    return bytes(written)


def _length_delimited(number: int, content: bytes) -> bytes:
    """A field of a message, as `message_fields` reads it."""
    size = len(content)
    varint = bytearray()
    while size >= 128:
        varint.append(size & 127 | 128)
        size >>= 7
    return bytes((number << 3 | _BYTES, *varint, size)) + content
