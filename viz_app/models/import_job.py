"""Jobs of the import in the worker's thread: inspecting a model, and converting it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from augenmerk.core.imports import collector_paused
from augenmerk.core.storage import writable
from augenmerk.viz_app.state.request_state import Progress
from augenmerk.viz_app.worker import ModelFreeJob, ShouldStop, Tell

if TYPE_CHECKING:
    from augenmerk.core.interop.model import ImportSummary  # torch comes with it


@dataclass(frozen=True, eq=False)
class InspectJob(ModelFreeJob):
    """Inspects a model without reading its weights."""

    source: Path

    def work(self, progress: Tell, should_stop: ShouldStop) -> "ImportSummary":
        """See `ModelFreeJob.work`."""
        with collector_paused():
            from augenmerk.core.interop.recognition import recognize

        return recognize(self.source).summary


@dataclass(frozen=True)
class Imported:
    """An imported model: its file, and a description."""

    path: Path
    about: str


@dataclass(frozen=True, eq=False)
class ImportJob(ModelFreeJob):
    """Imports a model by path or Hugging Face name, and saves it.

    Attributes:
        source: as of `core.interop.importing.import_model`.
        target: the file to write.
        data: a folder with Multi30k, for models whose vocabularies are rebuilt from it.
        languages: codes of source and target; None for what the files say.
        num_heads: of models whose files do not say it; None for that of the published system.
        half_precision: weights in 16 bits or in 32; None as of `core.interop.model.ImportOptions`.
    """

    source: str | Path
    target: Path
    data: Path | None = None
    languages: tuple[str | None, str | None] = (None, None)
    num_heads: int | None = None
    half_precision: bool | None = None

    def work(self, progress: Tell, should_stop: ShouldStop) -> Imported:
        """See `ModelFreeJob.work`. What was stopped leaves no file that was not there before."""
        progress(Progress(0, 0, "Preparing"))
        with collector_paused():
            from augenmerk.core.interop.importing import import_model
            from augenmerk.core.interop.model import ImportOptions
            from augenmerk.core.interop.stopping import ImportStoppedError
            from augenmerk.core.interop.target import check_target

        with writable(self.target):
            check_target(self.target, (self.source, self.data))  # before minutes are spent on what cannot be saved
            model = import_model(
                self.source,
                ImportOptions(
                    data=self.data,
                    source_language=self.languages[0],
                    target_language=self.languages[1],
                    num_heads=self.num_heads,
                    half_precision=self.half_precision,
                ),
                on_phase=lambda text: progress(Progress(0, 0, text)),
                on_download=lambda name, done, total: progress(Progress(done, total, f"Downloading {name}")),
                should_stop=should_stop,
            )
            if should_stop():
                raise ImportStoppedError
            progress(Progress(0, 0, f"Writing {self.target.name}"))
            was_there = self.target.exists()
            model.save(self.target)
            if should_stop() and not was_there:
                self.target.unlink(missing_ok=True)
                raise ImportStoppedError
            return Imported(self.target, _about(model.summary, self.target.stat().st_size))


def _about(summary: "ImportSummary", num_bytes: int) -> str:
    """A one-line description of the written file."""
    why = ", as 16 cannot hold them" if summary.precision_note else ""
    return f"Imported {summary.name}: {num_bytes / 1e6:,.1f} MB, weights in {summary.bits} bits{why}"
