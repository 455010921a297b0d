"""The line under the large map: what is pinned and picked, in words; else how to do it."""

from functools import partial

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from augenmerk.viz_app.state import map_text
from augenmerk.viz_app.state.evented_options import on_redraw
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view import Axes
from augenmerk.viz_app.state.weight_explanation import WeightExplanation
from augenmerk.viz_app.theme import scaled, scales
from augenmerk.viz_app.widgets.eliding_label import ElidingLabel
from augenmerk.viz_app.widgets.focus import set_visible
from augenmerk.viz_app.widgets.parts import flat_button

LEAST_WORDS = 150
"""Pixels that the words need; beside buttons that leave them less they stand in a line of their own."""
_DIRECT = Qt.FindChildOption.FindDirectChildrenOnly
LINES_HINT = """Click words at the left to sum their lines (Ctrl, Shift: several)
Click words at the left to sum their lines
Click words at the left
Click words"""


def hint(axes: Axes) -> str:
    """What a click on the heatmap does, from the whole sentence to a few words."""
    queries, where = f"{axes.query}s", axes.query_labels
    return f"""Click cells to pin them, words {where} to sum their {queries} (Ctrl, Shift: several)
Click a cell to pin it, words {where} to sum {queries}
Click a cell, or words {where}
Click a cell or word
Click a cell"""


class PickLine(QWidget):
    """Says what is pinned and picked.

    Attributes:
        label: the words.
        clear_button: lets go of all of it.
        explain_button: shows where the pinned weight comes from.
        row: the words and these buttons, and what a panel puts beside them.
    """

    def __init__(self, state: ExperimentState, explanation: WeightExplanation, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state, self._explanation = state, explanation
        self.label = ElidingLabel("small", hint(state.settings.axes), elide=Qt.TextElideMode.ElideMiddle)
        self.clear_button = flat_button("clear", "Let go of what is pinned and picked (Esc)")
        policy = self.clear_button.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # the map must not jump when a cell is pinned
        self.clear_button.setSizePolicy(policy)
        self.clear_button.clicked.connect(state.selection.clear_marks)
        self.explain_button = flat_button(
            "Explain this weight", "Where the pinned weight comes from: query times key, by dimension"
        )
        self.explain_button.setCheckable(True)
        self.explain_button.toggled.connect(partial(setattr, explanation, "is_open"))
        self._column, self.row = QVBoxLayout(self), QHBoxLayout()
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addLayout(self.row)
        self._is_split = False
        self.row.setContentsMargins(0, 0, 0, 0)
        scales(self.row.setSpacing, 4)
        self.row.addStretch()  # takes the room of the label when that has a line of its own
        self.row.addWidget(self.label, 1)
        self.row.addWidget(self.clear_button)
        self.row.addWidget(self.explain_button)
        self.rebuild()
        for changed in (state.result_changed, state.measuring.changed):
            changed.connect(self.rebuild)
        on_redraw(state.settings, ("maps", "large map"), self.rebuild)
        selection = state.selection.events
        for changed in (selection.head, selection.pinned, selection.picked, selection.picked_key):
            changed.connect(self.rebuild, max_args=0)
        explanation.events.is_open.connect(self.rebuild, max_args=0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width."""
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """A button was shown or hidden, or has another text."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().event(event)

    def _fit(self) -> None:
        """The words stand beside the buttons, or above them. What they say does not count: nothing jumps."""
        buttons = [child for child in self.findChildren(QWidget, options=_DIRECT) if child is not self.label]
        shown = [each for each in buttons if not each.isHidden() or each.sizePolicy().retainSizeWhenHidden()]
        taken = sum(each.sizeHint().width() + self.row.spacing() for each in shown)
        is_split = self.width() - taken < scaled(LEAST_WORDS)
        if is_split == self._is_split:
            return
        self._is_split = is_split
        if is_split:
            self.row.removeWidget(self.label)
            self._column.insertWidget(0, self.label)
        else:
            self._column.removeWidget(self.label)
            self.row.insertWidget(1, self.label, 1)

    def rebuild(self) -> None:
        """Something was pinned or picked, or let go, or means something else now."""
        state, is_lines = self._state, self._state.settings.picture == "lines"
        parent = self.parentWidget()  # the panel of the map, which hands focus on to the map
        set_visible(self.clear_button, state.selection.has_marks, focus_to=parent if parent is not None else self)
        how = LINES_HINT if is_lines else hint(state.settings.axes)
        self.label.setText(map_text.marks_in_words(state) or how)
        self.explain_button.setVisible(not is_lines)
        self.explain_button.setChecked(self._explanation.is_open)
