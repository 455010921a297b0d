"""A model told apart from others by what it is, not by where its file lies."""

import hashlib

from augenmerk.core.checkpoint.checksum import hash_tensors, json_line
from augenmerk.core.checkpoint.file import Checkpoint


def model_digest(checkpoint: Checkpoint) -> str:
    """SHA-256 of weights and vocabularies, 64 hexadecimal digits.

    The same for a file that was moved, copied or saved again, with or without what is needed to resume training;
    another one for the same model at half precision, whose weights are others.
    """
    digest = hashlib.sha256()
    hash_tensors(digest, checkpoint.weights)
    digest.update(json_line([checkpoint.codecs.to_dict()]))
    return digest.hexdigest()
