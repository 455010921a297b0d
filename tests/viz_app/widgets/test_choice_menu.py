from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.widgets.choice_menu import ChoiceMenu

ENTRIES = {"linear": ("linear", "Linear"), "log": ("log", "Logarithmic"), "root": ("root", "Square root")}


def make(qtbot: QtBot, *, has_arrow_keys: bool = False) -> tuple[ChoiceMenu, list[str]]:
    """A menu that shows what is chosen, and what was chosen."""
    menu, chosen = ChoiceMenu("The scale", ENTRIES, "scale: ", has_arrow_keys=has_arrow_keys), list[str]()
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
