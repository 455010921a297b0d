"""All heads at one step of the training."""

from PySide6.QtCore import QRect, Qt

from augenmerk.core.analysis.roles import ROLES
from augenmerk.core.model.heads import Head
from augenmerk.viz_app.heatmap.head_grid import HeadGrid


class FilmGrid(HeadGrid):
    """The grid of heads, read-only: heads of an earlier step cannot be switched off; one head at a time."""

    def switch_of(self, head: Head) -> QRect | None:
        """None: heads cannot be switched off here."""
        return None

    def switch(self, head: Head) -> None:
        """No head can be switched off here."""

    def show_together(self, head: Head) -> None:
        """Shows this head alone."""
        self.choose(head)

    def _hover(self, head: Head | None) -> None:
        """No frame and no switch on the head under the mouse."""
        self.setCursor(Qt.CursorShape.PointingHandCursor if head else Qt.CursorShape.ArrowCursor)

    def _tip(self, head: Head) -> str:
        role = self._state.roles.of(head)
        what = f"{role}: {ROLES[role]}, at this step" if role != "mixed" else "no clear role at this step"
        return f"{head.title}\n{what}"
