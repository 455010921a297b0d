"""A model told apart from others by what it is, not by where its file lies."""

import hashlib
import json

import torch

from core.checkpoint.file import Checkpoint


def model_digest(checkpoint: Checkpoint) -> str:
    """SHA-256 of weights and vocabularies, 64 hexadecimal digits.

    The same for a file that was moved, copied or saved again, with or without what is needed to resume training;
    another one for the same model at half precision, whose weights are others.
    """
    digest = hashlib.sha256()
    for name in sorted(checkpoint.weights):
        values = checkpoint.weights[name].detach().cpu().contiguous()
        digest.update(_line(name, str(values.dtype).removeprefix("torch."), list(values.shape)))
        digest.update(values.reshape(-1).view(torch.uint8).numpy().data)
    digest.update(_line(checkpoint.codecs.to_dict()))
    return digest.hexdigest()


def _line(*values: object) -> bytes:
    return json.dumps(values, sort_keys=True, separators=(",", ":")).encode("ascii") + b"\n"
