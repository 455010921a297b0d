"""Models that were never trained and yet have much to say, and sources for them."""

import torch

from augenmerk.core.config import ModelConfig
from augenmerk.core.model.transformer import Transformer
from tests.core.model.small_models import KINDS, NUM_SOURCE, NUM_TARGET, PADDING, random_ids


def wild_model(kind: str | ModelConfig, seed: int = 0, num_target: int = NUM_TARGET) -> Transformer:
    """Weights so large that position, source and history all sway each choice; the end token comes
    now and then.
    """
    # the first seed gives a model that repeats one token
    torch.manual_seed(seed + (kind == "marian"))
    config = KINDS[kind] if isinstance(kind, str) else kind
    model = Transformer(config, NUM_SOURCE, num_target, PADDING).eval()
    in_tokens = 1.0 if config.scale_embeddings else 32**0.5
    with_attention = 2.0 if config.scale_embeddings else 1.0
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("positions"):
                parameter.normal_(std=2.0)
            elif parameter.dim() == 2:
                strength = (
                    in_tokens
                    if "tokens" in name
                    else 0.4
                    if "feed_forward" in name
                    else with_attention
                )
                parameter.normal_(std=strength * 32**-0.5)
            elif "norm" in name:
                parameter.add_(torch.randn_like(parameter), alpha=0.1)
            else:
                parameter.zero_()
    return model


def random_sources(count: int, seed: int = 5) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 16, (count,), generator=generator).tolist()
    return [
        random_ids(1, length, NUM_SOURCE, seed=seed + index) for index, length in enumerate(lengths)
    ]


def padded(sources: list[torch.Tensor]) -> torch.Tensor:
    longest = max(source.size(1) for source in sources)
    rows = [
        torch.nn.functional.pad(source, (0, longest - source.size(1)), value=PADDING)
        for source in sources
    ]
    return torch.cat(rows)
