"""One head, large."""

import re

from PySide6.QtCore import QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from core.analysis.measures import MEASURES
from core.analysis.roles import ROLES
from viz_app.heatmap.heatmap import Heatmap
from viz_app.heatmap.lines_view import LinesArea, LinesView
from viz_app.state.explain import explain
from viz_app.state.measuring import SHORT_NAMES
from viz_app.state.role_words import role_in_words
from viz_app.state.translate_state import KIND_NAMES, KIND_TITLES, TranslateState
from viz_app.state.zoom import FIT
from viz_app.theme import PANEL_MARGIN, Theme
from viz_app.views.explanation import Explanation
from viz_app.views.head_controls import HeadControls, SizeControls
from viz_app.views.pick_line import PickLine
from viz_app.views.query_key import QueryKeyCard
from viz_app.widgets.choice_menu import ChoiceMenu
from viz_app.widgets.eliding_label import ElidingLabel
from viz_app.widgets.menu_button import MenuButton
from viz_app.widgets.parts import flat_button, label
from viz_app.widgets.stable_height_label import StableHeightLabel

SCOPES = {
    "head": ("this head", "This head alone"),
    "layer": ("layer", "All heads of its layer"),
    "all": ("all layers", "All heads of all layers of its kind"),
    "chosen": ("chosen", "Several heads: Ctrl-click them in the grid"),
}
QUESTION = "What am I looking at?"
LOW_PANEL = 460  # below this height what a row means is said in one line
COMBINATIONS = {"mean": ("mean", "Their mean"), "max": ("maximum", "Their maximum, cell by cell")}
PICTURES = {
    "heatmap": ("heatmap", "Heatmap: a cell for each pair of tokens"),
    "lines": ("lines", "Lines: tokens left and right, the wider the larger the weight"),
}


