"""A card over the map: the products of query and key behind the pinned cell."""

from PySide6.QtCore import QRect, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from viz_app.state.tracing import Tracing, query_key_view
from viz_app.state.translate_state import TranslateState
from viz_app.theme import Theme
from viz_app.views.product_bars import ProductBars
from viz_app.widgets.eliding_label import ElidingLabel
from viz_app.widgets.parts import flat_button, label

MAX_WIDTH, HEIGHT, MIN_HEIGHT = 600, 178, 90


class QueryKeyCard(QFrame):
    """Shows where the pinned weight comes from. Opened with no cell pinned, it waits for one; with its cell it closes.

    Attributes:
        tracing: whether it is open, and the queries and keys.
        bars: the products.
        text: what they are, or what is missing.

    Signals:
        closed(): a person closed it, or its cell was let go; call `rebuild` when the tracing is no longer open.
    """

    closed = Signal()

    def __init__(self, state: TranslateState, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.tracing = Tracing()
        self.setProperty("role", "card")
        self.title = ElidingLabel("heading")
        self.bars = ProductBars(theme)
        self.text = label("small", wraps=True)
        self.close_button = flat_button("✕", "Close")
        self.close_button.setAccessibleName("Close")
        self.close_button.clicked.connect(self.closed)
        header = QHBoxLayout()
        header.addWidget(self.title, 1)
        header.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 6, 6, 10)
        column.setSpacing(4)
        column.addLayout(header)
        column.addWidget(self.bars, 1)
        column.addWidget(self.text)
        self.hide()

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        self.bars.apply_theme(theme)

    def rebuild(self) -> None:
        """Another cell is pinned, or none; or queries and keys have come."""
        if self.tracing.has_lost_its_cell(self._state) and self.tracing.is_open:
            self.closed.emit()
        self.setVisible(self.tracing.is_open)
        if not self.tracing.is_open:
            return
        view = query_key_view(self._state, self.tracing)
        if isinstance(view, str):
            self.title.setText("Query times key")
            self.text.setText(view)
            self.bars.show_view(None)
        else:
            self.title.setText(f"Query times key: {view.tokens} · {self._state.choice.title}")
            self.text.setText(view.sentence)
            self.bars.show_view(view)
        self.bars.setVisible(not isinstance(view, str))

    def stand_over(self, area: QRect, pinned_y: float | None) -> None:
        """Takes a place over the map, in the half that the pinned cell is not in."""
        width = min(MAX_WIDTH, area.width() - 8)
        height = max(self.heightForWidth(width), MIN_HEIGHT) if self.bars.isHidden() else HEIGHT
        height = min(height, area.height())
        is_below = pinned_y is None or pinned_y < area.height() / 2
        top = area.bottom() - height if is_below else area.top()
        self.setGeometry(area.left() + (area.width() - width) // 2, top, width, height)
        self.raise_()
