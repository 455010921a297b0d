"""Folders with a Marian model, packed into one file each and damaged: JSON, SentencePiece models,
weights, names."""

import io
import json
import zipfile
from pathlib import Path
from random import Random

from tests.fuzz.mutants import damaged_model
from tests.fuzz.nasty import (
    NUMBERS,
    damaged_bytes,
    damaged_json,
    damaged_text,
    nasty_value,
    to_json,
)

_SIZES = (
    *(
        "vocab_size",
        "decoder_vocab_size",
        "d_model",
        "encoder_layers",
        "decoder_layers",
        "encoder_attention_heads",
    ),
    *(
        "decoder_attention_heads",
        "encoder_ffn_dim",
        "decoder_ffn_dim",
        "max_position_embeddings",
        "pad_token_id",
    ),
    *(
        "decoder_start_token_id",
        "eos_token_id",
        "max_length",
        "num_beams",
        "forced_eos_token_id",
        "bad_words_ids",
    ),
    *(
        "activation_function",
        "scale_embedding",
        "tie_word_embeddings",
        "share_encoder_decoder_embeddings",
    ),
)


def pack(folder: Path) -> bytes:
    """All files of a folder as one."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for file in sorted(folder.iterdir()):
            archive.writestr(zipfile.ZipInfo(file.name), file.read_bytes())
    return written.getvalue()


def unpack(data: bytes, folder: Path) -> None:
    """The inverse of `pack`, into a folder that there is not yet."""
    folder.mkdir()
    for name, content in _files(data).items():
        (folder / name).write_bytes(content)


def damaged_folder(data: bytes, seed: str) -> bytes:
    """One or two files of a packed folder damaged: the same for the same seed."""
    rng, files = Random(seed), _files(data)
    intact = dict(files)
    while files == intact:
        for _ in range(rng.choice((1, 1, 1, 2))):
            if files:
                _damage(files, rng)
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return written.getvalue()


def _files(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _damage(files: dict[str, bytes], rng: Random) -> None:
    name = rng.choice(list(files))
    kind = rng.random()
    if kind < 0.05:
        del files[name]
    elif kind < 0.1:
        files[name] = files[rng.choice(list(files))]
    elif kind < 0.25:
        files[name] = damaged_bytes(files[name], rng)
    elif name.endswith(".json"):
        files[name] = _damaged_json(name, files[name], rng)
    elif name.endswith(".spm"):
        files[name] = damaged_model(files[name], rng)
    else:
        files[name] = _damaged_tensors(files[name], rng)


def _damaged_json(name: str, data: bytes, rng: Random) -> bytes:
    text = data.decode("utf-8", "replace")
    if rng.random() < 0.2:
        return damaged_text(text, rng).encode("utf-8", "surrogatepass")
    try:
        value = json.loads(text)
    except ValueError:  # damaged before
        return data
    if name.startswith(("config", "generation")) and isinstance(value, dict) and rng.random() < 0.7:
        field = rng.choice(_SIZES)
        value[field] = rng.choice((*NUMBERS, nasty_value(rng, value.get(field))))
    else:
        value = damaged_json(value, rng)
    return to_json(value).encode("utf-8", "surrogatepass")


def _damaged_tensors(data: bytes, rng: Random) -> bytes:
    """The header of a safetensors file, or its numbers."""
    end = 8 + int.from_bytes(data[:8], "little")
    if rng.random() < 0.5:
        return damaged_bytes(data, rng, min(end, len(data)))
    position = rng.randrange(min(end, len(data) - 1), len(data))
    return (
        data[:position]
        + rng.choice((b"\x00\x00\xc0\x7f", b"\xff\xff\x7f\x7f", rng.randbytes(64)))
        + data[position + 4 :]
    )
