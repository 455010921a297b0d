"""Retranslating a sentence with a head off and scoring the old translation, against one plain
translation.
"""

import itertools
import statistics
import time
from collections.abc import Callable
from functools import partial

import torch

from augenmerk.core.model.heads import ATTENTION_KINDS, AttentionKind, Head, heads_of
from augenmerk.core.resources import example_sentences
from augenmerk.core.translation.experiment import HeadScaled
from augenmerk.core.translation.result import Translation
from augenmerk.core.translation.translator import Translator
from benchmarks.ratio import Ratio

NUM_SENTENCES = 6
WARMUP, REPEATS = 2, 15
REQUIRED_SAME, REQUIRED_OTHER, AIM = 2.0, 0.75, 2.5
"""If the words stay, checking them suffices.

Other words are decoded step by step, and the old ones are scored.
"""


def run() -> list[Ratio]:
    """The ratios in CPU seconds on one thread for the bundled model, doing what a click on a head
    does in the window.

    The chosen heads change the number of tokens by one at most, so that both do equal work. They
    come from encoder, decoder and cross-attention in turn. Each sentence is translated plainly just
    before.
    """
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        translator = Translator.load(None, "cpu")
        plain = [translator.translate(text) for text in example_sentences()]
        return [
            _ratio(translator, plain, keeps_words=True),
            _ratio(translator, plain, keeps_words=False),
        ]
    finally:
        torch.set_num_threads(num_threads)


def _ratio(translator: Translator, plain: list[Translation], *, keeps_words: bool) -> Ratio:
    kinds = itertools.cycle(ATTENTION_KINDS)
    pairs: list[tuple[Translation, Head]] = []
    for translation in plain:
        if len(pairs) == NUM_SENTENCES:
            break
        head = _head_for(translator, translation, next(kinds), keeps_words=keeps_words)
        if head is not None:
            pairs.append((translation, head))
    if not pairs:
        raise SystemExit(
            "No head of the bundled model changes the words of an example. Choose other sentences."
        )
    switching = []
    translating = []
    for turn in range(WARMUP + REPEATS):
        seconds = [0.0, 0.0]
        for before, head in pairs:
            seconds[1] += _seconds(partial(translator.translate, before.source_text))
            changed = before.experiment.with_interventions(HeadScaled(head))
            seconds[0] += _seconds(partial(translator.compare, changed, original=before))
        if turn >= WARMUP:
            switching.append(seconds[0])
            translating.append(seconds[1])
    name = (
        f"{len(pairs)} sentences anew, a head off, {'same' if keeps_words else 'other'} words / "
        "plainly"
    )
    required = REQUIRED_SAME if keeps_words else REQUIRED_OTHER
    medians = statistics.median(switching), statistics.median(translating)
    return Ratio(name, *medians, required, AIM, "CPU seconds, 1 thread")


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _head_for(
    translator: Translator, plain: Translation, kind: AttentionKind, *, keeps_words: bool
) -> Head | None:
    """A head, preferably of this kind, without which the translation has the same words, or other
    words and about the same length.
    """
    for head in sorted(heads_of(translator.model.config), key=lambda head: head.kind != kind):
        ids = translator.run(plain.experiment.with_interventions(HeadScaled(head))).predicted_ids
        is_as_long = abs(len(ids) - len(plain.predicted_ids)) <= 1
        if is_as_long and (ids == plain.predicted_ids) == keeps_words:
            return head
    return None
