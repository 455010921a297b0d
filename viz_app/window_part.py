"""What extensions add to the window: pages, bars, menus and commands. See docs/extending.md."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeVar

from PySide6.QtWidgets import QMenu, QWidget

from augenmerk.core.registry import Registry

from .crash_reports import CrashReport
from .widgets.commands import BoundCommand, Command

PartT = TypeVar("PartT", bound="WindowPart")


class WindowPart:
    """A part of the window that an extension adds. Subclasses override what they need.

    It is made after everything that belongs to the kernel and after parts of a lower order; it
    finds others in `begin`.

    Args:
        window: the `MainWindow`.

    Attributes:
        bar: is shown above the pages; None for none.
        stopping: text in the top bar while the window waits for `is_running` to end.
        limit_to_end_s: how long the window waits for that.
    """

    bar: QWidget | None = None
    stopping: str = "stopping…"
    limit_to_end_s: float = 0.0

    def __init__(self, window: Any) -> None:
        self.window = window

    def begin(self) -> None:
        """All parts are made."""

    def menus(self) -> Sequence[QMenu]:
        """Menus within the menu of the window."""
        return ()

    def menu_entries(self) -> Sequence[BoundCommand]:
        """Single commands of the menu of the window, asked for once, when it is made.

        Those of the group “Help” are among help, of “About” above the last one, others among views.
        """
        return ()

    def palette(self) -> Sequence[BoundCommand]:
        """More commands for the palette, listed when it is opened."""
        return ()

    def sheet(self) -> Sequence[Command[Any]]:
        """More commands whose keys are listed on the sheet of keys."""
        return ()

    def opens(self, path: Path) -> bool:
        """Whether a file or folder is of a kind that the part shows.

        Others are opened as models.
        """
        return False

    def open_file(self, path: Path) -> None:
        """Shows a file or folder that it `opens`; the window's `failed` reports a failure."""
        raise NotImplementedError

    def restore(self, *, shows_screen: bool) -> bool:
        """Restores the last session, unless the user asked for a sentence or another model.

        Args:
            shows_screen: whether the part may show an experiment of its own; else the screen stays
                unchanged.

        Returns:
            Whether it shows one, so that no later part does.
        """
        return False

    def begin_session(self, model_path: Path | None, *, is_restored: bool) -> None:
        """All parts have restored what they kept, and the screen shows the first experiment.

        The first model is opened when the window is on the screen.

        Args:
            model_path: of that model; None for the bundled one.
            is_restored: whether the screen shows an experiment of the last session; if not, the
                next session replaces what that one kept.
        """

    def shown(self) -> None:
        """The window is on the screen for the first time, before a model is opened."""

    def welcome(self) -> None:
        """The user has opened the window without asking for a sentence or a file."""

    def offer_reports(self, reports: Sequence[CrashReport]) -> None:
        """Earlier windows left these crash reports, the newest first.

        Called before the window is shown.
        """

    def with_origin(self, picture: bytes) -> bytes:
        """A picture of the window, a PNG, that also says where it is from."""
        return picture

    @property
    def has_unsaved_changes(self) -> bool:
        """Whether closing the window would lose or interrupt work of the user, who is asked."""
        return False

    def once_saved(self, act: Callable[[], object]) -> None:
        """Calls a function after asking about that, unless the user cancels."""
        act()

    @property
    def is_running(self) -> bool:
        """Whether work is going on that must be stopped with care when the window closes."""
        return False

    def request_stop(self) -> None:
        """Asks that work to stop. Returns at once."""

    def save(self) -> None:
        """Keeps what the next start restores, when the user closes the window and when it ends."""

    def shutdown(self, *, waits: bool) -> None:
        """Ends threads. `waits`: for work that is going on, for at most `limit_to_end_s`."""


@dataclass(frozen=True, eq=False)
class Part:
    """The declaration of a part of the window without a page.

    Attributes:
        code: the full name of a subclass of `WindowPart`, as “module:Class”.
        order: the order in which parts are made, restored and offered files, and their menus and
            bars are shown.
    """

    code: str
    order: int

    def make(self, window: object) -> WindowPart:
        """Imports the code and makes the part."""
        part: WindowPart = resolve_name(self.code)(window)
        return part


class WindowPage(WindowPart):
    """A part with a page of the window. The page is made when it is first shown.

    Attributes:
        widget: the page; None until then.
    """

    widget: QWidget | None = None

    def make(self) -> QWidget:
        """Makes the page: a widget that is an `Exportable`."""
        raise NotImplementedError

    @property
    def sentence(self) -> Any:
        """The `SentencePanel` of the page; None if it has none."""
        return None


@dataclass(frozen=True, eq=False)
class Page(Part):
    """The declaration of a page.

    Attributes:
        title: on the button in the top bar.
        key: shows the page.
    """

    title: str
    key: str


PAGES: Registry[Page] = Registry("augenmerk.pages", Page, "page")
"""The pages next to Translate, by name. All are extensions."""
PARTS: Registry[Part] = Registry("augenmerk.window", Part, "part of the window")
"""The other parts of the window. All are extensions."""
