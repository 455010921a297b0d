"""Damaged checkpoints made by someone who knows the format: header, description, tensors, subwords,
counts."""

import base64
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.fuzz.nasty import (
    NUMBERS,
    damaged_bytes,
    damaged_json,
    damaged_text,
    nasty_value,
    to_json,
)

KEY = "augenmerk"
METADATA = "__metadata__"
DTYPES = (
    "F32",
    "F16",
    "BF16",
    "F64",
    "I64",
    "I32",
    "U8",
    "BOOL",
    "F8_E4M3",
    "F8_E5M2",
    "F8_E8M0",
    "F4",
    "X9",
    "",
)
WORD_COUNTS = "word_counts.source"
SIZES = {"F32": 4, "F16": 2, "I64": 8, "U8": 1}


@dataclass
class Parts:
    """A safetensors file taken apart.

    Attributes:
        header: of its tensors, by name.
        description: the JSON in its metadata.
        body: the bytes of all tensors.
        raw_description: what stands in place of the description, if it is to be no JSON.
        raw_header: the same for the whole header.
        header_size: what the first eight bytes say; None for the truth.
    """

    header: dict[str, Any]
    description: Any
    body: bytearray
    raw_description: str | None = None
    raw_header: bytes | None = None
    header_size: int | None = None

    @classmethod
    def of(cls, data: bytes) -> "Parts":
        """The parts of an intact file."""
        end = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(data[8:end])
        metadata = header.pop(METADATA)
        return cls(header, json.loads(metadata[KEY]), bytearray(data[end:]))

    def to_bytes(self) -> bytes:
        """The file."""
        text = to_json(self.description) if self.raw_description is None else self.raw_description
        header = self.raw_header
        if header is None:
            header = to_json({METADATA: {KEY: text}, **self.header}).encode()
        size = len(header) if self.header_size is None else self.header_size
        return (size % 2**64).to_bytes(8, "little") + header + bytes(self.body)


Mutation = Callable[[Parts, Random], None]


def mutant(data: bytes, seed: str) -> bytes:
    """A damaged copy of the checkpoint `data`: the same for the same seed."""
    rng = Random(seed)
    if rng.random() < 0.08:
        return damaged_bytes(
            data, rng, None if rng.random() < 0.5 else 8 + int.from_bytes(data[:8], "little")
        )
    parts = Parts.of(data)
    # as files of earlier versions, so that what lies behind the checksums is reached too
    if rng.random() < 0.7:
        parts.description.pop("checksums", None)
    intact = parts.to_bytes()
    for _ in range(rng.choice((1, 1, 1, 2))):
        _damage(parts, rng)
    while (damaged := parts.to_bytes()) == intact:  # what is to be changed may not be there
        _damage(parts, rng)
    return damaged


def _damage(parts: Parts, rng: Random) -> None:
    rng.choices(list(MUTATIONS), weights=list(MUTATIONS.values()))[0](parts, rng)


def change_description(parts: Parts, rng: Random) -> None:
    """Any of its values."""
    parts.description = damaged_json(parts.description, rng)


def change_settings(parts: Parts, rng: Random) -> None:
    """One of the settings of the run."""
    run = parts.description.get("run") if isinstance(parts.description, dict) else None
    if isinstance(run, dict) and run:
        run.update(damaged_json(run, rng))


def change_sizes(parts: Parts, rng: Random) -> None:
    """What decides how much is built."""
    names = (
        "width",
        "num_encoder_layers",
        "num_decoder_layers",
        "num_heads",
        "feed_forward_width",
        "max_positions",
    )
    model = _at(parts.description, "run", "model")
    if isinstance(model, dict):
        model[rng.choice(names)] = rng.choice(NUMBERS)
        if rng.random() < 0.3:
            model["positions"] = rng.choice(("learned", "sinusoidal"))


def change_special_ids(parts: Parts, rng: Random) -> None:
    """Ids of a vocabulary: other numbers, fractions, truth values, none."""
    vocabulary = _at(parts.description, "codecs", rng.choice(("source", "target")))
    if isinstance(vocabulary, dict):
        name = rng.choice(("padding_id", "start_id", "end_id", "unknown_id"))
        vocabulary[name] = rng.choice(
            (*range(6), 1.0, 0.0, 2.5, True, False, None, "1", -1, 99, 2**63, 10**30)
        )


