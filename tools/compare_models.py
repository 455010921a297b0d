"""Compare BLEU of models on a split as in the corpus and with typing variants, with a paired
bootstrap.

    python -m tools.compare_models MODEL.safetensors [MODEL.safetensors …]
        [--source val.de.gz --reference val.en.gz]

Every model is compared with the first. The score is that of the reproduced systems (`augenmerk
evaluate`: spaCy tokens, lower-cased), greedy unless --beam is set. The default files are the
validation split in the user's cache.
"""

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from augenmerk.core.extensions.training.corpora.multi30k import cache_path
from augenmerk.core.extensions.training.corpora.parallel import read_pair
from augenmerk.core.extensions.training.distortions import DISTORTIONS, Distortion, distort
from augenmerk.core.extensions.training.evaluation import (
    Statistics,
    bleu_of,
    bleu_statistics,
    bootstrap_bleu,
    interval_95,
    lowered_words,
    reference_words,
)
from augenmerk.core.translation.translator import Translator

UNCHANGED = "as in the corpus"
SEED = 12345


def main(words: Sequence[str]) -> int:
    """Print a Markdown table. The exit status is 0."""
    options = _options(words)
    pairs = read_pair(options.source, options.reference)
    sources = typed_sources(pairs.source[: options.sentences])
    references = pairs.target[: options.sentences]
    print("| typed | " + " | ".join(model.name for model in options.models) + " |")
    print("|---" * (len(options.models) + 1) + "|", flush=True)
    translators = [Translator.load(model, "cpu") for model in options.models]
    plain: list[float] = []
    for kind, lines in sources:
        counted = [
            statistics_of(translator, lines, references, options.beam) for translator in translators
        ]
        scores = [float(bleu_of(statistics.sum(axis=0))) for statistics in counted]
        plain = plain or scores
        print(f"| {kind} | " + " | ".join(_cells(counted, scores, plain)) + " |", flush=True)
    return 0


def typed_sources(lines: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The lines unchanged, then with each typing variant; errors are the same each time."""
    typed = [(UNCHANGED, list(lines))]
    for kind in DISTORTIONS:
        rng = random.Random(f"{SEED}-{kind}")
        typed.append((kind, [distort_line(line, kind, rng) or line for line in lines]))
    return typed


def distort_line(line: str, kind: Distortion, rng: random.Random) -> str:
    """`distort` for a line of text, split at spaces."""
    return " ".join(filter(None, distort(line.split(), kind, rng)))


def statistics_of(
    translator: Translator, lines: Sequence[str], references: Sequence[str], beam: int
) -> Statistics:
    """The counts of each translation that BLEU needs."""
    hypotheses = translator.translate_corpus(lines, beam=beam)
    expected = reference_words(references, translator.run_config.data.target_language)
    return bleu_statistics([lowered_words(hypothesis.words) for hypothesis in hypotheses], expected)


def _cells(
    counted: Sequence[Statistics], scores: Sequence[float], plain: Sequence[float]
) -> Iterator[str]:
    """BLEU, the cost of the typing variant, and the difference from the first model with its
    interval and p.
    """
    for number, (statistics, score, usual) in enumerate(zip(counted, scores, plain, strict=True)):
        text = f"{score:.2f}" if score == usual else f"{score:.2f} ({score - usual:+.2f})"
        if number:
            differences = bootstrap_bleu(statistics) - bootstrap_bleu(counted[0])
            low, high = interval_95(differences)
            p_value = float((differences <= 0).mean())
            text += f"; {score - scores[0]:+.2f} [{low:+.2f}, {high:+.2f}], p {p_value:.3f}"
        yield text


def _options(words: Sequence[str]) -> argparse.Namespace:
    folder = cache_path() / "multi30k"
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", type=Path, nargs="+", metavar="MODEL")
    parser.add_argument("--source", type=Path, default=folder / "val.de.gz")
    parser.add_argument("--reference", type=Path, default=folder / "val.en.gz")
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--sentences", type=int, metavar="N", help="use only the first N")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
