"""One head, large."""

import logging
from collections.abc import Callable
from functools import partial
from html import escape
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QMenu,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from augenmerk.core.errors import StorageError
from augenmerk.core.maps.measures import MEASURES

from ..heatmap.heatmap import Heatmap, LargeMap, least_height
from ..state import map_text
from ..state.experiment_editor import switch_text, toggle
from ..state.experiment_state import ExperimentState
from ..state.head_roles import role_in_words, role_name
from ..state.map_drawings import DRAWINGS, HEATMAP, DrawingName
from ..state.map_view_settings import on_redraw
from ..theme import PANEL_MARGIN, current_theme, scaled, scales
from ..widgets.buttons import ChoiceMenu, MenuButton, flat_button
from ..widgets.dialogs import ask_where_to_save, show_failure
from ..widgets.labels import ElidingLabel, StableHeightLabel, label
from ..widgets.layouts import (
    ContentHeightScrollArea,
    column_of,
    row_of,
    set_visible,
)
from ..widgets.pictures import save_picture
from ..worker.inference import Failure
from .cell_menu import CellMenu, PartEditor
from .commands import SWITCH_HEAD
from .head_controls import PickLine, SizeControls
from .map_options import MapOptionControls

SCOPES = {
    "head": ("this head", "This head alone"),
    "layer": ("layer", "All heads of its layer"),
    "all": ("all layers", "All heads of all layers of its kind"),
    "chosen": ("chosen", "Several heads: Ctrl-click them in the grid"),
}
QUESTION = "What am I looking at?"
LOW_PANEL = 560
"""Pixels of height below which the map gets more room: the tools have one line, a menu replaces the
controls, and the meaning of a row is one paragraph."""
ROLE = "role: "
LEAST_NAME, ROLE_WIDTH, LEAST_NAME_AND_ROLE, QUESTION_WIDTH = 385, 140, 570, 130
"""Pixels that the name of a head needs with the buttons at the right end; with its role; and the
question in full.
"""
EXPLANATION_SHARE, LEAST_EXPLANATION = 0.33, 36
"""The greatest share of the panel's height, so that the map stays in sight; the least height: two
lines.
"""
_LOG = logging.getLogger(__name__)
COMBINATIONS = {"mean": ("mean", "Their mean"), "max": ("maximum", "Their maximum, cell by cell")}
MeaningLayout = Literal["whole", "one line", "hidden"]
"""The meaning of a row: its whole text, one line that ends in an ellipsis, or nothing, so that the
map has room."""


