"""Many sentences at once, from ids to ids, without maps. Shape legend: `core.model`."""

from collections.abc import Mapping, Sequence

import torch

from augenmerk.core.config import RunConfig
from augenmerk.core.corpora.batches import pad
from augenmerk.core.inference.compiled import Model, plain_form
from augenmerk.core.model.heads import Head
from augenmerk.core.model.interventions import compile_head_factors
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.translation.beam import beam_search
from augenmerk.core.translation.compilation import max_steps
from augenmerk.core.translation.decoding import DecodingRules, greedy_search
from augenmerk.core.translation.running import MAX_BEAM_ROWS

CORPUS_BATCH = 192
"""Sentences that are translated side by side without maps."""
_MAX_LOGITS = 2**27
"""Of all positions of a batch: a plain model computes them at each step."""


def batch_size_for(model: Model, beam: int, longest: int) -> int:
    """How many sentences to translate side by side, of translations of up to `longest` tokens."""
    size = min(CORPUS_BATCH, MAX_BEAM_ROWS // beam)
    if isinstance(model, Transformer):
        size = min(size, _MAX_LOGITS // (beam * longest * model.output.out_features))
    return max(1, size)


@torch.inference_mode()
def translate_ids(
    model: Model,
    sources: Sequence[Sequence[int]],
    run: RunConfig,
    rules: DecodingRules,
    *,
    beam: int = 1,
    length_penalty: float = 0.0,
    factors: Mapping[Head, float] | None = None,
) -> list[list[int]]:
    """The ids of the translations of a batch of sources, with heads scaled by `factors`."""
    plain = plain_form(model)
    padded = pad(sources, plain.padding_id).to(plain.output.weight.device)
    encoding = model.encode(padded, interventions=compile_head_factors(plain, factors or {}, len(sources)))
    limits = [max_steps(len(row), run, rules) for row in sources]
    if beam > 1:
        return beam_search(model, encoding, limits, rules, beam, length_penalty)
    return greedy_search(model, encoding, limits, rules, forced=rules.forced_ends(limits, None))
