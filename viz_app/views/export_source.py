"""What pages offer for export."""

from dataclasses import dataclass
from typing import Any, Protocol

from PySide6.QtWidgets import QWidget

from ..state.experiment_state import ExperimentState
from ..state.number_table import NumberTable


@dataclass(frozen=True, eq=False)
class ExportSource:
    """The exportable contents of a page.

    Attributes:
        page: all of it.
        state: the experiment whose maps it shows; None if it shows none.
        large_map: the widget that draws the large map; None if there is none.
        model: the name of the model that made the maps, for captions.
        caption: of a picture of the whole page; empty for a description of the large map.
        run: the training run in sight, a `viz_app.extensions.pictures.saving.RunSource`; None if
            there is none.
        table: the numbers of the analysis tab in sight; None if there are none.
    """

    page: QWidget
    state: ExperimentState | None = None
    large_map: QWidget | None = None
    model: str = ""
    caption: str = ""
    run: Any = None
    table: NumberTable | None = None

    @property
    def has_maps(self) -> bool:
        """Whether there is a map of the sentence in use to be exported."""
        return self.state is not None and self.state.is_translated


class Exportable(Protocol):
    """A page with exportable contents."""

    def export_source(self) -> ExportSource:
        """The contents in view now; read again for each export."""
