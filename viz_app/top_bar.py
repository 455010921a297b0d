"""The bar at the top of the window: name, pages, status, model and device."""

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QEvent, QSize, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from .models.loader import MODEL_COMMANDS, OPEN_BUNDLED, ModelLoader
from .theme import PAGE_MARGIN, scaled, scales
from .widgets.buttons import MenuButton
from .widgets.commands import BoundCommand
from .widgets.dialogs import add_files
from .widgets.labels import ElidingLabel
from .widgets.layouts import Part, Space, row_of

MAX_FOLDER_LENGTH = 48


class ModelButton(MenuButton):
    """Shows the name of a model."""

    def __init__(self, loader: ModelLoader) -> None:
        super().__init__("", "Open another model")
        self._loader = loader
        self._name = ""
        self._device = ""
        self._is_brief = False
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(lambda: self._fill(self._menu, offers_bundled=True))
        self.setMenu(self._menu)
        self.show_name("no model")

    def show_name(self, name: str) -> None:
        """Shows the current model's name, or that none is open."""
        self._name = name
        self._show()

    def set_device(self, device: str) -> None:
        """Sets the device and the reason for it, shown in the tool tip."""
        self._device = device
        self._show()

    def set_brief(self, is_brief: bool) -> None:
        """Shows the name alone if there is little room; the sizes move to the tool tip."""
        if is_brief != self._is_brief:
            self._is_brief = is_brief
            self._show()

    def saved_if_brief(self) -> int:
        """The width that hiding the sizes would save, in pixels."""
        return 0 if self._is_brief else self.width_of_sizes()

    def saved_now(self) -> int:
        """The width saved by hiding the sizes, in pixels."""
        return self.width_of_sizes() if self._is_brief else 0

    def width_of_sizes(self) -> int:
        """The width of the sizes in the name, in pixels, whether they are shown or not."""
        return self.fontMetrics().horizontalAdvance(
            self._name[len(self._name.partition(" · ")[0]) :]
        )

    def _show(self) -> None:
        name = self._name.partition(" · ")[0] if self._is_brief else self._name
        self.setText(f"{name} ▾")
        known = () if name == self._name else (self._name,)
        device = (self._device,) if self._device else ()
        self.setToolTip("\n".join((*known, *device, "Open another model")))

    def menu_of_bigger_models(self, parent: QWidget) -> QMenu:
        """The menu without the bundled model, for users who need a bigger one."""
        menu = QMenu(parent)
        menu.aboutToShow.connect(lambda: self._fill(menu, offers_bundled=False))
        return menu

    def _fill(self, menu: QMenu, *, offers_bundled: bool) -> None:
        menu.clear()
        for command in MODEL_COMMANDS:
            if command is OPEN_BUNDLED:
                for more in self._loader.more_commands:
                    more.add_to(menu)
            if offers_bundled or command is not OPEN_BUNDLED:
                command.on(self._loader).add_to(menu)
        if self._loader.recent:
            menu.addSeparator()
            menu.addAction("Recent models").setEnabled(False)
        names = {path: f"{path.stem}    {_short_folder(path)}" for path in self._loader.recent}
        add_files(menu, names, self._loader.file_chosen.emit)


def _short_folder(path: Path) -> str:
    """The folder for display, with ~ for home and a long beginning cut off."""
    folder = str(path.parent)
    home = str(Path.home())
    folder = "~" + folder[len(home) :] if folder.startswith(home) else folder
    return folder if len(folder) <= MAX_FOLDER_LENGTH else "…" + folder[1 - MAX_FOLDER_LENGTH :]


NOTICE_MS, NARROW = 5_000, 880
NOTICE_WIDTH = 200
"""Pixels that the status always has, so that a notice moves nothing. Longer ones are elided."""


