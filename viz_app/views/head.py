"""One head, large."""

import re
from functools import lru_cache, partial
from html import escape

from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QFont, QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QStackedWidget, QWidget

from augenmerk.core.analysis.measures import MEASURES
from augenmerk.core.analysis.roles import ROLES
from augenmerk.core.model.heads import KIND_TITLES
from augenmerk.core.translation.result import MapKind
from augenmerk.viz_app.heatmap.heatmap import Heatmap
from augenmerk.viz_app.heatmap.lines_view import LinesArea, LinesView
from augenmerk.viz_app.state import map_text
from augenmerk.viz_app.state.evented_options import on_redraw
from augenmerk.viz_app.state.experiment_editor import toggle_head
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.explain import explain
from augenmerk.viz_app.state.head_roles import role_in_words
from augenmerk.viz_app.theme import PANEL_MARGIN, current_theme, scaled, scales
from augenmerk.viz_app.views.cell_menu import CellMenu
from augenmerk.viz_app.views.commands import SWITCH_HEAD
from augenmerk.viz_app.views.explanation import Explanation
from augenmerk.viz_app.views.head_controls import HeadControls, PickLine, SizeControls, TokensMenu
from augenmerk.viz_app.views.query_key import QueryKeyCard
from augenmerk.viz_app.widgets.labels import ElidingLabel, StableHeightLabel
from augenmerk.viz_app.widgets.layouts import Space, column_of
from augenmerk.viz_app.widgets.menu_button import ChoiceMenu, MenuButton
from augenmerk.viz_app.widgets.parts import flat_button, label, set_visible
from augenmerk.viz_app.worker.experiment_controller import ExperimentController

SCOPES = {
    "head": ("this head", "This head alone"),
    "layer": ("layer", "All heads of its layer"),
    "all": ("all layers", "All heads of all layers of its kind"),
    "chosen": ("chosen", "Several heads: Ctrl-click them in the grid"),
}
QUESTION = "What am I looking at?"
LOW_PANEL = 560
"""Pixels of height below which the map is given the lines of what is not the map: one line of tools above it, a menu in
place of the controls below it, what a row means in one paragraph."""
SWITCH_TEXTS = ("switch off", "switch on")
NAME_GAPS = 24
COMBINATIONS = {"mean": ("mean", "Their mean"), "max": ("maximum", "Their maximum, cell by cell")}
PICTURES = {
    "heatmap": ("heatmap", "Heatmap: a cell for each pair of tokens"),
    "lines": ("lines", "Lines between tokens, wider for larger weights"),
}


