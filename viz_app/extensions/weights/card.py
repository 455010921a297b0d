"""The card that explains one weight: the products of query and key, and what both are made of."""

from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFocusEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import (
    QFrame,
    QSizePolicy,
    QToolTip,
    QWidget,
)

from augenmerk.core.counting import display_text
from augenmerk.core.extensions.analyses.parts import OTHERS, Baseline, ComponentGroup, RowParts
from augenmerk.core.maps.trace import Trace
from augenmerk.core.quantities import number

from ...state.experiment_state import ExperimentState
from ...state.map_view import Pair
from ...theme import current_theme, scaled
from ...views.cell_menu import CellMenu
from ...views.large_map_panel import HeadPanel
from ...widgets.buttons import ChoiceMenu, choice_buttons, flat_button
from ...widgets.canvas import Canvas
from ...widgets.commands import Command, run_by_key
from ...widgets.labels import label
from ...widgets.layouts import (
    column_of,
    row_of,
    set_visible,
)
from ...worker.inference import ExperimentController
from ...worker.jobs import TraceJob
from ..widgets.labelled_matrix import (
    IN_TABLES,
    WALK,
    LabelledMatrix,
    Matrix,
    MatrixCell,
    MatrixStyle,
)
from .explanation import (
    ComponentsView,
    QueryKeyView,
    WeightExplanation,
    components_view,
    explained_pair,
    query_key_view,
)
from .jobs import RowPartsJob

MAX_WIDTH, HEIGHT, MIN_HEIGHT = 600, 178, 90
HEATMAP_NAME = "heatmap"
"""Of the drawing that has cells to pin."""


VIEWS = {
    "dimensions": ("dimensions", "The products of the head's dimensions"),
    "components": (
        "components",
        "What query and key are made of: token, position, heads, networks",
    ),
}


COMPONENTS_STYLE = MatrixStyle(
    colors="signed",
    cell_heights=(14, 16),
    aimed_height=144,
    has_slanted_columns=False,
    cell_text=partial(number, signed=True),
    is_clickable=True,
    legend=None,
)


