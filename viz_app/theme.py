"""Colours, fonts and the small stylesheet of the windows, light and dark.

Widgets that paint themselves read `current_theme()` while they paint; those that cache something
made of its colours rebuild it in `changeEvent` if `is_theme_change` is true. All others follow
`Theme.apply`. The look of a label or button follows from its dynamic property "role" (see
`set_role`):

- QLabel: "title", "heading", "claim" and "reading" (of a chapter), "sentence", "dense" (a long
  sentence), "muted", "explained" (by a tool tip), "small", "warm", "accent", "number", "step",
  "chip"
- QPushButton, QToolButton: "primary" (one per page), "flat" (a word that opens a menu), "value" (a
  chosen value that opens a menu), "value-heading", "legend", "legend-run", "chip" (something that a
  click removes), "tab", "subtab", "chapter"
- QFrame: "panel" (a rounded surface), "line" (a hairline)
- QWidget: "analysis", "form" (their text fields have a look of their own), "transparent"
- QSlider: "film"
"""

import gc
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

import shiboken6
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontInfo,
    QGuiApplication,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QLayout, QWidget

from .palette import DARK, LIGHT, Palette

Length = TypeVar("Length", int, float)
ThemeChoice = Literal["system", "light", "dark"]
THEME_CHOICES: tuple[ThemeChoice, ...] = ("system", "light", "dark")
PANEL_RADIUS = 8
CHIP_RADIUS = 6
PAGE_MARGIN = 18
PANEL_MARGIN = 16
GAP = 10
SCALES = (80, 90, 100, 110, 125, 150, 175, 200)
"""Sizes of the interface, in percent."""
STYLE = "fusion"
_SCALED = "scaled_"
_LENGTH_IN_SHEET = re.compile(r"(?<!font-size: )(?<![\w.])(-?(?:[2-9]|\d\d+))px")


