"""The colours and the size of the interface, as the user chose them."""

from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.theme import SCALES, Theme, ThemeChoice
from augenmerk.viz_app.widgets.commands import Command


class Appearance(QObject):
    """Applies theme and scale to all widgets, and remembers them.

    Signals:
        scaled(int): the size of the interface in percent.
    """

    scaled = Signal(int)

    def __init__(self, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._preferences = preferences
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_system_colors_changed)

    @property
    def theme(self) -> ThemeChoice:
        """The chosen one."""
        return self._preferences.theme

    def set_theme(self, choice: ThemeChoice) -> None:
        """Light, dark, or the same as the system."""
        self._preferences.theme = choice
        self._apply()

    def set_scale(self, percent: int) -> None:
        """The size of everything: one of `SCALES`."""
        if percent != self._preferences.scale:
            self._preferences.scale = percent
            self._apply()
        self.scaled.emit(percent)

    def step_scale(self, num_steps: int) -> None:
        """Larger by that many steps of `SCALES`, smaller if negative."""
        place = SCALES.index(self._preferences.scale) + num_steps
        self.set_scale(SCALES[min(max(place, 0), len(SCALES) - 1)])

    def _apply(self) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        Theme.of_choice(self._preferences.theme, self._preferences.scale / 100).apply(app)

    def _on_system_colors_changed(self) -> None:
        if self._preferences.theme == "system":
            self._apply()


THEME_COMMANDS: dict[ThemeChoice, Command[Appearance]] = {
    "system": Command("Colours: same as the system", partial(Appearance.set_theme, choice="system")),
    "light": Command("Colours: light", partial(Appearance.set_theme, choice="light")),
    "dark": Command("Colours: dark", partial(Appearance.set_theme, choice="dark")),
}
SCALE_COMMANDS = (
    Command[Appearance](
        "Larger interface", partial(Appearance.step_scale, num_steps=1), keys=("Ctrl++", "Ctrl+=")
    ),  # with Shift or without, as keyboards differ
    Command[Appearance]("Smaller interface", partial(Appearance.step_scale, num_steps=-1), keys=("Ctrl+-", "Ctrl+_")),
    Command[Appearance]("Reset zoom (100%)", partial(Appearance.set_scale, percent=100), keys=("Ctrl+0",)),
)
