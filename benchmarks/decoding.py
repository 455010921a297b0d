"""Decoding with cached keys and values and all attention maps, against rerunning the decoder at
each step.
"""

import torch
from torch import Tensor

from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.inference.compiled import CompiledTransformer
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.translation.decoding import DecodingRules, greedy_search
from benchmarks.ratio import Ratio, paired_medians

NUM_TOKENS = 8000
RULES = DecodingRules(start_id=2, end_id=3, forbidden_ids=(0, 1, 2, 3))  # nothing ends early
LENGTHS = ((13, 1.8, 3.0), (40, 2.5, 5.0))
"""Tokens to decode, ratio required, ratio aimed at."""


def run() -> list[Ratio]:
    """The ratios in CPU seconds on one thread, for a model as large as the bundled one."""
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [_ratio(*length) for length in LENGTHS]
    finally:
        torch.set_num_threads(num_threads)


def _ratio(num_steps: int, required: float, aim: float) -> Ratio:
    ours = CompiledTransformer(_model())
    other = _model()
    source = torch.randint(
        4, NUM_TOKENS, (1, num_steps + 2), generator=torch.Generator().manual_seed(num_steps)
    )
    ours_seconds, other_seconds = paired_medians(
        lambda: with_all_maps(ours, source, num_steps),
        lambda: greedy_search(other, other.encode(source), [num_steps], RULES),
        repeats=21,
    )
    name = f"{num_steps} tokens, cached, all maps / decoder run anew, no maps"
    return Ratio(name, ours_seconds, other_seconds, required, aim, "CPU seconds, 1 thread")


def _model() -> Transformer:
    torch.manual_seed(0)
    return Transformer(preset("multi30k").model, NUM_TOKENS, NUM_TOKENS, padding_id=1).eval()


@torch.inference_mode()
def with_all_maps(model: CompiledTransformer, source: Tensor, num_steps: int) -> list[int]:
    """Translate ids as `Translator.translate` does: one encoding, cached greedy steps, one pass for
    the maps.
    """
    encoding = model.encode(source, need_maps=True)
    chosen = greedy_search(model, encoding, [num_steps], RULES)[0]
    model.decode(encoding, torch.tensor([[RULES.start_id, *chosen[:-1]]]), need_maps=True)
    return chosen
