"""Where the sentences of a sample come from. Runs in the worker's thread."""

from dataclasses import dataclass
from pathlib import Path

from augenmerk.core.analysis.alignment import read_gold
from augenmerk.core.config import RunConfig
from augenmerk.core.corpora.multi30k import cache_path
from augenmerk.core.corpora.parallel import read_lines, read_pair
from augenmerk.core.errors import CorpusError
from augenmerk.viz_app.analysis.heads.state import SampleChoice
from augenmerk.viz_app.analysis.sample_languages import check_languages
from augenmerk.viz_app.examples import example_sentences
from augenmerk.viz_app.state.languages import with_code


@dataclass(frozen=True)
class Sample:
    """Sentences, and their translations where there are any (else the model's own count)."""

    sources: tuple[str, ...]
    targets: tuple[str, ...] | None


def multi30k_files() -> tuple[Path, Path]:
    """Where the validation split lies if it was ever fetched."""
    folder = cache_path() / "multi30k"
    return folder / "val.de.gz", folder / "val.en.gz"


def check_sample(choice: SampleChoice, run: RunConfig, target_code: str | None = None) -> None:
    """Raises `AnalysisError` unless the sample is of the languages of the model, whose settings are `run`."""
    if choice.kind != "file":
        target = None if choice.kind == "examples" else "en"
        check_languages(run, "de", target, target_code, offers_file=True)


def read_sample(choice: SampleChoice, num_sentences: int, target_code: str | None = None) -> Sample:
    """The first so many sentences of a sample; each says into which language, if a code `>>xx<<` is given.

    Raises as `_read`.
    """
    sample = _read(choice, num_sentences)
    if target_code is None:
        return sample
    return Sample(tuple(with_code(source, target_code) for source in sample.sources), sample.targets)


def _read(choice: SampleChoice, num_sentences: int) -> Sample:
    """The sentences as they stand in the sample.

    A file of one's own has a sentence a line; after a tab its translation may stand, then in every line.

    Raises:
        CorpusError: a file cannot be read, or holds no sentence.
        AnalysisError: the shipped pairs cannot be read.
    """
    if choice.kind == "examples":
        return Sample(example_sentences()[:num_sentences], None)
    if choice.kind == "gold":
        pairs = read_gold()[:num_sentences]
        return Sample(tuple(pair.source_text for pair in pairs), tuple(pair.target_text for pair in pairs))
    if choice.kind == "multi30k":
        found = read_pair(*multi30k_files())
        return Sample(found.source[:num_sentences], found.target[:num_sentences])
    assert choice.path is not None
    lines = [line.strip() for line in read_lines(choice.path) if line.strip()][:num_sentences]
    if not lines:
        raise CorpusError(f"{choice.path} has only empty lines. Choose a file with one sentence per line.")
    parts = [line.split("\t") for line in lines]
    if all(len(part) == 1 for part in parts):
        return Sample(tuple(lines), None)
    if any(len(part) != 2 or not all(side.strip() for side in part) for part in parts):
        raise CorpusError(
            f"{choice.path} has a tab in some lines. Write only sentences, or a sentence, a tab and its translation in "
            "every line."
        )
    return Sample(tuple(part[0] for part in parts), tuple(part[1] for part in parts))
