"""What the export menu asks of a page."""

from dataclasses import dataclass
from typing import Protocol

from PySide6.QtWidgets import QWidget

from viz_app.state.experiment_state import ExperimentState


@dataclass(frozen=True, eq=False)
class ExportSource:
    """What of a page is in sight, and can be exported.

    Attributes:
        page: all of it.
        state: whose maps it shows; None if it shows none.
        large_map: the widget that draws the large map; None if there is none.
        model: the name of the model that made the maps, for captions.
        caption: of a picture of the whole page; empty to say what the large map is.
    """

    page: QWidget
    state: ExperimentState | None = None
    large_map: QWidget | None = None
    model: str = ""
    caption: str = ""

    @property
    def has_maps(self) -> bool:
        """Whether there is a map to be exported."""
        return self.state is not None and self.state.result is not None


class Exportable(Protocol):
    """A page of which something can be exported."""

    def export_source(self) -> ExportSource:
        """What is in sight now; asked anew for each export."""
        ...
