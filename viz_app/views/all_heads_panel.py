"""All heads of all layers."""

from functools import partial

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QFrame

from augenmerk.core.maps.roles import ROLES, Role, SampleRoles
from augenmerk.core.model.heads import HeadGroup
from augenmerk.core.translation.result import Translation

from ..heatmap.head_grid import HeadGrid, HeadGridArea
from ..state.experiment_state import ExperimentState
from ..state.map_view_settings import on_redraw
from ..theme import PANEL_MARGIN
from ..widgets.buttons import ChoiceMenu
from ..widgets.labels import ElidingLabel, label
from ..widgets.layouts import column_of, wrapping_row
from .cell_menu import PartsMenu

SCALES = {
    "shared": (
        "shared",
        "Shared: the last colour stands for weight 1 everywhere (for norms: the largest of a kind)",
    ),
    "layer": ("per layer", "Per layer: the last colour stands for the largest weight in the layer"),
    "own": ("per head", "Each head: the last colour stands for its largest weight"),
}
ANY_ROLE = "any"
KEYS = """← → heads   ↑ ↓ layers   O on/off   (while typing: Esc first, or hold Alt)
← → heads   ↑ ↓ layers   O on/off"""
ORDERS: dict[str, tuple[str, str]] = {
    "layer": ("by layer", "By layer and head"),
    "role": ("by role", "By role, the clearest first"),
    "clarity": ("clearest", "The clearest first: large weights on many different tokens"),
}


class AllHeadsPanel(QFrame):
    """All heads as thumbnails.

    Attributes:
        title: the heading.
        grid: the thumbnails.
        scale_menu: the range of the colours.
        role_menu: the role of the highlighted heads.
        order_menu: their order.
        menu: the context menu that was opened last, or None.
        hint: the keys that work now: forms from the longest to the shortest, each in a line.
    """

    def __init__(self, state: ExperimentState) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self._state = state
        self._offered: tuple[Translation | None, Role | None, SampleRoles | None] = None, None, None
        self.grid = HeadGrid(state)
        self.grid.menu_requested.connect(self._open_menu)
        self.menu: PartsMenu | None = None
        self.area = HeadGridArea(self.grid)
        self.scale_menu = ChoiceMenu(
            "The weight at the end of the colour scale", SCALES, "scale: ", has_fixed_width=True
        )
        self.scale_menu.chosen.connect(partial(setattr, state.settings, "scale"))
        self.order_menu = ChoiceMenu(
            "The order of the heads of a kind", ORDERS, has_fixed_width=True
        )
        self.order_menu.chosen.connect(partial(setattr, state.settings, "order"))
        self.role_menu = ChoiceMenu(
            "", {role: (role, "") for role in (ANY_ROLE, *ROLES)}, has_fixed_width=True
        )
        self.role_menu.chosen.connect(self._choose_role)
        self.hint = hint = ElidingLabel("small", KEYS)
        self.title = label("heading", "All heads")
        menus = (self.order_menu, self.role_menu, self.scale_menu)
        header = wrapping_row((self.title, *menus), spacing=6)
        margins = (PANEL_MARGIN, 8, 4, 8)
        column_of(header, (self.area, 1), hint, spacing=4, margins=margins, within=self)
        state.result_changed.connect(self.rebuild)
        state.roles_changed.connect(self.rebuild)
        on_redraw(state.settings, ("maps", "grid"), self.rebuild)
        self.rebuild()

    def _open_menu(self, groups: tuple[HeadGroup, ...], point: QPoint) -> None:
        screen_point = self.grid.mapToGlobal(point)
        if self.menu is not None:
            self.menu.deleteLater()
        self.menu = PartsMenu(self._state, groups, screen_point, self)
        self.menu.popup(screen_point)

    def rebuild(self) -> None:
        """Updates the menus to the result and the settings."""
        self.scale_menu.show_choice(self._state.settings.scale)
        self.order_menu.show_choice(self._state.settings.order)
        self._offer_roles()

    def _choose_role(self, name: str) -> None:
        self._state.settings.shown_role = next((role for role in ROLES if role == name), None)

    def _offer_roles(self) -> None:
        """Offers only roles that some head has, and the chosen one."""
        roles = self._state.roles
        shown_role = self._state.settings.shown_role
        offered = (roles.maps.translation, shown_role, roles.sample)
        sample = roles.sample
        if (
            offered[0] is self._offered[0]
            and offered[1] == self._offered[1]
            and sample is self._offered[2]
        ):
            return
        self._offered = offered
        where = roles.where_they_hold
        self.role_menu.setToolTip(f"Show only heads with one role {where}")
        self.order_menu.setToolTip(
            f"The order of the heads of a kind; a role is what a head does {where}"
        )
        counts = roles.count()
        entries = {ANY_ROLE: ("any role", "Any role")}
        for role, text in ROLES.items():
            if role in counts or role == shown_role:
                entries[role] = (role, f"{role} ({counts.get(role, 0)}): {text}")
        self.role_menu.set_entries(entries)
        self.role_menu.show_choice(shown_role or ANY_ROLE)
