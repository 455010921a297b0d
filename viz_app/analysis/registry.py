"""All tabs of the Analysis panel, in the order in which they stand. A new tab is one more line here."""

from viz_app.analysis.alignment.view import AlignmentTab
from viz_app.analysis.compare.view import CompareTab
from viz_app.analysis.heads.view import HeadsTab
from viz_app.analysis.source.view import SourceTab
from viz_app.analysis.steps.view import StepsTab
from viz_app.analysis.tab import AnalysisTab

TABS: tuple[type[AnalysisTab], ...] = (
    StepsTab,
    AlignmentTab,
    HeadsTab,
    SourceTab,
    CompareTab,
)
