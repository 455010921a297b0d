"""What only commands around training write."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ....cli.outputs import FileKind, OutputFile, check_not_read


def _described_as(format_name: str) -> Callable[[Path, bytes], bool]:
    def recognizes(path: Path, start: bytes) -> bool:
        from ....tensor_file import open_tensor_file

        try:
            with open_tensor_file(path, "numpy") as file:
                description = file.description.value if file.description is not None else None
        except (OSError, ValueError):
            return False
        return isinstance(description, dict) and description.get("format") == format_name

    return recognizes


CHECKPOINT = FileKind("a checkpoint of Augenmerk", _described_as("augenmerk-checkpoint"))
PREPARED = FileKind("prepared data", _described_as("augenmerk-prepared-data"))


class OutputFolder(OutputFile):
    """The type of an option that names a folder, in which files of these names are written."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self._names = names

    def check(self, target: Path, inputs: Iterable[Path]) -> None:
        """See `OutputFile.check`."""
        inputs = list(inputs)
        for name in self._names:
            check_not_read(target / name, inputs)