class TopBar(QWidget):
    """Tabs at the left, device and model at the right.

    Attributes:
        tabs: one button for each page, by its name.
        model_button: the model in use; its menu opens another.
        status: the status of the training.
        device: the model's device.
        menu_button: opens the menu of the window.
    """

    def __init__(self, loader: ModelLoader, pages: Mapping[str, BoundCommand]) -> None:
        super().__init__()
        self.tabs = {name: self._tab(page) for name, page in pages.items()}
        self.status, self.device = ElidingLabel("accent"), ElidingLabel("muted")
        self._status_text = ""
        self._notice_timer = QTimer(self, singleShot=True)
        self._notice_timer.timeout.connect(lambda: self.status.setText(self._status_text))
        self.model_button = ModelButton(loader)
        self.menu_button = MenuButton(
            "☰", "Experiments, lessons, export, colours, size, presentation, about, quit"
        )
        self._lay_out()

    def show_page(self, name: str) -> None:
        """Checks the tab of a page; no signal."""
        self.tabs[name].setChecked(True)

    def show_model(self, summary: str, device: str) -> None:
        """Names the model and the device."""
        self.model_button.show_name(summary)
        self.show_device(device)

    def show_device(self, device: str) -> None:
        """Shows the device; in a narrow bar only in the tool tip of the model."""
        self.device.setText(device)
        self.model_button.set_device(device)

    def show_status(self, text: str) -> None:
        """The status of a training; empty if there is none."""
        self._status_text = text
        if not self._notice_timer.isActive():
            self.status.setText(text)

    def show_notice(self, text: str) -> None:
        """Shows a message for some seconds, then the status again."""
        self.status.setText(text)
        self._notice_timer.start(NOTICE_MS)

    def _tab(self, page: BoundCommand) -> QToolButton:
        tab = QToolButton()
        tab.setText(page.title.removesuffix(" page"))
        tab.setCheckable(True)
        tab.setProperty("role", "tab")
        tab.setToolTip(page.command.tip_with_keys())
        tab.clicked.connect(lambda: page.run())
        return tab

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """Fits the parts to a changed text or font."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return done

    def minimumSizeHint(self) -> QSize:
        """The size of a narrow bar."""
        hint = super().minimumSizeHint()
        if self._name.isHidden():
            return hint
        return hint - QSize(self._name.sizeHint().width() + self.model_button.saved_if_brief(), 0)

    def _fit(self) -> None:
        """Hides the name of the app in a narrow bar, then the model's sizes and the device.

        The result depends on widths alone, not on the parts hidden now, so the following layout
        changes nothing.
        """
        is_narrow = self.width() < scaled(NARROW)
        row = self.layout()
        assert row is not None
        if self._name.isHidden() != is_narrow:
            self._name.setVisible(not is_narrow)
            row.invalidate()  # it keeps the old width; invalidating each time would never end
        hidden_device = (
            self.device.sizeHint().width() + row.spacing() if self.device.isHidden() else 0
        )
        whole_width = row.sizeHint().width() + scaled(NOTICE_WIDTH)
        whole_width += hidden_device + self.model_button.saved_now()
        brief_width = whole_width - self.model_button.width_of_sizes()
        self.device.setVisible(brief_width <= self.width())
        self.model_button.set_brief(is_narrow or whole_width > self.width())

    def _lay_out(self) -> None:
        name = self._name = QLabel("Augenmerk")
        name.setProperty("role", "title")
        scales(name.setContentsMargins, 0, 0, 22, 0)  # hidden with it
        group = QButtonGroup(self)
        for tab in self.tabs.values():
            group.addButton(tab)
        next(iter(self.tabs.values())).setChecked(True)
        self.status.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.status.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        state: tuple[Part, ...] = (
            (self.status, 1),  # in the room that the others leave
            Space(10),
            self.device,
            Space(10),
            self.model_button,  # right of all that comes and goes with the model
            Space(14),
            self.menu_button,
        )
        row_of(
            name,
            *self.tabs.values(),
            *state,
            spacing=4,
            margins=(PAGE_MARGIN, 8, PAGE_MARGIN, 8),
            within=self,
        )
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