@dataclass(frozen=True)
class Theme:
    """One look of the whole application.

    Attributes:
        name: "light" or "dark".
        palette: its colours.
        base_px: pixel size of body text, scaled.
        scale: the factor of all lengths, 1 at 100%.
        is_presented: True if no text is smaller than body text, so that it can be read from the
            back row.
    """

    name: Literal["light", "dark"]
    palette: Palette
    base_px: int = 13
    scale: float = 1.0
    is_presented: bool = False

    @classmethod
    def light(cls, scale: float = 1.0) -> "Theme":
        """Ink on paper."""
        return cls("light", LIGHT).at_scale(scale)

    @classmethod
    def dark(cls, scale: float = 1.0) -> "Theme":
        """Light on slate."""
        return cls("dark", DARK).at_scale(scale)

    @classmethod
    def of_choice(
        cls, choice: ThemeChoice, scale: float = 1.0, *, is_presented: bool = False
    ) -> "Theme":
        """The theme for a choice; "system" follows the desktop, or is light if that is unknown."""
        if choice == "system":
            choice = (
                "dark"
                if QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
                else "light"
            )
        return replace(
            cls.dark(scale) if choice == "dark" else cls.light(scale), is_presented=is_presented
        )

    def at_scale(self, scale: float) -> "Theme":
        """The same colours with other lengths."""
        return replace(self, base_px=round(_base_pixel_size() * scale), scale=scale)

    @property
    def is_dark(self) -> bool:
        """True if text is lighter than its ground."""
        return self.name == "dark"

    def color(self, name: str, alpha: float = 1.0) -> QColor:
        """A colour of the palette by its field name, with an opacity from 0 to 1."""
        color = QColor(getattr(self.palette, name))
        color.setAlphaF(alpha)
        return color

    def token_color(self, text: str, role: str = "") -> QColor:
        """The colour of a token in a drawing: that of its role, or a pale one if it is special."""
        return self.color(
            role or ("muted" if text.startswith("<") and text.endswith(">") else "text")
        )

    def font(
        self, size: Literal["small", "body", "large", "title"] = "body", *, bold: bool = False
    ) -> QFont:
        """The interface's font in one of four sizes."""
        font = QFont(QApplication.font())
        font.setPixelSize(self.pixel_size(size))
        font.setBold(bold)
        return font

    def pixel_size(self, size: Literal["small", "body", "large", "title"]) -> int:
        """The pixel size for the name of a size."""
        smaller = 0 if self.is_presented else -1
        return self.base_px + self.scaled(
            {"small": smaller, "body": 0, "large": 4, "title": 6}[size]
        )

    def scaled(self, length: Length) -> Length:
        """A length at this theme's scale; whole pixels stay whole."""
        return round(length * self.scale) if isinstance(length, int) else length * self.scale

    def apply(self, app: QApplication) -> None:
        """Gives the whole application this look; every widget gets a `changeEvent`.

        See `is_theme_change`.

        The old style sheet is removed first: replacing it restyles each widget once more per
        ancestor, which takes five times as long.
        """
        global _current
        is_rescaled = current_theme().scale != self.scale
        _current = self
        with _no_garbage_collected():
            if is_rescaled:
                _scale_lengths_again()
            app.setStyleSheet("")
            if app.style().objectName().lower() != STYLE:
                app.setStyle(STYLE)
            app.setPalette(self._qt_palette())
            for class_name in ("QRadioButton", "QCheckBox"):
                app.setPalette(self._indicator_palette(), class_name)  # type: ignore[arg-type]  # the stub says bytes
            app.setStyleSheet(self._stylesheet())
            if is_rescaled:
                _lay_out_again()

    def _qt_palette(self) -> QPalette:
        roles = QPalette.ColorRole
        palette = QPalette()
        for role, name in {
            roles.Window: "background",
            roles.WindowText: "text",
            roles.Base: "panel",
            roles.AlternateBase: "raised",
            roles.Text: "text",
            roles.PlaceholderText: "muted",
            roles.Button: "raised",
            roles.ButtonText: "text",
            roles.BrightText: "on_accent",
            roles.ToolTipBase: "panel",
            roles.ToolTipText: "text",
            roles.Highlight: "accent",
            roles.HighlightedText: "on_accent",
            roles.Accent: "accent",
            roles.Link: "accent",
            roles.LinkVisited: "accent",
            roles.Mid: "border",
        }.items():
            palette.setColor(role, self.color(name))
        for role in (roles.WindowText, roles.Text, roles.ButtonText):
            palette.setColor(QPalette.ColorGroup.Disabled, role, self.color("muted", 0.75))
        return palette

    def _indicator_palette(self) -> QPalette:
        """A palette with a lighter window colour, which Fusion darkens to outline check boxes."""
        palette = self._qt_palette()
        palette.setColor(QPalette.ColorRole.Window, self.color("muted").lighter(140))
        return palette

    def _stylesheet(self) -> str:
        colors = self.palette
        faded = f"#70{colors.muted[1:]}"  # half transparent
        sheet = f"""
        * {{ font-size: {self.base_px}px; }}
        QFrame[role="panel"] {{ background: {colors.panel}; border: 1px solid {colors.border};
            border-radius: {PANEL_RADIUS}px; }}
        QFrame[role="card"] {{ background: {colors.panel}; border: 1px solid {colors.border}; }}
        QPlainTextEdit[role="sentence"] {{ background: transparent; border: none;
            font-size: {self.pixel_size("large")}px; }}
        QPlainTextEdit[role="dense"] {{ background: transparent; border: none; }}
        QSplitter::handle, QAbstractScrollArea::corner {{ background: transparent; border: none; }}
        QFrame[role="line"] {{ background: {colors.border}; border: none; max-height: 1px; }}
        QLabel {{ background: transparent; }}
        QLabel[role="title"] {{ font-size: {self.pixel_size("title")}px; font-weight: bold; }}
        QLabel[role="heading"] {{ font-weight: bold; }}
        QLabel[role="sentence"] {{ font-size: {self.pixel_size("large")}px; }}
        QLabel[role="dense"] {{ font-size: {self.base_px}px; }}
        QLabel[role="claim"] {{ font-size: {self.pixel_size("large")}px; color: {colors.accent}; }}
        QLabel[role="reading"] {{ font-size: {self.base_px + self.scaled(2)}px; }}
        QLabel[role="muted"] {{ color: {colors.muted}; }}
        QLabel[role="explained"] {{ color: {colors.muted}; border-bottom: 1px dotted {colors.muted}; }}
        QLabel[role="small"] {{ color: {colors.muted}; font-size: {self.pixel_size("small")}px; }}
        QLabel[role="warm"] {{ color: {colors.warm}; }}
        QLabel[role="accent"] {{ color: {colors.accent}; }}
        QLabel[role="chip"] {{ background: {colors.raised}; color: {colors.warm}; border: 1px solid {colors.border};
            border-radius: {CHIP_RADIUS}px; padding: 2px 5px; }}
        QPushButton {{ background: {colors.panel}; border: 1px solid {colors.border}; border-radius: {CHIP_RADIUS}px;
            padding: 6px 14px; }}
        QPushButton:hover {{ background: {colors.raised}; }}
        QPushButton:focus {{ border-color: {colors.accent}; }}
        QPushButton:disabled {{ color: {colors.muted}; background: {colors.raised}; }}
        QPushButton[role="primary"] {{ background: {colors.accent}; color: {colors.on_accent};
            border-color: {colors.accent}; }}
        QPushButton[role="primary"]:focus {{ border-color: {colors.text}; }}
        QPushButton[role="primary"]:disabled {{ background: {colors.raised}; color: {colors.muted};
            border-color: {colors.border}; }}
        QToolButton[role], QPushButton[role="chapter"] {{ background: transparent; color: {colors.muted};
            border: 1px solid transparent; border-radius: {CHIP_RADIUS}px; padding: 3px 6px; }}
        QToolButton[role]:hover, QPushButton[role="chapter"]:hover {{ color: {colors.text}; }}
        QToolButton[role="flat"], QToolButton[role="value"], QToolButton[role="value-heading"] {{
            color: {colors.text}; border-color: {colors.border}; }}
        QToolButton[role="flat"]:hover, QToolButton[role="value"]:hover, QToolButton[role="value-heading"]:hover {{
            background: {colors.raised}; border-color: {colors.muted}; }}
        QToolButton[role="legend-run"]:hover {{ background: {colors.raised}; }}
        QToolButton[role]::menu-indicator {{ image: none; width: 0px; }}
        QToolButton[role="flat"][isDense="true"] {{ padding: 3px 3px; }}
        QToolButton[role="flat"]:checked, QToolButton[role="value"]:checked {{ background: {colors.raised};
            color: {colors.text}; }}
        QToolButton[role="flat"]:disabled {{ color: {faded}; border-color: {colors.raised}; }}
        QToolButton[role="message"] {{ color: {colors.text}; border-color: {colors.border}; padding: 0px 6px;
            font-size: {self.pixel_size("small")}px; }}
        QToolButton[role="message"]:hover {{ background: {colors.raised}; border-color: {colors.muted}; }}
        QToolButton[role="chip"] {{ background: {colors.raised}; color: {colors.warm}; border-color: {colors.border};
            padding: 2px 5px; }}
        QToolButton[role="chip"]:hover {{ color: {colors.warm}; border-color: {colors.warm}; }}
        QToolButton[role="chip"][isUnreached="true"] {{ color: {colors.muted}; }}
        QToolButton[role="tab"] {{ padding: 5px 14px; }}
        QPushButton[role="chapter"] {{ padding: 4px 8px; text-align: left; }}
        QToolButton[role="subtab"] {{ padding: 4px 6px; border-color: {colors.border}; }}
        QToolButton[role="subtab"]:hover {{ border-color: {colors.muted}; }}
        QToolButton[role="subtab"][isDense="true"] {{ padding: 4px 2px; }}
        QToolButton[role="tab"]:checked, QPushButton[role="chapter"]:checked, QToolButton[role="subtab"]:checked {{
            background: {colors.raised}; color: {colors.text}; }}
        QToolButton[role="tab"]:checked, QPushButton[role="chapter"]:checked, QToolButton[role="value-heading"] {{
            font-weight: bold; }}
        QToolButton[role="value"]:disabled, QToolButton[role="legend"]:hover {{ color: {colors.muted}; }}
        QToolButton[role="legend"], QToolButton[role="legend-run"] {{ padding: 1px 6px;
            font-size: {self.pixel_size("small")}px; }}
        QToolButton[role]:focus, QPushButton[role="chapter"]:focus {{ border-color: {colors.accent}; }}
        QWidget[role="analysis"] QLineEdit, QWidget[role="form"] QLineEdit {{ background: {colors.raised};
            color: {colors.text}; border: 1px solid {colors.border}; border-radius: {CHIP_RADIUS}px; padding: 4px 8px;
            selection-background-color: {colors.accent}; placeholder-text-color: {colors.muted}; }}
        QWidget[role="form"] QLineEdit {{ background: {colors.panel}; padding: 3px 6px; }}
        QWidget[role="analysis"] QLineEdit:focus, QWidget[role="form"] QLineEdit:focus {{
            border-color: {colors.accent}; }}
        QWidget[role="form"] QLineEdit:disabled {{ background: transparent; color: {colors.muted};
            border-color: transparent; }}
        QWidget[role="transparent"] {{ background: transparent; }}
        QLabel[role="number"] {{ color: {colors.text}; }}
        QLabel[role="step"] {{ color: {colors.accent}; font-weight: bold; }}
        QSlider[role="film"] {{ min-height: 22px; }}
        QSlider[role="film"]::groove:horizontal {{ height: 4px; background: {colors.raised}; border-radius: 2px; }}
        QSlider[role="film"]::sub-page:horizontal {{ background: {colors.accent}; border-radius: 2px; }}
        QSlider[role="film"]::handle:horizontal {{ background: {colors.accent}; border: 2px solid {colors.panel};
            width: 14px; height: 14px; margin: -7px 0; border-radius: 8px; }}
        QSlider[role="film"]::handle:horizontal:focus {{ border-color: {colors.text}; }}
        QSlider[role="film"]::sub-page:horizontal:disabled, QSlider[role="film"]::handle:horizontal:disabled {{
            background: {colors.border}; }}
        QTableWidget {{ background: {colors.panel}; border: 1px solid {colors.border}; border-radius: {CHIP_RADIUS}px;
            selection-background-color: {colors.raised}; selection-color: {colors.text}; outline: none;
            font-size: {self.pixel_size("small")}px; }}
        QHeaderView {{ background: {colors.panel}; }}
        QHeaderView::section {{ background: {colors.panel}; color: {colors.muted}; border: none;
            border-bottom: 1px solid {colors.border}; padding: 3px 2px; font-size: {self.pixel_size("small")}px; }}
        QProgressBar {{ background: {colors.raised}; border: none; border-radius: 3px; }}
        QProgressBar::chunk {{ background: {colors.accent}; border-radius: 3px; }}
        QMessageBox QLabel#qt_msgbox_label {{ font-weight: bold; }}
        QMessageBox QLabel#qt_msgbox_label, QMessageBox QLabel#qt_msgbox_informativelabel {{ min-width: 400px; }}
        QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
        QToolTip {{ background: {colors.panel}; color: {colors.text}; border: 1px solid {colors.border};
            padding: 4px; }}
        QScrollArea {{ background: transparent; border: none; }}
        QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; }}
        QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 0; }}
        QScrollBar::handle {{ background: {colors.border}; border-radius: 4px; margin: 1px;
            min-height: 28px; min-width: 28px; }}
        QScrollBar::handle:hover {{ background: {colors.muted}; }}
        QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
        QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
        QMenu {{ background: {colors.panel}; border: 1px solid {colors.border}; padding: 4px; }}
        QMenu::item {{ padding: 5px 22px 5px 22px; border-radius: 4px; }}
        QMenu::item:selected {{ background: {colors.raised}; color: {colors.text}; }}
        QMenu::item:disabled {{ color: {colors.muted}; }}
        QMenu::separator {{ height: 1px; background: {colors.border}; margin: 4px 8px; }}
        """
        return _LENGTH_IN_SHEET.sub(lambda match: f"{self.scaled(int(match[1]))}px", sheet)


