"""Focus of a widget that is hidden goes where it is told to, and nowhere else."""

import pytest
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.widgets.layouts import set_visible


@pytest.mark.parametrize("is_active", [True, False])
def test_focus_goes_to_the_widget_that_is_named(qtbot: QtBot, is_active: bool) -> None:
    window, box = QWidget(), QWidget()
    qtbot.addWidget(window)
    fields = [QLineEdit() for _ in range(4)]
    QVBoxLayout(box).addWidget(fields[1])
    column = QVBoxLayout(window)
    for widget in (fields[0], box, fields[2], fields[3]):
        column.addWidget(widget)
    window.show()
    if is_active:
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
    fields[1].setFocus()
    set_visible(box, True, focus_to=fields[3])
    assert window.focusWidget() is fields[1]
    set_visible(box, False, focus_to=fields[3])
    assert not box.isVisible()
    assert window.focusWidget() is fields[3]
    set_visible(fields[2], False, focus_to=fields[0])
    assert window.focusWidget() is fields[3], "it was not in what is hidden"
