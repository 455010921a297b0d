"""Controls of one large map: the size of its cells, and what is picked on it."""

from collections.abc import Mapping

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from ..heatmap.heatmap import LargeMap
from ..state import map_text
from ..state.experiment_state import ExperimentState
from ..state.map_drawings import DRAWINGS, HEATMAP, DrawingName
from ..state.map_view_settings import FIT, on_redraw
from ..theme import scaled
from ..widgets.buttons import flat_button
from ..widgets.labels import ElidingLabel
from ..widgets.layouts import column_of, keep_room, row_of, set_visible


class SizeControls(QWidget):
    """The size of the heatmap's cells, or the controls of another drawing.

    Attributes:
        zoom_out: makes the cells of the map smaller.
        zoom_fit: fits the map to its room.
        zoom_in: makes the cells larger.
    """

    def __init__(self, state: ExperimentState, drawings: Mapping[DrawingName, LargeMap]) -> None:
        super().__init__()
        self._state = state
        self.zoom_out = flat_button("−", "Smaller cells (Ctrl + mouse wheel)")
        self.zoom_fit = flat_button("Fit", "Fit the whole map")
        self.zoom_in = flat_button("+", "Larger cells (Ctrl + mouse wheel); the map scrolls")
        self.zoom_fit.clicked.connect(lambda: setattr(state.settings, "zoom", FIT))
        zoom = QWidget()
        row_of(self.zoom_out, self.zoom_fit, self.zoom_in, spacing=4, within=zoom)
        self._controls = {"heatmap": zoom}
        for name, drawing in drawings.items():
            if (controls := drawing.make_controls()) is not None:
                self._controls[name] = controls
        row_of(*self._controls.values(), spacing=4, within=self)
        self.rebuild()
        state.settings.events.picture.connect(self.rebuild, max_args=0)

    def rebuild(self) -> None:
        """Shows the controls of the drawing in sight."""
        for name, controls in self._controls.items():
            controls.setVisible(name == self._state.settings.known_picture)


LEAST_WORDS = 130
"""Minimum width of the words in pixels; with less, they have a line of their own."""


_DIRECT = Qt.FindChildOption.FindDirectChildrenOnly


class PickLine(QWidget):
    """Describes the pinned cell and the picked tokens.

    Attributes:
        label: the words.
        clear_button: clears all of it.
        row: the words, these buttons, and widgets that a panel adds.
    """

    def __init__(self, state: ExperimentState) -> None:
        super().__init__()
        self._state = state
        self.label = ElidingLabel("small", HEATMAP.hint, elide=Qt.TextElideMode.ElideMiddle)
        self.clear_button = flat_button("Clear", "Unpin the cell and clear picked tokens (Esc)")
        keep_room(self.clear_button)  # the map must not jump when a cell is pinned
        self.clear_button.clicked.connect(state.selection.clear_marks)
        self._is_split = self._is_tight = False
        # the stretch takes the room of the label when that has a line of its own
        self.row = row_of(0, (self.label, 1), self.clear_button, spacing=4)
        self._column = column_of(self.row, spacing=0, within=self)
        self.rebuild()
        for changed in (state.result_changed, state.measuring.changed):
            changed.connect(self.rebuild)
        on_redraw(state.settings, ("maps", "large map"), self.rebuild)
        selection = state.selection.events
        for changed in (selection.head, selection.pinned, selection.picked, selection.picked_key):
            changed.connect(self.rebuild, max_args=0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """A button was shown or hidden, or has another text."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().event(event)

    def set_tight(self, is_tight: bool) -> None:
        """Leaves out words that do not fit next to the buttons, without room for a second line."""
        self._is_tight = is_tight
        self._fit()

    @property
    def whole_height(self) -> int:
        """With all words in sight."""
        return self.row.sizeHint().height() + (
            self.label.sizeHint().height() if self._needs_split else 0
        )

    @property
    def _needs_split(self) -> bool:
        buttons = [
            child
            for child in self.findChildren(QWidget, options=_DIRECT)
            if child is not self.label
        ]
        shown = [
            button
            for button in buttons
            if not button.isHidden() or button.sizePolicy().retainSizeWhenHidden()
        ]
        taken = sum(button.sizeHint().width() + self.row.spacing() for button in shown)
        return self.width() - taken < scaled(LEAST_WORDS)

    def _fit(self) -> None:
        """Puts the words next to the buttons or above them, whatever their length.

        So nothing jumps.
        """
        needs_split = self._needs_split
        is_split = needs_split and not self._is_tight
        self.label.setVisible(is_split or not needs_split)
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
        """Updates words and buttons to the selection and the settings."""
        state = self._state
        drawing = DRAWINGS[self._state.settings.known_picture]
        parent = self.parentWidget()  # the panel of the map, which passes focus to the map
        set_visible(
            self.clear_button,
            state.selection.has_marks,
            focus_to=parent if parent is not None else self,
        )
        self.label.setText(map_text.marks_in_words(state) or drawing.hint)
