"""An import: its options, the summary before weights are read, the imported model, and where it may
be written.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from torch import Tensor

from ...arguments import CheckedFields
from ...checkpoint.file import Checkpoint, ModelOrigin, first_of, save_checkpoint, shape_problems
from ...config import DataConfig, DecodingConfig, ModelConfig, RunConfig, TrainingConfig
from ...errors import ImportStoppedError, ModelImportError, StorageError
from ...plain_text import name_of
from ...short_repr import ShortRepr
from ...storage import check_writable, is_same_file
from ...tensor_file import open_foreign_tensors
from ...text.codec import CodecPair
from ...text.languages import UNDETERMINED, language_code
from ...text.word_counts import WordCounts
from .folder import ModelFolder
from .pickled import is_pytorch_file
from .reader import FolderReader, folder_readers
from .weights import (
    are_half_precision,
    check_finite,
    check_memory,
    holds_half_precision,
    read_values,
    too_large_for_half,
    weights_among,
)

_STARTING_SECONDS, _PICKLED_SECONDS, _BYTES_PER_SECOND = 1.0, 3.0, 150e6
"""Measured on one core, with 300 MB and 944 MB read and as much written."""
OnPhase = Callable[[str], None]
ShouldStop = Callable[[], bool]
HALF_ABOVE_BYTES = 100_000_000
"""By default, weights that take more than this in 32 bits are stored in 16."""


@dataclass(frozen=True)
class ImportOptions(CheckedFields):
    """Facts that the files of a model may lack.

    Attributes:
        name: of the model; None for the name of its folder or file.
        revision: of the repository it was fetched from.
        source_language: code or English name; None for the one in the files.
        target_language: likewise.
        data: a folder with Multi30k, from which vocabularies that are not among the files are
            rebuilt.
        num_heads: for models whose files lack it, which are refused without it.
        half_precision: True stores weights as 16-bit floats and refuses weights outside their
            range; False stores 32-bit floats. None means 16 bits if the files have them, or if 32
            bits would take more than `HALF_ABOVE_BYTES` and the weights fit into 16.
    """

    name: str | None = None
    revision: str = ""
    source_language: str | None = None
    target_language: str | None = None
    data: Path | None = None
    num_heads: int | None = None
    half_precision: bool | None = None


@dataclass(frozen=True)
class ImportSummary(ShortRepr):
    """Facts about a model that are known before its weights are read.

    Attributes:
        name: for people.
        format: in words, such as “Marian, by Hugging Face transformers”.
        languages: codes of source and target.
        target_codes: tokens that select the target language at the start of a source.
        num_parameters: shared ones counted once.
        memory_bytes: memory for importing and then opening it.
        read_bytes: size of the files with its weights.
        is_pickled: whether a separate process reads them.
        has_half_precision: whether its files have 16-bit floats; None for pickles that were not
            read.
        half_precision: whether its weights are stored as 16-bit floats here; None if their files
            decide it, and only reading them tells.
        notes: sentences on settings that are ignored here.
        precision_note: the reason for 32 bits where 16 are usual; else empty.
        other_bytes: size of what the imported file has besides weights: vocabularies and the like.
    """

    name: str
    format: str
    languages: tuple[str, str]
    target_codes: tuple[str, ...]
    num_parameters: int
    memory_bytes: int
    read_bytes: int
    is_pickled: bool
    has_half_precision: bool | None
    half_precision: bool | None
    notes: tuple[str, ...] = ()
    precision_note: str = ""
    other_bytes: int = 0

    @property
    def bits(self) -> int:
        """Bits per weight in the imported file; 32 if that is not known."""
        return 16 if self.half_precision else 32

    @property
    def disk_bytes(self) -> int:
        """The approximate size of the imported file."""
        return self.disk_bytes_in(half_precision=bool(self.half_precision))

    @property
    def seconds(self) -> float:
        """The approximate duration of the import on an idle machine; slow disks need longer."""
        copying = (self.read_bytes + self.disk_bytes) / _BYTES_PER_SECOND
        # a separate process reads pickles
        return _STARTING_SECONDS + copying + _PICKLED_SECONDS * self.is_pickled

    def disk_bytes_in(self, *, half_precision: bool) -> int:
        """The approximate size of the file in 16 or 32 bits."""
        return self.num_parameters * (2 if half_precision else 4) + self.other_bytes

    def stored_as(self, choice: bool | None) -> "ImportSummary":
        """The summary if `ImportOptions.half_precision` is `choice`."""
        is_large = 4 * self.num_parameters > HALF_ABOVE_BYTES
        return replace(
            self,
            half_precision=choice if choice is not None else is_large or self.has_half_precision,
        )

    @property
    def misses_languages(self) -> bool:
        """Whether one of them is unknown, so that the user should name it."""
        return UNDETERMINED in self.languages


def bytes_besides_weights(codecs: CodecPair, word_counts: WordCounts | None = None) -> int:
    """The approximate size of these in the header of a checkpoint, a JSON text within another."""
    described = json.dumps(json.dumps(codecs.to_dict(), ensure_ascii=False), ensure_ascii=False)
    return len(described.encode("utf-8", "surrogatepass")) + (
        len(word_counts.pack()) if word_counts is not None else 0
    )


def with_weights_read(
    summary: ImportSummary, choice: bool | None, weights: Mapping[str, Tensor]
) -> ImportSummary:
    """`summary` with facts from the weights: whether they have 16 bits, and whether they fit into
    16.

    Args:
        summary: from before they were read.
        choice: `ImportOptions.half_precision`.
        weights: as in the files.
    """
    known = replace(summary, has_half_precision=are_half_precision(weights)).stored_as(choice)
    large = (
        too_large_for_half(weights)
        if choice is None and (summary.half_precision or known.half_precision)
        else None
    )
    if large is None:
        return known
    return replace(
        known,
        half_precision=False,
        precision_note=f"stored in 32 bits, as {large}, which 16-bit floats cannot hold",
    )


@dataclass(frozen=True, eq=False)
class ImportedModel(ShortRepr):
    """A model in the form of its file.

    Attributes:
        checkpoint: weights, settings, codecs, origin.
        summary: facts about it.
        sources: the files and folders that it was read from, which are not written over.

    Raises:
        ModelImportError: the weights have other names or shapes than the settings ask for.
    """

    checkpoint: Checkpoint
    summary: ImportSummary
    sources: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        shapes = {name: tuple(value.shape) for name, value in self.checkpoint.weights.items()}
        model, codecs = self.checkpoint.run.model, self.checkpoint.codecs
        if problems := shape_problems(model, codecs, shapes):
            raise ModelImportError(
                f"The reader of “{self.summary.format}” returned weights that do not fit the "
                f"model's settings: {first_of(problems)}. Update the extension that has this "
                "reader, or use another copy of the model."
            )

    @property
    def half_precision(self) -> bool:
        """Whether its weights are stored as 16-bit floats."""
        return bool(self.summary.half_precision)

    def save(self, path: Path | str, *, half_precision: bool | None = None) -> None:
        """Writes the file that Augenmerk opens, atomically.

        Args:
            path: of the file.
            half_precision: weights as 16-bit floats; None for the choice in the options.

        Raises:
            ModelImportError: a weight is not finite, or 16-bit floats cannot hold it.
            StorageError: it cannot be written, or the model was read from it; an older file stays
                intact.
        """
        check_target(Path(path), self.sources)
        half = self.half_precision if half_precision is None else half_precision
        check_finite(self.summary.name, self.checkpoint.weights, half_precision=half)
        save_checkpoint(self.checkpoint, Path(path), half_precision=half)


class FolderModel:
    """A model in a folder, with configuration and vocabularies read.

    Attributes:
        kind: of its origin.
        format: in words, for people.
        codecs: of its two languages.
        data: the settings of its text; those of imported codecs, unless a subclass sets its own.
        decoding: the model's own decoding settings.
        notes: sentences on settings that are ignored here.
        files: with the weights.
        num_parameters: shared ones counted once.
        reader: its declaration, set when the model is recognized.

    Args:
        folder: with its files.
        options: of the import.
    """

    kind: ClassVar[str]
    format: ClassVar[str]
    codecs: CodecPair
    decoding: DecodingConfig = DecodingConfig()
    notes: tuple[str, ...] = ()
    files: Sequence[Path]
    num_parameters: int
    reader: FolderReader

    def __init__(self, folder: ModelFolder, options: ImportOptions) -> None:
        self.folder, self.options = folder, options

    def convert(self, weights: Mapping[str, Tensor]) -> tuple[ModelConfig, dict[str, Tensor]]:
        """The configuration, with what only weights show, and the weights by the names used
        here.
        """
        raise NotImplementedError

    @cached_property
    def data(self) -> DataConfig:
        """See the attributes."""
        return DataConfig(
            tokenization="imported",
            source_language=self.codecs.source.language,
            target_language=self.codecs.target.language,
            source_case="keep",
            target_case="keep",
            wrap_source=False,
            end_source=True,
        )

    @property
    def path(self) -> Path:
        """The file with the weights, or the folder of several, for messages."""
        return self.files[0] if len(self.files) == 1 else self.folder.path

    @cached_property
    def summary(self) -> ImportSummary:
        """The facts known before weights are read."""
        file_bytes = sum(path.stat().st_size for path in self.files)
        is_pickled = any(map(is_pytorch_file, self.files))
        return ImportSummary(
            name=self.options.name or name_of(self.folder.path.resolve()),
            format=self.format,
            languages=(self.codecs.source.language, self.codecs.target.language),
            target_codes=self.codecs.source.target_codes,
            num_parameters=self.num_parameters,
            memory_bytes=4 * self.num_parameters + 2 * file_bytes,
            read_bytes=file_bytes,
            is_pickled=is_pickled,
            has_half_precision=None if is_pickled else all(map(holds_half_precision, self.files)),
            half_precision=None,
            notes=self.notes,
            other_bytes=bytes_besides_weights(self.codecs),
        ).stored_as(self.options.half_precision)

    def read(
        self, on_phase: OnPhase = lambda text: None, should_stop: ShouldStop = lambda: False
    ) -> ImportedModel:
        """Reads the weights.

        Raises:
            ModelImportError: they do not fit the rest, or are damaged.
            ImportStoppedError: `should_stop` returned True.
        """
        check_memory(self.folder.path, self.summary.memory_bytes)
        values: dict[str, Tensor | None] = {}
        for path in self.files:
            on_phase(f"Reading {path.name}")
            if should_stop():
                raise ImportStoppedError
            values |= read_values(path, should_stop)
        weights = weights_among(self.path, values)
        check_finite(self.path, weights, half_precision=self.options.half_precision is True)
        on_phase("Converting the weights")
        summary = with_weights_read(self.summary, self.options.half_precision, weights)
        with self.reader.running():
            return self._converted(weights, summary)

    def _converted(self, weights: Mapping[str, Tensor], summary: ImportSummary) -> ImportedModel:
        model, converted = self.convert(weights)
        summary = replace(
            summary, num_parameters=sum(value.numel() for value in converted.values())
        )
        description = f"{summary.name}: imported from {self.format}."
        checkpoint = Checkpoint(
            run=RunConfig(self.kind, description, model, self.data, TrainingConfig()),
            codecs=self.codecs,
            weights=converted,
            decoding=self.decoding,
            origin=ModelOrigin(
                self.kind, summary.name, self.options.revision, self.folder.licence()
            ),
        )
        return ImportedModel(checkpoint, summary)


def imported_from_file(
    path: Path,
    weights: Mapping[str, Tensor],
    options: ImportOptions,
    format_name: str,
    checkpoint: Checkpoint,
) -> ImportedModel:
    """The model of a single file.

    Args:
        path: the file.
        weights: by their names in it.
        options: of the import.
        format_name: in words, for people.
        checkpoint: the model, with the weights by the names used here.
    """
    num_parameters = sum(value.numel() for value in checkpoint.weights.values())
    summary = ImportSummary(
        name=options.name or name_of(path),
        format=format_name,
        languages=checkpoint.run.data.languages,
        target_codes=checkpoint.codecs.source.target_codes,
        num_parameters=num_parameters,
        memory_bytes=8 * num_parameters,
        read_bytes=path.stat().st_size,
        is_pickled=is_pytorch_file(path),
        has_half_precision=False,
        half_precision=False,
        other_bytes=bytes_besides_weights(checkpoint.codecs, checkpoint.word_counts),
    )
    return ImportedModel(checkpoint, with_weights_read(summary, options.half_precision, weights))


_LANGUAGE = re.compile(r"[A-Za-z]+([-_][A-Za-z0-9]+)*")


def given_language(side: str, text: str | None) -> str | None:
    """The code of a language that the user named. Raises `ModelImportError` for other text."""
    if text is None:
        return None
    code = language_code(text)
    if code is None:
        raise ModelImportError(
            f"The {side} language is {text!r}. Use a code such as de or deu, or an English name "
            "such as German."
        )
    return code


def languages_of(options: ImportOptions, *found: tuple[object, object]) -> tuple[str, str]:
    """The codes of source and target: those of `options`, else the first in `found` that look like
    codes.

    A language that nothing names is `UNDETERMINED`. Raises `ModelImportError` if the options name
    none.
    """
    given = (
        given_language("source", options.source_language),
        given_language("target", options.target_language),
    )
    source, target = (
        next(filter(_is_code, side), UNDETERMINED) for side in zip(given, *found, strict=True)
    )
    return str(source), str(target)


def _is_code(text: object) -> bool:
    return isinstance(text, str) and len(text) <= 40 and _LANGUAGE.fullmatch(text) is not None


def check_target(target: Path, sources: Iterable[str | Path | None]) -> None:
    """Check that an import could write `target` now without losing a file that it reads.

    Args:
        target: the file to write.
        sources: files and folders that are read: the model, a folder with a corpus. Names at
            Hugging Face and None are ignored.

    Raises:
        StorageError: it cannot be written; it is one of the sources or a file in one, under any
            name; or an import would look for a folder's weights in it.
    """
    check_writable(target)
    real = Path(os.path.realpath(target))
    for source in sources:
        path = Path(source).expanduser() if source is not None else None
        if path is None or not path.exists():
            continue
        if path.is_dir():
            _check_folder(target, real, path)
        elif is_same_file(target, path):
            raise StorageError(
                f"Cannot write {target}: it is the model itself that is imported ({path}). "
                "Choose another name."
            )


def _check_folder(target: Path, real: Path, folder: Path) -> None:
    root = Path(os.path.realpath(folder))
    if target.exists():
        linked = next((entry for entry in _entries(root) if is_same_file(target, entry)), None)
        if (linked is not None or real.is_relative_to(root)) and not _is_own(target):
            file = folder / (linked.name if linked is not None else real.relative_to(root))
            raise StorageError(
                f"Cannot write {target}: it is {file}, one of the files that are imported. "
                "Choose another name."
            )
    elif _may_be_read(real.name) and is_same_file(real.parent, root):
        raise StorageError(
            f"Cannot write {target}: the weights of the model in {folder} would be looked for in "
            "it. Choose another name or folder."
        )


def _may_be_read(name: str) -> bool:
    """Whether a reader looks for weights in a file of this name."""
    return any(reader.has_weights_in(name) for reader in folder_readers())


def _entries(folder: Path) -> list[Path]:
    """The entries of a folder; none if it cannot be read, which the import itself reports."""
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _is_own(path: Path) -> bool:
    """Whether Augenmerk wrote the file, such as an earlier import into the model's own folder."""
    try:
        with open_foreign_tensors(path, "numpy") as file:
            return "augenmerk" in (file.metadata() or {})
    except (OSError, ValueError):
        return False
