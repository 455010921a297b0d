"""The loss that is minimised: cross-entropy, label-smoothed as The Annotated Transformer does it."""

import math

import torch
from torch import Tensor


def smoothed_loss(logits: Tensor, targets: Tensor, smoothing: float, padding_id: int) -> Tensor:
    """KL divergence from the smoothed target distribution to the model's, summed over all rows.

    The smoothed distribution gives 1 − ε to the true word, ε / (V − 2) to every other word, nothing to padding
    (Szegedy et al. 2016; The Annotated Transformer). With ε = 0 it is the plain cross-entropy. Computed from one
    log-sum-exp of the logits: the distribution itself is never formed.

    Args:
        logits: [N, V], rows of real tokens only.
        targets: [N], none of them padding.
        smoothing: ε, in [0, 1).
        padding_id: the id that is never predicted.

    Returns:
        A scalar, in nats.
    """
    normalizer = logits.logsumexp(dim=-1).sum()
    of_truth = logits.gather(1, targets[:, None]).sum()
    if smoothing == 0:
        return normalizer - of_truth
    share = smoothing / (logits.size(1) - 2)
    of_others = logits.sum() - of_truth - logits[:, padding_id].sum()
    negative_entropy = (1 - smoothing) * math.log(1 - smoothing) + smoothing * math.log(share)
    return normalizer - (1 - smoothing) * of_truth - share * of_others + len(targets) * negative_entropy


def smoothed_distribution(target: int, num_tokens: int, smoothing: float, padding_id: int) -> Tensor:
    """The distribution that the model is pulled towards when the true word is `target`: [V], all zero for padding."""
    if target == padding_id:
        return torch.zeros(num_tokens)
    distribution = torch.full((num_tokens,), smoothing / (num_tokens - 2))
    distribution[target] = 1 - smoothing
    distribution[padding_id] = 0.0
    return distribution
