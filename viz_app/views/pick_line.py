"""One line under the large map: what is pinned and picked, in words; else how to do it."""

from PySide6.QtWidgets import QHBoxLayout, QWidget

from viz_app.state.translate_state import TranslateState
from viz_app.widgets.eliding_label import ElidingLabel
from viz_app.widgets.parts import flat_button

HINT = "Click cells to pin them, words at the left to sum their rows (Ctrl, Shift: several)"
LINES_HINT = "Click words at the left to sum their lines (Ctrl, Shift: several)"


class PickLine(QWidget):
    """Says what is pinned and picked.

    Attributes:
        label: the words.
        clear_button: lets go of all of it.
        products_button: shows the products behind the pinned cell.
    """

    def __init__(self, state: TranslateState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.label = ElidingLabel("small", HINT)
        self.clear_button = flat_button("clear", "Let go of what is pinned and picked (Esc)")
        policy = self.clear_button.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # the map must not jump when a cell is pinned
        self.clear_button.setSizePolicy(policy)
        self.products_button = flat_button("q·k", "Where the pinned weight comes from: query times key, by dimension")
        self.products_button.setCheckable(True)
        self.products_button.setAccessibleName("Products of query and key")
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(0, 0, 0, 0)
        self.row.setSpacing(4)
        self.row.addWidget(self.label, 1)
        self.row.addWidget(self.clear_button)
        self.row.addWidget(self.products_button)
        self.rebuild()

    def rebuild(self) -> None:
        """Something was pinned or picked, or let go."""
        state = self._state
        self.clear_button.setVisible(state.has_marks)
        self.label.setText(state.marks_in_words() or (LINES_HINT if state.picture == "lines" else HINT))
        self.products_button.setVisible(state.picture == "heatmap")