_current: Theme | None = None


def current_theme() -> Theme:
    """The theme applied last; initially the light one."""
    global _current
    if _current is None and QApplication.instance() is not None:
        _current = Theme.light()  # read many times while a page is laid out
    return _current if _current is not None else Theme.light()


def scaled(length: Length) -> Length:
    """A length at the scale of the interface, for painting and layout."""
    return current_theme().scaled(length)


def scales(setter: Callable[..., object], *lengths: int) -> None:
    """Calls a setter of a widget or layout with scaled lengths, now and whenever the scale changes.

    The lengths are kept as a dynamic property, as the Qt object may outlive its Python wrapper.

    Args:
        setter: a method of a QObject, such as `layout.setContentsMargins`.
        lengths: its arguments at 100%.
    """
    owner: QObject = setter.__self__  # type: ignore[attr-defined]  # of a bound method
    owner.setProperty(f"{_SCALED}{setter.__name__}", " ".join(map(str, lengths)))
    setter(*map(scaled, lengths))


def is_theme_change(event: QEvent) -> bool:
    """True if the theme may have changed. For `changeEvent`."""
    return event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange)


def set_role(widget: QWidget, role: str) -> None:
    """Sets the role of a label, button or frame, and restyles it."""
    widget.setProperty("role", role)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


