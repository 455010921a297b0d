"""All tabs of the Analysis panel, in the order in which they stand. A new tab is one more line here."""

from augenmerk.viz_app.analysis.alignment.view import AlignmentTab
from augenmerk.viz_app.analysis.compare.view import CompareTab
from augenmerk.viz_app.analysis.heads.view import HeadsTab
from augenmerk.viz_app.analysis.source.view import SourceTab
from augenmerk.viz_app.analysis.steps.view import StepsTab
from augenmerk.viz_app.analysis.tab import AnalysisTab

TABS: tuple[type[AnalysisTab], ...] = (
    StepsTab,
    AlignmentTab,
    HeadsTab,
    SourceTab,
    CompareTab,
)
