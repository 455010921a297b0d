"""The search for the model of an experiment, in the worker's thread."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from augenmerk.core.errors import AugenmerkError
from augenmerk.core.resources import bundled_model_path
from augenmerk.viz_app.worker import JobScope, OpenTranslator, ShouldStop, Tell


@dataclass(frozen=True)
class FoundModel:
    """The checkpoint with the wanted digest; `path` is None for the bundled model."""

    path: Path | None


@dataclass(frozen=True, eq=False)
class FindModelJob:
    """Compares checkpoints with a digest, one after the other.

    Attributes:
        digest: of weights and vocabularies.
        paths: where to look, besides the bundled model. Files that cannot be read are passed over.
    """

    digest: str
    paths: Sequence[Path]
    scope: ClassVar[JobScope] = "model"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> FoundModel | None:
        """See `viz_app.worker.Job.run`."""
        from augenmerk.core.checkpoint.digest import model_digest
        from augenmerk.core.checkpoint.file import load_checkpoint

        for path in (None, *self.paths):
            try:
                checkpoint = load_checkpoint(bundled_model_path() if path is None else path)
            except AugenmerkError:
                continue
            if model_digest(checkpoint) == self.digest:
                return FoundModel(path)
        return None