class HeadPanel(QFrame):
    """The chosen head, large, with what its rows mean.

    Attributes:
        heatmap, lines: the map, in two ways of drawing.
        query_key: the products behind the pinned cell, over the map.
        pick_line: what is pinned and picked, in words.
        sizes: how large its cells are, or which lines are drawn.
        controls: how rows and columns are named, and which are left out.
        switch_button: switches the head off, or on again.
        export_button: for the page to put a menu on.
        measure_menu: what a cell tells.
        picture_menu: heatmap or lines.
        scope_menu, combination_menu: which heads the map is made of, and how.
        explain_button, explanation: what am I looking at?
        title, role, meaning: which head it is, what it does here, and what a row of it means.

    Signals:
        measure_chosen(str), scope_chosen(str), combination_chosen(str): see `viz_app.state.seeing`.
        switch_wanted(): the chosen head is to be switched off, or on again.
        zoom_chosen(float): see `viz_app.state.zoom`.
    """

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
        self.lines = LinesView(state, theme)
        self.map = QStackedWidget()
        self.map.addWidget(self.heatmap)
        self.map.addWidget(LinesArea(self.lines))
        self.query_key = QueryKeyCard(state, theme, self)
        self.pick_line = PickLine(state)
        self.controls = HeadControls(state)
        self.sizes = SizeControls(state)
        self.sizes.zoom_wanted.connect(
            lambda steps: self.heatmap.zoom_about(QPointF(self.heatmap.rect().center()), steps)
        )
        self.sizes.fit_wanted.connect(lambda: self.zoom_chosen.emit(FIT))
        self.title = ElidingLabel("heading")
        self.role = label("accent")
        self.meaning = label("muted", wraps=True)
        self._meaning_room = StableHeightLabel(self.meaning)
        self.explanation = Explanation()
        self._header, self._is_header_split = QGridLayout(), False
        self._meanings, self._title, self._has_role = ("", "", ""), "", False
        self._make_header()
        self._lay_out()

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        self.query_key.apply_theme(theme)

    def rebuild(self) -> None:
        """Another translation, head, label mode, scale, or way of seeing."""
        state = self._state
        self._name_head()
        self.measure_menu.show_choice(state.measure)
        self.scope_menu.show_choice(state.scope)
        self.combination_menu.show_choice(state.combination)
        self.combination_menu.setVisible(state.scope != "head")
        self.controls.rebuild()
        self.show_picture()
        self._meanings = state.hiding_note(), state.meaning_of_rows(), state.measure_note()
        self._show_explanation()
        self.show_products()
        self._fit()

    def show_picture(self) -> None:
        """Draws the map anew, as a heatmap or as lines."""
        is_lines = self._state.picture == "lines"
        self.picture_menu.show_choice(self._state.picture)
        self.map.setCurrentIndex(1 if is_lines else 0)
        (self.lines if is_lines else self.heatmap).rebuild()
        self.sizes.rebuild()
        self.pick_line.rebuild()
        self._show_explanation()

    def show_picks(self) -> None:
        """Something was pinned or picked, or let go."""
        self.pick_line.rebuild()
        self.heatmap.lay_out()
        self.lines.update()

    def show_products(self) -> None:
        """The products of query and key behind the pinned cell, if they are looked at."""
        self.query_key.rebuild()
        pinned = self.heatmap.cell_rect(self._state.pinned) if self._state.pinned is not None else None
        self.query_key.stand_over(self.map.geometry(), pinned.center().y() if pinned is not None else None)

    def show_switch(self) -> None:
        """The head, or another one, was switched off or on."""
        self._name_head()
        self._show_explanation()
        self._fit()

    def _name_head(self) -> None:
        state = self._state
        is_off = state.is_off(state.choice)
        self._title = state.title() + (" · switched off" if is_off and state.scope == "head" else "")
        self.switch_button.setText("switch on" if is_off else "switch off")
        self.switch_button.setVisible(state.scope == "head")
        has_role = state.translation is not None and state.scope == "head"
        role = state.role(state.translation, state.choice) if has_role and state.translation else "mixed"
        self._has_role = role != "mixed"
        self.role.setVisible(self._has_role)
        self.role.setText(role)
        here = state.translation if has_role else None
        self.role.setToolTip(role_in_words(state, here, state.choice) if here is not None else "")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Title and tools stand in one line, or in two where there is no room; so do the controls below."""
        super().resizeEvent(event)
        self._fit()
        QTimer.singleShot(0, self, self.show_products)  # the map has its place only then

    def _show_explanation(self) -> None:
        is_wanted = self.explain_button.isChecked()
        self.explanation.setVisible(is_wanted)
        if is_wanted:
            self.explanation.show_parts(explain(self._state))
            self._fit()

    def _make_header(self) -> None:
        self.switch_button = flat_button("switch off", "See what the translation becomes without this head (key O)")
        self.switch_button.clicked.connect(self.switch_wanted)
        self.measure_menu = ChoiceMenu("What a cell tells", {each: (name, name) for each, name in SHORT_NAMES.items()})
        for measure, action in self.measure_menu.actions_by_name.items():
            described = MEASURES[measure]  # type: ignore[index]
            action.setToolTip(f"<p>{described.meaning}</p><p>{described.caveat}</p>")
        self.measure_menu.chosen.connect(self.measure_chosen)
        self.picture_menu = ChoiceMenu("How the map is drawn", PICTURES)
        self.scope_menu = ChoiceMenu("Which heads the map is made of", SCOPES)
        self.combination_menu = ChoiceMenu("How several heads become one map", COMBINATIONS)
        self.scope_menu.chosen.connect(self.scope_chosen)
        self.combination_menu.chosen.connect(self.combination_chosen)
        self.export_button = MenuButton("Export ▾", "Save or copy the map, all heads, the page, the numbers")
        self.explain_button = flat_button("", f"{QUESTION} Rows, columns and cells of this map in a few sentences")
        self.explain_button.setCheckable(True)
        self.explain_button.setAccessibleName(QUESTION)
        self.explain_button.toggled.connect(lambda _: self._show_explanation())

    def _fit(self) -> None:
        width = self.width() - 2 * PANEL_MARGIN
        is_low = self.height() < LOW_PANEL
        hidden, rows, measure = self._meanings
        off = self._state.switchboard.maps_note
        whole = "\n".join(filter(None, (off, f"{rows} {hidden}".rstrip(), measure)))
        text = whole
        if is_low:
            short = " ".join(filter(None, (off, hidden, measure, rows)))
            text = self.meaning.fontMetrics().elidedText(short, Qt.TextElideMode.ElideRight, width)
        self.meaning.setToolTip(whole if is_low else "")
        self._meaning_room.show_text(text, width)
        self.controls.fit(width)
        self._fit_header()
        if not self.explanation.isHidden():
            others = self._column.totalMinimumSize().height() - self.explanation.minimumHeight()
            self.explanation.fit(width, self.height(), self.height() - others)

    def _fit_header(self) -> None:
        """The first form of the title that stands beside its role is taken: layer and head must not be cut off."""
        width = self.width() - 2 * PANEL_MARGIN
        mark = "▾" if self.explain_button.isChecked() else "▸"
        self.explain_button.setText(f"{QUESTION} {mark}")
        for row in (self._tools, self._ends):
            row.layout().invalidate()  # type: ignore[union-attr]
        metrics = self.title.fontMetrics()
        role_width = max(map(self.role.fontMetrics().horizontalAdvance, ROLES))  # nothing jumps from head to head
        forms = self._forms_of_title()

        def needed(form: str) -> int:
            return metrics.horizontalAdvance(form) + role_width + self._ends.sizeHint().width() + 24

        if needed(forms[0]) > width:
            self.explain_button.setText(f"? {mark}")
            self._ends.layout().invalidate()  # type: ignore[union-attr]
        has_room_for_role = needed(forms[2]) <= width
        if not has_room_for_role:
            role_width = 0
        self.role.setVisible(self._has_role and has_room_for_role)
        form = next((each for each in forms if needed(each) <= width), forms[-1])
        in_tip = f" · {self.role.text()}" if self._has_role and not has_room_for_role else ""
        self.title.show_short(form, forms[0] + in_tip)
        is_split = needed(form) + self._tools.sizeHint().width() > width
        if is_split != self._is_header_split:
            self._is_header_split = is_split
            self._header.removeWidget(self._tools)
            self._header.addWidget(self._tools, *((1, 0, 1, 3) if is_split else (0, 1, 1, 1)))

    def _forms_of_title(self) -> tuple[str, ...]:
        """From the whole one over "Cross · L3 · H5 · off" to "Cross L3 H5 off"."""
        kind = self._state.choice.kind
        short = self._title.replace(KIND_TITLES[kind], KIND_NAMES[kind]).replace("switched off", "off")
        shortest = re.sub(r"\blayer (\d)", r"L\1", re.sub(r"\bhead (\d)", r"H\1", short))
        return self._title, short, shortest, shortest.replace(" · ", " ")

    def _lay_out(self) -> None:
        name, tools, ends = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        for row, widgets in (
            (name, (self.title, self.role)),
            (
                tools,
                (self.measure_menu, self.picture_menu, self.combination_menu, self.scope_menu, self.switch_button),
            ),
            (ends, (self.export_button, self.explain_button)),
        ):
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(4)
            for widget in widgets:
                row.addWidget(widget)
        name.setSpacing(8)
        name.addStretch(1)
        self._tools, self._ends = QWidget(), QWidget()
        self._tools.setLayout(tools)
        tools.addStretch(1)
        self._ends.setLayout(ends)
        self._header.setSpacing(4)
        self._header.setColumnStretch(0, 1)
        self._header.addLayout(name, 0, 0)
        self._header.addWidget(self._tools, 0, 1)
        self._header.addWidget(self._ends, 0, 2)
        self.pick_line.row.addWidget(self.sizes)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(PANEL_MARGIN, 8, PANEL_MARGIN - 6, 10)
        column.setSpacing(4)
        column.addLayout(self._header)
        column.addWidget(self._meaning_room)
        column.addWidget(self.explanation)
        column.addSpacing(6)
        column.addWidget(self.map, 1)
        column.addWidget(self.pick_line)
        column.addWidget(self.controls)
