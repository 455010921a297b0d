"""All tabs of the Analysis panel, in the order in which they stand. A new tab is one more line here."""

from viz_app.analysis.source.view import SourceTab
from viz_app.analysis.steps.view import StepsTab
from viz_app.analysis.tab import AnalysisTab

TABS: tuple[type[AnalysisTab], ...] = (
    StepsTab,
    SourceTab,
)
