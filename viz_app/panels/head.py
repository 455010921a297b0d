"""One head, large."""

from PySide6.QtCore import QPointF, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from core.analysis.measures import MEASURES
from core.analysis.roles import ROLES
from viz_app.exporting import ExportMenu
from viz_app.panels.choice_menu import ChoiceMenu
from viz_app.panels.parts import flat_button, label
from viz_app.panels.pick_line import PickLine
from viz_app.state.explain import explain
from viz_app.state.measuring import SHORT_NAMES
from viz_app.state.translate_state import TranslateState
from viz_app.state.zoom import FIT
from viz_app.theme import PANEL_MARGIN, Theme
from viz_app.widgets.eliding_label import ElidingLabel
from viz_app.widgets.heatmap import Heatmap

SCOPES = {
    "head": ("this head", "This head alone"),
    "layer": ("layer", "All heads of its layer"),
    "all": ("all layers", "All heads of all layers of its kind"),
    "chosen": ("chosen", "Several heads: Ctrl-click them in the grid"),
}
COMBINATIONS = {"mean": ("mean", "Their mean"), "max": ("maximum", "Their maximum, cell by cell")}


class HeadPanel(QFrame):
    """The chosen head, large, with what its rows mean.

    Attributes:
        heatmap: the map.
        pick_line: what is pinned and picked, in words.
        zoom_out, zoom_fit, zoom_in: how large its cells are.
        switch_button: switches the head off, or on again.
        export_menu: takes along what is shown.
        measure_menu: what a cell tells.
        scope_menu, combination_menu: which heads the map is made of, and how.
        explain_button, explanation: what am I looking at?
        title, role, meaning: which head it is, what it does here, and what a row of it means.
        read_button, predicted_button, hide_wrapping, hide_punctuation, merge_words: how rows and columns are named,
            and which are left out.

    Signals:
        label_mode_chosen(str): "read" or "predicted".
        hide_wrapping_chosen(bool), hide_punctuation_chosen(bool), merge_words_chosen(bool)
        measure_chosen(str), scope_chosen(str), combination_chosen(str): see `viz_app.state.seeing`.
        zoom_chosen(float): see `viz_app.state.zoom`.
        switch_wanted(): the chosen head is to be switched off, or on again.
    """

    label_mode_chosen = Signal(str)
    hide_wrapping_chosen = Signal(bool)
    hide_punctuation_chosen = Signal(bool)
    merge_words_chosen = Signal(bool)
    measure_chosen = Signal(str)
    scope_chosen = Signal(str)
    combination_chosen = Signal(str)
    switch_wanted = Signal()
    zoom_chosen = Signal(float)

    def __init__(self, state: TranslateState, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._state = state
        self.heatmap = Heatmap(state, theme)
        self.pick_line = PickLine(state)
        self.title = ElidingLabel("heading")
        self.role = label("accent")
        self.meaning = label("muted", wraps=True)
        self.switch_button = flat_button("switch off", "See what the translation becomes without this head (key O)")
        self.switch_button.clicked.connect(self.switch_wanted)
        self.measure_menu = ChoiceMenu("What a cell tells", {each: (name, name) for each, name in SHORT_NAMES.items()})
        for measure, action in self.measure_menu.actions_by_name.items():
            described = MEASURES[measure]  # type: ignore[index]
            action.setToolTip(f"<p>{described.meaning}</p><p>{described.caveat}</p>")
        self.measure_menu.chosen.connect(self.measure_chosen)
        self.scope_menu = ChoiceMenu("Which heads the map is made of", SCOPES)
        self.combination_menu = ChoiceMenu("How several heads become one map", COMBINATIONS)
        self.scope_menu.chosen.connect(self.scope_chosen)
        self.combination_menu.chosen.connect(self.combination_chosen)
        self.export_button = flat_button("export ▾", "Take the map or the numbers along")
        self.export_menu = ExportMenu(self.export_button, state, self.heatmap)
        self.explain_button = flat_button("?", "What am I looking at?")
        self.explain_button.setCheckable(True)
        self.explain_button.setAccessibleName("What am I looking at?")
        self.explain_button.toggled.connect(lambda _: self._show_explanation())
        self.explanation = label("small", wraps=True)
        self.zoom_out = flat_button("−", "Smaller cells (Ctrl and the wheel)")
        self.zoom_fit = flat_button("fit", "The whole map, whatever its size")
        self.zoom_in = flat_button("+", "Larger cells (Ctrl and the wheel); the map scrolls")
        self.zoom_out.clicked.connect(lambda: self._zoom(-1))
        self.zoom_fit.clicked.connect(lambda: self.zoom_chosen.emit(FIT))
        self.zoom_in.clicked.connect(lambda: self._zoom(1))
        self._make_controls()
        self._lay_out()

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        self.heatmap.apply_theme(theme)

    def rebuild(self) -> None:
        """Another translation, head, label mode, scale, or way of seeing."""
        state = self._state
        self.show_switch()
        self.measure_menu.show_choice(state.measure)
        self.scope_menu.show_choice(state.scope)
        self.combination_menu.show_choice(state.combination)
        self.combination_menu.setVisible(state.scope != "head")
        is_encoder = state.choice.kind == "encoder"
        for button in (self.read_button, self.predicted_button):
            button.setEnabled(not is_encoder)
            button.setToolTip("The encoder predicts nothing: its rows are the tokens it reads." if is_encoder else "")
        self.merge_words.setVisible(state.has_split_words)
        self.heatmap.rebuild()
        self.pick_line.rebuild()
        view = state.view()
        is_hiding = view is not None and (state.hides_wrapping or state.hides_punctuation)
        share = view.hidden_share if view is not None else 0.0
        hidden = f"{100 * share:.0f} % of their attention lies on hidden tokens." if is_hiding else ""
        rows = f"{state.meaning_of_rows()} {hidden}".rstrip()
        self.meaning.setText("\n".join(filter(None, (rows, state.measure_note()))))
        self._show_explanation()
        self._fit_controls()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The controls stand in one line, or in two where there is no room."""
        super().resizeEvent(event)
        self._fit_controls()

    def show_picks(self) -> None:
        """Something was pinned or picked, or let go."""
        self.pick_line.rebuild()
        self.heatmap.lay_out()

    def show_switch(self) -> None:
        """The head was switched off or on."""
        state = self._state
        is_off = state.is_off(state.choice)
        self.title.setText(state.title() + (" · switched off" if is_off and state.scope == "head" else ""))
        self.switch_button.setText("switch on" if is_off else "switch off")
        self.switch_button.setVisible(state.scope == "head")
        has_role = state.translation is not None and state.scope == "head"
        role = state.role(state.translation, state.choice) if has_role and state.translation else "mixed"
        self.role.setVisible(role != "mixed")
        self.role.setText(role)
        self.role.setToolTip(f"In this sentence this head {ROLES[role]}.")

    def _zoom(self, num_steps: int) -> None:
        middle = self.heatmap.rect().center()
        self.heatmap.zoom_about(QPointF(middle), num_steps)

    def _show_explanation(self) -> None:
        is_wanted = self.explain_button.isChecked()
        self.explanation.setVisible(is_wanted)
        if is_wanted:
            self.explanation.setText(explain(self._state))

    def _make_controls(self) -> None:
        state = self._state
        self.read_button = QRadioButton("token read")
        self.predicted_button = QRadioButton("token predicted")
        self.hide_wrapping = QCheckBox("start and end")
        self.hide_wrapping.setToolTip("Leave out the start and end tokens; what stays of a row is scaled up to its sum")
        self.hide_punctuation = QCheckBox("punctuation")
        self.hide_punctuation.setToolTip("Leave out punctuation; what stays of a row is scaled up to its sum")
        self.merge_words = QCheckBox("merge subwords")
        self.merge_words.setToolTip("Words instead of pieces: columns are summed, rows averaged")
        self._group = QButtonGroup(self)
        self._group.addButton(self.read_button)
        self._group.addButton(self.predicted_button)
        (self.read_button if state.label_mode == "read" else self.predicted_button).setChecked(True)
        self.hide_wrapping.setChecked(state.hides_wrapping)
        self.hide_punctuation.setChecked(state.hides_punctuation)
        self.merge_words.setChecked(state.merges_words)
        self._rows_label, self._hide_label = label("muted"), label("muted")
        self._rows_label.setText("rows:")
        self._hide_label.setText("hide:")
        self.read_button.toggled.connect(
            lambda is_read: self.label_mode_chosen.emit("read" if is_read else "predicted")
        )
        self.hide_wrapping.toggled.connect(self.hide_wrapping_chosen)
        self.hide_punctuation.toggled.connect(self.hide_punctuation_chosen)
        self.merge_words.toggled.connect(self.merge_words_chosen)

    def _fit_controls(self) -> None:
        groups = (self._rows_controls, self._columns_controls)
        margins = self.contentsMargins().left() + self.contentsMargins().right() + 2 * PANEL_MARGIN
        needed = sum(group.sizeHint().width() for group in groups) + self._controls.spacing() + margins
        fits = needed <= self.width()
        direction = QBoxLayout.Direction.LeftToRight if fits else QBoxLayout.Direction.TopToBottom
        if direction != self._controls.direction():
            self._controls.setDirection(direction)
            self._controls.setSpacing(18 if fits else 4)

    def _lay_out(self) -> None:
        self._rows_controls, self._columns_controls = QHBoxLayout(), QHBoxLayout()
        for group in (self._rows_controls, self._columns_controls):
            group.setSpacing(10)
        for widget in (self._rows_label, self.read_button, self.predicted_button):
            self._rows_controls.addWidget(widget)
        for choice in (self._hide_label, self.hide_wrapping, self.hide_punctuation):
            self._columns_controls.addWidget(choice)
        self._rows_controls.addStretch(0)
        self._columns_controls.addWidget(self.merge_words)
        self._columns_controls.addStretch(1)
        self._controls = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._controls.setSpacing(18)
        self._controls.addLayout(self._rows_controls)
        self._controls.addLayout(self._columns_controls, 1)
        header = QHBoxLayout()
        header.setSpacing(4)
        header.addWidget(self.title)
        header.addSpacing(8)
        header.addWidget(self.role)
        header.addStretch(1)
        for button in (
            self.measure_menu,
            self.combination_menu,
            self.scope_menu,
            self.switch_button,
            self.export_button,
            self.explain_button,
        ):
            header.addWidget(button)
        for button in (self.zoom_out, self.zoom_fit, self.zoom_in):
            self.pick_line.row.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(PANEL_MARGIN, 8, PANEL_MARGIN - 6, 10)
        column.setSpacing(4)
        column.addLayout(header)
        column.addWidget(self.meaning)
        column.addWidget(self.explanation)
        column.addSpacing(6)
        column.addWidget(self.heatmap, 1)
        column.addWidget(self.pick_line)
        column.addLayout(self._controls)
