"""Checksums of the contents of a checkpoint (SHA-256, about 20 ms for 40 MB)."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor


def tensors_checksum(tensors: Mapping[str, Tensor]) -> str:
    """The checksum of names, types, shapes and values, independent of their order: 64 hexadecimal digits."""
    digest = hashlib.sha256()
    hash_tensors(digest, tensors)
    return digest.hexdigest()


def description_checksum(description: Mapping[str, Any]) -> str:
    """The checksum of a description without its checksums."""
    return hashlib.sha256(
        json_line({name: description[name] for name in description if name != "checksums"})
    ).hexdigest()


def hash_tensors(digest: "hashlib._Hash", tensors: Mapping[str, Tensor]) -> None:
    """Adds the tensors to a digest, by name."""
    for name in sorted(tensors):
        values = tensors[name].detach().cpu().contiguous()
        digest.update(json_line([name, str(values.dtype).removeprefix("torch."), list(values.shape)]))
        digest.update(values.reshape(-1).view(torch.uint8).numpy().data)


def json_line(value: object) -> bytes:
    """The value as ASCII JSON in a canonical form."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii") + b"\n"
