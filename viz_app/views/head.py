"""One head, large."""

import html
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from html import escape

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAction,
    QActionGroup,
    QFont,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QBoxLayout,
    QButtonGroup,
    QCheckBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMenu,
    QRadioButton,
    QScrollArea,
    QSizePolicy,
    QSlider,
    QStackedWidget,
    QToolTip,
    QWidget,
)

from augenmerk.core.analysis.measures import MEASURES
from augenmerk.core.analysis.roles import ROLES
from augenmerk.core.analysis.selection import LabelMode
from augenmerk.core.analysis.trace import Trace
from augenmerk.core.model.heads import KIND_TITLES
from augenmerk.core.quantities import number
from augenmerk.core.translation.result import MapKind, Translation
from augenmerk.viz_app.heatmap.heatmap import Heatmap
from augenmerk.viz_app.heatmap.lines_view import LinesArea, LinesView
from augenmerk.viz_app.state import map_text
from augenmerk.viz_app.state.experiment_editor import toggle_head
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.head_roles import role_in_words
from augenmerk.viz_app.state.map_text import Part
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.state.map_view_settings import FIT, on_redraw
from augenmerk.viz_app.state.weight_explanation import QueryKeyView, WeightExplanation, query_key_view
from augenmerk.viz_app.theme import PANEL_MARGIN, current_theme, scaled, scales
from augenmerk.viz_app.views.cell_menu import CellMenu
from augenmerk.viz_app.views.commands import SWITCH_HEAD
from augenmerk.viz_app.widgets.buttons import ChoiceMenu, MenuButton, flat_button
from augenmerk.viz_app.widgets.labels import ElidingLabel, StableHeightLabel, label
from augenmerk.viz_app.widgets.layouts import Space, column_of, row_of, set_visible
from augenmerk.viz_app.worker.inference import ExperimentController, TraceJob

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
            self.explanation.show_parts(map_text.explain(self._state))
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


MAX_THRESHOLD_PERCENT = 60
MODES: tuple[LabelMode, ...] = ("predicted", "read")
"""How queries are named, in the order of the menu."""
HIDING = {
    "hides_wrapping": "Hide start and end",
    "hides_punctuation": "Hide punctuation",
    "merges_words": "Merge subwords",
}
"""Settings that leave tokens out or put them together, as the menu calls them."""


TOKEN_TIPS = {
    "read": "A row is named by the word that goes in: where does the model look after reading it, to choose the next?",
    "predicted": "A row is named by the word that comes out: where did the model look while it chose this word?",
    "hides_wrapping": "Hide the start and end tokens; the rest of a row is scaled up to its sum",
    "hides_punctuation": "Leave out punctuation; the rest of a row is scaled up to its sum",
    "merges_words": "Words instead of pieces: columns are summed, rows averaged",
}
"""The tool tip of each control, under the name of what it sets."""
ENCODER_TIP = "The encoder predicts nothing: its rows are the tokens it reads."


class TokenChoices:
    """Connects buttons or menu entries with the settings of how tokens are named, hidden and merged.

    Args:
        state: has the settings.
        controls: checkable, by name: "predicted", "read", and the names in `HIDING`. The first two exclude each other.
    """

    def __init__(self, state: ExperimentState, controls: Mapping[str, QAction] | Mapping[str, QAbstractButton]) -> None:
        self._state, self._controls = state, controls
        self.rebuild()
        for mode in MODES:
            controls[mode].toggled.connect(partial(self._choose_label_mode, mode))
        for name in HIDING:
            controls[name].toggled.connect(partial(setattr, state.settings, name))
        state.result_changed.connect(self.rebuild)
        state.selection.events.head.connect(self.show_tips, max_args=0)
        on_redraw(state.settings, ("maps",), self.rebuild)

    def rebuild(self) -> None:
        """Another result, or another choice."""
        settings = self._state.settings
        self._controls[settings.label_mode].setChecked(True)
        for name in HIDING:
            self._controls[name].setChecked(getattr(settings, name))
        self._controls["merges_words"].setVisible(map_text.splits_words(self._state))
        self.show_tips()

    def show_tips(self) -> None:
        """Updates the tool tips. Rows of the encoder have one name."""
        is_encoder = self._state.selection.head.kind == "encoder"
        for name, control in self._controls.items():
            tip = ENCODER_TIP if is_encoder and name in MODES else TOKEN_TIPS[name]
            if tip != control.toolTip():
                control.setToolTip(tip)
        for mode in MODES:
            self._controls[mode].setEnabled(not is_encoder)

    def _choose_label_mode(self, mode: LabelMode, is_chosen: bool) -> None:
        if is_chosen:
            self._state.settings.label_mode = mode


