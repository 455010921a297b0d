"""Add source word counts to a checkpoint of an earlier version. Its weights stay unchanged.

Roles of heads stored next to it (`MODEL.roles.json`) stay valid.

python -m tools.add_word_counts MODEL.safetensors [DATA [ORIGINAL]]

DATA is the model's training data: a folder with train.de, train.en …, or a file of prepared data. The default is
Multi30k from the user's cache, downloaded if necessary. If the vocabularies learned from DATA differ from those of the
model, nothing is written.

ORIGINAL is the folder from which `tools.diversify` made DATA. Counts and kind of text then come from ORIGINAL, since a
translation of a sentence is no further evidence for its words. All its pairs must be in DATA.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from augenmerk.core.analysis.roles import read_sample_roles, write_sample_roles
from augenmerk.core.checkpoint.file import Checkpoint, load_checkpoint, model_digest, save_checkpoint
from augenmerk.core.corpora.loading import MULTI30K, load_corpus
from augenmerk.core.corpora.parallel import read_folder
from augenmerk.core.corpora.prepared import PreparedCorpus
from augenmerk.core.errors import AugenmerkError, CheckpointError, CorpusError


def with_counts(checkpoint: Checkpoint, corpus: PreparedCorpus, original: PreparedCorpus | None = None) -> Checkpoint:
    """The checkpoint with the word counts of `original`, or of the corpus.

    Raises:
        CheckpointError: it was not trained on `corpus`, or there are no counts.
    """
    same_digest = checkpoint.corpus_digest in ("", corpus.digest)  # earlier versions stored none
    if not same_digest or corpus.codecs.to_dict() != checkpoint.codecs.to_dict():
        raise CheckpointError(
            "This model was trained on other data: vocabularies or sentences differ. Name the data of its training."
        )
    counted = original or corpus
    if counted.word_counts is None:
        raise CheckpointError(
            f"{counted.name} has no word counts: it is the copy task, has too many different words, or was prepared by "
            "an earlier version. In the last case, prepare it again."
        )
    return replace(checkpoint, word_counts=counted.word_counts)


def require_all_pairs(original: Path, data: Path | str, languages: tuple[str, str]) -> None:
    """Raise `CorpusError` unless both are folders and `data` contains each training pair of `original`."""
    ours, theirs = (read_folder(folder, *languages).train for folder in (original, data))
    missing = {*zip(ours.source, ours.target, strict=True)} - {*zip(theirs.source, theirs.target, strict=True)}
    if missing:
        raise CorpusError(
            f"{data} lacks {len(missing):,} training pairs of {original}. Name the folder from which tools.diversify "
            "made the data."
        )


def add_counts(path: Path, data: Path | str, original: Path | None = None) -> str:
    """Rewrite the file and return a description.

    Raises:
        AugenmerkError: the file or the data cannot be used, or do not belong together. The file is unchanged.
    """
    before = load_checkpoint(path, with_state=True)
    types = {value.dtype for value in before.weights.values()}
    if types not in ({torch.float16}, {torch.float32}):
        raise CheckpointError(
            f"{path} mixes weights of the types {types}. Use a model with all weights in 16 or all in 32 bits."
        )
    roles = read_sample_roles(path)
    if original is not None:
        require_all_pairs(original, data, (before.run.data.source_language, before.run.data.target_language))
    counted = with_counts(
        before, load_corpus(data, before.run), None if original is None else load_corpus(original, before.run)
    )
    assert counted.word_counts is not None
    save_checkpoint(counted, path, half_precision=types == {torch.float16})
    after = load_checkpoint(path, with_state=True)
    assert model_digest(after) == model_digest(before), "weights and vocabularies are the same to the last bit"
    if roles is not None:  # measured on these weights, but bound to the old bytes of the file
        write_sample_roles(roles, path)
    num_words, num_bytes = len(counted.word_counts.counts), len(counted.word_counts.pack())
    return f"{path}: {num_words:,} words in {num_bytes:,} bytes; weights and vocabularies {model_digest(after)}"


def main(words: Sequence[str]) -> int:
    """Print the result. The exit status is 2 for an error."""
    if not 1 <= len(words) <= 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        data = words[1] if len(words) > 1 else MULTI30K
        print(add_counts(Path(words[0]), data, Path(words[2]) if len(words) > 2 else None))
    except AugenmerkError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