def change_tokens(parts: Parts, rng: Random) -> None:
    """Tokens doubled, missing, strange, or in another order."""
    tokens = _at(parts.description, "codecs", rng.choice(("source", "target")), "tokens")
    if not isinstance(tokens, list) or not tokens:
        return
    kind = rng.randrange(4)
    if kind == 0:
        rng.shuffle(tokens)
    elif kind == 1:
        tokens[rng.randrange(len(tokens))] = nasty_value(rng, "word")
    elif kind == 2:
        del tokens[rng.randrange(len(tokens))]
    else:
        tokens.append(nasty_value(rng, "word"))


def change_history(parts: Parts, rng: Random) -> None:
    """Numbers of epochs and of the progress."""
    part = _at(parts.description, rng.choice(("history", "progress")))
    if isinstance(part, dict | list) and part:
        damaged = damaged_json(part, rng)
        part.clear()
        part.extend(damaged) if isinstance(part, list) else part.update(damaged)


def change_description_text(parts: Parts, rng: Random) -> None:
    """The text of the JSON, which may then be none."""
    parts.raw_description = damaged_text(to_json(parts.description), rng)


def change_header(parts: Parts, rng: Random) -> None:
    """Entries of the header: types, shapes, places, names."""
    if not parts.header:
        return
    name = rng.choice(list(parts.header))
    entry = parts.header[name]
    kind = rng.randrange(8)
    if kind == 0:
        del parts.header[name]
    elif kind == 1:
        parts.header[
            rng.choice((name + "x", "model." + name, "", "model.", "state.x", METADATA))
        ] = parts.header.pop(name)
    elif kind == 2:
        entry["dtype"] = rng.choice(DTYPES)
    elif kind == 3:
        entry["shape"] = rng.choice(
            (
                entry["shape"][::-1],
                [],
                [0],
                [*entry["shape"], 1],
                [2**63],
                [2**32, 2**32],
                [-1],
                [1.5],
                [True],
                "x",
                None,
            )
        )
    elif kind == 4:
        entry["data_offsets"] = rng.choice(
            ([0, 0], [0, 2**63], [8, 4], [-4, 0], [0, len(parts.body) + 4], [0], None)
        )
    elif kind == 5:
        parts.header[rng.choice(list(parts.header))] = dict(entry)
    elif kind == 6:
        parts.header[name] = nasty_value(rng, entry)
    else:
        parts.header = damaged_json(parts.header, rng)


def change_header_text(parts: Parts, rng: Random) -> None:
    """The text of the header, or what is said of its length."""
    text = to_json({METADATA: {KEY: to_json(parts.description)}, **parts.header})
    parts.raw_header = damaged_text(text, rng).encode("utf-8", "surrogatepass")
    if rng.random() < 0.4:
        size = len(parts.raw_header)
        parts.header_size = rng.choice(
            (0, 1, size - 1, size + 1, size + 8, 10**8, 2**31, 2**63, 2**64 - 1)
        )


