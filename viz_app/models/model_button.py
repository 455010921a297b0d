"""The button with the current model's name; its menu opens another."""

from pathlib import Path

from PySide6.QtWidgets import QMenu, QWidget

from augenmerk.viz_app.models.loader import MODEL_COMMANDS, OPEN_BUNDLED, ModelLoader
from augenmerk.viz_app.widgets.buttons import MenuButton

MAX_FOLDER_LENGTH = 48


class ModelButton(MenuButton):
    """Shows the name of a model."""

    def __init__(self, loader: ModelLoader, parent: QWidget | None = None) -> None:
        super().__init__("", "Open another model", parent)
        self._loader = loader
        self._name, self._device, self._is_brief = "", "", False
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
        return 0 if self._is_brief else self._width_of_sizes()

    def saved_now(self) -> int:
        """The width saved by hiding the sizes, in pixels."""
        return self._width_of_sizes() if self._is_brief else 0

    def _width_of_sizes(self) -> int:
        return self.fontMetrics().horizontalAdvance(self._name[len(self._name.partition(" · ")[0]) :])

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
            if offers_bundled or command is not OPEN_BUNDLED:
                command.on(self._loader).add_to(menu)
        if self._loader.recent:
            menu.addSeparator()
            menu.addAction("Recent models").setEnabled(False)
        for path in self._loader.recent:
            action = menu.addAction(f"{path.stem}    {_short_folder(path)}")
            action.setToolTip(str(path))
            action.triggered.connect(lambda _=False, chosen=path: self._loader.file_chosen.emit(chosen))


def _short_folder(path: Path) -> str:
    """The folder for display, with ~ for home and a long beginning cut off."""
    folder = str(path.parent)
    home = str(Path.home())
    folder = "~" + folder[len(home) :] if folder.startswith(home) else folder
    return folder if len(folder) <= MAX_FOLDER_LENGTH else "…" + folder[1 - MAX_FOLDER_LENGTH :]
