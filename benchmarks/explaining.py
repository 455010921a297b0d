"""Explanations of a translation of 15 tokens by the bundled model, against the translation itself.

Two sentences of this length take turns, so that no translation reuses the encoding of the last one.
"""

from collections.abc import Callable
from itertools import cycle

import torch

from augenmerk.core.extensions.analyses.decoder_lens import decoder_lens
from augenmerk.core.extensions.analyses.logit_attribution import logit_parts, word_parts
from augenmerk.core.extensions.analyses.logit_lens import logit_lens
from augenmerk.core.extensions.analyses.query_key import query_key_parts
from augenmerk.core.model.heads import AttentionKind, Head
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.result import Translation
from augenmerk.core.translation.translator import Translator
from benchmarks.ratio import Ratio, paired_medians

SENTENCES = (
    "Ein alter Mann mit einem schwarzen Hut sitzt auf einer Bank und liest.",
    "Ein kleiner Junge mit einem blauen Hemd sitzt auf einer Bank und isst.",
)
NUM_TOKENS, STEP = 15, 7
Explain = Callable[[Translator, Translation], object]


def _of_cell(kind: AttentionKind) -> Explain:
    return lambda translator, known: query_key_parts(translator, known, Head(kind, 2, 0), STEP)


EXPLANATIONS: dict[str, tuple[float, Explain]] = {
    "attribution of one word": (1.2, lambda translator, known: word_parts(translator, known, STEP)),
    "attribution of all words": (1.2, logit_parts),
    "query–key parts of an encoder cell": (1.2, _of_cell("encoder")),
    "query–key parts of a decoder cell": (1.2, _of_cell("decoder")),
    "query–key parts of a cross cell": (1.2, _of_cell("cross")),
    "lens of every sublayer": (2.1, logit_lens),
    "DecoderLens of 3 layers": (4.0, decoder_lens),
}
"""Each with the largest time allowed, in translations.

The lens multiplies the states after all ten sublayers by the output layer. A translation does so
once, and became faster when its matrices got 16 bits and its drafts were checked.
"""


def run() -> list[Ratio]:
    """The ratios in CPU seconds on one thread."""
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        translator = Translator.load(None, "cpu")
        known = [translator.run(Experiment(sentence)) for sentence in SENTENCES]
        if {len(translation.predicted_ids) for translation in known} != {NUM_TOKENS}:
            texts = [translation.text for translation in known]
            raise SystemExit(f"the translations do not have {NUM_TOKENS} tokens: {texts}")
        translated, explained = cycle(known), cycle(known)
        return [
            Ratio(
                f"{name} / translation",
                *paired_medians(
                    lambda explain=explain: explain(translator, next(explained)),  # type: ignore[misc]
                    lambda: translator.run(next(translated).experiment),
                    repeats=25,
                ),
                required=1 / allowed,
                aim=1.0,
                note="CPU seconds, 1 thread",
            )
            for name, (allowed, explain) in EXPLANATIONS.items()
        ]
    finally:
        torch.set_num_threads(num_threads)