class HeadControls(QWidget):
    """One line, or two where there is no room.

    Attributes:
        read_button, predicted_button, hide_wrapping, hide_punctuation, merge_words: how rows and columns are named,
            and which are left out.
    """

    def __init__(self, state: ExperimentState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.read_button = QRadioButton("token read")
        self.predicted_button = QRadioButton("token predicted")
        self.hide_wrapping = QCheckBox("start and end")
        self.hide_punctuation = QCheckBox("punctuation")
        self.merge_words = QCheckBox("merge subwords")
        self._group = QButtonGroup(self)
        self._group.addButton(self.read_button)
        self._group.addButton(self.predicted_button)
        self._queries_label, self._hide_label = label("muted"), label("muted")
        self._queries_label.setText("rows:")
        self._hide_label.setText("hide:")
        hiding = (self.hide_wrapping, self.hide_punctuation, self.merge_words)
        buttons = {
            "predicted": self.predicted_button,
            "read": self.read_button,
            **dict(zip(HIDING, hiding, strict=True)),
        }
        self._choices = TokenChoices(state, buttons)
        self._choices.show_tips()
        self._lay_out()

    def fit(self, width: int) -> None:
        """One line if it fits into this width, else two."""
        self._line.invalidate()
        needed = self._naming.sizeHint().width() + self._hiding.sizeHint().width() + scaled(18)
        fits = needed <= width
        direction = QBoxLayout.Direction.LeftToRight if fits else QBoxLayout.Direction.TopToBottom
        if direction != self._line.direction():
            self._line.setDirection(direction)
            scales(self._line.setSpacing, 18 if fits else 4)

    def _lay_out(self) -> None:
        self._naming = row_of(self._queries_label, self.predicted_button, self.read_button, 0, spacing=10)
        hiding = (self._hide_label, self.hide_wrapping, self.hide_punctuation, self.merge_words)
        self._hiding = row_of(*hiding, 1, spacing=10)
        self._line: QBoxLayout = row_of(self._naming, (self._hiding, 1), spacing=18, within=self)


class TokensMenu(MenuButton):
    """The same choices as a menu, for where there is no room for `HeadControls`.

    Attributes:
        actions_by_name: "predicted", "read", and the names of the settings of what is left out and merged.
    """

    def __init__(self, state: ExperimentState, parent: QWidget | None = None) -> None:
        super().__init__("tokens ▾", "How rows are named, and which tokens are hidden", parent)
        self._state = state
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        self.actions_by_name: dict[str, QAction] = {}
        group = QActionGroup(menu)
        for mode in MODES:
            self._add(menu, mode, f"Rows: token {mode}").setActionGroup(group)
        menu.addSeparator()
        for name, text in HIDING.items():
            self._add(menu, name, text)
        self.setMenu(menu)
        self._choices = TokenChoices(state, self.actions_by_name)
        self._choices.show_tips()

    def _add(self, menu: QMenu, name: str, text: str) -> QAction:
        action = menu.addAction(text)
        action.setCheckable(True)
        self.actions_by_name[name] = action
        return action


class SizeControls(QWidget):
    """How large the map's cells are; or, of lines, from which weight on they are drawn.

    Attributes:
        zoom_out, zoom_fit, zoom_in: of the heatmap.
        threshold: of the lines, in percent of the last colour's weight.

    Signals:
        zoomed(int): the map is to be larger by a step, or smaller: by how much depends on how large it is.
    """

    zoomed = Signal(int)

    def __init__(self, state: ExperimentState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.zoom_out = flat_button("−", "Smaller cells (Ctrl and the wheel)")
        self.zoom_fit = flat_button("fit", "Fit the whole map")
        self.zoom_in = flat_button("+", "Larger cells (Ctrl and the wheel); the map scrolls")
        self.zoom_out.clicked.connect(lambda: self.zoomed.emit(-1))
        self.zoom_fit.clicked.connect(self._fit)
        self.zoom_in.clicked.connect(lambda: self.zoomed.emit(1))
        self.threshold = QSlider(Qt.Orientation.Horizontal)
        self.threshold.setRange(0, MAX_THRESHOLD_PERCENT)
        scales(self.threshold.setFixedWidth, 110)
        self.threshold.setToolTip("Weaker lines are left out")
        self.threshold.setAccessibleName("Weakest line that is drawn")
        self.threshold.valueChanged.connect(self._choose_threshold)
        self._caption = label("small")
        row_of(self.zoom_out, self.zoom_fit, self.zoom_in, self._caption, self.threshold, spacing=4, within=self)
        self.rebuild()
        for changed in (state.settings.events.picture, state.settings.events.line_threshold):
            changed.connect(self.rebuild, max_args=0)

    def rebuild(self) -> None:
        """The picture or the threshold was changed."""
        settings = self._state.settings
        is_lines = settings.picture == "lines"
        for button in (self.zoom_out, self.zoom_fit, self.zoom_in):
            button.setVisible(not is_lines)
        self._caption.setText(f"from {settings.line_threshold:.2f}")
        self.threshold.setValue(round(100 * settings.line_threshold))
        for widget in (self._caption, self.threshold):
            widget.setVisible(is_lines)

    def _fit(self) -> None:
        self._state.settings.zoom = FIT

    def _choose_threshold(self, percent: int) -> None:
        self._state.settings.line_threshold = percent / 100


LEAST_WORDS = 150
"""Pixels that the words need; beside buttons that leave them less they stand in a line of their own."""
_DIRECT = Qt.FindChildOption.FindDirectChildrenOnly
LINES_HINT = """Click words at the left to sum their lines (Ctrl, Shift: several)
Click words at the left to sum their lines
Click words at the left
Click words"""


HINT = """Click cells to pin them, words at the left to sum their rows (Ctrl, Shift: several)
Click a cell to pin it, words at the left to sum rows
Click a cell, or words at the left
Click a cell or word
Click a cell"""
"""The effect of a click on the heatmap, in ever fewer words."""


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
        self.label = ElidingLabel("small", HINT, elide=Qt.TextElideMode.ElideMiddle)
        self.clear_button = flat_button("clear", "Unpin the cell and clear picked tokens (Esc)")
        policy = self.clear_button.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # the map must not jump when a cell is pinned
        self.clear_button.setSizePolicy(policy)
        self.clear_button.clicked.connect(state.selection.clear_marks)
        self.explain_button = flat_button(
            "Explain this weight", "The origin of the pinned weight: query times key, by dimension"
        )
        self.explain_button.setCheckable(True)
        self.explain_button.toggled.connect(partial(setattr, explanation, "is_open"))
        self._is_split = False
        # the stretch takes the room of the label when that has a line of its own
        self.row = row_of(0, (self.label, 1), self.clear_button, self.explain_button, spacing=4)
        self._column = column_of(self.row, spacing=0, within=self)
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
        how = LINES_HINT if is_lines else HINT
        self.label.setText(map_text.marks_in_words(state) or how)
        self.explain_button.setVisible(not is_lines)
        self.explain_button.setChecked(self._explanation.is_open)


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


EDGE, RIGHT = 4, 64


class ProductBars(QWidget):
    """K bars, up or down from zero; the line ends at the logit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view: QueryKeyView | None = None
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

    def event(self, event: QEvent) -> bool:
        """Tool tips tell the factors."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            dimension = self.dimension_at(event.pos().x())
            if self._view is None or dimension is None:
                QToolTip.hideText()
            else:
                QToolTip.showText(event.globalPos(), self._view.tip(dimension), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Bars, the zero line, the running sum, the logit."""
        view, theme = self._view, current_theme()
        if view is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        products, running = view.detail.products, view.running
        low, high = min(0.0, products.min(), running.min()), max(0.0, products.max(), running.max())
        span = (high - low) or 1.0
        scale = (self.height() - 2 * scaled(EDGE)) / span

        def y_of(value: float) -> float:
            return scaled(EDGE) + (high - float(value)) * scale

        step, zero = self._step(), y_of(0.0)
        painter.setPen(Qt.PenStyle.NoPen)
        for index, product in enumerate(products.tolist()):
            painter.setBrush(theme.color("accent" if product >= 0 else "warm"))
            top, bottom = sorted((zero, y_of(product)))
            painter.drawRect(QRectF(scaled(EDGE) + index * step + step * 0.15, top, step * 0.7, bottom - top))
        painter.setPen(QPen(theme.color("border"), 1))
        painter.drawLine(QPointF(scaled(EDGE), zero), QPointF(scaled(EDGE) + step * len(products), zero))
        painter.setPen(QPen(theme.color("text", 0.75), 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        points = [
            QPointF(scaled(EDGE) + (index + 0.5) * step, y_of(value)) for index, value in enumerate(running.tolist())
        ]
        painter.drawPolyline(QPolygonF(points))
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text"))
        end = min(max(points[-1].y() + 4, 12.0), self.height() - 4.0)
        text = f"Σ {number(view.detail.logit)}"
        painter.drawText(QPointF(points[-1].x() + 7, end), text)

    def _step(self) -> float:
        count = len(self._view.detail.products) if self._view is not None else 1
        return max(self.width() - scaled(EDGE) - scaled(RIGHT), 10) / count


MAX_SHARE = 0.33
"""Of the panel's height: the map stays in sight."""
SCROLL_BAR_WIDTH = 14
LEAST = 36
"""Two lines: however low the panel is, something can be read, and scrolled."""


class Explanation(QScrollArea):
    """Paragraphs, each with a word in bold before it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._label = QLabel()
        self._label.setTextFormat(Qt.TextFormat.RichText)
        self._label.setWordWrap(True)
        self._label.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.setWidget(self._label)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self._label.setAutoFillBackground(False)

    def show_parts(self, parts: Sequence[Part]) -> None:
        """Says something else."""
        paragraphs = (
            f'<p style="margin: 0 0 4px 0"><b>{html.escape(part.about)}</b>&nbsp; {html.escape(part.text)}</p>'
            for part in parts
        )
        self._label.setText("".join(paragraphs))

    def text(self) -> str:
        """What stands there, as HTML."""
        return self._label.text()

    def fit(self, width: int, panel_height: int, left_over: int) -> None:
        """As high as its words need, but no more than its share of the panel, or than the rest leaves over."""
        needed = self._label.heightForWidth(width)
        room = max(min(int(panel_height * MAX_SHARE), left_over), scaled(LEAST))
        if needed > room:
            needed = self._label.heightForWidth(width - scaled(SCROLL_BAR_WIDTH))
        self.setFixedHeight(max(min(needed, room), 1))

    def minimumSizeHint(self) -> QSize:
        """Small enough for small screens."""
        return QSize(200, 20)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrow keys belong to the page."""
        event.ignore()
