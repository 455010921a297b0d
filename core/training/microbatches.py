"""The size of micro-batches: on a CPU small enough that a stop takes effect within seconds."""

import torch

_FLOATING_POINT_OPERATIONS = 4e11
"""Of forward and backward pass, some 2 to 6 seconds on one core; a batch of `notebook` has a third of them."""
_MIN_TOKENS = 256
"""With fewer, matrix products become inefficient."""


def max_tokens_at_once(num_parameters: int, device: torch.device) -> int | None:
    """The padded tokens of a micro-batch, from the size of the model; None on a GPU, which computes whole batches.

    A token costs about six operations for each parameter: two forward, four backward (Kaplan et al. 2020, section 2.1).
    """
    if device.type != "cpu":
        return None
    return max(_MIN_TOKENS, int(_FLOATING_POINT_OPERATIONS / (6 * num_parameters)))
