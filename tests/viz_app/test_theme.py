import gc
from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QLabel, QSlider, QToolButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.palette import DARK, LIGHT, Palette
from augenmerk.viz_app.theme import Theme, scaled, set_role, style_sheet_set_aside
from augenmerk.viz_app.widgets.buttons import MenuButton, flat_button
from tests.viz_app.builders import shown


def _luminance(color: str) -> float:
    channels = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_every_word_is_legible_on_every_ground(palette: Palette) -> None:
    for text in (palette.text, palette.muted, palette.accent, palette.warm):
        for ground in (palette.background, palette.panel, palette.raised):
            assert _contrast(text, ground) >= 4.5
    assert _contrast(palette.on_accent, palette.accent) >= 4.5


def test_a_theme_colours_the_application(qapp: QApplication) -> None:
    for theme in (Theme.dark(), Theme.light()):
        theme.apply(qapp)
        assert qapp.palette().window().color() == theme.color("background")


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_a_slider_has_room_for_its_handle_at_every_scale(
    qtbot: QtBot, qapp: QApplication, theme: Theme, scale: float
) -> None:
    Theme.light(scale).apply(qapp)
    slider = QSlider()
    qtbot.addWidget(slider)
    set_role(slider, "film")
    assert slider.minimumHeight() >= scaled(18)
    theme.apply(qapp)


def test_a_role_restyles_a_label(qtbot: QtBot, theme: Theme) -> None:
    label = QLabel("word")
    qtbot.addWidget(label)
    label.ensurePolished()
    set_role(label, "warm")
    assert label.palette().windowText().color() == theme.color("warm")


@pytest.mark.parametrize("theme_of", [Theme.light, Theme.dark])
def test_a_flat_button_shows_whether_it_can_be_pressed_and_is_pressed(
    qapp: QApplication, qtbot: QtBot, theme_of: Callable[[], Theme]
) -> None:
    theme_of().apply(qapp)
    try:
        button = flat_button("Later", "")
        qtbot.addWidget(button)
        button.setCheckable(True)
        free, disabled, checked = (
            _picture(button, *state) for state in ((True, False), (False, False), (True, True))
        )
        assert free != disabled
        assert free != checked
    finally:
        Theme.light().apply(qapp)


@pytest.mark.parametrize("role", ["flat", "value", "value-heading"])
@pytest.mark.parametrize("theme_of", [Theme.light, Theme.dark])
def test_a_button_that_opens_a_menu_looks_like_a_button(
    qapp: QApplication, qtbot: QtBot, theme_of: Callable[[], Theme], role: str
) -> None:
    """It has an outline, which shows the mouse and the focus."""
    theme = theme_of()
    theme.apply(qapp)
    try:
        button = MenuButton("copy-task-small ▾", "")
        set_role(button, role)
        shown(qtbot, button)
        button.setFocus()
        qtbot.waitUntil(button.hasFocus)
        assert _outline(button) == theme.palette.accent
        button.clearFocus()
        for is_hovered, color in ((False, theme.palette.border), (True, theme.palette.muted)):
            button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, is_hovered)
            assert _outline(button) == color
    finally:
        Theme.light().apply(qapp)


def _outline(button: QToolButton) -> str:
    return button.grab().toImage().pixelColor(0, button.height() // 2).name()


def _picture(button: QToolButton, is_enabled: bool, is_checked: bool) -> QImage:
    button.setEnabled(is_enabled)
    button.setChecked(is_checked)
    return button.grab().toImage()


def test_python_collects_no_widget_while_qt_walks_through_all_of_them(
    qapp: QApplication, qtbot: QtBot
) -> None:
    seen: list[bool] = []

    class Witness(QWidget):
        def changeEvent(self, event: QEvent) -> None:  # noqa: N802
            seen.append(gc.isenabled())

    shown(qtbot, Witness())
    seen.clear()
    Theme.dark().apply(qapp)
    Theme.light().apply(qapp)
    assert seen
    assert not any(seen)
    assert gc.isenabled()


def test_widgets_put_together_without_the_style_sheet_take_it_once(
    qapp: QApplication, qtbot: QtBot, theme: Theme
) -> None:
    class Witness(QLabel):
        num_changes = 0

        def changeEvent(self, event: QEvent) -> None:  # noqa: N802
            self.num_changes += event.type() == QEvent.Type.StyleChange

    def put_together() -> tuple[QWidget, Witness]:
        """A label in five boxes, the innermost first."""
        witness = Witness("word")
        widget: QWidget = witness
        for _ in range(5):
            box = QWidget()
            QVBoxLayout(box).addWidget(widget)
            widget = box
        qtbot.addWidget(widget)
        set_role(witness, "warm")
        return widget, witness

    sheet = qapp.styleSheet()
    _, usual = put_together()
    assert usual.num_changes > 4
    with style_sheet_set_aside():
        window, witness = put_together()
        num_before = witness.num_changes
    assert qapp.styleSheet() == sheet
    assert num_before == 0
    assert witness.num_changes == 1
    window.show()
    assert witness.palette().windowText().color() == theme.color("warm")


def test_the_style_sheet_comes_back_after_an_error(qapp: QApplication, theme: Theme) -> None:
    sheet = qapp.styleSheet()

    @style_sheet_set_aside()
    def fail() -> None:
        assert qapp.styleSheet() == ""
        raise RuntimeError("no window")

    with pytest.raises(RuntimeError, match="no window"):
        fail()
    assert qapp.styleSheet() == sheet
