"""The mean of several checkpoints."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from ...checkpoint.file import Checkpoint, load_checkpoint
from ...errors import CheckpointError


def average(paths: Sequence[Path]) -> Checkpoint:
    """A checkpoint for translation whose weights are the mean of those in `paths`; the rest is the
    last one's.

    It is often better than any one of them (Vaswani et al. 2017, section 6.1).

    Raises:
        CheckpointError: no path is given, a file cannot be used, a weight is not finite, or the
            files are of different models or vocabularies.
    """
    if not paths:
        raise CheckpointError("Name one or more checkpoints of a run.")
    last = load_checkpoint(paths[-1])
    sums = {name: value.double() for name, value in last.weights.items()}
    for path in paths[:-1]:
        other = load_checkpoint(path)
        if other.run.model != last.run.model or other.codecs.to_dict() != last.codecs.to_dict():
            raise CheckpointError(
                f"{path} and {paths[-1]} differ in model or vocabulary. Choose checkpoints of "
                "one run."
            )
        for name, value in other.weights.items():
            sums[name] += value
    weights = {name: (total / len(paths)).to(torch.float32) for name, total in sums.items()}
    return replace(last, weights=weights, state={}, progress={}, path=None)
