"""Greedy and beam search against CTranslate2, in float32 on one thread, with the bundled weights on
both sides.

Ours yields every map, probability and alternative of a single sentence; CTranslate2 yields tokens.
Of a batch both yield tokens, and CTranslate2 gets its fastest batch size. The benchmark counts how
many outputs are the same, and refuses to compare if hardly any are.

The batch is `test_2016_flickr` if `AUGENMERK_MULTI30K` names a folder with it. Otherwise it repeats
a few sentences, which hides the cost of padding.

Results with and without AVX-512: docs/adr/0010.
"""

import gzip
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from augenmerk.core.resources import example_sentences
from augenmerk.core.translation.decoding import batches_by_length
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.running import batch_size_for, translate_ids
from augenmerk.core.translation.translator import Translator
from benchmarks.converted import TokenTranslator
from benchmarks.ratio import Ratio, paired_medians

LENGTHS = (13, 40)
NUM_SINGLE, NUM_IN_BATCH = 3, 1000
BATCH_SIZES = 64, 128, 192
"""Batches among which CTranslate2 gets the fastest."""
REQUIRED_SINGLE, AIM_SINGLE = 1 / 1.1, 1.2
REQUIRED_BATCH = {1: (1 / 1.08, 1.0), 4: (1 / 1.2, 1 / 1.1)}
"""Ratios required and aimed at, by beam size.

Both programs spend most of their time in the same products, at the same rate.
"""


def run() -> list[Ratio]:
    """The ratios in CPU seconds."""
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with tempfile.TemporaryDirectory() as folder:
            translator = Translator.load(None, "cpu")
            other = TokenTranslator(translator, Path(folder))
            return [
                *(_single(translator, other, length) for length in LENGTHS),
                *(_batch(translator, other, beam) for beam in REQUIRED_BATCH),
            ]
    finally:
        torch.set_num_threads(num_threads)


def _single(translator: Translator, other: TokenTranslator, num_tokens: int) -> Ratio:
    """Sentences of about `num_tokens` translated tokens; long ones are joined from short."""
    translations = [translator.translate(text) for text in _sentences(num_tokens)]
    chosen = sorted(
        translations, key=lambda translation: abs(len(translation.predicted_ids) - num_tokens)
    )[:NUM_SINGLE]
    sources = [translation.source_ids for translation in chosen]
    _check([translation.predicted_ids for translation in chosen], other.translate(sources))

    def ours() -> None:
        for translation in chosen:
            translator.run(translation.experiment)

    def theirs() -> None:
        for source in sources:
            other.translate([source])

    lengths = "/".join(str(len(translation.predicted_ids)) for translation in chosen)
    name = f"{NUM_SINGLE} sentences of {lengths} tokens, all maps / CTranslate2, no maps"
    return Ratio(
        name,
        *paired_medians(ours, theirs, repeats=21),
        REQUIRED_SINGLE,
        AIM_SINGLE,
        "CPU seconds, 1 thread",
    )


def _sentences(num_tokens: int) -> list[str]:
    short = list(example_sentences())
    joined = [
        f"{one[:-1]} und {other[0].lower()}{other[1:]}"
        for one in short
        for other in short
        if one != other
    ]
    longer = [f"{one[:-1]}, und {short[0][0].lower()}{short[0][1:]}" for one in joined]
    return short if num_tokens < 20 else [*joined, *longer][:60]


def _batch(translator: Translator, other: TokenTranslator, beam: int) -> Ratio:
    sources = _sources_of_batch(translator)

    def ours() -> list[list[int]]:
        return tokens_of_batch(translator, sources, beam)

    _check(ours(), other.translate(sources, beam=beam))
    seconds = {}
    for batch_size in BATCH_SIZES:
        began = time.process_time()
        other.translate(sources, batch_size, beam)
        seconds[batch_size] = time.process_time() - began
    fastest = min(seconds, key=seconds.__getitem__)
    name = (
        f"{len(sources)} sentences, {'greedy' if beam == 1 else f'beam {beam}'} / "
        f"CTranslate2, {fastest} at a time"
    )
    medians = paired_medians(
        ours, lambda: other.translate(sources, fastest, beam), repeats=5, warmup=1
    )
    return Ratio(name, *medians, *REQUIRED_BATCH[beam], "CPU seconds, 1 thread")


def _sources_of_batch(translator: Translator) -> list[tuple[int, ...]]:
    """The ids of `NUM_IN_BATCH` sentences."""
    file = Path(os.environ.get("AUGENMERK_MULTI30K", ""), "test_2016_flickr.de.gz")
    if file.is_file():
        texts = gzip.decompress(file.read_bytes()).decode().splitlines()
    else:
        texts = [text for length in LENGTHS for text in _sentences(length)]
        texts = [text for text in texts if len(text.split()) < 25] * NUM_IN_BATCH
    compiled = [translator.compile(Experiment(text)) for text in texts[:NUM_IN_BATCH]]
    return [experiment.source.ids for experiment in compiled]


def tokens_of_batch(
    translator: Translator, sources: Sequence[Sequence[int]], beam: int = 1
) -> list[list[int]]:
    """`Translator.translate_corpus` from ids to ids."""
    model = translator.current_model()
    run = translator.run_config
    rules = translator.rules
    ids_by_index: dict[int, list[int]] = {}
    num_in_batch = batch_size_for(model, beam, max(LENGTHS))
    for group in batches_by_length([len(source) for source in sources], num_in_batch):
        rows = [sources[index] for index in group]
        ids_by_index.update(
            zip(group, translate_ids(model, rows, run, rules, beam=beam), strict=True)
        )
    return [ids_by_index[index] for index in range(len(sources))]


def _check(ours: Sequence[Sequence[int]], theirs: Sequence[Sequence[int]]) -> None:
    same = sum(list(mine) == list(other) for mine, other in zip(ours, theirs, strict=True))
    if same < 0.98 * len(ours):
        raise SystemExit(
            f"only {same} of {len(ours)} translations are the same: the two do not do the same work"
        )