class QueryKeyCard(QFrame):
    """Explains the pinned weight.

    Opened with nothing pinned, it waits for a pin; it closes when its pin is cleared.

    Attributes:
        explanation: whether it is open, and the queries and keys.
        bars: the products of dimensions.
        table: those of components.
        text: their meaning, or the missing part.
        view_buttons: one for each of `VIEWS`.
        baseline_menu: the subtrahend of the score; only for components.
        open_button: opens and closes the card, below the map.

    Args:
        state: has the pinned pair.
        controller: asks for queries and keys.
        panel: of the large map, on which the card stands.
    """

    def __init__(
        self, state: ExperimentState, controller: ExperimentController, panel: HeadPanel
    ) -> None:
        super().__init__(panel)
        self._state, self._controller, self._panel = state, controller, panel
        self.explanation = WeightExplanation()
        self.open_button = flat_button(
            "Explain this weight",
            "The origin of the pinned weight: query times key, by dimension or by component",
        )
        self.open_button.setCheckable(True)
        self.open_button.setProperty("isDense", True)
        self.open_button.toggled.connect(partial(setattr, self.explanation, "is_open"))
        self._asked: TraceJob | RowPartsJob | None = None
        self._components: ComponentsView | None = None
        self.setProperty("role", "card")
        self.title = label("heading", wraps=True)
        self.bars = ProductBars()
        self.table = LabelledMatrix("Products of the components of query and key", COMPONENTS_STYLE)
        self.table.tip_of = self._tip_of
        self.text = label("small", wraps=True)
        self.view_buttons = choice_buttons(self, VIEWS, partial(setattr, self.explanation, "view"))
        self.baseline_menu = ChoiceMenu(
            "The score minus that of the mean, or of another key: the softmax ignores what all "
            "keys share",
            {},
            "minus: ",
            has_arrow_keys=True,
        )
        self.close_button = flat_button("✕", "Close")
        self.close_button.setAccessibleName("Close")
        self.close_button.clicked.connect(self._close)
        buttons = *self.view_buttons.values(), self.close_button
        for button in (*buttons, self.baseline_menu):
            button.setProperty("isDense", True)
        header = row_of((self.title, 1), *buttons, spacing=4)
        footer = row_of((self.text, 1), self.baseline_menu, spacing=4)
        column_of(
            header,
            (self.bars, 1),
            self.table,
            footer,
            spacing=2,
            margins=(12, 4, 6, 6),
            within=self,
        )
        self.hide()
        line = panel.pick_line.row
        line.insertWidget(line.indexOf(panel.pick_line.clear_button) + 1, self.open_button)
        QWidget.setTabOrder(panel.controls.menu_button, self.open_button)
        panel.cell_offers.append(self.offer_baseline)
        panel.map.installEventFilter(self)
        self._follow()
        self._show_button()

    def _follow(self) -> None:
        state = self._state
        settings = self._state.settings.events
        selection = self._state.selection.events
        state.result_changed.connect(self.rebuild)
        state.model_changed.connect(self.rebuild)
        selection.pinned.connect(self._on_pinned)
        for changed in (selection.head, settings.scope, settings.label_mode, settings.shown):
            changed.connect(self.rebuild, max_args=0)
        explanation = self.explanation
        for changed in (
            getattr(explanation.events, name) for name in ("is_open", "view", "baseline", "opened")
        ):
            changed.connect(self.rebuild, max_args=0)
        explanation.request.changed.connect(self.rebuild)
        for changed in (explanation.events.is_open, settings.picture):
            changed.connect(self._show_button, max_args=0)
        settings.zoom.connect(self._place, max_args=0)
        self.baseline_menu.chosen.connect(self._choose_baseline)
        for clicked in (self.table.clicked, self.table.label_clicked):
            clicked.connect(self._open_groups)

    def rebuild(self) -> None:
        """Updates the card to the pinned pair, and to its queries and keys."""
        explanation = self.explanation
        set_visible(self, explanation.is_open, focus_to=self._panel)
        if not explanation.is_open:
            return
        self._ask()
        is_by_component = explanation.view == "components"
        view = (components_view if is_by_component else query_key_view)(self._state, explanation)
        self._components = view if isinstance(view, ComponentsView) else None
        self.bars.show_view(view if isinstance(view, QueryKeyView) else None)
        if isinstance(view, str):
            self.title.setText("Explain this weight")
            self.text.setText(view)
        else:
            name = (
                f"Query times key: {view.tokens} · "
                f"{display_text(self._state.selection.head.short_name)}"
            )
            self.title.setText(view.tokens if is_by_component else name)
            self.text.setText(view.sentence)
        if self._components is not None:
            self._show_components(self._components)
        self.view_buttons[explanation.view].setChecked(True)
        self.bars.setVisible(isinstance(view, QueryKeyView))
        for widget in (self.table, self.baseline_menu):
            widget.setVisible(self._components is not None)
        self._place()

    def _show_components(self, view: ComponentsView) -> None:
        rows, columns = (
            [display_text(group.name) for group in groups]
            for groups in (view.table.rows, view.table.columns)
        )
        values = view.table.values.astype("float32")
        matrix = Matrix(values, tuple(rows), tuple(columns))
        named = values[: len(rows) - (rows[-1] == OTHERS), : len(columns) - (columns[-1] == OTHERS)]
        self.table.show_matrices((matrix,), max(float(abs(named).max()), 1e-9))
        self.table.setAccessibleDescription(view.sentence)
        self.baseline_menu.set_entries(view.baselines)
        self.baseline_menu.show_choice(str(view.cell.baseline))

    def ask_why(self) -> None:
        """Opens the card with components; without a pinned cell, it asks for one."""
        self._state.settings.picture = HEATMAP_NAME
        self.explanation.view = "components"
        self.explanation.is_open = True

    def _show_button(self) -> None:
        self.open_button.setVisible(self._state.settings.known_picture == HEATMAP_NAME)
        self.open_button.setChecked(self.explanation.is_open)

    def offer_baseline(self, menu: CellMenu) -> None:
        """Adds to the menu of a cell in the pinned row: subtract the score of its key."""
        pair = menu.pair
        pinned = self._state.selection.pinned
        if self._components is None or pair is None or pinned is None or pair.query != pinned.query:
            return
        if str(pair.key) in self._components.baselines:
            action = menu.addAction("Subtract this score from the pinned one")
            action.triggered.connect(lambda: self._choose_baseline(str(pair.key)))

    def _choose_baseline(self, name: str) -> None:
        named: Baseline = "none" if name == "none" else "mean"
        self.explanation.baseline = int(name) if name.isdecimal() else named

    def _open_groups(self, cell: MatrixCell) -> None:
        """Opens the groups of a cell, or of a label; closes those that are open."""
        view = self._components
        assert view is not None
        query, key = view.opened
        if cell.row >= 0:
            query = "" if query else _name_if_several(view.table.rows[cell.row])
        if cell.column >= 0:
            key = "" if key else _name_if_several(view.table.columns[cell.column])
        self.explanation.opened = query, key

    def _tip_of(self, cell: MatrixCell) -> str:
        return self._components.tip(cell.row, cell.column) if self._components is not None else ""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The map has another place."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._place()
        return False

    def _place(self) -> None:
        """Moves over the half of the map without the pinned cell."""
        if not self.explanation.is_open:
            return
        pinned = self._state.selection.pinned
        cell = self._panel.heatmap.cell_rect(pinned) if pinned is not None else None
        area = self._panel.map.geometry()
        width = min(scaled(MAX_WIDTH), area.width() - 8)
        self.resize(width, self.height())
        if (layout := self.layout()) is not None:
            layout.activate()  # the height of the table depends on its width
        height = (
            max(self.heightForWidth(width), scaled(MIN_HEIGHT))
            if self.bars.isHidden()
            else scaled(HEIGHT)
        )
        height = min(height, area.height())
        is_below = cell is None or cell.center().y() < area.height() / 2
        top = area.bottom() - height if is_below else area.top()
        self.setGeometry(area.left() + (area.width() - width) // 2, top, width, height)
        self.raise_()

    def _ask(self) -> None:
        """Requests the missing queries and keys, unless they are requested already."""
        explanation = self.explanation
        job = self._missing_job()
        if job is None or (
            self._asked == job and (explanation.request.is_running or explanation.request.problem)
        ):
            return
        self._asked = job

        def take(answer: object) -> None:
            assert isinstance(answer, Trace | RowParts)
            explanation.take(job.translation, answer)
            self.rebuild()

        self._controller.ask(job, explanation.request, take)

    def _missing_job(self) -> TraceJob | RowPartsJob | None:
        """The job for the view; None if its result is known, or nothing can be explained."""
        translation = self._state.maps.translation
        explanation = self.explanation
        if explanation.view == "dimensions":
            is_known = translation is None or explanation.trace_of(translation) is not None
            return None if is_known or translation is None else TraceJob(translation)
        subject = explained_pair(self._state)
        if isinstance(subject, str):
            return None
        of_pair, pair, head = subject
        is_known = explanation.row_of(of_pair, head, pair.query) is not None
        return None if is_known else RowPartsJob(of_pair, head, pair.query)

    def _on_pinned(self, pinned: Pair | None, before: Pair | None) -> None:
        if pinned is None and before is not None:
            self._close()
        self.rebuild()

    def _close(self) -> None:
        self.explanation.is_open = False


def _name_if_several(group: ComponentGroup) -> str:
    """The name of a group that can be opened; empty for others."""
    return group.name if len(group.places) > 1 and group.name != OTHERS else ""


EDGE, RIGHT = 4, 64


class ProductBars(Canvas):
    """K bars, up (orange) or down (blue) from zero; the line ends at the attention score.

    Attributes:
        reached: the bar that a key reached; None without keyboard focus.
    """

    def __init__(self) -> None:
        super().__init__()
        self._view: QueryKeyView | None = None
        self.reached: int | None = None
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Products of query and key")

    def show_view(self, view: QueryKeyView | None) -> None:
        """Another cell, or none."""
        self._view = view
        self.setAccessibleDescription(view.sentence if view is not None else "")
        self.update()

    def minimumSizeHint(self) -> QSize:
        """Enough to tell bars apart."""
        return QSize(200, 60)

    def dimension_at(self, x: float) -> int | None:
        """The bar at a place."""
        if self._view is None:
            return None
        count = len(self._view.detail.products)
        index = int((x - scaled(EDGE)) / self._step())
        return index if x >= scaled(EDGE) and index < count else None

    def tip_at(self, position: QPointF) -> str:
        """The factors of the bar under the mouse."""
        dimension = self.dimension_at(position.x())
        return self._view.tip(dimension) if self._view is not None and dimension is not None else ""

    def walk(self, by: int) -> None:
        """Goes to the next bar (1) or the previous one (-1), and shows its factors."""
        if self._view is not None:
            last = len(self._view.detail.products) - 1
            self.reached = 0 if self.reached is None else max(0, min(last, self.reached + by))
            x = scaled(EDGE) + (self.reached + 0.5) * self._step()
            QToolTip.showText(
                self.mapToGlobal(QPoint(round(x), self.height())),
                self._view.tip(self.reached),
                self,
            )
            self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not run_by_key(event, (command.on(self) for command in PRODUCT_COMMANDS)):
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """No bar is reached."""
        super().focusOutEvent(event)
        self.reached = None
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        view = self._view
        theme = current_theme()
        if view is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        products = view.detail.products
        running = view.running
        low, high = min(0.0, products.min(), running.min()), max(0.0, products.max(), running.max())
        span = (high - low) or 1.0
        scale = (self.height() - 2 * scaled(EDGE)) / span

        def y_of(value: float) -> float:
            return scaled(EDGE) + (high - float(value)) * scale

        step = self._step()
        zero = y_of(0.0)
        painter.setPen(Qt.PenStyle.NoPen)
        if self.reached is not None:
            column = QRectF(scaled(EDGE) + self.reached * step, 0, step, self.height())
            painter.fillRect(column, theme.color("border"))
        for index, product in enumerate(products.tolist()):
            painter.setBrush(theme.color("warm" if product > 0 else "accent"))
            top, bottom = sorted((zero, y_of(product)))
            painter.drawRect(
                QRectF(scaled(EDGE) + index * step + step * 0.15, top, step * 0.7, bottom - top)
            )
        painter.setPen(QPen(theme.color("border"), 1))
        painter.drawLine(
            QPointF(scaled(EDGE), zero), QPointF(scaled(EDGE) + step * len(products), zero)
        )
        painter.setPen(QPen(theme.color("text", 0.75), 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        points = [
            QPointF(scaled(EDGE) + (index + 0.5) * step, y_of(value))
            for index, value in enumerate(running.tolist())
        ]
        painter.drawPolyline(QPolygonF(points))
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text"))
        end = min(max(points[-1].y() + 4, 12.0), self.height() - 4.0)
        text = f"Σ {number(view.detail.score)}"
        painter.drawText(QPointF(points[-1].x() + 7, end), text)

    def _step(self) -> float:
        count = len(self._view.detail.products) if self._view is not None else 1
        return max(self.width() - scaled(EDGE) - scaled(RIGHT), 10) / count


_OF_PRODUCTS = partial(Command[ProductBars], group=IN_TABLES, line=WALK)


PRODUCT_COMMANDS = (
    _OF_PRODUCTS("Next dimension", lambda bars: bars.walk(1), local_keys=("Right",)),
    _OF_PRODUCTS("Previous dimension", lambda bars: bars.walk(-1), local_keys=("Left",)),
)
