"""The export menu as a part of the window."""

from typing import Any

from PySide6.QtWidgets import QMenu

from augenmerk.core.extensions.provenance import with_provenance

from ...window_part import WindowPart
from .menu import EXPORTS, ExportMenu


class ExportsPart(WindowPart):
    """Exports the current page: from the menu of the window, and next to the large map.

    Attributes:
        menu: all exports.
    """

    def __init__(self, window: Any) -> None:
        super().__init__(window)
        self.menu = ExportMenu(lambda: window.pages.in_sight, window.preferences, window)
        self.menu.done.connect(window.top_bar.show_notice)
        window.commands.add(self.menu, tuple(EXPORTS.values()))
        window.translate_page.head.export_button.setMenu(self.menu)

    def menus(self) -> tuple[QMenu, ...]:
        """See `WindowPart`."""
        return (self.menu,)

    def with_origin(self, picture: bytes) -> bytes:
        """See `WindowPart`."""
        return with_provenance(picture, self.menu.saving.origin)

    def shutdown(self, *, waits: bool) -> None:
        """See `WindowPart`."""
        self.menu.shutdown()
