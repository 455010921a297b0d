"""A sentence of 15 words typed letter by letter: each translation is the draft of the next, against
drafts made step by step.

The other way is a translation without an earlier one: steps with matrices of 16 bits, and one pass
that checks them and yields the maps.

Required is what can be reached: twice the speed would leave 1.9 ms for the corrections of a
translation, less than its passes take: 125 for 69 translations. A third of their rows lie before
the first wrong token and are not computed again, which gains 3 to 4.5% (AMD EPYC, family 26
model 2).
"""

import torch

from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.result import Translation
from augenmerk.core.translation.translator import Translator
from benchmarks.ratio import Ratio, paired_medians

SENTENCE = "Ein alter Mann mit einem schwarzen Hut sitzt auf einer Bank und liest eine Zeitung."
REQUIRED, AIM = 1.45, 1.6


def run() -> list[Ratio]:
    """The ratio in CPU seconds on one thread, for the bundled model."""
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with_drafts, without = Translator.load(None, "cpu"), Translator.load(None, "cpu")
        typed = [SENTENCE[:end] for end in range(1, len(SENTENCE) + 1) if SENTENCE[end - 1] != " "]

        def ours() -> None:
            last: Translation | None = None
            for text in typed:
                last = with_drafts.run(Experiment(text), draft=last)

        def theirs() -> None:
            for text in typed:
                without.run(Experiment(text))

        medians = paired_medians(ours, theirs, repeats=5, warmup=1)
    finally:
        torch.set_num_threads(num_threads)
    name = f"{len(SENTENCE.split())} words typed letter by letter / without drafts"
    return [Ratio(name, *medians, REQUIRED, AIM, "CPU seconds, 1 thread")]
