"""What the two pictures of the large map, cells and lines, have in common: what they follow, and their theme."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from augenmerk.viz_app.state.evented_options import on_redraw
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_selection import SelectionMode
from augenmerk.viz_app.state.map_view import MapView
from augenmerk.viz_app.theme import current_theme, is_theme_change


class LargeMap(QWidget):
    """Shows the large map of an `ExperimentState`; subclasses override `rebuild`, and call it when they are ready."""

    def __init__(self, state: ExperimentState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._own_scale: float | None = None
        self._theme = current_theme()
        self._view: MapView | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        state.result_changed.connect(self.rebuild)
        state.measuring.changed.connect(self.rebuild)
        on_redraw(state.settings, ("maps", "large map"), self.rebuild)
        state.selection.events.head.connect(self.rebuild, max_args=0)

    def rebuild(self) -> None:
        """Makes the picture anew: the map, the theme or the size changed."""
        raise NotImplementedError

    def set_scale(self, scale: float) -> None:
        """From now on this map has a scale of its own, whatever that of the interface."""
        self._own_scale = scale
        self._follow_theme()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys belong to the page."""
        event.ignore()

    def changeEvent(self, event: QEvent) -> None:
        """Other colours."""
        super().changeEvent(event)
        if is_theme_change(event):
            self._follow_theme()

    def _follow_theme(self) -> None:
        theme = current_theme() if self._own_scale is None else current_theme().at_scale(self._own_scale)
        if theme != self._theme:
            self._theme = theme
            self.rebuild()


def selection_mode_of(event: QMouseEvent) -> SelectionMode:
    """Ctrl adds one item to the selection, Shift all items up to the clicked one."""
    if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
        return "also"
    return "through" if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else "alone"
