"""All heads of all layers."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QToolButton, QVBoxLayout, QWidget

from viz_app.panels.parts import flat_button, label
from viz_app.state.translate_state import Scale, TranslateState
from viz_app.theme import PANEL_MARGIN, Theme
from viz_app.widgets.eliding_label import ElidingLabel
from viz_app.widgets.head_grid import HeadGrid, HeadGridArea

SCALE_NAMES: dict[Scale, str] = {"shared": "scale: shared 0–1 ▾", "own": "scale: each its own ▾"}


class HeadsPanel(QFrame):
    """All heads as thumbnails.

    Attributes:
        grid: the thumbnails.

    Signals:
        scale_chosen(str): "shared" or "own".
    """

    scale_chosen = Signal(str)

    def __init__(self, state: TranslateState, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._state = state
        self.grid = HeadGrid(state, theme)
        self.area = HeadGridArea(self.grid)
        self.scale_button = self._make_scale_button()
        hint = ElidingLabel("small", "← → heads   ↑ ↓ layers   O on/off   (from the sentence: Esc first, or hold Alt)")
        title = label("heading")
        title.setText("All heads")
        header = QHBoxLayout()
        header.addWidget(title)
        header.addStretch(1)
        header.addWidget(self.scale_button)
        header.addSpacing(4)
        column = QVBoxLayout(self)
        column.setContentsMargins(PANEL_MARGIN, 8, 4, 8)
        column.setSpacing(4)
        column.addLayout(header)
        column.addWidget(self.area, 1)
        column.addWidget(hint)

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        self.grid.apply_theme(theme)

    def rebuild(self) -> None:
        """The translation or the scale changed."""
        self.scale_button.setText(SCALE_NAMES[self._state.scale])
        self.grid.rebuild()

    def show_choice(self) -> None:
        """Another head was chosen."""
        self.grid.update()
        self.area.show_choice(self._state.choice)

    def _make_scale_button(self) -> QToolButton:
        button = flat_button(SCALE_NAMES[self._state.scale], "How far the colours reach")
        menu = QMenu(button)
        group = QActionGroup(menu)
        texts: dict[Scale, str] = {
            "shared": "Shared: the last colour is weight 1 everywhere",
            "own": "Each its own: the last colour is the largest weight of that head",
        }
        for scale, text in texts.items():
            action = QAction(text, group, checkable=True, checked=scale == self._state.scale)
            action.triggered.connect(lambda _=False, chosen=scale: self.scale_chosen.emit(chosen))
            menu.addAction(action)
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        return button
