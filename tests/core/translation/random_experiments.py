"""Random experiments, for tests of what holds for all of them: `random_experiment`, and where its
values come from."""

import random
from collections.abc import Sequence
from typing import Protocol

from augenmerk.core.model.heads import ATTENTION_KINDS, SIDES, Head, Network, networks_of
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Beam,
    CausalMaskLifted,
    Experiment,
    FeedForwardScaled,
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
from augenmerk.core.translation.translator import Translator
from augenmerk.core.translation.typed_text import encode_source
from tests.core.translation.naive import edited_source_ids
from tests.core.translation.random_models import (
    MAX_POSITIONS,
    NUM_SYMBOLS,
    SOURCE_WORDS,
    TARGET_WORDS,
    all_heads,
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
UNKNOWN_WORDS = ["qqq", "xyxy"]
BEAMS = (Beam(1, 1.0), Beam(2, 0.6), Beam(3, 1.5), Beam(5, 0.0))
"""Few, so that several experiments of a model are searched side by side."""

SourceEdit = SourceWordRemoved | SourceWordReplaced


class Values(Protocol):
    """What the parts of a random experiment may be."""

    counts: Sequence[int]
    """How many interventions are drawn; of those that exclude each other the last one stays."""

    def text(self, generator: random.Random) -> str: ...
    def output(self, generator: random.Random) -> Output: ...
    def edits(self, generator: random.Random, text: str, count: int) -> Sequence[SourceEdit]: ...
    def num_source_tokens(self, text: str, output: Output, edits: Sequence[SourceEdit]) -> int: ...
    def scaled(self, generator: random.Random) -> HeadScaled: ...
    def network_scaled(self, generator: random.Random) -> FeedForwardScaled: ...
    def tempered(self, generator: random.Random) -> SoftmaxTemperature: ...
    def row(self, generator: random.Random, num_source_tokens: int) -> AttentionRow: ...
    def forced(self, generator: random.Random, num_source_tokens: int) -> ForcedToken: ...


def random_experiment(generator: random.Random, values: Values) -> Experiment:
    """A random sentence and output, with interventions of all types."""
    text = values.text(generator)
    output = values.output(generator)
    count = generator.choice(values.counts)
    only_here = ["mask", "mask"] if isinstance(output, GivenTarget) else ["force", "force"]
    kinds = ["source", "head", "network", "temperature", "row", "row", *only_here]
    drawn = generator.choices(kinds, k=count)
    edits = values.edits(generator, text, drawn.count("source"))
    length = values.num_source_tokens(text, output, edits)
    interventions: list[Intervention] = [*edits]
    interventions += [values.scaled(generator) for _ in range(drawn.count("head"))]
    interventions += [values.network_scaled(generator) for _ in range(drawn.count("network"))]
    interventions += [values.tempered(generator) for _ in range(drawn.count("temperature"))]
    interventions += [CausalMaskLifted() for _ in range(drawn.count("mask"))]
    interventions += [values.row(generator, length) for _ in range(drawn.count("row"))]
    interventions += [values.forced(generator, length) for _ in range(drawn.count("force"))]
    return Experiment(
        text,
        output,
        tuple({site_of(intervention): intervention for intervention in interventions}.values()),
    )


class AnyValues:
    """Any values, whether or not a model could follow them.

    Args:
        tokens: those that are forced.
    """

    counts = (0, 1, 3, 12)

    def __init__(self, tokens: Sequence[str] = TOKENS) -> None:
        self._tokens = tokens

    def text(self, generator: random.Random) -> str:
        return generator.choice(TEXTS)

    def output(self, generator: random.Random) -> Output:
        penalty = generator.choice([0.0, 1.0, 1.5, generator.uniform(0, 10)])
        return generator.choice(
            [Greedy(), Beam(generator.randint(1, 100), penalty), GivenTarget(self.text(generator))]
        )

    def edits(self, generator: random.Random, text: str, count: int) -> Sequence[SourceEdit]:
        return [self._edit(generator) for _ in range(count)]

    def num_source_tokens(self, text: str, output: Output, edits: Sequence[SourceEdit]) -> int:
        return 9

    def scaled(self, generator: random.Random) -> HeadScaled:
        return HeadScaled(self._head(generator), self._factor(generator))

    def network_scaled(self, generator: random.Random) -> FeedForwardScaled:
        network = Network(generator.choice(SIDES), generator.randrange(4))
        return FeedForwardScaled(network, self._factor(generator))

    def tempered(self, generator: random.Random) -> SoftmaxTemperature:
        return SoftmaxTemperature(
            self._head(generator), generator.choice([0.01, 1, 2, 100, generator.uniform(0.01, 100)])
        )

    def row(self, generator: random.Random, num_source_tokens: int) -> AttentionRow:
        head, row = self._head(generator), generator.randrange(5)
        num_weights = row + 1 if head.kind == "decoder" else generator.randint(1, num_source_tokens)
        weights = [generator.choice([0, 1, generator.random() ** 9]) for _ in range(num_weights)]
        return AttentionRow(head, row, (*weights[:-1], weights[-1] + 0.1))

    def forced(self, generator: random.Random, num_source_tokens: int) -> ForcedToken:
        return ForcedToken(self._index(generator), generator.choice(self._tokens))

    def _edit(self, generator: random.Random) -> SourceEdit:
        if generator.random() < 0.5:
            return SourceWordRemoved(self._index(generator))
        return SourceWordReplaced(
            self._index(generator), generator.choice([text for text in TEXTS if text.strip()])
        )

    def _index(self, generator: random.Random) -> int:
        return generator.choice([0, 1, 2, 7, 100_000])

    def _factor(self, generator: random.Random) -> float:
        return generator.choice([0, -0.0, 0.5, -1, 1e-300, generator.uniform(-1000, 1000)])

    def _head(self, generator: random.Random) -> Head:
        return Head(
            generator.choice(ATTENTION_KINDS), generator.randrange(4), generator.randrange(9)
        )


class ValuesForModel:
    """Values that a model of `random_models` can follow; some rows and steps lie beyond the
    output's end.
    """

    counts = (0, 1, 2, 3, 4, 5, 6)

    def __init__(self, translator: Translator) -> None:
        self._translator = translator
        self._run = translator.checkpoint.run
        self._heads = all_heads(translator)

    def text(self, generator: random.Random) -> str:
        if self._run.is_copy_task:
            return " ".join(
                str(generator.randint(1, NUM_SYMBOLS)) for _ in range(generator.randint(2, 12))
            )
        length = generator.choice([1, 2, 3, 4, 6, 8, 10])
        return " ".join(_random_words(SOURCE_WORDS, length, generator))

    def output(self, generator: random.Random) -> Output:
        kind = generator.choice(["greedy", "greedy", "beam", "beam", "given"])
        if kind == "greedy":
            return Greedy()
        if kind == "beam":
            return generator.choice(BEAMS)
        if self._run.is_copy_task:
            return GivenTarget(
                " ".join(["1", *(str(generator.randint(1, NUM_SYMBOLS)) for _ in range(8))])
            )
        return GivenTarget(
            " ".join(_random_words(TARGET_WORDS, generator.randint(1, 5), generator))
        )

    def edits(self, generator: random.Random, text: str, count: int) -> Sequence[SourceEdit]:
        """Edits of different words that leave some of them, and room for the rest."""
        words = encode_source(text, self._translator.checkpoint.codecs.source, self._run).words
        places = generator.sample(range(len(words)), min(count, len(words)))
        edits: list[SourceEdit] = []
        num_left = len(words)
        for index in places:
            if generator.random() < 0.5 and num_left > 2:
                edits.append(SourceWordRemoved(index))
                num_left -= 1
            elif self._run.is_copy_task:
                edits.append(SourceWordReplaced(index, str(generator.randint(1, NUM_SYMBOLS))))
            else:
                replacement = " ".join(
                    _random_words(SOURCE_WORDS, generator.choice([1, 1, 1, 2]), generator)
                )
                edits.append(
                    SourceWordReplaced(index, "<unk>" if generator.random() < 0.2 else replacement)
                )
        return edits if self.num_source_tokens(text, Greedy(), edits) <= MAX_POSITIONS else []

    def num_source_tokens(self, text: str, output: Output, edits: Sequence[SourceEdit]) -> int:
        return len(edited_source_ids(self._translator, Experiment(text, output, tuple(edits))))

    def scaled(self, generator: random.Random) -> HeadScaled:
        return HeadScaled(
            generator.choice(self._heads), generator.choice([0.0, 0.0, 0.5, 2.0, -1.0])
        )

    def network_scaled(self, generator: random.Random) -> FeedForwardScaled:
        network = generator.choice(networks_of(self._translator.model.config))
        return FeedForwardScaled(network, generator.choice([0.0, 0.0, 0.5, 2.0, -1.0]))

    def tempered(self, generator: random.Random) -> SoftmaxTemperature:
        return SoftmaxTemperature(
            generator.choice(self._heads), generator.choice([0.25, 0.5, 2.0, 5.0])
        )

    def row(self, generator: random.Random, num_source_tokens: int) -> AttentionRow:
        head = generator.choice(self._heads)
        row = generator.randrange(num_source_tokens + (2 if head.kind == "encoder" else 4))
        num_keys = row + 1 if head.kind == "decoder" else num_source_tokens
        kind = generator.choice(["one key", "even", "any", "any"])
        if kind == "one key":
            return AttentionRow(
                head, row, tuple(float(key == row % num_keys) for key in range(num_keys))
            )
        if kind == "even":
            return AttentionRow(head, row, (1.0,) * num_keys)
        weights = [generator.choice([0.0, generator.random()]) for _ in range(num_keys)]
        return AttentionRow(head, row, (*weights[:-1], weights[-1] + 0.1))

    def forced(self, generator: random.Random, num_source_tokens: int) -> ForcedToken:
        vocabulary, rules = (
            self._translator.checkpoint.codecs.target.vocabulary,
            self._translator.rules,
        )
        token = generator.choice(
            [id_ for id_ in range(len(vocabulary)) if id_ not in rules.forbidden_ids]
        )
        if vocabulary.end_id is not None and generator.random() < 0.15:
            token = vocabulary.end_id
        return ForcedToken(generator.randrange(num_source_tokens + 4), vocabulary.tokens[token])


def _random_words(words: Sequence[str], count: int, generator: random.Random) -> list[str]:
    return [
        generator.choice(UNKNOWN_WORDS if generator.random() < 0.1 else words) for _ in range(count)
    ]
