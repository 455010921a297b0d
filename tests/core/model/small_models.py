"""Models small enough for a test, with weights that leave nothing at its starting value."""

from collections.abc import Iterable

import torch

from augenmerk.core.config import ModelConfig
from augenmerk.core.model.heads import Head, Network, SentenceChanges
from augenmerk.core.model.intervention_tensors import compile_interventions
from augenmerk.core.model.interventions import Interventions
from augenmerk.core.model.transformer import Transformer

PADDING, START, END = 1, 2, 3
NUM_SOURCE, NUM_TARGET = 29, 23
ROUNDING = 1e-5
"""The largest difference between two ways to compute one number of these models: about 80 rounding
steps of single precision at 1, for sums of up to 48 products. The order of additions, and so the
error, depends on the processor."""
SMALL = ModelConfig(
    width=32,
    num_encoder_layers=2,
    num_decoder_layers=3,
    num_heads=4,
    feed_forward_width=48,
    max_positions=40,
)
POST = SMALL
POST_FINAL = SMALL.replace(final_norm=True)
PRE = SMALL.replace(norm_position="pre", final_norm=True, positions="sinusoidal")
ANNOTATED = PRE.replace(norm_kind="annotated")
MARIAN = POST.replace(
    num_heads=8,
    num_decoder_heads=4,
    decoder_feed_forward_width=40,
    activation="swish",
    positions="sinusoidal-halves",
    scale_embeddings=False,
)
KINDS = {
    "post": POST,
    "post-final": POST_FINAL,
    "pre": PRE,
    "annotated": ANNOTATED,
    "marian": MARIAN,
}


def make_model(config: ModelConfig = SMALL, *, seed: int = 0, noise: float = 0.1) -> Transformer:
    """In evaluation mode; every parameter, norms and biases too, gets some noise."""
    torch.manual_seed(seed)
    model = Transformer(config, NUM_SOURCE, NUM_TARGET, PADDING).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=noise)
    return model


def random_ids(num_rows: int, length: int, num_tokens: int, *, seed: int = 1) -> torch.Tensor:
    """[num_rows, length], no special token among them."""
    return torch.randint(
        4, num_tokens, (num_rows, length), generator=torch.Generator().manual_seed(seed)
    )


def scaled(
    model: Transformer, parts: Iterable[Head | Network], factor: float = 0.0, num_sentences: int = 1
) -> Interventions:
    """The same for every sentence of a batch: these heads and networks times a factor; 0 switches
    them off.
    """
    return compile_interventions(
        model, [SentenceChanges(dict.fromkeys(parts, factor), {})] * num_sentences
    )
