"""The notice about crashes as a part of the window."""

from collections.abc import Sequence

from ...crash_reports import CrashReport
from ...window_part import WindowPart
from .notice import CrashNotice


class CrashesPart(WindowPart):
    """Offers the user the reports that earlier windows left."""

    def offer_reports(self, reports: Sequence[CrashReport]) -> None:
        """See `WindowPart`."""
        notice = CrashNotice(reports)
        notice.done.connect(self.window.top_bar.show_notice)
        self.window.notices.addWidget(notice)
