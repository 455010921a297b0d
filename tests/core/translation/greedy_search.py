"""Greedy decoding of ids, and a plain implementation that it is compared with."""

from collections.abc import Sequence
from types import MappingProxyType

import torch
from torch import Tensor

from augenmerk.core.inference.compiled import CompiledTransformer
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.translation.decoding import DecodingRules, ForcedIds, greedy_search


def greedy(
    model: Transformer, source: Tensor, max_steps: Sequence[int], rules: DecodingRules
) -> list[list[int]]:
    """For each of the padded ids [B, S] the ids chosen by the compiled model, with cached keys and
    values."""
    compiled = CompiledTransformer(model)
    with torch.inference_mode():
        return greedy_search(compiled, compiled.encode(source), max_steps, rules)


@torch.inference_mode()
def greedy_uncached(
    model: Transformer,
    source: Tensor,
    max_steps: int,
    rules: DecodingRules,
    forced: ForcedIds = MappingProxyType({}),
) -> list[int]:
    """The same for one source [1, S], by one pass of the decoder for each token."""
    encoding = model.encode(source)
    chosen: list[int] = []
    while len(chosen) < max_steps and rules.end_id not in chosen:
        ids = torch.tensor([[rules.start_id, *chosen]], device=source.device)
        logits = model.decode(encoding, ids).logits[0, -1]
        logits[list(rules.forbidden_ids)] = -torch.inf
        if len(chosen) < rules.min_steps and rules.end_id is not None:
            logits[rules.end_id] = -torch.inf
        chosen.append(forced.get(len(chosen), int(logits.argmax())))
    return chosen
