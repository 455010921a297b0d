"""The importance of all 72 heads and 6 networks of the bundled model, against the computation of
commit bf2bd04.

That one used batches of 64 instead of 16 sentences and slower matrix products. Both read the same
pairs, and their results are compared.
"""

import os
from unittest.mock import patch

import numpy as np
import torch

from augenmerk.core.device import choose_device
from augenmerk.core.extensions.analyses import importance
from augenmerk.core.extensions.analyses.importance import HeadImportance, head_importance
from augenmerk.core.inference.compiled import PLAIN_VARIABLE
from augenmerk.core.model.heads import ATTENTION_KINDS, heads_of
from augenmerk.core.resources import example_sentences
from augenmerk.core.translation.translator import Translator
from benchmarks.ratio import Ratio, paired_medians

NUM_SENTENCES, EARLIER_BATCH = 64, 64
REQUIRED = 1 / 0.6
AIM = 2.0


def run() -> list[Ratio]:
    """The ratio in CPU seconds on one thread."""
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        translator = Translator.load(None, "cpu")
        earlier = Translator(translator.checkpoint, choose_device("cpu"))
        sources = (list(example_sentences()) * NUM_SENTENCES)[:NUM_SENTENCES]
        targets = [translation.text for translation in translator.translate_corpus(sources)]

        def ours() -> HeadImportance:
            return head_importance(translator, sources, targets)

        def theirs() -> HeadImportance:
            with (
                patch.object(importance, "BATCH_SIZE", EARLIER_BATCH),
                patch.dict(os.environ, {PLAIN_VARIABLE: "1"}),
            ):
                return head_importance(earlier, sources, targets)

        _check(ours(), theirs())
        medians = paired_medians(ours, theirs, repeats=3, warmup=0)
    finally:
        torch.set_num_threads(num_threads)
    heads = f"{len(heads_of(translator.model.config))} heads and the networks"
    name = f"importance of {heads}, {len(sources)} sentences / as at bf2bd04"
    return [Ratio(name, *medians, REQUIRED, AIM, "CPU seconds, 1 thread")]


def _check(ours: HeadImportance, theirs: HeadImportance) -> None:
    if not all(
        np.allclose(ours.of_kind(kind), theirs.of_kind(kind), atol=1e-3) for kind in ATTENTION_KINDS
    ):
        raise SystemExit("the two find different importances: they do not do the same work")
