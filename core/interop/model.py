"""What an import is told, what it tells of a model before reading its weights, and what it gives."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from core.checkpoint.file import Checkpoint, save_checkpoint
from core.interop.target import check_target
from core.interop.weights import check_finite
from core.text.languages import UNDETERMINED

_STARTING_SECONDS, _PICKLED_SECONDS, _BYTES_PER_SECOND = 1.0, 3.0, 150e6
"""Measured on one core, with 300 MB and 944 MB read and as much written."""


@dataclass(frozen=True)
class ImportOptions:
    """What the files of a model may not say.

    Attributes:
        name: what the model is called; None for the name of its folder or file.
        revision: of the repository it was fetched from.
        source_language, target_language: codes or English names; None for what the files say.
        data: a folder with Multi30k, from which vocabularies that are not among the files are rebuilt.
        num_heads: of models whose files do not say it; None for that of the published system.
        half_precision: whether weights are to be stored as 16-bit floats though the files have larger ones; weights
            that these cannot hold are refused.
    """

    name: str | None = None
    revision: str = ""
    source_language: str | None = None
    target_language: str | None = None
    data: Path | None = None
    num_heads: int | None = None
    half_precision: bool = False


@dataclass(frozen=True)
class ImportSummary:
    """What can be said of a model before its weights are read.

    Attributes:
        name: for people.
        format: in words, such as “Marian, by Hugging Face transformers”.
        languages: codes of source and target.
        target_codes: tokens that a source may begin with to say into which language to translate.
        num_parameters: shared ones counted once; None if only the weights tell.
        memory_bytes: what importing and then opening it takes.
        disk_bytes: about the size of the file that it becomes.
        seconds: about what importing it takes on a machine that does nothing else; more from a slow disk.
        notes: what of its settings is not applied here.
    """

    name: str
    format: str
    languages: tuple[str, str]
    target_codes: tuple[str, ...]
    num_parameters: int | None
    memory_bytes: int
    disk_bytes: int
    seconds: float
    notes: tuple[str, ...] = ()

    @property
    def misses_languages(self) -> bool:
        """Whether one of them is unknown, so that somebody should say it."""
        return UNDETERMINED in self.languages


def expected_seconds(read_bytes: int, written_bytes: int, *, is_pickled: bool) -> float:
    """What an import takes that reads and writes so many bytes; a pickle is read by a process of its own."""
    return _STARTING_SECONDS + (read_bytes + written_bytes) / _BYTES_PER_SECOND + _PICKLED_SECONDS * is_pickled


@dataclass(frozen=True, eq=False)
class ImportedModel:
    """A model as it is stored here.

    Attributes:
        checkpoint: weights, settings, codecs, origin.
        half_precision: whether its weights were of 16 bits, so that they can be stored so without loss, or are to be
            stored so.
        summary: what is told of it.
        sources: the files and folders that it was read from, which are not written over.
    """

    checkpoint: Checkpoint
    half_precision: bool
    summary: ImportSummary
    sources: tuple[Path, ...] = ()

    def save(self, path: Path | str, *, half_precision: bool | None = None) -> None:
        """Writes the file that Augenmerk opens, atomically.

        Args:
            path: of the file.
            half_precision: weights as 16-bit floats; None where nothing is lost by it, or the options asked for it.

        Raises:
            ModelImportError: 16-bit floats cannot hold a weight.
            StorageError: it cannot be written, or is a file that the model was read from; an older one stays as it
                was.
        """
        check_target(Path(path), self.sources)
        half = self.half_precision if half_precision is None else half_precision
        if half and not self.half_precision:
            check_finite(self.summary.name, self.checkpoint.weights, half_precision=True)
        save_checkpoint(self.checkpoint, Path(path), half_precision=half)


class ForeignModel(Protocol):
    """A model of another project whose files were recognized, and read but for its weights."""

    @property
    def summary(self) -> ImportSummary:
        """What is known of it."""
        ...

    def read(
        self,
        on_phase: Callable[[str], None] = lambda text: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> ImportedModel:
        """Reads the weights.

        Raises:
            ModelImportError: they do not fit the rest, or are damaged.
            ImportStoppedError: `should_stop` said so.
        """
        ...
