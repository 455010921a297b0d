"""A card over the map: the products of query and key behind the pinned weight."""

from PySide6.QtCore import QRect, Signal
from PySide6.QtWidgets import QFrame, QWidget

from augenmerk.core.analysis.trace import Trace
from augenmerk.core.translation.result import Translation
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.state.weight_explanation import WeightExplanation, query_key_view
from augenmerk.viz_app.theme import scaled
from augenmerk.viz_app.views.product_bars import ProductBars
from augenmerk.viz_app.widgets.labels import ElidingLabel
from augenmerk.viz_app.widgets.layouts import column_of, row_of
from augenmerk.viz_app.widgets.parts import flat_button, label, set_visible
from augenmerk.viz_app.worker.experiment_controller import ExperimentController
from augenmerk.viz_app.worker.jobs import TraceJob

MAX_WIDTH, HEIGHT, MIN_HEIGHT = 600, 178, 90


class QueryKeyCard(QFrame):
    """Shows where the pinned weight comes from. Opened with nothing pinned, it waits for a pin; with its pin it closes.

    Attributes:
        explanation: whether it is open, and the queries and keys.
        bars: the products.
        text: what they are, or what is missing.

    Signals:
        rebuilt(): it shows something else, and may need another height.
    """

    rebuilt = Signal()

    def __init__(self, state: ExperimentState, controller: ExperimentController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state, self._controller = state, controller
        self.explanation = WeightExplanation()
        self._asked: Translation | None = None
        self.setProperty("role", "card")
        self.title = ElidingLabel("heading")
        self.bars = ProductBars()
        self.text = label("small", wraps=True)
        self.close_button = flat_button("✕", "Close")
        self.close_button.setAccessibleName("Close")
        self.close_button.clicked.connect(self._close)
        header = row_of((self.title, 1), self.close_button)
        column_of(header, (self.bars, 1), self.text, spacing=4, margins=(12, 6, 6, 10), within=self)
        self.hide()
        self._follow()

    def _follow(self) -> None:
        state, settings, selection = self._state, self._state.settings.events, self._state.selection.events
        state.result_changed.connect(self.rebuild)
        state.model_changed.connect(self.rebuild)
        selection.pinned.connect(self._on_pinned)
        for changed in (selection.head, settings.scope, settings.label_mode, settings.shown):
            changed.connect(self.rebuild, max_args=0)
        self.explanation.events.is_open.connect(self.rebuild, max_args=0)
        self.explanation.request.changed.connect(self.rebuild)

    def rebuild(self) -> None:
        """Another pair is pinned, or none; or queries and keys have come."""
        explanation = self.explanation
        parent = self.parentWidget()
        set_visible(self, explanation.is_open, focus_to=parent if parent is not None else self)
        if not explanation.is_open:
            return
        self._ask()
        view = query_key_view(self._state, explanation)
        if isinstance(view, str):
            self.title.setText("Explain this weight")
            self.text.setText(view)
            self.bars.show_view(None)
        else:
            self.title.setText(f"Query times key: {view.tokens} · {self._state.selection.head.short_name}")
            self.text.setText(view.sentence)
            self.bars.show_view(view)
        self.bars.setVisible(not isinstance(view, str))
        self.rebuilt.emit()

    def stand_over(self, area: QRect, pinned_y: float | None) -> None:
        """Takes a place over the map, in the half that the pinned cell is not in."""
        width = min(scaled(MAX_WIDTH), area.width() - 8)
        height = max(self.heightForWidth(width), scaled(MIN_HEIGHT)) if self.bars.isHidden() else scaled(HEIGHT)
        height = min(height, area.height())
        is_below = pinned_y is None or pinned_y < area.height() / 2
        top = area.bottom() - height if is_below else area.top()
        self.setGeometry(area.left() + (area.width() - width) // 2, top, width, height)
        self.raise_()

    def _ask(self) -> None:
        """Asks for the queries and keys of the translation that is shown, unless they are known or asked for."""
        explanation, translation = self.explanation, self._state.maps.translation
        if translation is None or explanation.trace_of(translation) is not None:
            return
        if self._asked is translation and (explanation.request.is_running or explanation.request.problem):
            return
        self._asked = translation

        def take(trace: object) -> None:
            assert isinstance(trace, Trace)
            explanation.take(translation, trace)
            self.rebuild()

        self._controller.ask(TraceJob(translation), explanation.request, take)

    def _on_pinned(self, pinned: Pair | None, before: Pair | None) -> None:
        if pinned is None and before is not None:
            self._close()
        self.rebuild()

    def _close(self) -> None:
        self.explanation.is_open = False
