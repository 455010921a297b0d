"""Compute the figures of “Three findings” in docs/model-notebook.md: `python -m tools.findings
FOLDER`.

FOLDER contains Multi30k. Takes about five minutes.
"""

import sys
from collections import Counter
from itertools import combinations
from operator import eq
from pathlib import Path

import numpy as np

from augenmerk.core.counting import display_text
from augenmerk.core.extensions.analyses.decoder_lens import decoder_lens
from augenmerk.core.extensions.analyses.logit_attribution import logit_parts, measure_parts
from augenmerk.core.extensions.training.corpora.parallel import read_lines
from augenmerk.core.model.heads import ATTENTION_KINDS, heads_of, networks_of
from augenmerk.core.translation.experiment import (
    Experiment,
    FeedForwardScaled,
    HeadScaled,
    Intervention,
)
from augenmerk.core.translation.result import Translation
from augenmerk.core.translation.translator import Translator

NUM_REPEATING, NUM_LENS, NUM_MEASURED = 300, 150, 40
EVERY = 4
"""Of the words of a sentence, one in this number is measured."""


def main() -> None:
    """Print the report."""
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "val.de.gz").is_file():
        sys.exit(
            "Pass the folder of Multi30k, which contains val.de.gz: python -m tools.findings FOLDER"
        )
    translator = Translator.load(device="cpu")
    lines = read_lines(Path(sys.argv[1]) / "val.de.gz")[:NUM_REPEATING]
    print_repetitions(translator, lines)
    translations = list(
        translator.run_many([Experiment(line) for line in lines[:NUM_LENS]], need_maps=True)
    )
    settled = Counter(
        decoder_lens(translator, translation).settled_at for translation in translations
    )
    print("encoder layers needed, and number of sentences:", dict(sorted(settled.items())))
    print_measured(translator, translations[:NUM_MEASURED])


def print_repetitions(translator: Translator, lines: list[str]) -> None:
    """Print how often translations repeat a token, also without networks or layers of heads."""
    config = translator.model.config
    without: dict[str, tuple[Intervention, ...]] = {"unchanged": ()}
    without |= {
        display_text(network): (FeedForwardScaled(network),) for network in networks_of(config)
    }
    decoder = [network for network in networks_of(config) if network.side == "decoder"]
    for number in range(2, len(decoder) + 1):
        for some in combinations(decoder, number):
            layers = ", ".join(str(network.layer + 1) for network in some)
            without[f"feed-forward networks of decoder layers {layers}"] = tuple(
                map(FeedForwardScaled, some)
            )
    for kind in ATTENTION_KINDS:
        heads = [head for head in heads_of(config) if head.kind == kind]
        for layer in sorted({head.layer for head in heads}):
            without[f"all heads of {kind} layer {layer + 1}"] = tuple(
                HeadScaled(x) for x in heads if x.layer == layer
            )
    for name, changes in without.items():
        translations = translator.run_many(
            [Experiment(line, interventions=changes) for line in lines]
        )
        print(f"{name}: {sum(map(repeats, translations))} of {len(lines)} repeat a token")


def repeats(translation: Translation) -> bool:
    """Whether a token follows itself."""
    return any(map(eq, translation.predicted_ids, translation.predicted_ids[1:]))


def print_measured(translator: Translator, translations: list[Translation]) -> None:
    """For the decoder's networks: minus the mean part, and the mean change without the network.

    Also how often each module has the longest bar.
    """
    networks = [
        network for network in networks_of(translator.model.config) if network.side == "decoder"
    ]
    predicted = []
    measured = []
    longest: Counter[str] = Counter()
    for translation in translations:
        for parts in logit_parts(translator, translation)[1::EVERY]:
            predicted.append(
                [-parts.values[parts.components.index(network)] for network in networks]
            )
            measured.append(measure_parts(translator, parts, networks))
            longest[display_text(parts.components[int(np.argmax(np.abs(parts.values)))])] += 1
    for network, one, other in zip(
        networks, np.mean(predicted, axis=0), np.mean(measured, axis=0), strict=True
    ):
        print(
            f"{display_text(network)}, {len(predicted)} words: predicted {one:+.2f}, measured "
            f"{other:+.2f}"
        )
    print("longest bar, and number of words:", dict(longest.most_common()))


if __name__ == "__main__":
    main()
