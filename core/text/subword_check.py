"""Checks a serialized sentencepiece model before passing it to the C++ library.

The library trusts its input: it follows offsets in tables unchecked, segments test sentences, and
allocates memory by numbers in the file. So every reachable offset is checked here.
"""

import math
import re
import struct
from collections.abc import Callable, Collection, Iterator

VARINT, _FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""Kinds of fields, by how they are written."""
PIECES, _TRAINER, _NORMALIZER, _SELF_TEST, _DENORMALIZER = 1, 2, 3, 4, 5
"""Fields of a model."""
TEXT, SCORE, TYPE = 1, 2, 3
"""Fields of a piece."""
NORMAL, _UNKNOWN, UNUSED, _BYTE = 1, 2, 5, 6
"""Types of pieces."""
_BYTE_PIECE = re.compile(rb"<0x[0-9A-F]{2}>")
_USUAL_PIECE = re.compile(rb"\n([\x01-\x7f])([^\0]+)\x15(.{4})(?:\x18([\x01-\x06]))?", re.DOTALL)
"""A piece as sentencepiece writes it: the length of its text, the text, score and type."""
_FLOAT = struct.Struct("<f")
_MODEL_TYPE, _BPE = 3, 2
_MODEL_TYPES = (1, 2, 3, 4)
_TABLE = 2
MAX_PIECES = 1_000_000
MAX_PIECE_BYTES = 1_000

FieldValue = int | bytes


def check_model(model: bytes, check_table: Callable[[bytes], None] | None = None) -> None:
    """Raises `ValueError` unless `model` is a whole sentencepiece model that is safe to read.

    Args:
        model: serialized.
        check_table: raises `ValueError` for a damaged normalization table; None for a model that
            was learned here: it neither normalizes text, nor is it of another kind than byte-pair
            encoding.
    """
    pieces: set[bytes] = set()
    num_pieces = num_unknown = 0
    for number, kind, value in message_fields(model):
        if kind != BYTES or not isinstance(value, bytes):
            raise ValueError(f"it has an unknown field {number} of kind {kind}")
        if number == PIECES:
            text, piece_type = _piece(num_pieces, value)
            pieces.add(text)
            num_pieces += 1
            num_unknown += piece_type == _UNKNOWN
        elif number == _TRAINER:
            _check_model_type(value, (_BPE,) if check_table is None else _MODEL_TYPES)
        elif number == _NORMALIZER or (number == _DENORMALIZER and check_table is not None):
            _check_normalizer(value, check_table)
        # it would be run; no other fields are known
        elif number != _SELF_TEST or value or check_table is None:
            raise ValueError(f"it has an unknown field {number}")
    if len(pieces) != num_pieces:
        raise ValueError("two pieces are the same")
    if num_unknown != 1:
        raise ValueError(f"it has {num_unknown} unknown-word pieces, not one")
    if not 1 < num_pieces <= MAX_PIECES:
        raise ValueError(f"it has {num_pieces:,} pieces, not from 2 to {MAX_PIECES:,}")


def _check_model_type(trainer: bytes, known: Collection[int]) -> None:
    for number, kind, value in message_fields(trainer):
        if number == _MODEL_TYPE and (kind != VARINT or value not in known):
            raise ValueError(f"its kind {value!r} is unknown")


def _check_normalizer(data: bytes, check_table: Callable[[bytes], None] | None) -> None:
    for number, kind, value in message_fields(data):
        if number == _TABLE and value:
            if check_table is None:
                raise ValueError("it normalizes text")
            if kind != BYTES or not isinstance(value, bytes):
                raise ValueError("its normalization table is not bytes")
            check_table(value)


def _piece(index: int, data: bytes) -> tuple[bytes, int]:
    """Text and type of a piece: UTF-8, with a finite score. Raises `ValueError`."""
    usual = _USUAL_PIECE.fullmatch(data)
    if usual is not None and usual[1][0] == len(usual[2]):
        text, score, piece_type = usual[2], usual[3], usual[4][0] if usual[4] else NORMAL
    else:
        text, score, piece_type = _unusual_piece(index, data)
    text.decode("utf-8")
    if not math.isfinite(_FLOAT.unpack(score)[0]):
        raise ValueError(f"the score of piece {index} is not a finite number")
    if piece_type == _BYTE and not _BYTE_PIECE.fullmatch(text):
        raise ValueError(f"piece {index} must name a byte, but is {text!r}")
    return text, piece_type


def _unusual_piece(index: int, data: bytes) -> tuple[bytes, bytes, int]:
    """Text, score and type of a piece that is written in another order, or is long or wrong."""
    values = {number: (kind, value) for number, kind, value in message_fields(data)}
    if not values.keys() <= {TEXT, SCORE, TYPE}:
        raise ValueError(f"piece {index} has an unknown field")
    kind, text = values.get(TEXT, (BYTES, b""))
    if (
        kind != BYTES
        or not isinstance(text, bytes)
        or not 0 < len(text) <= MAX_PIECE_BYTES
        or b"\0" in text
    ):
        raise ValueError(f"piece {index} has no text of at most {MAX_PIECE_BYTES:,} bytes")
    kind, score = values.get(SCORE, (FIXED32, bytes(4)))
    if kind != FIXED32 or not isinstance(score, bytes):
        raise ValueError(f"the score of piece {index} is not a finite number")
    kind, piece_type = values.get(TYPE, (VARINT, NORMAL))
    if kind != VARINT or not isinstance(piece_type, int) or not NORMAL <= piece_type <= _BYTE:
        raise ValueError(f"piece {index} has the unknown type {piece_type!r}")
    return text, score, piece_type


def message_fields(data: bytes) -> Iterator[tuple[int, int, FieldValue]]:
    """Number, kind and value of each field of a protocol-buffer message.

    Raises `ValueError` for other bytes.
    """
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        number = key >> 3
        kind = key & 7
        if kind == VARINT:
            whole, position = _varint(data, position)
            yield number, kind, whole
            continue
        if kind == BYTES:
            size, position = _varint(data, position)
        elif kind in (FIXED32, _FIXED64):
            size = 4 if kind == FIXED32 else 8
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