class HeadPanel(QFrame):
    """The chosen head, large, with its controls and the meaning of its rows.

    It passes keyboard focus to the map.

    Attributes:
        drawings: the map in each way to draw it, by name; `heatmap` is the kernel's own, `map`
            holds all.
        pick_line: the pinned cell and picked tokens, in words.
        sizes: the size of the cells, or the controls of another drawing.
        controls: the names of rows and columns, and the hidden ones; a low panel shows their menu
            instead.
        switch_button: switches the head off, or on again.
        export_button: saves the map as a picture; extensions put a larger menu on it.
        measure_menu: the measure of the cells.
        picture_menu: the ways to draw the map; hidden if there is only one.
        overflow_button: the tools that a low, narrow panel has no room for.
        scope_menu: the heads in the map.
        combination_menu: how they are combined.
        cell_button: opens the context menu of the pinned cell; without one, that of the head.
        explain_button: shows the explanation.
        explanation: the explanation of the map.
        explanation_text: its words.
        title: the name of the head.
        role: its role here; its tool tip says what that means.
        meaning: the meaning of a row.
        cell_menu: the context menu that was opened last, or None.
        cell_offers: what extensions add to it, each called with a new one.
    """

    def __init__(self, state: ExperimentState) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self._state = state
        self.heatmap = Heatmap(state)
        self.drawings: dict[DrawingName, LargeMap] = {
            "heatmap": self.heatmap,
            **_added_drawings(state),
        }
        self.map = QStackedWidget()
        self._frames = {name: drawing.framed() for name, drawing in self.drawings.items()}
        for frame in self._frames.values():
            self.map.addWidget(frame)
        self.pick_line = PickLine(state)
        self.controls = MapOptionControls(state)
        self.sizes = SizeControls(state, self.drawings)
        self.title = ElidingLabel("heading")
        self.role = label("explained")
        self.role.setCursor(Qt.CursorShape.WhatsThisCursor)
        self.meaning = label("muted", wraps=True)
        self._meaning_room = StableHeightLabel(self.meaning)
        self.explanation_text = label("", wraps=True)
        self.explanation_text.setTextFormat(Qt.TextFormat.RichText)
        self.explanation_text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.explanation = ContentHeightScrollArea(
            self.explanation_text, self._height_for_explanation
        )
        self.cell_menu: CellMenu | None = None
        self.cell_offers: list[Callable[[CellMenu], object]] = []
        self._meanings = ("", "", "")
        self._link = ""
        self._is_split = False
        self._make_header()
        self._lay_out()
        self._follow()
        self.rebuild()

    def _make_header(self) -> None:
        state = self._state
        settings = self._state.settings
        self.switch_button = flat_button(
            switch_text(state.experiment, state.selection.head),
            SWITCH_HEAD.tip_with_keys("See the translation without this head"),
        )
        self.switch_button.clicked.connect(lambda: state.submit(toggle(state.selection.head)))
        names = {
            measure: (described.name, described.name) for measure, described in MEASURES.items()
        }
        self.measure_menu = ChoiceMenu("The measure of the cells", names, has_fixed_width=True)
        for measure, action in self.measure_menu.actions_by_name.items():
            described = MEASURES[measure]
            action.setToolTip(f"<p>{described.meaning}</p><p>{described.caveat}</p>")
        drawings = {name: (drawing.name, drawing.tip) for name, drawing in DRAWINGS.items()}
        self.picture_menu = ChoiceMenu("How the map is drawn", drawings, has_fixed_width=True)
        self.scope_menu = ChoiceMenu("The heads in the map", SCOPES, has_fixed_width=True)
        self.combination_menu = ChoiceMenu(
            "How to combine several heads", COMBINATIONS, has_fixed_width=True
        )
        self.overflow_button = MenuButton("⋯", "More about this map: drawing, heads, switch")
        overflow = QMenu(self.overflow_button)
        overflow.aboutToShow.connect(lambda: self._fill_overflow(overflow))
        self.overflow_button.setMenu(overflow)
        self.picture_menu.chosen.connect(state.selection.clear_hovered)
        for name in ("measure", "picture", "scope", "combination"):
            self._menus[name].chosen.connect(partial(setattr, settings, name))
        self.export_button = MenuButton(
            "Export ▾", "Save or copy the map, all heads, the page, the numbers"
        )
        pictures = QMenu(self)
        pictures.addAction("The large map (PNG)…").triggered.connect(self.ask_where_to_save)
        self.export_button.setMenu(pictures)
        self.cell_button = flat_button("⋯", "What can be done with the pinned cell and this head")
        self.cell_button.setAccessibleName("Menu of the pinned cell")
        self.cell_button.clicked.connect(self._open_pinned_menu)
        self.explain_button = flat_button("", f"{QUESTION} This map in a few sentences")
        self.explain_button.setCheckable(True)
        self.explain_button.setAccessibleName(QUESTION)
        self.explain_button.toggled.connect(self._show_explanation)

    def _fill_overflow(self, overflow: QMenu) -> None:
        overflow.clear()
        for menu in self._menus.values():
            if len(menu.actions_by_name) > 1 and not menu.isVisibleTo(self):
                overflow.addMenu(menu.menu()).setText(menu.toolTip())
        if self._state.settings.scope == "head":
            overflow.addAction(self.switch_button.text()).triggered.connect(
                self.switch_button.click
            )

    def ask_where_to_save(self) -> None:
        """Asks for a file, and saves a picture of the large map in it."""

        def save(target: Path) -> None:
            try:
                save_picture(self.map, target)
            except StorageError as error:
                show_failure(self.window(), "It was not saved", Failure.of(error))

        ask_where_to_save(self, "Export", Path("map"), save, {"png": "PNG picture (*.png)"})

    @property
    def _menus(self) -> dict[str, ChoiceMenu]:
        """The menus by the settings that they show."""
        return {
            "measure": self.measure_menu,
            "picture": self.picture_menu,
            "combination": self.combination_menu,
            "scope": self.scope_menu,
        }

    def _lay_out(self) -> None:
        self._tools, self._ends, self._last_tool = QWidget(), QWidget(), QStackedWidget()
        self._last_tool.addWidget(self.switch_button)
        self._last_tool.addWidget(self.combination_menu)
        tools = (self.measure_menu, self.picture_menu, self.scope_menu, self._last_tool)
        ends = (self.export_button, self.explain_button)
        menus = (*self._menus.values(), self.overflow_button, self.controls.menu_button)
        for button in (
            *menus,
            self.switch_button,
            self.cell_button,
            self.pick_line.clear_button,
            *ends,
        ):
            button.setProperty("isDense", True)
        row_of(*tools, self.overflow_button, 1, spacing=4, within=self._tools)
        row_of(*ends, spacing=4, within=self._ends)
        self._tools.setMinimumWidth(1)  # without room, tools are in a menu
        role = self.role, 0, Qt.AlignmentFlag.AlignVCenter
        self._header = QGridLayout()
        scales(self._header.setSpacing, 4)
        self._header.setColumnStretch(0, 1)
        self._header.addLayout(row_of(self.title, role, 1, spacing=8), 0, 0)
        self._header.addWidget(self._tools, 0, 1)
        self._header.addWidget(self._ends, 0, 2)
        # after the stretch and the label
        self.pick_line.row.insertWidget(2, self.controls.menu_button)
        self.pick_line.row.addWidget(self.cell_button)
        self.pick_line.row.addWidget(self.sizes)
        column_of(
            self._header,
            self._meaning_room,
            self.explanation,
            (self.map, 1),
            self.pick_line,
            self.controls,
            spacing=4,
            margins=(PANEL_MARGIN, 8, PANEL_MARGIN - 6, 10),
            within=self,
        )

    def _follow(self) -> None:
        state = self._state
        selection = self._state.selection.events
        for changed in (state.result_changed, state.measuring.changed, state.roles_changed):
            changed.connect(self.rebuild)
        on_redraw(state.settings, ("maps", "large map"), self.rebuild)
        selection.head.connect(self._show_head, max_args=0)
        use_own_scale = partial(setattr, state.settings, "scale", "own")
        acts: dict[str, Callable[[], object]] = {
            "cancel": state.measuring.cancel,
            "own scale": use_own_scale,
        }
        self.meaning.linkActivated.connect(lambda link: acts[link]())
        state.experiment_changed.connect(self._show_head)
        state.measuring.request.changed.connect(self._show_head)
        state.settings.events.line_threshold.connect(self._show_explanation, max_args=0)
        for button, num_steps in ((self.sizes.zoom_out, -1), (self.sizes.zoom_in, 1)):
            button.clicked.connect(partial(self._zoom, num_steps))
        for widget in self.drawings.values():
            widget.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
            widget.customContextMenuRequested.connect(partial(self._open_cell_menu, widget))

    def rebuild(self) -> None:
        """Updates menus and texts to the result and the settings."""
        settings = self._state.settings
        for name, menu in self._menus.items():
            menu.show_choice(getattr(settings, name))
        is_one_head = settings.scope == "head"
        self._last_tool.setCurrentWidget(
            self.switch_button if is_one_head else self.combination_menu
        )
        self.map.setCurrentWidget(self._frames[settings.known_picture])
        self._show_head()

    def setFocus(self, reason: Qt.FocusReason = Qt.FocusReason.OtherFocusReason) -> None:
        """The drawing gets it. A focus proxy would take all controls here out of the tab order."""
        self.drawings[self._state.settings.known_picture].setFocus(reason)

    def _show_head(self) -> None:
        """Updates the texts around the map."""
        state = self._state
        self._name_head()
        notes = (
            map_text.off_note(state),
            map_text.difference_note(state),
            map_text.hiding_note(state),
        )
        meaning = map_text.meaning_of_query(state, state.settings.known_picture)
        of_maps = map_text.measure_note, map_text.drawing_note, map_text.scale_note
        missing = [note(state) for note in of_maps]
        self._meanings = " ".join(filter(None, notes)), meaning, " ".join(filter(None, missing))
        measure = state.settings.known_measure
        kind = state.selection.head.kind
        self._link = "own scale" if missing[-1] == map_text.FAINT_ON_SCALE else ""
        if state.measuring.is_awaited and kind in MEASURES[measure].kinds:
            self._link = "cancel"
        self._show_explanation()

    def _name_head(self) -> None:
        state = self._state
        is_one_head = self._state.settings.scope == "head"
        head = state.selection.head
        shown = state.maps.shown
        parts = map_text.titles(state)
        is_changed = state.result is not None and state.result.is_changed
        is_marked = is_changed and (shown == "original" or state.maps.is_signed(head.kind))
        self._name = " · ".join((*parts, shown) if is_marked else parts)
        self.switch_button.setText(switch_text(state.experiment, head))
        has_role = state.result is not None and is_one_head and state.roles.sample is not None
        name = role_name(state.roles, head) if has_role else ""
        self.role.setText(f"{ROLE}{name}" if name else "")
        self.role.setToolTip(role_in_words(state.roles, head) if has_role else "")

    def _zoom(self, num_steps: int, _checked: bool = False) -> None:
        self.heatmap.zoom_about(QPointF(self.heatmap.rect().center()), num_steps)

    def scale_head(self) -> None:
        """Opens the editor of the chosen head's factor and temperature beside its switch."""
        if self._state.result is not None:
            point = self.switch_button.mapToGlobal(self.switch_button.rect().bottomLeft())
            PartEditor(self._state, self._state.selection.head, self).open_at(point)

    def _open_pinned_menu(self) -> None:
        pinned = self._state.selection.pinned
        cell = self.heatmap.cell_rect(pinned) if pinned is not None else None
        if cell is not None:
            self._open_cell_menu(self.heatmap, cell.center().toPoint())
            return
        outside = QPoint(-1, -1)
        at_button = self.cell_button.mapToGlobal(self.cell_button.rect().bottomLeft())
        self._open_cell_menu(self.heatmap, outside, at_button)

    def _open_cell_menu(
        self, widget: LargeMap, point: QPoint, screen_point: QPoint | None = None
    ) -> None:
        at = QPointF(point)
        pair = widget.pair_at(at)
        if screen_point is None:
            screen_point = widget.mapToGlobal(point)
        self.cell_menu = CellMenu(
            self._state, widget.queries_at(at), pair, screen_point, self, self.cell_offers
        )
        if self.cell_menu.actions():
            self.cell_menu.popup(screen_point)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _show_explanation(self) -> None:
        is_wanted = self.explain_button.isChecked()
        self.explanation.setVisible(is_wanted)
        if is_wanted:
            self.explanation_text.setText(
                "".join(
                    f'<p style="margin: 0 0 4px 0"><b>{escape(part.about)}</b>&nbsp; {escape(part.text)}</p>'
                    for part in map_text.explain(self._state)
                )
            )
        self._fit()

    def _height_for_explanation(self) -> int:
        others = _least_height(self) - self.explanation.minimumHeight()
        return max(
            min(int(self.height() * EXPLANATION_SHARE), self.height() - others),
            scaled(LEAST_EXPLANATION),
        )

    def _fit(self) -> None:
        """Gives the texts their room: the meaning of a row is never cut off."""
        width = self.width() - 2 * scaled(PANEL_MARGIN)
        is_low = self.height() < scaled(LOW_PANEL)
        set_visible(self.controls, not is_low, focus_to=self)
        set_visible(self.controls.menu_button, is_low, focus_to=self)
        self._fit_header(width, is_low)
        text, when_off = self._meaning_texts(is_low)
        layout = self._choose_layout(when_off, width)
        self._show_meaning(text, when_off, layout, width)
        self.explanation.fit()

    def _meaning_texts(self, is_low: bool) -> tuple[str, str]:
        """The meaning of a row with its notes, now and while the head is off."""
        notes, meaning, missing = self._meanings

        def with_notes(notes: str) -> str:
            if is_low:
                return " ".join(filter(None, (meaning, notes, missing)))
            return "\n".join(filter(None, (f"{meaning} {notes}".rstrip(), missing)))

        may_be_off = self._state.settings.scope == "head" and not notes
        return with_notes(notes), with_notes(map_text.OFF_NOTE if may_be_off else notes)

    def _choose_layout(self, meaning: str, width: int) -> MeaningLayout:
        """Chooses the layout of the longest meaning; without room for it, also tightens the line of
        picked tokens.
        """
        self.meaning.setText(meaning)
        has_room = self._leaves_room(
            self.meaning.heightForWidth(width), self.pick_line.whole_height
        )
        self.pick_line.set_tight(not has_room)
        if has_room:
            return "whole"
        line_height = self.meaning.fontMetrics().lineSpacing()
        picked_height = self.pick_line.row.sizeHint().height()
        if self._link or self._leaves_room(line_height, picked_height):
            return "one line"
        return "hidden" if self._leaves_room(0, picked_height) else "one line"

    def _show_meaning(self, text: str, when_off: str, layout: MeaningLayout, width: int) -> None:
        is_whole = layout == "whole"
        self._meaning_room.setVisible(layout != "hidden")
        self.meaning.setToolTip("" if is_whole else text)
        if self._link:
            text = with_link(text if is_whole else self._meanings[2], self._link)
            when_off = ""
        elif not is_whole:
            elide = self.meaning.fontMetrics().elidedText
            text = elide(text.replace("\n", " "), Qt.TextElideMode.ElideRight, width)
        formats = Qt.TextFormat
        self.meaning.setTextFormat(formats.RichText if self._link else formats.PlainText)
        self._meaning_room.show_text(text, width, when_off, max_lines=0 if is_whole else 1)

    def _leaves_room(self, meaning: int, picked: int) -> bool:
        """Whether texts of these heights leave the rows of the map enough room; 0: no text."""
        layout = self.layout()
        is_shown = self._meaning_room.isVisibleTo(self)
        gap = layout.spacing() if layout is not None else 0
        parts = (widget.minimumSizeHint().height() for widget in (self.map, self.pick_line))
        others = (
            _least_height(self)
            - sum(parts)
            - (gap + self._meaning_room.minimumHeight() if is_shown else 0)
        )
        texts = picked + (gap + meaning if meaning else 0)
        return self.height() - others - texts >= least_height(self._state.maps.view())

    def _fit_header(self, width: int, is_low: bool) -> None:
        """Puts name and tools into one line, or into two if there is no room.

        The texts about the head do not count: the map stays in place when a head is switched off.
        """
        layout = self._tools.layout()
        assert layout is not None
        tools = (self.measure_menu, self.picture_menu, self.scope_menu, self._last_tool)
        ends = [*accumulate(tool.sizeHint().width() + layout.spacing() for tool in tools)]
        room = width - (scaled(LEAST_NAME) if is_low else 0)
        is_folded = ends[-1] > room
        room -= self.overflow_button.sizeHint().width() if is_folded else 0
        for tool, end in zip(tools, ends, strict=True):
            tool.setVisible(end <= room and (tool is not self.picture_menu or len(DRAWINGS) > 1))
        self.overflow_button.setVisible(is_folded)
        layout.invalidate()
        beside_tools = width - self._tools.sizeHint().width()
        is_split = beside_tools < scaled(LEAST_NAME if is_low else LEAST_NAME_AND_ROLE)
        role = self.role.text().removeprefix(ROLE)
        beside_name = width if is_split else beside_tools
        has_room = beside_name >= scaled(LEAST_NAME_AND_ROLE + QUESTION_WIDTH)
        arrow = "▾" if self.explain_button.isChecked() else "▸"
        self.explain_button.setText(f"{QUESTION if has_room else '?'} {arrow}")
        name_and_ends = (
            self.title.fontMetrics().horizontalAdvance(self._name)
            + self._ends.sizeHint().width()
            + 2 * layout.spacing()
        )
        name_width = max(scaled(LEAST_NAME), name_and_ends)
        role_width = max(scaled(ROLE_WIDTH), self.role.sizeHint().width())
        has_room_for_role = beside_name >= name_width + role_width
        self.role.setVisible(bool(role) and has_room_for_role)
        with_role = (f"{self._name} · {role}",) if role and not has_room_for_role else ()
        short = self._name.replace(" self-attention", "").replace("-attention", "")
        self.title.setText("\n".join((*with_role, self._name, short)))
        if is_split != self._is_split:
            self._is_split = is_split
            self._header.removeWidget(self._tools)
            self._header.addWidget(self._tools, *((1, 0, 1, 3) if is_split else (0, 1, 1, 1)))
            parts = (self._ends, self._tools) if is_split else (self._tools, self._ends)
            buttons = [button for part in parts for button in part.findChildren(QToolButton)]
            for button, following in pairwise(buttons):
                QWidget.setTabOrder(button, following)


def _least_height(panel: QWidget) -> int:
    column = panel.layout()
    if column is None:
        return 1
    return max(column.totalMinimumHeightForWidth(panel.width()), column.totalMinimumSize().height())


LINKS = {"cancel": "Cancel</a> (Esc)", "own scale": "Use its own scale</a>"}


def with_link(text: str, link: str) -> str:
    """A text about a computation or a faint map as rich text that ends with one of `LINKS`."""
    lines = escape(text).replace("\n", "<br>")
    color = current_theme().color("accent").name()
    return f'{lines} <a href="{link}" style="color:{color}">{LINKS[link]}'


def _added_drawings(state: ExperimentState) -> dict[DrawingName, LargeMap]:
    """The map in each way to draw it that extensions add; one that is broken is left out and
    reported by name.
    """
    drawings: dict[DrawingName, LargeMap] = {}
    for name, declaration in list(DRAWINGS.items()):
        if declaration is not HEATMAP:
            try:
                drawings[name] = declaration.load()(state)
            except Exception:  # whatever an extension does, the heatmap is there
                _LOG.exception("The drawing “%s” of maps cannot be used", name)
                DRAWINGS.leave_out(name)
    return drawings