@contextmanager
def style_sheet_set_aside() -> Iterator[None]:
    """Within the block, new widgets are not styled; the style sheet is applied once at its end.

    Under a style sheet Qt restyles a widget and its children for each new parent: three quarters of
    the time to make a window. Not for part of a visible window, which would be restyled twice. Also
    a decorator.
    """
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    sheet = app.styleSheet()
    with _no_garbage_collected():
        app.setStyleSheet("")
    try:
        yield
    finally:
        with _no_garbage_collected():
            app.setStyleSheet(sheet)


def _scale_lengths_again() -> None:
    """Sets all lengths registered by `scales` at the current scale."""
    for widget in QApplication.allWidgets():
        _scale_lengths_of(widget)
        if (layout := widget.layout()) is not None:
            for owner in (layout, *layout.findChildren(QLayout)):
                _scale_lengths_of(owner)


def _lay_out_again() -> None:
    """Lays all widgets out again at the new scale; hidden ones when they are shown."""
    for widget in filter(shiboken6.isValid, QApplication.allWidgets()):
        if (layout := widget.layout()) is not None:
            for inner_layout in (*layout.findChildren(QLayout), layout):
                inner_layout.invalidate()
        widget.updateGeometry()
        if widget.isVisible():
            QApplication.sendEvent(widget, QResizeEvent(widget.size(), widget.size()))
        else:
            widget.setAttribute(Qt.WidgetAttribute.WA_PendingResizeEvent)


def _scale_lengths_of(owner: QObject) -> None:
    for name in (
        bytes(property_name.data()).decode() for property_name in owner.dynamicPropertyNames()
    ):
        if name.startswith(_SCALED):
            lengths = str(owner.property(name)).split()
            getattr(owner, name.removeprefix(_SCALED))(*(scaled(int(length)) for length in lengths))


def _base_pixel_size() -> int:
    """The desktop's own text size, but never too small to read."""
    if QApplication.instance() is None:
        return 13
    return max(
        13,
        min(
            24,
            QFontInfo(QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)).pixelSize(),
        ),
    )


@contextmanager
def _no_garbage_collected() -> Iterator[None]:
    """Within the block, Qt can walk through all widgets, as Python frees none meanwhile."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
