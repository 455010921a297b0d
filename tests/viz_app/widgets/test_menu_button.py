import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QCursor, QEnterEvent
from PySide6.QtWidgets import QApplication, QMenu, QToolButton
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.widgets.buttons import ChoiceMenu, MenuButton
from tests.viz_app.builders import shown

ENTRIES = {"one": ("one", "One"), "two": ("two", "Two")}


def with_menu(button: MenuButton) -> MenuButton:
    menu = QMenu(button)
    menu.addAction("an entry")
    button.setMenu(menu)
    return button


def make_menu_button(name: str) -> MenuButton:
    return with_menu(MenuButton("menu ▾", "")) if name == "menu" else ChoiceMenu("", ENTRIES)


def enter(button: QToolButton) -> None:
    """The mouse comes upon the button, in the middle."""
    center = QPointF(button.rect().center())
    QCursor.setPos(button.mapToGlobal(button.rect().center()))
    QApplication.sendEvent(button, QEnterEvent(center, center, QPointF(QCursor.pos())))


@pytest.mark.parametrize("name", ["menu", "choice"])
def test_a_menu_button_looks_as_before_when_its_menu_has_closed(
    qtbot: QtBot, theme: Theme, name: str
) -> None:
    button = shown(qtbot, make_menu_button(name))
    QCursor.setPos(button.mapToGlobal(QPoint(-50, -50)))
    QApplication.sendEvent(button, QEvent(QEvent.Type.Leave))
    before = button.grab().toImage()
    enter(button)
    assert button.underMouse()
    assert button.grab().toImage() != before
    menu = button.menu()

    def choose() -> None:
        QCursor.setPos(menu.mapToGlobal(menu.actionGeometry(menu.actions()[0]).center()))
        menu.close()

    QTimer.singleShot(50, choose)
    button.showMenu()
    assert not button.underMouse()
    assert button.grab().toImage() == before


def test_a_menu_button_under_the_mouse_still_looks_so_when_its_menu_has_closed(
    qtbot: QtBot, theme: Theme
) -> None:
    button = shown(qtbot, with_menu(MenuButton("menu ▾", "")))
    enter(button)
    QTimer.singleShot(50, button.menu().close)
    button.showMenu()
    assert button.underMouse()


ENTRIES = {
    "linear": ("linear", "Linear"),
    "log": ("log", "Logarithmic"),
    "root": ("root", "Square root"),
}


def make(qtbot: QtBot, *, has_arrow_keys: bool = False) -> tuple[ChoiceMenu, list[str]]:
    """A menu that shows what is chosen, and what was chosen."""
    menu, chosen = (
        ChoiceMenu("The scale", ENTRIES, "scale: ", has_arrow_keys=has_arrow_keys),
        list[str](),
    )
    qtbot.addWidget(menu)
    menu.chosen.connect(chosen.append)
    menu.chosen.connect(menu.show_choice)
    menu.show_choice("linear")
    return menu, chosen


def test_the_chosen_entry_stands_on_the_button(qtbot: QtBot) -> None:
    menu, chosen = make(qtbot)
    assert menu.text() == "scale: linear ▾"
    menu.actions_by_name["log"].trigger()
    assert (menu.text(), menu.choice, chosen) == ("scale: log ▾", "log", ["log"])
    assert menu.actions_by_name["log"].isChecked()
    assert not menu.actions_by_name["linear"].isChecked()


def test_choosing_what_is_shown_is_told_too(qtbot: QtBot) -> None:
    menu, chosen = make(qtbot)
    menu.actions_by_name["linear"].trigger()
    assert chosen == ["linear"]


def test_a_name_that_is_not_offered_is_shown_as_it_is(qtbot: QtBot) -> None:
    menu, _ = make(qtbot)
    menu.show_choice("cuda:7")
    assert menu.text() == "scale: cuda:7 ▾"


def test_arrow_keys_choose_the_neighbour_and_stop_at_the_ends(qtbot: QtBot) -> None:
    menu, chosen = make(qtbot, has_arrow_keys=True)
    for key in (Qt.Key.Key_Up, *[Qt.Key.Key_Down] * 4):
        qtbot.keyClick(menu, key)
    assert chosen == ["log", "root"]


def test_without_arrow_keys_they_belong_to_the_page(qtbot: QtBot) -> None:
    menu, chosen = make(qtbot)
    qtbot.keyClick(menu, Qt.Key.Key_Down)
    assert chosen == []


def test_a_fixed_width_follows_the_font_and_the_entries(qtbot: QtBot) -> None:
    menu = ChoiceMenu("tip", {"a": ("one", ""), "b": ("another one", "")}, has_fixed_width=True)
    qtbot.addWidget(menu)

    def width_of(name: str) -> int:
        menu.show_choice(name)
        return menu.sizeHint().width()

    width = width_of("a")
    assert width == width_of("b")
    font = menu.font()
    font.setPixelSize(40)
    menu.setFont(font)
    large = width_of("a")
    assert large == width_of("b") > width
    menu.set_entries({"a": ("one", "")})
    assert width_of("a") < large