class HeadPanel(QFrame):
    """The chosen head, large, with what its rows mean. Keyboard focus that it is given is the map's.

    Attributes:
        heatmap, lines: the map, in two ways of drawing; `map` holds both.
        query_key: explains the pinned weight, over the map.
        pick_line: what is pinned and picked, in words.
        sizes: how large its cells are, or which lines are drawn.
        controls: how rows and columns are named, and which are left out; in a low panel `tokens_menu` in their place.
        switch_button: switches the head off, or on again.
        export_button: for the page to put a menu on.
        measure_menu: what a cell tells.
        picture_menu: heatmap or lines.
        scope_menu, combination_menu: which heads the map is made of, and how.
        explain_button, explanation: what am I looking at?
        title, role, meaning: which head it is, what it does here, and what a row of it means.
        cell_menu: the context menu that was opened last, or None.
    """

    def __init__(
        self,
        state: ExperimentState,
        controller: ExperimentController,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._state = state
        self.heatmap = Heatmap(state)
        self.lines = LinesView(state)
        self.map = QStackedWidget()
        self.map.addWidget(self.heatmap)
        self.map.addWidget(LinesArea(self.lines))
        self.query_key = QueryKeyCard(state, controller, self)
        self.pick_line = PickLine(state, self.query_key.explanation)
        self.controls = HeadControls(state)
        self.tokens_menu = TokensMenu(state)
        self.sizes = SizeControls(state)
        self.sizes.zoomed.connect(self._zoom)
        self.title = ElidingLabel("heading")
        self.role = label("accent")
        self.meaning = label("muted", wraps=True)
        self._meaning_room = StableHeightLabel(self.meaning)
        self.explanation = Explanation()
        self.cell_menu: CellMenu | None = None
        self._header = HeaderLine(self, state)
        self._meanings, self._has_role, self._offers_cancel = ("", "", ""), False, False
        self._titles = ("", "", "")
        self._make_header()
        self._lay_out()
        self._follow()
        self.rebuild()

    def _follow(self) -> None:
        state, selection = self._state, self._state.selection.events
        for changed in (state.result_changed, state.measuring.changed, state.roles_changed):
            changed.connect(self.rebuild)
        on_redraw(state.settings, ("maps", "large map"), self.rebuild)
        selection.head.connect(self._show_head, max_args=0)
        self.meaning.linkActivated.connect(lambda _link: state.measuring.cancel())
        state.experiment_changed.connect(self._show_head)
        state.measuring.request.changed.connect(self._show_head)
        state.settings.events.line_threshold.connect(self._show_explanation, max_args=0)
        state.settings.events.zoom.connect(self._place_card, max_args=0)
        selection.pinned.connect(self._place_card, max_args=0)
        self.query_key.rebuilt.connect(self._place_card)
        for widget in (self.heatmap, self.lines):
            widget.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
            widget.customContextMenuRequested.connect(partial(self._open_cell_menu, widget))

    def rebuild(self) -> None:
        """Another result, label mode, scale, or way to show the map: the menus and the words around it follow."""
        settings = self._state.settings
        self.measure_menu.show_choice(settings.measure)
        self.picture_menu.show_choice(settings.picture)
        self.scope_menu.show_choice(settings.scope)
        self.combination_menu.show_choice(settings.combination)
        self.combination_menu.setVisible(settings.scope != "head")
        self.map.setCurrentIndex(1 if settings.picture == "lines" else 0)
        self.setFocusProxy(self.lines if settings.picture == "lines" else self.heatmap)
        self._show_head()

    def _show_head(self) -> None:
        """The words around the map."""
        state = self._state
        self._name_head()
        self._meanings = (
            " ".join(
                filter(None, (map_text.off_note(state), map_text.difference_note(state), map_text.hiding_note(state)))
            ),
            map_text.meaning_of_query(state),
            map_text.measure_note(state),
        )
        measure, kind = state.settings.measure, state.selection.head.kind
        self._offers_cancel = state.measuring.is_awaited and kind in MEASURES[measure].kinds
        self._show_explanation()
        self._fit()
        self._place_card_soon()

    def _zoom(self, num_steps: int) -> None:
        self.heatmap.zoom_about(QPointF(self.heatmap.rect().center()), num_steps)

    def _place_card(self) -> None:
        """The explanation of the pinned weight stands where it does not cover the cell."""
        if self.query_key.explanation.is_open:
            pinned = self._state.selection.pinned
            cell = self.heatmap.cell_rect(pinned) if pinned is not None else None
            self.query_key.stand_over(self.map.geometry(), cell.center().y() if cell is not None else None)

    def _place_card_soon(self) -> None:
        if self.query_key.explanation.is_open:
            QTimer.singleShot(0, self, self._place_card)  # the map has its place only then

    def _open_cell_menu(self, widget: Heatmap | LinesView, point: QPoint) -> None:
        at = QPointF(point)
        pair = widget.pair_at(at) if isinstance(widget, Heatmap) else None
        place = widget.mapToGlobal(point)
        self.cell_menu = CellMenu(self._state, widget.queries_at(at), pair, place, self)
        if self.cell_menu.actions():
            self.cell_menu.popup(place)

    def _name_head(self) -> None:
        state, scope = self._state, self._state.settings.scope
        head = state.selection.head
        is_off = head in state.experiment.heads_off
        shown = state.maps.shown
        is_changed = state.result is not None and state.result.is_changed
        name = map_text.title(state)
        parts = [name]
        if is_off and scope == "head" and shown != "original":
            parts.append("off")
        brief = " · ".join(parts)
        if is_changed and (shown == "original" or state.maps.is_signed(head.kind)):
            parts.append(shown)
        self._titles = name, brief, " · ".join(parts)
        self.switch_button.setText(SWITCH_TEXTS[is_off])
        self.switch_button.setVisible(scope == "head")
        has_role = state.result is not None and scope == "head" and state.roles.sample is not None
        role = state.roles.of(head) if has_role else "mixed"
        self._has_role = role != "mixed"
        self.role.setVisible(self._has_role)
        self.role.setText(role)
        self.role.setToolTip(role_in_words(state.roles, head) if has_role else "")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Title and tools stand in one line, or in two where there is no room; so do the controls below."""
        super().resizeEvent(event)
        self._fit()
        self._place_card_soon()

    def _show_explanation(self) -> None:
        is_wanted = self.explain_button.isChecked()
        self.explanation.setVisible(is_wanted)
        if is_wanted:
            self.explanation.show_parts(explain(self._state))
            self._fit()

    def _make_header(self) -> None:
        state, settings = self._state, self._state.settings
        self.switch_button = flat_button(
            SWITCH_TEXTS[False], SWITCH_HEAD.tip_with_keys("See what the translation becomes without this head")
        )
        self.switch_button.clicked.connect(lambda: state.submit(toggle_head(state.selection.head)))
        names = {measure: (described.name, described.name) for measure, described in MEASURES.items()}
        self.measure_menu = ChoiceMenu("What a cell tells", names)
        for measure, action in self.measure_menu.actions_by_name.items():
            described = MEASURES[measure]
            action.setToolTip(f"<p>{described.meaning}</p><p>{described.caveat}</p>")
        self.picture_menu = ChoiceMenu("How the map is drawn", PICTURES)
        self.scope_menu = ChoiceMenu("The heads in the map", SCOPES)
        self.combination_menu = ChoiceMenu("How to combine several heads", COMBINATIONS)
        self.picture_menu.chosen.connect(self._choose_picture)
        for menu, name in (
            (self.measure_menu, "measure"),
            (self.scope_menu, "scope"),
            (self.combination_menu, "combination"),
        ):
            menu.chosen.connect(partial(setattr, settings, name))
        self.export_button = MenuButton("Export ▾", "Save or copy the map, all heads, the page, the numbers")
        self.explain_button = flat_button("", f"{QUESTION} Rows, columns and cells of this map in a few sentences")
        self.explain_button.setCheckable(True)
        self.explain_button.setAccessibleName(QUESTION)
        self.explain_button.toggled.connect(self._on_explain_toggled)

    def _choose_picture(self, picture: str) -> None:
        self._state.selection.clear_hovered()
        self._state.settings.picture = "lines" if picture == "lines" else "heatmap"

    def _on_explain_toggled(self) -> None:
        self._show_explanation()
        self._fit()

    @property
    def _is_low(self) -> bool:
        return self.height() < scaled(LOW_PANEL)

    def _fit(self) -> None:
        """What a query shows is always said in full: in as many lines as it takes."""
        width = self.width() - 2 * scaled(PANEL_MARGIN)
        notes, of_query, measure = self._meanings
        may_be_off = self._state.settings.scope == "head" and not notes
        text, when_off = (
            " ".join(filter(None, (of_query, note, measure)))
            if self._is_low
            else "\n".join(filter(None, (f"{of_query} {note}".rstrip(), measure)))
            for note in (notes, map_text.OFF_NOTE if may_be_off else notes)
        )
        if self._offers_cancel:
            text, when_off = with_cancel(text), ""
        self.meaning.setTextFormat(Qt.TextFormat.RichText if self._offers_cancel else Qt.TextFormat.PlainText)
        self._meaning_room.show_text(text, width, when_off)
        set_visible(self.controls, not self._is_low, focus_to=self)
        set_visible(self.tokens_menu, self._is_low, focus_to=self)
        self.controls.fit(width)
        name, brief, title = self._titles
        self._header.fit(name, brief, title, has_role=self._has_role, is_low=self._is_low)
        if not self.explanation.isHidden():
            others = self._column.totalMinimumSize().height() - self.explanation.minimumHeight()
            self.explanation.fit(width, self.height(), self.height() - others)

    def _lay_out(self) -> None:
        name, tools, ends = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        for row, widgets in (
            (name, (self.title, self.role)),
            (
                tools,
                (
                    self.measure_menu,
                    self.picture_menu,
                    self.combination_menu,
                    self.scope_menu,
                    self.switch_button,
                ),
            ),
            (ends, (self.export_button, self.explain_button)),
        ):
            row.setContentsMargins(0, 0, 0, 0)
            scales(row.setSpacing, 4)
            for widget in widgets:
                widget.setProperty("isDense", row is not name)
                row.addWidget(widget)
        scales(name.setSpacing, 8)
        name.addStretch(1)
        header = self._header
        header.tools.setLayout(tools)
        tools.addStretch(1)
        header.ends.setLayout(ends)
        scales(header.grid.setSpacing, 4)
        header.grid.setColumnStretch(0, 1)
        header.grid.addLayout(name, 0, 0)
        header.grid.addWidget(header.tools, 0, 1)
        header.grid.addWidget(header.ends, 0, 2)
        self.pick_line.row.insertWidget(2, self.tokens_menu)  # after the stretch and the label
        self.pick_line.row.addWidget(self.sizes)
        self._column = column_of(
            self._header.grid,
            self._meaning_room,
            self.explanation,
            Space(6),
            (self.map, 1),
            self.pick_line,
            self.controls,
            spacing=4,
            margins=(PANEL_MARGIN, 8, PANEL_MARGIN - 6, 10),
            within=self,
        )


class HeaderLine:
    """Fits the title of a `HeadPanel`, its role, the tools and the ends into one line, or into two.

    Attributes:
        grid: the layout.
        tools, ends: the menus and the switch; the buttons at the right end.
    """

    def __init__(self, panel: HeadPanel, state: ExperimentState) -> None:
        self._panel, self._state = panel, state
        self.grid, self._is_split = QGridLayout(), False
        self.tools, self.ends = QWidget(), QWidget()
        self._ends_widths: dict[tuple[str, str, int], int] = {}

    def fit(self, name: str, brief: str, title: str, *, has_role: bool, is_low: bool) -> None:
        """The first form of the title that stands beside its role is taken: layer and head must not be cut off.

        Whether the tools stand in the same line depends on the head's name alone, not on what is said of it: the map
        stays where it is when a head is switched off, or another of its maps is shown.
        """
        panel = self._panel
        width, mark = panel.width() - 2 * scaled(PANEL_MARGIN), "▾" if self._panel.explain_button.isChecked() else "▸"
        kind, advance = self._state.selection.head.kind, panel.title.fontMetrics().horizontalAdvance
        role_width = width_of_roles(panel.role.font().toString())
        tools, short_ends = self._tools_width(), self._ends_width(f"? {mark}")
        if is_low:
            role_width = panel.role.sizeHint().width()  # the tools stand at the right: nothing jumps here
            needed = advance(forms_of_title(f"{name} · off", kind)[-1]) + short_ends + scaled(NAME_GAPS)
        else:
            longest = forms_of_title(f"{name} · off · difference", kind)
            sizes = [advance(form) + role_width + short_ends + scaled(NAME_GAPS) for form in longest]
            needed = next((size for size in sizes if size <= width), sizes[-1])
        is_split = needed + tools > width
        forms = forms_of_title(title, kind)
        room = width - scaled(NAME_GAPS) - (0 if is_split else tools)
        question = f"{QUESTION} {mark}"
        if advance(forms[0]) + role_width + self._ends_width(question) > room:
            question = f"? {mark}"
        self._show_question(question)
        room -= self._ends_width(question)
        has_room_for_role = advance(forms[2]) + role_width <= room
        panel.role.setVisible(has_role and has_room_for_role)
        left = room - (role_width if has_room_for_role else 0)
        form = next((each for each in (*forms, *forms_of_title(brief, kind)[2:]) if advance(each) <= left), "")
        in_tip = f" · {panel.role.text()}" if has_role and not has_room_for_role else ""
        panel.title.show_short(form or forms[-1], forms[0] + in_tip)
        if is_split != self._is_split:
            self._is_split = is_split
            self.grid.removeWidget(self.tools)
            self.grid.addWidget(self.tools, *((1, 0, 1, 3) if is_split else (0, 1, 1, 1)))

    def _tools_width(self) -> int:
        """Of the menus and the switch, whatever the switch says."""
        self.tools.layout().invalidate()  # type: ignore[union-attr]
        advance, text = self._panel.switch_button.fontMetrics().horizontalAdvance, self._panel.switch_button.text()
        return self.tools.sizeHint().width() + max(map(advance, SWITCH_TEXTS)) - advance(text)

    def _ends_width(self, question: str) -> int:
        """Of the buttons at the right end, with this text on the last of them."""
        key = question, self._panel.explain_button.font().toString(), self._panel.export_button.sizeHint().width()
        if key not in self._ends_widths:
            shown = self._panel.explain_button.text()
            for button in (self._panel.export_button, self._panel.explain_button):
                button.ensurePolished()  # or its width is another one before it is first painted
            self._show_question(question)
            self._ends_widths[key] = self.ends.sizeHint().width()
            self._show_question(shown)
        return self._ends_widths[key]

    def _show_question(self, question: str) -> None:
        """Another text would be painted, and the page laid out anew: not at each step through the heads."""
        if question != self._panel.explain_button.text():
            self._panel.explain_button.setText(question)
            self.ends.layout().invalidate()  # type: ignore[union-attr]


def with_cancel(text: str) -> str:
    """A text that says that something is computed, as rich text with a link that cancels it."""
    lines, color = escape(text).replace("\n", "<br>"), current_theme().color("accent").name()
    return f'{lines} <a href="cancel" style="color:{color}">cancel</a> (Esc)'


@lru_cache(maxsize=8)
def width_of_roles(font: str) -> int:
    """Of the longest role, in pixels: nothing is to jump from head to head. `font`: as `QFont.toString` has it."""
    wanted = QFont()
    wanted.fromString(font)
    return max(map(QFontMetrics(wanted).horizontalAdvance, ROLES))


@lru_cache(maxsize=256)  # asked for at each step through the heads
def forms_of_title(title: str, kind: MapKind) -> tuple[str, str, str, str]:
    """From the whole one over "Cross · layer 3 · head 5 · off" to "Cross 3·5 off", as heads are named briefly."""
    short = title.replace(KIND_TITLES[kind], map_text.KIND_NAMES[kind])
    shorter = re.sub(r" · layer (\d+) · head (\d+)", r" \1·\2", short)
    return title, short, shorter, shorter.replace(" · ", " ")
