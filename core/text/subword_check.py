"""Checks a serialized sentencepiece model before the library, written in C++, is given it.

The library trusts what it reads: tables with offsets that are followed unchecked, sentences that it segments to test
itself, numbers that decide how much it allocates. Only what `Subwords.learn` makes it write is let through: pieces of a
byte-pair encoding with their scores, and normalization by nothing.
"""

import math
import struct
from collections.abc import Iterator

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_PIECES, _TRAINER, _NORMALIZER = 1, 2, 3
_TEXT, _SCORE, _TYPE = 1, 2, 3
_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3
_MODEL_TYPE, _BPE = 3, 2
_NORMALIZER_NAME = 1
MAX_PIECES = 1_000_000
MAX_PIECE_BYTES = 1_000

FieldValue = int | bytes
TRAINER_FIELDS: dict[int, tuple[int, FieldValue | None]] = {
    _MODEL_TYPE: (_VARINT, _BPE),
    4: (_VARINT, None),  # vocab_size
    10: (_FIXED32, None),  # character_coverage
    16: (_VARINT, None),  # num_threads
    18: (_VARINT, None),  # max_sentence_length
    40: (_VARINT, 0),  # unk_id, bos_id, eos_id, pad_id
    41: (_VARINT, 2),
    42: (_VARINT, 3),
    43: (_VARINT, 1),
    45: (_BYTES, b"<unk>"),
    46: (_BYTES, b"<sos>"),
    47: (_BYTES, b"<eos>"),
    48: (_BYTES, b"<pad>"),
}
"""The settings that are written: the kind of each, and its value where that matters when words are cut."""
NORMALIZER_FIELDS: dict[int, tuple[int, FieldValue | None]] = {
    _NORMALIZER_NAME: (_BYTES, b"identity"),
    2: (_BYTES, b""),
}


def check_model(model: bytes) -> None:
    """Raises `ValueError` unless `model` is a sentencepiece model as `Subwords.learn` gives it."""
    num_pieces = 0
    found: set[int] = set()
    pieces: set[bytes] = set()
    for number, kind, value in _fields(model):
        if number == _PIECES and isinstance(value, bytes):
            pieces.add(_checked_piece(num_pieces, value))
            num_pieces += 1
        elif number in (_TRAINER, _NORMALIZER) and isinstance(value, bytes):
            _check_settings(value, TRAINER_FIELDS if number == _TRAINER else NORMALIZER_FIELDS)
            found.add(number)
        else:
            raise ValueError(f"the subwords hold a field {number} of kind {kind}, which is not known")
    if found != {_TRAINER, _NORMALIZER}:
        raise ValueError("the subwords lack their settings")
    if len(pieces) != num_pieces:
        raise ValueError("two subwords are the same")
    if not 4 < num_pieces <= MAX_PIECES:
        raise ValueError(f"there are {num_pieces:,} subwords, not from 5 to {MAX_PIECES:,}")


def _checked_piece(index: int, data: bytes) -> bytes:
    """The text of a piece: UTF-8, with a finite score; only the first four are no ordinary ones."""
    values = {number: (kind, value) for number, kind, value in _fields(data)}
    if not values.keys() <= {_TEXT, _SCORE, _TYPE}:
        raise ValueError(f"subword {index} has a field that is not known")
    kind, text = values.get(_TEXT, (_BYTES, b""))
    if kind != _BYTES or not isinstance(text, bytes) or not 0 < len(text) <= MAX_PIECE_BYTES or b"\0" in text:
        raise ValueError(f"subword {index} has no text of at most {MAX_PIECE_BYTES:,} bytes")
    text.decode("utf-8")
    kind, score = values.get(_SCORE, (_FIXED32, bytes(4)))
    if kind != _FIXED32 or not isinstance(score, bytes) or not math.isfinite(struct.unpack("<f", score)[0]):
        raise ValueError(f"the score of subword {index} is no finite number")
    expected = _UNKNOWN if index == 0 else _CONTROL if index < 4 else _NORMAL
    if values.get(_TYPE, (_VARINT, _NORMAL)) != (_VARINT, expected):
        raise ValueError(f"subword {index} is of another type than {expected}")
    return text


def _check_settings(data: bytes, known: dict[int, tuple[int, FieldValue | None]]) -> None:
    given: dict[int, FieldValue] = {}
    for number, kind, value in _fields(data):
        expected_kind, expected = known.get(number, (None, None))
        if kind != expected_kind or (expected is not None and value != expected):
            raise ValueError(f"the settings of the subwords have an unexpected field {number}")
        given[number] = value
    missing = [number for number, (_, expected) in known.items() if expected is not None and number not in given]
    if missing and missing != [2]:  # an empty table of normalization may be left out
        raise ValueError(f"the settings of the subwords lack field {missing[0]}")


def _fields(data: bytes) -> Iterator[tuple[int, int, FieldValue]]:
    """Number, kind and value of each field of a protocol-buffer message. Raises `ValueError` if it is none."""
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
            raise ValueError(f"the subwords hold a field of kind {kind}, which is not known")
        if position + size > len(data):
            raise ValueError("the subwords are cut off")
        yield number, kind, data[position : position + size]
        position += size


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """A whole number of at most 64 bits, and where the next thing begins."""
    value = shift = 0
    while position < len(data) and shift < 64:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
        shift += 7
    raise ValueError("the subwords are cut off")
