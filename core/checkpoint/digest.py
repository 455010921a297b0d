"""Identifies a model by its content instead of its path."""

import hashlib

from augenmerk.core.checkpoint.checksum import hash_tensors, json_line
from augenmerk.core.checkpoint.file import Checkpoint


def model_digest(checkpoint: Checkpoint) -> str:
    """SHA-256 of weights and vocabularies, 64 hexadecimal digits.

    It stays the same when a file is moved, copied or saved again, with or without the state for resuming. It differs
    for the same model in half precision, which has other weights.
    """
    digest = hashlib.sha256()
    hash_tensors(digest, checkpoint.weights)
    digest.update(json_line([checkpoint.codecs.to_dict()]))
    return digest.hexdigest()
