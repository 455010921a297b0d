"""Random experiments, for tests of what holds for all of them."""

import random
from collections.abc import Sequence

from core.model.heads import ATTENTION_KINDS, Head
from core.translation.experiment import (
    AttentionRow,
    Beam,
    CausalMaskLifted,
    Experiment,
    ForcedToken,
    GivenTarget,
    Greedy,
    HeadScaled,
    Intervention,
    Output,
    SoftmaxTemperature,
    SourceWordRemoved,
    SourceWordReplaced,
    site_of,
)

TEXTS = (
    "Zwei Hunde spielen im Schnee.",
    "",
    "ä😀 “„…\u2028\u00a0",
    "quotes: \"double\" and 'single', $HOME `ls` \\n #!",
    "-",
    "--json",
    "-x y",
    "two\nlines\ttab",
    "'",
    '"',
    "'\"",
    "\x7f\x1b[31m",
)
TOKENS = ("▁dog", "ing", "<eos>", "=", "3=4", "'", "·s", "-", "$x", " ", "dog")


def random_experiment(random_numbers: random.Random, tokens: Sequence[str] = TOKENS) -> Experiment:
    """Any text, output and interventions, whether or not a model could follow them; some of `tokens` are forced."""
    output: Output = random_numbers.choice(
        [
            Greedy(),
            Beam(random_numbers.randint(1, 100), random_numbers.choice([0.0, 1.0, 1.5, random_numbers.uniform(0, 10)])),
            GivenTarget(random_numbers.choice(TEXTS)),
        ]
    )
    found: dict[tuple[int, ...], Intervention] = {}
    for _ in range(random_numbers.choice([0, 1, 3, 12])):
        intervention = _random_intervention(random_numbers, tokens)
        misfit = ForcedToken if isinstance(output, GivenTarget) else CausalMaskLifted
        if not isinstance(intervention, misfit):
            found[site_of(intervention)] = intervention
    return Experiment(random_numbers.choice(TEXTS), output, tuple(found.values()))


def _random_intervention(random_numbers: random.Random, tokens: Sequence[str]) -> Intervention:
    head = Head(random_numbers.choice(ATTENTION_KINDS), random_numbers.randrange(4), random_numbers.randrange(9))
    index = random_numbers.choice([0, 1, 2, 7, 100_000])
    row = random_numbers.randrange(5)
    num_weights = row + 1 if head.kind == "decoder" else random_numbers.randint(1, 9)
    weights = [random_numbers.choice([0, 1, random_numbers.random() ** 9]) for _ in range(num_weights)]
    return random_numbers.choice(
        [
            SourceWordRemoved(index),
            SourceWordReplaced(index, random_numbers.choice([text for text in TEXTS if text.strip()])),
            HeadScaled(head, random_numbers.choice([0, -0.0, 0.5, -1, 1e-300, random_numbers.uniform(-1000, 1000)])),
            SoftmaxTemperature(head, random_numbers.choice([0.01, 1, 2, 100, random_numbers.uniform(0.01, 100)])),
            CausalMaskLifted(),
            AttentionRow(head, row, (*weights[:-1], weights[-1] + 0.1)),
            ForcedToken(index, random_numbers.choice(tokens)),
        ]
    )
