import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QTimer
from PySide6.QtGui import QCursor, QEnterEvent
from PySide6.QtWidgets import QApplication, QMenu, QToolButton
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.widgets.choice_menu import ChoiceMenu
from augenmerk.viz_app.widgets.menu_button import MenuButton

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
    place = QPointF(button.rect().center())
    QCursor.setPos(button.mapToGlobal(button.rect().center()))
    QApplication.sendEvent(button, QEnterEvent(place, place, QPointF(QCursor.pos())))


@pytest.mark.parametrize("name", ["menu", "choice"])
def test_a_menu_button_looks_as_before_when_its_menu_has_closed(qtbot: QtBot, theme: Theme, name: str) -> None:
    button = make_menu_button(name)
    qtbot.addWidget(button)
    with qtbot.waitExposed(button):
        button.show()
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


def test_a_menu_button_under_the_mouse_still_looks_so_when_its_menu_has_closed(qtbot: QtBot, theme: Theme) -> None:
    button = with_menu(MenuButton("menu ▾", ""))
    qtbot.addWidget(button)
    with qtbot.waitExposed(button):
        button.show()
    enter(button)
    QTimer.singleShot(50, button.menu().close)
    button.showMenu()
    assert button.underMouse()
