"""The declarations of readers of models of other projects.

No torch: the code behind them is imported when it reads.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pkgutil import resolve_name
from typing import Any

from ...errors import AugenmerkError, ModelImportError, ReaderFaultError
from ...memory import is_out_of_memory
from ...registry import Registry


@dataclass(frozen=True, eq=False, kw_only=True)
class Reader:
    """Reads the models of one project: a `FolderReader` or a `FileReader`.

    Attributes:
        name: of the project or format, for people.
        code: the full name of the function that reads, as “module:function”.
        order: readers are asked from small to large.
    """

    name: str
    code: str
    order: int

    def load(self) -> Any:
        """Imports the function. Raises `ModelImportError` if that fails."""
        try:
            return resolve_name(self.code)
        except Exception as error:  # whatever an extension does
            raise ModelImportError(
                f"The reader of {self.name} cannot be used ({error}). Update or remove the "
                "package that provides it."
            ) from error

    @contextmanager
    def running(self) -> Iterator[None]:
        """A context for its code: all errors become `ModelImportError`, but for a lack of memory.

        One that is not for users becomes a `ReaderFaultError`.
        """
        try:
            yield
        except ModelImportError:
            raise
        except AugenmerkError as error:
            raise ModelImportError(error.template, **error.values) from error
        except Exception as error:  # whatever an extension does
            if is_out_of_memory(error):
                raise
            package = READERS.package_of(self)
            raise ReaderFaultError(
                f"The reader of {self.name} failed ({type(error).__name__}: {error}). This is a "
                "fault of the extension, not of the model. Update the "
                f"{f'package {package}' if package else 'package that provides it'}, or report "
                "the fault to its authors."
            ) from error


@dataclass(frozen=True, eq=False, kw_only=True)
class FolderReader(Reader):
    """Reads folders.

    Its function gets a `ModelFolder` and `ImportOptions`: a subclass of `FolderModel`.

    Attributes:
        settings_file: the name of a file that every such folder has. Other files next to it are
            parts of the model.
        weights: patterns of the names of files with its weights, separated by spaces.
        settings: if several projects use this name, what tells its folders from theirs: for a name
            in that JSON file, the values that it may have, None if it may be missing.
    """

    settings_file: str
    weights: str
    settings: Mapping[str, Sequence[object]] = field(default_factory=dict)

    def has_weights_in(self, name: str) -> bool:
        """Whether a file of this name may hold its weights."""
        return any(fnmatchcase(name, pattern) for pattern in self.weights.split())


@dataclass(frozen=True, eq=False, kw_only=True)
class FileReader(Reader):
    """Reads single files. Its function gets a path, the weights in the file, and `ImportOptions`.

    It returns an `ImportedModel`. Files are of PyTorch or safetensors.

    Attributes:
        weight: the name of a weight that every such file has, and no file of another project.
        files: patterns of the names of such files, separated by spaces, for dialogs that open
            files.
    """

    weight: str
    files: str = "*.safetensors *.pt *.pth *model*.bin *.ckpt"


READERS: Registry[Reader] = Registry("augenmerk.readers", Reader, "reader of models")
"""The readers of models of other projects. All are extensions."""


def folder_readers() -> list[FolderReader]:
    """Those of folders, in their order."""
    return [reader for reader in READERS.values() if isinstance(reader, FolderReader)]


def file_readers() -> list[FileReader]:
    """Those of single files, in their order."""
    return [reader for reader in READERS.values() if isinstance(reader, FileReader)]


def choose_one() -> str:
    """The advice to choose something that can be imported."""
    return f"Choose {importable()}."


def importable() -> str:
    """All that can be imported, such as “the folder of a Marian or JoeyNMT model, or a file of
    notebook 6”.
    """
    kinds: dict[str, Sequence[Reader]] = {
        "the folder of a {} model": folder_readers(),
        "a file of {}": file_readers(),
    }
    return ", or ".join(
        text.format(_listed([reader.name for reader in readers]))
        for text, readers in kinds.items()
        if readers
    )


def patterns_of_files() -> list[str]:
    """Patterns of the names of files whose opening imports a model, each once."""
    files = (pattern for reader in file_readers() for pattern in reader.files.split())
    return list(dict.fromkeys([*files, *(reader.settings_file for reader in folder_readers())]))


def _listed(names: Sequence[str]) -> str:
    """“A, B or C”."""
    return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
