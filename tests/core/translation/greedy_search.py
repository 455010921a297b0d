"""Greedy decoding of ids, and a plain implementation that it is compared with."""

from collections.abc import Sequence

import torch
from torch import Tensor

from augenmerk.core.inference.compiled import CompiledTransformer
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.translation.decoding import DecodingRules, forbidding, greedy_search


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
    model: Transformer, source: Tensor, max_steps: int, rules: DecodingRules
) -> list[int]:
    """The same for one source [1, S], by one pass of the decoder for each token."""
    encoding = model.encode(source)
    forbidden = forbidding(model, rules, source)
    target = [rules.start_id]
    while len(target) <= max_steps and (len(target) == 1 or target[-1] != rules.end_id):
        ids = torch.tensor([target], device=source.device)
        logits = model.decode(encoding, ids).logits
        target.append(int((logits[0, -1] + forbidden.at(len(target) - 1)).argmax()))
    return target[1:]
