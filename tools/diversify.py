"""Create more training pairs by translating each side with models trained on the same pairs.

    python -m tools.diversify DATA --out FOLDER [--forward MODEL …] [--backward MODEL …]

Data diversification (Nguyen et al. 2020, arXiv:1911.01986). DATA is a folder with train.de,
train.en and val.*, or other languages. FOLDER gets train.* with the pairs of DATA, then for each
forward model every source with its translation, and for each backward model every target with its
translation; duplicates are dropped. val.* is copied. Finished translations stay in FOLDER, so that
an interrupted call can resume.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from augenmerk.core.checkpoint.file import model_digest
from augenmerk.core.errors import AugenmerkError, CorpusError
from augenmerk.core.extensions.training.corpora.parallel import (
    SentencePairs,
    read_folder,
    read_lines,
)
from augenmerk.core.storage import write_text
from augenmerk.core.translation.translator import Translator

CHUNK = 1_000
"""Number of sentences translated and saved at once."""


def diversify(original: SentencePairs, translated: Iterable[SentencePairs]) -> SentencePairs:
    """The pairs of `original`, then the new ones of `translated` without empty sides."""
    pairs = dict.fromkeys(zip(original.source, original.target, strict=True))
    for more in translated:
        pairs |= dict.fromkeys(
            pair for pair in zip(more.source, more.target, strict=True) if all(pair)
        )
    return SentencePairs(tuple(source for source, _ in pairs), tuple(target for _, target in pairs))


def translate_lines(
    lines: Sequence[str], model: Path, languages: tuple[str, str], beam: int, out: Path
) -> list[str]:
    """The translation of each line, on one line; "" for an empty one.

    Args:
        lines: sentences.
        model: the checkpoint to translate with.
        languages: source and target language, which the model must have.
        beam: width of the beam.
        out: the folder of the text file with the first translations, which is extended. Its name
            contains the digest of the model: models of different runs have the same file name.

    Raises:
        CorpusError: the model translates between other languages, or the file has too many lines.
        AugenmerkError: a file cannot be read or written.
    """
    translator = Translator.load(model, "cpu")
    path = out / f"by-{model.stem}-{model_digest(translator.checkpoint)[:8]}.txt"
    done = read_lines(path) if path.exists() else []
    if len(done) > len(lines):
        raise CorpusError(
            f"{path} has {len(done):,} translations, but there are only {len(lines):,} "
            "sentences. Delete it, or choose another folder."
        )
    data = translator.run_config.data
    if (data.source_language, data.target_language) != languages:
        raise CorpusError(
            f"{model} translates {data.source_language} into {data.target_language}. Choose a "
            f"model that translates {languages[0]} into {languages[1]}."
        )
    while len(done) < len(lines):
        chunk = translator.translate_corpus(lines[len(done) : len(done) + CHUNK], beam=beam)
        done += [" ".join(hypothesis.text.split()) for hypothesis in chunk]
        write_text(path, "\n".join(done) + "\n")
        print(f"{model}: {len(done):,} of {len(lines):,}", file=sys.stderr, flush=True)
    return done


def write_folder(
    folder: Path, languages: tuple[str, str], train: SentencePairs, validation: SentencePairs
) -> None:
    """Write train.* and val.* of a corpus folder. Raises `StorageError`."""
    for split, pairs in (("train", train), ("val", validation)):
        for language, lines in zip(languages, (pairs.source, pairs.target), strict=True):
            write_text(folder / f"{split}.{language}", "\n".join(lines) + "\n")


def main(words: Sequence[str]) -> int:
    """Print the number of pairs. The exit status is 2 if a file cannot be used."""
    options = _options(words)
    source, target = options.languages
    try:
        data = read_folder(options.data, source, target)
        parts = []
        for model in options.forward:
            translations = translate_lines(
                data.train.source, model, (source, target), options.beam, options.out
            )
            parts.append(SentencePairs(data.train.source, tuple(translations)))
        for model in options.backward:
            translations = translate_lines(
                data.train.target, model, (target, source), options.beam, options.out
            )
            parts.append(SentencePairs(tuple(translations), data.train.target))
        train = diversify(data.train, parts)
        write_folder(options.out, options.languages, train, data.validation)
    except AugenmerkError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{options.out}: {len(train):,} pairs, {len(data.train):,} of them from {options.data}")
    return 0


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--forward", type=Path, nargs="*", default=[], metavar="MODEL")
    parser.add_argument("--backward", type=Path, nargs="*", default=[], metavar="MODEL")
    parser.add_argument("--languages", nargs=2, default=("de", "en"), metavar=("SOURCE", "TARGET"))
    parser.add_argument("--beam", type=int, default=4)
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
