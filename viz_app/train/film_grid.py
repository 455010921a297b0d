"""All heads at one step of the training."""

from PySide6.QtCore import QRect, Qt

from core.analysis.roles import ROLES
from viz_app.heatmap.head_grid import HeadGrid
from viz_app.state.translate_state import HeadChoice


class FilmGrid(HeadGrid):
    """The grid of heads, read-only: heads of an earlier step cannot be switched off."""

    def switch_of(self, choice: HeadChoice) -> QRect | None:
        """None: heads cannot be switched off here."""
        return None

    def _hover(self, choice: HeadChoice | None) -> None:
        """No frame and no switch on the head under the mouse."""
        self.setCursor(Qt.CursorShape.PointingHandCursor if choice else Qt.CursorShape.ArrowCursor)

    def _tip(self, choice: HeadChoice) -> str:
        translation = self._state.translation
        assert translation is not None
        role = self._state.role(translation, choice)
        what = f"{role}: {ROLES[role]}, at this step" if role != "mixed" else "no clear role at this step"
        return f"{choice.title}\n{what}"
