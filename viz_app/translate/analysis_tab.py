"""The common part of all tabs of the Analysis panel."""

from dataclasses import dataclass

from ..preferences import Preferences
from ..state.experiment_state import ExperimentState
from ..state.number_table import NumberTable
from ..state.tabs import Tab
from ..theme import PANEL_MARGIN, scaled, scales
from ..views.live_panel import LivePanel
from ..widgets.labels import label
from ..worker.inference import ExperimentController

MARGINS = PANEL_MARGIN, 4, PANEL_MARGIN - 4, 10
LOW_TAB = 520
"""Height of a tab, in pixels, below which content gets the lines of the explanation."""


@dataclass(frozen=True)
class AnalysisContext:
    """State and services of a tab.

    Attributes:
        state: the current experiment.
        controller: answers questions about it.
        preferences: settings remembered between two starts.
    """

    state: ExperimentState
    controller: ExperimentController
    preferences: Preferences


class AnalysisTab(LivePanel):
    """A tab: a sentence about its purpose and its limits, and the content.

    Attributes:
        tab: its declaration.
        context: see `AnalysisContext`.
        preferences: see `AnalysisContext`.
        explanation: the line with the sentence.
        is_presented: whether the tab fills the screen.
    """

    def __init__(self, context: AnalysisContext, tab: Tab) -> None:
        self.tab = tab
        self.explanation = label("small", tab.meaning, wraps=True)
        super().__init__(context.state, context.controller, self.explanation)
        self.context = context
        self.preferences = context.preferences
        self.is_presented = False
        self.setProperty("role", "analysis")
        scales(self.column.setContentsMargins, *MARGINS)
        scales(self.column.setSpacing, 8)

    @property
    def is_low(self) -> bool:
        """Whether the tab needs the room of the explanation, which its button also shows."""
        return self.is_presented or self.height() < scaled(LOW_TAB)

    def stop(self) -> bool:
        """Cancels a computation that takes long; False if there is none."""
        return False

    def numbers(self) -> NumberTable | None:
        """The numbers that the tab shows, for files; None if there are none."""
        return None

    def set_presented(self, is_presented: bool) -> None:
        """The tab fills the screen from now on, or no longer."""
        self.is_presented = is_presented
        # the sentences of others are at their left
        presented = 0 if self.tab.has_sentences else PANEL_MARGIN, 0, 0, 0
        scales(self.column.setContentsMargins, *(presented if is_presented else MARGINS))
        self.redraw_in_sight()

    def explain_word(self, step: int, foil: str) -> None:
        """Shows why a step chose its token rather than `foil`, if the tab explains words."""
