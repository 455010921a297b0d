"""BLEU of models on the validation split of prepared data, greedy, without text or spaCy.

    python -m tools.validation_bleu DATA.safetensors MODEL.safetensors …
        [--together] [--beam N] [--device DEVICE]

The words of the references are those of their ids, so a word of unknown characters does not count.
Use `augenmerk evaluate` for figures to publish. With --together, all models translate as one
ensemble.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from augenmerk.core.checkpoint.file import Checkpoint, load_checkpoint
from augenmerk.core.device import choose_device
from augenmerk.core.extensions.training.corpora.prepared import PreparedCorpus, load_prepared
from augenmerk.core.extensions.training.evaluation import bleu_tokenized_lowercased, lowered_words
from augenmerk.core.translation.running import Hypothesis
from tools.diversify_prepared import translate


def validation_bleu(
    checkpoints: Sequence[Checkpoint], corpus: PreparedCorpus, beam: int, device: str
) -> float:
    """BLEU of these models together, from 0 to 100."""
    codec = corpus.codecs.target
    pairs = corpus.validation
    chosen = dict(translate(checkpoints, pairs.source, beam, device))

    def words(ids: Sequence[int]) -> tuple[str, ...]:
        return tuple(word.text for word in codec.decode(ids))

    hypotheses = [Hypothesis("", words(chosen[index])) for index in range(len(pairs))]
    return bleu_tokenized_lowercased(
        hypotheses, [lowered_words(words(ids)) for ids in pairs.target]
    )


def main(words: Sequence[str]) -> int:
    """Print one line per model, or one for all."""
    options = _options(words)
    corpus = load_prepared(options.data)
    device = choose_device(options.device).name
    for group in [options.models] if options.together else [[model] for model in options.models]:
        score = validation_bleu(
            [load_checkpoint(model) for model in group], corpus, options.beam, device
        )
        print(f"{' + '.join(map(str, group))}: {score:.2f}", flush=True)
    return 0


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("models", type=Path, nargs="+", metavar="MODEL")
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--device", default="auto")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
