"""The interface between the export menu and a page."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from PySide6.QtWidgets import QWidget

from augenmerk.viz_app.export.film import Film, FilmHeads
from augenmerk.viz_app.state.experiment_state import ExperimentState


class RunSource(Protocol):
    """The exportable contents of a training run."""

    @property
    def name(self) -> str:
        """Of the run."""
        ...

    @property
    def has_film(self) -> bool:
        """Whether there is a film."""
        ...

    def film_name(self, heads: FilmHeads) -> str:
        """A name for the film's file."""
        ...

    def save_charts(self, target: Path, *, has_caption: bool) -> None:
        """The charts in sight as PNG, SVG or PDF. Raises `StorageError`."""
        ...

    def save_metrics(self, target: Path) -> None:
        """Every step's metrics as CSV. Raises `StorageError`."""
        ...

    def film(self, heads: FilmHeads, *, has_caption: bool) -> Film | None:
        """The film of these heads; None if there is none."""
        ...


@dataclass(frozen=True, eq=False)
class ExportSource:
    """The exportable contents of a page.

    Attributes:
        page: all of it.
        state: whose maps it shows; None if it shows none.
        large_map: the widget that draws the large map; None if there is none.
        model: the name of the model that made the maps, for captions.
        caption: of a picture of the whole page; empty to say what the large map is.
        run: the training run in sight; None if there is none.
    """

    page: QWidget
    state: ExperimentState | None = None
    large_map: QWidget | None = None
    model: str = ""
    caption: str = ""
    run: RunSource | None = None

    @property
    def has_maps(self) -> bool:
        """Whether there is a map to be exported."""
        return self.state is not None and self.state.result is not None


class Exportable(Protocol):
    """A page with exportable contents."""

    def export_source(self) -> ExportSource:
        """The contents in view now; read again for each export."""
        ...
