"""Paths of shipped files, in the `resources/` of a checkout or inside the installed wheel."""

from functools import cache
from pathlib import Path

from .storage import is_same_file

BUNDLED_MODEL = "multi30k-de-en.safetensors"


def resource_path(name: str) -> Path:
    """The path of a shipped file. It may not exist; the caller reports a missing file."""
    return _folder(__file__) / name


@cache
def _folder(module: str) -> Path:
    package = Path(module).resolve().parent
    installed = package / "_resources"
    return installed if installed.is_dir() else package.parent / "resources"


def bundled_model_path() -> Path:
    """The path of the bundled model, the default checkpoint."""
    return resource_path(BUNDLED_MODEL)


def is_bundled_model(path: Path | str | None) -> bool:
    """Whether this is the bundled model: None, or any path to its file."""
    return path is None or is_same_file(Path(path), bundled_model_path())


def example_sentences() -> tuple[str, ...]:
    """The sentences of `resources/examples.txt`; empty if the file is missing."""
    try:
        lines = resource_path("examples.txt").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