def change_values(parts: Parts, rng: Random) -> None:
    """The numbers of a tensor: not finite, huge, tiny, or noise."""
    entries = [entry for entry in parts.header.values() if _is_placed(entry, parts)]
    if not entries:
        return
    start, end = rng.choice(entries)["data_offsets"]
    size = min(end - start, rng.choice((4, 64, 10**9)))
    value = rng.choice(
        (
            b"\x00\x00\xc0\x7f",
            b"\x00\x00\x80\xff",
            b"\xff\xff\x7f\x7f",
            b"\x00\x00\x80\x5f",
            b"\x01\x00\x00\x00",
            b"\x00" * 4,
        )
    )
    noise = rng.randbytes(size) if rng.random() < 0.2 else (value * (size // 4 + 1))[:size]
    parts.body[start : start + size] = noise


def change_shape_and_setting(parts: Parts, rng: Random) -> None:
    """The last layer taken away from settings and tensors alike: another model, which may fit."""
    stack = rng.choice(("encoder", "decoder"))
    model = _at(parts.description, "run", "model")
    count = _at(model, f"num_{stack}_layers")
    if not isinstance(count, int) or isinstance(count, bool):
        return
    layer = count - 1
    for name in list(parts.header):
        if name.startswith(f"model.{stack}_layers.{layer}."):
            entry = parts.header[name]
            if rng.random() < 0.95:
                parts.header[f"state.unused.{name}"] = parts.header.pop(name)
            elif isinstance(entry, dict):
                entry["shape"] = [0]
    model[f"num_{stack}_layers"] = layer


def change_layers(parts: Parts, rng: Random) -> None:
    """Many more layers, claimed with empty tensors."""
    model = _at(parts.description, "run", "model")
    if isinstance(model, dict):
        count = rng.choice((3, 50, 999, 1_001, 5_000))
        model["num_encoder_layers"] = count
        for index in range(2, count):
            parts.header[f"model.encoder_layers.{index}.x"] = {
                "dtype": "F32",
                "shape": [0],
                "data_offsets": [0, 0],
            }


def change_subwords(parts: Parts, rng: Random) -> None:
    """The sentencepiece model: its bytes, its fields, its text."""
    codecs = _at(parts.description, "codecs")
    # Marian's
    places = [
        (codecs, "subwords"),
        *((_at(codecs, side), "reads") for side in ("source", "target")),
    ]
    texts = [(holder, name) for holder, name in places if isinstance(_at(holder, name), str)]
    if not texts:
        return
    holder, name = rng.choice(texts)
    try:
        model = base64.b64decode(holder[name])
    except ValueError:  # damaged before
        return
    if rng.random() < 0.2:
        holder[name] = damaged_text(holder[name], rng)
    else:
        holder[name] = base64.b64encode(damaged_model(model, rng)).decode()


def damaged_model(model: bytes, rng: Random) -> bytes:
    """A sentencepiece model with other bytes or fields."""
    try:
        fields = split_message(model)
    except (ValueError, IndexError):  # damaged before
        return model
    if rng.random() < 0.25:
        return damaged_bytes(model, rng)
    for _ in range(rng.choice((1, 1, 2, 5))):
        _change_field(fields, rng, depth=0)
    return join_message(fields)


def _change_field(fields: list[tuple[int, int, Any]], rng: Random, depth: int) -> None:
    """A field of a message changed; of a message in it, more often than the field itself."""
    if not fields:
        return
    places = (
        [index for index, field in enumerate(fields) if field[0] != 1]
        if depth == 0 and rng.random() < 0.4
        else None
    )
    index = rng.choice(places or range(len(fields)))
    number, wire, value = fields[index]
    kind = rng.random()
    if depth == 0 and isinstance(value, bytes) and kind < 0.75:
        try:
            inner = split_message(value)
        except (IndexError, ValueError):
            inner = []
        if inner:
            _change_field(inner, rng, depth + 1)
            fields[index] = (number, wire, join_message(inner))
            return
    if kind < 0.8:
        fields[index] = (number, wire, _changed_value(value, rng))
    elif kind < 0.86:
        del fields[index]
    elif kind < 0.92:
        fields.insert(index, rng.choice(fields))
    elif kind < 0.96:
        table = b"\x10\x00\x00\x00" + rng.randbytes(64)
        added = rng.choice(
            (
                (2, 2, table),
                (4, 2, b"\x0a\x06\x0a\x01a\x12\x01b"),
                (5, 2, b"\x12\x40" + rng.randbytes(64)),
            )
        )
        fields.append(added)
    else:
        fields[index] = (rng.choice((0, 1, 2, 3, 4, 5, 44, 49, 200, 2**20)), wire, value)


def _changed_value(value: Any, rng: Random) -> Any:
    if isinstance(value, int):
        return rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 127, 128, 2**31, 2**63, 2**64 - 1, value + 1))
    texts = (
        b"",
        b"a",
        "▁".encode(),
        b"\xff\xfe",
        b"\x00",
        b"<unk>",
        b"<s>",
        b"x" * 5_000,
        b"identity",
        b"nmt_nfkc",
    )
    if len(value) == 4:
        numbers = (
            b"\x00\x00\xc0\x7f",
            b"\x00\x00\x80\x7f",
            b"\xff\xff\x7f\x7f",
            b"\x00\x00\x00\x00",
        )
        return rng.choice((*numbers, rng.randbytes(4)))
    if len(value) > 2_000 and rng.random() < 0.7:  # a table: some of its numbers
        changed = bytearray(value)
        for _ in range(rng.choice((1, 3, 40))):
            start = rng.randrange(len(value) // 4) * 4
            changed[start : start + 4] = rng.choice(
                (rng.randbytes(4), b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff")
            )
        return bytes(changed)
    return rng.choice((*texts, value + value, value[: len(value) // 2]))


def change_word_counts(parts: Parts, rng: Random) -> None:
    """What is said of the counts, their bytes, or what these bytes unpack to."""
    described, entry = _at(parts.description, "word_counts"), parts.header.get(WORD_COUNTS)
    kind = rng.randrange(8)
    if kind == 0 and described is not None:
        del parts.description["word_counts"]
    elif kind == 1 and entry is not None:
        del parts.header[WORD_COUNTS]
    elif kind in (2, 3) and isinstance(described, dict) and described:
        name = rng.choice(list(described))
        described[name] = rng.choice((*NUMBERS, nasty_value(rng, described[name])))
    elif isinstance(entry, dict) and _is_placed(entry, parts):
        start, end = entry["data_offsets"]
        try:
            unpacked = zlib.decompress(bytes(parts.body[start:end]))
        except zlib.error:  # damaged before
            return
        damaged = damaged_bytes(unpacked, rng) if kind < 7 else bytes(rng.choice((0, 10**6)))
        # behind all others, as its size is another; what it was stays as a tensor that nobody reads
        packed = zlib.compress(damaged, 9)
        entry["shape"], entry["data_offsets"] = (
            [len(packed)],
            [len(parts.body), len(parts.body) + len(packed)],
        )
        parts.body += packed
        parts.header["unused"] = {
            "dtype": "U8",
            "shape": [end - start],
            "data_offsets": [start, end],
        }


def split_message(data: bytes) -> list[tuple[int, int, Any]]:
    """Number, kind and value of the fields of a protocol-buffer message."""
    fields: list[tuple[int, int, Any]] = []
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        number, wire = key >> 3, key & 7
        value: Any
        if wire == 0:
            value, position = _varint(data, position)
        elif wire == 2:
            size, position = _varint(data, position)
            value, position = data[position : position + size], position + size
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
            value, position = data[position : position + size], position + size
        else:
            raise ValueError("no message")
        fields.append((number, wire, value))
    return fields


def join_message(fields: list[tuple[int, int, Any]]) -> bytes:
    """The message with these fields."""
    written = bytearray()
    for number, wire, value in fields:
        written += _as_varint(number << 3 | wire)
        if wire == 0:
            written += _as_varint(value)
        else:
            written += (_as_varint(len(value)) if wire == 2 else b"") + value
    return bytes(written)


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
        shift += 7


def _as_varint(value: int) -> bytes:
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    written.append(value)
    return bytes(written)


def _at(value: Any, *path: str) -> Any:
    """What stands at a path of an object that may be damaged already; None if there is nothing."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _is_placed(entry: Any, parts: Parts) -> bool:
    offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
    if (
        not isinstance(offsets, list)
        or len(offsets) != 2
        or not all(type(offset) is int for offset in offsets)
    ):
        return False
    return 0 <= offsets[0] < offsets[1] <= len(parts.body)


MUTATIONS: dict[Mutation, float] = {
    change_description: 3,
    change_settings: 4,
    change_sizes: 3,
    change_special_ids: 2,
    change_tokens: 2,
    change_history: 2,
    change_description_text: 1,
    change_header: 3,
    change_header_text: 1,
    change_values: 3,
    change_shape_and_setting: 1,
    change_layers: 0.3,
    change_subwords: 4,
    change_word_counts: 3,
}
"""How often each is drawn."""
