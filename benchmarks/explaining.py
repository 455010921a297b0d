"""Explanations of a translation against the plain translation, in turn, with the bundled model.

The translations have about 15 tokens. The ratio is that of a plain translation to the explanation alone: 0.62 means
that the explanation takes 1.6 times as long.
"""

from collections.abc import Callable
from itertools import cycle

import torch

from augenmerk.core.analysis.decoder_lens import decoder_lens
from augenmerk.core.analysis.logit_attribution import logit_parts, word_parts
from augenmerk.core.analysis.logit_lens import logit_lens
from augenmerk.core.analysis.query_key import query_key_parts
from augenmerk.core.model.heads import Head
from augenmerk.core.resources import example_sentences
from augenmerk.core.translation.result import Translation
from augenmerk.core.translation.translator import Translator
from benchmarks.ratio import Ratio, paired_medians

NUM_TOKENS, NUM_SENTENCES, REPEATS = 15, 4, 41
Explain = Callable[[Translator, Translation], object]
HEAD = Head("cross", 2, 0)
EXPLANATIONS: dict[str, tuple[Explain, float]] = {
    "attribution of one word": (lambda model, known: word_parts(model, known, 1), 1.2),
    "attribution of every word": (logit_parts, 1.2),
    "parts of one attention score": (lambda model, known: query_key_parts(model, known, HEAD, 2).of_cell(2), 1.2),
    "logit lens of every sublayer": (logit_lens, 1.6),
    "DecoderLens": (decoder_lens, 4),
}
"""Each with the largest allowed multiple of a plain translation: for the DecoderLens, L + 1."""


def run() -> list[Ratio]:
    """The ratios in CPU seconds."""
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        translator = Translator.load(None, "cpu")
        found = [translator.translate(text) for text in example_sentences()]
        chosen = sorted(found, key=lambda each: abs(len(each.predicted_ids) - NUM_TOKENS))[:NUM_SENTENCES]
        return [_timed(translator, chosen, name) for name in EXPLANATIONS]
    finally:
        torch.set_num_threads(num_threads)


def _timed(translator: Translator, translations: list[Translation], name: str) -> Ratio:
    explain, multiple = EXPLANATIONS[name]
    explained, translated = cycle(translations), cycle(translations)
    seconds = paired_medians(
        lambda: explain(translator, next(explained)),
        lambda: translator.run(next(translated).experiment),  # another sentence each time: its encoding is not known
        repeats=REPEATS,
    )
    lengths = "/".join(str(len(each.predicted_ids)) for each in translations)
    note = "CPU seconds, 1 thread"
    return Ratio(f"{name} / plain translation of {lengths} tokens", *seconds, 1 / multiple, 1 / multiple, note)
